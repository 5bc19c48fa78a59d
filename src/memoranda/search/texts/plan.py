"""Which rows a search reads: rare terms whole, and of common ones those of the newest items."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Limits:
    """What one search may touch.

    `terms` is how many terms of the query are looked up. `count` is up to where one term is counted,
    and `counts` for how many rows all terms together are. `rows` is how many rows say which items
    hold which terms, `common` how many terms are read in part, and `items` how many items are
    looked at more closely. Of up to `small` items, the rows are read before they are counted, as
    long as they are `few`.
    """

    terms: int = 1_024
    count: int = 10_000
    counts: int = 50_000
    rows: int = 5_000
    common: int = 8
    items: int = 1_000
    small: int = 5_000
    few: int = 2_000

    def up_to(self, terms: int) -> int:
        """Up to where each of so many terms is counted; one that has as many is a common one."""
        return min(self.count, max(self.counts // max(1, terms), _LEAST_COUNT))


LIMITS: Final = Limits()
_LEAST_COUNT: Final = 500


@dataclass(frozen=True, slots=True)
class Plan:
    """The terms whose every row is read, and how many of the newest rows of each of the others."""

    whole: tuple[str, ...] = ()
    newest: Mapping[str, int] = field(default_factory=dict)


def plan(counts: Mapping[str, int], limits: Limits = LIMITS) -> Plan:
    """Share out the rows, from rare terms to common ones: what one does not need, the next may have.

    Terms that occur nowhere are left out, and so are the commonest beyond `limits.common`. The same
    counts give the same plan, in any order.
    """
    rarest = sorted((count, term) for term, count in counts.items() if count > 0)
    up_to = limits.up_to(len(counts))
    left = limits.rows
    whole: list[str] = []
    for count, term in rarest:
        others = min(len(rarest) - len(whole), limits.common)
        if count >= up_to or count > left // others:
            break
        whole.append(term)
        left -= count
    common = [term for _, term in rarest[len(whole) :]][: limits.common]
    part = left // max(1, len(common))
    return Plan(tuple(whole), dict.fromkeys(common, part) if part else {})
