"""The port: everything in which the databases differ, and nothing else."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy.engine import Connection, Dialect

from memoranda.storage.scope import Scope
from memoranda.storage.statements import Statements
from memoranda.storage.transaction import Cursor, Transaction
from memoranda.storage.work import Work


class Backend(ABC):
    """One open database: threads that run whole transactions, and its own ways of locking and failing."""

    dialect: ClassVar[Dialect]

    def __init__(self, url: str, clock: Callable[[], datetime]) -> None:
        self.url = url
        self.clock = clock
        self.statements = Statements(self.dialect)

    @abstractmethod
    def open(self) -> None:
        """Connect and start the threads; raises what `storage.errors` names. Blocks."""

    @abstractmethod
    def close(self) -> None:
        """Finish what is queued, then give every thread and connection back. Blocks."""

    @abstractmethod
    def submit_read(self, work: Work[Any]) -> None:
        """Queue a transaction that sees one moment and writes nothing."""

    @abstractmethod
    def submit_write(self, work: Work[Any]) -> None:
        """Queue a transaction that is acknowledged only when it is durable; it may run more than once."""

    @staticmethod
    @abstractmethod
    def lock(cursor: Cursor, key: str) -> None:
        """Hold `key` until the transaction ends, waiting for whoever holds it."""

    @staticmethod
    @abstractmethod
    def failure(error: Exception) -> Exception:
        """The storage error that a driver's error means; any other error comes back as it is."""

    @staticmethod
    @abstractmethod
    def install(connection: Connection) -> None:
        """Put in place, again and again without harm, what tables alone can't say: triggers, row security."""

    def transaction(self, scope: Scope, cursor: Cursor) -> Transaction:
        """A transaction over an open cursor, at the clock's time."""
        return Transaction(scope, self.clock(), cursor, self.statements, self.lock)
