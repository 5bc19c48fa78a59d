"""A host's PostgreSQL database, on connections whose transactions are read-only."""

from typing import Any, ClassVar, Final

import psycopg
from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format
from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import Connection, Engine, make_url

from memoranda.storage.dialects.host import ColumnKind, HostDialect

_KINDS: Final[dict[str, ColumnKind]] = {
    **dict.fromkeys(("int2", "int4", "int8"), "integer"),
    **dict.fromkeys(("text", "varchar"), "text"),
    **dict.fromkeys(("float4", "float8", "numeric"), "number"),
    **dict.fromkeys(("date", "timestamp", "timestamptz"), "time"),
    "uuid": "uuid",
    "bool": "boolean",
    "bytea": "bytes",
}
_COLUMNS: Final = text(
    "SELECT a.attname AS name, CASE WHEN c.collisdeterministic IS FALSE THEN 'loose'"
    " ELSE coalesce(d.typname, t.typname) END AS type"
    " FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid"
    " LEFT JOIN pg_catalog.pg_type d ON d.oid = t.typbasetype"
    " LEFT JOIN pg_catalog.pg_collation c ON c.oid = a.attcollation"
    " WHERE a.attrelid = pg_catalog.to_regclass(:named) AND a.attnum > 0 AND NOT a.attisdropped"
)
# Their values are more than Python's own types can hold, or than their bytes are texts; 0 is any other type.
_STRANGE: Final = (
    *("date", "time", "timetz", "timestamp", "timestamptz", "interval"),
    *("json", "jsonb", "text", "varchar", "bpchar", "name", 0),
)


class PostgresHost(HostDialect):
    """A server that is asked with a role of the host's own choice."""

    collation: ClassVar[str] = "C"
    texts_are_exact: ClassVar[bool] = True

    @classmethod
    def engine(cls, url: str, *, threads: int, seconds: float) -> Engine:
        milliseconds = max(1, int(seconds * 1000))
        options = f"-c default_transaction_read_only=on -c statement_timeout={milliseconds}"
        engine = create_engine(
            make_url(url).set(drivername="postgresql+psycopg"),
            connect_args={
                "options": options,
                "connect_timeout": 5,
                "application_name": "memoranda",
            },
            pool_size=threads,
            max_overflow=0,
            pool_pre_ping=True,
            isolation_level="AUTOCOMMIT",
        )

        @event.listens_for(engine, "do_connect")
        def _reads_all(dialect: Any, _record: Any, given: Any, named: Any) -> Any:
            made = dialect.connect(*given, **named)
            _read_all(made)
            return made

        return engine

    @classmethod
    def before(cls, connection: Connection) -> None:
        """The server itself looks at the time."""

    @classmethod
    def columns(cls, connection: Connection, table: str) -> dict[str, ColumnKind]:
        named = ".".join(f'"{part}"' for part in table.split("."))
        return {
            row.name: _KINDS.get(row.type, "other")
            for row in connection.execute(_COLUMNS, {"named": named})
        }

    @classmethod
    def holds(cls, connection: Connection, value: object, /) -> bool:
        if not isinstance(value, str):
            return True
        driver: Any = connection.connection.driver_connection
        try:
            value.encode(_encoding(driver))
        except UnicodeEncodeError:
            return False
        return True

    @staticmethod
    def too_slow(error: BaseException) -> bool:
        return isinstance(error, psycopg.errors.QueryCanceled | psycopg.errors.LockNotAvailable)

    @staticmethod
    def misfits(error: BaseException) -> bool:
        forbidden = isinstance(error, psycopg.errors.InsufficientPrivilege)
        return isinstance(error, psycopg.ProgrammingError) and not forbidden


def _read_all(made: psycopg.Connection[Any]) -> None:
    """Let a value that its type in Python can't hold, as `infinity`, be the text that the server writes."""
    for name in _STRANGE:
        oid = name if isinstance(name, int) else made.adapters.types[name].oid
        own = made.adapters.get_loader(oid, Format.TEXT)
        if own is not None:
            made.adapters.register_loader(oid, _as_written(own))


def _encoding(made: Any) -> str:
    """In what the connection writes texts: UTF-8 where the database (SQL_ASCII) does not look at them."""
    named: str = made.info.encoding if made else "utf-8"
    return "utf-8" if named == "ascii" else named


def _as_written(own: Any) -> type[Loader]:
    class AsWritten(Loader):
        def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
            super().__init__(oid, context)
            self._own = own(oid, context)
            self._encoding = _encoding(self.connection)

        def load(self, data: Buffer) -> Any:
            try:
                read = self._own.load(data)
            except (psycopg.Error, ValueError, ArithmeticError, RecursionError):
                read = bytes(data)
            return read.decode(self._encoding, "replace") if isinstance(read, bytes) else read

    return AsWritten
