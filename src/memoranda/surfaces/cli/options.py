"""The options that many commands share, each declared once."""

from typing import Annotated
from uuid import UUID

import typer

_EVERYWHERE = "For every command"

Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        help="The database: a file, sqlite:///file or postgresql://… "
        "Without it MEMORANDA_DB counts, else a file in your data directory.",
        rich_help_panel=_EVERYWHERE,
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
        rich_help_panel=_EVERYWHERE,
        show_default=False,
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print one JSON document, and problems as JSON on standard error.",
        rich_help_panel=_EVERYWHERE,
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
    UUID | None, typer.Option("--trigger", metavar="ID", help="The trigger that starts the run.")
]
Run = Annotated[UUID | None, typer.Option("--run", metavar="ID", help="The run that asks.")]
Conversation = Annotated[
    UUID | None,
    typer.Option("--conversation", metavar="ID", help="The conversation that it belongs to."),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", help="At most this many.")]
Cursor = Annotated[
    str | None,
    typer.Option("--cursor", metavar="CURSOR", help="Go on where a page ended: its next_cursor."),
]
