"""PostgreSQL: a pool of connections, row-level security on every transaction, statements that can be cancelled."""

import time
from collections.abc import Callable
from datetime import datetime
from queue import SimpleQueue
from threading import Thread
from typing import Any, ClassVar, Final, TypeAlias
from uuid import UUID

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import Connection, Dialect, make_url

from memoranda.storage.dialects import postgres_schema
from memoranda.storage.dialects.base import Backend
from memoranda.storage.errors import ConstraintViolated, StorageBusy, StorageUnavailable
from memoranda.storage.scope import Scope
from memoranda.storage.transaction import Cursor
from memoranda.storage.work import Work

THREADS: Final = 10
# How long a write waits for a lock, and a transaction for a connection, before it answers storage_busy.
LOCK_SECONDS: Final = 10
# How often a write that lost a race it could not see (deadlock, serialization) runs again.
TRIES: Final = 6
_RETRYABLE: Final = (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected)
_Queue: TypeAlias = SimpleQueue["tuple[Work[Any], bool] | None"]


class PostgresBackend(Backend):
    """One pool, one role that can't look past row security; each transaction names its organization."""

    dialect: ClassVar[Dialect] = PGDialect_psycopg(dbapi=psycopg)

    def __init__(self, url: str, clock: Callable[[], datetime]) -> None:
        super().__init__(url, clock)
        self._queue: _Queue = SimpleQueue()
        self._threads: list[Thread] = []
        self._pool: ConnectionPool[psycopg.Connection[tuple[Any, ...]]] = ConnectionPool(
            conninfo(url),
            min_size=1,
            max_size=THREADS,
            open=False,
            kwargs={"autocommit": True},
            timeout=LOCK_SECONDS,
        )

    def open(self) -> None:
        try:
            self._pool.open(wait=True, timeout=LOCK_SECONDS)
        except PoolTimeout as error:
            self._pool.close()
            raise StorageUnavailable(
                "PostgreSQL did not answer: check the database URL and its server."
            ) from error
        with self._pool.connection() as connection:
            postgres_schema.refuse_unsafe_role(connection)
        for number in range(THREADS):
            thread = Thread(target=self._serve, name=f"memoranda-postgres-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()
        self._pool.close()

    def submit_read(self, work: Work[Any]) -> None:
        self._queue.put((work, False))

    def submit_write(self, work: Work[Any]) -> None:
        self._queue.put((work, True))

    def _serve(self) -> None:
        while (item := self._queue.get()) is not None:
            work, writes = item
            try:
                value = self._attempts(work, writes=writes)
            except Exception as error:  # noqa: BLE001 - whatever the function raised belongs to its caller
                work.fail(self.failure(error))
            else:
                work.succeed(value)

    def _attempts(self, work: Work[Any], *, writes: bool) -> Any:
        for number in range(TRIES):
            try:
                with self._pool.connection() as connection:
                    return self._once(connection, work, writes=writes)
            except _RETRYABLE:
                if number == TRIES - 1:
                    raise
                time.sleep(0.005 * 2**number)
        return None

    def _once(
        self, connection: psycopg.Connection[tuple[Any, ...]], work: Work[Any], *, writes: bool
    ) -> Any:
        if not work.begin(lambda: _cancel(connection)):
            return None
        cursor = connection.cursor()
        try:
            cursor.execute(_begin(work.scope, writes=writes))
            value = work.run(self.transaction(work.scope, cursor))
            cursor.execute("COMMIT")
        except BaseException:
            work.end()
            if work.cancelled:
                # The cancel request may still be under way: no other transaction gets this connection.
                connection.close()
            elif not connection.closed:
                cursor.execute("ROLLBACK")
            raise
        work.end()
        return value

    @staticmethod
    def lock(cursor: Cursor, key: str) -> None:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (key,))

    @staticmethod
    def failure(error: Exception) -> Exception:
        if isinstance(error, psycopg.errors.IntegrityError | psycopg.errors.RaiseException):
            return ConstraintViolated(
                error.diag.constraint_name or error.diag.message_primary or "unknown"
            )
        if isinstance(error, psycopg.errors.LockNotAvailable | PoolTimeout | _RETRYABLE):
            return StorageBusy(
                "The database is busy with other writers. Nothing was written: try again."
            )
        if isinstance(error, psycopg.errors.DiskFull | psycopg.OperationalError):
            return StorageUnavailable(
                "PostgreSQL can't be reached or can't write. Nothing was written: try again."
            )
        return error

    @staticmethod
    def install(connection: Connection) -> None:
        for statement in postgres_schema.statements():
            connection.exec_driver_sql(statement)


def conninfo(url: str) -> str:
    """The address in the form that psycopg takes."""
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def _begin(scope: Scope, *, writes: bool) -> str:
    """One round trip that opens the transaction and says whose it is; nothing in it comes from outside."""
    organization = str(scope) if isinstance(scope, UUID) else "platform"
    mode = (
        f"BEGIN; SET LOCAL lock_timeout = '{LOCK_SECONDS}s'"
        if writes
        else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    )
    return f"{mode}; SET LOCAL {postgres_schema.SETTING} = '{organization}'"


def _cancel(connection: psycopg.Connection[tuple[Any, ...]]) -> None:
    if not connection.closed:
        connection.cancel_safe(timeout=LOCK_SECONDS)
