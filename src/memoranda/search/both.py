"""Which passages of a collection answer a query: by words, and by meaning where there is a vector of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from memoranda.search import store as index
from memoranda.search.candidates import Place
from memoranda.search.fusion import Meaning, fuse
from memoranda.search.lexical import Hit, Words
from memoranda.search.terms import Query
from memoranda.search.weights import FUSION
from memoranda.storage import Transaction


class Vectors(Protocol):
    """What a collection keeps its vectors in: each answers with the raw cosines of passages, by their places."""

    def nearest(
        self,
        tx: Transaction,
        model: str,
        query: NDArray[np.float32],
        most: int,
        document_ids: Sequence[UUID] | None,
        /,
    ) -> Mapping[Place, float]:
        """Return the `most` passages that are nearest, of all documents or of those named."""

    def cosines(
        self, tx: Transaction, model: str, query: NDArray[np.float32], places: Iterable[Place], /
    ) -> Mapping[Place, float]:
        """Return how near these are; those without a vector of the model are left out."""


class Both(NamedTuple):
    """The best passages, best first, and the cosines of those that were compared."""

    hits: list[Hit]
    cosines: Mapping[Place, float]


def both(
    tx: Transaction,
    collection: str,
    query: Query,
    *,
    limit: int,
    document_ids: Sequence[UUID] | None,
    meaning: Meaning | None,
    vectors: Vectors,
) -> Both:
    """Return the best passages of the scope's documents, or of those named, best first.

    Without `meaning` words decide alone. With it, what words propose and what is nearest are judged
    by both, so that a passage needs neither a word of the query nor a vector to be found.
    """
    if meaning is None or limit <= 0:
        return Both(index.search(tx, collection, query, limit=limit, document_ids=document_ids), {})
    asked = meaning.model, meaning.vector
    known = dict(vectors.nearest(tx, *asked, FUSION.most, document_ids))
    judged = index.judge(tx, collection, query, document_ids=document_ids, also=known)
    by_words = [] if judged is None else judged.best(FUSION.most)
    others = {(hit.document_id, hit.ordinal) for hit in by_words} - known.keys()
    known |= vectors.cosines(tx, *asked, others)
    places = known.keys() | others  # of those that have no vector, words tell
    words = [Words(*place, 0.0) for place in places] if judged is None else judged.words(places)
    return Both(fuse(words, known, meaning.curve, limit=limit), known)
