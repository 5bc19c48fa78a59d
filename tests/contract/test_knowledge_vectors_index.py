"""PostgreSQL's index of the nearest: used where there are many, right for a scope of one row in a hundred."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
import psycopg
import pytest

from memoranda.knowledge.vectors import store
from memoranda.knowledge.vectors.store import Near, nearest
from memoranda.storage import PLATFORM, Scope, Storage, Transaction, migrate
from memoranda.storage.dialects import postgres_vectors
from memoranda.storage.dialects.postgres import CONNECTIONS
from tests.contract.storage_rows import new_organization
from tests.contract.vector_rows import Rows, add_source, set_status, unit_rows
from tests.postgres import Postgres

DIMENSIONS = 256
FEW, MANY = 60, 5_940
"""The rows of a scope, and of all the others: one in a hundred is the scope's."""
WANTED = 20
QUESTIONS = 25


@dataclass(frozen=True)
class Crowd:
    """A database in which one scope's vectors stand among a hundred times as many of others."""

    storage: Storage
    url: str
    ours: UUID
    sources: list[UUID]


@pytest.fixture(scope="module")
def crowded(postgres: Postgres) -> str:
    """An empty database of the module's own."""
    url = postgres.new_database()
    migrate(url)
    return url


@pytest.fixture
async def crowd(crowded: str) -> AsyncIterator[Crowd]:
    storage = await Storage.open(crowded)
    ours = await _ours(storage, crowded)
    sources = await storage.read(
        ours, lambda tx: [row.id for row in tx.all(store.PARTS, of_model="m")]
    )
    yield Crowd(storage, crowded, ours, sources)
    await storage.close()


_MADE: dict[str, UUID] = {}


async def _ours(storage: Storage, url: str) -> UUID:
    """Fill the database at the first call; the index is made after its rows, which is quicker."""
    if url not in _MADE:
        name = postgres_vectors.index_name(DIMENSIONS)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"DROP INDEX {name}".encode())
        ours = await new_organization(storage, "ours")
        others: list[Scope] = [await new_organization(storage, f"{n}") for n in range(10)]
        others += [PLATFORM]
        for number in range(4):
            await storage.write(ours, add_source, clustered(FEW // 4, number))
        for number, scope in enumerate(others):
            await storage.write(scope, add_source, clustered(MANY // 11, 100 + number))
        with psycopg.connect(url, autocommit=True) as connection:
            for statement in postgres_vectors.statements():
                connection.execute(statement.encode())
            connection.execute("ANALYZE")
        _MADE[url] = ours
    return _MADE[url]


def clustered(count: int, seed: int) -> Rows:
    """Rows around a few hundred places, as texts stand around their subjects."""
    places = unit_rows(300, 9_999, DIMENSIONS)
    rows = places[np.random.default_rng(seed).integers(0, 300, count)]
    rows = rows + 0.6 * unit_rows(count, seed, DIMENSIONS)
    unit: Rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit


def by_index(tx: Transaction, query: Rows, mode: str | None = None) -> list[Any]:
    """What the index alone finds, however few."""
    if mode is not None:
        tx._cursor.execute(f"SET LOCAL hnsw.iterative_scan = {mode}")
    packed = query.astype("<f2").tobytes()
    return tx.in_order(store.INDEXED[DIMENSIONS], of_model="m", query=packed, most=WANTED)


async def recall(crowd: Crowd, mode: str | None = None) -> float:
    """The part of the nearest that the index finds, of all questions."""
    found = 0
    for seed in range(QUESTIONS):
        query = clustered(1, 5_000 + seed)[0]
        exact = await crowd.storage.read(crowd.ours, nearest, "m", query, WANTED)
        rows = await crowd.storage.read(crowd.ours, by_index, query, mode)
        wanted = {(each.source_id, each.ordinal) for each in exact}
        assert len(wanted) == WANTED
        found += len(wanted & {(row.source_id, row.ordinal) for row in rows})
    return found / (WANTED * QUESTIONS)


async def test_the_index_is_right_for_a_scope_of_one_row_in_a_hundred(crowd: Crowd) -> None:
    assert await recall(crowd) >= 0.9


async def test_without_going_on_the_index_would_lose_most_of_them(crowd: Crowd) -> None:
    """What every session sets is what keeps the promise above."""
    assert await recall(crowd, "off") < 0.5


async def test_every_session_goes_on_looking(crowd: Crowd) -> None:
    def mode(tx: Transaction) -> str:
        tx._cursor.execute("SELECT current_setting('hnsw.iterative_scan')")
        return str(tx._cursor.fetchone()[0])

    assert await crowd.storage.read(crowd.ours, mode) == "relaxed_order"
    assert await crowd.storage.write(crowd.ours, mode) == "relaxed_order"


async def test_what_the_index_finds_has_exact_cosines_and_is_in_order(crowd: Crowd) -> None:
    for seed in range(QUESTIONS):
        query = clustered(1, 7_000 + seed)[0]
        exact = await crowd.storage.read(crowd.ours, nearest, "m", query, FEW)
        found = await crowd.storage.read(crowd.ours, nearest, "m", query, WANTED, exact=0)
        assert len(found) == WANTED
        assert set(found) <= set(exact)
        assert found == sorted(found, key=order)


def order(near: Near) -> tuple[float, UUID, int]:
    return -near.cosine, near.source_id, near.ordinal


async def test_where_the_index_gives_up_all_are_compared(crowd: Crowd) -> None:
    def asked(tx: Transaction, query: Rows) -> list[Near]:
        tx._cursor.execute("SET LOCAL hnsw.iterative_scan = off")
        return nearest(tx, "m", query, WANTED, exact=0)

    query = clustered(1, 8_000)[0]
    exact = await crowd.storage.read(crowd.ours, nearest, "m", query, WANTED)
    assert await crowd.storage.read(crowd.ours, asked, query) == exact


async def test_some_sources_are_looked_in_alone_by_the_index_too(crowd: Crowd) -> None:
    some = crowd.sources[:2]
    query = clustered(1, 8_001)[0]
    ask = partial(nearest, model="m", query=query, most=10, source_ids=some)
    exact = await crowd.storage.read(crowd.ours, ask)
    found = await crowd.storage.read(crowd.ours, ask, exact=0)
    assert len(found) == 10
    assert {each.source_id for each in found} <= set(some)
    assert len(set(found) & set(exact)) >= 9


async def test_a_source_that_is_not_ready_any_more_is_in_the_index_and_not_found(
    crowd: Crowd,
) -> None:
    gone = crowd.sources[0]
    await crowd.storage.write(crowd.ours, set_status, gone, "pending")
    query = clustered(1, 8_002)[0]
    found = await crowd.storage.read(crowd.ours, nearest, "m", query, 40, exact=0)
    await crowd.storage.write(crowd.ours, set_status, gone, "ready")
    assert len(found) == 40
    assert gone not in {each.source_id for each in found}


def plan_of(tx: Transaction, statement: Any, dimensions: int | None) -> str:
    """How PostgreSQL answers, row security and the joins to the source included."""
    given = {} if dimensions is None else {"of_dimensions": dimensions}
    query = clustered(1, 1)[0].astype("<f2").tobytes()
    asked = {"of_model": "m", "query": query, "most": WANTED, **given}
    prepared = tx._prepare(statement, ())
    tx._cursor.execute(f"EXPLAIN {prepared.sql}", prepared.parameters(tx.scope, asked))
    rows = tx._cursor.fetchall()
    return "\n".join(str(row[0]) for row in rows)


async def test_many_are_found_by_the_index_and_few_are_all_compared(crowd: Crowd) -> None:
    def indexed(tx: Transaction) -> str:
        tx._port.sorts(tx._cursor, allowed=False)
        return plan_of(tx, store.INDEXED[DIMENSIONS], None)

    plan = await crowd.storage.read(crowd.ours, indexed)
    assert f"Index Scan using {postgres_vectors.index_name(DIMENSIONS)}" in plan
    assert "SubPlan" in plan  # row security, asked of the rows that the index gives
    plan = await crowd.storage.read(crowd.ours, plan_of, store.COMPARED, DIMENSIONS)
    assert "one_vector_per_chunk_and_model" in plan
    assert "hnsw" not in plan
    assert "_near_" not in plan


async def test_the_index_is_used_before_the_server_knows_how_many_rows_there_are(
    postgres_database: str,
) -> None:
    storage = await Storage.open(postgres_database)
    ours = await new_organization(storage)
    await storage.write(ours, add_source, clustered(100, 1))

    def indexed(tx: Transaction, *, sorts: bool) -> str:
        tx._port.sorts(tx._cursor, allowed=sorts)
        return plan_of(tx, store.INDEXED[DIMENSIONS], None)

    assert "_near_" in await storage.read(ours, indexed, sorts=False)
    assert "_near_" not in await storage.read(ours, indexed, sorts=True)
    await storage.close()


async def test_chunks_at_known_places_are_looked_up_and_not_searched_for(crowd: Crowd) -> None:
    """Row security lets no value of a function into an index, so how the places are given matters."""

    def plan(tx: Transaction) -> str:
        places = [(source, 1) for source in crowd.sources]
        prepared = tx._prepare(store.AT_PLACES, ())
        asked = prepared.parameters(tx.scope, {"of_model": "m", "places": places})
        tx._cursor.execute(f"EXPLAIN {prepared.sql}", asked)
        return "\n".join(str(row[0]) for row in tx._cursor.fetchall())

    found = await crowd.storage.read(crowd.ours, plan)
    scan = found.partition("one_vector_per_chunk_and_model")[2].partition("Filter")[0]
    assert "Index Cond" in scan
    assert "(ordinal = " in scan
    assert "Seq Scan on knowledge_vectors" not in found


async def test_the_index_is_asked_above_the_limit_alone(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    ask = Transaction.in_order

    def noted(tx: Transaction, statement: Any, /, **values: Any) -> Any:
        asked.append(statement)
        return ask(tx, statement, **values)

    monkeypatch.setattr(Transaction, "in_order", noted)
    query = clustered(1, 8_003)[0]
    await crowd.storage.read(crowd.ours, nearest, "m", query, 10, exact=FEW)
    assert not asked
    await crowd.storage.read(crowd.ours, nearest, "m", query, 10, exact=FEW - 1)
    assert asked == [store.INDEXED[DIMENSIONS]]


async def test_a_connection_outlives_what_was_said_of_its_sorting(crowd: Crowd) -> None:
    """What is sent behind the last statement of a read ends with that read, and not with the connection."""

    def state(tx: Transaction) -> tuple[int, str]:
        tx._cursor.execute("SELECT pg_backend_pid(), current_setting('enable_sort')")
        number, sorts = tx._cursor.fetchone()
        return int(number), str(sorts)

    query = clustered(1, 1)[0]
    seen = set()
    for _ in range(40):
        await crowd.storage.read(crowd.ours, by_index, query)
        seen.add(await crowd.storage.read(crowd.ours, state))
    assert {sorts for _, sorts in seen} == {"on"}
    assert len(seen) <= CONNECTIONS
