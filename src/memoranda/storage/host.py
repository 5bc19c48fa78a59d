"""A host's own database, as a handle that reads: never written, none of our tables, threads of its own."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

from sqlalchemy import Select
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.sql.elements import ColumnElement

from memoranda.storage.database import database_url
from memoranda.storage.dialects.host import ColumnKind, HostDialect
from memoranda.storage.errors import StorageBusy, StorageUnavailable
from memoranda.storage.statements import Row
from memoranda.storage.tables.base import METADATA
from memoranda.words.errors import HostMoved, Invalid

__all__ = ["ColumnKind", "HostDatabase", "HostMoved", "HostReading"]

P = ParamSpec("P")
T = TypeVar("T")

THREADS: Final = 4
OWN_TABLE: Final = "memory_revisions"
"""Where this table stands too, a table of one of our names is ours."""
SECONDS: Final = 2.0
"""How long a statement may run: a source that waits for it has been given up by then."""


class HostReading:
    """What a store function reads a host's database through: questions alone."""

    def __init__(self, connection: Connection, dialect: type[HostDialect]) -> None:
        self._connection = connection
        self._dialect = dialect

    def all(self, statement: Select[Any], values: Mapping[str, object]) -> Sequence[Row]:
        """The rows of a SELECT; nothing else is let through."""
        if not isinstance(statement, Select):
            raise TypeError("Only a SELECT is sent to an application's database.")
        self._dialect.before(self._connection)
        return self._connection.execute(statement, values).all()

    def columns(self, table: str) -> dict[str, ColumnKind]:
        """The columns of a table and what each holds; none for a table that is not there, or is ours."""
        self._dialect.before(self._connection)
        schema, dot, name = table.rpartition(".")
        if name.lower() in METADATA.tables:
            beside = self._dialect.columns(self._connection, f"{schema}{dot}{OWN_TABLE}")
            if beside:
                return {}
        return self._dialect.columns(self._connection, table)

    def holds(self, value: object) -> bool:
        """Whether any row can have this value: it is no text that the database's encoding has not."""
        return self._dialect.holds(self._connection, value)

    def exactly(self, column: ColumnElement[Any], kind: ColumnKind) -> ColumnElement[Any]:
        """The column for a comparison that holds for the very same value alone."""
        return self._dialect.exactly(column, kind)


class HostDatabase:
    """An open database of a host's. `run` hands a store function what it reads it through."""

    def __init__(self, engine: Engine, dialect: type[HostDialect]) -> None:
        self.engine = engine
        self._dialect = dialect
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="memoranda-host")

    @classmethod
    def at(cls, url: str, *, seconds: float = SECONDS) -> Self:
        """The database at `url`, reached at the first question. Raises `Invalid` for no such kind of URL."""
        address = database_url(url)
        dialect = _dialect_of(address)
        engine = dialect.engine(address, threads=THREADS, seconds=seconds)
        return cls(engine, dialect)

    async def run(
        self,
        fn: Callable[Concatenate[HostReading, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `fn(reading, …)` on a thread. Raises `StorageBusy` for what took too long, `StorageUnavailable`."""

        def ask() -> T:
            try:
                with self.engine.connect() as connection:
                    return fn(HostReading(connection, self._dialect), *args, **kwargs)
            except SQLAlchemyError as error:
                raise self._failure(error) from error

        return await asyncio.get_running_loop().run_in_executor(self._threads, ask)

    async def close(self) -> None:
        """Finish what runs, and give connections and threads back."""
        await asyncio.to_thread(self._threads.shutdown)
        self.engine.dispose()

    def _failure(self, error: SQLAlchemyError) -> BaseException:
        cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
        if self._dialect.too_slow(cause):
            return StorageBusy("The application's database did not answer in time: try again.")
        if self._dialect.misfits(cause):
            return HostMoved(
                "The application's tables are not what they were, or their columns do not go together: "
                f"try again, and correct the projection if it stays so. ({type(cause).__name__})"
            )
        return StorageUnavailable(
            "The application's database can't be read: check its address, its tables, and what its "
            f"role may read. ({type(cause).__name__})"
        )


def _dialect_of(address: str) -> type[HostDialect]:
    try:
        name = make_url(address).get_backend_name()
    except ArgumentError:
        name = "unreadable"
    if name == "sqlite":
        from memoranda.storage.dialects.host_sqlite import SqliteHost  # noqa: PLC0415 - only the one that is used

        return SqliteHost
    if name == "postgresql":
        try:
            from memoranda.storage.dialects.host_postgres import PostgresHost  # noqa: PLC0415 - needs the extra
        except ImportError as error:
            raise Invalid(
                "PostgreSQL needs its driver: install Memoranda with its extra, "
                "in a checkout as pip install '.[postgres]'."
            ) from error
        return PostgresHost
    raise Invalid(
        f"An application's database is SQLite or PostgreSQL, not {name!r}: "
        "use sqlite:///file or postgresql://…."
    )
