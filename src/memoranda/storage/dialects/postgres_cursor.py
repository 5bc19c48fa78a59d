"""What a transaction runs its statements through on PostgreSQL: sent writes wait for no answer of their own."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final, TypeAlias

import psycopg

PostgresConnection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

COMMIT: Final = "COMMIT"


class PostgresCursor:
    """Runs statements one by one; what is sent travels ahead of the next one, in its round trip.

    The connection is in pipeline mode from the first sent write to the next answer, and in no other
    moment: reads cost what they always did. The server takes what is sent in its order and, once
    something fails, skips all that follows until it is asked for an answer, a COMMIT too.
    """

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection
        # Binary: ids, times and above all vectors are half as long so, and need no reading of digits.
        self._asking = connection.cursor(binary=True)
        # Of its own, because the answers to what was sent come in between.
        self._sending = connection.cursor()
        self._pipe: AbstractContextManager[psycopg.Pipeline] | None = None
        self._failed = False
        self.fetchall = self._asking.fetchall
        self.fetchone = self._asking.fetchone

    @property
    def rowcount(self) -> int:
        """How many rows the last statement changed that was not sent."""
        return self._asking.rowcount

    @property
    def under_way(self) -> bool:
        """Whether something was sent that has not been answered."""
        return self._pipe is not None

    def execute(self, sql: Any, parameters: Any = None, /) -> None:
        """Run a statement, and raise what it met or what was sent before it."""
        self._answered(self._asking.execute, sql, parameters)

    def executemany(self, sql: Any, parameters: Any, /) -> None:
        """Run a statement once for each row, likewise."""
        self._answered(self._asking.executemany, sql, parameters)

    def send(self, sql: Any, parameters: Any = None, /) -> None:
        """Let a statement travel with the next; may raise what was sent before it."""
        self._sent(self._sending.execute, sql, parameters)

    def send_many(self, sql: Any, parameters: Any, /) -> None:
        """Send a statement once for each row, likewise."""
        self._sent(self._sending.executemany, sql, parameters)

    def commit(self) -> None:
        """Commit behind what is under way; where any of that fails, the server skips the commit too."""
        self._answered(self._sending.execute, COMMIT)

    def drop(self) -> bool:
        """Take in what is under way without a look at it; whether any of it failed in this transaction.

        If so the driver may believe that statements are prepared which were skipped: it has to forget them.
        """
        if self._pipe is not None:
            try:
                self._leave()
            except psycopg.Error:
                self._failed = True
        failed, self._failed = self._failed, False
        return failed

    def _sent(self, send: Callable[..., object], *statement: Any) -> None:
        if self._pipe is None:
            pipe = self._connection.pipeline()
            pipe.__enter__()
            self._pipe = pipe
        try:
            send(*statement)
        except psycopg.Error as error:
            self._failed = True
            raise self._named(error) from None

    def _answered(self, ask: Callable[..., object], *statement: Any) -> None:
        piped = self._pipe is not None
        try:
            ask(*statement)
            if piped:
                self._leave()
        except psycopg.Error as error:
            self._failed = piped
            raise self._named(error) from None

    def _leave(self) -> None:
        """Wait for all that is under way. Without an error of ours, so that the driver raises its own."""
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.__exit__(None, None, None)

    def _named(self, error: psycopg.Error) -> psycopg.Error:
        """The error, where a lost connection is told by its class: the server may have said something else."""
        if self._connection.closed and not isinstance(error, psycopg.OperationalError):
            return psycopg.OperationalError(str(error))
        return error
