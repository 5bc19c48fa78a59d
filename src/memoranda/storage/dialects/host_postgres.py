"""A host's PostgreSQL database, on connections whose transactions are read-only."""

from typing import ClassVar, Final

import psycopg
from sqlalchemy import create_engine, text
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
    " ELSE t.typname END AS type"
    " FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid"
    " LEFT JOIN pg_catalog.pg_collation c ON c.oid = a.attcollation"
    " WHERE a.attrelid = pg_catalog.to_regclass(:named) AND a.attnum > 0 AND NOT a.attisdropped"
)


class PostgresHost(HostDialect):
    """A server that is asked with a role of the host's own choice."""

    collation: ClassVar[str] = "C"
    texts_are_exact: ClassVar[bool] = True

    @classmethod
    def engine(cls, url: str, *, threads: int, seconds: float) -> Engine:
        milliseconds = max(1, int(seconds * 1000))
        options = f"-c default_transaction_read_only=on -c statement_timeout={milliseconds}"
        return create_engine(
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

    @staticmethod
    def too_slow(error: BaseException) -> bool:
        return isinstance(error, psycopg.errors.QueryCanceled | psycopg.errors.LockNotAvailable)
