"""Which rows a search fetches: the rarest terms in full, common ones for candidates alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from memoranda.search.document import TermCount
from memoranda.search.postings import MOST_BYTES


@dataclass(frozen=True, slots=True)
class Limits:
    """What one search may touch.

    `terms` is the most terms that are looked up, `rows` the most posting rows of the rarest of them,
    `more` the most rows that are fetched before candidates are known where it leaves room for others, `documents` the
    most candidates, and `passages` about the most that these have together. Where they have more than `whole`
    of them, `blocks` is how many blocks are ranked.
    """

    terms: int = 32
    rows: int = 20_000
    more: int = 6_000
    documents: int = 2_000
    passages: int = 100_000
    whole: int = 16_000
    blocks: int = 1_000


LIMITS: Final = Limits()

_PASSAGES_OF_A_PART: Final = MOST_BYTES // 5
"""A long row is kept in parts; one of them holds so many passages at the least."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The terms whose every row is fetched, then those fetched for candidate documents alone.

    `fits` says that the former have no more rows than may be fetched.
    """

    full: tuple[str, ...]
    within: tuple[str, ...]
    fits: bool


def plan(counts: Mapping[str, TermCount], limits: Limits = LIMITS) -> Plan:
    """Order the terms from rare to common, and fetch in full while the rows last.

    The rarest term is always fetched in full (the caller caps its rows at `limits.rows`). Terms
    that occur nowhere are left out. The same counts give the same plan, in any order.
    """
    known = [(count.documents, count.passages, term) for term, count in counts.items()]
    rarest = sorted(entry for entry in known if entry[1] > 0)[: limits.terms]
    rows = 0
    full: list[str] = []
    for documents, passages, term in rarest:
        more = rows + documents + passages // _PASSAGES_OF_A_PART
        if full and more > min(limits.rows, limits.more):
            break
        rows = more
        full.append(term)
    within = tuple(term for *_, term in rarest[len(full) :])
    return Plan(tuple(full), within, rows <= limits.rows)
