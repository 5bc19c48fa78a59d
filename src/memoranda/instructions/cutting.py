"""What is left of a text that costs more than it may. Pure.

Every cut falls between two graphemes. What is left and what was skipped make up the text again, byte
for byte, and what is left is never cut a second time: it costs no more than it may.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from memoranda.words.graphemes import boundary_after, boundary_before
from memoranda.words.tokens import Estimator

HEAD_PERCENT: Final = 70
"""How much of what a text may cost goes to its beginning where it is cut in the middle."""


class Cut(NamedTuple):
    """A text before it was cut, and the range of it that was skipped: empty where it is whole."""

    before: str
    start: int
    end: int
    text: str
    """What is left, with the line that says how much was skipped."""

    @property
    def head(self) -> str:
        return self.before[: self.start]

    @property
    def skipped(self) -> str:
        return self.before[self.start : self.end]

    @property
    def tail(self) -> str:
        return self.before[self.end :]


def marker(characters: int) -> str:
    """The words that stand for what was skipped."""
    return f"[… {characters} characters skipped …]"


def cut_middle(text: str, cap: int, cost: Estimator) -> Cut:
    """Keep the beginning for 70 % of the cap, and of the end what has room beside one marker line."""
    used = cost(text)
    if used <= cap:
        return whole(text)
    size, share = len(text), cap * HEAD_PERCENT // 100

    def written(start: int, end: int) -> str:
        return f"{text[:start]}\n{marker(end - start)}\n{text[end:]}"

    def head_of(budget: int) -> int:
        return _longest(
            size,
            budget,
            (size, used),
            lambda at: cost(text[:at]),
            lambda at: boundary_before(text, at),
        )

    line = cost(f"\n{marker(size)}\n")
    start = head_of(max(min(share, cap - line), 0))
    # The parts by themselves cost at least what they do together.
    back = _longest(
        size - start,
        cap - line - cost(text[:start]),
        (size, used),
        lambda at: cost(text[size - at :]),
        lambda at: size - boundary_after(text, size - at),
    )
    return _checked(text, cap, cost, Cut(text, start, size - back, written(start, size - back)))


def cut_newest(text: str, cap: int, cost: Estimator) -> Cut:
    """Keep the end, after one line that says how much is missing before it."""
    used = cost(text)
    if used <= cap:
        return whole(text)
    size = len(text)

    back = _longest(
        size,
        cap - cost(f"{marker(size)}\n"),
        (size, used),
        lambda at: cost(text[size - at :]),
        lambda at: size - boundary_after(text, size - at),
    )
    left = f"{marker(size - back)}\n{text[size - back :]}"
    return _checked(text, cap, cost, Cut(text, 0, size - back, left))


def cut_facts(facts: Sequence[str], cap: int, cost: Estimator) -> Cut:
    """Keep the first facts that have room, one on each line, each whole or not at all.

    A fact that is too long even by itself goes behind the others, and takes none of them with it.
    """
    fit = [each for each in facts if cost(each) <= cap]
    lines = [*fit, *(each for each in facts if cost(each) > cap)]
    text = "\n".join(lines)
    if cost(text) <= cap:
        return whole(text)
    kept = _longest(
        len(fit),
        cap,
        (len(lines), cost(text)),
        lambda count: cost("\n".join(fit[:count])),
        lambda at: at,
    )
    left = "\n".join(fit[:kept])
    return Cut(text, len(left), len(text), left)


def whole(text: str) -> Cut:
    """A text of which nothing is skipped."""
    return Cut(text, len(text), len(text), text)


def _checked(text: str, cap: int, cost: Estimator, cut: Cut) -> Cut:
    """The cut, or an empty one where no grapheme is left of it, or where it should cost too much all the same."""
    if cut.start == 0 and cut.end == len(text):
        return Cut(text, 0, cut.end, "")
    return cut if cost(cut.text) <= cap else Cut(text, 0, len(text), "")


def _longest(
    most: int,
    budget: int,
    whole: tuple[int, int],
    costs: Callable[[int], int],
    allowed: Callable[[int], int],
) -> int:
    """The most that may be kept for the budget, of `most`; 0 where nothing may.

    What all of it costs, as `whole` says it, tells where to look first: to ask what a part
    costs is what takes time.
    """
    if budget <= 0 or most <= 0:
        return 0
    low, low_cost, high, high_cost = 0, 0, most + 1, max(whole[1], budget + 1)
    at, halve = whole[0] * budget // max(whole[1], 1), False
    while high - low > 1:
        at = min(max(at, low + 1), high - 1)
        found = costs(at)
        if found <= budget:
            low, low_cost = at, found
        else:
            high, high_cost = at, found
        if halve:
            at = (low + high) // 2
        else:
            at = low + (high - low) * (budget + 1 - low_cost) // max(high_cost - low_cost, 1)
        halve = not halve
    kept = allowed(low)
    # Mostly what is shorter costs less. An estimator for which it does not is asked again.
    while kept > 0 and costs(kept) > budget:
        kept = allowed(kept - 1)
    return kept
