"""Takes out of a SQLite file what deleted rows have left in it."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Final

from memoranda.storage.dialects.sqlite_connection import connect

# How long it waits for readers of an older state, and for another process's write. Writers wait meanwhile.
PATIENCE_MS: Final = 2_000
# SQLite builds the new file in memory up to here, and beyond in a temporary file.
LARGEST_IN_MEMORY: Final = 128 * 2**20


class Scrubber:
    """Scrubs one file, once for all who ask while they wait.

    `alone` runs a function while this process writes nothing.
    """

    def __init__(self, path: Path, alone: Callable[[Callable[[], bool]], bool]) -> None:
        self._path = path
        self._alone = alone
        self._counting, self._working = Lock(), Lock()
        self._asked = self._served = 0

    def scrub(self) -> bool:
        """As `scrub` below. Blocks."""
        with self._counting:
            self._asked += 1
            mine = self._asked
        with self._working:
            if self._served >= mine:
                return True
            with self._counting:
                everybody = self._asked
            done = self._alone(lambda: scrub(self._path))
            if done:
                self._served = everybody
            return done


def scrub(path: Path) -> bool:
    """Write the file anew from the rows that there are, and empty its log; whether that was done.

    `secure_delete` alone is not enough: where SQLite moves rows from one page to another,
    the old page keeps a copy of them outside of its rows, which no later delete finds.
    False where a reader still needs an older state, or another process is writing.
    """
    with closing(connect(path)) as connection:
        connection.execute(f"PRAGMA busy_timeout={PATIENCE_MS}")
        if path.stat().st_size > LARGEST_IN_MEMORY:
            connection.execute("PRAGMA temp_store=FILE")
        try:
            # The log first: while somebody needs what is in it, all the rest would be for nothing.
            if not _log_emptied(connection):
                return False
            connection.execute("VACUUM")
            return _log_emptied(connection)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                return False
            raise


def _log_emptied(connection: sqlite3.Connection) -> bool:
    busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy
