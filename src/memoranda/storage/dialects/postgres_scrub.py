"""Takes out of PostgreSQL's own tables what it has copied there from rows that were deleted since."""

from typing import Final

from memoranda.storage.dialects.postgres_cursor import PostgresConnection
from memoranda.storage.dialects.postgres_session import LOCK_SECONDS
from memoranda.storage.tables import METADATA

# Of a table without rows no samples are taken, and the old ones would stay.
CLEAR_SAMPLES: Final = """
SELECT pg_clear_attribute_stats(nspname, relname, attname, false)
FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_attribute ON attrelid = pg_class.oid
WHERE pg_class.oid = ANY(%s::regclass[]) AND reltuples = 0 AND attnum > 0 AND NOT attisdropped
AND has_table_privilege(pg_class.oid, 'MAINTAIN')
"""
CAN_CLEAR: Final = 180000
"""The server's version from which on it can be told to."""


def sample_anew(connection: PostgresConnection) -> None:
    """Let the planner take new samples of every table, in which values of deleted rows are to be read.

    What the server's files hold besides is another matter: it overwrites them in its own time.
    """
    tables = list(METADATA.tables)
    connection.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'")
    connection.execute(f"ANALYZE {', '.join(tables)}".encode())
    if connection.info.server_version >= CAN_CLEAR:
        connection.execute(CLEAR_SAMPLES, (tables,))
