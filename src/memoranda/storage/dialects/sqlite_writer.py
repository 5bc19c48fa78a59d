"""SQLite's one writer: what is queued together goes into one durable commit, and each write stands alone."""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from memoranda.storage.dialects.crew import closed
from memoranda.storage.dialects.sqlite_connection import SqliteCursor, look_while_running
from memoranda.storage.work import Work, deliver

if TYPE_CHECKING:
    from memoranda.storage.dialects.base import Backend

# One commit carries about this many writes, so that the first of them does not wait for ever.
BATCH: Final = 128

T = TypeVar("T")
_Batch: TypeAlias = list[Work[Any]]
_Errand: TypeAlias = Callable[[], None]


class Writer:
    """Owns the writing connection and its thread.

    A write that fails takes back only itself. Where SQLite takes back the whole
    transaction (an interrupted statement, a full disk), the writes of the batch
    that were fine run again: nothing has been acknowledged yet.
    """

    def __init__(self, backend: "Backend", connect: Callable[[], sqlite3.Connection]) -> None:
        self._backend = backend
        self._connect = connect
        self._turns: dict[asyncio.AbstractEventLoop, _Batch] = {}
        self._queue: SimpleQueue[_Batch | _Errand | None] = SimpleQueue()
        self._lock = Lock()
        self._closed = False
        self._reconnect()
        self._thread = Thread(target=self._run, name="memoranda-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Work[Any]) -> None:
        """Queue a write, together with all others of this turn of its event loop.

        The tasks that one commit woke up write again in one turn, so that they
        share the next commit instead of the first of them having one for itself.
        """
        if self._closed:
            raise closed()
        turn = self._turns.get(work.loop)
        if turn is None:
            self._turns[work.loop] = [work]
            work.loop.call_soon(self._flush, work.loop)
        else:
            turn.append(work)

    def _flush(self, loop: asyncio.AbstractEventLoop) -> None:
        batch = self._turns.pop(loop)
        with self._lock:
            if not self._closed:
                self._queue.put(batch)
                return
        for work in batch:
            work.fail(closed())
            work.resolve()

    def close(self) -> None:
        """Commit what is queued and end the thread. Blocks."""
        with self._lock:
            self._closed = True
            self._queue.put(None)
        self._thread.join()

    def between_commits(self, errand: Callable[[], T]) -> T:
        """Run `errand` on the writer's thread, when no write is under way. Blocks, and raises what it raises."""
        done: Future[T] = Future()

        def run() -> None:
            try:
                done.set_result(errand())
            except BaseException as error:  # noqa: BLE001 - the thread outlives whatever happens
                done.set_exception(error)

        with self._lock:
            if self._closed:
                raise closed()
            self._queue.put(run)
        return done.result()

    def _run(self) -> None:
        stopping = False
        while not stopping:
            waiting, errand, stopping = self._gather()
            self._commit_in_pieces(waiting)
            if errand is not None:
                errand()
        self._connection.close()

    def _gather(self) -> tuple[_Batch, _Errand | None, bool]:
        """Wait for what comes next: the writes that are queued by then, what comes after them, whether it ends."""
        waiting: _Batch = []
        item = self._queue.get()
        while isinstance(item, list):
            waiting += item
            if len(waiting) >= BATCH:
                return waiting, None, False
            try:
                item = self._queue.get_nowait()
            except Empty:
                return waiting, None, False
        return waiting, item, item is None

    def _commit_in_pieces(self, waiting: _Batch) -> None:
        for start in range(0, len(waiting), BATCH):
            piece = waiting[start : start + BATCH]
            try:
                self._commit(piece)
            except BaseException as error:  # noqa: BLE001 - the thread outlives whatever happens
                self._roll_back()
                for work in piece:
                    work.fail(self._backend.failure(error))
            deliver(piece)

    def _commit(self, waiting: _Batch) -> None:
        """Settle every write: kept, or failed by itself."""
        waiting = self._transaction(waiting, careful=False)
        while waiting:
            waiting = self._transaction(waiting, careful=True)

    def _transaction(self, waiting: _Batch, *, careful: bool) -> _Batch:
        """Run and commit once; the answer is those to run again, because all were taken back.

        A careful run puts each write into a savepoint. Most batches need none: few
        writes fail, and most that do have changed nothing yet.
        """
        try:
            self._cursor.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            return self._fail(waiting, error)
        done: _Batch = []
        for position, work in enumerate(waiting):
            if work.cancelled:
                continue
            before = self._connection.total_changes
            if self._run_one(work, savepoint=careful):
                done.append(work)
            elif not careful and self._connection.total_changes != before:
                self._roll_back()
            if not self._connection.in_transaction:
                return done + waiting[position + 1 :]
        try:
            self._cursor.execute("COMMIT" if done else "ROLLBACK")
        except sqlite3.Error as error:
            self._roll_back()
            return self._fail(done, error)
        return []

    def _run_one(self, work: Work[Any], *, savepoint: bool) -> bool:
        """Run one write in the open transaction; whether it stands. With a savepoint, a failed one is taken back."""
        cursor = self._cursor
        if savepoint:
            cursor.execute("SAVEPOINT one_write")
        self._look.work = work
        try:
            work.succeed(self._backend.run(work, cursor))
        except BaseException as error:  # noqa: BLE001 - whatever the function raised belongs to its caller
            self._look.work = None
            work.fail(self._backend.failure(error))
            if savepoint and self._connection.in_transaction:
                cursor.execute("ROLLBACK TO one_write")
                cursor.execute("RELEASE one_write")
            return False
        self._look.work = None
        if savepoint:
            cursor.execute("RELEASE one_write")
        return True

    def _fail(self, waiting: _Batch, error: sqlite3.Error) -> _Batch:
        for work in waiting:
            work.fail(self._backend.failure(error))
        return []

    def _roll_back(self) -> None:
        """Leave the transaction; a connection that can't even do that is given up for a new one."""
        try:
            if self._connection.in_transaction:
                self._connection.rollback()
        except sqlite3.Error:
            self._connection.close()
            self._reconnect()

    def _reconnect(self) -> None:
        self._connection = self._connect()
        self._cursor = self._connection.cursor(SqliteCursor)
        self._look = look_while_running(self._connection)
