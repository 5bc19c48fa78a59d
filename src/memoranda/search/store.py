"""The inverted index in the database: documents go in and out whole, and a search reads few rows."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import BindParameter, bindparam, delete, insert, select, update

from memoranda.search import lexical
from memoranda.search.candidates import Place
from memoranda.search.document import IndexedDocument, TermCount, count_of
from memoranda.search.fetch import store as fetch
from memoranda.search.fetch.store import unfinished
from memoranda.search.lexical import Hit, Judged, rank
from memoranda.search.plan import LIMITS, Limits
from memoranda.search.postings import split_postings
from memoranda.search.terms import Query, without_names
from memoranda.storage import Transaction, one_of, upsert
from memoranda.storage.tables import search_documents, search_postings, search_terms, search_totals

_collection: BindParameter[str] = bindparam("in_collection")
_document: BindParameter[UUID] = bindparam("document")
_AT_ONCE: Final = 10_000

ADD_DOCUMENT: Final = insert(search_documents)
ADD_POSTINGS: Final = insert(search_postings)
ADD_TO_TERMS: Final = upsert(
    search_terms,
    ["scope_id", "collection", "term"],
    add=["passages", "windows", "documents"],
)
ADD_TO_TOTALS: Final = upsert(
    search_totals, ["scope_id", "collection"], add=["documents", "passages", "tokens"]
)

SOME_TERMS: Final = (
    select(search_postings.c.term)
    .where(
        search_postings.c.collection == _collection,
        search_postings.c.document_id == _document,
        search_postings.c.part == 0,
    )
    .limit(bindparam("most"))
)
SIZE_OF_DOCUMENT: Final = select(search_documents.c.passages, search_documents.c.tokens).where(
    search_documents.c.collection == _collection, search_documents.c.document_id == _document
)
TAKE_FROM_TERMS: Final = (
    update(search_terms)
    .where(search_terms.c.collection == _collection, one_of(search_terms.c.term, "terms"))
    .values(
        passages=search_terms.c.passages - bindparam("fewer_passages"),
        windows=search_terms.c.windows - bindparam("fewer_windows"),
        documents=search_terms.c.documents - 1,
    )
)
DROP_EMPTY_TERMS: Final = delete(search_terms).where(
    search_terms.c.collection == _collection,
    one_of(search_terms.c.term, "terms"),
    search_terms.c.documents <= 0,
)
TAKE_FROM_TOTALS: Final = (
    update(search_totals)
    .where(search_totals.c.collection == _collection)
    .values(
        documents=search_totals.c.documents - 1,
        passages=search_totals.c.passages - bindparam("fewer_passages"),
        tokens=search_totals.c.tokens - bindparam("fewer_tokens"),
    )
)
DROP_POSTINGS: Final = delete(search_postings).where(
    search_postings.c.collection == _collection,
    one_of(search_postings.c.term, "terms"),
    search_postings.c.document_id == _document,
)
DROP_DOCUMENT: Final = delete(search_documents).where(
    search_documents.c.collection == _collection, search_documents.c.document_id == _document
)


def add_document(
    tx: Transaction, collection: str, document_id: UUID, indexed: IndexedDocument
) -> None:
    """Put one whole document into the index of the transaction's scope; it must not be there yet."""
    begin_document(tx, collection, document_id, indexed.passages)
    add_terms(tx, collection, document_id, indexed, sorted(indexed.postings))
    open_document(tx, collection, document_id, indexed)


def begin_document(tx: Transaction, collection: str, document_id: UUID, passages: int) -> None:
    """Make a document known that has no rows yet: no search sees it or its counts until it is opened."""
    tx.send(
        ADD_DOCUMENT,
        collection=unfinished(collection),
        document_id=document_id,
        passages=passages,
        tokens=0,
        lengths=b"",
    )


def add_terms(
    tx: Transaction,
    collection: str,
    document_id: UUID,
    indexed: IndexedDocument,
    terms: Sequence[str],
) -> None:
    """Write the rows of some of an unfinished document's terms, and their counts with them."""
    where = {"collection": collection}
    _alone(tx, collection)
    tx.send_many(
        ADD_POSTINGS,
        [
            {**where, "document_id": document_id, "term": term, "part": part, "postings": postings}
            for term in terms
            for part, postings in enumerate(split_postings(indexed.postings[term]))
        ],
    )
    tx.send_many(
        ADD_TO_TERMS,
        [
            {
                **where,
                "term": term,
                "passages": indexed.counts[term].passages,
                "windows": indexed.counts[term].windows,
                "documents": indexed.counts[term].documents,
            }
            for term in terms
        ],
    )


def open_document(
    tx: Transaction, collection: str, document_id: UUID, indexed: IndexedDocument
) -> None:
    """Let searches see an unfinished document, all of whose terms are written."""
    where = {"collection": collection}
    _alone(tx, collection)
    tx.send(DROP_DOCUMENT, in_collection=unfinished(collection), document=document_id)
    tx.send(
        ADD_DOCUMENT,
        **where,
        document_id=document_id,
        passages=indexed.passages,
        tokens=indexed.tokens,
        lengths=indexed.lengths,
    )
    tx.send(ADD_TO_TOTALS, **where, documents=1, passages=indexed.passages, tokens=indexed.tokens)


def hide_document(tx: Transaction, collection: str, document_id: UUID) -> bool:
    """Take a document out of every search; its rows wait to be cleared. False where it was in none."""
    size = tx.one(SIZE_OF_DOCUMENT, in_collection=collection, document=document_id)
    if size is None:
        return False
    _alone(tx, collection)
    tx.send(
        TAKE_FROM_TOTALS,
        in_collection=collection,
        fewer_passages=size.passages,
        fewer_tokens=size.tokens,
    )
    tx.send(DROP_DOCUMENT, in_collection=collection, document=document_id)
    begin_document(tx, collection, document_id, size.passages)
    return True


def clear_terms(tx: Transaction, collection: str, document_id: UUID, most: int) -> int:
    """Take at most `most` terms of an unfinished document away, and out of the counts; answer how many.

    Fewer than `most` says that nothing of the document is left.
    """
    where_unfinished = {"in_collection": unfinished(collection), "document": document_id}
    size = tx.one(SIZE_OF_DOCUMENT, **where_unfinished)
    if size is None:
        return 0
    where = {"in_collection": collection, "document": document_id}
    _alone(tx, collection)
    every = [row.term for row in tx.all(SOME_TERMS, **where, most=most)]
    alike: defaultdict[TermCount, list[str]] = defaultdict(list)
    for term, postings in fetch.rows_of(tx, collection, document_id, every).items():
        alike[count_of(postings, size.passages)].append(term)
    # Most terms of a document count alike, so this is a few statements and not one for each term.
    for count, terms in alike.items():
        tx.send(
            TAKE_FROM_TERMS,
            in_collection=collection,
            terms=terms,
            fewer_passages=count.passages,
            fewer_windows=count.windows,
        )
    tx.send(DROP_EMPTY_TERMS, in_collection=collection, terms=every)
    tx.send(DROP_POSTINGS, **where, terms=every)
    if len(every) < most:
        tx.send(DROP_DOCUMENT, **where_unfinished)
    return len(every)


def knows(tx: Transaction, collection: str, document_id: UUID) -> bool:
    """Whether anything of the document is in the index, finished or not."""
    return any(
        tx.one(SIZE_OF_DOCUMENT, in_collection=place, document=document_id)
        for place in (collection, unfinished(collection))
    )


def remove_document(tx: Transaction, collection: str, document_id: UUID) -> bool:
    """Take a whole document out of the index and out of every count; False when it was not there."""
    if not hide_document(tx, collection, document_id):
        return False
    clear_document(tx, collection, document_id)
    return True


def clear_document(tx: Transaction, collection: str, document_id: UUID) -> None:
    """Take all rows of an unfinished document away."""
    while clear_terms(tx, collection, document_id, _AT_ONCE) == _AT_ONCE:
        pass


def unfinished_documents(tx: Transaction, collection: str) -> list[UUID]:
    """The scope's documents that no search sees: those that are being written, and those that were hidden."""
    return sorted(fetch.hidden_documents(tx, collection))


def _alone(tx: Transaction, collection: str) -> None:
    """Let one transaction at a time write the counts of a scope's collection, in any order of terms."""
    tx.lock(f"search index {collection}")


def search(
    tx: Transaction,
    collection: str,
    query: Query,
    *,
    limit: int,
    document_ids: Sequence[UUID] | None = None,
    limits: Limits = LIMITS,
) -> list[Hit]:
    """The best passages of the scope's own documents, or of those named, as if they were all there is."""
    found = (
        _found(tx, collection, query, document_ids=document_ids, limits=limits)
        if limit > 0
        else None
    )
    if found is None:
        return []
    asked = query, found.candidates, found.counts, found.corpus
    return rank(*asked, limit=limit, blocks=_blocks(found, limits))


def judge(
    tx: Transaction,
    collection: str,
    query: Query,
    *,
    document_ids: Sequence[UUID] | None = None,
    also: Collection[Place] = (),
    limits: Limits = LIMITS,
) -> Judged | None:
    """What words say of every passage that `search` looks at, and of those `also`.

    None where they say nothing.
    """
    documents = {document_id for document_id, _ in also}
    found = _found(tx, collection, query, document_ids=document_ids, limits=limits, also=documents)
    if found is None:
        return None
    asked = query, found.candidates, found.counts, found.corpus
    return lexical.judge(*asked, blocks=_blocks(found, limits), also=also)


def wording(
    tx: Transaction,
    collection: str,
    text: str,
    query: Query,
    *,
    document_ids: Sequence[UUID] | None = None,
) -> str:
    """The text whose meaning a query asks for; `query` is what was read from it.

    The names of those who speak in the scope's own documents, or in those named, are left out. They
    are found by words, and the vector of a name is near to whoever is spoken to by that name.
    """
    if not query.names:
        return text
    return without_names(text, fetch.names(tx, collection, query.names, document_ids))


def _found(
    tx: Transaction,
    collection: str,
    query: Query,
    *,
    document_ids: Sequence[UUID] | None,
    limits: Limits,
    also: Iterable[UUID] = (),
) -> fetch.Found | None:
    if not query.terms:
        return None
    if document_ids is None:
        return fetch.everywhere(tx, collection, query, also, limits)
    return fetch.within(tx, collection, query, document_ids)


def _blocks(found: fetch.Found, limits: Limits) -> int | None:
    """How many blocks are ranked; None where all are."""
    return limits.blocks if found.candidates.passages.sum() > limits.whole else None
