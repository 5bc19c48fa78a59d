"""How much an organization may remember, on every database: what is refused at a limit, and what counts."""

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import bindparam, delete, insert, update

from memoranda.memories.counts import store as counts
from memoranda.memories.counts.store import Counts
from memoranda.memories.errors import MemoriesFull, PinsFull
from memoranda.memories.limits import MemoryLimits
from memoranda.memories.models import MemoryStats
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.runs.models import LogLevel
from memoranda.runs.service import Runs
from memoranda.storage import ConstraintViolated, Storage, Transaction
from memoranda.storage.tables import memory_counts, memory_proposals
from memoranda.words.errors import DuplicateMemory
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.memory_trail import MODEL, made_of, make_vectors, told
from tests.contract.tenants import Tenant, new_tenant

TONE = "preference.tone"
HOUR = timedelta(hours=1)
FEW = MemoryLimits(active=3, pinned=2)


@pytest.fixture
def memories(timed_storage: Storage) -> Memories:
    return Memories(timed_storage, Ways(FEW))


@pytest.fixture
async def acme(timed_storage: Storage) -> Tenant:
    return await new_tenant(timed_storage)


async def fill(memories: Memories, acme: Tenant, number: int) -> list[UUID]:
    return [(await memories.remember(acme.owner, f"fact {n}")).id for n in range(number)]


async def kept(storage: Storage, tenant: Tenant) -> Counts | None:
    """The row as it stands, where there is one."""
    row = await storage.read(tenant.owner.organization_id, lambda tx: tx.one(counts.KEPT))
    return None if row is None else Counts(*row)


async def counted(storage: Storage, tenant: Tenant) -> Counts:
    """What the rows themselves come to."""
    return await storage.read(tenant.owner.organization_id, counts._counted)


def test_the_limits_of_an_organization_are_the_documented_ones() -> None:
    assert MemoryLimits() == (2_000, 20, 200, 500)


# --- active memories -------------------------------------------------------------------------


async def test_the_memory_after_the_last_that_fits_is_refused_with_the_number(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:
    ids = await fill(memories, acme, 3)
    before = await told(timed_storage, acme)
    for scope in ({}, {"user_id": acme.anna.id}, {"attribute": TONE}):
        with pytest.raises(MemoriesFull, match="3 active memories") as refused:
            await memories.remember(acme.owner, "one more", **scope)
        assert (refused.value.kind, refused.value.details) == ("conflict", {"limit": 3})
    assert await told(timed_storage, acme) == before
    assert len((await memories.page(acme.owner)).items) == 3
    await memories.forget(acme.owner, ids[0])
    assert (await memories.remember(acme.owner, "one more")).version == 1


async def test_at_the_limit_what_is_known_can_still_be_changed(
    memories: Memories, acme: Tenant
) -> None:
    keyed = await memories.remember(acme.owner, "Be brief", attribute=TONE)
    ids = await fill(memories, acme, 2)
    assert (await memories.remember(acme.owner, "Be kind", attribute=TONE)).id == keyed.id
    assert (await memories.update(acme.owner, ids[0], text="another")).version == 2
    assert (await memories.update(acme.owner, ids[1], user_id=acme.anna.id)).version == 1
    with pytest.raises(DuplicateMemory):
        await memories.remember(acme.owner, "another")


async def test_a_key_whose_memory_is_forgotten_needs_room_again(
    memories: Memories, acme: Tenant
) -> None:
    keyed = await memories.remember(acme.owner, "Be brief", attribute=TONE)
    await memories.forget(acme.owner, keyed.id)
    await fill(memories, acme, 3)
    with pytest.raises(MemoriesFull):
        await memories.remember(acme.owner, "Be brief", attribute=TONE)
    assert len(await memories.history(acme.owner, keyed.id)) == 2


async def test_an_expired_memory_takes_no_room_and_needs_it_when_it_is_said_again(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    await memories.remember(acme.owner, "On leave", expires_at=clock.now + HOUR, pinned=True)
    ids = await fill(memories, acme, 2)
    with pytest.raises(MemoriesFull):
        await memories.remember(acme.owner, "one more")
    clock.tick(HOUR)
    await memories.remember(acme.owner, "one more")
    with pytest.raises(MemoriesFull):
        await memories.remember(acme.owner, "on leave")
    for memory_id in ids:
        await memories.update(acme.owner, memory_id, pinned=True)
    await memories.forget(acme.owner, ids[0])
    again = await memories.remember(acme.owner, "on leave")
    assert (again.version, again.pinned) == (2, False)
    stats = await memories.stats(acme.owner)
    assert (stats.active, stats.pinned, stats.forgotten) == (3, 1, 1)


async def test_a_limit_that_was_lowered_takes_nothing_away(
    timed_storage: Storage, memories: Memories, acme: Tenant
) -> None:
    ids = await fill(memories, acme, 3)
    fewer = Memories(timed_storage, Ways(MemoryLimits(active=1)))
    await fewer.forget(acme.owner, ids[0])
    assert (await fewer.update(acme.owner, ids[1], text="another")).version == 2
    with pytest.raises(MemoriesFull, match="1 active"):
        await fewer.remember(acme.owner, "one more")


async def test_each_organization_has_its_own_room(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(timed_storage, "Other")
    await fill(memories, acme, 3)
    await fill(memories, other, 3)
    with pytest.raises(MemoriesFull):
        await memories.remember(other.owner, "one more")
    assert (await kept(timed_storage, other)) == (await kept(timed_storage, acme))


# --- pins ------------------------------------------------------------------------------------


async def test_the_pin_after_the_last_that_fits_is_refused(
    memories: Memories, acme: Tenant
) -> None:
    ids = await fill(memories, acme, 2)
    for memory_id in ids:
        await memories.update(acme.owner, memory_id, pinned=True)
    with pytest.raises(PinsFull, match="2 memories are pinned") as refused:
        await memories.remember(acme.owner, "one more", pinned=True)
    assert (refused.value.kind, refused.value.details) == ("conflict", {"limit": 2})
    third = await memories.remember(acme.owner, "one more")
    with pytest.raises(PinsFull):
        await memories.update(acme.owner, third.id, text="edited", pinned=True)
    assert await memories.get(acme.owner, third.id) == third
    assert (await memories.update(acme.owner, ids[0], pinned=True)).pinned  # as it was
    # A pinned memory takes its pin along, for which there is room: it had one.
    assert (await memories.update(acme.owner, ids[0], user_id=acme.anna.id)).pinned
    await memories.update(acme.owner, ids[1], pinned=False)
    assert (await memories.update(acme.owner, third.id, pinned=True)).pinned


@pytest.mark.parametrize("how", ["forget", "expire"])
async def test_a_pin_is_free_again_when_its_memory_goes(
    memories: Memories, acme: Tenant, clock: SteppedClock, how: str
) -> None:
    soon = clock.now + HOUR
    first = await memories.remember(acme.owner, "a", pinned=True, expires_at=soon)
    await memories.remember(acme.owner, "b", pinned=True)
    third = await memories.remember(acme.owner, "c")
    with pytest.raises(PinsFull):
        await memories.update(acme.owner, third.id, pinned=True)
    if how == "forget":
        await memories.forget(acme.owner, first.id)
    else:
        clock.tick(HOUR)
    assert (await memories.update(acme.owner, third.id, pinned=True)).pinned
    assert (await memories.stats(acme.owner)).pinned == 2


# --- the counts ------------------------------------------------------------------------------


async def test_the_kept_counts_are_what_the_rows_come_to_after_every_verb(
    timed_storage: Storage, acme: Tenant, clock: SteppedClock
) -> None:
    memories = Memories(timed_storage)

    async def same() -> Counts:
        assert await kept(timed_storage, acme) == await counted(timed_storage, acme)
        return await counted(timed_storage, acme)

    keyed = await memories.remember(acme.owner, "Be brief", attribute=TONE, pinned=True)
    plain = await memories.remember(acme.owner, "Likes tea", expires_at=clock.now + HOUR)
    assert await same() == Counts(2, 0, 1, 0, 0, 0)
    await memories.remember(acme.owner, "Be kind", attribute=TONE)
    await memories.update(acme.owner, plain.id, title="Drinks", pinned=True)
    assert await same() == Counts(2, 0, 2, 0, 0, 0)
    moved = await memories.update(acme.owner, keyed.id, user_id=acme.anna.id)
    assert await same() == Counts(2, 0, 2, 0, 0, 0)
    await memories.forget(acme.owner, moved.id)
    assert await same() == Counts(1, 1, 1, 0, 0, 0)
    await memories.remember(acme.owner, "Be kind", attribute=TONE)  # after the end of what moved
    assert await same() == Counts(2, 1, 1, 0, 0, 0)
    await memories.restore(acme.owner, moved.id)
    assert await same() == Counts(3, 0, 1, 0, 0, 0)
    clock.tick(HOUR)
    await memories.remember(acme.owner, "Likes tea")  # renews what has expired, and its pin is gone
    assert await same() == Counts(3, 0, 0, 0, 0, 0)
    await memories.forget(acme.owner, plain.id)
    await memories.remember(acme.owner, "Likes tea")
    assert await same() == Counts(3, 1, 0, 0, 0, 0)


async def test_a_database_without_counts_counts_once_and_keeps_it(
    timed_storage: Storage, acme: Tenant
) -> None:
    memories = Memories(timed_storage, Ways(FEW))
    ids = await fill(memories, acme, 3)
    await memories.forget(acme.owner, ids[0])
    await add_proposals(timed_storage, acme, waiting=2, discarded=1)
    await timed_storage.write(acme.owner.organization_id, lambda tx: tx.run(delete(memory_counts)))
    stats = await memories.stats(acme.owner)
    assert (stats.active, stats.forgotten, stats.proposed) == (2, 1, 2)
    assert await kept(timed_storage, acme) is None, "a read keeps nothing"
    await memories.update(acme.owner, ids[1], pinned=True)
    assert await kept(timed_storage, acme) == Counts(2, 1, 1, 2, 1, 0)
    await memories.restore(acme.owner, ids[0])
    with pytest.raises(MemoriesFull):
        await memories.remember(acme.owner, "one more")


async def test_the_first_write_at_the_limit_of_a_database_without_counts_is_refused_too(
    timed_storage: Storage, memories: Memories, acme: Tenant
) -> None:
    await fill(memories, acme, 3)
    await timed_storage.write(acme.owner.organization_id, lambda tx: tx.run(delete(memory_counts)))
    with pytest.raises(MemoriesFull):
        await memories.remember(acme.owner, "one more")
    assert len((await memories.page(acme.owner)).items) == 3


async def test_nothing_is_ever_counted_below_zero(timed_storage: Storage, acme: Tenant) -> None:
    await fill(Memories(timed_storage), acme, 1)
    wrong = update(memory_counts).values(active=bindparam("wrong"))
    with pytest.raises(ConstraintViolated) as refused:
        await timed_storage.write(acme.owner.organization_id, lambda tx: tx.run(wrong, wrong=-1))
    assert refused.value.name == "nothing_is_counted_below_zero"


# --- the numbers that people see -------------------------------------------------------------


async def test_stats_say_how_many_of_how_many(
    timed_storage: Storage, acme: Tenant, clock: SteppedClock
) -> None:
    memories = Memories(timed_storage, Ways(MemoryLimits(active=50, pinned=5, waiting=9)))
    gone = await memories.remember(acme.owner, "a")
    await memories.remember(acme.owner, "b", pinned=True)
    await memories.remember(acme.owner, "c", pinned=True, expires_at=clock.now + HOUR)
    await memories.forget(acme.owner, gone.id)
    await add_proposals(timed_storage, acme, waiting=3, discarded=2)
    clock.tick(HOUR)
    for who in (acme.owner, acme.reader):
        assert await memories.stats(who) == MemoryStats(
            active=1,
            proposed=3,
            forgotten=1,
            pinned=1,
            dropped=0,
            capacity=50,
            proposal_capacity=9,
            pin_capacity=5,
            semantic=False,
            model=None,
            unembedded=1,
        )


async def test_stats_say_which_model_searches_and_what_it_can_not_find_yet(
    timed_storage: Storage, acme: Tenant
) -> None:
    memories = Memories(timed_storage, Ways(models=(MODEL,)))
    empty = await memories.stats(acme.owner)
    assert (empty.semantic, empty.model, empty.unembedded) == (True, MODEL, 0)
    await memories.remember(acme.owner, "a", user_id=acme.anna.id)
    await make_vectors(timed_storage, acme)
    await memories.remember(acme.owner, "b")
    assert len(await made_of(timed_storage, acme)) == 1
    for who, lacking in ((acme.owner, 1), (acme.member(acme.anna), 1), (acme.member(acme.ben), 1)):
        stats = await memories.stats(who)
        assert (stats.semantic, stats.model, stats.unembedded) == (True, MODEL, lacking)
    # Another embedder than the one whose vectors are there.
    switched = Memories(timed_storage, Ways(models=("model-b",)))
    stats = await switched.stats(acme.owner)
    assert (stats.semantic, stats.model, stats.unembedded) == (False, None, 2)


async def test_a_bound_key_counts_what_it_may_know_alone(
    timed_storage: Storage, acme: Tenant
) -> None:
    memories = Memories(timed_storage)
    for user in (None, acme.anna, acme.ben):
        for agent in (None, acme.scout, acme.clerk):
            scope = {"user_id": user and user.id, "agent_id": agent and agent.id}
            await memories.remember(acme.owner, "pinned", pinned=True, **scope)
            gone = await memories.remember(acme.owner, "gone", **scope)
            await memories.forget(acme.owner, gone.id)
    await add_proposals(timed_storage, acme, waiting=2, user_id=acme.anna.id, by=acme.scout.id)
    await add_proposals(timed_storage, acme, waiting=4, user_id=acme.ben.id, by=acme.scout.id)
    await add_proposals(timed_storage, acme, waiting=8, by=acme.clerk.id)
    shared_by_anybody, of_one_user = 3, 3
    seen = {
        acme.owner: (9, 14),
        acme.member(acme.anna): (shared_by_anybody + of_one_user, 2 + 8),
        acme.member(acme.ben): (shared_by_anybody + of_one_user, 4 + 8),
        acme.key_of(acme.scout): (2, 0),
        acme.key_of(acme.scout, acme.anna): (4, 2),
        acme.key_of(acme.clerk, acme.anna): (4, 8),
    }
    for who, (number, proposed) in seen.items():
        stats = await memories.stats(who)
        assert (stats.active, stats.pinned, stats.forgotten) == (number, number, number)
        assert stats.proposed == proposed
        for status in ("active", "forgotten"):
            assert len((await memories.page(who, status=status)).items) == number
    # What another user does moves no number of Anna's.
    before = await memories.stats(acme.member(acme.anna))
    await memories.remember(acme.owner, "new", user_id=acme.ben.id, pinned=True)
    drop = update(memory_counts).values(dropped=bindparam("dropped_now"))
    await timed_storage.write(acme.owner.organization_id, lambda tx: tx.run(drop, dropped_now=7))
    assert await memories.stats(acme.member(acme.anna)) == before
    assert (await memories.stats(acme.owner)).dropped == 7


# --- what a run is told ----------------------------------------------------------------------


async def test_a_run_is_told_of_what_was_stored_and_of_what_found_no_room(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:
    runs = Runs(timed_storage)
    run = await runs.create(acme.owner, agent_id=acme.scout.id)
    made = await memories.remember(acme.owner, "fact", run_id=run.id)
    await fill(memories, acme, 2)
    for text, pinned in (("one more", False), ("a pin more", True)):
        with pytest.raises(MemoriesFull):
            await memories.remember(acme.owner, text, pinned=pinned, run_id=run.id)
    with pytest.raises(DuplicateMemory):
        await memories.remember(acme.owner, "FACT", run_id=run.id)
    lines = (await runs.logs(acme.owner, run.id)).items
    assert [(each.step, each.level, each.metadata) for each in lines] == [
        (
            "memory-capture",
            LogLevel.INFO,
            {"outcome": "stored", "memory_id": str(made.id), "version": 1},
        ),
        *[
            (
                "memory-capture",
                LogLevel.WARNING,
                {"outcome": "dropped", "reason": "memories_full"},
            )
        ]
        * 2,
    ]


async def test_a_run_that_is_not_there_or_not_the_callers_is_told_nothing(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:
    runs = Runs(timed_storage)
    bens = await runs.create(acme.owner, user_id=acme.ben.id)
    other = await new_tenant(timed_storage, "Other")
    theirs = await runs.create(other.owner)
    anna = acme.member(acme.anna)
    await memories.remember(anna, "first")
    for number, run_id in enumerate((bens.id, theirs.id, new_id())):
        made = await memories.remember(anna, f"fact {number}", run_id=run_id)
        assert made.run_id == run_id
        await memories.forget(anna, made.id)
        full = Memories(timed_storage, Ways(MemoryLimits(active=1)))
        with pytest.raises(MemoriesFull):
            await full.remember(anna, "one more", run_id=run_id)
    assert (await runs.logs(acme.owner, bens.id)).items == []
    assert (await runs.logs(other.owner, theirs.id)).items == []


async def add_proposals(
    storage: Storage,
    tenant: Tenant,
    *,
    waiting: int = 0,
    discarded: int = 0,
    user_id: UUID | None = None,
    by: UUID | None = None,
) -> None:
    """Rows of proposals, and their numbers in the counts."""

    def run(tx: Transaction) -> None:
        for number in range(waiting + discarded):
            waits = number < waiting
            tx.run(
                insert(memory_proposals),
                id=new_id(),
                user_id=user_id,
                author_agent_id=by,
                audience=f"user={user_id.hex}" if user_id else "all",
                kind="memory",
                status="waiting" if waits else "discarded",
                text=f"proposal {number}",
                tags=[],
                merges=[],
                folded_digest=new_id().bytes,
                origin="agent",
                decided_at=None if waits else tx.now,
                created_at=tx.now,
            )
        counts.bump(tx, MemoryLimits(), waiting=waiting, discarded=discarded)

    await storage.write(tenant.owner.organization_id, run)
