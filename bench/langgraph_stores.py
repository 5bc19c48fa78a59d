"""LangGraph's SqliteStore and PostgresStore as sides: each organization is a namespace of its own.

SqliteStore loads a SQLite extension for its vectors. A Python that can't load one needs `pysqlite3`, a
driver with a SQLite of its own; without it, the store runs without vectors, and so without search.
"""

import importlib
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from itertools import islice
from typing import Any, Final
from uuid import UUID

import psycopg
from made import Ask, Prepared, Size, text
from places import Place
from psycopg.rows import dict_row
from rivals import PRAGMAS, open_aiosqlite, sqlite_path
from sides import (
    AT_ONCE,
    GET,
    ON_A_PAGE,
    PAGE,
    PUT,
    PUT_EMBEDDED,
    PUT_MANY,
    SEARCH,
    SEARCH_KNOWN,
    Side,
    Work,
)

IN_A_BATCH: Final = 500
FIRST: Final = "organizations.0"
VECTOR_INDEX: Final = "store_vectors_embedding_idx"
COLUMNS: Final = {
    "store": "key, value, created_at, updated_at, expires_at, ttl_minutes",
    "store_vectors": "key, field_name, embedding, created_at, updated_at",
}


@asynccontextmanager
async def langgraph_sides(
    place: Place, size: Size, embedder: Prepared
) -> AsyncIterator[list[Side]]:
    """The stores of the place's kind, filled. Raises ImportError where they are not installed.

    The plain one does everything. The asynchronous one, which like us keeps an event loop
    free, does what needs no vectors: here it says what that costs.
    """
    kind = "Sqlite" if place.kind == "sqlite" else "Postgres"
    module = importlib.import_module(f"langgraph.store.{kind.lower()}")
    url = place.empty()
    connection, indexed = connect(place, url)
    with closing(connection):
        index = index_of(embedder)
        store = getattr(module, f"{kind}Store")(connection, index=index if indexed else None)
        store.setup()
        embedder.prepare(range(size.each))
        cursor = connection.cursor()
        with built_at_the_end(place, cursor):
            fill(store, size.each)
            copy(place, cursor, size.organizations)
        async with asynchronous(place, url, cursor) as other:
            does = async_works(getattr(module.aio, f"Async{kind}Store")(other))
            yield [
                Side(f"{kind}Store", works(store, indexed=indexed), size),
                Side(f"Async{kind}Store", does, size),
            ]


def index_of(embedder: Prepared) -> dict[str, Any]:
    """Our embedder, of the text alone; the two stores don't call that by one name."""
    texts = ["text"]
    return {
        "dims": embedder.dimensions,
        "embed": embedder.now,
        "fields": texts,
        "text_fields": texts,
    }


@asynccontextmanager
async def asynchronous(place: Place, url: str, cursor: Any) -> AsyncIterator[Any]:
    """A connection for the asynchronous store, over the same rows.

    On SQLite it is to a copy: two drivers with a SQLite each must not share a file.
    """
    if place.kind == "postgres":
        connection = await psycopg.AsyncConnection.connect(
            url, autocommit=True, prepare_threshold=0, row_factory=dict_row
        )
        async with connection:
            yield connection
        return
    copied = place.empty()
    cursor.execute(f"VACUUM INTO '{sqlite_path(copied)}'")
    to_copy = await open_aiosqlite(copied)
    try:
        yield to_copy
    finally:
        await to_copy.close()


def connect(place: Place, url: str) -> tuple[Any, bool]:
    """A connection as the store's own constructor makes it, with our durability; and the same answer."""
    if place.kind == "postgres":
        return psycopg.connect(
            url, autocommit=True, prepare_threshold=0, row_factory=dict_row
        ), True
    driver = sqlite_driver()
    connection = driver.connect(sqlite_path(url), check_same_thread=False, isolation_level=None)
    for pragma in PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")
    return connection, hasattr(connection, "enable_load_extension")


def sqlite_driver() -> Any:
    """Python's own sqlite3 where it can load extensions, else `pysqlite3` where that is installed."""
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return sqlite3
    try:
        return importlib.import_module("pysqlite3")
    except ImportError:
        return sqlite3


def fill(store: Any, memories: int) -> None:
    """Put what the first organization has, in batches."""
    put_op = importlib.import_module("langgraph.store.base").PutOp
    for start in range(0, memories, IN_A_BATCH):
        numbers = range(start, min(memories, start + IN_A_BATCH))
        store.batch([put_op(namespace(0), key(number), value(text(number))) for number in numbers])


def copy(place: Place, cursor: Any, organizations: int) -> None:
    """Copy the first organization's rows into the others' namespaces, in the store's own tables."""
    for table, columns in COLUMNS.items() if organizations > 1 else ():
        if place.kind == "sqlite" and not table_is_there(cursor, table):
            continue
        numbers = (
            f"(WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {organizations - 1})"
            " SELECT n FROM n) AS numbers"
        )
        cursor.execute(
            f"INSERT INTO {table} (prefix, {columns})"
            f" SELECT 'organizations.' || n, {columns} FROM {table}, {numbers} WHERE prefix = '{FIRST}'"
        )
    if place.kind == "postgres":
        cursor.execute("ANALYZE")


def table_is_there(cursor: Any, table: str) -> bool:
    cursor.execute(f"SELECT count(*) FROM sqlite_master WHERE name = '{table}'")
    return bool(cursor.fetchone()[0])


@contextmanager
def built_at_the_end(place: Place, cursor: Any) -> Iterator[None]:
    """Take PostgreSQL's vector index away and build the same one at the end, which is much quicker."""
    if place.kind == "sqlite":
        yield
        return
    cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = %s", (VECTOR_INDEX,))
    definition = cursor.fetchone()["indexdef"]
    cursor.execute(f"DROP INDEX {VECTOR_INDEX}")
    yield
    cursor.execute("SET maintenance_work_mem = '2GB'")
    cursor.execute(definition)


def works(store: Any, *, indexed: bool) -> dict[str, Work]:
    """What the store does. Without an index there is nothing that embeds or searches."""
    put_op = importlib.import_module("langgraph.store.base").PutOp

    def put_of(ask: Ask, organization: int) -> Any:
        return put_op(namespace(organization), new_key(ask), value(ask.text))

    async def put(asked: Iterator[Ask]) -> None:
        ask = next(asked)
        store.put(namespace(ask.organization), new_key(ask), value(ask.text), index=False)

    async def put_embedded(asked: Iterator[Ask]) -> None:
        ask = next(asked)
        store.put(namespace(ask.organization), new_key(ask), value(ask.text))

    async def put_many(asked: Iterator[Ask]) -> None:
        several = list(islice(asked, AT_ONCE))
        store.batch([put_of(ask, several[0].organization) for ask in several])

    async def get(asked: Iterator[Ask]) -> None:
        ask = next(asked)
        assert store.get(namespace(ask.organization), key(ask.memory)) is not None

    async def page(asked: Iterator[Ask]) -> int:
        return len(store.search(namespace(next(asked).organization), limit=ON_A_PAGE))

    async def search(asked: Iterator[Ask]) -> int:
        ask = next(asked)
        found = store.search(namespace(ask.organization), query=ask.query, limit=ON_A_PAGE)
        return len(found)

    async def search_known(asked: Iterator[Ask]) -> int:
        ask = next(asked)
        found = store.search(namespace(ask.organization), query=ask.known, limit=ON_A_PAGE)
        return len(found)

    does: dict[str, Work] = {PUT: put, GET: get, PAGE: page}
    embedding: dict[str, Work] = {PUT_EMBEDDED: put_embedded, PUT_MANY: put_many}
    finds: dict[str, Work] = {SEARCH: search, SEARCH_KNOWN: search_known}
    return {**does, **embedding, **finds} if indexed else does


def async_works(store: Any) -> dict[str, Work]:
    """What the asynchronous store does without an index."""

    async def put(asked: Iterator[Ask]) -> None:
        ask = next(asked)
        await store.aput(namespace(ask.organization), new_key(ask), value(ask.text))

    async def get(asked: Iterator[Ask]) -> None:
        ask = next(asked)
        assert await store.aget(namespace(ask.organization), key(ask.memory)) is not None

    async def page(asked: Iterator[Ask]) -> int:
        return len(await store.asearch(namespace(next(asked).organization), limit=ON_A_PAGE))

    return {PUT: put, GET: get, PAGE: page}


def namespace(organization: int) -> tuple[str, str]:
    return ("organizations", str(organization))


def key(number: int) -> str:
    """The key of a memory that was filled in; as long as an id."""
    return str(UUID(int=number))


def new_key(ask: Ask) -> str:
    return ask.text.rpartition("(")[2]


def value(said: str) -> dict[str, Any]:
    return {"text": said, "category": None, "tags": []}
