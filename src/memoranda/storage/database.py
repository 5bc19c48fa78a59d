"""The one way to a database: whole transactions, each held to one organization."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

import anyio
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from memoranda.settings import database_address
from memoranda.storage.dialects.base import Backend
from memoranda.storage.errors import StorageBusy, StorageUnavailable
from memoranda.storage.scope import PLATFORM, Scope
from memoranda.storage.signals import SCRUB, Signal, settle_all, signals
from memoranda.storage.transaction import Transaction
from memoranda.storage.work import Work
from memoranda.words.clock import system_clock
from memoranda.words.errors import Invalid, Unavailable

P = ParamSpec("P")
T = TypeVar("T")
logger = logging.getLogger(__name__)


class Storage:
    """An open database: SQLite in one process, PostgreSQL for many.

    `read` and `write` run a store function on a thread, as one transaction of
    one organization. The function takes the transaction first; it must have no
    effect beside it, because a write may run again after a lost race.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    @classmethod
    async def open(cls, url: str, *, clock: Callable[[], datetime] = system_clock) -> Self:
        """Open the database at `url`: `sqlite:///file`, a bare path, or `postgresql://…`.

        The schema must be there (`memoranda.storage.migrate`): `SchemaMismatch`
        says that it is not, or is another version's. Raises `Invalid` for another
        kind of URL, `UnsafeRole` for a PostgreSQL role that could look past row
        security, `StorageUnavailable` when nothing answers.
        """
        backend = backend_of(url)(database_url(url), clock)
        await asyncio.to_thread(backend.open)
        return cls(backend)

    @property
    def shared(self) -> bool:
        """Whether several processes may serve this database at once, and so have to count together."""
        return self._backend.shared

    @property
    def memory(self) -> dict[str, Any]:
        """What stores keep of the database in this process: see `Transaction.memory`."""
        return self._backend.memory

    async def close(self) -> None:
        """Finish what is queued and give everything back."""
        await asyncio.sleep(0)  # what this turn of the event loop submitted is queued after it
        await asyncio.to_thread(self._backend.close)

    async def read(
        self,
        scope: Scope,
        fn: Callable[Concatenate[Transaction, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `fn(transaction, …)` on one unchanging view of the scope's rows."""
        work = Work(scope, fn, args, kwargs, writes=False)
        self._backend.submit(work)
        return await work.result()

    async def write(
        self,
        scope: Scope,
        fn: Callable[Concatenate[Transaction, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `fn(transaction, …)` and return once what it wrote is durable; an error takes all of it back."""
        work = Work(scope, fn, args, kwargs, writes=True)
        self._backend.submit(work)
        return await work.result()

    async def take(
        self,
        scope: Scope,
        fn: Callable[[Transaction], T],
        /,
        *,
        give_back: Callable[[Transaction, Any], object],
    ) -> T:
        """As `write`, for work that the caller takes hold of under a lease.

        A caller that is cancelled before it knows what it took gives that back, unless it is None or
        False: a worker that is stopped in order keeps nobody waiting for the end of a lease.
        """
        work = Work(scope, fn, (), {}, writes=True)
        self._backend.submit(work)
        try:
            return await work.outcome()
        except asyncio.CancelledError:
            # A task group cancels again at every wait that is not shielded. What can't be given back is
            # another's once its lease is over.
            with anyio.CancelScope(shield=True), suppress(Unavailable):
                if taken := await work.outcome():
                    await self.write(scope, give_back, taken)
            raise

    async def scrub(self, *, left_for: timedelta | None = None) -> bool:
        """Finish what deletes for good have left to do: whether nothing of their rows is left.

        A transaction that deletes for good raises the signal `SCRUB`, which stays until this is
        done, whoever does it. False where a reader still needs an older state, another process
        writes, or the disk is full: nothing is lost, and a later call finishes. It writes a
        SQLite file anew (a second or two for 100 MB) while reads go on and writes wait. On
        PostgreSQL the rows and the planner's samples of them are gone, and no more is promised
        of the server's files. `left_for` leaves alone what others may still be about to finish.
        """
        try:
            seen = await self.read(PLATFORM, _to_scrub, left_for)
            if not seen:
                return True
            if not await asyncio.to_thread(self._backend.scrub):
                return False
            await self.write(PLATFORM, settle_all, SCRUB, seen)
        except (StorageBusy, StorageUnavailable) as error:
            logger.warning("Traces of deleted rows wait to be scrubbed: %s.", error.code)
            return False
        return True


def _to_scrub(tx: Transaction, left_for: timedelta | None) -> list[Signal]:
    raised = signals(tx, SCRUB)
    if left_for is None:  # the clock is not asked: it may have been set back since
        return raised
    return [each for each in raised if each.raised_at <= tx.now - left_for]


def database_url(url: str) -> str:
    """A full database URL; a bare path is a SQLite file, and `postgres://` is `postgresql://`.

    Raises `Invalid` for half an address, such as `sqlite:file`.
    """
    try:
        url = database_address(url)
    except ValueError as error:
        raise Invalid(str(error), field="db") from None
    if "://" not in url:
        path = str(Path(url).expanduser())
        return f"sqlite:///{path.replace('%', '%25').replace('?', '%3F')}"
    return url


def backend_of(url: str) -> type[Backend]:
    """The database that serves `url`; each is imported only when it is used."""
    try:
        name = make_url(database_url(url)).get_backend_name()
    except ArgumentError:
        name = "unreadable"
    if name == "sqlite":
        from memoranda.storage.dialects.sqlite import SqliteBackend  # noqa: PLC0415 - only the one that is used

        return SqliteBackend
    if name == "postgresql":
        try:
            from memoranda.storage.dialects.postgres import PostgresBackend  # noqa: PLC0415 - needs the extra
        except ImportError as error:
            raise Invalid(
                "PostgreSQL needs its driver: install Memoranda with its extra, "
                "in a checkout as pip install '.[postgres]'."
            ) from error
        return PostgresBackend
    raise Invalid(
        f"Databases are SQLite and PostgreSQL, not {name!r}: use sqlite:///file or postgresql://…."
    )
