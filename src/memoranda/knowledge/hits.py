"""Which chunks of a scope answer a query: by words, and by meaning where there is a vector of it."""

from collections.abc import Sequence
from uuid import UUID

from memoranda.knowledge.models import COLLECTION
from memoranda.knowledge.vectors.store import cosines, nearest
from memoranda.search import store as index
from memoranda.search.fusion import Meaning, fuse
from memoranda.search.lexical import Hit, Words
from memoranda.search.terms import Query
from memoranda.search.weights import FUSION
from memoranda.storage import Transaction


def hits(
    tx: Transaction,
    query: Query,
    limit: int,
    source_ids: Sequence[UUID] | None = None,
    meaning: Meaning | None = None,
) -> list[Hit]:
    """Return the best chunks of the scope's ready sources, or of those named, best first.

    Without `meaning` words decide alone. With it, what words propose and what is nearest are judged
    by both, so that a chunk needs neither a word of the query nor a vector to be found.
    """
    if meaning is None or limit <= 0:
        return index.search(tx, COLLECTION, query, limit=limit, document_ids=source_ids)
    near = nearest(tx, meaning.model, meaning.vector, FUSION.most, source_ids=source_ids)
    known = {(each.source_id, each.ordinal): each.cosine for each in near}
    also = {source_id for source_id, _ in known}
    judged = index.judge(tx, COLLECTION, query, document_ids=source_ids, also=also)
    by_words = [] if judged is None else judged.best(FUSION.most)
    others = {(hit.document_id, hit.ordinal) for hit in by_words} - known.keys()
    known |= cosines(tx, meaning.model, meaning.vector, list(others))
    places = known.keys() | others  # of those that have no vector, words tell
    words = [Words(*place, 0.0) for place in places] if judged is None else judged.words(places)
    return fuse(words, known, meaning.curve, limit=limit)
