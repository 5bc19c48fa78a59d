"""Many writers who edit, pin, move, forget and restore at once: nothing is lost, no limit is passed, nobody hangs."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Iterable
from itertools import pairwise
from typing import Any

import pytest
from sqlalchemy import delete

from memoranda.memories.counts import store as counts
from memoranda.memories.errors import MemoriesFull, PinsFull, StaleVersion
from memoranda.memories.limits import MemoryLimits
from memoranda.memories.models import Memory
from memoranda.memories.races import write_again
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.storage import Storage
from memoranda.storage.tables import memory_counts
from memoranda.words.errors import Conflict, DuplicateMemory, NotFound
from tests.contract.memory_trail import MODEL, actions, vectors, words
from tests.contract.tenants import Tenant

WRITERS = 8
LIMITS = MemoryLimits(active=30, pinned=20)


@pytest.fixture
async def writers(database_url: str, storage: Storage) -> AsyncIterator[list[Memories]]:
    """Eight openings of one database, as eight processes would have."""
    opened = [await Storage.open(database_url) for _ in range(WRITERS)]
    yield [Memories(each, Ways(LIMITS, (MODEL,))) for each in opened]
    for each in opened:
        await each.close()


async def all_at_once(writes: Iterable[Awaitable[Memory]]) -> tuple[list[Memory], list[Any]]:
    """What was done and what was refused."""
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    done = [each for each in outcomes if isinstance(each, Memory)]
    return done, [each for each in outcomes if not isinstance(each, Memory)]


async def assert_counted(storage: Storage, acme: Tenant) -> None:
    """The kept counts are what the rows come to."""
    organization = acme.owner.organization_id
    kept = await storage.read(organization, counts.counts)
    assert kept == await storage.read(organization, counts._counted)


async def test_of_several_edits_of_one_version_one_is_kept_and_the_others_see_it(
    writers: list[Memories], acme: Tenant
) -> None:
    made = await writers[0].remember(acme.owner, "start")
    for version in range(1, 6):
        done, refused = await all_at_once(
            each.update(acme.owner, made.id, text=f"{version}.{n}", expected_version=version)
            for n, each in enumerate(writers)
        )
        assert [each.version for each in done] == [version + 1]
        assert {type(each) for each in refused} == {StaleVersion}
        assert {(each.details["version"], each.details["text"]) for each in refused} == {
            (version + 1, done[0].text)
        }


async def test_edits_at_once_without_a_version_come_one_after_the_other(
    writers: list[Memories], storage: Storage, acme: Tenant
) -> None:
    made = await writers[0].remember(acme.owner, "start")
    done, refused = await all_at_once(
        each.update(acme.owner, made.id, text=f"{n}.{turn}")
        for turn in range(5)
        for n, each in enumerate(writers)
    )
    assert refused == []
    history = await writers[0].history(acme.owner, made.id)
    assert {(each.version, each.text) for each in history[1:]} == {
        (each.version, each.text) for each in done
    }
    assert len(await actions(storage, acme)) == len(history) == 1 + 5 * WRITERS
    assert set((await words(storage, acme))[made.id]) == set((history[-1].text or "").split("."))
    assert await vectors(storage, acme) == {made.id: history[-1].id}


async def test_edits_forgets_and_restores_of_one_memory_make_one_linear_chain(
    writers: list[Memories], storage: Storage, acme: Tenant
) -> None:
    made = await writers[0].remember(acme.owner, "start")
    acknowledged = 1
    refusals: set[str] = set()

    async def write(number: int, memories: Memories) -> None:
        nonlocal acknowledged
        for turn in range(8):
            try:
                if number % 4 == 0:
                    await memories.forget(acme.owner, made.id)
                elif number % 4 == 1:
                    await memories.restore(acme.owner, made.id)
                else:
                    await memories.update(acme.owner, made.id, text=f"{number}.{turn}")
                acknowledged += 1
            except Conflict as refused:
                refusals.add(refused.code)

    await asyncio.gather(*[write(n, each) for n, each in enumerate(writers)])
    history = await writers[0].history(acme.owner, made.id)
    assert [each.version for each in history] == list(range(1, acknowledged + 1))
    assert [each.supersedes_id for each in history[1:]] == [each.id for each in history[:-1]]
    assert all(one.text or other.text for one, other in pairwise(history))
    assert refusals <= {"conflict"}
    assert len(await actions(storage, acme)) == acknowledged
    assert set(await words(storage, acme)) == ({made.id} if history[-1].text else set())
    await assert_counted(storage, acme)


async def test_a_text_is_restored_or_remembered_anew_and_never_both(
    writers: list[Memories], storage: Storage, acme: Tenant
) -> None:
    for turn in range(8):
        made = await writers[0].remember(acme.owner, f"likes tea {turn}")
        await writers[0].forget(acme.owner, made.id)
        done, refused = await all_at_once(
            each.restore(acme.owner, made.id)
            if n % 2
            else each.remember(acme.owner, f"Likes tea {turn}")
            for n, each in enumerate(writers)
        )
        assert len(done) == 1
        assert {type(each) for each in refused} <= {DuplicateMemory, Conflict}
        live = (await writers[0].page(acme.owner)).items
        assert [each.id for each in live] == [done[0].id]
        await writers[0].forget(acme.owner, done[0].id)
    await assert_counted(storage, acme)


async def test_two_memories_edited_to_one_text_are_never_both_edited(
    writers: list[Memories], acme: Tenant
) -> None:
    made = [await each.remember(acme.owner, f"fact {n}") for n, each in enumerate(writers)]
    for turn in range(5):
        done, refused = await all_at_once(
            each.update(acme.owner, mine.id, text=f"the one of turn {turn}")
            for each, mine in zip(writers, made, strict=True)
        )
        assert len(done) == 1
        assert {type(each) for each in refused} == {DuplicateMemory}
        assert {each.details["memory_id"] for each in refused} == {str(done[0].id)}


async def test_one_memory_moved_to_two_audiences_at_once_goes_to_one(
    writers: list[Memories], storage: Storage, acme: Tenant
) -> None:
    for attribute in (None, "preference.tone"):
        made = await writers[0].remember(acme.owner, "moves", attribute=attribute)
        done, refused = await all_at_once(
            each.update(acme.owner, made.id, user_id=(acme.anna if n % 2 else acme.ben).id)
            for n, each in enumerate(writers)
        )
        assert len(done) == 1
        assert {type(each) for each in refused} == {Conflict}
        live = (await writers[0].page(acme.owner)).items
        assert [each.id for each in live] == [done[0].id]
        await writers[0].forget(acme.owner, done[0].id)
    await assert_counted(storage, acme)


async def test_memories_that_meet_in_one_audience_under_one_key_do_not_both_get_there(
    writers: list[Memories], acme: Tenant
) -> None:
    made = [
        await each.remember(acme.owner, "same", attribute="preference.tone", agent_id=agent.id)
        for each, agent in zip(writers, (acme.scout, acme.clerk), strict=False)
    ]
    done, refused = await all_at_once(
        each.update(acme.owner, mine.id, agent_id=None)
        for each, mine in zip(writers, made, strict=False)
    )
    assert (len(done), [type(each) for each in refused]) == (1, [Conflict])


async def test_twenty_one_pins_at_once_are_twenty_pins(
    writers: list[Memories], storage: Storage, acme: Tenant
) -> None:
    made = [await writers[0].remember(acme.owner, f"fact {n}") for n in range(21)]
    done, refused = await all_at_once(
        writers[n % WRITERS].update(acme.owner, each.id, pinned=True) for n, each in enumerate(made)
    )
    assert (len(done), [type(each) for each in refused]) == (20, [PinsFull])
    pinned = (await writers[0].page(acme.owner, pinned_only=True, limit=99)).items
    assert {each.id for each in pinned} == {each.id for each in done}
    await assert_counted(storage, acme)


async def test_writers_at_once_never_pass_the_capacity(
    writers: list[Memories], storage: Storage, acme: Tenant
) -> None:
    done, refused = await all_at_once(
        each.remember(acme.owner, f"{n} says {turn}")
        for turn in range(6)
        for n, each in enumerate(writers)
    )
    assert (len(done), {type(each) for each in refused}) == (30, {MemoriesFull})
    assert len((await writers[0].page(acme.owner, limit=99)).items) == 30
    for each in done[:10]:
        await writers[0].forget(acme.owner, each.id)
    done, refused = await all_at_once(
        writers[n % WRITERS].restore(acme.owner, each.id)
        if n % 2
        else writers[n % WRITERS].remember(acme.owner, f"new {n}")
        for n, each in enumerate(done[:10] * 2)
    )
    assert len((await writers[0].page(acme.owner, limit=99)).items) == 30
    await assert_counted(storage, acme)


async def test_the_first_writers_of_a_database_without_counts_count_once(
    writers: list[Memories], storage: Storage, acme: Tenant
) -> None:
    await writers[0].remember(acme.owner, "before")
    await storage.write(acme.owner.organization_id, lambda tx: tx.run(delete(memory_counts)))
    done, refused = await all_at_once(
        each.remember(acme.owner, f"{n} says {turn}")
        for turn in range(4)
        for n, each in enumerate(writers)
    )
    assert (len(done), {type(each) for each in refused}) == (29, {MemoriesFull})
    await assert_counted(storage, acme)


async def test_counts_that_several_begin_at_once_lose_nobodys_number(
    database_url: str, storage: Storage, acme: Tenant
) -> None:
    """Without the events, in whose numbers the writers of memories take turns."""
    await Memories(storage).remember(acme.owner, "before")
    await storage.write(acme.owner.organization_id, lambda tx: tx.run(delete(memory_counts)))
    opened = [await Storage.open(database_url) for _ in range(WRITERS)]
    await asyncio.gather(
        *[
            write_again(each, acme.owner.organization_id, counts.bump, LIMITS, dropped=1)
            for each in opened
        ]
    )
    for each in opened:
        await each.close()
    kept = await storage.read(acme.owner.organization_id, counts.counts)
    assert (kept.active, kept.dropped) == (1, WRITERS)


async def test_any_verbs_at_once_leave_whole_chains_and_true_counts(
    writers: list[Memories], storage: Storage, acme: Tenant
) -> None:
    """Moves between audiences cross each other here, each holding two chains."""
    choice = random.Random(7)
    audiences = [{"user_id": user, "agent_id": None} for user in (None, acme.anna.id, acme.ben.id)]
    ids = [
        (await writers[0].remember(acme.owner, f"fact {n}", attribute=f"observation.f{n}")).id
        for n in range(3)
    ]

    async def write(memories: Memories, seed: int) -> None:
        choice = random.Random(seed)
        for turn in range(12):
            memory_id = choice.choice(ids)
            try:
                match choice.randrange(5):
                    case 0:
                        await memories.forget(acme.owner, memory_id)
                    case 1:
                        await memories.restore(acme.owner, memory_id)
                    case 2:
                        moved = await memories.update(
                            acme.owner, memory_id, **choice.choice(audiences)
                        )
                        ids.append(moved.id)
                    case 3:
                        pinned = choice.random() < 0.5
                        await memories.update(
                            acme.owner, memory_id, text=f"{seed}.{turn}", pinned=pinned
                        )
                    case _:
                        made = await memories.remember(
                            acme.owner,
                            f"says {choice.randrange(3)}",
                            attribute=f"observation.f{choice.randrange(3)}",
                            **choice.choice(audiences),
                        )
                        ids.append(made.id)
            except (Conflict, NotFound):
                continue

    await asyncio.gather(*[write(each, choice.randrange(99)) for each in writers])
    for memory_id in set(ids):
        history = await writers[0].history(acme.owner, memory_id)
        assert [each.version for each in history] == list(range(1, len(history) + 1))
        assert all(one.text or other.text for one, other in pairwise(history))
    live = (await writers[0].page(acme.owner, limit=99)).items
    assert len({(each.user_id, each.subject_key) for each in live}) == len(live)
    assert set(await words(storage, acme)) == {each.id for each in live}
    assert set(await vectors(storage, acme)) == {each.id for each in live}
    await assert_counted(storage, acme)
