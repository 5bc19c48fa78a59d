"""Made-up chunks with words and vectors, put into a database by its quickest way: the product's would take hours."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from typing import Any, Final, Protocol
from uuid import UUID

import numpy as np
import psycopg
from filled import Speech
from numpy.typing import NDArray
from rivals import sqlite_path

from memoranda.knowledge.models import COLLECTION
from memoranda.search.calibration import Calibration
from memoranda.search.document import IndexedDocument, Passage, index_document
from memoranda.storage.dialects import postgres_vectors
from memoranda.words.ids import new_id

MODEL: Final = "made"
DIMENSIONS: Final = 384
CHUNKS: Final = 500
"""So many chunks a document has."""
WORDS: Final = 35
KINDS: Final = 32
"""So many texts of documents there are; a database of more has each of them several times, as others' vectors."""
SUBJECTS: Final = 4_000
NOISE: Final = 0.6
"""How far chunks lie from what they are about."""
SECURED: Final = (
    *("knowledge_sources", "knowledge_chunks", "knowledge_embeddings", "knowledge_vectors"),
    *("knowledge_settings", "search_documents", "search_postings", "search_terms"),
    "search_totals",
)

Vectors = NDArray[np.float32]
Row = Sequence[Any]


class MadeModel:
    """Answers any text at once with a vector near a subject that chunks are about, the same each time."""

    model = MODEL
    dimensions = DIMENSIONS
    calibration = Calibration(slope=12.0, middle=0.4)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        return np.concatenate([vector_of(text)[None] for text in texts])


def vector_of(text: str) -> Vectors:
    """What the model makes of a text."""
    row: Vectors = _around(int.from_bytes(sha256(text.encode()).digest()[:8]), 1)[0]
    return row


def vectors_of(document: int, count: int = CHUNKS) -> Vectors:
    """The vectors of a document's chunks, in half precision as they are kept."""
    kept: Vectors = _around(document, count).astype(np.float16).astype(np.float32)
    return kept


def _around(seed: int, count: int) -> Vectors:
    chance = np.random.default_rng(seed)
    noise = chance.standard_normal((count, DIMENSIONS), np.float32)
    noise *= NOISE / np.linalg.norm(noise, axis=1, keepdims=True)
    rows = _subjects()[chance.integers(0, SUBJECTS, count)] + noise
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


@cache
def _subjects() -> Vectors:
    rows = np.random.default_rng(7).standard_normal((SUBJECTS, DIMENSIONS), np.float32)
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


@dataclass(frozen=True)
class Kind:
    """A document's texts and their rows in the index of words."""

    texts: tuple[str, ...]
    indexed: IndexedDocument


@cache
def kinds() -> tuple[Kind, ...]:
    """The documents that there are."""
    speech = Speech(0)
    made = []
    for _ in range(KINDS):
        texts = tuple(speech.say(WORDS) for _ in range(CHUNKS))
        made.append(Kind(texts, index_document(Passage(text) for text in texts)))
    return tuple(made)


class Target(Protocol):
    """A database that takes many rows at once."""

    moment: Any

    def identity(self, value: UUID) -> Any: ...

    def put(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None: ...
    def put_vectors(self, source_ids: Sequence[UUID]) -> None: ...


def fill(target: Target, scope: UUID, documents: int) -> None:
    """Put so many documents of one organization in, ready, with an index of words and vectors."""
    sources = [new_id() for _ in range(documents)]
    own, now = target.identity(scope), target.moment
    ids = [target.identity(source) for source in sources]
    of = [kinds()[number % KINDS] for number in range(documents)]
    target.put(
        "knowledge_sources",
        (
            *("id", "organization_id", "kind", "title", "digest", "status", "chunks"),
            *("created_at", "updated_at"),
        ),
        ((each, own, "text", "Notes", "0" * 64, "ready", CHUNKS, now, now) for each in ids),
    )
    target.put(
        "knowledge_chunks",
        ("id", "source_id", "ordinal", "text", "tokens"),
        (
            (target.identity(new_id()), source, ordinal, text, WORDS)
            for source, kind in zip(ids, of, strict=True)
            for ordinal, text in enumerate(kind.texts)
        ),
    )
    target.put(
        "search_documents",
        ("scope_id", "collection", "document_id", "passages", "tokens", "lengths"),
        (
            (own, COLLECTION, source, CHUNKS, kind.indexed.tokens, kind.indexed.lengths)
            for source, kind in zip(ids, of, strict=True)
        ),
    )
    target.put(
        "search_postings",
        ("scope_id", "collection", "term", "document_id", "postings"),
        (
            (own, COLLECTION, term, source, postings)
            for source, kind in zip(ids, of, strict=True)
            for term, postings in kind.indexed.postings.items()
        ),
    )
    target.put(
        "search_terms",
        ("scope_id", "collection", "term", "passages", "windows", "documents"),
        ((own, COLLECTION, *row) for row in _terms(documents)),
    )
    tokens = sum(kind.indexed.tokens for kind in of)
    total = (own, COLLECTION, documents, documents * CHUNKS, tokens)
    names = ("scope_id", "collection", "documents", "passages", "tokens")
    target.put("search_totals", names, [total])
    target.put(
        "knowledge_embeddings",
        ("source_id", "model", "status", "done", "updated_at"),
        ((source, MODEL, "ready", CHUNKS, now) for source in ids),
    )
    target.put(
        "knowledge_settings",
        ("scope_id", "organization_id", "active_embedding_model", "since"),
        [(own, own, MODEL, now)],
    )
    target.put_vectors(sources)


def _terms(documents: int) -> Iterator[tuple[str, int, int, int]]:
    times = Counter(number % KINDS for number in range(documents))
    passages: Counter[str] = Counter()
    windows: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for number, often in times.items():
        for term, count in kinds()[number].indexed.counts.items():
            passages[term] += often * count.passages
            windows[term] += often * count.windows
            found[term] += often * count.documents
    for term, number in passages.items():
        yield term, number, windows[term], found[term]


class Sqlite:
    """A file, filled in one transaction."""

    moment: Any = 1_750_000_000_000_000

    def __init__(self, url: str) -> None:
        self._url = url

    def identity(self, value: UUID) -> Any:
        """An id as the file keeps it."""
        return value.hex

    def put(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        """Insert the rows."""
        with closing(sqlite3.connect(sqlite_path(self._url))) as connection:
            connection.execute("PRAGMA synchronous=OFF")
            marks = ", ".join("?" * len(columns))
            connection.executemany(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows
            )
            connection.commit()

    def put_vectors(self, source_ids: Sequence[UUID]) -> None:
        """Insert the vectors of these documents' chunks."""
        self.put(
            "knowledge_vectors",
            ("source_id", "model", "ordinal", "vector"),
            (
                (source.hex, MODEL, ordinal, row.tobytes())
                for number, source in enumerate(source_ids)
                for ordinal, row in enumerate(vectors_of(number).astype("<f2"))
            ),
        )


class Postgresql:
    """A database, filled by COPY; the index of vectors is made after its rows.

    Its role owns the tables, and has itself let past row security meanwhile, which COPY can't obey.
    """

    moment: Any = datetime(2026, 1, 1, tzinfo=UTC)

    def __init__(self, connection: "psycopg.Connection[Any]") -> None:
        self._connection = connection

    def identity(self, value: UUID) -> Any:
        """An id as the driver takes it."""
        return value

    def put(self, table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
        """Copy the rows in."""
        into = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
        with self._connection.cursor().copy(into.encode()) as copy:
            for row in rows:
                copy.write_row(row)

    def put_vectors(self, source_ids: Sequence[UUID]) -> None:
        """Copy the vectors of these documents' chunks in, in PostgreSQL's own binary form."""
        columns = "source_id, model, ordinal, vector"
        documents = enumerate(source_ids)
        copied = ((_packed(vectors_of(number), source) for number, source in documents),)
        self.copy_binary(f"knowledge_vectors ({columns})", *copied)

    def copy_binary(self, table: str, pieces: Iterable[bytes]) -> None:
        """Copy what is packed already."""
        into = f"COPY {table} FROM STDIN (FORMAT BINARY)"
        with self._connection.cursor().copy(into.encode()) as copy:
            copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
            for piece in pieces:
                copy.write(piece)
            copy.write(b"\xff\xff")


_VECTOR: Final = [("size", ">i4"), ("dimensions", ">i2"), ("_", ">i2")]
_NUMBERS: Final = ("numbers", ">f2", (DIMENSIONS,))
_OURS: Final = np.dtype(
    [
        *(("fields", ">i2"), ("id_size", ">i4"), ("id", "V16"), ("model_size", ">i4")),
        *(("model", f"S{len(MODEL)}"), ("ordinal_size", ">i4"), ("ordinal", ">i4")),
        *(*_VECTOR, _NUMBERS),
    ]
)
_THEIRS: Final = np.dtype(
    [("fields", ">i2"), ("ordinal_size", ">i4"), ("ordinal", ">i4"), *_VECTOR, _NUMBERS]
)


def _packed(rows: Vectors, source: UUID) -> bytes:
    packed = _vectors_in(_OURS, rows, fields=4)
    packed["id_size"], packed["id"] = 16, np.void(source.bytes)
    packed["model_size"], packed["model"] = len(MODEL), MODEL.encode()
    packed["ordinal"] = np.arange(len(rows))
    return bytes(packed.tobytes())


def packed_alone(rows: Vectors, first: int) -> bytes:
    """Rows of a number and a vector, as COPY takes them."""
    packed = _vectors_in(_THEIRS, rows, fields=2)
    packed["ordinal"] = np.arange(first, first + len(rows))
    return bytes(packed.tobytes())


def _vectors_in(form: Any, rows: Vectors, *, fields: int) -> Any:
    packed = np.zeros(len(rows), form)
    packed["fields"], packed["ordinal_size"] = fields, 4
    packed["size"], packed["dimensions"] = 4 + 2 * DIMENSIONS, DIMENSIONS
    packed["numbers"] = rows
    return packed


def fill_postgres(url: str, scope: UUID, documents: int) -> None:
    """Fill our tables, then an own table of pgvector with the same vectors and index."""
    with psycopg.connect(url, autocommit=True) as connection:
        for table in SECURED:
            connection.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY".encode())
        ours = postgres_vectors.index_name(DIMENSIONS)
        connection.execute(f"DROP INDEX {ours}".encode())
        connection.execute("SET maintenance_work_mem = '4GB'")
        target = Postgresql(connection)
        fill(target, scope, documents)
        for statement in postgres_vectors.statements():
            connection.execute(statement.encode())
        connection.execute(f"CREATE TABLE alone (id int, vector halfvec({DIMENSIONS}))".encode())
        numbers = range(documents)
        target.copy_binary(
            "alone", (packed_alone(vectors_of(number), number * CHUNKS) for number in numbers)
        )
        connection.execute("CREATE INDEX ON alone USING hnsw (vector halfvec_ip_ops)")
        for table in SECURED:
            connection.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY".encode())
