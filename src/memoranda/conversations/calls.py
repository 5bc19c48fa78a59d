"""Tool calls and what answers them, read from the blocks of messages. Pure."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from memoranda.conversations.models import Message

Block = dict[str, Any]

CALL: Final = "tool_call"
RESULT: Final = "tool_result"


class Call(NamedTuple):
    """A call that an assistant's message asked for; `stopped` where it broke off before it was whole."""

    id: str
    name: str
    stopped: bool = False


def blocks_of(message: Message) -> list[Block]:
    """The blocks of a message; a plain text has none."""
    return message.content if isinstance(message.content, list) else []


def calls_of(message: Message) -> list[Call]:
    """The calls that an assistant's message holds, in their order."""
    if message.role != "assistant":
        return []
    return [
        Call(str(block.get("id", "")), str(block.get("name", "")), block.get("stopped") is True)
        for block in blocks_of(message)
        if block.get("type") == CALL
    ]


def results_of(message: Message) -> list[Block]:
    """The results that a message holds, in their order; an assistant's holds none."""
    if message.role not in {"tool", "user"}:
        return []
    return [block for block in blocks_of(message) if block.get("type") == RESULT]


def answered(block: Block) -> str:
    """The id of the call that a result answers."""
    return str(block.get("tool_call_id", ""))


def gives_results(message: Message) -> bool:
    """Whether the message answers calls, and so belongs to the turn that made them."""
    return message.role == "tool" or bool(results_of(message))


def begins_turn(message: Message) -> bool:
    """Whether somebody speaks here: a user's message that is no answer to a call."""
    return message.role == "user" and not results_of(message)


def latest_turn(messages: Sequence[Message]) -> int:
    """Where the latest turn begins: at the last message of a user, or at 0 where there is none."""
    for place in range(len(messages) - 1, -1, -1):
        if begins_turn(messages[place]):
            return place
    return 0
