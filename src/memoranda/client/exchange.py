"""What is sent for a call, and what is read from its answer: the same for both clients."""

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple, TypeVar

import anyio.to_thread
import httpx
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from memoranda import __version__
from memoranda.client.call import Call, File, Form
from memoranda.client.errors import UnexpectedAnswer, Unreachable, error_of, sent_on, unexpected
from memoranda.client.retrying import LONGEST_S, Failure, retry_after_s
from memoranda.words.errors import Invalid

T = TypeVar("T")

CHUNK_BYTES: Final = 64 * 1024
FOLLOWING: Final = httpx.Timeout(30, read=60)
"""Seconds for a stream that goes on: the server says something every 15."""
MOST_PORT: Final = 65_535
EVENTS: Final = "text/event-stream"
LINES: Final = "application/jsonl"
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
    if not _is_address(whole):
        raise Invalid(
            "This is no address of a server: write one as in http://127.0.0.1:8321, with neither "
            "a question mark nor a number sign.",
            field="url",
        )
    return whole.rstrip("/").removesuffix("/v1")


def _is_address(whole: str) -> bool:
    try:
        read = httpx.URL(whole)
    except httpx.InvalidURL:
        return False
    named = read.host and not any(each in read.host for each in " %[")
    return bool(named) and (read.port or 0) <= MOST_PORT and not {"?", "#"} & set(whole)


def seconds_of(timeout_s: float) -> float:
    """How long a client waits for a sign of the server. Raises `Invalid`."""
    if not 0 < timeout_s <= LONGEST_S:
        raise Invalid(
            "timeout_s is a number of seconds above 0, of a day at most.", field="timeout_s"
        )
    return float(timeout_s)


def headers_of(key: str | None) -> dict[str, str]:
    """What every request says of who asks. Raises `Invalid` for a key that no header can carry."""
    if key is not None and not (key.isascii() and key.isprintable() and key and " " not in key):
        raise Invalid(
            "This is no key: one is a single word of ASCII characters. See that no line break "
            "or blank came along with it; give None where there is none.",
            field="key",
        )
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
    if response.has_redirect_location:
        return Failure(sent_on(status, response.headers["location"]), status)
    return Failure(error_of(status, response.content), status, retry_after_s(response.headers))


def lost(error: httpx.HTTPError) -> Failure:
    """Why an attempt failed that was not answered."""
    sent = not isinstance(error, NEVER_SENT)
    told = Unreachable(f"{_loss(error)} ({type(error).__name__}).", maybe_done=sent)
    told.__cause__ = error
    return Failure(told, sent=sent)


def _loss(error: httpx.HTTPError) -> str:
    if isinstance(error, NEVER_SENT):
        return "The server can't be reached: see that it runs, and that the address is right"
    if isinstance(error, httpx.TimeoutException):
        return "The server gave no answer in time: ask later, or wait longer, with timeout_s"
    return "The answer broke off: see that the server still runs, and what stands before it"


def misplaced(response: httpx.Response, wanted: str) -> Failure | None:
    """Why an answer is none of a stream's, which another program would give for ever; None where it is one."""
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == wanted:
        return None
    return Failure(unexpected(response.status_code), response.status_code)


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
    where = _bytes_in(fields)
    if where is not None:
        raise Invalid(f"{where} holds bytes, and JSON has texts alone: decode them.", field=where)
    try:
        return to_json(dict(fields))
    except (PydanticSerializationError, UnicodeError):
        raise Invalid(
            "This can't be written as JSON: it holds a value or a text that JSON has no words for."
        ) from None


def _bytes_in(value: object, at: str = "") -> str | None:
    """Where there are bytes, which would be sent as if they were a text."""
    if isinstance(value, bytes | bytearray | memoryview):
        return at
    if isinstance(value, Mapping):
        within: Iterable[tuple[object, object]] = value.items()
    elif isinstance(value, list | tuple):
        within = enumerate(value)
    else:
        return None
    found = (_bytes_in(each, f"{at}.{name}" if at else str(name)) for name, each in within)
    return next((each for each in found if each is not None), None)


def chunks(file: Any) -> Iterator[bytes]:
    """A file that is open, part by part."""
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


async def chunks_of(file: Any) -> AsyncIterator[bytes]:
    """The same, with a thread that reads."""
    while chunk := await anyio.to_thread.run_sync(file.read, CHUNK_BYTES):
        yield chunk
