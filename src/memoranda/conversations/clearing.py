"""Old results make room when a transcript is over its bytes. Pure.

Results of earlier turns become a placeholder that still answers their call, the oldest first; those of
the latest turn are only ever cut, and all to one length. The same list object comes back where the
transcript is within its budget, or where nothing is left to be cleared.
"""

from typing import Final

from memoranda.conversations.calls import Block, latest_turn, results_of
from memoranda.conversations.caps import LEAST_CHARS, chars_of, cut_result, with_results
from memoranda.conversations.content import written
from memoranda.conversations.models import Message
from memoranda.conversations.sizes import total_bytes

SEED_BYTES: Final = 1_000_000
"""The bytes that a run may be seeded with unless another budget is set."""
PLACEHOLDER: Final = (
    "[An earlier result was cleared to make room. Call the tool again if you need it.]"
)
_KEPT: Final = frozenset({"type", "tool_call_id", "name", "is_error", "extra"})


def clear_results(messages: list[Message], budget: int = SEED_BYTES) -> list[Message]:
    """Bring a transcript that is over `budget` bytes down to half of that, as far as results allow.

    The half keeps what is sent the same for many turns after. Where the latest turn alone is over the
    budget, its results share the longest cut that brings it within.
    """
    if total_bytes(messages) <= budget:
        return messages
    start = latest_turn(messages)
    earlier = _cleared(messages, start, budget // 2)
    return _cut_latest(earlier, start, budget)


def is_cleared(block: Block) -> bool:
    """Whether a result is the placeholder of one that was cleared."""
    return block.get("content") == PLACEHOLDER


def _cleared(messages: list[Message], before: int, goal: int) -> list[Message]:
    """Clear results in front of `before` until all messages have `goal` bytes, or no result is left."""
    over = total_bytes(messages) - goal

    def clear(block: Block) -> Block:
        nonlocal over
        if over <= 0 or is_cleared(block):
            return block
        left = {name: value for name, value in block.items() if name in _KEPT}
        left["content"] = PLACEHOLDER
        saved = _bytes(block) - _bytes(left)
        if saved <= 0:
            return block
        over -= saved
        return left

    head = messages[:before]
    cleared = with_results(head, clear)
    return messages if cleared is head else [*cleared, *messages[before:]]


def _cut_latest(messages: list[Message], start: int, budget: int) -> list[Message]:
    """Cut the results of the turn that begins at `start` to one length, if it alone is over the budget."""
    turn = messages[start:]
    if total_bytes(turn) <= budget:
        return messages
    longest = max((chars_of(block) for each in turn for block in results_of(each)), default=0)
    low, high = LEAST_CHARS, longest
    while low < high:
        middle = (low + high + 1) // 2
        if total_bytes(_cut(turn, middle)) <= budget:
            low = middle
        else:
            high = middle - 1
    cut = _cut(turn, low)
    return messages if cut is turn else [*messages[:start], *cut]


def _cut(turn: list[Message], limit: int) -> list[Message]:
    return with_results(turn, lambda block: cut_result(block, limit))


def _bytes(block: Block) -> int:
    return len(written([block]).encode())
