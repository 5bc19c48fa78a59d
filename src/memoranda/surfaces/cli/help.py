"""Help pages in plain words: no type where a flag or a text says enough, and what all commands share once."""

from typing import Any, Final

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup

SHARED_PANEL: Final = "For every command"
SHARED_LINE: Final = "For every command: --db URL, --organization ID, --json (memoranda --help)."

LISTS: Final = frozenset({"list", "ls"})
"""What people type for a list."""
SHARED: Final = frozenset({"--db", "--organization", "--json"})


class _Plain:
    """What both kinds of pages do; the root alone shows the shared options one by one."""

    shows_shared = False

    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]  # mixed into a command
        for each in found:
            if isinstance(each, TyperArgument):
                vars(each)["display_type_rich"] = lambda **_: None  # FILE says more than <str>
            elif each.is_flag and each.metavar is None:
                each.metavar = ""  # else a flag is shown with a <bool> that nobody can give
        return found

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            left: list[str] = super().parse_args(ctx, args)  # type: ignore[misc]  # see above
        except typer.BadParameter as error:
            error.message = _plainly(error.message)
            raise
        return left

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        pieces: list[str] = super().collect_usage_pieces(ctx)  # type: ignore[misc]  # see above
        return [piece.replace("{", "").replace("}", "") for piece in pieces]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        shared = [
            each
            for each in self.get_params(ctx)
            if getattr(each, "rich_help_panel", None) == SHARED_PANEL and not self.shows_shared
        ]
        for each in shared:
            each.hidden = True  # on the page alone: a shell still completes them
        try:
            super().format_help(ctx, formatter)  # type: ignore[misc]  # see above
        finally:
            for each in shared:
                each.hidden = False


def _plainly(complaint: str) -> str:
    """The complaint about a value, less what a validator says for programmers."""
    if complaint.startswith("Input should be a valid integer"):
        return "it must be a whole number."
    return complaint.removeprefix("Value error, ")


class PlainCommand(_Plain, TyperCommand):
    """A command with a plain help page."""


class PlainGroup(_Plain, TyperGroup):
    """A group of commands with one."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments for its command; one of the shared options, ahead of that, is told where it belongs."""
        option = args[0].partition("=")[0] if args else ""
        if option in SHARED and not any(option in each.opts for each in self.params):
            ctx.fail(
                f"{option} stands behind the command, or right behind memoranda: "
                f"{ctx.command_path} COMMAND {option} …"
            )
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is meant; where the group lists by itself, who asks it to is told so."""
        asked = args[0] if args else ""
        alone = self.invoke_without_command and asked in LISTS
        if alone and self.get_command(ctx, asked) is None:
            ctx.fail(
                f"There is no command {asked!r}: type {ctx.command_path}, which lists by itself."
            )
        return super().resolve_command(ctx, args)


class PlainRoot(PlainGroup):
    """The program itself, whose page tells what every command takes."""

    shows_shared = True
