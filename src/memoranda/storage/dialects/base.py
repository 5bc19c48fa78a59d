"""The port: everything in which the databases differ, and nothing else."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import Table
from sqlalchemy.engine import Connection

from memoranda.storage.errors import LostRace
from memoranda.storage.scope import Scope
from memoranda.storage.statements import Dialects, Statements
from memoranda.storage.transaction import Cancelled, Cursor, Transaction
from memoranda.storage.work import Work


class Backend(ABC):
    """One open database: threads that run whole transactions, and its own ways of locking and failing."""

    dialects: ClassVar[Dialects]
    shared: ClassVar[bool]
    """Whether several processes may serve one database at once."""
    compares_vectors: ClassVar[bool]
    """Whether a statement can say how near vectors are: see `storage.vectors.Distance`."""

    def __init__(self, url: str, clock: Callable[[], datetime]) -> None:
        self.url = url
        self.clock = clock
        self.statements = Statements(self.dialects)
        self.memory: dict[str, Any] = {}

    @abstractmethod
    def open(self) -> None:
        """Connect and start the threads; raises what `storage.errors` names. Blocks."""

    @abstractmethod
    def close(self) -> None:
        """Finish what is queued, then give every thread and connection back. Blocks."""

    @abstractmethod
    def submit(self, work: Work[Any]) -> None:
        """Queue a transaction.

        A read sees one moment and writes nothing. A write is acknowledged only
        when it is durable, and may run more than once.
        """

    @abstractmethod
    def scrub(self) -> bool:
        """Leave no copies of deleted rows where the product can reach them; whether that was done. Blocks.

        False where it has to wait for others: ask again.
        """

    @abstractmethod
    def lock(self, cursor: Cursor, scope: Scope, key: str) -> None:
        """Hold the scope's `key` until the transaction ends, waiting for whoever holds it."""

    @abstractmethod
    def sorts(self, cursor: Cursor, *, allowed: bool) -> None:
        """Say whether what comes next in the transaction may be read whole and sorted, where an index is in order."""

    @staticmethod
    @abstractmethod
    def failure(error: BaseException) -> BaseException:
        """The storage error that a driver's error means; any other error comes back as it is.

        `ConstraintViolated` with an empty name means a foreign key that the driver doesn't name.
        """

    @staticmethod
    @abstractmethod
    def lock_schema(connection: Connection) -> None:
        """Until the transaction ends, hold off whoever wants to change the schema too.

        Raises `StorageUnavailable` where nothing may be made there.
        """

    @staticmethod
    @abstractmethod
    def install(connection: Connection) -> None:
        """Put in place, again and again without harm, what tables alone can't say: triggers, row security."""

    @staticmethod
    @abstractmethod
    def schema_version(url: str) -> str | None:
        """The schema's version, None where there is none. Blocks.

        Makes nothing. Raises `StorageUnavailable`, and `UnsafeRole` for a role that may not be used.
        """

    @abstractmethod
    def missing_parent(self, cursor: Cursor, table: Table, rows: Sequence[Any]) -> str:
        """The name of the foreign key that a write of `rows` to `table` broke."""

    def run(self, work: Work[Any], cursor: Cursor) -> Any:
        """Run the function in the open transaction of `cursor`, and answer its value.

        An error that the function swallowed is raised all the same: the database
        has given the transaction up, so it can't be kept.
        """
        transaction = Transaction(work.scope, self.clock(), cursor, self, work, writes=work.writes)
        try:
            value = work.run(transaction)
        except BaseException:
            broken = transaction.end()
            if isinstance(broken, LostRace | Cancelled):
                raise broken from None
            raise
        broken = transaction.end()
        if broken is not None:
            raise broken
        return value
