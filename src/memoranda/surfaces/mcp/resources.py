"""Memories as resources: what can be listed, page by page, and read one at a time."""

import re
from typing import TYPE_CHECKING, Final
from uuid import UUID

from mcp.types import (
    Annotations,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from memoranda.words.errors import NotFound
from memoranda.words.text import one_line

if TYPE_CHECKING:
    from memoranda.memories.models import Memory
    from memoranda.surfaces.mcp.door import Room

URI: Final = "memoranda://memories/"
TEMPLATE: Final = "memoranda://memories/{id}"
JSON: Final = "application/json"
PAGE: Final = 50
NAME_CHARS: Final = 80

_ID: Final = re.compile(re.escape(URI) + r"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})")


def templates() -> ListResourceTemplatesResult:
    """The one shape of address that there is."""
    only = ResourceTemplate(
        uri_template=TEMPLATE,
        name="memory",
        title="Memory",
        description="One memory as it stands now, by its id, as the tool `get` answers it.",
        mime_type=JSON,
    )
    return ListResourceTemplatesResult(resource_templates=[only])


async def listed(room: "Room", cursor: str | None) -> ListResourcesResult:
    """A page of the memories that the caller may read, the newest first. Raises `MemorandaError`."""
    page = await room.memories.page(room.who, limit=PAGE, cursor=cursor)
    return ListResourcesResult(
        resources=[_resource(memory) for memory in page.items], next_cursor=page.next_cursor
    )


async def read(room: "Room", uri: str) -> ReadResourceResult:
    """The memory at `uri`.

    Raises `NotFound`, in the same words for what never was, what is forgotten and what is not for
    the caller.
    """
    from memoranda.tools.memory.answers import ToolMemory  # noqa: PLC0415 - after the handshake

    try:
        memory = await room.memories.get(room.who, _id_in(uri))
    except NotFound:
        raise _nothing() from None
    text = ToolMemory.of(memory).model_dump_json(exclude={"score", "matched"})
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=JSON, text=text)])


def _id_in(uri: str) -> UUID:
    match = _ID.fullmatch(uri)
    if match is None:
        raise _nothing()
    return UUID(match[1])


def _nothing() -> NotFound:
    return NotFound(
        f"There is nothing at this address. A memory is at {TEMPLATE}; list them first."
    )


def _resource(memory: "Memory") -> Resource:
    return Resource(
        uri=f"{URI}{memory.id}",
        name=str(memory.id),
        title=_title(memory),
        mime_type=JSON,
        annotations=Annotations(last_modified=memory.recorded_at.isoformat()),
    )


def _title(memory: "Memory") -> str:
    told = one_line(memory.title or memory.text or "")
    return told if len(told) <= NAME_CHARS else f"{told[: NAME_CHARS - 1]}…"
