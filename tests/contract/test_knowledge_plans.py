"""What a search has chosen is looked up by its place, however many documents there are beside it."""

from typing import Any
from uuid import UUID

import pytest

from memoranda.knowledge import store as knowledge
from memoranda.knowledge.vectors import store as vectors
from memoranda.storage import Storage, Transaction
from memoranda.words.ids import new_id
from tests.contract.storage_rows import new_organization


@pytest.mark.parametrize(
    "statement", [knowledge.CHUNKS, vectors.AT_PLACES], ids=["chunks", "vectors"]
)
async def test_sqlite_looks_places_up_and_walks_no_documents(
    sqlite_database: str, statement: Any
) -> None:
    storage = await Storage.open(sqlite_database)
    organization = await new_organization(storage)
    steps = await storage.read(organization, plan, statement, new_id())
    await storage.close()
    assert not [step for step in steps if step.startswith("SCAN knowledge")]
    looked_up = next(step for step in steps if "knowledge_" in step)
    assert "(source_id=? AND" in looked_up, "the first thing that is read"
    assert all("(id=?)" in step for step in steps if "SEARCH knowledge_sources" in step)


def plan(tx: Transaction, statement: Any, source: UUID) -> list[str]:
    prepared = tx._prepare(statement, ())
    asked = prepared.parameters(tx.scope, {"of_model": "m", "places": [(source, 0)]})
    tx._cursor.execute(f"EXPLAIN QUERY PLAN {prepared.sql}", asked)
    return [str(row[3]) for row in tx._cursor.fetchall()]
