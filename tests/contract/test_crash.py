"""A writer killed at any instant leaves every acknowledged write, and every chain whole."""

import asyncio
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from memoranda.access.models import Principal, Role
from memoranda.memories.service import Memories
from memoranda.storage import Storage, migrate
from tests.contract.tenants import new_tenant
from tests.contract.test_memory_races import assert_whole
from tests.postgres import Postgres

ROOT = Path(__file__).parents[2]
AT_ONCE = 4
"""Writers of one child: as many writes share a commit when the kill comes."""

CHILD = """
import asyncio, json, sys
from uuid import UUID
from memoranda.access.models import Principal, Role
from memoranda.memories.service import Memories
from memoranda.storage import Storage

url, organization, round_, writers = sys.argv[1:]
who = Principal(organization_id=UUID(organization), role=Role.OWNER)

async def write(memories, number):
    turn = 0
    while True:
        turn += 1
        # Turns share a chain, begin one, and forget one: all three kinds of write are cut off.
        made = [
            await memories.remember(who, f"{round_}.{number}.{turn}", attribute=f"observation.w{number}"),
            await memories.remember(who, f"alone {round_}.{number}.{turn}"),
        ]
        gone = await memories.forget(who, made[1].id)
        for memory in (*made, gone):
            print(json.dumps([str(memory.id), memory.version, memory.text]), flush=True)

async def main():
    memories = Memories(await Storage.open(url))
    print("ready", flush=True)
    await asyncio.gather(*[write(memories, number) for number in range(int(writers))])

asyncio.run(main())
"""


def acknowledged_until_killed(
    url: str, organization: UUID, round_: int, delay: float
) -> list[list]:
    """What a child printed as durable before it was killed, `delay` seconds after it began."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, url, str(organization), str(round_), str(AT_ONCE)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    with child.stdout as output:
        assert output.readline() == "ready\n"
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        lines = output.read().splitlines(keepends=True)
    assert child.wait() == -signal.SIGKILL, "the child ran until it was killed"
    return [json.loads(line) for line in lines if line.endswith("\n")]


async def assert_nothing_is_lost(url: str, organization: UUID, acknowledged: list[list]) -> None:
    storage = await Storage.open(url)
    try:
        memories = Memories(storage)
        who = Principal(organization_id=organization, role=Role.OWNER)
        chains = {}
        for memory_id in {each[0] for each in acknowledged}:
            chains[memory_id] = await memories.history(who, UUID(memory_id))
            assert_whole(chains[memory_id])
        for memory_id, version, text in acknowledged:
            assert chains[memory_id][version - 1].text == text
        cursor = None
        while True:  # the live view shows each chain's last word, also for what nobody acknowledged
            page = await memories.page(who, limit=200, cursor=cursor)
            for memory in page.items:
                history = await memories.history(who, memory.id)
                assert_whole(history)
                assert (history[-1].version, history[-1].text) == (memory.version, memory.text)
            cursor = page.next_cursor
            if cursor is None:
                return
    finally:
        await storage.close()


async def kill_again_and_again(url: str, kills: int) -> None:
    storage = await Storage.open(url)
    owner = (await new_tenant(storage)).owner
    await storage.close()
    assert owner.organization_id is not None
    instants = random.Random(kills)
    total = 0
    for round_ in range(kills):
        acknowledged = await asyncio.to_thread(
            acknowledged_until_killed,
            url,
            owner.organization_id,
            round_,
            instants.uniform(0.0, 0.12),
        )
        total += len(acknowledged)
        await assert_nothing_is_lost(url, owner.organization_id, acknowledged)
    assert total > kills, "the children wrote before they were killed"


@pytest.mark.slow
async def test_a_process_killed_fifty_times_loses_nothing_on_sqlite(sqlite_database: str) -> None:
    await kill_again_and_again(sqlite_database, 50)


@pytest.fixture
def durable_database(durable_postgres: Postgres) -> Iterator[str]:
    """A fresh database of a server that waits for the disk."""
    url = durable_postgres.new_database()
    migrate(url)
    yield url
    durable_postgres.drop_database(url)


@pytest.mark.slow
async def test_a_client_killed_ten_times_loses_nothing_on_postgresql(durable_database: str) -> None:
    await kill_again_and_again(durable_database, 10)
