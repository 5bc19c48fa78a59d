"""Says what is misshapen in a request, place by place, without repeating what was sent."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from memoranda.words.errors import Invalid
from memoranda.words.shape import misshapen
from memoranda.words.text import neutral_line

MOST_ERRORS: Final = 20
MOST_TOLD: Final = 3
"""How many faults the sentence itself tells; `errors` holds more."""
LONGEST_STEP: Final = 80


def refusal_of(found: Sequence[Mapping[str, Any]]) -> Invalid:
    """Make one refusal of what a validation found; `errors` holds each place and sentence."""
    errors = [
        {"path": path_of(entry), "message": misshapen(entry)} for entry in found[:MOST_ERRORS]
    ]
    told = " ".join(f"{_place(each['path'])}: {each['message']}" for each in errors[:MOST_TOLD])
    more = f" And {len(found) - MOST_TOLD} more." if len(found) > MOST_TOLD else ""
    return Invalid(f"The request is not right. {told}{more}", errors=errors)


def path_of(entry: Mapping[str, Any]) -> list[str | int]:
    """Where it is, such as `["body", "sources", 0, "limit"]`; an endless or hostile name is made harmless."""
    return [
        step if isinstance(step, int) else neutral_line(str(step)[:LONGEST_STEP])
        for step in entry.get("loc", ())
    ]


def _place(path: Sequence[str | int]) -> str:
    """The field as its sender calls it; of the body as a whole, and of an address, where that is."""
    names = path[1:] if path[:1] == ["body"] and len(path) > 1 else path
    return ".".join(map(str, names)) or "request"
