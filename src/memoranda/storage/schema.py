"""Brings a database to this version's schema, once, whoever asks first."""

from pathlib import Path
from typing import Any, Final

from sqlalchemy import create_engine, event, inspect, select
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from memoranda.storage.database import backend_of, database_url
from memoranda.storage.errors import SchemaMismatch, StorageUnavailable

MIGRATIONS: Final = Path(__file__).parent / "migrations"
# The newest file in migrations/versions; a test holds the two together.
HEAD: Final = "0001"
_LOCK: Final = 0x6D656D6F  # any number that no other program uses


def migrate(url: str) -> None:
    """Create or upgrade the schema at `url`; does nothing when it is there. Blocks.

    Two processes that start together wait for each other. Raises
    `StorageUnavailable` when nothing answers and `SchemaMismatch` when the
    database was made by a newer version.
    """
    if _is_file(url):
        Path(make_url(database_url(url)).database or "").parent.mkdir(parents=True, exist_ok=True)
    engine = migration_engine(url)
    try:
        with engine.begin() as connection:
            if schema_version(connection) != HEAD:
                if connection.dialect.name == "postgresql":
                    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")
                _upgrade(connection, url)
    except OperationalError as error:
        raise StorageUnavailable(
            f"The database can't be opened: {error.orig}. Check its address."
        ) from error
    finally:
        engine.dispose()


def _upgrade(connection: Connection, url: str) -> None:
    from alembic import command  # noqa: PLC0415 - half a second that only an upgrade needs
    from alembic.util.exc import CommandError  # noqa: PLC0415

    try:
        command.upgrade(alembic_config(connection), "head")
    except CommandError as error:
        raise SchemaMismatch(
            "The database was made by a newer Memoranda: upgrade this one, or use another database."
        ) from error
    backend_of(url).install(connection)


def alembic_config(connection: Connection) -> Any:
    """Alembic's settings for a connection that is open already."""
    from alembic.config import Config  # noqa: PLC0415 - see _upgrade

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config


def schema_version(connection: Connection) -> str | None:
    """The revision that the database is at; None for an empty one."""
    from sqlalchemy import column, table  # noqa: PLC0415 - Alembic's own table, and nobody else's

    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(
        select(column("version_num")).select_from(table("alembic_version"))
    ).scalar()


def migration_engine(url: str) -> Engine:
    """An engine for schema changes alone; its SQLite transactions hold the write lock from the start."""
    address = make_url(database_url(url))
    if address.get_backend_name() == "postgresql":
        address = address.set(drivername="postgresql+psycopg")
    engine = create_engine(address, poolclass=NullPool)
    if address.get_backend_name() == "sqlite":

        @event.listens_for(engine, "connect")
        def _by_hand(connection: Any, _record: object) -> None:
            connection.isolation_level = None
            connection.execute("PRAGMA busy_timeout=10000")
            connection.execute("PRAGMA journal_mode=WAL")

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def _is_file(url: str) -> bool:
    return database_url(url).startswith("sqlite:")
