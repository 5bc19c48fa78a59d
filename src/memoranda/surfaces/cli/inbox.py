"""`memoranda inbox`: what waits for a person, and the command that decides each."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final
from uuid import UUID

import typer

from memoranda.surfaces.cli.approval_rows import lines
from memoranda.surfaces.cli.names import whose
from memoranda.surfaces.cli.options import Cursor, Limit
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import entry, page_answer, when
from memoranda.surfaces.cli.verbs import verb
from memoranda.words.errors import NotFound

if TYPE_CHECKING:
    from rich.text import Text

    from memoranda.tools.inbox.models import Waiting

KINDS: Final = {
    "memory_proposal": "a proposed memory",
    "tool_approval": "a call of a tool",
    "file_proposal": "a change of a file",
}


async def inbox(at: Session, *, limit: Limit = 50, cursor: Cursor = None) -> Answer:
    """List what waits for a person, whatever it is, with the command that decides it."""
    page = await at.memoranda.inbox.page(at.who, limit=limit, cursor=cursor)
    named = await whose(at, page.items, nobody="everybody")
    rows = [
        (_drawn(each), KINDS[each.kind], who, when(each.created_at))
        for each, who in zip(page.items, named, strict=True)
    ]
    columns = ("@what waits", "what it is", "~for or by", "since")
    return page_answer(page, columns, rows, "Nothing waits for anybody.")


@asynccontextmanager
async def told_where(at: Session, waiting_id: UUID) -> AsyncIterator[None]:
    """Where there is no such id in the list that is decided within, tell which other list it stands in."""
    try:
        yield
    except NotFound as error:
        found = await at.memoranda.inbox.find(at.who, waiting_id)
        if found is not None:
            ways = " or ".join(way.command for way in found.ways)
            error.message += f" That id is {KINDS[found.kind]}: decide it with {ways}."
        raise


def _drawn(waiting: "Waiting") -> "Text":
    look = [waiting.look.command] if waiting.look else []
    return entry(says(waiting), waiting.id, *look, *(way.command for way in waiting.ways))


def says(waiting: "Waiting") -> str:
    """What would be remembered, called or changed, in a line."""
    if waiting.proposal is not None:
        return waiting.proposal.text or ""
    if waiting.approval is not None:
        return f"{waiting.approval.tool}: {'; '.join(lines(waiting.approval))}"
    return "" if waiting.change is None else f"{waiting.change.file}, {waiting.change.bytes} bytes"


def register(app: typer.Typer) -> None:
    """Add the command to the root."""
    verb(app, "inbox", reads=True)(inbox)
