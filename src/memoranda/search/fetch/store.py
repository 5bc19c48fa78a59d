"""What a search reads of the index: the counts, the candidates, and the postings of what is asked."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import BindParameter, bindparam, select

from memoranda.search.document import TermCount, count_of
from memoranda.search.lexical import Candidate, Corpus
from memoranda.search.plan import Limits, plan
from memoranda.search.shortlist import shortlist
from memoranda.search.terms import Query
from memoranda.storage import Transaction, id_of, one_of
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
_POSTINGS = select(
    search_postings.c.term, search_postings.c.document_id, search_postings.c.postings
).where(search_postings.c.collection == _collection, one_of(search_postings.c.term, "terms"))
POSTINGS: Final = _POSTINGS.order_by(search_postings.c.term, search_postings.c.document_id).limit(
    bindparam("most")
)
POSTINGS_WITHIN: Final = _POSTINGS.where(one_of(search_postings.c.document_id, "documents"))
LENGTHS: Final = select(
    search_documents.c.document_id,
    search_documents.c.passages,
    search_documents.c.tokens,
    search_documents.c.lengths,
).where(
    search_documents.c.collection == _collection,
    one_of(search_documents.c.document_id, "documents"),
)


@dataclass(frozen=True, slots=True)
class Found:
    """All that ranking needs."""

    candidates: list[Candidate]
    counts: Mapping[str, TermCount]
    corpus: Corpus


_Postings = defaultdict[Any, dict[str, bytes]]
"""By the id of the document, as `Transaction.plain` returns it: of thousands of rows few ids are needed."""


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
    postings: _Postings = defaultdict(dict)
    most = limits.rows + len(hidden) * len(asked.full)
    rows = tx.plain(POSTINGS, in_collection=collection, terms=list(asked.full), most=most)
    if hidden:
        rows = [row for row in rows if id_of(row[1]) not in hidden][: limits.rows]
    for term, document, packed in rows:
        postings[document][term] = packed
    likely = shortlist(postings, counts, totals.passages, limits)
    documents = [id_of(document) for document in likely]
    others = sorted(set(also) - set(documents))
    _add_postings(tx, collection, asked.full, others, postings)
    documents += others
    names = [name for name in query.names if name in counts]
    _add_postings(tx, collection, [*asked.within, *names], documents, postings)
    candidates, _ = _candidates(tx, collection, documents, postings)
    return Found(candidates, counts, Corpus(totals.passages, totals.tokens))


def names(
    tx: Transaction,
    collection: str,
    asked: Sequence[str],
    document_ids: Sequence[UUID] | None,
) -> set[str]:
    """Which of these terms, of names, occur in the scope's documents, or in those named."""
    if document_ids is None:
        return set(_counts(tx, collection, asked, hidden_documents(tx, collection)))
    postings: _Postings = defaultdict(dict)
    _add_postings(tx, collection, asked, sorted(set(document_ids)), postings)
    return {term for found in postings.values() for term in found}


def unfinished(collection: str) -> str:
    """The collection in which documents stand while their rows are written or cleared."""
    return f"{collection} unfinished"


def hidden_documents(tx: Transaction, collection: str) -> dict[UUID, int]:
    """The documents that no search may see yet, or any more, and how many passages they have."""
    rows = tx.all(UNFINISHED, in_collection=unfinished(collection))
    return {row.document_id: row.passages for row in rows}


def _add_postings(
    tx: Transaction,
    collection: str,
    terms: Sequence[str],
    documents: Sequence[UUID],
    postings: _Postings,
) -> None:
    """Fetch the postings of these terms in these documents alone."""
    if not terms or not documents:
        return
    where = {"in_collection": collection, "terms": list(terms), "documents": list(documents)}
    for term, document, packed in tx.plain(POSTINGS_WITHIN, **where):
        postings[document][term] = packed


def _counts(
    tx: Transaction, collection: str, terms: Sequence[str], hidden: Mapping[UUID, int]
) -> dict[str, TermCount]:
    """Count the terms as if nothing were there of the documents that are being written or cleared."""
    counts = {
        row.term: TermCount(row.passages, row.windows, row.documents)
        for row in tx.all(COUNTS, in_collection=collection, terms=terms)
    }
    if hidden:
        for row in tx.all(
            POSTINGS_WITHIN, in_collection=collection, terms=terms, documents=list(hidden)
        ):
            counts[row.term] -= count_of(row.postings, hidden[row.document_id])
    return {term: count for term, count in counts.items() if count.documents > 0}


def within(tx: Transaction, collection: str, query: Query, document_ids: Sequence[UUID]) -> Found:
    """What there is to rank of these documents, counted as if they were all there is."""
    postings: _Postings = defaultdict(dict)
    documents = sorted(set(document_ids))
    _add_postings(tx, collection, [*query.terms, *query.names], documents, postings)
    candidates, sizes = _candidates(tx, collection, documents, postings)
    counts: dict[str, TermCount] = {}
    for candidate in candidates:
        for term, packed in candidate.postings.items():
            more = count_of(packed, sizes[candidate.document_id][0])
            counts[term] = counts[term] + more if term in counts else more
    corpus = Corpus(
        sum(size[0] for size in sizes.values()), sum(size[1] for size in sizes.values())
    )
    return Found(candidates, counts, corpus)


def _candidates(
    tx: Transaction, collection: str, documents: Sequence[UUID], postings: _Postings
) -> tuple[list[Candidate], dict[UUID, tuple[int, int]]]:
    rows = tx.plain(LENGTHS, in_collection=collection, documents=list(documents))
    candidates = [
        Candidate(id_of(document), lengths, postings[document]) for document, _, _, lengths in rows
    ]
    sizes = {
        found.document_id: (row[1], row[2]) for found, row in zip(candidates, rows, strict=True)
    }
    return candidates, sizes
