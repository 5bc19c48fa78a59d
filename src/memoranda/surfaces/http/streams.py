"""What the answers share that go on: server-sent events, until the caller leaves or its key ends."""

from collections.abc import AsyncGenerator
from typing import Any, Final

import anyio
from fastapi import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from memoranda.surfaces.http.credentials import sign_in
from memoranda.words.errors import MemorandaError, Unauthenticated

RETRY_MS: Final = 2_000
"""How long a client that lost its connection waits before it comes back."""
HEADERS: Final = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class EventStream(StreamingResponse):
    """An answer that goes on until its caller leaves, its key ends, or the server stops."""

    media_type = "text/event-stream"

    def __init__(self, lines: AsyncGenerator[str, None], told: AsyncGenerator[Any, None]) -> None:
        super().__init__(lines, headers=HEADERS)
        self._open = (lines, told)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what is told; whoever left, even amid a line, is followed for no longer."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            with anyio.CancelScope(shield=True):
                for each in self._open:
                    await each.aclose()


async def still_in(request: Request) -> bool:
    """Whether the key still opens something; a database that is away for a while shuts nobody out."""
    try:
        await sign_in(request)
    except Unauthenticated:
        return False
    except MemorandaError:
        return True
    return True
