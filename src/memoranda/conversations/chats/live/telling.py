"""What a host tells of its run, checked before it is kept. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from memoranda.conversations.chats.live.models import (
    LONGEST_TEXT,
    MOST_AT_ONCE,
    NewEvent,
    RunEvent,
)
from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.inputs import check_length, check_storable
from memoranda.words.shape import misshapen

MOST_EVENTS: Final = 100_000
"""Events that one run may have."""
MOST_BYTES: Final = 8 * 1024 * 1024
"""Bytes that the events of one run may have together."""

_EVENT: Final[TypeAdapter[NewEvent]] = TypeAdapter(NewEvent)


class NewRow(NamedTuple):
    """An event that has no number yet, and its data as they are kept, in JSON."""

    type: str
    data: dict[str, Any]
    written: str


def new_row(type: str, data: dict[str, Any]) -> NewRow:
    """The event as it is to be kept."""
    return NewRow(type, data, json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def told(events: Sequence[NewEvent | Mapping[str, Any]]) -> list[NewRow]:
    """The events as they are to be kept; each may be given as plain JSON. Raises `Invalid` and `OverLimit`, naming the place."""
    if len(events) > MOST_AT_ONCE:
        raise Invalid(
            f"events has {len(events)} and may have {MOST_AT_ONCE}: tell them in parts.",
            field="events",
        )
    return [_row(f"events.{place}", event) for place, event in enumerate(events)]


def check_room(last: int, size: int, new: Sequence[NewRow]) -> None:
    """Raise `OverLimit` where a run that told so many events, of so many bytes, would tell more than it may."""
    size += sum(len(each.written.encode()) for each in new)
    if last + len(new) > MOST_EVENTS or size > MOST_BYTES:
        raise OverLimit(
            f"A run tells at most {MOST_EVENTS} events and {MOST_BYTES} bytes: "
            "go on without telling more, and answer with the whole.",
            field="events",
            limit=MOST_BYTES,
        )


def same(kept: Sequence[RunEvent], new: Sequence[NewRow]) -> bool:
    """Whether these were told already: somebody did not hear the answer, and tells them again."""
    return [(each.type, each.data) for each in kept] == [(each.type, each.data) for each in new]


def _row(field: str, given: NewEvent | Mapping[str, Any]) -> NewRow:
    event = _read(field, given) if isinstance(given, Mapping) else given
    data = event.model_dump(exclude={"type"})
    for name, value in data.items():
        if isinstance(value, str):
            check_storable(f"{field}.{name}", value)
            check_length(f"{field}.{name}", value, LONGEST_TEXT)
    return new_row(event.type, data)


def _read(field: str, given: Mapping[str, Any]) -> NewEvent:
    try:
        return _EVENT.validate_python(dict(given))
    except ValidationError as error:
        found = error.errors()[0]
        place = ".".join([field, *map(str, found["loc"][1:])])  # the first is the kind of event
        raise Invalid(f"{place}: {misshapen(found)}", field=place) from None
