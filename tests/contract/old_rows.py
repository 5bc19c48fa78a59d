"""Rows as the first landed schema (0007) held them, written past every layer of the product."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from alembic import command
from sqlalchemy import MetaData, Table
from sqlalchemy.engine import Connection

from memoranda.memories.candidate import digest
from memoranda.storage.dialects import postgres_schema
from memoranda.storage.schema import alembic_config, migration_engine
from memoranda.words.ids import new_id
from memoranda.words.text import fold

OLD: Final = "0007"
NOW: Final = datetime.now(UTC) - timedelta(hours=1)


def old_database(url: str) -> UUID:
    """Make a database of the old schema, with an organization that remembers; answer its id."""
    if url.startswith("sqlite"):
        Path(url.removeprefix("sqlite:///")).parent.mkdir(parents=True, exist_ok=True)
    engine = migration_engine(url)
    with engine.begin() as connection:
        command.upgrade(alembic_config(connection), OLD)
        organization_id = _fill(connection)
    engine.dispose()
    return organization_id


def _fill(connection: Connection) -> UUID:
    rows = _Rows(connection)
    organization_id, owner_id = new_id(), new_id()
    rows.add(
        "organizations", id=organization_id, name="Oak & Sons", owner_id=owner_id, is_default=True
    )
    rows.add("users", id=owner_id, organization_id=organization_id, name="Owner")
    rows.remember(organization_id, "Deliveries take ten working days")
    rows.remember(organization_id, "The name is A", "The name is B", key="observation.name")
    rows.remember(organization_id, "The mill in Hexham closes on Mondays", forgotten=True)
    return organization_id


class _Rows:
    """Writes rows by the columns that the tables have in the database itself."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tables = MetaData()
        self._tables.reflect(connection)

    def add(self, table: str, **values: Any) -> None:
        made = {"created_at": NOW, **values}
        columns = self._tables.tables[table].c
        self._connection.execute(
            self._tables.tables[table].insert(),
            {name: _plain(columns[name].type, value) for name, value in made.items()},
        )

    def remember(
        self, organization_id: UUID, *said: str, key: str | None = None, forgotten: bool = False
    ) -> None:
        memory_id = new_id()
        revisions: list[str | None] = [*said, *([None] if forgotten else [])]
        ids = [new_id() for _ in revisions]
        folded = None if forgotten else fold(said[-1])
        self.add(
            "memories",
            id=memory_id,
            organization_id=organization_id,
            audience="all",
            subject_key=f"organization:{organization_id}:{key}" if key else None,
            subject_refs="[]",
            pinned=False,
            head_id=ids[-1],
            version=len(ids),
            live=not forgotten,
            folded=folded,
            folded_digest=digest(folded) if folded else None,
            recorded_at=NOW,
        )
        for number, text in enumerate(revisions):
            self.add(
                "memory_revisions",
                id=ids[number],
                organization_id=organization_id,
                memory_id=memory_id,
                version=number + 1,
                supersedes_id=ids[number - 1] if number else None,
                text=text,
                tags=json.dumps([]),
                origin="user",
                forgotten_at=None if text else NOW,
            )


def hold_to_rows(connection: Connection, *tables: Table) -> None:
    """Row security on these tables of PostgreSQL, as every start leaves it: their owner is held to its rows too."""
    if connection.dialect.name == "sqlite":
        return
    connection.exec_driver_sql(postgres_schema._FUNCTIONS)
    for table in tables:
        for statement in postgres_schema._row_security(table):
            connection.exec_driver_sql(statement)


def _plain(kind: Any, value: Any) -> Any:
    """The value as the column holds it: a file keeps ids as 32 digits and times as microseconds."""
    if isinstance(value, datetime) and "INT" in str(kind):
        return round(value.timestamp() * 1_000_000)
    if isinstance(value, UUID) and "CHAR" in str(kind):
        return value.hex
    return value
