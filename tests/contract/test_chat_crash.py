"""A process that is killed at any instant leaves a chat in which all that was acknowledged is there, and agents know what is shown."""

import asyncio
import random
from uuid import UUID

import pytest

from memoranda.conversations.chats import store
from memoranda.storage import Storage
from tests.contract.chat_crash_writer import talk_until_killed
from tests.contract.chat_desk import Desk
from tests.contract.killing import PROCESSES, heard_until_killed
from tests.contract.tenants import new_tenant

LONGEST_S = 0.2
KILLS = 4


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Let the process that writers are forked from import what they need, once."""
    PROCESSES.set_forkserver_preload(
        ["tests.contract.chat_crash_writer", "memoranda.storage.dialects"]
    )


async def assert_whole(desk: Desk, acknowledged: set[UUID]) -> None:
    """Every acknowledged message is there, agents know the path, and one can go on from it."""
    there = await desk.storage.read(desk.who.organization_id, store.outline, desk.id)
    assert acknowledged <= there.keys()
    thread = await desk.chats.thread(desk.who, desk.id)
    assert await desk.known() == (await desk.shown())[: -1 if thread.run else None]
    if thread.run is not None:
        await desk.chats.fail(desk.who, thread.run.id, "its host was killed")
    await desk.exchange("is anybody there?", "yes")
    await desk.assert_known()


async def kill_again_and_again(url: str) -> None:
    storage = await Storage.open(url)
    desk = await Desk.of(storage, await new_tenant(storage))
    await desk.exchange("0 asks", "0 hears")
    instants = random.Random(KILLS)
    acknowledged: set[UUID] = set()
    for _ in range(KILLS):
        said = await asyncio.to_thread(
            heard_until_killed,
            talk_until_killed,
            *(url, desk.who, await desk.now()),
            instants=instants,
            longest_s=LONGEST_S,
            at_least=3,
        )
        acknowledged |= {each for each in said if each is not None}
        await assert_whole(desk, acknowledged)
    assert len(acknowledged) > KILLS, "somebody talked before the process was killed"
    await storage.close()


@pytest.mark.slow
async def test_a_chat_is_whole_after_every_kill_on_sqlite(sqlite_database: str) -> None:
    await kill_again_and_again(sqlite_database)


@pytest.mark.slow
async def test_a_chat_is_whole_after_every_kill_on_postgresql(durable_database: str) -> None:
    await kill_again_and_again(durable_database)
