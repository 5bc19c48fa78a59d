"""Which rows a search fetches: the rarest terms in full, common ones for candidates alone."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar
from uuid import UUID

from memoranda.search.document import TermCount


@dataclass(frozen=True, slots=True)
class Limits:
    """What one search may touch.

    `terms` is the most terms that are looked up, `rows` the most posting rows fetched before
    candidates are known, `documents` the most candidates.
    """

    terms: int = 32
    rows: int = 20_000
    documents: int = 2_000


LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Plan:
    """The terms whose every row is fetched, then those fetched for candidate documents alone."""

    full: tuple[str, ...]
    within: tuple[str, ...]


def plan(counts: Mapping[str, TermCount], limits: Limits = LIMITS) -> Plan:
    """Order the terms from rare to common, and fetch in full while the rows last.

    The rarest term is always fetched in full (the caller caps its rows at `limits.rows`). Terms
    that occur nowhere are left out. The same counts give the same plan, in any order.
    """
    known = [(count.documents, count.passages, term) for term, count in counts.items()]
    rarest = sorted(entry for entry in known if entry[1] > 0)[: limits.terms]
    rows = 0
    full: list[str] = []
    for documents, _, term in rarest:
        rows += documents
        if full and rows > limits.rows:
            break
        full.append(term)
    return Plan(tuple(full), tuple(term for *_, term in rarest[len(full) :]))


Id = TypeVar("Id", UUID, str)
"""An id, or the text that a database keeps in its place; both have one order."""


def shortlist(
    found: Mapping[str, Collection[Id]],
    counts: Mapping[str, TermCount],
    limits: Limits = LIMITS,
) -> list[Id]:
    """Return the candidate documents, those that hold the most and rarest terms first.

    `found` has the documents of each term that was fetched in full.
    """
    promise: dict[Id, float] = {}
    for term in sorted(found):
        weight = 1 / math.log2(2 + counts[term].documents)
        for document_id in found[term]:
            promise[document_id] = promise.get(document_id, 0.0) + weight
    ranked = sorted(promise, key=lambda document_id: (-promise[document_id], document_id))
    return ranked[: limits.documents]
