"""A writer killed at any instant leaves every acknowledged write, and every chain whole."""

import asyncio
import random

import pytest

from memoranda.access.models import Principal
from memoranda.memories.service import Memories
from memoranda.storage import Storage
from tests.contract.crash_writer import Acknowledged, write_until_killed
from tests.contract.killing import PROCESSES, heard_until_killed
from tests.contract.tenants import new_tenant
from tests.contract.test_memory_races import assert_whole

WRITERS = 4
LONGEST_S = 0.05
"""How long a writer runs on before it is killed, at the most."""


def acknowledged_until_killed(
    url: str, who: Principal, name: str, instants: random.Random
) -> list[Acknowledged]:
    """Everything that a writer said was acknowledged before it was killed."""
    said = heard_until_killed(
        write_until_killed,
        *(url, who, name, WRITERS),
        instants=instants,
        longest_s=LONGEST_S,
        at_least=1 + (instants.random() < 0.8),  # a few die before or in their very first write
    )
    return [each for each in said if each is not None]


async def assert_kept(url: str, who: Principal, acknowledged: list[Acknowledged]) -> None:
    storage = await Storage.open(url)
    try:
        memories = Memories(storage)
        chains = {
            each: await memories.history(who, each) for each in {row[0] for row in acknowledged}
        }
        for chain in chains.values():
            assert_whole(chain)
        for memory_id, version, text in acknowledged:
            assert chains[memory_id][version - 1].text == text
    finally:
        await storage.close()


async def assert_every_live_chain_is_whole(url: str, who: Principal) -> None:
    """Also those that nobody was told of: the live view shows each chain's last word."""
    storage = await Storage.open(url)
    memories, cursor = Memories(storage), None
    try:
        while True:
            page = await memories.page(who, limit=200, cursor=cursor)
            for memory in page.items:
                chain = await memories.history(who, memory.id)
                assert_whole(chain)
                assert (chain[-1].version, chain[-1].text) == (memory.version, memory.text)
            cursor = page.next_cursor
            if cursor is None:
                return
    finally:
        await storage.close()


async def kill_again_and_again(url: str, kills: int) -> None:
    storage = await Storage.open(url)
    owner = (await new_tenant(storage)).owner
    await storage.close()
    instants = random.Random(kills)
    every: list[Acknowledged] = []
    for number in range(kills):
        acknowledged = await asyncio.to_thread(
            acknowledged_until_killed, url, owner, f"round {number}", instants
        )
        await assert_kept(url, owner, acknowledged)
        every += acknowledged
    await assert_kept(url, owner, every)
    await assert_every_live_chain_is_whole(url, owner)
    assert len(every) > kills, "the writers wrote before they were killed"


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Let the process that writers are forked from import what they need, once."""
    PROCESSES.set_forkserver_preload(["tests.contract.crash_writer", "memoranda.storage.dialects"])


@pytest.mark.slow
async def test_a_process_killed_fifty_times_loses_nothing_on_sqlite(sqlite_database: str) -> None:
    await kill_again_and_again(sqlite_database, 50)


@pytest.mark.slow
async def test_a_client_killed_fifty_times_loses_nothing_on_postgresql(
    durable_database: str,
) -> None:
    await kill_again_and_again(durable_database, 50)
