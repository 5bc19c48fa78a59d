"""Arguments as a model gives them, checked before anything is done with them. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from memoranda.tools.models import ARGUMENT_BYTES, Course, Input, Tool
from memoranda.words.errors import Invalid
from memoranda.words.inputs import json_input
from memoranda.words.shape import misshapen
from memoranda.words.text import neutral_line

MOST_BYTES: Final = ARGUMENT_BYTES
LARGEST_NUMBER: Final = 2**63 - 1
LONGEST_KEY: Final = 200
MOST_TOLD: Final = 20
LONGEST_STEP: Final = 80
_MANY_DIGITS: Final = re.compile(r"\d{19}")
_WRITE: Final = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def checked(tool: Tool, arguments: object) -> Input:
    """The arguments as the tool takes them; no type is guessed and nothing unknown is ignored.

    Raises `Invalid` with the place and a sentence for each thing that is wrong, none of which
    repeats a value, also for what is no JSON object, or is nested too deeply; `OverLimit` beyond
    the tool's own limit. Validators of the tool's own may raise other `MemorandaError`s.
    """
    if not isinstance(arguments, dict):
        raise Invalid(
            f"The arguments of {tool.name} are not an object: send one, with a field for each of them.",
            field="arguments",
        )
    written = _WRITE(json_input("arguments", arguments, limit=tool.argument_bytes))
    if _MANY_DIGITS.search(written):
        json.loads(written, parse_int=_whole)
    try:
        # From JSON and not from Python's values: there an id and a time are texts, also where no type is guessed.
        return tool.input.model_validate_json(written)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        raise _refusal(tool, found) from None


def canonical(tool: Tool, arguments: Input, course: Course) -> bytes:
    """What was asked for, spelled in one way: two calls are the same where these bytes are.

    What is not given differs from what is given as null, because to some tools it does.
    """
    asked = {
        "tool": tool.name,
        "arguments": arguments.model_dump(mode="json", exclude_unset=True),
        "course": [None if each is None else str(each) for each in course],
    }
    return _WRITE(asked).encode()


def check_key(key: str | None) -> None:
    """Raise `Invalid` for an idempotency key that is none."""
    if key is None:
        return
    if not (key.strip() and len(key) <= LONGEST_KEY and key.isprintable()):
        raise Invalid(
            f"An idempotency key is a text of 1 to {LONGEST_KEY} characters that can be printed, "
            "such as a new UUID. Send the same one only to try the same call again.",
            field="idempotency_key",
        )


def _whole(digits: str) -> int:
    number = int(digits)
    if abs(number) > LARGEST_NUMBER:
        raise Invalid(
            "The arguments hold a whole number that is too large for anything here.",
            field="arguments",
        )
    return number


def _refusal(tool: Tool, found: Sequence[Mapping[str, Any]]) -> Invalid:
    errors = [{"path": _path(each), "message": misshapen(each)} for each in found[:MOST_TOLD]]
    told = " ".join(f"{_place(each['path'])}: {each['message']}" for each in errors)
    more = f" And {len(found) - MOST_TOLD} more." if len(found) > MOST_TOLD else ""
    return Invalid(f"The arguments of {tool.name} are not right. {told}{more}", errors=errors)


def _path(found: Mapping[str, Any]) -> list[str | int]:
    """Where it is. A name of the caller's own is no value, but may be endless or hostile all the same."""
    return [
        step if isinstance(step, int) else neutral_line(str(step)[:LONGEST_STEP])
        for step in found.get("loc", ())
    ]


def _place(path: Sequence[str | int]) -> str:
    return ".".join(map(str, path)) or "arguments"
