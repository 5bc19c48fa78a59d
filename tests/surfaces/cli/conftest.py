"""A command line to call in a test, on either backend."""

import os

import pytest

from tests.surfaces.cli.terminal import Cli


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wide terminal without color, and no database but the one that a test names."""
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    for name in list(os.environ):
        if name.startswith("MEMORANDA_"):
            monkeypatch.delenv(name)


@pytest.fixture
def cli(database_url: str) -> Cli:
    """The command line on a fresh database, once per backend."""
    return Cli(database_url)


@pytest.fixture
def local(sqlite_database: str) -> Cli:
    """The command line on a fresh SQLite file, for what does not depend on the database."""
    return Cli(sqlite_database)
