"""A connection to a SQLite file with the product's settings, whose statements can be cancelled."""

import sqlite3
from pathlib import Path
from typing import Any, Final

from memoranda.storage.work import Work

# How long a statement waits for another process's write before it answers storage_busy.
BUSY_SECONDS: Final = 10.0
# How often a running statement looks whether it was cancelled, in steps of SQLite's machine: some ten
# milliseconds. Less would cost long statements their speed, because each look needs Python's lock.
LOOK_EVERY: Final = 500_000


class SqliteCursor(sqlite3.Cursor):
    """Runs what is sent at once: there is no journey to save."""

    send = sqlite3.Cursor.execute
    send_many = sqlite3.Cursor.executemany


class Look:
    """The work that a connection runs now; a running statement looks here whether it was cancelled."""

    work: Work[Any] | None = None

    def __call__(self) -> bool:
        return self.work is not None and self.work.cancelled


def look_while_running(connection: sqlite3.Connection) -> Look:
    """Let statements of this connection end soon after their work is cancelled.

    The statement's own thread looks, so that nothing can hit a later statement, as an
    interrupt from another thread could.
    """
    look = Look()
    connection.set_progress_handler(look, LOOK_EVERY)
    return look


def connect(path: Path, *, readonly: bool = False) -> sqlite3.Connection:
    """A connection with the product's settings; transactions are begun and ended by hand."""
    connection = sqlite3.connect(
        path,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=512,
    )
    # secure_delete overwrites what is deleted, so that a forgotten text leaves the file.
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "secure_delete=ON",
        "temp_store=MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}")
    if readonly:
        connection.execute("PRAGMA query_only=ON")
    return connection
