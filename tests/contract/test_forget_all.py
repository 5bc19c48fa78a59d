"""What FORGET ALL promises on every database: every memory and proposal of one organization, and nothing else."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from sqlalchemy import select

from memoranda.conversations.models import Message
from memoranda.knowledge.service import Knowledge
from memoranda.memories.errors import TooOften
from memoranda.memories.limits import MemoryLimits
from memoranda.memories.models import MemoryStatus, ProposalStatus
from memoranda.memories.ways import Ways
from memoranda.runs.service import Runs
from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import memories, memory_revisions, search_postings, search_vectors
from memoranda.words.errors import Conflict, Invalid, MemorandaError, NotFound, Refused
from tests.contract.clocks import SteppedClock
from tests.contract.memory_trail import MODEL, activities, read
from tests.contract.memory_trail import told as events
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.test_erasure import assert_counted
from tests.contract.told_words import House, Told
from tests.contract.traces import Scanner

CONFIRM = "FORGET ALL"
ITS_OWN = {
    *("memories", "memory_revisions", "memory_proposals", "memory_counts", "activities"),
    *("events", "event_counters", "search_postings", "search_vectors", "search_models"),
}
"""The tables that it may write to."""


@pytest.fixture
def house(timed_storage: Storage) -> House:
    return House.on(timed_storage)


@pytest.fixture
async def acme(timed_storage: Storage) -> Tenant:
    return await new_tenant(timed_storage)


async def lived_in(house: House, tenant: Tenant, told: Told) -> None:
    """Give the organization rows of every kind."""
    for user in (None, tenant.anna.id):
        await house.whole_life(tenant, told, user)
    await house.accepted_life(tenant, told)
    await house.merged_life(tenant, told)
    forgotten = await house.memories.remember(tenant.owner, told.text())
    await house.memories.forget(tenant.owner, forgotten.id)
    pinned = await house.memories.remember(tenant.owner, told.text(), agent_id=tenant.scout.id)
    await house.memories.update(tenant.owner, pinned.id, pinned=True)
    talk = await house.conversations.create(tenant.owner)
    await house.conversations.append(
        tenant.owner, talk.id, [Message(role="user", content=told.text())]
    )
    await Knowledge(house.storage, max_bytes=1_000).add(tenant.owner, b"# A page", title="Page")
    run = await Runs(house.storage).create(tenant.owner)
    await house.memories.remember(tenant.owner, told.text(), run_id=run.id)


async def test_nothing_happens_without_the_very_words(
    house: House, acme: Tenant, scanner: Scanner
) -> None:
    await lived_in(house, acme, Told())
    before = scanner.rows()
    for wrong in (
        "",
        "forget all",
        "FORGET  ALL",
        " FORGET ALL",
        "FORGET ALL\n",
        "ＦＯＲＧＥＴ ALL",
    ):
        with pytest.raises(Invalid) as refused:
            await house.removal.forget_all(acme.owner, wrong)
        assert refused.value.details["field"] == "confirm"
    assert scanner.rows() == before


async def test_every_memory_and_proposal_is_forgotten_and_everything_else_is_as_it_was(
    house: House, acme: Tenant, scanner: Scanner, clock: SteppedClock
) -> None:
    other = await new_tenant(house.storage, "Other")
    for tenant in (acme, other):
        await lived_in(house, tenant, Told())
    clock.tick()
    live = (await house.memories.page(acme.owner, limit=200)).items
    waiting = (await house.proposals.page(acme.owner)).items
    assert len(live) == 6
    assert len(waiting) == 2
    before = scanner.rows()
    assert await house.removal.forget_all(acme.owner, CONFIRM) == len(live)
    after = scanner.rows()
    mark = acme.owner.organization_id
    assert mark is not None
    for table in before:
        theirs = [
            [row for row in rows[table] if str(mark) not in row and mark.hex not in row]
            for rows in (before, after)
        ]
        assert theirs[0] == theirs[1], f"another organization's rows of {table}"
        if table not in ITS_OWN:
            assert before[table] == after[table], table
    assert (await house.memories.page(acme.owner)).items == []
    assert (await house.proposals.page(acme.owner)).items == []
    discarded = await house.proposals.page(acme.owner, status=ProposalStatus.DISCARDED, limit=200)
    assert {each.id for each in waiting} <= {each.id for each in discarded.items}
    assert {each.decided_by for each in discarded.items} == {acme.owner.user_id}
    for each in live:
        *_, end = await house.memories.history(acme.owner, each.id)
        assert (end.version, end.text, end.forgotten_at) == (each.version + 1, None, clock.now)
        assert (end.author_user_id, end.created_at) == (acme.owner.user_id, clock.now)
    await assert_counted(house.storage, acme)
    await assert_found_by_what_lives(house.storage, acme)
    await assert_found_by_what_lives(house.storage, other)


async def assert_found_by_what_lives(storage: Storage, tenant: Tenant) -> None:
    """Exactly the live memories have words and vectors."""
    rows = await read(storage, tenant, select(memories.c.id).where(memories.c.live))
    live = {row.id for row in rows}
    words = await read(storage, tenant, select(search_postings.c.document_id))
    assert {row.document_id for row in words} == live
    made = search_vectors.c
    vectors = await read(storage, tenant, select(made.item_id).where(made.failures >= 0))
    assert {row.item_id for row in vectors} == live


async def test_each_may_be_restored_as_if_it_had_been_forgotten_by_itself(
    house: House, acme: Tenant, clock: SteppedClock
) -> None:
    made = await house.memories.remember(
        acme.owner, "tea", title="Drinks", pinned=True, user_id=acme.anna.id
    )
    proposed = (await house.proposals.propose(acme.owner, "milk")).proposal
    await house.removal.forget_all(acme.owner, CONFIRM)
    (gone,) = (await house.memories.page(acme.owner, status=MemoryStatus.FORGOTTEN)).items
    assert (gone.text, gone.pinned) == ("tea", False)
    assert gone.restorable_until == clock.now + timedelta(days=30)
    clock.tick(timedelta(days=29))
    back = await house.memories.restore(acme.member(acme.anna), made.id)
    assert (back.id, back.version, back.text, back.title) == (made.id, 3, "tea", "Drinks")
    assert (await house.proposals.restore(acme.owner, proposed.id)).text == "milk"
    await assert_counted(house.storage, acme)
    await assert_found_by_what_lives(house.storage, acme)


async def test_what_has_expired_is_forgotten_too(
    house: House, acme: Tenant, clock: SteppedClock
) -> None:
    """Nobody sees it any more, but its text is there."""
    until = clock.now + timedelta(seconds=1)
    await house.memories.remember(acme.owner, "tea", expires_at=until, pinned=True)
    clock.tick(timedelta(seconds=2))
    assert await house.removal.forget_all(acme.owner, CONFIRM) == 1
    await assert_counted(house.storage, acme)


async def test_one_activity_and_one_event_say_how_many(house: House, acme: Tenant) -> None:
    for text in "abc":
        await house.memories.remember(acme.owner, text)
    await house.proposals.propose(acme.owner, "d")
    known, told_before = await activities(house.storage, acme), await events(house.storage, acme)
    await house.removal.forget_all(acme.owner, CONFIRM)
    (done,) = (await activities(house.storage, acme))[len(known) :]
    assert (done.type, done.subject_id) == ("memory_facts_cleared", None)
    assert (done.user_id, done.metadata) == (acme.owner.user_id, {"forgotten": 3, "discarded": 1})
    (event,) = (await events(house.storage, acme))[len(told_before) :]
    assert event.metadata == {"action": "cleared"}


async def test_an_empty_house_forgets_nothing(house: House, acme: Tenant) -> None:
    assert await house.removal.forget_all(acme.owner, CONFIRM) == 0
    assert (await activities(house.storage, acme))[-1].metadata == {"forgotten": 0, "discarded": 0}


async def test_only_an_owner_forgets_all(house: House, acme: Tenant) -> None:
    await house.memories.remember(acme.owner, "tea", user_id=acme.anna.id)
    for who in (acme.member(acme.anna), acme.reader, acme.key_of(acme.scout)):
        with pytest.raises(Refused):
            await house.removal.forget_all(who, CONFIRM)
    assert len((await house.memories.page(acme.owner)).items) == 1


async def test_listeners_are_told_and_fail_nothing(storage: Storage) -> None:
    heard = []

    def listen(organization_id) -> None:
        heard.append(organization_id)
        raise RuntimeError

    house, acme = House.on(storage, changed=listen, evict=listen), await new_tenant(storage)
    assert await house.removal.forget_all(acme.owner, CONFIRM) == 0
    assert heard == [acme.owner.organization_id] * 2


# --- how often --------------------------------------------------------------------------------


async def test_the_fourth_time_within_an_hour_is_refused_and_changes_nothing(
    house: House, acme: Tenant, clock: SteppedClock
) -> None:
    other = await new_tenant(house.storage, "Other")
    for _ in range(3):
        await house.removal.forget_all(acme.owner, CONFIRM)
        clock.tick(timedelta(minutes=10))
    await house.memories.remember(acme.owner, "tea")
    with pytest.raises(TooOften) as refused:
        await house.removal.forget_all(acme.owner, CONFIRM)
    assert refused.value.details == {"limit": 3, "retry_after_s": 30 * 60}
    assert len((await house.memories.page(acme.owner)).items) == 1
    await house.removal.forget_all(other.owner, CONFIRM)
    clock.tick(timedelta(minutes=30) - timedelta(microseconds=1))
    with pytest.raises(TooOften) as refused:
        await house.removal.forget_all(acme.owner, CONFIRM)
    assert refused.value.details["retry_after_s"] == 1
    clock.tick(timedelta(microseconds=1))
    assert await house.removal.forget_all(acme.owner, CONFIRM) == 1
    with pytest.raises(TooOften):
        await house.removal.forget_all(acme.owner, CONFIRM)


async def test_wrong_words_are_no_time(house: House, acme: Tenant) -> None:
    for _ in range(5):
        with pytest.raises(Invalid):
            await house.removal.forget_all(acme.owner, "forget all")
    await house.removal.forget_all(acme.owner, CONFIRM)


@pytest.fixture
async def houses(database_url: str, storage: Storage) -> AsyncIterator[list[House]]:
    """Four openings of one database, as four processes would have."""
    opened = [await Storage.open(database_url) for _ in range(4)]
    ways = Ways(MemoryLimits(active=100_000), (MODEL,))
    yield [House.on(each, ways) for each in opened]
    for each in opened:
        await each.close()


async def test_what_another_clock_says_is_later_counts_too(
    house: House, acme: Tenant, clock: SteppedClock
) -> None:
    """As for whoever began first, and waited for others who then went before it."""
    for _ in range(3):
        await house.removal.forget_all(acme.owner, CONFIRM)
    clock.tick(-timedelta(seconds=1))
    with pytest.raises(TooOften):
        await house.removal.forget_all(acme.owner, CONFIRM)
    clock.tick(-timedelta(days=1))
    assert await house.removal.forget_all(acme.owner, CONFIRM) == 0


async def test_processes_count_together(houses: list[House], storage: Storage) -> None:
    acme = await new_tenant(storage)
    outcomes = await asyncio.gather(
        *[house.removal.forget_all(acme.owner, CONFIRM) for house in houses * 2],
        return_exceptions=True,
    )
    assert [each for each in outcomes if not isinstance(each, TooOften)] == [0, 0, 0]


# --- size and company -------------------------------------------------------------------------


async def test_it_takes_as_many_statements_for_many_memories_as_for_few(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def counting(verb):
        def call(self: Transaction, statement, *args, **kwargs):
            asked.append(statement)
            return verb(self, statement, *args, **kwargs)

        return call

    for name in ("all", "one", "run", "run_many", "send", "send_many"):
        monkeypatch.setattr(Transaction, name, counting(getattr(Transaction, name)))
    house, took = House.on(storage), []
    for number in (3, 300):
        acme = await new_tenant(storage)
        await asyncio.gather(
            *[house.memories.remember(acme.owner, f"fact {n}") for n in range(number)]
        )
        asked.clear()
        assert await house.removal.forget_all(acme.owner, CONFIRM) == number
        took.append(len(asked))
    assert took[0] == took[1]


async def test_other_writers_come_before_or_after_and_never_half(
    houses: list[House], storage: Storage
) -> None:
    """None of them is refused but for what they would be refused anyway, and none waits for ever."""
    acme = await new_tenant(storage)
    refusals: list[MemorandaError] = []
    stop = asyncio.Event()

    async def trying(verb, *args, **kwargs):
        try:
            return await verb(*args, **kwargs)
        except (NotFound, Conflict) as refusal:
            refusals.append(refusal)

    async def write(number: int, house: House) -> None:
        turn = 0
        while not stop.is_set():
            turn += 1
            key = f"observation.a{turn % 5}"
            one = await trying(house.memories.remember, acme.owner, f"{number} {turn}")
            await trying(house.memories.remember, acme.owner, f"{number} {turn}", attribute=key)
            if one is not None:
                await trying(house.memories.update, acme.owner, one.id, text=f"{number} {turn} b")
                await trying(house.memories.update, acme.owner, one.id, pinned=turn % 2 == 0)
                await trying(house.memories.update, acme.owner, one.id, user_id=acme.anna.id)
                await trying(house.memories.restore, acme.owner, one.id)
            made = await trying(house.proposals.propose, acme.owner, f"{number} {turn} c")
            if made is not None and made.proposal is not None:
                decide = house.proposals.accept if turn % 2 else house.proposals.discard
                await trying(decide, acme.owner, made.proposal.id)

    writers = [asyncio.create_task(write(n, each)) for n, each in enumerate(houses)]
    forgotten = 0
    for _ in range(3):
        await asyncio.sleep(0.5)
        forgotten += await House.on(storage).removal.forget_all(acme.owner, CONFIRM)
    stop.set()
    await asyncio.gather(*writers)
    assert forgotten > 0
    assert {each.code for each in refusals} <= {
        *("not_found", "conflict", "duplicate_memory", "pins_full")
    }
    heads = await read(storage, acme, select(memories.c.id, memories.c.version, memories.c.live))
    rows = await read(storage, acme, select(memory_revisions).order_by(memory_revisions.c.version))
    assert len(rows) == sum(row.version for row in heads), "every chain is whole"
    last = {row.memory_id: row for row in rows}
    assert {row.id: row.live for row in heads} == {
        memory_id: row.text is not None for memory_id, row in last.items()
    }
    await assert_counted(storage, acme)
    await assert_found_by_what_lives(storage, acme)
