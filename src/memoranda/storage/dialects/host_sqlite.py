"""A host's SQLite file, opened so that nothing can be written to it."""

import sqlite3
import time
from pathlib import Path
from typing import Any, ClassVar, Final

from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import QueuePool

from memoranda.storage.dialects.host import ColumnKind, HostDialect

# How often a running statement looks at the time, in steps of SQLite's machine.
LOOK_EVERY: Final = 20_000

# The declared type decides what a column holds, by the first of these words that it has.
_KINDS: Final[tuple[tuple[str, ColumnKind], ...]] = (
    ("BOOL", "boolean"),
    ("INT", "integer"),
    ("CHAR", "text"),
    ("CLOB", "text"),
    ("TEXT", "text"),
    ("BLOB", "bytes"),
    ("DATE", "time"),
    ("TIME", "time"),
    ("REAL", "number"),
    ("FLOA", "number"),
    ("DOUB", "number"),
    ("NUM", "number"),
    ("DEC", "number"),
)


class _Deadline:
    """Until when the statement of a connection may run; the statement itself looks."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._until = 0.0

    def restart(self) -> None:
        self._until = time.monotonic() + self._seconds

    def __call__(self) -> bool:
        return time.monotonic() > self._until


class SqliteHost(HostDialect):
    """A file that is opened as it stands: it is not made, and not changed."""

    collation: ClassVar[str] = "BINARY"
    texts_are_exact: ClassVar[bool] = False

    @classmethod
    def engine(cls, url: str, *, threads: int, seconds: float) -> Engine:
        path = Path(make_url(url).database or "").absolute()
        address = path.as_uri() + "?mode=ro"

        def connect() -> sqlite3.Connection:
            made = sqlite3.connect(address, uri=True, timeout=seconds, check_same_thread=False)
            made.execute("PRAGMA query_only=ON")
            # A text that is no UTF-8 is read as far as it is one: it must not take its table with it.
            made.text_factory = _text
            return made

        engine = create_engine(
            "sqlite://",
            creator=connect,
            poolclass=QueuePool,
            pool_size=threads,
            max_overflow=0,
            isolation_level="AUTOCOMMIT",
        )

        @event.listens_for(engine, "connect")
        def _watched(connection: Any, record: Any) -> None:
            record.info["file"] = _file_at(path)
            record.info["deadline"] = deadline = _Deadline(seconds)
            deadline.restart()
            connection.set_progress_handler(deadline, LOOK_EVERY)

        @event.listens_for(engine, "checkout")
        def _there_still(_connection: Any, record: Any, _proxy: Any) -> None:
            # What another file took the place of, as a restored copy does, would be read for ever.
            if record.info["file"] != _file_at(path):
                raise DisconnectionError

        return engine

    @classmethod
    def before(cls, connection: Connection) -> None:
        connection.info["deadline"].restart()

    @classmethod
    def columns(cls, connection: Connection, table: str) -> dict[str, ColumnKind]:
        schema, _, name = table.rpartition(".")
        named = {"name": name, "schema": schema or None}
        asked = text("SELECT name, type FROM pragma_table_xinfo(:name, :schema) WHERE hidden <> 1")
        return {row.name: _kind(row.type) for row in connection.execute(asked, named)}

    @classmethod
    def holds(cls, _connection: Connection, _value: object, /) -> bool:
        return True

    @staticmethod
    def too_slow(error: BaseException) -> bool:
        return isinstance(error, sqlite3.OperationalError) and any(
            word in str(error) for word in ("interrupted", "locked", "busy")
        )

    @staticmethod
    def misfits(error: BaseException) -> bool:
        return isinstance(error, sqlite3.OperationalError) and "no such" in str(error)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _file_at(path: Path) -> tuple[int, int] | None:
    """Which file stands there; None where none does."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _kind(declared: str) -> ColumnKind:
    spelled = declared.upper()
    return next((kind for word, kind in _KINDS if word in spelled), "other")
