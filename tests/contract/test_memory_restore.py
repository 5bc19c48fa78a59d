"""What is forgotten may come back for 30 days, on every database: what it says then, and what stands in its way."""

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import bindparam, delete, insert

from memoranda.memories.errors import MemoriesFull, NotRestorable
from memoranda.memories.limits import MemoryLimits
from memoranda.memories.models import MemoryStatus
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import memories as memory_rows
from memoranda.storage.tables import purged_memories
from memoranda.words.errors import Conflict, DuplicateMemory, NotFound
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.memory_trail import actions, activities, told, words
from tests.contract.tenants import Tenant, new_tenant

TONE = "preference.tone"
KEPT = timedelta(days=30)
A_MOMENT = timedelta(microseconds=1)


@pytest.fixture
def memories(timed_storage: Storage) -> Memories:
    return Memories(timed_storage)


@pytest.fixture
async def acme(timed_storage: Storage) -> Tenant:
    return await new_tenant(timed_storage)


async def texts(memories: Memories, who, **filters) -> list[str | None]:
    return [each.text for each in (await memories.page(who, **filters, limit=200)).items]


async def test_what_is_forgotten_is_listed_with_what_it_said_and_until_when_it_may_come_back(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    made = await memories.remember(acme.owner, "Likes tea", title="Drinks", tags=["a"])
    await memories.remember(acme.owner, "Likes coffee")
    clock.tick()
    gone = await memories.forget(acme.owner, made.id)
    assert (gone.status, gone.version, gone.restorable_until) == (
        MemoryStatus.FORGOTTEN,
        2,
        clock.now + KEPT,
    )
    assert (gone.text, gone.title, gone.tags) == ("Likes tea", "Drinks", ("a",))
    assert (gone.created_at, gone.recorded_at) == (made.created_at, clock.now)
    assert (await memories.page(acme.owner, status="forgotten")).items == [gone]
    assert await texts(memories, acme.owner) == ["Likes coffee"]


async def test_restoring_appends_what_was_said_last(
    memories: Memories, timed_storage: Storage, acme: Tenant, clock: SteppedClock
) -> None:
    until = clock.now + timedelta(days=60)
    made = await memories.remember(acme.owner, "Likes tea")
    await memories.update(
        acme.owner, made.id, text="Likes mate", title="Drinks", tags=["a"], expires_at=until
    )
    await memories.forget(acme.owner, made.id)
    clock.tick(KEPT - A_MOMENT)
    back = await memories.restore(acme.owner, made.id)
    assert (back.id, back.version, back.status) == (made.id, 4, MemoryStatus.ACTIVE)
    assert (back.text, back.title, back.tags, back.expires_at) == (
        "Likes mate",
        "Drinks",
        ("a",),
        until,
    )
    assert back == await memories.get(acme.owner, made.id)
    assert await texts(memories, acme.owner, status="forgotten") == []
    assert [each.text for each in await memories.history(acme.owner, made.id)] == [
        "Likes tea",
        "Likes mate",
        None,
        "Likes mate",
    ]
    assert (await actions(timed_storage, acme))[-1] == (str(made.id), 4, "restored")
    last = (await activities(timed_storage, acme))[-1]
    assert (last.type, last.metadata) == ("memory_fact_restored", {"version": 4})
    assert made.id in await words(timed_storage, acme)
    stats = await memories.stats(acme.owner)
    assert (stats.active, stats.forgotten) == (1, 0)


async def test_after_thirty_days_it_is_gone(
    memories: Memories, timed_storage: Storage, acme: Tenant, clock: SteppedClock
) -> None:
    made = await memories.remember(acme.owner, "Likes tea")
    await memories.forget(acme.owner, made.id)
    before = await told(timed_storage, acme)
    clock.tick(KEPT)
    with pytest.raises(NotRestorable) as refused:
        await memories.restore(acme.owner, made.id)
    assert (refused.value.kind, refused.value.code) == ("gone", "not_restorable")
    assert await told(timed_storage, acme) == before
    assert len(await memories.history(acme.owner, made.id)) == 2


async def test_what_has_expired_meanwhile_is_gone_too(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    until = clock.now + timedelta(days=2)
    made = await memories.remember(acme.owner, "On leave", expires_at=until)
    gone = await memories.forget(acme.owner, made.id)
    assert gone.restorable_until == until
    clock.tick(timedelta(days=2))
    with pytest.raises(NotRestorable):
        await memories.restore(acme.owner, made.id)


async def test_only_what_is_forgotten_can_be_restored(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    made = await memories.remember(acme.owner, "Likes tea")
    expired = await memories.remember(
        acme.owner, "On leave", expires_at=clock.now + timedelta(hours=1)
    )
    revision = (await memories.history(acme.owner, made.id))[0].id
    clock.tick(timedelta(hours=1))
    with pytest.raises(Conflict, match="nothing to restore"):
        await memories.restore(acme.owner, made.id)
    for unknown in (new_id(), revision, expired.id):
        with pytest.raises(NotFound):
            await memories.restore(acme.owner, unknown)
    await memories.forget(acme.owner, made.id)
    await memories.restore(acme.owner, made.id)
    with pytest.raises(Conflict):
        await memories.restore(acme.owner, made.id)


async def test_a_text_that_lives_elsewhere_by_now_is_not_said_twice(
    memories: Memories, acme: Tenant
) -> None:
    for again, attribute in (("LIKES TEA", None), ("likes tea", TONE)):
        made = await memories.remember(acme.owner, "Likes tea")
        await memories.forget(acme.owner, made.id)
        holder = await memories.remember(acme.owner, again, attribute=attribute)
        with pytest.raises(DuplicateMemory) as refused:
            await memories.restore(acme.owner, made.id)
        assert refused.value.details["memory_id"] == str(holder.id)
        await memories.forget(acme.owner, holder.id)
        assert (await memories.restore(acme.owner, made.id)).version == 3
        await memories.forget(acme.owner, made.id)


async def test_a_key_that_lives_again_is_not_restored_over(
    memories: Memories, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Be brief", attribute=TONE)
    await memories.forget(acme.owner, made.id)
    await memories.remember(acme.owner, "Be kind", attribute=TONE)
    with pytest.raises(Conflict):
        await memories.restore(acme.owner, made.id)
    assert (await memories.get(acme.owner, made.id)).text == "Be kind"
    await memories.forget(acme.owner, made.id)
    assert (await memories.restore(acme.owner, made.id)).text == "Be kind"


async def test_an_expired_memory_gives_its_text_up_to_the_restored_one(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    made = await memories.remember(acme.owner, "In Rome")
    await memories.forget(acme.owner, made.id)
    expired = await memories.remember(
        acme.owner, "in Rome", expires_at=clock.now + timedelta(hours=1)
    )
    clock.tick(timedelta(hours=1))
    await memories.restore(acme.owner, made.id)
    assert await texts(memories, acme.owner) == ["In Rome"]
    assert (await memories.history(acme.owner, expired.id))[-1].continued_by_id == made.id
    stats = await memories.stats(acme.owner)
    assert (stats.active, stats.forgotten) == (1, 0)


async def test_restoring_is_refused_at_capacity(timed_storage: Storage, acme: Tenant) -> None:
    memories = Memories(timed_storage, Ways(MemoryLimits(active=2)))
    made = await memories.remember(acme.owner, "fact 1")
    await memories.forget(acme.owner, made.id)
    await memories.remember(acme.owner, "fact 2")
    third = await memories.remember(acme.owner, "fact 3")
    with pytest.raises(MemoriesFull):
        await memories.restore(acme.owner, made.id)
    assert await texts(memories, acme.owner, status="forgotten") == ["fact 1"]
    await memories.forget(acme.owner, third.id)
    assert (await memories.restore(acme.owner, made.id)).version == 3


async def test_what_is_purged_is_gone_for_those_who_could_know_it_and_was_never_there_for_others(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(timed_storage, "Other")
    annas = await memories.remember(acme.owner, "Likes tea", user_id=acme.anna.id)
    await memories.forget(acme.owner, annas.id)
    await purge(timed_storage, acme, annas.id, acme.anna.id)
    for who in (acme.owner, acme.member(acme.anna)):
        with pytest.raises(NotRestorable):
            await memories.restore(who, annas.id)
    for who in (acme.member(acme.ben), other.owner):
        with pytest.raises(NotFound):
            await memories.restore(who, annas.id)
    for verb in (memories.get, memories.history, memories.forget):
        with pytest.raises(NotFound):
            await verb(acme.owner, annas.id)


async def purge(storage: Storage, tenant: Tenant, memory_id: UUID, user_id: UUID) -> None:
    """Leave of a memory what a purge leaves."""
    gone = delete(memory_rows).where(memory_rows.c.id == bindparam("memory"))

    def run(tx: Transaction) -> None:
        tx.run(gone, memory=memory_id)
        tx.run(
            insert(purged_memories),
            id=memory_id,
            user_id=user_id,
            reason="retention",
            purged_at=tx.now,
        )

    await storage.write(tenant.owner.organization_id, run)
