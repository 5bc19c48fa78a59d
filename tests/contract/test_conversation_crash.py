"""A process that is killed at any instant leaves every acknowledged list, or the next one, and none in between."""

import asyncio
import random

import pytest

from memoranda.access.models import Principal
from memoranda.conversations.digests import chains, digest_of
from memoranda.conversations.models import ConversationKey
from memoranda.conversations.service import Conversations
from memoranda.storage import Storage
from tests.contract.conversation_crash_writer import Acknowledged, write_until_killed
from tests.contract.conversation_desk import contents
from tests.contract.killing import PROCESSES, heard_until_killed
from tests.contract.tenants import new_tenant

WRITERS = 3
LONGEST_S = 0.08
KILLS = 12


def acknowledged_until_killed(
    url: str, who: Principal, name: str, instants: random.Random
) -> list[Acknowledged]:
    """Everything that a writer said was acknowledged before it was killed."""
    said = heard_until_killed(
        write_until_killed,
        *(url, who, name, WRITERS),
        instants=instants,
        longest_s=LONGEST_S,
        at_least=2,
    )
    return [each for each in said if each is not None]


async def assert_whole(url: str, who: Principal, acknowledged: list[Acknowledged]) -> None:
    """Each list is the last that was acknowledged, or what a write made of it that nobody heard of any more."""
    storage = await Storage.open(url)
    talks = Conversations(storage)
    try:
        for workflow, said in dict(acknowledged).items():
            found = await talks.load(who, ConversationKey(workflow_id=workflow))
            there = contents(found.messages)
            chain = [*chains(map(digest_of, found.messages))]
            assert (found.length, found.digest) == (len(there), chain[-1] if chain else "")
            begun = [*said, *there[-2:]]
            assert there in (said, [], begun, begun[1:]), (said, there)
    finally:
        await storage.close()


async def kill_again_and_again(url: str) -> None:
    storage = await Storage.open(url)
    owner = (await new_tenant(storage)).owner
    await storage.close()
    instants = random.Random(KILLS)
    wrote = 0
    for number in range(KILLS):
        acknowledged = await asyncio.to_thread(
            acknowledged_until_killed, url, owner, f"round {number}", instants
        )
        await assert_whole(url, owner, acknowledged)
        wrote += len(acknowledged)
    assert wrote > KILLS, "the writers wrote before they were killed"


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Let the process that writers are forked from import what they need, once."""
    PROCESSES.set_forkserver_preload(
        ["tests.contract.conversation_crash_writer", "memoranda.storage.dialects"]
    )


@pytest.mark.slow
async def test_lists_are_whole_after_every_kill_on_sqlite(sqlite_database: str) -> None:
    await kill_again_and_again(sqlite_database)


@pytest.mark.slow
async def test_lists_are_whole_after_every_kill_on_postgresql(durable_database: str) -> None:
    await kill_again_and_again(durable_database)
