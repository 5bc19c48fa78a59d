"""A database of the first landed schema is brought up to date with nothing lost, and works like a new one."""

import asyncio
from typing import Literal

import pytest

from memoranda.app import Memoranda
from memoranda.memories.models import MemoryStatus
from memoranda.settings import Settings
from memoranda.words.errors import DuplicateMemory
from tests.contract.old_rows import old_database


@pytest.fixture
def old(empty: str) -> str:
    old_database(empty)
    return empty


async def test_what_was_remembered_before_the_upgrade_is_listed_counted_and_found(old: str) -> None:
    async with Memoranda.open(old, settings=Settings(embedder="none")) as memoranda:
        who, memories = memoranda.owner, memoranda.memories
        listed = await memories.page(who)
        assert {each.text for each in listed.items} == {
            "Deliveries take ten working days",
            "The name is B",
        }
        stats = await memories.stats(who)
        assert (stats.active, stats.forgotten, stats.pinned, stats.proposed) == (2, 1, 0, 0)
        await memoranda.embedding.sweep(who.organization_id)
        found = await memories.search(who, "how long do deliveries take")
        assert [each.memory.text for each in found.results] == ["Deliveries take ten working days"]


@pytest.mark.parametrize("embedder", ["none", "bundled"])
async def test_a_worker_alone_makes_old_memories_found_within_seconds(
    old: str, embedder: Literal["none", "bundled"]
) -> None:
    settings = Settings(embedder=embedder)
    query = "how long do deliveries take"
    async with Memoranda.open(old, settings=settings) as memoranda:
        found = await memoranda.memories.search(memoranda.owner, query)
        assert (found.results, found.semantic) == ((), False)
    async with Memoranda.open(old, settings=settings, work=True) as memoranda, asyncio.timeout(20):
        who, memories = memoranda.owner, memoranda.memories
        meant = embedder == "bundled"
        found = await memories.search(who, query)
        while not found.results or found.semantic != meant:
            await asyncio.sleep(0.05)
            found = await memories.search(who, query)
        assert [each.memory.text for each in found.results] == ["Deliveries take ten working days"]
        assert found.results[0].match.words


async def test_draining_is_enough_too(old: str) -> None:
    async with Memoranda.open(old, settings=Settings(embedder="bundled")) as memoranda:
        assert await memoranda.worker.drain()
        assert memoranda.owner.organization_id is not None
        progress = await memoranda.embedding.progress(memoranda.owner.organization_id)
        assert progress is not None
        assert (progress.made, progress.waiting) == (2, 0)


async def test_old_chains_go_on(old: str) -> None:
    async with Memoranda.open(old, settings=Settings(embedder="none")) as memoranda:
        who, memories = memoranda.owner, memoranda.memories
        with pytest.raises(DuplicateMemory):
            await memories.remember(who, "deliveries take ten working days")
        named = await memories.remember(who, "The name is C", attribute="observation.name")
        assert named.version == 3
        forgotten = (await memories.page(who, status=MemoryStatus.FORGOTTEN)).items
        assert [each.text for each in forgotten] == ["The mill in Hexham closes on Mondays"]
        restored = await memories.restore(who, forgotten[0].id)
        assert (restored.version, restored.status) == (3, MemoryStatus.ACTIVE)
        assert (await memories.stats(who)).active == 3
