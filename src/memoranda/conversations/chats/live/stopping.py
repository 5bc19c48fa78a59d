"""A turn that a person stopped, made so that it can be kept and sent again. Pure."""

from collections.abc import Collection

from memoranda.conversations.calls import RESULT, blocks_of
from memoranda.conversations.endings import (
    NOT_RUN,
    UNANSWERED,
    close_unanswered_tool_calls,
    mark_stopped,
)
from memoranda.conversations.models import Message


def stopped_turn(messages: list[Message], started: Collection[str] = ()) -> list[Message]:
    """The list with its last answer marked as stopped, and each open call answered.

    A call that was never begun is answered as not run. Of one of `started`, nobody knows what became
    of it, and its answer says that. The same list where nothing has to change.
    """
    marked = mark_stopped(messages)
    closed = close_unanswered_tool_calls(marked, NOT_RUN)
    if closed is marked or not started:
        return closed
    there = {id(message) for message in marked}
    return [each if id(each) in there else _begun(each, started) for each in closed]


def _begun(message: Message, started: Collection[str]) -> Message:
    """What was put in for calls without a result: those that were begun are not said to be not run."""
    content = [
        {**block, "content": UNANSWERED}
        if block.get("type") == RESULT
        and block.get("content") == NOT_RUN
        and block.get("tool_call_id") in started
        else block
        for block in blocks_of(message)
    ]
    return message.model_copy(update={"content": content})
