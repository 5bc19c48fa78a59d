"""Which passages of a collection answer a query: by words, and by meaning where there is a vector of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias
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

    def version(self, tx: Transaction, /) -> object | None:
        """Tell one state of all that may be found from every other; None where they are too few to be looked for beside."""

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
    near = _Nearest(tx, vectors, *asked, document_ids)
    judged = index.judge(tx, collection, query, document_ids=document_ids, also=near.found)
    known = dict(near.found())
    by_words = [] if judged is None else judged.best(FUSION.most)
    others = {(hit.document_id, hit.ordinal) for hit in by_words} - known.keys()
    known |= vectors.cosines(tx, *asked, others)
    places = known.keys() | others  # of those that have no vector, words tell
    words = [Words(*place, 0.0) for place in places] if judged is None else judged.words(places)
    return Both(fuse(words, known, meaning.curve, limit=limit), known)


_Found: TypeAlias = tuple[object | None, Mapping[Place, float]]
"""The passages that are nearest, and the version of what they were found in."""


class _Nearest:
    """What is nearest, looked for beside the words: the two need the other's answers only at the end."""

    def __init__(
        self,
        tx: Transaction,
        vectors: Vectors,
        model: str,
        query: NDArray[np.float32],
        document_ids: Sequence[UUID] | None,
    ) -> None:
        self._tx = tx
        self._vectors = vectors
        self._asked = model, query, FUSION.most, document_ids
        self._version = vectors.version(tx)
        self._aside = None if self._version is None else tx.beside(self._look)
        self._known: Mapping[Place, float] | None = None

    def found(self) -> Mapping[Place, float]:
        """The cosines of the nearest, as the transaction itself would find them."""
        if self._known is None:
            version, self._known = self._read()
            # The two see different moments: if something changed between them, it is looked for here.
            if version != self._version:
                self._known = self._vectors.nearest(self._tx, *self._asked)
        return self._known

    def _read(self) -> _Found:
        return self._look(self._tx) if self._aside is None else self._aside.result(self._tx)

    def _look(self, tx: Transaction) -> _Found:
        version = self._vectors.version(tx)
        return version, self._vectors.nearest(tx, *self._asked)
