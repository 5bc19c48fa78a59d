"""A storage that the tests of one module share, for tests that change nothing or only rows of their own."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from memoranda.memories.proposals.service import Proposals
from memoranda.memories.service import Memories
from memoranda.storage import Storage, migrate
from tests.conftest import BACKENDS, sqlite_url
from tests.contract.clocks import SteppedClock
from tests.contract.storage_rows import Two, two_organizations
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.traces import Scanner
from tests.postgres import Postgres


@pytest.fixture(scope="module")
async def shared_storage(module_database_url: str) -> AsyncIterator[Storage]:
    """An open storage on a migrated database of the module's own, once per backend."""
    storage = await Storage.open(module_database_url)
    try:
        yield storage
    finally:
        await storage.close()


@pytest.fixture
def durable_database(durable_postgres: Postgres) -> Iterator[str]:
    """A fresh database of a server that waits for the disk."""
    url = durable_postgres.new_database()
    migrate(url)
    yield url
    durable_postgres.drop_database(url)


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
async def timed_storage(database_url: str, clock: SteppedClock) -> AsyncIterator[Storage]:
    """An open storage on which time stands still until the test moves it, once per backend."""
    opened = await Storage.open(database_url, clock=clock)
    try:
        yield opened
    finally:
        await opened.close()


@pytest.fixture
async def acme(storage: Storage) -> Tenant:
    """An organization with people and agents, on the storage that the test's module asks for."""
    return await new_tenant(storage)


@pytest.fixture
def memories(storage: Storage) -> Memories:
    """Memories without an embedder, likewise."""
    return Memories(storage)


@pytest.fixture
def proposals(storage: Storage) -> Proposals:
    """Proposals, likewise."""
    return Proposals(storage)


@pytest.fixture
async def two(storage: Storage) -> Two:
    """Two organizations with rows of every kind, made for one test."""
    return await two_organizations(storage)


@pytest.fixture
def scanner(request: pytest.FixtureRequest, database_url: str) -> Scanner:
    """Looks into all files or tables of the test's database, from outside."""
    on_server = database_url.startswith("postgresql:")
    return Scanner(database_url, request.getfixturevalue("postgres") if on_server else None)


@pytest.fixture(params=BACKENDS)
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database with nothing in it."""
    if request.param == "sqlite":
        return sqlite_url(tmp_path / "memoranda.db")
    server: Postgres = request.getfixturevalue("postgres")
    return server.new_database()
