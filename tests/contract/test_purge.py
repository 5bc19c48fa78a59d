"""What the purge promises on every database: what was forgotten 30 days ago is gone, and nothing sooner."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import select

from memoranda.app import Memoranda
from memoranda.jobs import nightly as nights
from memoranda.memories.errors import NotRestorable
from memoranda.memories.limits import KEPT_WHEN_FORGOTTEN
from memoranda.storage import PLATFORM, Storage
from memoranda.storage.signals import SCRUB, signals
from memoranda.storage.tables import memories, memory_proposals, purged_memories
from memoranda.words.errors import NotFound
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.memory_trail import actions, activities, read
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.test_erasure import assert_counted
from tests.contract.told_words import House, Told, organization
from tests.contract.traces import Scanner

INSTANT = timedelta(microseconds=1)


@pytest.fixture
def house(timed_storage: Storage) -> House:
    return House.on(timed_storage)


@pytest.fixture
async def acme(timed_storage: Storage) -> Tenant:
    return await new_tenant(timed_storage)


async def purge(house: House, tenant: Tenant, **most: int) -> int:
    return await house.removal.purge_due(organization(tenant), **most)


async def purged(house: House, tenant: Tenant) -> dict[UUID, str]:
    rows = await read(house.storage, tenant, select(purged_memories.c.id, purged_memories.c.reason))
    return {row.id: row.reason for row in rows}


async def there(house: House, tenant: Tenant, table=memories) -> set[UUID]:
    return {row.id for row in await read(house.storage, tenant, select(table.c.id))}


async def test_a_forgotten_memory_is_purged_when_it_can_no_longer_be_restored_and_not_before(
    house: House, acme: Tenant, clock: SteppedClock
) -> None:
    made = await house.memories.remember(acme.owner, "tea")
    clock.tick()
    forgotten = await house.memories.forget(acme.owner, made.id)
    clock.tick(KEPT_WHEN_FORGOTTEN - INSTANT)
    assert forgotten.restorable_until == clock.now + INSTANT
    assert await purge(house, acme) == 0
    await house.memories.restore(acme.owner, made.id)
    await house.memories.forget(acme.owner, made.id)
    clock.tick(KEPT_WHEN_FORGOTTEN)
    with pytest.raises(NotRestorable):
        await house.memories.restore(acme.owner, made.id)
    assert await purge(house, acme) == 1
    assert await purge(house, acme) == 0
    assert await there(house, acme) == set()
    assert await purged(house, acme) == {made.id: "retention"}
    with pytest.raises(NotRestorable):
        await house.memories.restore(acme.owner, made.id)
    with pytest.raises(NotFound):
        await house.memories.history(acme.owner, made.id)
    await assert_counted(house.storage, acme)


async def test_nothing_of_what_it_said_is_left_once_it_is_scrubbed(
    house: House, acme: Tenant, clock: SteppedClock, scanner: Scanner
) -> None:
    gone, stays = Told(1), Told(2)
    for made in (await house.whole_life(acme, gone), await house.accepted_life(acme, gone)):
        await house.memories.forget(acme.owner, made.id)
    survivor, merged = await house.merged_life(acme, gone)
    await house.memories.forget(acme.owner, survivor)
    waiting = (await house.proposals.page(acme.owner)).items
    for each in waiting:
        await house.proposals.discard(acme.owner, each.id)
    clock.tick(KEPT_WHEN_FORGOTTEN)
    await house.whole_life(acme, stays)
    assert scanner.found(gone.traces)
    assert await purge(house, acme) == 4 + 2 + 2
    assert merged in await purged(house, acme)
    assert await house.storage.scrub()
    assert scanner.found(gone.traces) == {}
    assert scanner.found(stays.kept).keys() == stays.kept
    await assert_counted(house.storage, acme)


async def test_discarded_proposals_are_purged_and_those_that_wait_or_were_accepted_are_not(
    house: House, acme: Tenant, clock: SteppedClock
) -> None:
    made = [(await house.proposals.propose(acme.owner, text)).proposal.id for text in "abc"]
    await house.proposals.accept(acme.owner, made[0])
    await house.proposals.discard(acme.owner, made[1])
    clock.tick(KEPT_WHEN_FORGOTTEN - INSTANT)
    assert await purge(house, acme) == 0
    clock.tick(INSTANT)
    assert await purge(house, acme) == 1
    assert await there(house, acme, memory_proposals) == {made[0], made[2]}
    assert await purged(house, acme) == {made[1]: "retention"}
    with pytest.raises(NotRestorable):
        await house.proposals.restore(acme.owner, made[1])
    await assert_counted(house.storage, acme)


async def test_a_proposal_that_expired_while_it_waited_is_purged_and_not_before(
    house: House, acme: Tenant, clock: SteppedClock
) -> None:
    ends = clock.now + timedelta(hours=1)
    made = await house.proposals.propose(acme.owner, "a", expires_at=ends)
    lasts = await house.proposals.propose(acme.owner, "b")
    clock.tick(timedelta(hours=1) - INSTANT)
    assert await purge(house, acme) == 0
    clock.tick(INSTANT)
    assert await purge(house, acme) == 1
    assert await there(house, acme, memory_proposals) == {lasts.proposal.id}
    assert await purged(house, acme) == {made.proposal.id: "retention"}
    await assert_counted(house.storage, acme)


async def test_what_lives_waits_or_was_restored_stays_however_old_it_is(
    house: House, acme: Tenant, clock: SteppedClock
) -> None:
    live = await house.memories.remember(acme.owner, "tea")
    expired = await house.memories.remember(
        acme.owner, "milk", expires_at=clock.now + timedelta(days=1)
    )
    restored = await house.memories.remember(acme.owner, "coffee")
    again = await house.memories.remember(acme.owner, "bread", attribute="preference.food")
    for each in (restored, again):
        await house.memories.forget(acme.owner, each.id)
    clock.tick(KEPT_WHEN_FORGOTTEN - INSTANT)
    await house.memories.restore(acme.owner, restored.id)
    await house.memories.remember(acme.owner, "rice", attribute="preference.food")
    clock.tick(KEPT_WHEN_FORGOTTEN * 12)
    assert await purge(house, acme) == 0
    assert await there(house, acme) == {live.id, expired.id, restored.id, again.id}


async def test_of_a_moved_memory_only_what_it_was_before_is_purged(
    house: House, acme: Tenant, clock: SteppedClock
) -> None:
    before = await house.memories.remember(acme.owner, "the office key", user_id=acme.anna.id)
    now = await house.memories.update(acme.owner, before.id, user_id=None)
    clock.tick(KEPT_WHEN_FORGOTTEN)
    assert await purge(house, acme) == 1
    assert await there(house, acme) == {now.id}
    assert (await house.memories.get(acme.owner, now.id)).text == "the office key"
    (begin,) = await house.memories.history(acme.owner, now.id)
    assert begin.continues_id is None, "nobody is sent to what is purged"
    await assert_counted(house.storage, acme)


async def test_of_merged_memories_only_those_that_ended_are_purged(
    house: House, acme: Tenant, clock: SteppedClock
) -> None:
    survivor, merged = await house.merged_life(acme, Told())
    clock.tick(KEPT_WHEN_FORGOTTEN)
    assert await purge(house, acme) == 2, "with the proposal that merged them"
    assert await there(house, acme) == {survivor}
    assert await purged(house, acme) == {merged: "retention"}
    await assert_counted(house.storage, acme)


async def test_what_an_agent_proposes_anew_waits_on(
    house: House, acme: Tenant, clock: SteppedClock
) -> None:
    """It says the same as what was forgotten, and nobody has decided on it yet."""
    made = await house.memories.remember(acme.owner, "tea", attribute="preference.drink")
    await house.memories.forget(acme.owner, made.id)
    clock.tick(KEPT_WHEN_FORGOTTEN)
    proposed = await house.proposals.propose(acme.owner, "tea", attribute="preference.drink")
    assert await purge(house, acme) == 1
    assert await house.proposals.get(acme.owner, proposed.proposal.id) == proposed.proposal
    accepted = await house.proposals.accept(acme.owner, proposed.proposal.id)
    assert (accepted.id, accepted.version) == (proposed.proposal.id, 1)


async def test_so_many_at_once_go_and_the_longest_forgotten_first(
    house: House, acme: Tenant, clock: SteppedClock
) -> None:
    for n in range(4):
        await house.memories.remember(acme.owner, f"stays {n}")
    made = [await house.memories.remember(acme.owner, f"fact {n}") for n in range(5)]
    order = [made[n] for n in (3, 0, 4, 1, 2)]
    for each in order:
        await house.memories.forget(acme.owner, each.id)
        clock.tick()
    clock.tick(KEPT_WHEN_FORGOTTEN)
    for went, gone in ((2, 2), (2, 4), (1, 5), (0, 5)):
        assert await purge(house, acme, most=2) == went
        assert set(await purged(house, acme)) == {each.id for each in order[:gone]}


async def test_another_organization_keeps_what_it_forgot(
    house: House, acme: Tenant, clock: SteppedClock
) -> None:
    other = await new_tenant(house.storage, "Other")
    for tenant in (acme, other):
        made = await house.memories.remember(tenant.owner, "tea")
        await house.memories.forget(tenant.owner, made.id)
    clock.tick(KEPT_WHEN_FORGOTTEN)
    assert await purge(house, acme) == 1
    assert len(await there(house, other)) == 1
    assert await purged(house, other) == {}


async def test_each_is_recorded_and_told_and_nothing_is_where_nothing_went(
    timed_storage: Storage, acme: Tenant, clock: SteppedClock
) -> None:
    heard: list[UUID] = []
    house = House.on(timed_storage, changed=heard.append)
    assert await purge(house, acme) == 0
    made = await house.memories.remember(acme.owner, "tea")
    await house.memories.forget(acme.owner, made.id)
    clock.tick(KEPT_WHEN_FORGOTTEN)
    assert heard == []
    assert not await timed_storage.read(PLATFORM, signals, SCRUB)
    await purge(house, acme)
    assert heard == [organization(acme)]
    last = (await activities(timed_storage, acme))[-1]
    assert (last.type, last.subject_id, last.user_id) == ("memory_fact_purged", made.id, None)
    assert last.metadata == {"reason": "retention"}
    assert (await actions(timed_storage, acme))[-1] == (str(made.id), 2, "purged")
    assert await timed_storage.read(PLATFORM, signals, SCRUB)


async def test_who_restores_at_the_last_moment_has_the_memory_or_is_told(
    database_url: str, timed_storage: Storage, acme: Tenant, clock: SteppedClock
) -> None:
    early = SteppedClock()
    other = await Storage.open(database_url, clock=early)
    here, elsewhere = House.on(timed_storage), House.on(other)
    made = [await here.memories.remember(acme.owner, f"fact {n}") for n in range(40)]
    for each in made:
        await here.memories.forget(acme.owner, each.id)
    early.now = clock.now + KEPT_WHEN_FORGOTTEN - INSTANT
    clock.tick(KEPT_WHEN_FORGOTTEN)

    async def restore(memory_id: UUID) -> bool:
        try:
            await elsewhere.memories.restore(acme.owner, memory_id)
        except (NotRestorable, NotFound):
            return False
        return True

    *restored, _ = await asyncio.gather(
        *[restore(each.id) for each in made], purge(here, acme), return_exceptions=False
    )
    kept = {each.id for each, done in zip(made, restored, strict=True) if done}
    assert await there(here, acme) == kept
    for memory_id in kept:
        assert (await here.memories.get(acme.owner, memory_id)).version == 3
    assert set(await purged(here, acme)) == {each.id for each in made} - kept
    await assert_counted(timed_storage, acme)
    await other.close()


async def test_a_worker_purges_and_scrubs_at_night(
    database_url: str, scanner: Scanner, clock: SteppedClock
) -> None:
    gone = Told()
    async with Memoranda.open(database_url, clock=clock) as memoranda:
        made = await memoranda.memories.remember(memoranda.owner, gone.text())
        await memoranda.memories.forget(memoranda.owner, made.id)
        nightly = memoranda.worker._nightly
        assert isinstance(nightly, nights.Nightly)
        await nightly.serve(new_id())  # the first look sets the time
        clock.tick(KEPT_WHEN_FORGOTTEN + timedelta(days=1))
        await nightly.serve(new_id())
        with pytest.raises(NotRestorable):
            await memoranda.memories.restore(memoranda.owner, made.id)
        assert await memoranda.storage.read(PLATFORM, signals, SCRUB)
        await memoranda.worker.drain(kind=SCRUB)
        assert not await memoranda.storage.read(PLATFORM, signals, SCRUB)
    assert scanner.found(gone.traces) == {}
