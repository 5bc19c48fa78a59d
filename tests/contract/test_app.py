"""What the joined product promises on every database."""

import asyncio
import threading

import anyio
import pytest

from memoranda import Memoranda
from memoranda.memories.models import MemorySearch
from memoranda.settings import Settings
from memoranda.storage import SchemaMismatch
from memoranda.words.errors import DuplicateMemory, Invalid, Unavailable
from tests.postgres import Postgres


async def test_the_first_opening_makes_an_owner_and_later_ones_find_it(database_url: str) -> None:
    async with Memoranda.open(database_url) as first:
        owner = first.owner
        kept = await first.memories.remember(owner, "Invoices go out on the first.")
    async with Memoranda.open(database_url) as second:
        assert second.owner == owner
        assert (await second.memories.get(owner, kept.id)).text == kept.text


async def test_what_is_remembered_added_and_said_comes_together_in_a_brief(
    database_url: str,
) -> None:
    async with Memoranda.open(database_url) as memoranda:
        who = memoranda.owner
        anna = (await memoranda.access.create_user(who, "Anna")).id
        await memoranda.memories.remember(who, "Invoices go out on the first.")
        await memoranda.memories.remember(who, "Anna likes short answers.", user_id=anna)
        await memoranda.knowledge.add(
            who, b"# Invoices\n\nAn invoice is due in thirty days.\n", title="invoices.md"
        )
        await memoranda.worker.drain()
        brief = await memoranda.briefs.build(who, "When is an invoice due?", user_id=anna)
    for part in ("on the first", "short answers", "thirty days"):
        assert part in brief.text
    assert brief.failed_sources == []


async def test_a_source_gets_the_time_that_the_settings_give(database_url: str) -> None:
    settings = Settings.load(source_timeout_s=0.000_001)
    async with Memoranda.open(database_url, settings=settings) as memoranda:
        brief = await memoranda.briefs.build(memoranda.owner, "anything")
    assert "memory" in brief.failed_sources


async def test_a_cancelled_block_still_writes_what_was_acknowledged(database_url: str) -> None:
    started = asyncio.Event()

    async def work() -> None:
        async with Memoranda.open(database_url) as memoranda:
            await memoranda.memories.remember(memoranda.owner, "Cranes are tall.")
            started.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with Memoranda.open(database_url) as memoranda:
        page = await memoranda.memories.page(memoranda.owner)
    assert [each.text for each in page.items] == ["Cranes are tall."]


async def test_a_cancelled_block_gives_every_thread_back(database_url: str) -> None:
    before = set(threading.enumerate())
    with anyio.CancelScope() as scope:
        async with Memoranda.open(database_url):
            scope.cancel()
            await asyncio.sleep(60)
    left = set(threading.enumerate()) - before
    assert not [thread.name for thread in left if thread.name.startswith("memoranda")]


async def test_a_database_without_a_schema_is_opened_only_with_migration(
    tmp_path_factory: pytest.TempPathFactory, postgres: Postgres
) -> None:
    for url in (
        str(tmp_path_factory.mktemp("empty") / "memoranda.db"),
        postgres.new_database(),
    ):
        with pytest.raises((SchemaMismatch, Unavailable)):
            async with Memoranda.open(url, migrate=False):
                pass
        async with Memoranda.open(url) as memoranda:
            assert memoranda.owner.organization_id
        async with Memoranda.open(url, migrate=False) as memoranda:
            assert memoranda.settings.db == url


async def test_another_kind_of_database_is_refused() -> None:
    with pytest.raises(Invalid):
        async with Memoranda.open("mysql://localhost/memoranda"):
            pass


async def test_an_opened_product_that_works_finds_by_meaning_what_was_just_remembered(
    database_url: str,
) -> None:
    async with Memoranda.open(database_url, migrate=False, work=True) as memoranda:
        await memoranda.memories.remember(memoranda.owner, "Orders ship from Leipzig.")
        with anyio.fail_after(30):
            while not (await search(memoranda)).results:  # noqa: ASYNC110 - the worker tells nobody
                await anyio.sleep(0.05)


async def search(memoranda: Memoranda) -> MemorySearch:
    return await memoranda.memories.search(memoranda.owner, "where are parcels shipped from?")


async def test_what_is_raised_beside_the_worker_comes_out_as_it_is(database_url: str) -> None:
    with pytest.raises(DuplicateMemory):
        await remember_twice(database_url)


async def remember_twice(url: str) -> None:
    async with Memoranda.open(url, migrate=False, work=True) as memoranda:
        for _ in range(2):
            await memoranda.memories.remember(memoranda.owner, "Orders ship from Leipzig.")
