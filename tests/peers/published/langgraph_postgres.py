"""Our store and checkpointer in the place of those that LangGraph keeps in PostgreSQL.

Each database that its tests make is a user of our one database, whose items and threads are nobody else's. Where they
sleep, the product's clock moves.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, Final, Self
from uuid import UUID

import numpy as np
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from memoranda import Memoranda
from memoranda.integrations.home import Home
from memoranda.integrations.langgraph import MemorandaSaver, MemorandaStore
from memoranda.search.calibration import Calibration
from memoranda.search.embedders.port import Matrix
from tests.peers.published import langgraph_rows as rows
from tests.peers.rooms import Hands, with_letters
from tests.peers.rooms import opened as product

HANDS = Hands()
ITS_OWN = "asks tables of its own by SQL"
OPTIONS = ["--noconftest"]  # it connects to a database of theirs


class House:
    """The one database of ours: opened on a loop of its own for tests without one, and on theirs for the others."""

    url = ""
    portal: BlockingPortal
    memoranda: Memoranda
    users: ClassVar[dict[str, UUID]] = {}

    @classmethod
    @asynccontextmanager
    async def there(cls) -> AsyncIterator[Memoranda]:
        async with product(cls.url, HANDS) as memoranda:
            yield memoranda

    @classmethod
    async def user(cls, memoranda: Memoranda, database: str) -> UUID:
        """Whose items those of a database of theirs are."""
        if database not in cls.users:
            made = await memoranda.access.create_user(memoranda.owner, database)
            cls.users[database] = made.id
        return cls.users[database]

    @classmethod
    def waited(cls, database: str) -> tuple[Memoranda, UUID]:
        """The same, for a test without a loop."""
        return cls.memoranda, cls.portal.call(cls.user, cls.memoranda, database)

    @classmethod
    def made(cls, make: Any, *given: Any, **named: Any) -> None:
        """Make an object on the loop that the product lives on."""
        cls.portal.call(partial(make, *given, **named))


@contextmanager
def opened(url: str) -> Iterator[None]:
    """Open the product for tests without a loop."""
    House.url = url
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(House.there()) as got:
        House.portal, House.memoranda = portal, got
        yield


def named(uri: str) -> str:
    return uri.rsplit("/", 1)[1].partition("?")[0] or "postgres"


class Theirs:
    """What its tests connect to. Statements about whole databases and tables mean nothing here."""

    def __init__(self, uri: str) -> None:
        self.database = named(uri)
        self.info = SimpleNamespace(dbname=self.database)

    def told(self, statement: str) -> None:
        if not statement.startswith(("CREATE DATABASE", "DROP DATABASE")):
            raise AssertionError(ITS_OWN)


class Connection(Theirs):
    """A connection, or a pool of them."""

    def __init__(self, uri: str, **_: Any) -> None:
        super().__init__(uri)

    @classmethod
    def connect(cls, uri: str, **_: Any) -> Self:
        return cls(uri)

    def __enter__(self) -> Self:
        self.memoranda, self.user = House.waited(self.database)
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute(self, statement: str) -> None:
        self.told(statement)

    def pipeline(self) -> Any:
        return nullcontext(self)


class AsyncConnection(Theirs):
    """The same for tests on a loop, which it opens the product on."""

    def __init__(self, uri: str, **_: Any) -> None:
        super().__init__(uri)

    @classmethod
    async def connect(cls, uri: str, **_: Any) -> Self:
        return cls(uri)

    async def __aenter__(self) -> Self:
        self._there = House.there()
        self.memoranda = await self._there.__aenter__()
        self.user = await House.user(self.memoranda, self.database)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._there.__aexit__(None, None, None)

    async def execute(self, statement: str) -> None:
        self.told(statement)

    @asynccontextmanager
    async def pipeline(self) -> AsyncIterator[Self]:
        yield self


class Cursor:
    """What asks its own tables. Of that we can say one thing in ours: since when an item is as it is."""

    def __init__(self, store: MemorandaStore) -> None:
        self._store = store

    def execute(self, statement: str, given: Sequence[Any] = ()) -> None:
        if statement.startswith("UPDATE store SET updated_at"):
            rows.age(self._store, *given)
        elif statement != "DROP TABLE IF EXISTS store_migrations":
            raise AssertionError(ITS_OWN)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class AsyncCursor(Cursor):
    """The same, awaited."""

    async def execute(self, statement: str, given: Sequence[Any] = ()) -> None:  # type: ignore[override]  # theirs is awaited, too
        await asyncio.to_thread(super().execute, statement, given)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


class Embedder:
    """Their embeddings as an embedder of ours."""

    model = "characters"
    calibration = Calibration(10.0, 0.5)

    def __init__(self, theirs: Any) -> None:
        self._theirs, self.dimensions = theirs, theirs.dims

    async def embed(self, texts: Sequence[str]) -> Matrix:
        made: Matrix = np.array(self._theirs.embed_documents(list(texts)), np.float32)
        return made


class StoreOfTheirs(MemorandaStore):
    """Ours, with what only theirs has: tables to set up, and a thread of its own that sweeps."""

    MIGRATIONS: ClassVar[list[str]] = []

    @staticmethod
    def given(index: Any, ttl: Any) -> dict[str, Any]:
        fields = (index or {}).get("fields")
        return {"ttl": ttl} | ({"fields": fields} if fields else {})

    def found_by(self, index: Any) -> None:
        """Have what it keeps found by the embeddings that the index names."""
        if index:
            letters: Any = Embedder(index["embed"])
            home: Home = self._home
            self._home = replace(home, memoranda=with_letters(home.memoranda, letters))


class PostgresStore(StoreOfTheirs):
    @classmethod
    @contextmanager
    def from_conn_string(
        cls, uri: str, *, index: Any = None, ttl: Any = None, **_: Any
    ) -> Iterator[Self]:
        memoranda, user = House.waited(named(uri))
        store = cls.__new__(cls)
        # Its __init__ asks for the loop that the product lives on.
        House.made(partial(cls.__init__, store), memoranda, user_id=user, **cls.given(index, ttl))
        store.found_by(index)
        yield store

    def _cursor(self) -> Cursor:
        return Cursor(self)

    def setup(self) -> None: ...
    def start_ttl_sweeper(self) -> None: ...
    def stop_ttl_sweeper(self) -> None: ...


class AsyncPostgresStore(StoreOfTheirs):
    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls, uri: str, *, index: Any = None, ttl: Any = None, **_: Any
    ) -> AsyncIterator[Self]:
        async with House.there() as memoranda:
            user = await House.user(memoranda, named(uri))
            store = cls(memoranda, user_id=user, **cls.given(index, ttl))
            store.found_by(index)
            yield store

    def _cursor(self) -> AsyncCursor:
        return AsyncCursor(self)

    async def setup(self) -> None: ...
    async def start_ttl_sweeper(self) -> None: ...
    async def stop_ttl_sweeper(self) -> None: ...


class PostgresSaver(MemorandaSaver):
    """Ours; its connection says whose threads are meant."""

    MIGRATIONS: ClassVar[list[str]] = []

    def __init__(self, conn: Connection, pipe: Any = None) -> None:
        self.conn = conn
        House.made(super().__init__, conn.memoranda, user_id=conn.user)

    @classmethod
    @contextmanager
    def from_conn_string(cls, uri: str, **_: Any) -> Iterator[Self]:
        with Connection(uri) as conn:
            yield cls(conn)

    def setup(self) -> None: ...


class AsyncPostgresSaver(MemorandaSaver):
    def __init__(self, conn: AsyncConnection, pipe: Any = None) -> None:
        self.conn = conn
        super().__init__(conn.memoranda, user_id=conn.user)

    @classmethod
    @asynccontextmanager
    async def from_conn_string(cls, uri: str, **_: Any) -> AsyncIterator[Self]:
        async with AsyncConnection(uri) as conn:
            yield cls(conn)

    async def setup(self) -> None: ...


class Asyncio:
    """The module, but that whoever sleeps moves the product's clock."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        HANDS.move(seconds=seconds)


class Absent(ModuleType):
    """A module of theirs of which we have only what is named; the rest is theirs alone."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def theirs_alone(*_: Any, **__: Any) -> Any:
            raise AssertionError(f"calls {name}, which is within theirs")

        return theirs_alone


def _put_in_place(name: str, **has: Any) -> None:
    module = Absent(name)
    module.__path__ = []
    vars(module).update(has)
    sys.modules[name] = module
    parent, _, own = name.rpartition(".")
    if parent:
        setattr(import_module(parent), own, module)


_put_in_place(
    "langgraph.store.postgres", PostgresStore=PostgresStore, AsyncPostgresStore=AsyncPostgresStore
)
_put_in_place("langgraph.store.postgres.base")
_put_in_place("psycopg_pool", ConnectionPool=Connection, AsyncConnectionPool=AsyncConnection)
_put_in_place("langgraph.checkpoint.postgres", PostgresSaver=PostgresSaver, _DELTA_PAGE_SIZE=1_000)
_put_in_place(
    "langgraph.checkpoint.postgres.aio",
    AsyncPostgresSaver=AsyncPostgresSaver,
    _DELTA_PAGE_SIZE=1_000,
)
_put_in_place(
    "langgraph.checkpoint.postgres.base",
    _DELTA_PAGE_SIZE=1_000,
    PRUNE_DELTA_THREADS_SQL="delta",
    PRUNE_HEADS_SQL="heads",
    PRUNE_REFERENCED_BLOBS_SQL="blobs",
)

IN_PLACE: dict[str, Any] = {
    "Connection": Connection,
    "AsyncConnection": AsyncConnection,
    "time": SimpleNamespace(sleep=lambda seconds: HANDS.move(seconds=seconds)),
    "_expire_now": rows.expire_now,
    "_row_exists": rows.row_exists,
    "_stored_expires_at": rows.stored_expires_at,
    "_aexpire_now": rows.aexpire_now,
    "_arow_exists": rows.arow_exists,
    "_astored_expires_at": rows.astored_expires_at,
    "_rows": rows.of_thread,
}


SAME: Final = frozenset({"pipe", "pool", "aio_pipe", "aio_pool"})
"""Ways in which theirs connects: with ours each would be the same test again."""
LONG: Final = {
    "test_large_batches_async": "60,000 calls, which take minutes where much else runs; test_large_batches makes 6,000"
}


def left_out(item: pytest.Item) -> str:
    """Why a test is not run; "" for those that are."""
    called = getattr(item, "callspec", None)
    given = called.params.values() if called is not None else ()
    if any(isinstance(each, str) and each in SAME for each in given):
        return "the same test of ours again"
    return LONG.get(item.name.partition("[")[0], "")


def stand_in(module: ModuleType) -> None:
    """Give a module of tests what stands in for theirs, and for how they look into their tables."""
    for name, ours in IN_PLACE.items():
        if hasattr(module, name):
            setattr(module, name, ours)
    if module.__name__.endswith("test_async_store"):
        vars(module)["asyncio"] = Asyncio()


@pytest.fixture(autouse=True)
def clear_test_db() -> None:
    """Have each test begin with nothing, in the place of theirs, which empties its tables."""
    House.users.clear()


@pytest.fixture
def fake_embeddings() -> Any:
    """As theirs."""
    return import_module("tests.embed_test_utils").CharacterEmbeddings(dims=500)
