"""Memories that have expired take no room, on every database; what takes their place needs it anew."""

from datetime import timedelta

import pytest

from memoranda.memories.counts import store as counts
from memoranda.memories.errors import MemoriesFull, PinsFull
from memoranda.memories.limits import MemoryLimits
from memoranda.memories.models import Memory
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.storage import Storage
from tests.contract.clocks import SteppedClock
from tests.contract.tenants import Tenant, new_tenant

TONE = "preference.tone"
HOUR = timedelta(hours=1)


@pytest.fixture
async def acme(timed_storage: Storage) -> Tenant:
    return await new_tenant(timed_storage)


def limited(storage: Storage, **limits: int) -> Memories:
    return Memories(storage, Ways(MemoryLimits(**limits)))


async def assert_counts(storage: Storage, acme: Tenant, **expected: int) -> None:
    """What people are told, and that the kept counts are what the rows come to."""
    stats = await Memories(storage).stats(acme.owner)
    assert {name: getattr(stats, name) for name in expected} == expected
    organization = acme.owner.organization_id
    kept = await storage.read(organization, counts.counts)
    assert kept == await storage.read(organization, counts._counted)


async def forgotten_with_an_expired_twin(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> Memory:
    gone = await memories.remember(acme.owner, "coffee")
    await memories.forget(acme.owner, gone.id)
    twin = await memories.remember(acme.owner, "tea", expires_at=clock.now + HOUR)
    # Said by the second chain, and so not by the first.
    await memories.update(acme.owner, twin.id, text="coffee")
    clock.tick(HOUR)
    return gone


async def test_a_restored_memory_that_ends_an_expired_one_needs_room(
    timed_storage: Storage, acme: Tenant, clock: SteppedClock
) -> None:
    memories = limited(timed_storage, active=2)
    gone = await forgotten_with_an_expired_twin(memories, acme, clock)
    first = await memories.remember(acme.owner, "a")
    await memories.remember(acme.owner, "b")
    with pytest.raises(MemoriesFull):
        await memories.remember(acme.owner, "c")
    with pytest.raises(MemoriesFull):
        await memories.restore(acme.owner, gone.id)
    await assert_counts(timed_storage, acme, active=2, forgotten=1)
    await memories.forget(acme.owner, first.id)
    assert (await memories.restore(acme.owner, gone.id)).text == "coffee"
    await assert_counts(timed_storage, acme, active=2, forgotten=1)


async def test_an_edit_or_a_move_that_takes_an_expired_ones_place_needs_no_room(
    timed_storage: Storage, acme: Tenant, clock: SteppedClock
) -> None:
    """Also where a limit was lowered since: as much is active as before."""
    memories, fewer = limited(timed_storage, active=5), limited(timed_storage, active=1)
    anna = {"user_id": acme.anna.id}
    soon = {"expires_at": clock.now + HOUR}
    await memories.remember(acme.owner, "coffee", **soon)
    await memories.remember(acme.owner, "tea", **soon, **anna)
    await memories.remember(acme.owner, "Be brief", attribute=TONE, **soon, **anna)
    clock.tick(HOUR)
    edited = await memories.remember(acme.owner, "milk")
    moved = await memories.remember(acme.owner, "tea")
    keyed = await memories.remember(acme.owner, "Be kind", attribute=TONE)
    await fewer.update(acme.owner, edited.id, text="coffee")
    await fewer.update(acme.owner, moved.id, **anna)
    await fewer.update(acme.owner, keyed.id, **anna)
    await assert_counts(timed_storage, acme, active=3)
    with pytest.raises(MemoriesFull):
        await fewer.remember(acme.owner, "one more")


async def test_a_pin_that_expired_and_is_said_again_needs_room(
    timed_storage: Storage, acme: Tenant, clock: SteppedClock
) -> None:
    memories = limited(timed_storage, pinned=1)
    say = {"text": "Be brief", "attribute": TONE}
    first = await memories.remember(acme.owner, **say, pinned=True, expires_at=clock.now + HOUR)
    clock.tick(HOUR)
    second = await memories.remember(acme.owner, "b", pinned=True)
    with pytest.raises(PinsFull):
        await memories.remember(acme.owner, **say, pinned=True)
    await assert_counts(timed_storage, acme, active=1, pinned=1)
    await memories.update(acme.owner, second.id, pinned=False)
    again = await memories.remember(acme.owner, **say, pinned=True)
    assert (again.id, again.pinned) == (first.id, True)
    await assert_counts(timed_storage, acme, active=2, pinned=1)


@pytest.mark.parametrize("attribute", [None, TONE])
async def test_a_pin_that_is_moved_onto_an_expired_one_needs_room_unless_it_had_it(
    timed_storage: Storage, acme: Tenant, clock: SteppedClock, attribute: str | None
) -> None:
    memories = limited(timed_storage, pinned=1)
    anna = {"user_id": acme.anna.id}
    say = {"text": "Be brief", "attribute": attribute}
    await memories.remember(acme.owner, **say, **anna, pinned=True, expires_at=clock.now + HOUR)
    clock.tick(HOUR)
    shared = await memories.remember(acme.owner, **say)
    other = await memories.remember(acme.owner, "b", pinned=True)
    with pytest.raises(PinsFull):
        await memories.update(acme.owner, shared.id, pinned=True, **anna)
    await memories.update(acme.owner, other.id, pinned=False)
    await memories.update(acme.owner, shared.id, pinned=True)
    assert (await memories.update(acme.owner, shared.id, **anna)).pinned
    await assert_counts(timed_storage, acme, active=2, pinned=1)
