"""How the protocol is told that something was not done: by a tool, or by the server itself."""

import logging
import traceback
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST
from mcp.types.version import is_version_at_least

from memoranda.words.errors import ErrorKind, MemorandaError

logger: Final = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

NOT_FOUND: Final = -32002
"""What a resource that is not there was called up to 2025-11-25; since then it is a wrong parameter."""
_SINCE: Final = "2026-07-28"
_CODES: Final[Mapping[ErrorKind, int]] = {
    "not_found": INVALID_PARAMS,
    "invalid": INVALID_PARAMS,
    "gone": INVALID_PARAMS,
    "over_limit": INVALID_REQUEST,
    "conflict": INVALID_REQUEST,
    "refused": INVALID_REQUEST,
    "unavailable": INTERNAL_ERROR,
}


BROKEN: Final[Mapping[str, Any]] = {
    "code": "internal_error",
    "kind": "unavailable",
    "message": "Something broke here, and it was not the request. The log says where.",
    "retryable": False,
    "details": {},
}
"""What is said of a defect, and no more: its own message may quote what people wrote."""


def refusal_of(error: MemorandaError) -> dict[str, Any]:
    """The error as every refusal of a tool is spelled."""
    return {
        "code": error.code,
        "kind": error.kind,
        "message": error.message,
        "retryable": error.retryable,
        "details": plain(error.details),
    }


def protocol_error(error: MemorandaError, version: str) -> MCPError:
    """The error as an answer that is none, with the typed refusal as its data."""
    code = _CODES[error.kind]
    if error.kind == "not_found" and not is_version_at_least(version, _SINCE):
        code = NOT_FOUND
    return MCPError(code, error.message, refusal_of(error))


def safely(fn: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Let nothing out of `fn` but errors that are meant to be told; a defect is logged by its place."""

    @wraps(fn)
    async def kept(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await fn(*args, **kwargs)
        except MemorandaError:
            raise
        except Exception as error:  # noqa: BLE001 - the protocol would tell its message
            where = "".join(traceback.format_tb(error.__traceback__))
            logger.error("%s in %s\n%s", type(error).__name__, fn.__qualname__, where)  # noqa: TRY400 - its message may quote what people wrote
            raise MCPError(INTERNAL_ERROR, BROKEN["message"], dict(BROKEN)) from None

    return kept


def plain(details: Mapping[str, object]) -> dict[str, Any]:
    """Details as JSON has them."""
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - beside what is refused alone

    read: dict[str, Any] = to_jsonable_python(dict(details), fallback=str)
    return read
