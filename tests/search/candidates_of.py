"""Documents as ranking takes them, without a database."""

from collections.abc import Iterable
from uuid import UUID

import numpy as np

from memoranda.search.candidates import Candidates
from memoranda.search.document import IndexedDocument
from memoranda.search.postings import split_postings
from memoranda.search.rows import TermRows, ids_of


def candidates_of(
    documents: Iterable[tuple[UUID, IndexedDocument]], most: int = 2_000
) -> Candidates:
    """These documents, with the rows of all of their terms, in parts of at most `most` bytes."""
    given = list(documents)
    held: dict[str, list[tuple[UUID, bytes]]] = {}
    for document_id, indexed in given:
        for term, packed in indexed.postings.items():
            parts = [(document_id, part) for part in split_postings(packed, most)]
            held.setdefault(term, []).extend(parts)
    lengths = rows_of([(document_id, indexed.lengths) for document_id, indexed in given])
    return Candidates(lengths, [(term, rows_of(rows)) for term, rows in held.items()])


def rows_of(rows: Iterable[tuple[UUID, bytes]]) -> TermRows:
    """Rows as a statement returns them."""
    given = list(rows)
    documents = ids_of(b"".join(document_id.bytes for document_id, _ in given))
    sizes = np.array([len(packed) for _, packed in given], np.int64)
    return TermRows(documents, sizes, b"".join(packed for _, packed in given))
