"""Memories and context files as resources: what can be listed, page by page, and read one at a time.

Memories are the tools `list` and `get` by another name, so that one policy and one journal hold for both.
"""

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from mcp.types import (
    Annotations,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from memoranda.surfaces.mcp import files
from memoranda.words.errors import MemorandaError, NotFound
from memoranda.words.text import one_line

if TYPE_CHECKING:
    from memoranda.surfaces.mcp.door import Room

URI: Final = "memoranda://memories/"
TEMPLATE: Final = "memoranda://memories/{id}"
JSON: Final = "application/json"
PAGE: Final = 50
NAME_CHARS: Final = 80
_NOT_OFFERED: Final = {"unknown_tool", "tool_denied"}
"""What a caller is told whose policy or space leaves out the tool."""

_ID: Final = re.compile(re.escape(URI) + r"([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})")


def templates() -> ListResourceTemplatesResult:
    """The shapes of address that there are."""
    memory = ResourceTemplate(
        uri_template=TEMPLATE,
        name="memory",
        title="Memory",
        description="One memory as it stands now, by its id, as the tool `get` answers it.",
        mime_type=JSON,
    )
    return ListResourceTemplatesResult(resource_templates=[memory, files.template()])


async def listed(room: "Room", cursor: str | None) -> ListResourcesResult:
    """The files that the caller reads, and then page by page what the tool `list` shows it.

    Of either there is nothing where it has no such tool. Raises `MemorandaError`.
    """
    first = await files.listed(room) if cursor is None else []
    asked = {"limit": PAGE} if cursor is None else {"limit": PAGE, "cursor": cursor}
    try:
        page, _ = await room.tools.invoke(room.who, "list", asked)
    except MemorandaError as error:
        if error.code not in _NOT_OFFERED:
            raise
        return ListResourcesResult(resources=first)
    return ListResourcesResult(
        resources=[*first, *map(_resource, page["memories"])],
        next_cursor=page["next_cursor"],
    )


async def read(room: "Room", uri: str) -> ReadResourceResult:
    """The memory or file at `uri`, as the tool `get` or `get_context_file` answers it.

    Raises `NotFound`, in the same words for what never was, what is forgotten, what is not for
    the caller, and whatever the caller has no such tool for.
    """
    slug = files.slug_in(uri)
    try:
        if slug is not None:
            return await files.read(room, uri, slug)
        memory, _ = await room.tools.invoke(room.who, "get", {"memory_id": _id_in(uri)})
    except NotFound:
        raise _nothing() from None
    except MemorandaError as error:
        if error.code in _NOT_OFFERED:
            raise _nothing() from None
        raise
    text = json.dumps(memory, ensure_ascii=False, separators=(",", ":"))
    return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=JSON, text=text)])


def _id_in(uri: str) -> str:
    match = _ID.fullmatch(uri)
    if match is None:
        raise _nothing()
    return match[1]


def _nothing() -> NotFound:
    return NotFound(
        f"There is nothing at this address. A memory is at {TEMPLATE}, and a file at {files.TEMPLATE}; "
        "list them first."
    )


def _resource(memory: Mapping[str, Any]) -> Resource:
    return Resource(
        uri=f"{URI}{memory['id']}",
        name=_title(memory),  # older clients show it, and have no title
        title=_title(memory),
        description=_described(memory),
        mime_type=JSON,
        annotations=Annotations(last_modified=memory["recorded_at"]),
    )


def _described(memory: Mapping[str, Any]) -> str | None:
    """Whose it is, where one node of a workflow keeps it for itself."""
    space = memory["space"]
    return None if space is None else f"A memory of the space {one_line(space)}."


def _title(memory: Mapping[str, Any]) -> str:
    told = one_line(memory["title"] or memory["content"])
    return told if len(told) <= NAME_CHARS else f"{told[: NAME_CHARS - 1]}…"
