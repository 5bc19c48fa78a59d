"""Context files as resources: the tool `get_context_file` by another name, so that one policy and one journal hold for both."""

import re
from typing import TYPE_CHECKING, Final

from mcp.types import (
    Annotations,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

if TYPE_CHECKING:
    from memoranda.surfaces.mcp.door import Room

URI: Final = "memoranda://files/"
TEMPLATE: Final = "memoranda://files/{slug}"
TOOL: Final = "get_context_file"
MARKDOWN: Final = "text/markdown"
_AT: Final = re.compile(re.escape(URI) + r"([A-Za-z.-]{1,40})")


def template() -> ResourceTemplate:
    """The shape of a file's address."""
    return ResourceTemplate(
        uri_template=TEMPLATE,
        name="context file",
        title="Context file",
        description="One of the organization's files by its slug, such as people, as the tool "
        f"`{TOOL}` answers it.",
        mime_type=MARKDOWN,
    )


async def listed(room: "Room") -> list[Resource]:
    """The files that the caller reads; none where it has no such tool."""
    from memoranda.files.models import TITLES, WorkspaceFile  # noqa: PLC0415 - the handshake does without

    if TOOL not in {offer.name for offer in await room.tools.offers(room.who)}:
        return []
    return [
        Resource(
            uri=f"{URI}{name}",
            name=TITLES[name],
            title=TITLES[name],
            description="A context file of the organization.",
            mime_type=MARKDOWN,
            annotations=Annotations(audience=["assistant"]),
        )
        for name in WorkspaceFile
    ]


def slug_in(uri: str) -> str | None:
    """The slug that an address of a file names; None for any other address."""
    match = _AT.fullmatch(uri)
    return None if match is None else match[1]


async def read(room: "Room", uri: str, slug: str) -> ReadResourceResult:
    """The file's text within its fence, or the word that the caller has it already. Raises as the tool."""
    file, _ = await room.tools.invoke(room.who, TOOL, {"slug": slug})
    text = file["note"] if file["text"] is None else file["text"]
    content = TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)
    return ReadResourceResult(contents=[content])
