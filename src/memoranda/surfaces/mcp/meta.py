"""What a client may say beside a call's arguments, in the request's `_meta`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from memoranda.words.errors import Invalid

if TYPE_CHECKING:
    from memoranda.tools.models import Course

IDEMPOTENCY_KEY: Final = "memoranda/idempotency-key"
RUN_ID: Final = "memoranda/run-id"
CONVERSATION_ID: Final = "memoranda/conversation-id"
REPLAYED: Final = "memoranda/replayed"
"""In a result: this very call was answered before, and nothing was done again."""


def key_in(params: Mapping[str, Any] | None) -> str | None:
    """The idempotency key, if there is one. Raises `Invalid` for anything but a text."""
    return _text(_meta(params), IDEMPOTENCY_KEY)


def course_in(params: Mapping[str, Any] | None) -> "Course":
    """In the course of which run and conversation the call is made. Raises `Invalid` for what is no id."""
    from memoranda.tools.models import Course  # noqa: PLC0415 - the handshake does without storage

    meta = _meta(params)
    return Course(run_id=_id(meta, RUN_ID), conversation_id=_id(meta, CONVERSATION_ID))


def _meta(params: Mapping[str, Any] | None) -> Mapping[str, Any]:
    found = (params or {}).get("_meta")
    return found if isinstance(found, Mapping) else {}


def _text(meta: Mapping[str, Any], name: str) -> str | None:
    found = meta.get(name)
    if found is not None and not isinstance(found, str):
        raise Invalid(f"{name} in _meta must be a text.", field=f"_meta.{name}")
    return found


def _id(meta: Mapping[str, Any], name: str) -> UUID | None:
    found = _text(meta, name)
    try:
        return None if found is None else UUID(found)
    except ValueError:
        raise Invalid(f"{name} in _meta must be an id.", field=f"_meta.{name}") from None
