"""A process killed at any instant of a compaction leaves the list and the archive whole, and nothing of it twice."""

import asyncio
import random
from typing import Any

import pytest

from memoranda.conversations.compaction import serializing
from memoranda.storage import Storage
from tests.contract.compacting_writer import speak_until_killed
from tests.contract.killing import PROCESSES, heard_until_killed
from tests.contract.talking_house import Talk, turn
from tests.contract.tenants import new_tenant

LONGEST_S = 0.15
"""How long a process runs on before it is killed, at the most."""
KILLS = 25


def acknowledged_until_killed(
    url: str, talk: Talk, first: int, instants: random.Random
) -> list[Any]:
    """All that the process said was acknowledged before it was killed."""
    said = heard_until_killed(
        speak_until_killed,
        *(url, talk.who, talk.id, first),
        instants=instants,
        longest_s=LONGEST_S,
        at_least=2,
    )
    return said[1:]


async def assert_kept(url: str, talk: Talk, numbers: set[int]) -> set[int]:
    """Every turn is there once and whole, those that were acknowledged among them; which there are."""
    storage = await Storage.open(url)
    try:
        found = Talk(storage, talk.who, talk.id)
        await found.assert_whole()
        said = (await found.said())[1:]
        turns = [said[at : at + 4] for at in range(0, len(said), 4)]
        known = {int(str(each[0].content).split()[1]): each for each in turns}
        assert all(each == turn(number, size=120) for number, each in known.items())
        assert len(known) == len(turns)
        assert numbers <= set(known)
        activated = {
            each.id
            for each in (await found.compactions().attempts(talk.who, talk.id, limit=1_000)).items
            if each.status == "activated"
        }
        assert {each.compaction_id for each in await found.archived()} == activated
        loaded = await found.talks.load(talk.who, talk.id)
        assert serializing.refusal_of(loaded.messages, "anthropic") is None
        return set(known)
    finally:
        await storage.close()


async def kill_again_and_again(url: str) -> None:
    storage = await Storage.open(url)
    owner = (await new_tenant(storage)).owner
    talk = await Talk.of(storage, owner, turns=0)
    await storage.close()
    instants, there, compacted = random.Random(KILLS), {-1}, 0
    for _ in range(KILLS):
        said = await asyncio.to_thread(
            acknowledged_until_killed, url, talk, max(there) + 1, instants
        )
        compacted += said.count("compacted")
        there = await assert_kept(url, talk, {each for each in said if each != "compacted"})
    assert compacted > KILLS // 2, "it compacted before it was killed"


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Let the process that others are forked from import what they need, once."""
    PROCESSES.set_forkserver_preload(
        ["tests.contract.compacting_writer", "memoranda.storage.dialects"]
    )


@pytest.mark.slow
async def test_killed_again_and_again_nothing_is_lost_or_there_twice_on_sqlite(
    sqlite_database: str,
) -> None:
    await kill_again_and_again(sqlite_database)


@pytest.mark.slow
async def test_killed_again_and_again_nothing_is_lost_or_there_twice_on_postgresql(
    durable_database: str,
) -> None:
    await kill_again_and_again(durable_database)
