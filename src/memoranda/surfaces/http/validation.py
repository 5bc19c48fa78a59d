"""Says what is misshapen in a request, place by place, without repeating what was sent."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from memoranda.words.errors import Invalid

MOST_ERRORS: Final = 20
LONGEST_STEP: Final = 80

# Where pydantic's own sentence quotes a piece of the input.
_QUOTING: Final[Mapping[str, str]] = {
    "uuid_parsing": "Input should be a UUID.",
    "datetime_from_date_parsing": "Input should be a date and time with its zone.",
    "datetime_parsing": "Input should be a date and time with its zone.",
    "union_tag_invalid": "Input names a kind that does not exist.",
}


def refusal_of(found: Sequence[Mapping[str, Any]]) -> Invalid:
    """Make one refusal of what a validation found; `errors` holds each place and sentence."""
    errors = [
        {"path": path_of(entry), "message": message_of(entry)} for entry in found[:MOST_ERRORS]
    ]
    places = ", ".join(".".join(map(str, error["path"])) for error in errors[:3])
    more = f" and {len(found) - 3} more" if len(found) > 3 else ""
    return Invalid(
        f"The request does not have the shape that this route reads, at {places}{more}. "
        "Correct it and send it again.",
        errors=errors,
    )


def path_of(entry: Mapping[str, Any]) -> list[str | int]:
    """Where it is, such as `["body", "sources", 0, "limit"]`; an endless name is cut."""
    return [
        step if isinstance(step, int) else str(step)[:LONGEST_STEP] for step in entry.get("loc", ())
    ]


def message_of(entry: Mapping[str, Any]) -> str:
    """What should be there instead, as a sentence."""
    message = _QUOTING.get(entry["type"]) or str(entry["msg"]).removeprefix("Value error, ")
    return message if message.endswith(".") else f"{message}."
