"""What an erasure promises on every database: all of a memory goes, and nothing else does."""

import asyncio
import signal
import sqlite3
import sys
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import delete, func, select

from memoranda.app import Memoranda
from memoranda.conversations.models import Message
from memoranda.jobs.chores import Scrubbing
from memoranda.jobs.worker import Worker
from memoranda.memories.candidate import Author
from memoranda.memories.counts import store as counts
from memoranda.memories.errors import NotRestorable
from memoranda.memories.store import tombstone
from memoranda.memories.ways import DEFAULT_WAYS
from memoranda.storage import PLATFORM, Storage, Transaction
from memoranda.storage.dialects import sqlite_scrub
from memoranda.storage.signals import SCRUB, signals
from memoranda.storage.tables import (
    memories,
    memory_counts,
    memory_proposals,
    memory_revisions,
    purged_memories,
    search_postings,
    search_vectors,
)
from memoranda.words.errors import Conflict, MemorandaError, NotFound, Refused
from memoranda.words.ids import new_id
from tests.contract.memory_trail import activities, read
from tests.contract.memory_trail import told as events
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.told_words import House, Told, organization
from tests.contract.traces import Scanner

BOOKKEEPING = {
    *("activities", "events", "event_counters", "memory_counts"),
    *("purged_memories", "search_models", "work_signals"),
}
"""Tables of ids and numbers, in which an erasure leaves that it was."""


@pytest.fixture
def house(storage: Storage) -> House:
    return House.on(storage)


@pytest.fixture
async def other(storage: Storage) -> Tenant:
    return await new_tenant(storage, "Other")


async def rows(storage: Storage, tenant: Tenant, table) -> int:
    (counted,) = await read(storage, tenant, select(func.count()).select_from(table))
    return int(counted[0])


async def ids(storage: Storage, tenant: Tenant, columns, *, user_id: UUID | None) -> set[UUID]:
    """Of the memories or proposals of a user, or of nobody alone."""
    of = columns.user_id == user_id if user_id else columns.user_id.is_(None)
    return {row.id for row in await read(storage, tenant, select(columns.id).where(of))}


def said_of_others(scanner: Scanner, going: set[UUID]) -> dict[str, list[str]]:
    """Every row that says something, and names nothing of what goes."""
    names = [name for each in going for name in (str(each), each.hex)]
    return {
        table: [row for row in rows if not any(name in row for name in names)]
        for table, rows in scanner.rows().items()
        if table not in BOOKKEEPING
    }


async def assert_counted(storage: Storage, tenant: Tenant) -> None:
    """The counts that are kept are those of the rows."""

    def both(tx: Transaction) -> tuple[counts.Counts, counts.Counts]:
        kept = counts.counts(tx)
        tx.run(delete(memory_counts))
        return kept, counts.counts(tx)._replace(dropped=kept.dropped)

    kept, counted = await storage.write(organization(tenant), both)
    assert kept == counted


# --- every trace ------------------------------------------------------------------------------


async def test_nothing_of_an_erased_memory_is_left_anywhere_and_all_else_is(
    house: House, acme: Tenant, other: Tenant, scanner: Scanner
) -> None:
    gone, stays = Told(1), Told(2)
    erased = await house.whole_life(acme, gone)
    for tenant in (acme, other):
        await house.whole_life(tenant, stays, tenant.ben.id)
        await house.accepted_life(tenant, stays)
    for told in (gone, stays):
        assert scanner.found(told.kept).keys() == told.kept
    going = {erased.id, *await ids(house.storage, acme, memory_proposals.c, user_id=None)}
    before = said_of_others(scanner, going)
    done = await house.removal.erase(acme.owner, erased.id)
    assert (done.memories, done.proposals, done.scrubbed) == (1, 2, True)
    assert scanner.found(gone.traces) == {}
    assert said_of_others(scanner, going) == before
    for tenant in (acme, other):
        await assert_counted(house.storage, tenant)


async def test_nor_of_one_that_began_as_a_proposal_and_was_forgotten(
    house: House, acme: Tenant, scanner: Scanner
) -> None:
    gone = Told()
    erased = await house.accepted_life(acme, gone)
    await house.memories.forget(acme.owner, erased.id)
    assert scanner.found(gone.traces)
    done = await house.removal.erase(acme.owner, erased.id)
    assert (done.memories, done.proposals) == (1, 1)
    assert scanner.found(gone.traces) == {}
    await assert_counted(house.storage, acme)


@pytest.mark.parametrize("by_its_old_name", [True, False])
async def test_a_moved_memory_goes_with_what_it_was_before(
    house: House, acme: Tenant, scanner: Scanner, by_its_old_name: bool
) -> None:
    gone = Told()
    before = await house.whole_life(acme, gone)
    between = await house.memories.update(acme.owner, before.id, user_id=acme.anna.id)
    now = await house.memories.update(acme.owner, between.id, text=gone.text(), user_id=None)
    assert len({before.id, between.id, now.id}) == 3
    done = await house.removal.erase(acme.owner, before.id if by_its_old_name else now.id)
    assert done.memories == 3
    assert scanner.found(gone.traces) == {}
    await assert_counted(house.storage, acme)


@pytest.mark.parametrize("survivor", [True, False])
async def test_merged_memories_go_together(
    house: House, acme: Tenant, scanner: Scanner, survivor: bool
) -> None:
    gone = Told()
    stayed, merged = await house.merged_life(acme, gone)
    done = await house.removal.erase(acme.owner, stayed if survivor else merged)
    assert (done.memories, done.proposals) == (2, 1)
    assert scanner.found(gone.traces) == {}
    await assert_counted(house.storage, acme)


async def test_what_was_merged_goes_even_where_its_chain_was_used_again(
    house: House, acme: Tenant, scanner: Scanner
) -> None:
    gone = Told()
    one, two = [
        await house.memories.remember(acme.owner, gone.text(), attribute=f"preference.{name}")
        for name in ("tea", "coffee")
    ]

    def end(tx: Transaction) -> None:
        tombstone(tx, two.id, Author(), DEFAULT_WAYS, continued_by_id=one.id)

    await house.storage.write(organization(acme), end)
    again = await house.memories.remember(acme.owner, "milk", attribute="preference.coffee")
    assert again.id == two.id
    assert (await house.removal.erase(acme.owner, one.id)).memories == 2
    assert scanner.found(gone.traces) == {}
    await assert_counted(house.storage, acme)


# --- chains that were used again ---------------------------------------------------------------

DRINK = "preference.drink"


@pytest.mark.parametrize("by_its_old_name", [True, False])
async def test_a_chain_that_was_used_again_goes_with_what_was_moved_out_of_it(
    house: House, acme: Tenant, scanner: Scanner, by_its_old_name: bool
) -> None:
    gone = Told()
    to = {"user_id": acme.anna.id, "attribute": DRINK}
    old = await house.memories.remember(acme.owner, gone.text(), **to)
    new = await house.memories.update(acme.owner, old.id, user_id=None, agent_id=acme.scout.id)
    assert (await house.memories.remember(acme.owner, "other", **to)).id == old.id
    done = await house.removal.erase(acme.owner, old.id if by_its_old_name else new.id)
    assert done.memories == 2
    assert scanner.found(gone.traces) == {}
    await assert_counted(house.storage, acme)


async def test_another_fact_that_was_moved_out_of_the_same_chain_stays(
    house: House, acme: Tenant
) -> None:
    old = await house.memories.remember(acme.owner, "secret", attribute=DRINK)
    new = await house.memories.update(acme.owner, old.id, user_id=acme.anna.id)
    await house.memories.remember(acme.owner, "other", attribute=DRINK)
    another = await house.memories.update(acme.owner, old.id, user_id=acme.ben.id)
    assert (await house.removal.erase(acme.owner, new.id)).memories == 2
    assert (await house.memories.get(acme.owner, another.id)).text == "other"


async def test_a_chain_is_found_by_way_of_one_that_is_purged(
    house: House, acme: Tenant, scanner: Scanner
) -> None:
    gone = Told()
    first = await house.memories.remember(acme.owner, gone.text(), attribute=DRINK)
    second = await house.memories.update(acme.owner, first.id, user_id=acme.anna.id)
    third = await house.memories.update(acme.owner, second.id, user_id=acme.ben.id)
    await house.memories.remember(acme.owner, "other", attribute=DRINK)

    def purge(tx: Transaction) -> None:
        tx.run(delete(memories).where(memories.c.id == second.id))

    await house.storage.write(organization(acme), purge)
    assert (await house.removal.erase(acme.owner, third.id)).memories == 2
    assert scanner.found(gone.traces) == {}


async def test_of_a_user_also_what_others_said_before_in_a_chain_that_they_used_again(
    house: House, acme: Tenant, scanner: Scanner
) -> None:
    gone = Told()
    old = await house.memories.remember(acme.owner, gone.text(), attribute=DRINK)
    await house.memories.update(acme.owner, old.id, user_id=acme.anna.id)
    await house.memories.remember(acme.owner, "other", attribute=DRINK)
    assert (await house.removal.erase_user(acme.owner, acme.anna.id)).memories == 2
    assert scanner.found(gone.traces) == {}
    with pytest.raises(NotFound):
        await house.memories.history(acme.owner, old.id)
    await assert_counted(house.storage, acme)


@pytest.mark.parametrize("how", ["forgotten", "used again", "moved on"])
async def test_of_a_user_also_what_was_given_to_others_and_ended_there(
    house: House, acme: Tenant, scanner: Scanner, how: str
) -> None:
    gone = Told()
    said = gone.text()
    to = {"user_id": acme.anna.id, "attribute": DRINK}
    annas = await house.memories.remember(acme.owner, said, **to)
    given = await house.memories.update(acme.owner, annas.id, user_id=None)
    await house.memories.remember(acme.owner, gone.text(), **to)
    moved: list[UUID] = []
    if how == "moved on":
        # Those who have it now keep it, in their own words.
        bens = await house.memories.update(acme.owner, given.id, user_id=acme.ben.id, text="mine")
        moved.append(bens.id)
    else:
        await house.memories.forget(acme.owner, given.id)
    if how != "forgotten":
        again = await house.memories.remember(acme.owner, "other", attribute=DRINK)
        assert again.id == given.id
    assert (await house.removal.erase_user(acme.owner, acme.anna.id)).memories == 2
    assert scanner.found(gone.traces) == {}
    for each in moved:
        assert (await house.memories.get(acme.owner, each)).text == "mine"
    await assert_counted(house.storage, acme)


async def test_what_others_forgot_and_restored_is_still_theirs(house: House, acme: Tenant) -> None:
    annas = await house.memories.remember(acme.owner, "the office key", user_id=acme.anna.id)
    shared = await house.memories.update(acme.owner, annas.id, user_id=None)
    await house.memories.forget(acme.owner, shared.id)
    await house.memories.restore(acme.owner, shared.id)
    assert (await house.removal.erase_user(acme.owner, acme.anna.id)).memories == 1
    assert (await house.memories.get(acme.owner, shared.id)).text == "the office key"


async def test_forgotten_memories_that_said_the_same_go_and_live_ones_and_other_audiences_stay(
    house: House, acme: Tenant, scanner: Scanner
) -> None:
    gone = Told()
    said = gone.text()
    earlier = await house.memories.remember(acme.owner, said.upper(), title=gone.word())
    await house.memories.forget(acme.owner, earlier.id)
    made = await house.memories.remember(acme.owner, said)
    assert made.id != earlier.id
    done = await house.removal.erase(acme.owner, made.id)
    assert done.memories == 2
    assert scanner.found(gone.traces) == {}
    await assert_counted(house.storage, acme)
    stay = [
        await house.memories.remember(acme.owner, said, user_id=acme.anna.id),
        await house.memories.remember(acme.owner, said, attribute=DRINK),
    ]
    annas, keyed = stay
    await house.memories.forget(acme.owner, annas.id)
    again = await house.memories.remember(acme.owner, said, attribute="preference.food")
    assert (await house.removal.erase(acme.owner, again.id)).memories == 1
    assert await house.memories.get(acme.owner, keyed.id) == keyed
    assert len(await house.memories.history(acme.owner, annas.id)) == 2


async def test_a_chain_of_very_many_revisions_goes_too(
    house: House, acme: Tenant, scanner: Scanner
) -> None:
    gone = Told()
    texts = [gone.text() if number % 100 == 0 else f"turn {number}" for number in range(1_200)]
    for text in texts[:-1]:
        await house.memories.remember(acme.owner, text, attribute="observation.a")
    made = await house.memories.remember(acme.owner, texts[-1], attribute="observation.a")
    assert made.version == 1_200
    assert (await house.removal.erase(acme.owner, made.id)).memories == 1
    assert await rows(house.storage, acme, memory_revisions) == 0
    assert scanner.found(gone.traces) == {}


async def test_other_audiences_keep_their_own_memory_and_proposal_of_the_same_text(
    house: House, acme: Tenant
) -> None:
    text = "the same in every house"
    everybodys = await house.memories.remember(acme.owner, text)
    annas = await house.memories.remember(acme.owner, text, user_id=acme.anna.id)
    bens = await house.proposals.propose(acme.owner, text, user_id=acme.ben.id)
    done = await house.removal.erase(acme.owner, everybodys.id)
    assert (done.memories, done.proposals) == (1, 0)
    assert await house.memories.get(acme.owner, annas.id) == annas
    assert await house.proposals.get(acme.owner, bens.proposal.id) == bens.proposal


async def test_proposals_under_the_same_key_go_and_those_under_another_stay(
    house: House, acme: Tenant
) -> None:
    made = await house.memories.remember(acme.owner, "tea", attribute="preference.drink")
    same = await house.proposals.propose(acme.owner, "milk", attribute="preference.drink")
    another = await house.proposals.propose(acme.owner, "bread", attribute="preference.food")
    assert (await house.removal.erase(acme.owner, made.id)).proposals == 1
    with pytest.raises(NotFound):
        await house.proposals.get(acme.owner, same.proposal.id)
    assert await house.proposals.get(acme.owner, another.proposal.id) == another.proposal
    await assert_counted(house.storage, acme)


# --- a user -----------------------------------------------------------------------------------


async def test_all_of_one_user_goes_and_nothing_of_anybody_else(
    house: House, acme: Tenant, other: Tenant, scanner: Scanner
) -> None:
    gone, stays = Told(1), Told(2)
    await house.whole_life(acme, gone, acme.anna.id)
    await house.accepted_life(acme, gone, acme.anna.id)
    await house.memories.remember(
        acme.owner, gone.text(), user_id=acme.anna.id, agent_id=acme.scout.id
    )
    await house.proposals.propose(acme.owner, gone.text(), user_id=acme.anna.id)
    moved = await house.memories.remember(acme.owner, gone.text())
    await house.memories.update(acme.owner, moved.id, user_id=acme.anna.id)
    for tenant, user in ((acme, acme.ben.id), (acme, None), (other, other.anna.id)):
        await house.whole_life(tenant, stays, user)
    written = await house.memories.remember(acme.member(acme.anna), gone.text())
    assert written.user_id == acme.anna.id
    assert scanner.found(gone.traces)
    going = {
        *await ids(house.storage, acme, memories.c, user_id=acme.anna.id),
        *await ids(house.storage, acme, memory_proposals.c, user_id=acme.anna.id),
        moved.id,
    }
    before = said_of_others(scanner, going)
    done = await house.removal.erase_user(acme.owner, acme.anna.id)
    assert (done.memories, done.proposals, done.scrubbed) == (6, 4, True)
    assert scanner.found(gone.traces) == {}
    assert said_of_others(scanner, going) == before
    for tenant in (acme, other):
        await assert_counted(house.storage, tenant)


async def test_what_a_user_gave_to_others_is_theirs(house: House, acme: Tenant) -> None:
    annas = await house.memories.remember(acme.owner, "the office key", user_id=acme.anna.id)
    shared = await house.memories.update(acme.owner, annas.id, user_id=None)
    assert (await house.removal.erase_user(acme.owner, acme.anna.id)).memories == 1
    assert (await house.memories.get(acme.owner, shared.id)).text == "the office key"
    with pytest.raises(NotFound):
        await house.memories.history(acme.owner, annas.id)
    (begin,) = await house.memories.history(acme.owner, shared.id)
    assert begin.continues_id is None, "nobody is sent to what is purged"


async def test_a_user_with_more_than_one_transaction_removes(
    house: House, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.memories.removal.service.AT_ONCE", 3)
    for number in range(7):
        await house.memories.remember(acme.owner, f"fact {number}", user_id=acme.anna.id)
    assert (await house.removal.erase_user(acme.owner, acme.anna.id)).memories == 7
    assert await rows(house.storage, acme, memories) == 0


async def test_an_unknown_user_is_not_found_and_one_without_memories_is_no_error(
    house: House, acme: Tenant, other: Tenant
) -> None:
    for unknown in (new_id(), other.anna.id):
        with pytest.raises(NotFound):
            await house.removal.erase_user(acme.owner, unknown)
    done = await house.removal.erase_user(acme.owner, acme.anna.id)
    assert (done.memories, done.proposals, done.quoted_in) == (0, 0, [])


# --- what is said of it -----------------------------------------------------------------------


async def test_conversations_that_quote_it_are_listed_and_left_as_they_are(
    house: House, acme: Tenant, other: Tenant
) -> None:
    said, before = "We never ship on Fridays.", "We never ship on Sundays"
    made = await house.memories.remember(acme.owner, before)
    await house.memories.update(acme.owner, made.id, text=said)
    contents = [
        "so:  we NEVER\nship on fridays. Clear?",
        "We never ship on Mondays.",
        [{"type": "text", "text": "x"}, {"type": "result", "lines": ["a", f"b {before}!"]}],
    ]
    made_of = {}
    for tenant in (acme, other):
        for content in contents:
            opened = await house.conversations.create(tenant.owner)
            fill = [Message(role="user", content=f"line {n}") for n in range(60)]
            await house.conversations.append(
                tenant.owner, opened.id, [*fill, Message(role="user", content=content)]
            )
            made_of.setdefault(tenant.owner, []).append(opened.id)
    mine = made_of[acme.owner]
    messages = [await house.conversations.messages(acme.owner, each) for each in mine]
    done = await house.removal.erase(acme.owner, made.id)
    assert sorted(done.quoted_in) == sorted([mine[0], mine[2]])
    assert [await house.conversations.messages(acme.owner, each) for each in mine] == messages


async def test_it_is_recorded_and_told_without_a_word_of_what_it_said(
    house: House, acme: Tenant
) -> None:
    made = await house.memories.remember(acme.owner, "tea", user_id=acme.anna.id)
    await house.removal.erase(acme.owner, made.id)
    last = (await activities(house.storage, acme))[-1]
    assert (last.type, last.subject_id) == ("memory_fact_purged", made.id)
    assert (last.user_id, last.metadata) == (acme.owner.user_id, {"reason": "erased"})
    event = (await events(house.storage, acme))[-1]
    assert event.user_id == acme.anna.id
    assert event.metadata == {"memory_id": str(made.id), "version": 1, "action": "purged"}


async def test_that_there_was_one_is_still_known(house: House, acme: Tenant, other: Tenant) -> None:
    made = await house.memories.remember(acme.owner, "tea", user_id=acme.anna.id)
    await house.memories.forget(acme.owner, made.id)
    discarded = (await house.proposals.propose(acme.owner, "tea", user_id=acme.anna.id)).proposal
    await house.proposals.discard(acme.owner, discarded.id)
    await house.removal.erase(acme.owner, made.id)
    for verb in (house.memories.get, house.memories.history, house.memories.forget):
        with pytest.raises(NotFound):
            await verb(acme.owner, made.id)
    for who in (acme.owner, acme.member(acme.anna)):
        with pytest.raises(NotRestorable):
            await house.memories.restore(who, made.id)
        with pytest.raises(NotRestorable):
            await house.proposals.restore(who, discarded.id)
    for stranger in (acme.member(acme.ben), other.owner):
        with pytest.raises(NotFound):
            await house.memories.restore(stranger, made.id)


async def test_the_text_may_be_remembered_again_as_another_memory(
    house: House, acme: Tenant
) -> None:
    for attribute in (None, "preference.drink"):
        made = await house.memories.remember(acme.owner, "tea", attribute=attribute)
        await house.removal.erase(acme.owner, made.id)
        again = await house.memories.remember(acme.owner, "tea", attribute=attribute)
        assert (again.id != made.id, again.version) == (True, 1)
        await house.removal.erase(acme.owner, again.id)


async def test_erasing_again_finds_nothing_and_is_no_error(house: House, acme: Tenant) -> None:
    made = await house.memories.remember(acme.owner, "tea")
    await house.removal.erase(acme.owner, made.id)
    again = await house.removal.erase(acme.owner, made.id)
    assert (again.memories, again.proposals, again.quoted_in, again.scrubbed) == (0, 0, [], True)
    assert len([e for e in await activities(house.storage, acme) if "purged" in e.type]) == 1
    with pytest.raises(NotFound):
        await house.removal.erase(acme.owner, new_id())


async def test_only_an_owner_of_its_organization_erases(
    house: House, acme: Tenant, other: Tenant
) -> None:
    made = await house.memories.remember(acme.owner, "tea", user_id=acme.anna.id)
    for who in (acme.member(acme.anna), acme.reader, acme.key_of(acme.scout, acme.anna)):
        with pytest.raises(Refused):
            await house.removal.erase(who, made.id)
        with pytest.raises(Refused):
            await house.removal.erase_user(who, acme.anna.id)
    with pytest.raises(NotFound):
        await house.removal.erase(other.owner, made.id)
    assert await house.memories.get(acme.owner, made.id) == made


async def test_listeners_are_told_after_the_commit_and_fail_nothing(
    storage: Storage, acme: Tenant
) -> None:
    heard: list[tuple[str, UUID]] = []

    def listener(name: str):
        def call(organization_id: UUID) -> None:
            heard.append((name, organization_id))
            raise RuntimeError(name)

        return call

    house = House.on(storage, changed=listener("changed"), evict=listener("evict"))
    made = await house.memories.remember(acme.owner, "tea")
    await house.removal.erase(acme.owner, made.id)
    assert heard == [("evict", organization(acme)), ("changed", organization(acme))]
    await house.removal.erase(acme.owner, made.id)
    assert len(heard) == 2, "nothing has changed"


# --- readers, faults and races ----------------------------------------------------------------


async def test_a_reader_of_an_older_state_delays_the_scrub_and_the_next_erasure_finishes_it(
    sqlite_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_scrub, "PATIENCE_MS", 50)
    scanner, gone = Scanner(sqlite_database, None), Told()
    storage = await Storage.open(sqlite_database)
    house, acme = House.on(storage), await new_tenant(storage)
    made = await house.whole_life(acme, gone)
    with closing(sqlite3.connect(sqlite_database.removeprefix("sqlite:///"))) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM memories").fetchone()
        done = await house.removal.erase(acme.owner, made.id)
        assert (done.memories, done.scrubbed) == (1, False)
        assert scanner.found(gone.traces)
        with pytest.raises(NotFound):
            await house.memories.get(acme.owner, made.id)
    again = await house.removal.erase(acme.owner, made.id)
    assert (again.memories, again.scrubbed) == (0, True)
    assert scanner.found(gone.traces) == {}
    await storage.close()


KILLED = """
import asyncio, sys
from uuid import UUID
from memoranda.access.models import Principal, Role
from memoranda.conversations.service import Conversations
from memoranda.memories.removal.service import Removal
from memoranda.storage import Storage

async def hang(self, **_):
    print("purged", flush=True)
    await asyncio.sleep(60)

async def main(url, organization, memory):
    storage = await Storage.open(url)
    Storage.scrub = hang
    who = Principal(organization_id=UUID(organization), role=Role.OWNER)
    removal = Removal(storage, quoting=Conversations(storage).quoting)
    await removal.erase(who, UUID(memory))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("finisher", ["a worker", "the next opening"])
async def test_what_was_purged_by_a_process_that_was_killed_is_scrubbed_by_another(
    database_url: str, scanner: Scanner, finisher: str
) -> None:
    gone = Told()
    storage = await Storage.open(database_url)
    house, acme = House.on(storage), await new_tenant(storage)
    made = await house.whole_life(acme, gone)
    await storage.close()
    killed = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", KILLED, database_url, str(organization(acme)), str(made.id)),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert killed.stdout is not None
    assert await killed.stdout.readline() == b"purged\n"
    killed.kill()
    await killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    storage = await Storage.open(database_url)
    assert await storage.read(PLATFORM, signals, SCRUB)
    if finisher == "a worker":
        await Worker(storage, [Scrubbing(storage)]).drain()
    else:
        now = storage._backend.clock() + timedelta(hours=1)
        async with Memoranda.open(database_url, clock=lambda: now):
            pass
    assert not await storage.read(PLATFORM, signals, SCRUB)
    assert scanner.found(gone.traces) == {}
    await storage.close()


async def test_an_opening_leaves_alone_what_another_process_is_about_to_finish(
    database_url: str,
) -> None:
    storage = await Storage.open(database_url)
    house, acme = House.on(storage), await new_tenant(storage)
    made = await house.memories.remember(acme.owner, "tea")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage._backend, "scrub", lambda: False)
        assert not (await house.removal.erase(acme.owner, made.id)).scrubbed
    async with Memoranda.open(database_url):
        assert await storage.read(PLATFORM, signals, SCRUB)
    await storage.close()


async def test_the_worker_rests_between_scrubs(storage: Storage, acme: Tenant) -> None:
    """A scrub holds up writers, and a night purges one organization after the other."""
    house, chore = House.on(storage), Scrubbing(storage)
    for text, done in (("tea", True), ("coffee", False)):
        made = await house.memories.remember(acme.owner, text)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(storage, "scrub", lambda: asyncio.sleep(0, result=False))
            await house.removal.erase(acme.owner, made.id)
        assert await chore.serve(organization(acme), new_id()) is done
    assert await chore.waiting(organization(acme))


async def test_whoever_writes_at_the_same_time_comes_before_or_after(
    database_url: str, storage: Storage, acme: Tenant
) -> None:
    """No revision, word or vector is left of a memory that is not there, and none is missing."""
    opened = [await Storage.open(database_url) for _ in range(4)]
    houses = [House.on(each) for each in opened]
    refusals: list[MemorandaError] = []

    async def trying(verb, *args, **kwargs) -> None:
        try:
            await verb(*args, **kwargs)
        except (NotFound, Conflict, NotRestorable) as refusal:
            refusals.append(refusal)

    for turn in range(8):
        key = {"attribute": f"observation.a{turn % 2}"}
        memory = (await houses[0].memories.remember(acme.owner, f"begin {turn}", **key)).id
        one, two, three, four = houses
        await asyncio.gather(
            trying(one.removal.erase, acme.owner, memory),
            trying(two.removal.erase, acme.owner, memory),
            trying(two.memories.update, acme.owner, memory, text=f"two {turn}"),
            trying(three.memories.forget, acme.owner, memory),
            trying(three.memories.restore, acme.owner, memory),
            trying(three.memories.update, acme.owner, memory, user_id=acme.anna.id),
            trying(four.memories.remember, acme.owner, f"four {turn}", **key),
            trying(four.proposals.propose, acme.owner, f"proposed {turn}", **key),
        )
    heads = await read(storage, acme, select(memories.c.id, memories.c.live, memories.c.version))
    ids, live = {row.id for row in heads}, {row.id for row in heads if row.live}
    revisions = await read(
        storage, acme, select(memory_revisions.c.memory_id, memory_revisions.c.version)
    )
    assert len(revisions) == sum(row.version for row in heads)
    assert {row.memory_id for row in revisions} == ids
    words = await read(storage, acme, select(search_postings.c.document_id))
    assert {row.document_id for row in words} == live
    made = search_vectors.c
    wanted = await read(storage, acme, select(made.item_id).where(made.failures >= 0))
    assert {row.item_id for row in wanted} == live
    purged = await read(storage, acme, select(purged_memories.c.id))
    assert not {row.id for row in purged} & ids
    await assert_counted(storage, acme)
    for each in opened:
        await each.close()


async def test_a_move_at_the_same_time_leaves_nothing_behind(
    database_url: str, storage: Storage, acme: Tenant, scanner: Scanner
) -> None:
    other = await Storage.open(database_url)
    here, there = House.on(storage), House.on(other)
    gone = Told()
    for _ in range(6):
        made = await here.memories.remember(acme.owner, gone.text())

        async def move(memory_id: UUID = made.id) -> None:
            with suppress(NotFound):
                await there.memories.update(acme.owner, memory_id, user_id=acme.anna.id)

        await asyncio.gather(move(), here.removal.erase(acme.owner, made.id))
    assert await rows(storage, acme, memories) == 0
    await storage.scrub()
    assert scanner.found(gone.traces) == {}
    await other.close()
