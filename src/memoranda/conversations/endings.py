"""Turns that broke off: marked where they stopped, and made so that a provider takes them again. Pure.

Every function answers the same list object where it has nothing to change.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from memoranda.conversations.calls import (
    RESULT,
    Block,
    Call,
    answered,
    blocks_of,
    calls_of,
    gives_results,
    results_of,
)
from memoranda.conversations.models import Message

UNANSWERED: Final = (
    "No result was kept for this call: the turn ended before it was answered. "
    "The call may have run or not."
)
NOT_RUN: Final = "This call was not run: the turn was stopped."
"""For a host that knows it."""
NOT_WHOLE: Final = "This call was not run: the turn ended before all of it was written."
STAND_INS: Final = (UNANSWERED, NOT_RUN, NOT_WHOLE)


def close_unanswered_tool_calls(messages: list[Message], answer: str = UNANSWERED) -> list[Message]:
    """Give each call without a result one, right after those that its turn has already.

    A result that came late, after something else was said, is moved to its call, and takes the place of
    what stood in for it; a call that nothing answers gets `answer`, as an error, or where it broke off
    itself, that it was not run. No message is changed. The same list where every call is answered in its place.
    """
    own = _without_stand_ins(messages, answer)
    answers = dict(_missing(own, answer))
    if not answers:
        return own if own is messages else drop_unasked_results(own)
    closed: list[Message] = []
    for place, message in enumerate(own):
        closed.append(message)
        if place in answers:
            closed.append(Message(role="tool", content=answers[place]))
    return drop_unasked_results(closed)


def drop_unasked_results(messages: list[Message]) -> list[Message]:
    """Leave out results that answer no call right before them, as what was cut off in front leaves them."""
    kept: list[Message] = []
    asked: Counter[str] = Counter()
    for place, message in enumerate(messages):
        if message.role == "assistant":
            if not (place and messages[place - 1].role == "assistant"):
                asked.clear()
            asked.update(call.id for call in calls_of(message))
        elif not gives_results(message):
            asked.clear()
        left = _asked_for(message, asked)
        if left is not None:
            kept.append(left)
    same = len(kept) == len(messages) and all(map(_is, kept, messages))
    return messages if same else kept


def mark_stopped(messages: list[Message]) -> list[Message]:
    """Mark the answer that was stopped: the text or thought that the last message ends in, if an assistant's.

    The message says so too, in its metadata, so that one that ends in a call is marked as well. The
    same list where no answer had begun, or where it is marked already.
    """
    if not messages or messages[-1].role != "assistant":
        return messages
    last = messages[-1]
    content = _stopped(last.content)
    if content is last.content and last.metadata.get("stopped") is True:
        return messages
    metadata = {**last.metadata, "stopped": True}
    return [*messages[:-1], last.model_copy(update={"content": content, "metadata": metadata})]


def _without_stand_ins(messages: list[Message], answer: str) -> list[Message]:
    """Leave out what stands in for the result of a call whose own result came after all.

    A list that was loaded before that, and saved with the result, holds both.
    """
    kept: list[Message] = []
    for place, message in enumerate(messages):
        waiting = [block for block in results_of(message) if _stands_in(block, answer)]
        done = [block for block in waiting if _own(messages[place:], answered(block), answer)]
        if not done:
            kept.append(message)
            continue
        left = [block for block in blocks_of(message) if block not in done]
        if left:
            kept.append(message.model_copy(update={"content": left}))
    return messages if all(map(_is, kept, messages)) and len(kept) == len(messages) else kept


def _stands_in(block: Block, answer: str) -> bool:
    return block.get("is_error") is True and block.get("content") in (answer, *STAND_INS)


def _own(messages: Sequence[Message], call_id: str, answer: str) -> bool:
    """Whether the call's own result is here; once the id is used again, results are for that call."""
    for message in messages:
        if any(call.id == call_id for call in calls_of(message)):
            return False
        for block in results_of(message):
            if answered(block) == call_id and not _stands_in(block, answer):
                return True
    return False


def _missing(messages: Sequence[Message], answer: str) -> Iterator[tuple[int, list[Block]]]:
    """After which message results are missing, and those results."""
    place = 0
    while place < len(messages):
        if messages[place].role != "assistant":
            place += 1
            continue
        after = _end_of(messages, place, lambda each: each.role == "assistant")
        open_calls = Counter(call.id for each in messages[place:after] for call in calls_of(each))
        end = _end_of(messages, after, partial(_answers, open_calls))
        given = Counter(
            answered(block) for each in messages[after:end] for block in results_of(each)
        )
        found = [
            _late(messages, end, call.id) or _error(call, answer)
            for each in messages[place:after]
            for call in calls_of(each)
            if not _takes(given, call.id)
        ]
        if found:
            yield end - 1, found
        place = end


def _answers(open_calls: Counter[str], message: Message) -> bool:
    """Whether the message belongs behind these calls, of which it answers some.

    A user's whose results answer none is what somebody says, once those are left out.
    """
    # All of its results are taken, so no list that stops at the first.
    taken = [_takes(open_calls, answered(block)) for block in results_of(message)]
    return message.role == "tool" or any(taken)


def _end_of(messages: Sequence[Message], start: int, belongs: Callable[[Message], bool]) -> int:
    end = start
    while end < len(messages) and belongs(messages[end]):
        end += 1
    return end


def _takes(given: Counter[str], call_id: str) -> bool:
    """Take one of the results with that id, if one is left."""
    if not given[call_id]:
        return False
    given[call_id] -= 1
    return True


def _late(messages: Sequence[Message], start: int, call_id: str) -> Block | None:
    """The call's result from further on; once the id is used again, results are for that call."""
    for message in messages[start:]:
        if any(call.id == call_id for call in calls_of(message)):
            return None
        for block in results_of(message):
            if answered(block) == call_id:
                return block
    return None


def _error(call: Call, answer: str) -> Block:
    return {
        "type": RESULT,
        "tool_call_id": call.id,
        "name": call.name,
        "content": NOT_WHOLE if call.stopped else answer,
        "is_error": True,
    }


def _asked_for(message: Message, asked: Counter[str]) -> Message | None:
    """The message without results that nobody asked for; None where nothing is left."""
    results = results_of(message)
    if not results:
        return message
    kept = [
        block
        for block in blocks_of(message)
        if block.get("type") != RESULT or _takes(asked, answered(block))
    ]
    if len(kept) == len(message.content):
        return message
    return message.model_copy(update={"content": kept}) if kept else None


def _stopped(content: str | list[Block]) -> str | list[Block]:
    """The content with its last block marked, if that is a text or a thought; a call's end is not known here."""
    if isinstance(content, str):
        return [{"type": "text", "text": content, "stopped": True}] if content else content
    last = content[-1] if content else {}
    if last.get("type") not in {"text", "thinking"} or last.get("stopped") is True:
        return content
    return [*content[:-1], {**last, "stopped": True}]


def _is(one: Message, other: Message) -> bool:
    return one is other
