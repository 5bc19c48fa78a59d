"""Answers the requests that a stopping server gives up, so that no client waits and no log holds a traceback."""

from asyncio import CancelledError

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memoranda.surfaces.http.problems import response_to
from memoranda.words.errors import Unavailable


async def answered(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one request; where it is cancelled, say so in an answer unless one has begun.

    A server gives each request a task of its own and cancels it only once it stops and has waited
    long enough. It would log the cancellation as a defect.
    """
    begun = False

    async def watched(message: Message) -> None:
        nonlocal begun
        begun = True
        await send(message)

    try:
        await app(scope, receive, watched)
    except CancelledError:
        if scope["type"] != "http":
            raise
        if not begun:
            refusal = Unavailable("The server is stopping; nothing waits for it. Try again soon.")
            await response_to(refusal, {"Connection": "close"})(scope, receive, send)
