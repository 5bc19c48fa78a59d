"""Writes the reference part of docs/cli.md from the commands themselves.

What stands above the mark is written by hand. Run it with `./dev docs`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.app import app

PAGE = Path(__file__).parent / "cli.md"
MARK = (
    "<!-- From here on, made from the code by ./dev docs. Change the code, then run it again. -->"
)

SHARED = {"--db", "--organization", "--json", "--help"}


def cli_page() -> str:
    """The page as it should be: the written part as it is, the made part anew."""
    written, mark, _ = PAGE.read_text("utf-8").partition(MARK)
    if not mark:
        raise SystemExit(f"docs/cli.md has lost its mark: {MARK}")
    return written + MARK + "\n\n" + "\n".join(reference()) + "\n"


def reference() -> Iterator[str]:
    root = get_command(app)
    yield "## Exit codes"
    yield ""
    yield "| exit code | meaning |"
    yield "| --- | --- |"
    for code, meaning in exits.MEANINGS.items():
        yield f"| {code} | {_cell(meaning)} |"
    yield ""
    yield "## Options of every command"
    yield ""
    yield from _table(root, lambda option: option in SHARED)
    yield ""
    yield "Before a command's name there are also:"
    yield ""
    yield from _table(root, lambda option: option not in SHARED)
    yield ""
    yield "## Commands"
    for name, command in commands(root, "memoranda"):
        yield ""
        yield f"### `{_usage(name, command)}`"
        yield ""
        yield from str(command.help).splitlines()
        own = list(_table(command, lambda option: option not in SHARED))
        if own:
            yield ""
            yield from own


def commands(group: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every command with its full name; a group that answers by itself is one too."""
    for name, command in group.commands.items():
        inner = f"{path} {name}"
        if not getattr(command, "commands", None):
            yield inner, command
            continue
        if command.invoke_without_command:
            yield inner, command
        yield from commands(command, inner)


def _usage(name: str, command: Any) -> str:
    words = [name]
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            shown = _placeholder(parameter) + ("..." if parameter.nargs != 1 else "")
            words.append(shown if parameter.required else f"[{shown}]")
        elif parameter.required:
            words.append(f"{parameter.opts[0]} {_placeholder(parameter)}")
    return " ".join(words)


def _table(command: Any, wanted: Any) -> Iterator[str]:
    rows = []
    for parameter in command.params:
        spelled = max(parameter.opts, key=len)
        if parameter.param_type_name == "argument":
            rows.append(f"| `{_placeholder(parameter)}` | {_cell(parameter.help)} |")
        elif wanted(spelled):
            value = "" if parameter.is_flag else f" {_placeholder(parameter)}"
            names = ", ".join(f"`{each}{value}`" for each in parameter.opts)
            names = names.replace("|", "\\|")
            rows.append(f"| {names} | {_cell(parameter.help)}{_default(parameter)} |")
    if rows:
        yield "| option | what it does |"
        yield "| --- | --- |"
        yield from rows


def _placeholder(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _default(parameter: Any) -> str:
    if parameter.is_flag or parameter.required or parameter.default in {None, ""}:
        return ""
    return f" Default: {parameter.default}."


def _cell(text: str | None) -> str:
    if not text:
        raise SystemExit("An option has no help; give it one sentence.")
    return " ".join(text.split()).replace("|", "\\|")


def main() -> None:
    PAGE.write_text(cli_page(), "utf-8")
    sys.stdout.write("wrote docs/cli.md\n")


if __name__ == "__main__":
    main()
