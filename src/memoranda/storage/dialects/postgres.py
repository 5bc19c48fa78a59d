"""PostgreSQL: a crew of connections, row-level security on every transaction, statements that can be cancelled."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Final

import psycopg
from psycopg import errors
from sqlalchemy import Integer, Table, Uuid
from sqlalchemy.dialects.postgresql.psycopg import (
    PGCompiler_psycopg,
    PGDialect_psycopg,
    PGIdentifierPreparer_psycopg,
)
from sqlalchemy.engine import Connection, Dialect, make_url

from memoranda.storage.compiler import ScopedCompiler, ScopedNames
from memoranda.storage.dialects import postgres_schema, postgres_scrub, postgres_vectors
from memoranda.storage.dialects.base import Backend
from memoranda.storage.dialects.crew import Crew
from memoranda.storage.dialects.postgres_cursor import PostgresConnection
from memoranda.storage.dialects.postgres_session import Session
from memoranda.storage.errors import ConstraintViolated, LostRace, StorageBusy, StorageUnavailable
from memoranda.storage.guard import GuardError
from memoranda.storage.scope import Scope
from memoranda.storage.statements import Dialects
from memoranda.storage.transaction import Cursor
from memoranda.storage.types import Contains, Joined, OneOf, OneOfPairs
from memoranda.storage.vectors import Distance, HasDimensions
from memoranda.storage.version import require_schema
from memoranda.storage.work import Work
from memoranda.words.errors import Invalid

CONNECTIONS: Final = 10
CONNECT_SECONDS: Final = 10
SCHEMA_LOCK: Final = 0x6D656D6F  # any number that no other program uses


class _Compiler(ScopedCompiler, PGCompiler_psycopg):
    platform = False

    def visit_one_of(self, element: OneOf, **kw: Any) -> str:
        column = self.process(element.column, **kw)
        return f"{column} = ANY({self.process(element.values, **kw)})"

    def visit_one_of_pairs(self, element: OneOfPairs, **kw: Any) -> str:
        first, second = self.process(element.first, **kw), self.process(element.second, **kw)
        kinds = [
            self.dialect.type_compiler_instance.process(column.type)
            for column in (element.first, element.second)
        ]
        parts = f"(value ->> 0)::{kinds[0]}, (value ->> 1)::{kinds[1]}"
        values = f"json_array_elements(CAST({self.process(element.values, **kw)} AS json))"
        # OFFSET keeps the casts within: row security lets only what can't tell values look rows up by an index.
        return f"({first}, {second}) IN (SELECT {parts} FROM {values} OFFSET 0)"  # noqa: S608 - a parameter, rendered

    def visit_joined(self, element: Joined, **kw: Any) -> str:
        form = {Uuid: "uuid_send({})", Integer: "int4send({})"}.get(type(element.column.type), "{}")
        return f"string_agg({form.format(self.process(element.column, **kw))}, ''::bytea)"

    def visit_contains(self, element: Contains, **kw: Any) -> str:
        column, needle = self.process(element.column, **kw), self.process(element.needle, **kw)
        # An empty text would be at place 1 of everything.
        return f"(coalesce(strpos({column}, nullif({needle}, '')), 0) > 0)"

    def render_distance(self, element: Distance, **kw: Any) -> str:
        column, query = self.process(element.column, **kw), self.process(element.query, **kw)
        kind = "halfvec" if element.dimensions is None else f"halfvec({element.dimensions})"
        # As the index has it, letter for letter, or it is not found.
        cast = column if element.dimensions is None else f"({column}::{kind})"
        return f"({cast} <#> CAST({query} AS {kind}))"

    def visit_has_dimensions(self, element: HasDimensions, **kw: Any) -> str:
        wanted = element.dimensions
        number = str(wanted) if isinstance(wanted, int) else self.process(wanted, **kw)
        return f"(vector_dims({self.process(element.column, **kw)}) = {number})"


class _PlatformCompiler(_Compiler):
    platform = True


class _Names(ScopedNames, PGIdentifierPreparer_psycopg):
    pass


class _Dialect(PGDialect_psycopg):
    supports_statement_cache = True
    statement_compiler = _Compiler
    preparer = _Names

    @classmethod
    def over(cls, driver: Any) -> Dialect:
        make: Any = cls  # its constructor is untyped
        dialect: Dialect = make(dbapi=driver)
        return dialect


class _PlatformDialect(_Dialect):
    supports_statement_cache = True
    statement_compiler = _PlatformCompiler


class PostgresBackend(Backend):
    """A few connections with a role that can't look past row security; each transaction names its organization."""

    dialects: ClassVar[Dialects] = Dialects(_Dialect.over(psycopg), _PlatformDialect.over(psycopg))
    shared = True
    compares_vectors = True

    def open(self) -> None:
        require_schema(self.schema_version(self.url))
        members = [Session(self, partial(connect, self.url)) for _ in range(CONNECTIONS)]
        self._crew = Crew("postgres", members)

    def close(self) -> None:
        self._crew.close()

    def submit(self, work: Work[Any]) -> None:
        self._crew.submit(work)

    def scrub(self) -> bool:
        try:
            with connect(self.url) as connection:
                postgres_scrub.sample_anew(connection)
        except psycopg.Error as error:
            raise self.failure(error) from error
        return True

    def lock(self, cursor: Cursor, scope: Scope, key: str) -> None:
        lock = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
        cursor.execute(lock, (f"{scope}:{key}",))

    def sorts(self, cursor: Cursor, *, allowed: bool) -> None:
        # Sent ahead of what it is about, so it costs no round trip.
        cursor.send(f"SET LOCAL enable_sort = {'on' if allowed else 'off'}")

    @staticmethod
    def failure(error: BaseException) -> BaseException:
        return next((make(error) for kinds, make in _MEANINGS if isinstance(error, kinds)), error)

    def missing_parent(self, cursor: Cursor, table: Table, rows: Sequence[Any]) -> str:  # noqa: ARG002 - the port's signature
        """PostgreSQL names its foreign keys, so this is never asked."""
        return "unknown"

    @staticmethod
    def lock_schema(connection: Connection) -> None:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({SCHEMA_LOCK})")
        postgres_schema.refuse_closed_schema(connection)
        postgres_schema.show_rows(connection)
        postgres_vectors.need_pgvector(connection)

    @staticmethod
    def install(connection: Connection) -> None:
        for statement in (*postgres_schema.statements(), *postgres_vectors.statements()):
            connection.exec_driver_sql(statement)

    @staticmethod
    def schema_version(url: str) -> str | None:
        try:
            with connect(url) as connection:
                postgres_schema.refuse_unsafe_role(connection)
                return postgres_schema.version(connection)
        except psycopg.OperationalError as error:
            refused = postgres_schema.refused_login(url, error)
            unreached = (
                f"PostgreSQL did not answer: check the database URL and its server. ({error})"
            )
            raise StorageUnavailable(refused or unreached) from error


def connect(url: str) -> PostgresConnection:
    """A new connection, on which transactions are begun and ended by hand."""
    connection = psycopg.connect(
        conninfo(url),
        autocommit=True,
        connect_timeout=CONNECT_SECONDS,
        client_encoding="utf-8",
    )
    # Every statement is a constant of a store, so all of them may stay prepared.
    connection.prepared_max = 1000
    # What is read again and again is in memory. The server's own guess of a turning disk makes it read
    # all that a short list could be of, and sort that, while a new table's sizes are unknown to it.
    connection.execute("SET random_page_cost = 1.1")
    postgres_vectors.prepare(connection)
    return connection


def conninfo(url: str) -> str:
    """The address in the form that psycopg takes."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def _constraint(error: psycopg.Error) -> str:
    """The constraint's name; NOT NULL has one only in newer servers, and gets the same here."""
    if isinstance(error, errors.NotNullViolation):
        return f"{error.diag.table_name}_{error.diag.column_name}_not_null"
    return error.diag.constraint_name or error.diag.message_primary or "unknown"


def _busy(_: BaseException) -> StorageBusy:
    return StorageBusy("The database is busy with other writers. Nothing was written: try again.")


def _unavailable(_: BaseException) -> StorageUnavailable:
    return StorageUnavailable(
        "PostgreSQL can't be reached or can't write. Nothing was written: try again."
    )


# To the driver a limit of the server is an operational error; trying again would meet it again.
_UNSTORABLE: Final = (
    psycopg.DataError,
    errors.ProgramLimitExceeded,
    errors.StatementTooComplex,
    UnicodeEncodeError,
)

# What a driver's error means: the first line that fits.
_MEANINGS: Final[Sequence[tuple[Any, Callable[[Any], BaseException]]]] = (
    ((errors.IntegrityError, errors.RaiseException), lambda e: ConstraintViolated(_constraint(e))),
    ((errors.SerializationFailure, errors.DeadlockDetected), lambda _: LostRace()),
    ((errors.LockNotAvailable, errors.QueryCanceled, LostRace), _busy),
    (errors.InsufficientPrivilege, lambda e: GuardError(f"PostgreSQL refused it: {e}")),
    (_UNSTORABLE, lambda e: Invalid(f"A value can't be stored: {e}.")),
    ((psycopg.OperationalError, psycopg.InterfaceError), _unavailable),
)
