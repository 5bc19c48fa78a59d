"""Which messages a compaction may take: those of earlier turns, whole calls, nothing that is pinned. Pure."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from memoranda.conversations.calls import (
    answered,
    begins_turn,
    calls_of,
    gives_results,
    results_of,
)
from memoranda.conversations.models import Message
from memoranda.conversations.said import is_summary

PROMPTS: Final = frozenset({"system", "developer"})


class Boundary(NamedTuple):
    """Where the exact tail begins, and the places before it that a summary is to stand for."""

    end: int
    taken: tuple[int, ...]


def find_boundary(messages: Sequence[Message], keep_turns: int = 1) -> Boundary | None:
    """The boundary that leaves the latest `keep_turns` turns as they are; None where nothing can be taken.

    Prompts and pinned messages stay in their places, and with them the calls that they answer and the
    results that they are answered by. No boundary falls between a call and a result. A summary by itself is
    not summarized again.
    """
    end = _not_within_a_call(messages, _start_of_turns(messages, keep_turns))
    kept = _kept(messages, end)
    taken = tuple(place for place in range(end) if place not in kept)
    if all(is_summary(messages[place]) for place in taken):
        return None
    return Boundary(end, taken)


def why_none(messages: Sequence[Message], keep_turns: int = 1) -> str:
    """Why there is no boundary, where `find_boundary` finds none."""
    start = _start_of_turns(messages, keep_turns)
    end = _not_within_a_call(messages, start)
    if start and not end:
        return "calls of the earlier turns are answered in the latest ones, and stay with their results"
    if len(_kept(messages, end)) < end:
        return "all before the latest turns is summed up already"
    if any(message.pinned for message in messages[:end]):
        return "all before the latest turns is pinned: unpin what may go"
    return "all of it is of the latest turns, which stay as they are"


def candidate_of(
    messages: Sequence[Message], boundary: Boundary, summary: Message
) -> list[Message]:
    """The messages with the summary in the place of the first of those that it stands for."""
    taken = set(boundary.taken)
    head = [
        summary if place == boundary.taken[0] else messages[place]
        for place in range(boundary.end)
        if place == boundary.taken[0] or place not in taken
    ]
    return [*head, *messages[boundary.end :]]


def _start_of_turns(messages: Sequence[Message], count: int) -> int:
    """Where the latest `count` turns begin; 0 where there are no more."""
    left = max(count, 1)
    for place in range(len(messages) - 1, -1, -1):
        if begins_turn(messages[place]):
            left -= 1
            if not left:
                return place
    return 0


def _not_within_a_call(messages: Sequence[Message], end: int) -> int:
    """The last place up to `end` behind which no result answers a call in front of it."""
    while end > 0:
        wanted = {answered(block) for each in _late(messages, end) for block in results_of(each)}
        asking = next(
            (
                place
                for place in range(end - 1, -1, -1)
                if any(call.id in wanted for call in calls_of(messages[place]))
            ),
            None,
        )
        if asking is None:
            return end
        end = asking
    return 0


def _late(messages: Sequence[Message], start: int) -> list[Message]:
    """Messages with results that come before their ids are asked for again."""
    asked: set[str] = set()
    late = []
    for message in messages[start:]:
        asked |= {call.id for call in calls_of(message)}
        if any(answered(block) not in asked for block in results_of(message)):
            late.append(message)
    return late


def _kept(messages: Sequence[Message], end: int) -> set[int]:
    """The places before `end` that stay: prompts, what is pinned, and the calls and results of that."""
    kept = {
        place for place in range(end) if messages[place].role in PROMPTS or messages[place].pinned
    }
    for group in _exchanges(messages, end):
        if kept & set(group):
            kept |= set(group)
    return kept


def _exchanges(messages: Sequence[Message], end: int) -> Iterable[range]:
    """Each run of an assistant's messages with calls, and the results right after it."""
    place = 0
    while place < end:
        start = place
        while place < end and messages[place].role == "assistant":
            place += 1
        asked = any(calls_of(messages[each]) for each in range(start, place))
        while place < end and gives_results(messages[place]):
            place += 1
        if asked:
            yield range(start, place)
        place = max(place, start + 1)
