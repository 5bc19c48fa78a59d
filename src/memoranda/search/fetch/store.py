"""What a search reads of the index: the counts, the candidates, and the postings of what is asked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

import numpy as np
from sqlalchemy import BindParameter, FromClause, Integer, Select, bindparam, func, select

from memoranda.search.candidates import Candidates
from memoranda.search.document import TermCount, count_of
from memoranda.search.lexical import Corpus
from memoranda.search.plan import Limits, Plan, plan
from memoranda.search.rows import Ids, TermRows, add_rows, each_id, found_in, ids_of
from memoranda.search.shortlist import shortlist
from memoranda.search.terms import Query
from memoranda.storage import Transaction, id_of_bytes, joined, joined_bytes, one_of
from memoranda.storage.tables import search_documents, search_postings, search_terms, search_totals

_collection: BindParameter[str] = bindparam("in_collection")

# Documents whose rows are being written or cleared stand in a collection of their own beside it.
UNFINISHED: Final = select(search_documents.c.document_id, search_documents.c.passages).where(
    search_documents.c.collection == _collection
)

COUNTS: Final = select(
    search_terms.c.term, search_terms.c.passages, search_terms.c.windows, search_terms.c.documents
).where(search_terms.c.collection == _collection, one_of(search_terms.c.term, "terms"))
TOTALS: Final = select(search_totals.c.passages, search_totals.c.tokens).where(
    search_totals.c.collection == _collection
)
_in_terms = (
    search_postings.c.collection == _collection,
    one_of(search_postings.c.term, "terms"),
)
_some = (
    select(search_postings.c.term, search_postings.c.document_id, search_postings.c.postings)
    .where(*_in_terms)
    .order_by(search_postings.c.term, search_postings.c.document_id, search_postings.c.part)
    .limit(bindparam("most"))
    .subquery("some")
)


def _by_term(rows: FromClause) -> Select[Any]:
    """A row for each term, of all of its own: read with `TermRows.read`."""
    packed = rows.c.postings
    found = select(
        rows.c.term, joined(rows.c.document_id), joined(func.length(packed, type_=Integer))
    )
    return found.add_columns(joined(packed)).group_by(rows.c.term)


POSTINGS: Final = _by_term(search_postings).where(*_in_terms)
SOME_POSTINGS: Final = _by_term(_some)
POSTINGS_WITHIN: Final = POSTINGS.where(one_of(search_postings.c.document_id, "documents"))
LENGTHS: Final = select(
    joined(search_documents.c.document_id),
    joined(func.length(search_documents.c.lengths, type_=Integer)),
    joined(search_documents.c.lengths),
    func.sum(search_documents.c.passages),
    func.sum(search_documents.c.tokens),
).where(
    search_documents.c.collection == _collection,
    one_of(search_documents.c.document_id, "documents"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """All that ranking needs."""

    candidates: Candidates
    counts: Mapping[str, TermCount]
    corpus: Corpus


_Postings = dict[bytes, dict[str, bytes]]
"""Of each document that is looked at, its rows by term."""


def everywhere(
    tx: Transaction, collection: str, query: Query, also: Iterable[UUID], limits: Limits
) -> Found | None:
    """What there is to rank of all documents of the scope: the likeliest, and those `also`."""
    totals = tx.one(TOTALS, in_collection=collection)
    if totals is None:
        return None
    # The names a query may hold are looked up too: they say who spoke, not what is asked.
    hidden = hidden_documents(tx, collection)
    counts = _counts(tx, collection, [*query.terms, *query.names], hidden)
    asked = plan({term: count for term, count in counts.items() if term in query.terms}, limits)
    held, whole = _in_full(tx, collection, asked, hidden, limits)
    likely = shortlist(held, counts, totals.passages, limits)
    named = _ids(also)
    others = named[found_in(likely, named) < 0]
    documents = _named(np.concatenate([likely, others]))
    names = [name for name in query.names if name in counts]
    rows = _held_by(tx, collection, [*asked.within, *names], documents)
    if whole:
        rows += held.items()
    else:
        rows += [(term, each.of(likely)) for term, each in held.items()]
        rows += _held_by(tx, collection, asked.full, _named(others))
    candidates = Candidates(_lengths(tx, collection, documents).lengths, rows)
    return Found(candidates, counts, Corpus(totals.passages, totals.tokens))


def _in_full(
    tx: Transaction, collection: str, asked: Plan, hidden: Mapping[UUID, int], limits: Limits
) -> tuple[dict[str, TermRows], bool]:
    """The rows of these terms in all documents, up to `limits.rows`; and whether that is all of them."""
    where = {"in_collection": collection, "terms": list(asked.full)}
    most = limits.rows + len(hidden) * len(asked.full)
    # Rows that are cut off are put in order first, which takes longer than to read them.
    rows = (
        tx.plain(POSTINGS, **where) if asked.fits else tx.plain(SOME_POSTINGS, **where, most=most)
    )
    held = dict(sorted((term, TermRows.read(*map(joined_bytes, each))) for term, *each in rows))
    count = sum(len(each.sizes) for each in held.values())
    whole = asked.fits or count < most
    if hidden:
        left, unseen = limits.rows, ids_of(b"".join(sorted(each.bytes for each in hidden)))
        for term, each in held.items():
            held[term] = each.without(unseen, count if asked.fits else left)
            left -= len(held[term].sizes)
        whole = asked.fits or (whole and left > 0)
    return {term: each for term, each in held.items() if len(each.sizes)}, whole


def names(
    tx: Transaction,
    collection: str,
    asked: Sequence[str],
    document_ids: Sequence[UUID] | None,
) -> set[str]:
    """Which of these terms, of names, occur in the scope's documents, or in those named."""
    if document_ids is None:
        return set(_counts(tx, collection, asked, hidden_documents(tx, collection)))
    return {term for term, _ in _held_by(tx, collection, asked, document_ids)}


def unfinished(collection: str) -> str:
    """The collection in which documents stand while their rows are written or cleared."""
    return f"{collection} unfinished"


def hidden_documents(tx: Transaction, collection: str) -> dict[UUID, int]:
    """The documents that no search may see yet, or any more, and how many passages they have."""
    rows = tx.all(UNFINISHED, in_collection=unfinished(collection))
    return {row.document_id: row.passages for row in rows}


def rows_of(
    tx: Transaction, collection: str, document_id: UUID, terms: Sequence[str]
) -> dict[str, bytes]:
    """One document's row of each of these terms that it holds."""
    found: _Postings = {document_id.bytes: {}}
    add_rows(_held_by(tx, collection, terms, [document_id]), found)
    return found[document_id.bytes]


def _held_by(
    tx: Transaction, collection: str, terms: Sequence[str], documents: Sequence[UUID]
) -> list[tuple[str, TermRows]]:
    """The rows of these terms in these documents alone."""
    if not terms or not documents:
        return []
    where = {"terms": list(terms), "documents": list(documents)}
    rows = tx.plain(POSTINGS_WITHIN, in_collection=collection, **where)
    return [(term, TermRows.read(*map(joined_bytes, each))) for term, *each in rows]


def _counts(
    tx: Transaction, collection: str, terms: Sequence[str], hidden: Mapping[UUID, int]
) -> dict[str, TermCount]:
    """Count the terms as if nothing were there of the documents that are being written or cleared."""
    counts = {
        row.term: TermCount(row.passages, row.windows, row.documents)
        for row in tx.all(COUNTS, in_collection=collection, terms=terms)
    }
    if hidden:
        unseen: _Postings = {document.bytes: {} for document in hidden}
        add_rows(_held_by(tx, collection, terms, list(hidden)), unseen)
        for document, passages in hidden.items():
            for term, packed in unseen[document.bytes].items():
                counts[term] -= count_of(packed, passages)
    return {term: count for term, count in counts.items() if count.documents > 0}


def within(tx: Transaction, collection: str, query: Query, document_ids: Sequence[UUID]) -> Found:
    """What there is to rank of these documents, counted as if they were all there is."""
    known = _lengths(tx, collection, document_ids)
    rows = _held_by(tx, collection, [*query.terms, *query.names], document_ids)
    candidates = Candidates(known.lengths, rows)
    return Found(candidates, candidates.counts(), Corpus(known.passages, known.tokens))


class _Lengths(NamedTuple):
    """The lengths of documents' passages, packed; how many these are, and how many tokens they have."""

    lengths: TermRows
    passages: int
    tokens: int


def _lengths(tx: Transaction, collection: str, documents: Sequence[UUID]) -> _Lengths:
    [row] = tx.plain(LENGTHS, in_collection=collection, documents=list(documents))
    *packed, passages, tokens = row
    return _Lengths(TermRows.read(*map(joined_bytes, packed)), passages or 0, tokens or 0)


def _ids(documents: Iterable[UUID]) -> Ids:
    return ids_of(b"".join({document.bytes: None for document in documents}))


def _named(documents: Ids) -> list[UUID]:
    return list(map(id_of_bytes, each_id(documents)))
