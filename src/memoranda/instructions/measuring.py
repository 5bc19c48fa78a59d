"""What each segment costs, and what is left of it under its cap: the one measure of meter and run. Pure.

`measure_segments` is all that decides. A run renders what it answers, and a report tells it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from memoranda.instructions.cutting import Cut, cut_facts, cut_middle, cut_newest, whole
from memoranda.instructions.segments import (
    SEGMENTS,
    Rule,
    Segment,
    SegmentName,
    State,
    cap_of,
    total_cap,
)
from memoranda.words.text import neutralize
from memoranda.words.tokens import Estimator, estimate_tokens

NEAR_PERCENT: Final = 90


class Piece(NamedTuple):
    """One of several texts that share a segment, such as a workspace file."""

    name: str
    text: str


@dataclass(frozen=True)
class Inputs:
    """All that an instruction is made of, as plain values.

    `texts` are the segments of one text. `workspace` are the files that share one segment, and
    `facts` are memories, the most important first, each on one line.
    """

    texts: Mapping[SegmentName, str] = field(default_factory=lambda: MappingProxyType({}))
    workspace: Sequence[Piece] = ()
    facts: Sequence[str] = ()
    skills_cap: int | None = None


class PieceMeasurement(NamedTuple):
    """One text of a segment: what it may cost, what it costs whole, and what is left of it."""

    name: str
    cap: int
    used: int
    included: int
    cut: Cut
    neutral: str
    """What is left, as an agent is given it."""


class SegmentMeasurement(NamedTuple):
    """One segment: what it may cost, what its texts cost whole, and what is left of each."""

    segment: Segment
    cap: int
    used: int
    included: int
    pieces: tuple[PieceMeasurement, ...]

    @property
    def state(self) -> State:
        return state_of(self.used, self.cap)

    @property
    def skipped_chars(self) -> int:
        return sum(len(piece.cut.skipped) for piece in self.pieces)


def measure_segments(
    inputs: Inputs, estimator: Estimator = estimate_tokens
) -> list[SegmentMeasurement]:
    """Measure and cut all fourteen segments, in their order. Equal inputs give equal measurements."""
    return [_measure(segment, inputs, estimator) for segment in SEGMENTS]


def measure_segment(
    name: SegmentName, inputs: Inputs, estimator: Estimator = estimate_tokens
) -> SegmentMeasurement:
    """One of them, measured as `measure_segments` does."""
    segment = next(each for each in SEGMENTS if each.name is name)
    return _measure(segment, inputs, estimator)


def totals(measured: Sequence[SegmentMeasurement], skills_cap: int | None) -> tuple[int, int]:
    """What is left of all segments together, and what they may cost together."""
    return sum(each.included for each in measured), total_cap(skills_cap)


def state_of(used: int, cap: int) -> State:
    """How a text that costs so much stands to its cap; nothing at all is always under it."""
    if used > cap:
        return State.OVER
    return State.NEAR if used and used * 100 >= cap * NEAR_PERCENT else State.UNDER


def _measure(segment: Segment, inputs: Inputs, estimator: Estimator) -> SegmentMeasurement:
    cap = cap_of(segment, inputs.skills_cap)
    if segment.rule is Rule.WHOLE_FACTS:
        pieces = [_facts(segment, inputs.facts, cap, estimator)]
    elif segment.name is SegmentName.WORKSPACE_CONTEXT:
        pieces = _shared(inputs.workspace, cap, estimator)
    else:
        text = inputs.texts.get(segment.name, "")
        pieces = [_Measured(text, estimator).piece(segment.name, cap, _RULES[segment.rule])]
    used, included = sum(each.used for each in pieces), sum(each.included for each in pieces)
    return SegmentMeasurement(segment, cap, used, included, tuple(pieces))


def _facts(
    segment: Segment, facts: Sequence[str], cap: int, estimator: Estimator
) -> PieceMeasurement:
    cost = _as_given(estimator)
    cut = cut_facts(facts, cap, cost)
    return PieceMeasurement(
        segment.name, cap, cost(cut.before), cost(cut.text), cut, neutralize(cut.text)
    )


def _shared(pieces: Sequence[Piece], cap: int, estimator: Estimator) -> list[PieceMeasurement]:
    """All of each file while they fit together, and else each cut to its share of the cap."""
    measured = [_Measured(piece.text, estimator) for piece in pieces]
    used = [each.used for each in measured]
    caps = shares(used, cap) if sum(used) > cap else [cap] * len(used)
    return [
        each.piece(piece.name, own, cut_middle)
        for piece, each, own in zip(pieces, measured, caps, strict=True)
    ]


def shares(used: Sequence[int], cap: int) -> list[int]:
    """The cap in parts as large to each other as what is used; a token that is over goes to the largest rest."""
    total = sum(used)
    parts = [cap * each // total for each in used]
    rests = [cap * each % total for each in used]
    largest_first = sorted(range(len(used)), key=lambda at: (-rests[at], at))
    for at in largest_first[: cap - sum(parts)]:
        parts[at] += 1
    return parts


Cutting = Callable[[str, int, Estimator], Cut]


class _Measured:
    """A text and what it costs, as it is written or as an agent is given it, whichever is more."""

    def __init__(self, text: str, estimator: Estimator) -> None:
        self._text = text
        self._estimator = estimator
        self._neutral = neutralize(text)
        self._plain = self._neutral == text
        written = estimator(text)
        self.used = written if self._plain else max(written, estimator(self._neutral))

    def piece(self, name: str, cap: int, rule: Cutting) -> PieceMeasurement:
        """What is left of the text under this cap."""
        if self.used <= cap:
            cut = whole(self._text)
            return PieceMeasurement(name, cap, self.used, self.used, cut, self._neutral)
        # Of a text without anything to neutralize, no part has any: it need not be looked for each time.
        cut = rule(self._text, cap, self._estimator if self._plain else _as_given(self._estimator))
        neutral = neutralize(cut.text)
        if self._plain and neutral != cut.text:
            cut = rule(self._text, cap, _as_given(self._estimator))
            neutral = neutralize(cut.text)
        included = max(self._estimator(cut.text), self._estimator(neutral))
        return PieceMeasurement(name, cap, self.used, included, cut, neutral)


def _as_given(estimator: Estimator) -> Estimator:
    def cost(text: str) -> int:
        neutral = neutralize(text)
        written = estimator(text)
        return written if neutral == text else max(written, estimator(neutral))

    return cost


_RULES: Final[Mapping[Rule, Cutting]] = {Rule.MIDDLE: cut_middle, Rule.NEWEST: cut_newest}
