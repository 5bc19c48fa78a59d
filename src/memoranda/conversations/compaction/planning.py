"""What a compaction is to do, and whether what came of it may take the place of what was said. Pure."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from memoranda.conversations.compaction.boundary import Boundary, candidate_of
from memoranda.conversations.compaction.models import CompactionCause
from memoranda.conversations.compaction.summary import summary_message
from memoranda.conversations.digests import chains, digest_of
from memoranda.conversations.models import Conversation, Message, StoredMessage
from memoranda.conversations.pressure import is_full, is_heavy, pressure
from memoranda.conversations.sizes import tokens_of, total_tokens
from memoranda.words.tokens import Estimator

SUMMARY_TOKENS: Final = 2_000
"""The most tokens of a summary unless another number is set."""
LEAST_TOKENS: Final = 32


class Known(NamedTuple):
    """A list by its length and its digest."""

    length: int
    digest: str


@dataclass(frozen=True)
class Plan:
    """What a summary is to be made of, and by what to tell that nothing of it has changed since."""

    conversation: Conversation
    messages: tuple[StoredMessage, ...]
    boundary: Boundary
    source_digest: str
    """The chain of the last message before the boundary."""
    loaded: Known
    """What is before the boundary as a run is given it, with calls answered and results cut."""
    tokens: int
    most_tokens: int

    @property
    def taken(self) -> tuple[StoredMessage, ...]:
        """The messages that the summary stands for."""
        return tuple(self.messages[place] for place in self.boundary.taken)

    @property
    def head(self) -> tuple[StoredMessage, ...]:
        """All messages before the boundary, those that stay among them."""
        return self.messages[: self.boundary.end]


@dataclass(frozen=True)
class Candidate:
    """The list that is to be, as far as it is known now."""

    summary: Message
    messages: list[Message]
    tokens: int


def due(
    messages: Sequence[Message],
    *,
    window: int,
    room: int,
    budget: int,
    estimator: Estimator,
) -> CompactionCause | None:
    """Why earlier turns are to be compacted before the next request, if they can; None where it fits.

    `window`: the input and the room for the answer take 0.8 of the model's window or more. `bytes`:
    earlier turns keep the transcript over its byte budget. Raises `Invalid` as `pressure` does.
    """
    full = is_full(pressure(messages, room=room, window=window, estimator=estimator))
    if full:
        return "window"
    return "bytes" if is_heavy(messages, budget) else None


def loaded_head(messages: Sequence[Message], end: int, sent: Sequence[Message]) -> Known:
    """The messages in front of `end` as they are in `sent`, which is what a run is given of them all."""
    # A user's message begins the tail, and of those a load changes none.
    first = next((at for at, each in enumerate(sent) if each is messages[end]), 0)
    return Known(first, deque(chains(map(digest_of, sent[:first])), maxlen=1)[0] if first else "")


def most_tokens_for(taken: Sequence[Message], most: int, estimator: Estimator) -> int:
    """What a summary may have: not more than half of what it stands for, so that it is one."""
    return max(min(most, total_tokens(taken, estimator) // 2), LEAST_TOKENS)


def is_too_short(taken: Sequence[Message], most: int, estimator: Estimator) -> bool:
    """Whether a summary of `most` tokens, with the line above it, is as long as what it would stand for."""
    above = tokens_of(summary_message("", taken), estimator)
    return total_tokens(taken, estimator) <= above + most


def candidate(plan: Plan, text: str, estimator: Estimator) -> Candidate:
    """The list with a summary of that text."""
    summary = summary_message(text, plan.taken)
    messages = candidate_of(plan.messages, plan.boundary, summary)
    return Candidate(summary, messages, total_tokens(messages, estimator))


def objection(plan: Plan, made: Candidate, text: str) -> str | None:
    """Why the candidate may not take the list's place; None where it may, a provider's word aside."""
    if not text.strip():
        return "The summarizer answered with nothing."
    if made.tokens >= plan.tokens:
        return (
            f"The summary makes the conversation no smaller ({made.tokens} tokens, and {plan.tokens} "
            "before): ask again when more has been said, or for a shorter one."
        )
    return None
