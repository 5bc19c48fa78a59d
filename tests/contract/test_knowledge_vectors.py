"""The nearest chunks are those that numpy finds: of one scope, one model, and sources that are ready."""

from typing import Any
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import bindparam, delete

from memoranda.knowledge.active.store import pass_turn
from memoranda.knowledge.vectors.store import Near, cosines, nearest, put
from memoranda.storage import PLATFORM, ConstraintViolated, Scope, Storage, Transaction
from memoranda.storage.tables import knowledge_sources
from tests.contract.storage_rows import new_organization
from tests.contract.vector_rows import (
    Rows,
    add_source,
    drop,
    embed,
    halves,
    keep,
    kept,
    set_status,
    unit_rows,
)

REMOVE = delete(knowledge_sources).where(knowledge_sources.c.id == bindparam("source"))


@pytest.fixture
async def ours(storage: Storage) -> UUID:
    return await new_organization(storage, "ours")


@pytest.fixture
async def theirs(storage: Storage) -> UUID:
    return await new_organization(storage, "theirs")


def expected(sources: dict[UUID, Rows], query: Rows, most: int) -> list[Near]:
    """What comparing one by one finds."""
    asked = halves(query).astype(np.float64)
    every = [
        Near(source, ordinal, round(min(1.0, float(row.astype(np.float64) @ asked)), 6))
        for source, rows in sources.items()
        for ordinal, row in enumerate(halves(rows))
    ]
    return sorted(every, key=lambda each: (-each.cosine, each.source_id, each.ordinal))[:most]


def same(found: list[Near], wanted: list[Near]) -> bool:
    """Whether both are the same, but for the last digit of a cosine."""
    return [(each.source_id, each.ordinal) for each in found] == [
        (each.source_id, each.ordinal) for each in wanted
    ] and np.allclose([each.cosine for each in found], [each.cosine for each in wanted], atol=2e-6)


async def test_the_nearest_are_those_that_comparing_one_by_one_finds(
    storage: Storage, ours: UUID
) -> None:
    sources = {}
    for seed, count in enumerate((1, 40, 7, 100)):
        rows = unit_rows(count, seed, 48)
        sources[await storage.write(ours, add_source, rows)] = rows
    for seed in range(20):
        query = unit_rows(1, 100 + seed, 48)[0]
        for most in (1, 10, 148, 500):
            found = await storage.read(ours, nearest, "m", query, most)
            assert same(found, expected(sources, query, most))


async def test_a_scope_finds_its_own_chunks_alone(
    storage: Storage, ours: UUID, theirs: UUID
) -> None:
    rows = unit_rows(30, 1)
    scopes: list[Scope] = [ours, theirs, PLATFORM]
    sources = {scope: await storage.write(scope, add_source, rows) for scope in scopes}
    for scope, source in sources.items():
        found = await storage.read(scope, nearest, "m", rows[3], 90)
        assert same(found, expected({source: rows}, rows[3], 90))
        others = [(each, 3) for each in sources.values()]
        assert list(await storage.read(scope, cosines, "m", rows[3], others)) == [(source, 3)]
        strangers = [each for each in sources.values() if each != source]
        assert not await storage.read(scope, nearest, "m", rows[3], 90, source_ids=strangers)
    assert not await storage.read(await new_organization(storage, "new"), nearest, "m", rows[3], 90)


async def test_two_models_stand_side_by_side_and_never_mix(storage: Storage, ours: UUID) -> None:
    old, new = unit_rows(20, 1), unit_rows(20, 2)
    source = await storage.write(ours, add_source, old, ["old"])
    await storage.write(ours, embed, source, "new", new)
    for model, rows in (("old", old), ("new", new)):
        for seed in range(5):
            query = unit_rows(1, seed)[0]
            found = await storage.read(ours, nearest, model, query, 40)
            assert same(found, expected({source: rows}, query, 40))
            near = await storage.read(ours, cosines, model, query, [(source, 5)])
            assert near[source, 5] == next(each.cosine for each in found if each.ordinal == 5)
        assert await storage.read(ours, kept, source, model) == 20
    assert not await storage.read(ours, nearest, "other", old[0], 40)
    assert not await storage.read(ours, cosines, "other", old[0], [(source, 0)])


@pytest.mark.parametrize("status", ["pending", "failed"])
async def test_a_source_is_found_only_while_it_is_ready(
    storage: Storage, ours: UUID, status: str
) -> None:
    rows = unit_rows(10, 1)
    one = await storage.write(ours, add_source, rows)
    other = await storage.write(ours, add_source, rows)
    assert len(await storage.read(ours, nearest, "m", rows[0], 40)) == 20
    if status == "failed":
        await storage.write(ours, drop, one)
    else:
        await storage.write(ours, set_status, one, status)
    found = await storage.read(ours, nearest, "m", rows[0], 40)
    assert {each.source_id for each in found} == {other}
    assert list(await storage.read(ours, cosines, "m", rows[0], [(one, 0), (other, 0)])) == [
        (other, 0)
    ]


async def test_a_source_is_found_only_under_models_that_it_is_ready_under(
    storage: Storage, ours: UUID
) -> None:
    rows = unit_rows(10, 1)
    source = await storage.write(ours, add_source, rows)
    await storage.write(ours, embed, source, "next", rows, "pending")
    assert len(await storage.read(ours, nearest, "m", rows[0], 40)) == 10
    assert await storage.read(ours, kept, source, "next") == 10
    assert not await storage.read(ours, nearest, "next", rows[0], 40)
    assert not await storage.read(ours, cosines, "next", rows[0], [(source, 0)])


async def test_some_sources_are_looked_in_alone(storage: Storage, ours: UUID) -> None:
    sources = {}
    for seed in range(4):
        rows = unit_rows(15, seed)
        sources[await storage.write(ours, add_source, rows)] = rows
    query = unit_rows(1, 50)[0]
    for some in (list(sources)[:1], list(sources)[1:3], []):
        found = await storage.read(ours, nearest, "m", query, 20, source_ids=some)
        assert same(found, expected({each: sources[each] for each in some}, query, 20))
    stranger = UUID(int=7)
    assert not await storage.read(ours, nearest, "m", query, 20, source_ids=[stranger])


async def test_what_is_kept_again_takes_the_place_of_what_was_there(
    storage: Storage, ours: UUID
) -> None:
    """A step that was killed and runs again leaves nothing twice."""
    old, new = unit_rows(10, 1), unit_rows(6, 2)
    source = await storage.write(ours, add_source, old)
    assert len(await storage.read(ours, nearest, "m", old[0], 40)) == 10
    for _ in range(2):
        await storage.write(ours, keep, source, "m", 4, new)
    rows = np.concatenate([old[:4], new])
    assert await storage.read(ours, kept, source, "m") == 10
    found = await storage.read(ours, nearest, "m", new[3], 40)
    assert same(found, expected({source: rows}, new[3], 40))


async def test_vectors_that_are_dropped_and_renewed_are_gone_at_once(
    storage: Storage, ours: UUID
) -> None:
    old, new = unit_rows(10, 1), unit_rows(3, 2)
    source = await storage.write(ours, add_source, old, ["m", "other"])
    assert len(await storage.read(ours, nearest, "m", old[0], 40)) == 10
    await storage.write(ours, drop, source, "m")
    assert not await storage.read(ours, nearest, "m", old[0], 40)
    assert len(await storage.read(ours, nearest, "other", old[0], 40)) == 10
    await storage.write(ours, keep, source, "m", 0, new)
    found = await storage.read(ours, nearest, "m", old[0], 40)
    assert same(found, expected({source: new}, old[0], 40))
    await storage.write(ours, drop, source)
    for model in ("m", "other"):
        assert await storage.read(ours, kept, source, model) == 0
        assert not await storage.read(ours, nearest, model, old[0], 40)


async def test_a_removed_source_takes_its_vectors_with_it(storage: Storage, ours: UUID) -> None:
    rows = unit_rows(10, 1)
    source = await storage.write(ours, add_source, rows)
    assert len(await storage.read(ours, nearest, "m", rows[0], 40)) == 10

    def remove(tx: Transaction) -> None:
        tx.run(REMOVE, source=source)
        pass_turn(tx)

    await storage.write(ours, remove)
    assert not await storage.read(ours, nearest, "m", rows[0], 40)
    assert await storage.read(ours, kept, source, "m") == 0


async def test_nobody_changes_the_vectors_of_another_scope(
    storage: Storage, ours: UUID, theirs: UUID
) -> None:
    rows = unit_rows(5, 1)
    source = await storage.write(ours, add_source, rows)
    for scope in (theirs, PLATFORM):
        await storage.write(scope, drop, source)
        with pytest.raises(ConstraintViolated):
            await storage.write(scope, keep, source, "m", 0, rows)
        assert await storage.read(scope, kept, source, "m") == 0
    assert len(await storage.read(ours, nearest, "m", rows[0], 40)) == 5


async def test_a_text_that_the_model_makes_nothing_of_is_near_nothing(
    storage: Storage, ours: UUID
) -> None:
    rows = unit_rows(5, 1)
    rows[2] = 0
    source = await storage.write(ours, add_source, rows)
    found = await storage.read(ours, nearest, "m", rows[1], 40)
    assert sorted(each.ordinal for each in found) == [0, 1, 3, 4]
    assert (source, 2) not in await storage.read(ours, cosines, "m", rows[1], [(source, 2)])
    assert await storage.read(ours, kept, source, "m") == 5
    assert not await storage.read(ours, nearest, "m", np.zeros(8, np.float32), 40)
    assert not await storage.read(ours, cosines, "m", np.zeros(8, np.float32), [(source, 1)])


async def test_a_query_of_another_length_finds_nothing(storage: Storage, ours: UUID) -> None:
    source = await storage.write(ours, add_source, unit_rows(5, 1))
    query = unit_rows(1, 1, 16)[0]
    assert not await storage.read(ours, nearest, "m", query, 40)
    assert not await storage.read(ours, cosines, "m", query, [(source, 0)])


async def test_equal_cosines_go_by_source_and_ordinal(storage: Storage, ours: UUID) -> None:
    rows = np.repeat(unit_rows(1, 1), 30, axis=0)
    sources = sorted([await storage.write(ours, add_source, rows) for _ in range(3)])
    found = await storage.read(ours, nearest, "m", rows[0], 50)
    places = [(source, ordinal) for source in sources for ordinal in range(30)]
    assert [(each.source_id, each.ordinal) for each in found] == places[:50]


@pytest.mark.parametrize("model", [None, ""])
async def test_no_model_is_no_question(storage: Storage, ours: UUID, model: str | None) -> None:
    query = unit_rows(1, 1)[0]
    nameless: Any = model
    for asked in ((nearest, query, 5), (cosines, query, [(UUID(int=1), 0)])):
        ask: Any = asked[0]
        with pytest.raises(ValueError, match="one model"):
            await storage.read(ours, ask, nameless, *asked[1:])
    with pytest.raises(ValueError, match="one model"):
        await storage.write(ours, put, UUID(int=1), nameless, 0, unit_rows(1, 1))
