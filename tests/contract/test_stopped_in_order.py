"""Whoever is stopped while it takes hold of work gives it back: nobody waits for the end of its lease."""

import asyncio
from datetime import timedelta
from threading import Event
from uuid import UUID

import anyio
import pytest

from memoranda import Memoranda
from memoranda.conversations.models import Message
from memoranda.settings import Settings
from memoranda.storage import Storage, Transaction
from tests.contract.storage_rows import add_user, names, new_organization


@pytest.mark.parametrize("grouped", [False, True])
async def test_what_was_taken_by_the_time_of_the_stop_is_given_back(
    storage: Storage, grouped: bool
) -> None:
    acme, other = await new_organization(storage), await new_organization(storage)
    inside, go_on = Event(), Event()

    def take(tx: Transaction) -> UUID:
        taken = add_user(tx, "taken")
        inside.set()
        assert go_on.wait(30)
        return taken

    def give_back(tx: Transaction, taken: UUID) -> None:
        add_user(tx, f"given back {taken}")

    async def taking() -> UUID:
        return await storage.take(acme, take, give_back=give_back)

    async def in_a_group() -> None:  # which cancels at every wait that is not shielded
        async with anyio.create_task_group() as group:
            group.start_soon(taking)

    task = asyncio.create_task(in_a_group() if grouped else taking())
    await asyncio.to_thread(inside.wait, 30)
    task.cancel()
    asyncio.get_running_loop().call_later(0.05, go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await task
    found = await storage.read(acme, names)
    assert "taken" in found
    assert [name for name in found if name.startswith("given back")]
    assert not [name for name in await storage.read(other, names) if "taken" in name]


@pytest.mark.parametrize("nothing", [None, False])
async def test_where_nothing_was_taken_nothing_is_given_back(
    storage: Storage, nothing: bool | None
) -> None:
    acme = await new_organization(storage)
    go_on = Event()

    def take(_: Transaction) -> bool | None:
        assert go_on.wait(30)
        return nothing

    def give_back(tx: Transaction, _: object) -> None:
        add_user(tx, "given back")

    async def taking() -> bool | None:
        return await storage.take(acme, take, give_back=give_back)

    task = asyncio.create_task(taking())
    await asyncio.sleep(0)
    task.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert "given back" not in await storage.read(acme, names)


async def test_one_that_goes_on_takes_as_a_write_does(storage: Storage) -> None:
    acme = await new_organization(storage)

    def taken(tx: Transaction) -> UUID:
        return add_user(tx, "taken")

    def give_back(tx: Transaction, _: object) -> None:
        add_user(tx, "given back")

    assert await storage.take(acme, taken, give_back=give_back) is not None
    assert "given back" not in await storage.read(acme, names)
    with pytest.raises(ZeroDivisionError):
        await storage.take(acme, lambda _: 1 // 0, give_back=give_back)


@pytest.mark.parametrize("moment", range(8))
async def test_a_worker_stopped_at_any_moment_leaves_all_of_its_work_to_the_next(
    database_url: str, moment: int
) -> None:
    async with Memoranda.open(
        database_url, migrate=False, settings=Settings.load(embedder="bundled")
    ) as memoranda:
        who = memoranda.owner
        await memoranda.knowledge.add(who, b"The harbor opens at six.", title="harbor.txt")
        await memoranda.memories.remember(who, "Ada likes oat milk.")
        talk = await memoranda.conversations.create(who, workflow_id="talk")
        await memoranda.conversations.append(
            who, talk.id, [Message(role="user", content="When does the harbor open?")]
        )
        working = asyncio.create_task(memoranda.worker.run())
        await asyncio.sleep(0.004 * moment**2)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        # Every lease is a minute or longer: with one left, this would wait for its end.
        assert await memoranda.worker.drain(who.organization_id, idle=timedelta(seconds=20))
