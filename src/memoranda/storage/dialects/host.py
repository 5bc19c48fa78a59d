"""The port of a host's own database, which is read and never written: in what databases differ there."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal

from sqlalchemy import Text, cast, collate
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.sql.elements import ColumnElement

ColumnKind = Literal["text", "integer", "uuid", "number", "boolean", "time", "bytes", "other"]
"""What a column holds, as far as it matters to who reads it."""


class HostDialect(ABC):
    """How one kind of database is reached read-only, and what it says of its tables."""

    collation: ClassVar[str]
    """The collation under which texts are equal only where their characters are."""
    texts_are_exact: ClassVar[bool]
    """Whether a column of the kind `text` compares so by itself."""

    @classmethod
    @abstractmethod
    def engine(cls, url: str, *, threads: int, seconds: float) -> Engine:
        """Connections that can't write, at most `threads`, whose statements end after `seconds`."""

    @classmethod
    @abstractmethod
    def columns(cls, connection: Connection, table: str) -> dict[str, ColumnKind]:
        """The columns of a table or view and what each holds; none where there is no such table."""

    @classmethod
    @abstractmethod
    def before(cls, connection: Connection) -> None:
        """Called before each statement."""

    @classmethod
    @abstractmethod
    def holds(cls, connection: Connection, value: object, /) -> bool:
        """Whether the database can hold a value, so that it may be asked for: none of its rows has another."""

    @staticmethod
    @abstractmethod
    def too_slow(error: BaseException) -> bool:
        """Whether the driver's error means that a statement was ended for its time."""

    @staticmethod
    @abstractmethod
    def misfits(error: BaseException) -> bool:
        """Whether the driver's error means that a table or column is not there, or holds something else."""

    @classmethod
    def exactly(cls, column: ColumnElement[Any], kind: ColumnKind) -> ColumnElement[Any]:
        """The column for a comparison that holds for the very same value alone, whatever its collation."""
        if kind in {"integer", "uuid"} or (kind == "text" and cls.texts_are_exact):
            return column  # a collation of its own would keep its index out
        text: ColumnElement[Any] = column if kind == "text" else cast(column, Text())
        return collate(text, cls.collation)
