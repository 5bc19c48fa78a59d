"""SQLite's one writer: each queued write in its own savepoint, all of them in one durable commit."""

import sqlite3
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from memoranda.storage.work import Work

if TYPE_CHECKING:
    from memoranda.storage.dialects.base import Backend

# One commit carries at most this many writes, so that the first of them does not wait for ever.
BATCH: Final = 128


class Writer:
    """Owns the writing connection and runs on its own thread.

    A write that fails takes back only itself. Where SQLite takes back the whole
    transaction (an interrupted statement, a full disk), the writes of the batch
    that were fine run again: nothing has been acknowledged yet.
    """

    def __init__(self, backend: "Backend", connection: sqlite3.Connection) -> None:
        self._backend = backend
        self._connection = connection
        self._cursor = connection.cursor()

    def run(self, queue: SimpleQueue[Work[Any] | None]) -> None:
        """Commit batch after batch until a None comes; what was queued before it is still written."""
        stopping = False
        while not stopping:
            batch = [queue.get()]
            while len(batch) < BATCH:
                try:
                    batch.append(queue.get_nowait())
                except Empty:
                    break
            stopping = None in batch
            self._commit([work for work in batch if work is not None])
        self._connection.close()

    def _commit(self, waiting: list[Work[Any]]) -> None:
        while waiting:
            done: list[tuple[Work[Any], Any]] = []
            try:
                self._cursor.execute("BEGIN IMMEDIATE")
                again = self._run_each(waiting, done)
                if self._connection.in_transaction:
                    self._cursor.execute("COMMIT")
            except sqlite3.Error as error:
                self._roll_back()
                failure = self._backend.failure(error)
                for work in waiting:
                    work.fail(failure)
                return
            if again is None:
                Work.settle(done)
                return
            waiting = again

    def _run_each(
        self, waiting: list[Work[Any]], done: list[tuple[Work[Any], Any]]
    ) -> list[Work[Any]] | None:
        """Run every write; the answer is None, or those to run again because all were taken back."""
        for position, work in enumerate(waiting):
            if not work.begin(self._connection.interrupt):
                continue
            self._cursor.execute("SAVEPOINT one_write")
            try:
                value = work.run(self._backend.transaction(work.scope, self._cursor))
            except Exception as error:  # noqa: BLE001 - whatever the function raised belongs to its caller
                work.end()
                work.fail(self._backend.failure(error))
                if not self._connection.in_transaction:
                    return [earlier for earlier, _ in done] + waiting[position + 1 :]
                self._cursor.execute("ROLLBACK TO one_write")
                self._cursor.execute("RELEASE one_write")
            else:
                work.end()
                self._cursor.execute("RELEASE one_write")
                done.append((work, value))
        return None

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.rollback()
