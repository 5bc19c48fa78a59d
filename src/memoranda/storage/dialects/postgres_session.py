"""One PostgreSQL connection and how a transaction runs on it: begun, cancelled, tried again, ended."""

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import psycopg
from psycopg import errors
from psycopg.pq import ExecStatus

from memoranda.storage.dialects.postgres_cursor import COMMIT, PostgresConnection, PostgresCursor
from memoranda.storage.dialects.postgres_schema import SETTING
from memoranda.storage.errors import LostRace, StorageUnavailable
from memoranda.storage.scope import Scope
from memoranda.storage.work import Work, deliver
from memoranda.words.chance import spread

if TYPE_CHECKING:
    from memoranda.storage.dialects.base import Backend

# How long a transaction waits for a lock before it answers storage_busy.
LOCK_SECONDS: Final = 10
# How often a write that lost a race it could not see (deadlock, serialization) runs again.
TRIES: Final = 6
CANCEL_SECONDS: Final = 5


class Session:
    """One thread's connection: made when first needed, and made anew after it was lost."""

    def __init__(self, backend: "Backend", connect: Callable[[], PostgresConnection]) -> None:
        self._backend = backend
        self._connect = connect
        self._connection: PostgresConnection | None = None

    def serve(self, work: Work[Any]) -> None:
        """Run one transaction, again after a lost race, and keep its outcome in `work`."""
        for number in range(TRIES):
            try:
                work.succeed(self._once(work))
            except BaseException as error:  # noqa: BLE001 - whatever the function raised belongs to its caller
                lost = error if isinstance(error, LostRace) else self._backend.failure(error)
                work.fail(self._backend.failure(lost))
                if not isinstance(lost, LostRace):
                    return
                time.sleep(spread(0.01 * 2**number))
            else:
                return

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()

    def _once(self, work: Work[Any]) -> Any:
        connection = self._begun(work)
        try:
            if not work.begin(lambda: _cancel_soon(connection, work)):
                _command(connection, b"ROLLBACK")
                return None
            value = self._backend.run(work, self._cursor)
            if not work.writes:
                self._answer(connection, work, value)
                return value
            # What is sent may run until now, and so can be cancelled until now.
            _commit(connection, self._cursor)
            work.end()
        except BaseException:
            work.end()
            _roll_back(connection, self._cursor)
            raise
        finally:
            # A cancel request may still be under way: no other transaction gets this connection.
            if work.cancelled:
                connection.close()
        return value

    def _answer(self, connection: PostgresConnection, work: Work[Any], value: Any) -> None:
        """Hand out what was read, and then end the transaction: it keeps nothing that anybody would wait for."""
        work.end()
        work.succeed(value)
        deliver([work])
        try:
            if self._cursor.under_way:  # what was said of the session, and not of any row
                self._cursor.commit()
            else:
                _command(connection, COMMIT.encode())
        except psycopg.Error:
            connection.close()

    def _begun(self, work: Work[Any]) -> PostgresConnection:
        """A connection on which the transaction has begun; a dead one is found out and replaced here."""
        begin = _begin(work.scope, writes=work.writes)
        if self._connection is not None and not self._connection.closed:
            try:
                _command(self._connection, begin)
            except psycopg.OperationalError:
                self._connection.close()
            else:
                return self._connection
        self._connection = self._connect()
        self._cursor = PostgresCursor(self._connection)
        _command(self._connection, begin)
        return self._connection


def _command(connection: PostgresConnection, sql: bytes) -> None:
    """Run what takes no parameters and returns no rows, without the costs of a cursor.

    Two of these go around each transaction, so their cost is felt.
    """
    result = connection.pgconn.exec_(sql)
    if result.status != ExecStatus.COMMAND_OK:
        error = errors.error_from_result(result)
        # A lost connection comes without a code, and so without a class of its own.
        raise psycopg.OperationalError(str(error)) if connection.closed else error


def _begin(scope: Scope, *, writes: bool) -> bytes:
    """One round trip that opens the transaction and says whose it is; nothing in it comes from outside."""
    organization = str(scope) if isinstance(scope, UUID) else "platform"
    mode = "READ COMMITTED READ WRITE" if writes else "REPEATABLE READ READ ONLY"
    return (
        f"BEGIN ISOLATION LEVEL {mode}; SET LOCAL lock_timeout = '{LOCK_SECONDS}s'; "
        f"SET LOCAL {SETTING} = '{organization}'"
    ).encode()


def _commit(connection: PostgresConnection, cursor: PostgresCursor) -> None:
    """Keep what was written; whatever was sent and not yet answered goes ahead, and fails as itself."""
    try:
        if cursor.under_way:
            cursor.commit()
        else:
            _command(connection, COMMIT.encode())
    except psycopg.Error as error:
        if connection.closed:
            raise StorageUnavailable(
                "The connection to PostgreSQL was lost during the commit, so the write may or may "
                "not have been kept: look before you write it again.",
                outcome="unknown",
            ) from error
        raise


def _roll_back(connection: PostgresConnection, cursor: PostgresCursor) -> None:
    try:
        failed = cursor.drop()
        if connection.closed:
            return
        if failed:
            connection.rollback()  # the driver's own also forgets what is prepared
        else:
            _command(connection, b"ROLLBACK")
    except psycopg.Error:
        connection.close()


def _cancel_soon(connection: PostgresConnection, work: Work[Any]) -> None:
    """Called on the event loop, which the network must not hold up."""
    Thread(target=_cancel, args=(connection, work), name="memoranda-cancel", daemon=True).start()


def _cancel(connection: PostgresConnection, work: Work[Any]) -> None:
    """Ask until the work has ended: a request that comes between two statements stops neither."""
    while not (work.ended or connection.closed):
        with suppress(psycopg.Error):  # the server can't be asked just now
            connection.cancel_safe(timeout=CANCEL_SECONDS)
        time.sleep(0.1)
