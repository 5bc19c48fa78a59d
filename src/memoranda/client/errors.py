"""Problem documents as the errors that the library raises: the same classes, codes and details. Pure."""

import json
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Final

from memoranda.access import roles
from memoranda.access.rates import models as rates
from memoranda.conversations import errors as conversations
from memoranda.conversations.chats import errors as chats
from memoranda.files import errors as files
from memoranda.knowledge import errors as knowledge
from memoranda.memories import errors as memories
from memoranda.memories.transfer import errors as transfer
from memoranda.tools import errors as tools
from memoranda.words import errors as words
from memoranda.words import over_http
from memoranda.words.errors import (
    Conflict,
    Gone,
    Invalid,
    MemorandaError,
    NotFound,
    OverLimit,
    Refused,
    Unavailable,
    error_types,
)
from memoranda.words.text import neutral_line

ROOMS: Final[tuple[ModuleType, ...]] = (
    *(words, over_http, roles, rates, conversations, chats),
    *(files, knowledge, memories, transfer, tools),
)
"""Where the errors are that a server may tell of."""

KIND_BY_STATUS: Final[Mapping[int, type[MemorandaError]]] = {
    401: Refused,
    403: Refused,
    404: NotFound,
    408: OverLimit,
    409: Conflict,
    410: Gone,
    413: OverLimit,
    429: OverLimit,
}
"""The kind of a code that a newer server has; any other status is `Invalid` below 500, and else `Unavailable`."""

MOST_LOCATION: Final = 200
FAULTS: Final = 500
"""From here on statuses say that the server is at fault."""
OWN_FIELDS: Final = frozenset({"type", "title", "status", "detail", "code"})


class Unreachable(Unavailable):
    """The server gave no answer. Where the request may have arrived, `details` says so in `maybe_done`."""

    code = "unreachable"


class UnexpectedAnswer(Unavailable):
    """What came back is no answer of this API: another program answered, or one between here and the server."""

    code = "unexpected_answer"
    retryable = False


class ClientClosed(Invalid):
    """The client was closed, and asks nothing any more. Ask within its `with` block, or make another one."""

    code = "client_closed"


def closed() -> ClientClosed:
    """The error of whoever asks a client that was closed."""
    return ClientClosed("This client was closed: ask within its `with` block, or make another one.")


def error_of(status: int, content: bytes) -> MemorandaError:
    """The error that an answer tells of; what it carries beside the problem's own fields are the details."""
    try:
        problem = json.loads(content)
        code, detail = problem["code"], problem["detail"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return unexpected(status)
    if not isinstance(code, str) or not isinstance(detail, str):
        return unexpected(status)
    kind = known().get(code)
    error = _newer(code, detail, status) if kind is None else kind(detail)
    error.details.update({name: problem[name] for name in problem if name not in OWN_FIELDS})
    return error


@cache
def known() -> dict[str, type[MemorandaError]]:
    """Every error that a server may tell of, by its code."""
    homes = {room.__name__ for room in ROOMS}
    return {each.code: each for each in error_types() if each.__module__ in homes}


def _newer(code: str, detail: str, status: int) -> MemorandaError:
    """An error of a code that this version does not know, of the kind that its status tells."""
    kind = KIND_BY_STATUS.get(status, Invalid if status < FAULTS else Unavailable)
    error = kind(detail)
    vars(error).update(code=code, retryable=status in {429, 503})
    return error


def sent_on(status: int, location: str) -> UnexpectedAnswer:
    """The error where the address is another one by now: a request with a key is sent nowhere else by itself."""
    to = neutral_line(location)[:MOST_LOCATION]
    return UnexpectedAnswer(
        f"What is at this address sends on to {to}: give the client the address that answers itself.",
        status=status,
    )


def going_round() -> UnexpectedAnswer:
    """The error where the pages of a list have no end."""
    return UnexpectedAnswer(
        "A page of this list leads back to one that was read, so that it never ends: check the address, and "
        "what stands before the server."
    )


def unexpected(status: int) -> UnexpectedAnswer:
    """The error where another program than the server has answered."""
    return UnexpectedAnswer(
        f"The answer, of status {status}, is none of this API: check the address, and what stands before the server.",
        status=status,
    )
