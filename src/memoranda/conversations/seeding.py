"""What a run begins with: a carried transcript, a stored conversation, or neither. Pure."""

from collections.abc import Sequence
from typing import Literal

from memoranda.conversations.caps import RESULT_CHARS, cap_results
from memoranda.conversations.clearing import SEED_BYTES, clear_results
from memoranda.conversations.endings import close_unanswered_tool_calls, drop_unasked_results
from memoranda.conversations.models import Message


def replayable(
    messages: list[Message], *, result_chars: int = RESULT_CHARS, budget: int = SEED_BYTES
) -> list[Message]:
    """What was stored, so that a provider takes it again: calls answered, results capped, old ones cleared.

    Nothing is written: what is stored stays as it is. The same list where nothing has to change, and
    for what this has answered before.
    """
    closed = drop_unasked_results(close_unanswered_tool_calls(messages))
    return clear_results(cap_results(closed, result_chars), budget)


def seed(
    system: str | Message | None,
    stored: Sequence[Message],
    user: str | Message,
    carried: Sequence[Message] | None = None,
) -> list[Message]:
    """The messages of a run's first request.

    A transcript that is carried on goes before everything, exactly as it is. Without one: this firing's
    system prompt, what is stored without the prompts of earlier firings, and this firing's user message.
    """
    if carried is not None:
        return list(carried)
    prompt = [] if system is None else [_message("system", system)]
    return [*prompt, *_without_prompts(stored), _message("user", user)]


def _without_prompts(stored: Sequence[Message]) -> list[Message]:
    """All but system messages, and but the developer's that stood in front in the place of one."""
    front = 0
    while front < len(stored) and stored[front].role in {"system", "developer"}:
        front += 1
    return [message for message in stored[front:] if message.role != "system"]


def _message(role: Literal["system", "user"], said: str | Message) -> Message:
    return said if isinstance(said, Message) else Message(role=role, content=said)
