"""The options that many commands share, each declared once."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from memoranda.surfaces.cli.help import SHARED_PANEL
from memoranda.words.errors import Invalid

if TYPE_CHECKING:
    from memoranda.words.ref import ResourceRef


def id_of(shown_by: str) -> Callable[[str], UUID]:
    """Reads an id; what is none is told which command shows them."""

    def read(text: str) -> UUID:
        try:
            return UUID(text)
        except ValueError:
            raise typer.BadParameter(
                f"{_said(text)} is no id. Give one as {shown_by} shows it."
            ) from None

    return read


def row_of(field: str, named: str) -> "ResourceRef":
    """Reads the name of a row, KIND:ID. Raises `Invalid`."""
    from memoranda.words.ref import ResourceRef

    kind, colon, id_ = named.partition(":")
    if not (colon and kind.strip() and id_.strip()) or "\0" in named:
        raise Invalid(f"{_said(named)} names no row: write --{field} KIND:ID.", field=field)
    return ResourceRef(kind=kind, id=id_)


def _said(text: str) -> str:
    from memoranda.words.said import quoted

    return quoted(text) or "This"


def time_of(text: str) -> datetime:
    """Reads a day or a time; one that names no zone is in UTC."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{_said(text)} is no time. Write one such as 2027-01-31 or 2027-01-31T09:00Z."
        ) from None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        help="The database: a file, sqlite:///file or postgresql://… "
        "Without it MEMORANDA_DB counts, else a file in your data directory.",
        rich_help_panel=SHARED_PANEL,
        show_default=False,
    ),
]
Organization = Annotated[
    str | None,
    typer.Option(
        "--organization",
        metavar="ID",
        help="Act in this organization of the database, by id or external id, "
        "and not in its default one.",
        rich_help_panel=SHARED_PANEL,
        show_default=False,
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print one JSON document, and problems as JSON on standard error.",
        rich_help_panel=SHARED_PANEL,
    ),
]

Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="AGENT", help="An agent, by slug, id or external id."),
]
User = Annotated[
    str | None,
    typer.Option("--user", metavar="USER", help="A user, by id or external id."),
]
Trigger = Annotated[
    UUID | None,
    typer.Option(
        "--trigger",
        metavar="ID",
        parser=id_of("your own system"),
        help="The trigger that starts the run, by the id that your own system has for it.",
    ),
]
Run = Annotated[
    UUID | None,
    typer.Option(
        "--run", metavar="ID", parser=id_of("`memoranda runs list`"), help="The run that asks."
    ),
]
Conversation = Annotated[
    UUID | None,
    typer.Option(
        "--conversation",
        metavar="ID",
        parser=id_of("`memoranda conversations list`"),
        help="The conversation that it belongs to.",
    ),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", help="At most this many.")]
Cursor = Annotated[
    str | None,
    typer.Option("--cursor", metavar="CURSOR", help="Go on where a page ended: its next_cursor."),
]
