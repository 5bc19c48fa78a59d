"""Bounds what a request may send: its size, counted as it arrives, and the type that it claims."""

from collections.abc import AsyncGenerator, AsyncIterator, Collection
from typing import Final

from anyio import fail_after
from fastapi import Request
from starlette.exceptions import HTTPException

from memoranda.surfaces.http.errors import BrokenBody, SlowBody, UnsupportedMediaType
from memoranda.surfaces.http.jsontext import read_json
from memoranda.surfaces.http.validation import LONGEST_STEP, MOST_ERRORS
from memoranda.words.errors import Invalid, MemorandaError, OverLimit

FORM_ROOM: Final = 64 * 1024
"""Bytes that a form may have beside its file: the other fields and the lines between."""

JSON: Final = "application/json"
FORM: Final = "multipart/form-data"


class BoundedRequest(Request):
    """A request whose body ends at a limit, in bytes, and never pauses for `idle_s` seconds.

    Its JSON is read strictly.
    """

    def __init__(self, request: Request, most: int, idle_s: float) -> None:
        super().__init__(request.scope, request.receive)
        self._most = most
        self._idle_s = idle_s

    async def stream(self) -> AsyncGenerator[bytes, None]:
        """The body as it arrives. Raises `OverLimit` once it is known to be too long, and `SlowBody`."""
        received = _stated_length(self)
        if received > self._most:
            raise _over_limit(self._most)
        received = 0
        async for chunk in _unpaused(super().stream(), self._idle_s):
            received += len(chunk)
            if received > self._most:
                raise _over_limit(self._most)
            yield chunk

    async def json(self) -> object:
        """The body's JSON; see `read_json` for what it refuses."""
        return read_json(await self.body())


async def _unpaused(chunks: AsyncGenerator[bytes, None], idle_s: float) -> AsyncIterator[bytes]:
    while True:
        try:
            with fail_after(idle_s):
                chunk = await anext(chunks)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise SlowBody(
                f"Nothing more of the body came within {idle_s:g} seconds: send it without pauses.",
                limit_s=idle_s,
            ) from None
        yield chunk


def of_form(error: HTTPException) -> MemorandaError | None:
    """What the framework's reader of forms refused for its size, which it tells by a sentence alone."""
    if str(error.detail).startswith(("Part exceeded", "Too many")):
        return OverLimit(
            "The form has a field that is too large, or too many of them: only the document may be "
            "long."
        )
    return None


def check_query(request: Request, known: Collection[str]) -> None:
    """Refuse what the query has beside the `known` names.

    A filter that was misspelled and ignored would answer with more than was asked for.
    """
    unknown = [name[:LONGEST_STEP] for name in request.query_params if name not in known]
    if unknown:
        raise Invalid(
            f"This route's query knows {', '.join(known) or 'nothing'}; leave out what else there is.",
            errors=[
                {"path": ["query", name], "message": "Unknown name."}
                for name in unknown[:MOST_ERRORS]
            ],
        )


def check_media_type(request: Request, wanted: str) -> None:
    """Refuse a body that says it is of another type than `wanted`, or says nothing."""
    if not _stated_length(request) and "transfer-encoding" not in request.headers:
        return
    sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if sent == wanted or (wanted == JSON and sent.endswith("+json")):
        return
    raise UnsupportedMediaType(f"This route reads {wanted}: say so in Content-Type, and send that.")


def _stated_length(request: Request) -> int:
    stated = request.headers.get("content-length", "0")
    if not (stated.isascii() and stated.isdecimal() and len(stated) < 20):
        raise BrokenBody("Content-Length is no length that a body can have.")
    return int(stated)


def _over_limit(most: int) -> OverLimit:
    return OverLimit(f"The body is too large; this route reads at most {most} bytes.", limit=most)
