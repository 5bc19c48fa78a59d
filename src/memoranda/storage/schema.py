"""Brings a database to this version's schema, once, whoever asks first."""

from pathlib import Path
from typing import Any, Final

from sqlalchemy import create_engine, event
from sqlalchemy.engine import Connection, Engine, make_url
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from memoranda.storage import version
from memoranda.storage.database import backend_of, database_url
from memoranda.storage.dialects.base import Backend
from memoranda.storage.errors import SchemaMismatch

MIGRATIONS: Final = Path(__file__).parent / "migrations"
HEAD: Final = version.HEAD


def migrate(url: str) -> None:
    """Create or upgrade the schema at `url`; does nothing when it is there. Blocks.

    Two processes that start together wait for each other. Raises
    `StorageUnavailable` when nothing answers, `UnsafeRole` before it makes
    anything with a role that could look past row security, `SchemaMismatch`
    when the database was made by a newer version, and `ForeignDatabase` before it changes
    anything in one that another program made.
    """
    backend = backend_of(url)
    if _is_file(url):
        Path(make_url(database_url(url)).database or "").parent.mkdir(parents=True, exist_ok=True)
    if backend.schema_version(database_url(url)) == HEAD:
        return
    engine = migration_engine(url)
    try:
        with engine.begin() as connection:
            backend.lock_schema(connection)
            _upgrade(connection, backend)
    except OperationalError as error:
        raise backend.failure(error.orig or error) from error
    finally:
        engine.dispose()


def _upgrade(connection: Connection, backend: type[Backend]) -> None:
    from alembic import command  # noqa: PLC0415 - half a second that only an upgrade needs
    from alembic.util.exc import CommandError  # noqa: PLC0415 - for an upgrade alone

    try:
        command.upgrade(alembic_config(connection), "head")
    except CommandError as error:
        raise SchemaMismatch(
            "The database was made by a newer Memoranda: upgrade this one, or use another database."
        ) from error
    backend.install(connection)


def alembic_config(connection: Connection) -> Any:
    """Alembic's settings for a connection that is open already."""
    from alembic.config import Config  # noqa: PLC0415 - for an upgrade alone

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config


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
