"""What is sent for a call, and what is read from its answer: the same for both clients."""

from collections.abc import AsyncIterator, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple, TypeVar

import anyio.to_thread
import httpx
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from memoranda import __version__
from memoranda.client.call import Call, File, Form
from memoranda.client.errors import UnexpectedAnswer, Unreachable, error_of
from memoranda.client.retrying import Failure, retry_after_s
from memoranda.words.errors import Invalid

T = TypeVar("T")

CHUNK_BYTES: Final = 64 * 1024
FOLLOWING: Final = httpx.Timeout(30, read=60)
"""Seconds for a stream that goes on: the server says something every 15."""
NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_ADAPTERS: Final[dict[Any, TypeAdapter[Any]]] = {}


class Sent(NamedTuple):
    """What is sent for a call. Its file, if it has one, is read while it is sent."""

    method: str
    url: str
    params: dict[str, Any]
    headers: dict[str, str]
    content: bytes | None = None
    fields: dict[str, str] | None = None
    file: File | None = None


def base_of(url: str) -> str:
    """The address that every path begins with; a `/v1` at its end is part of each path already. Raises `Invalid`."""
    whole = url.strip()
    if not whole.lower().startswith(("http://", "https://")):
        raise Invalid(
            "The server's address begins with http:// or https://, as in http://127.0.0.1:8321.",
            field="url",
        )
    return whole.rstrip("/").removesuffix("/v1")


def headers_of(key: str | None) -> dict[str, str]:
    """What every request says of who asks."""
    said = {"Accept": "*/*", "User-Agent": f"memoranda/{__version__}"}
    return said if key is None else {**said, "Authorization": f"Bearer {key}"}


def sent(call: Call[Any]) -> Sent:
    """The request of a call. Raises `Invalid` for what can't be written as JSON, in a URL or in a header."""
    try:
        plain = Sent(
            call.method,
            call.target,
            {name: _text(value) for name, value in _plain(call.query).items()},
            {name: _text(value) for name, value in _plain(call.headers).items()},
        )
        # As they are when they are sent, which would be too late to say so.
        "".join(plain.params.values()).encode()
        "".join(plain.headers.values()).encode("ascii")
    except (PydanticSerializationError, UnicodeError):
        raise Invalid(
            "An id or a parameter holds a value or a text that no URL and no header can carry."
        ) from None
    match call.body:
        case None:
            return plain
        case Form(file, fields):
            texts = {name: _text(value) for name, value in _plain(fields).items()}
            return plain._replace(fields=texts, file=file)
        case File():
            kind = {"Content-Type": "application/octet-stream"}
            return plain._replace(file=call.body, headers={**plain.headers, **kind})
        case fields:
            kind = {"Content-Type": "application/json"}
            return plain._replace(content=_json(fields), headers={**plain.headers, **kind})


def answer_of(call: Call[T], response: httpx.Response) -> T | Failure:
    """What the whole answer says: the value, or why the attempt failed."""
    if not response.is_success:
        return failure_of(response)
    try:
        if response.status_code == HTTPStatus.NO_CONTENT:
            return adapter(call.answer).validate_python(None)
        # A newer server may say more than this version knows.
        return adapter(call.answer).validate_json(response.content, extra="ignore")
    except ValidationError as error:
        raise UnexpectedAnswer(
            f"The answer to {call.method} {call.path} is not of the expected shape: "
            "check the address, and the versions of server and client.",
            errors=error.error_count(),
        ) from None


def failure_of(response: httpx.Response) -> Failure:
    """Why an attempt failed that was answered; the answer is read already."""
    status = response.status_code
    return Failure(error_of(status, response.content), status, retry_after_s(response.headers))


def lost(error: httpx.HTTPError) -> Failure:
    """Why an attempt failed that was not answered."""
    sent = not isinstance(error, NEVER_SENT)
    told = Unreachable(
        f"The server gave no answer ({type(error).__name__}): see that it runs and can be reached.",
        maybe_done=sent,
    )
    told.__cause__ = error
    return Failure(told, sent=sent)


def adapter(answer: type[T]) -> TypeAdapter[T]:
    """What reads an answer of a type; made once."""
    made = _ADAPTERS.get(answer)
    if made is None:
        made = _ADAPTERS[answer] = TypeAdapter(answer)
    return made


def _plain(fields: Mapping[str, object]) -> dict[str, Any]:
    return dict(to_jsonable_python(dict(fields)))


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json(fields: Mapping[str, object]) -> bytes:
    try:
        return to_json(dict(fields))
    except (PydanticSerializationError, UnicodeError):
        raise Invalid(
            "This can't be written as JSON: it holds a value or a text that JSON has no words for."
        ) from None


def chunks(file: Any) -> Iterator[bytes]:
    """A file that is open, part by part."""
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


async def chunks_of(file: Any) -> AsyncIterator[bytes]:
    """The same, with a thread that reads."""
    while chunk := await anyio.to_thread.run_sync(file.read, CHUNK_BYTES):
        yield chunk
