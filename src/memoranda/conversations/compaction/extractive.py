"""The summarizer that needs no model: what was said, shortened to one length, and always the same."""

import asyncio
from collections.abc import Sequence
from typing import Final

from memoranda.conversations.compaction.lines import Line, lines_of
from memoranda.conversations.compaction.summarizer import Summary, SummaryRequest
from memoranda.conversations.models import Message
from memoranda.words.tokens import Estimator, estimate_tokens

LENGTHS: Final = (1_200, 800, 500, 300, 200, 140, 100, 70, 50)
"""Characters that a line may have: the longest with which all lines have room."""
OF_RESULTS: Final = 4
"""Results have this fraction of it, since most of them are read again if they are needed."""


class Extractive:
    """Keeps what users and assistants said, which tools were called, and how results began."""

    name = "extractive"

    def __init__(self, estimator: Estimator = estimate_tokens) -> None:
        self._estimator = estimator

    async def summarize(self, request: SummaryRequest) -> Summary:
        """See `Summarizer`. On a thread: thousands of messages take a second."""
        messages, most = request.messages, request.most_tokens
        return Summary(await asyncio.to_thread(extract, messages, most, self._estimator))


def extract(messages: Sequence[Message], most_tokens: int, estimator: Estimator) -> str:
    """The lines of the messages within `most_tokens`.

    All lines are shortened alike first. Where even the shortest have no room, results go, then calls,
    and then the oldest of what was said; a line says how many are missing.
    """
    lines = list(lines_of(messages))
    for length in LENGTHS:
        text = _written(lines, length, 0)
        if estimator(text) <= most_tokens:
            return text
    for kinds in ({"summary", "said", "call"}, {"summary", "said"}):
        kept = [line for line in lines if line.kind in kinds]
        text = _written(kept, LENGTHS[-1], len(lines) - len(kept))
        if estimator(text) <= most_tokens:
            return text
    kept = [line for line in lines if line.kind in {"summary", "said"}]
    low, high = 0, len(kept)
    while low < high:
        middle = (low + high + 1) // 2
        if estimator(_newest(kept, middle, len(lines))) <= most_tokens:
            low = middle
        else:
            high = middle - 1
    return _newest(kept, low, len(lines))


def _newest(lines: list[Line], count: int, whole: int) -> str:
    return _written(lines[len(lines) - count :], LENGTHS[-1], whole - count)


def _written(lines: Sequence[Line], length: int, missing: int) -> str:
    written = [line.written(_share(line, length)) for line in lines]
    if missing:
        written.insert(0, f"- ({missing} more left out)")
    return "\n".join(written)


def _share(line: Line, length: int) -> int:
    return max(length // OF_RESULTS, LENGTHS[-1]) if line.kind == "result" else length
