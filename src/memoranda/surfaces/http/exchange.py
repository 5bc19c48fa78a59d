"""Routes that take memories out and in: an export that is streamed, and an import of one file."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Annotated, Any, ClassVar, Final
from uuid import UUID

import anyio
from fastapi import APIRouter, Query, Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from memoranda.access.rates.service import Rate
from memoranda.memories.transfer.errors import ImportTooLarge, UnreadableImport
from memoranda.memories.transfer.models import ImportReport, ImportSource
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.errors import BrokenBody, SlowBody, UnsupportedMediaType
from memoranda.surfaces.http.limits import FORM, BoundedRequest
from memoranda.surfaces.http.operation import Operation, log_defect, raises
from memoranda.surfaces.http.product import Product
from memoranda.surfaces.http.rates import counted
from memoranda.words.errors import NotFound, OverLimit, ReadOnly

routes = APIRouter(prefix="/v1", tags=["memories"], route_class=Operation)

HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Disposition": 'attachment; filename="memories.jsonl"',
    "X-Accel-Buffering": "no",
}
FILE: Final[dict[str, Any]] = {
    "requestBody": {
        "description": "The file as it is.",
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class JsonLines(StreamingResponse):
    """An answer of many lines. One that breaks off ends without its end, so that nobody takes it for whole."""

    media_type = "application/jsonl"
    operation: ClassVar[str] = "export_memories"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines; whoever left is written for no longer."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            with anyio.CancelScope(shield=True):
                if isinstance(self.body_iterator, AsyncGenerator):
                    await self.body_iterator.aclose()

    async def stream_response(self, send: Send) -> None:
        """Send the lines as they come."""
        try:
            await super().stream_response(send)
        except OSError:  # the connection is gone
            raise
        except Exception as error:  # noqa: BLE001 - the status is sent: to end amid the body is all that can be told
            log_defect(error, self.operation)


@routes.get("/memories/export", status_code=200, response_class=JsonLines)
@raises(OverLimit)
@counted(Rate.LISTS)
async def export_memories(
    who: Caller,
    product: Product,
    *,
    history: Annotated[
        bool, Query(description="Put behind each memory what it said before.")
    ] = False,
) -> Response:
    """Export what you may know, as JSON Lines: a header, waiting proposals, and memories."""
    lines = product.transfer.export(who, history=history)
    # The first is awaited here, while an error can still be told as one.
    first = await anext(lines)
    return JsonLines(all_lines(first, lines), headers=HEADERS)


@routes.post("/memories/import", openapi_extra=FILE)
@raises(
    NotFound,
    ReadOnly,
    UnreadableImport,
    ImportTooLarge,
    OverLimit,
    BrokenBody,
    SlowBody,
    UnsupportedMediaType,
)
@counted(Rate.MEMORY_WRITES)
async def import_memories(
    request: Request,
    who: Caller,
    product: Product,
    *,
    source: Annotated[
        ImportSource, Query(description="Where it comes from; told from what it holds.")
    ] = ImportSource.AUTO,
    dry_run: Annotated[
        bool, Query(description="Say what would be taken in, and change nothing.")
    ] = False,
    user_id: Annotated[UUID | None, Query(description="Give all of it to this user.")] = None,
    agent_id: Annotated[UUID | None, Query(description="Give all of it to this agent.")] = None,
) -> ImportReport:
    """Take in the file that is the body: an export of this product, or of another one. The answer says what became of it."""
    if request.headers.get("content-type", "").lower().startswith(FORM):
        # A form's own lines would else be read as a list of memories.
        raise UnsupportedMediaType("This route reads the file as the body, and not in a form.")
    settings = product.settings
    body = BoundedRequest(request, settings.max_upload_bytes, settings.body_idle_s)
    return await product.transfer.take_in(
        who,
        await body.body(),
        source=source,
        dry_run=dry_run,
        user_id=user_id,
        agent_id=agent_id,
    )


async def all_lines(first: str, lines: AsyncIterator[str]) -> AsyncGenerator[str, None]:
    """The line that was awaited by itself, and those that follow."""
    yield first
    async for line in lines:
        yield line
