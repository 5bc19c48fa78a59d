"""What a side does with conversations: how a turn is put in, and how one is read."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from made import text

OURS: Final = "memoranda"
SHORT: Final = 10
LONG: Final = 10_000
MANY: Final = 1_000
"""The messages of the conversations that are measured."""


TURN: Final = 4
"""The messages of a turn: a question, a call, its result, an answer."""


@dataclass(frozen=True)
class Turns:
    """A side: a turn at the end of a conversation of so many messages, each time of another one that is
    short or of the one that is long; all of a conversation of `MANY`; and that saved with a turn more.

    `at_once` is how many turns a round has: fewer where one takes long.
    """

    name: str
    append: Callable[[int], Awaitable[object]]
    load: Callable[[], Awaitable[int]]
    save: Callable[[], Awaitable[object]] | None
    at_once: int = 20
    note: str = ""


def said(number: int) -> dict[str, Any]:
    """Message `number`, as we write it."""
    kind, call = number % TURN, f"call_{number // TURN}"
    if kind == 0:
        return {"role": "user", "content": text(number)}
    if kind == 1:
        return {
            "role": "assistant",
            "content": [{"type": "text", "text": text(number)}, _call(call)],
        }
    if kind == 2:
        result = {"type": "tool_result", "tool_call_id": call, "content": text(number)}
        return {"role": "tool", "content": [result]}
    return {"role": "assistant", "content": [{"type": "text", "text": text(number)}]}


def _call(call: str) -> dict[str, Any]:
    return {"type": "tool_call", "id": call, "name": "look_up", "arguments": '{"query": "it"}'}
