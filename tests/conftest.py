"""Fixtures that every test may ask for: databases on both backends, and no way out of the machine."""

import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.network import refuse_outside
from tests.postgres import Postgres, in_memory, run_postgres

if TYPE_CHECKING:
    from memoranda.storage import Storage

BACKENDS = ("sqlite", "postgres")

sys.addaudithook(refuse_outside)

# A busy machine is no failure, and a failure has to be the same one on every machine.
settings.register_profile(
    "memoranda",
    deadline=None,
    print_blob=True,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("explore", deadline=None, print_blob=True, max_examples=2_000)
settings.load_profile("memoranda")


def pytest_configure(config: pytest.Config) -> None:
    """Keep the tests' own files in memory, and let `--hypothesis-profile explore` look further than every run."""
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(in_memory()))
    if chosen := config.getoption("--hypothesis-profile"):
        settings.load_profile(str(chosen))


@pytest.fixture(scope="session", autouse=True)
def own_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the settings and the data of whoever runs the tests out of them, and unharmed."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("MEMORANDA_"):
                patch.delenv(name)
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("home")))
        for name in ("WRITES", "LISTS"):  # a test that asks more often than a person is no attack
            patch.setenv(f"MEMORANDA_{name}_PER_MINUTE", "0")
        # Tests look at what sources say; those of their deadline set one themselves.
        patch.setenv("MEMORANDA_SOURCE_TIMEOUT_S", "30")
        yield


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests run on asyncio, the one event loop that the product runs on."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """The test run's own PostgreSQL, started by the first test that asks for it."""
    with run_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def durable_postgres() -> Iterator[Postgres]:
    """A second PostgreSQL with fsync on, for tests about what survives a crash."""
    with run_postgres(durable=True) as server:
        yield server


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated file to copy: migrating once and copying is what keeps tests quick."""
    from memoranda.storage import migrate  # noqa: PLC0415 - only tests with a database need it

    path = tmp_path_factory.mktemp("sqlite") / "template.db"
    migrate(sqlite_url(path))
    return path


@pytest.fixture(scope="session")
def migrated_postgres(postgres: Postgres) -> str:
    """A migrated database to copy, likewise."""
    from memoranda.storage import migrate  # noqa: PLC0415 - only tests with a database need it

    url = postgres.new_database()
    migrate(url)
    return url


@pytest.fixture
def sqlite_database(migrated_sqlite: Path, tmp_path: Path) -> str:
    """The URL of a fresh, migrated SQLite file."""
    path = tmp_path / "memoranda.db"
    shutil.copyfile(migrated_sqlite, path)
    return sqlite_url(path)


@pytest.fixture
def postgres_database(postgres: Postgres, migrated_postgres: str) -> Iterator[str]:
    """The URL of a fresh, migrated PostgreSQL database, opened as the bound role."""
    url = postgres.new_database(template=migrated_postgres)
    yield url
    postgres.drop_database(url)


@pytest.fixture(params=BACKENDS)
def database_url(request: pytest.FixtureRequest) -> str:
    """A fresh, migrated database, once per backend."""
    url: str = request.getfixturevalue(f"{request.param}_database")
    return url


@pytest.fixture(scope="module", params=BACKENDS)
def module_database_url(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A fresh, migrated database of a module's own, once per backend."""
    if request.param == "sqlite":
        path: Path = tmp_path_factory.mktemp("module") / "memoranda.db"
        shutil.copyfile(request.getfixturevalue("migrated_sqlite"), path)
        yield sqlite_url(path)
        return
    server: Postgres = request.getfixturevalue("postgres")
    url = server.new_database(template=request.getfixturevalue("migrated_postgres"))
    yield url
    server.drop_database(url)


@pytest.fixture
async def storage(database_url: str) -> AsyncIterator["Storage"]:
    """An open storage on a fresh, migrated database, once per backend."""
    from memoranda.storage import Storage  # noqa: PLC0415 - only tests with a database need it

    opened = await Storage.open(database_url)
    try:
        yield opened
    finally:
        await opened.close()


def sqlite_url(path: Path) -> str:
    return f"sqlite:///{path}"
