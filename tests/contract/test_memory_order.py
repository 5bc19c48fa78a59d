"""Writes that need two memories take them in one order, on every database, so that none waits for ever."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from memoranda.memories import store
from memoranda.memories.candidate import Author, Edit
from memoranda.memories.heads import store as heads
from memoranda.memories.models import Memory
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.storage import Storage, Transaction
from memoranda.words.errors import Conflict
from tests.contract.clocks import SteppedClock
from tests.contract.tenants import Tenant, new_tenant
from tests.postgres import ADMIN, Postgres, database_of

TONE = "preference.tone"
HOUR = timedelta(hours=1)
DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = %s"


@pytest.fixture
async def acme(timed_storage: Storage) -> Tenant:
    return await new_tenant(timed_storage)


@pytest.fixture
def deadlocks(request: pytest.FixtureRequest, database_url: str) -> Callable[[], int]:
    """How many the server broke up; it tells of them once the connections are closed."""

    def count() -> int:
        if database_url.startswith("sqlite:"):  # it has one writer at a time
            return 0
        server: Postgres = request.getfixturevalue("postgres")
        with psycopg.connect(server.url("postgres", ADMIN)) as connection:
            found = connection.execute(DEADLOCKS, (database_of(database_url),)).fetchone()
        assert found is not None
        return int(found[0])

    return count


async def in_turn(
    storage: Storage, acme: Tenant, memory_ids: list[UUID], write: Awaitable[Memory]
) -> Memory:
    """Do `write` while another write holds the first of these memories and is about to hold the others.

    As a merge and a removal do, which take them in the order of their ids.
    """
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hold_slowly(tx: Transaction) -> None:
        for memory_id in sorted(memory_ids):
            tx.one(heads.HELD, memory=memory_id)
            loop.call_soon_threadsafe(begun.set)
            time.sleep(0.3)

    slow = asyncio.create_task(storage.write(acme.owner.organization_id, hold_slowly))
    await begun.wait()
    done = await write
    await slow
    return done


async def test_moves_towards_each_other_are_all_refused_at_once(
    database_url: str, storage: Storage, deadlocks: Callable[[], int]
) -> None:
    acme = await new_tenant(storage)
    memories = Memories(storage)
    shared = await memories.remember(acme.owner, "Be brief", attribute=TONE)
    annas = await memories.remember(acme.owner, "Be kind", attribute=TONE, user_id=acme.anna.id)
    opened = [await Storage.open(database_url) for _ in range(12)]
    for _ in range(5):
        refused: list[Any] = await asyncio.gather(
            *[
                Memories(each).update(acme.owner, shared.id, user_id=acme.anna.id)
                if number % 2
                else Memories(each).update(acme.owner, annas.id, user_id=None)
                for number, each in enumerate(opened)
            ],
            return_exceptions=True,
        )
        assert {type(each) for each in refused} == {Conflict}
    for each in opened:
        await each.close()
    assert len((await memories.page(acme.owner)).items) == 2
    assert deadlocks() == 0


@pytest.mark.parametrize("attribute", [None, TONE])
async def test_a_move_onto_an_expired_memory_takes_its_turn(
    timed_storage: Storage,
    acme: Tenant,
    clock: SteppedClock,
    deadlocks: Callable[[], int],
    attribute: str | None,
) -> None:
    memories = Memories(timed_storage)
    anna = {"user_id": acme.anna.id}
    expired = await memories.remember(
        acme.owner, "Be brief", attribute=attribute, expires_at=clock.now + HOUR, **anna
    )
    shared = await memories.remember(acme.owner, "Be brief", attribute=attribute)
    clock.tick(HOUR)
    move = memories.update(acme.owner, shared.id, **anna)
    moved = await in_turn(timed_storage, acme, [expired.id, shared.id], move)
    assert (moved.id, moved.version) == (expired.id, 2)
    assert [each.id for each in (await memories.page(acme.owner)).items] == [expired.id]
    await timed_storage.close()
    assert deadlocks() == 0


@pytest.mark.parametrize("verb", ["edit", "restore"])
async def test_what_ends_an_expired_memory_takes_its_turn(
    timed_storage: Storage,
    acme: Tenant,
    clock: SteppedClock,
    deadlocks: Callable[[], int],
    verb: str,
) -> None:
    memories = Memories(timed_storage)
    expired = await memories.remember(acme.owner, "first", expires_at=clock.now + HOUR)
    other = await memories.remember(acme.owner, "tea" if verb == "edit" else "coffee")
    if verb == "edit":
        write = memories.update(acme.owner, other.id, text="coffee")
    else:
        await memories.forget(acme.owner, other.id)
        write = memories.restore(acme.owner, other.id)
    await memories.update(acme.owner, expired.id, text="coffee")
    clock.tick(HOUR)
    done = await in_turn(timed_storage, acme, [expired.id, other.id], write)
    assert done.text == "coffee"
    assert [each.id for each in (await memories.page(acme.owner)).items] == [other.id]
    ended = (await memories.history(acme.owner, expired.id))[-1]
    assert ended.continued_by_id == other.id
    await timed_storage.close()
    assert deadlocks() == 0


@pytest.mark.parametrize("first", ["tea", "coffee"])
async def test_a_write_whose_other_memory_was_changed_meanwhile_looks_again(
    timed_storage: Storage, acme: Tenant, clock: SteppedClock, first: str
) -> None:
    """While an edit waits for an expired memory of its text, somebody forgets that one."""
    memories = Memories(timed_storage)
    soon = clock.now + HOUR
    made = {
        text: await memories.remember(
            acme.owner, text, expires_at=soon if text == "coffee" else None
        )
        for text in (first, *{"tea", "coffee"} - {first})
    }
    expired, other = made["coffee"], made["tea"]
    clock.tick(HOUR)
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def forget_slowly(tx: Transaction) -> None:
        store.hold(tx, [expired.id])
        loop.call_soon_threadsafe(begun.set)
        time.sleep(0.3)
        store.forget(tx, expired.id, _author(acme), Ways())

    slow = asyncio.create_task(timed_storage.write(acme.owner.organization_id, forget_slowly))
    await begun.wait()
    # Straight at the storage: it need not lose a race to find out.
    done = await timed_storage.write(
        acme.owner.organization_id,
        store.change,
        other.id,
        Edit(text="coffee"),
        _author(acme),
        Ways(),
    )
    await slow
    assert (done.version, done.text) == (2, "coffee")
    versions = [each.continued_by_id for each in await memories.history(acme.owner, expired.id)]
    assert versions == [None, None], "it was forgotten by then, and is not ended once more"


def _author(acme: Tenant) -> Author:
    return Author(user_id=acme.owner.user_id)
