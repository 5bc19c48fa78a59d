"""What ends in chats: cleared, deleted, purged and erased, and what is left of it, which is no word."""

from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from sqlalchemy import select

from memoranda.app import Memoranda
from memoranda.conversations.chats.feedback.models import Rating
from memoranda.conversations.chats.live.models import TextDelta
from memoranda.conversations.errors import LateSave, OlderGeneration
from memoranda.conversations.models import ConversationKey
from memoranda.runs.service import Runs
from memoranda.storage import Storage
from memoranda.storage.tables import (
    activities,
    chat_branch_snapshots,
    chat_feedback,
    chat_messages,
    chat_notes,
    chat_run_cursors,
    chat_run_events,
    chat_runs,
    chats,
    run_changes,
    runs,
)
from memoranda.words.errors import NotFound
from tests.contract.chat_desk import Desk, says
from tests.contract.memory_trail import read
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.told_words import Told
from tests.contract.traces import Scanner

OF_A_CHAT = (
    chat_messages, chat_runs, chat_run_cursors, chat_branch_snapshots, chat_notes, chat_feedback,
    chat_run_events,
)  # fmt: skip


@pytest.fixture
async def desk(storage: Storage, acme: Tenant) -> Desk:
    return await Desk.of(storage, acme)


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    async with Memoranda.open(database_url) as opened:
        yield opened


async def whole_life(desk: Desk, told: Told, *agents: UUID | None) -> None:
    """A chat of words that stand nowhere else, in every place where a word can be."""
    said = told.text
    await desk.exchange(said(), said(), *agents)
    done = await desk.exchange(said(), said(), *agents)
    assert done.answer is not None
    await desk.chats.feedback.give(desk.who, desk.id, done.answer.id, "down", comment=said())
    await desk.reply((await desk.regenerate()).run, said(), *agents)
    await desk.chats.notes.add(desk.who, desk.id, "form", said())
    sent = await desk.ask(said())
    await desk.begin(sent.run)
    await desk.chats.wait(desk.who, sent.run.id, said())
    await desk.chats.fail(desk.who, sent.run.id, said())
    await desk.chats.notes.add(desk.who, desk.id, "form", said())
    live = await desk.ask(said())
    await desk.begin(live.run)


async def counts(storage: Storage, tenant: Tenant) -> dict[str, int]:
    found = {}
    for table in OF_A_CHAT:
        rows = await read(storage, tenant, select(table.c.organization_id))
        found[table.name] = len(rows)
    return found


# --- clear ------------------------------------------------------------------------------------


async def test_a_clear_takes_all_that_was_said_and_what_the_agents_know(
    desk: Desk, storage: Storage, acme: Tenant
) -> None:
    agents = (None, acme.scout.id)
    other_tenant = await new_tenant(storage, "Other")
    other = await Desk.of(storage, other_tenant)
    await whole_life(desk, Told(1), *agents)
    await whole_life(other, Told(2))
    theirs = await counts(storage, other_tenant)
    assert all((await counts(storage, acme)).values()), "else it would prove nothing"
    before = await desk.now()
    cleared = await desk.chats.clear(desk.who, desk.id)
    assert (cleared.id, cleared.workflow_id, cleared.active_leaf) == (
        before.id,
        before.workflow_id,
        None,
    )
    assert cleared.revision == before.revision + 1
    assert set((await counts(storage, acme)).values()) == {0}
    assert await counts(storage, other_tenant) == theirs
    reasons = await read(storage, acme, select(runs.c.failure_reason, runs.c.waiting_reason))
    assert {each for row in reasons for each in row} == {None}
    changes = await read(storage, acme, select(run_changes.c.reason))
    assert {row.reason for row in changes} == {None}
    for agent in agents:
        assert await desk.known(agent) == []
    await desk.exchange("new", "fine")
    await desk.assert_known()


async def test_a_clear_ends_what_is_live_and_nothing_comes_of_it(
    desk: Desk, storage: Storage, acme: Tenant
) -> None:
    await desk.exchange("q0", "a0")
    sent = await desk.ask("q1")
    prepared = await desk.begin(sent.run)
    first = await desk.begin(sent.run, acme.scout.id)
    await desk.chats.clear(desk.who, desk.id)
    assert (await Runs(storage).get(desk.who, sent.run.id)).status == "cancelled"
    with pytest.raises(NotFound):
        await desk.chats.answer(desk.who, sent.run.id, "late", [desk.turn(prepared, "late")])
    key = ConversationKey(workflow_id=desk.chat.workflow_id)
    for late, agent_id in ((prepared, None), (first, acme.scout.id)):
        at = key.model_copy(update={"agent_id": agent_id})
        with pytest.raises(LateSave):
            await desk.talks.save(desk.who, at, [says("late")], fence=late.loaded.fence)
    assert await desk.shown() == []


async def test_a_clear_leaves_other_workflows_and_other_users_alone(
    desk: Desk, storage: Storage, acme: Tenant
) -> None:
    other = await Desk.of(storage, acme)
    await other.exchange("stays", "indeed")
    await desk.exchange("goes", "indeed")
    sent = await desk.ask("goes too")
    await desk.begin(sent.run, acme.clerk.id)  # which knows nothing yet
    bens = ConversationKey(workflow_id=desk.chat.workflow_id, agent_id=acme.clerk.id)
    await desk.talks.append(acme.member(acme.ben), bens, [says("bens")])
    await desk.chats.clear(acme.member(acme.anna), desk.id)
    await other.assert_known()
    assert [each.content for each in (await desk.talks.load(acme.owner, bens)).messages] == ["bens"]


# --- delete -----------------------------------------------------------------------------------


async def test_a_chat_that_is_deleted_is_gone_with_what_its_agents_know(
    desk: Desk, storage: Storage, acme: Tenant
) -> None:
    other = await Desk.of(storage, acme)
    await other.exchange("stays", "indeed")
    await whole_life(desk, Told(1))
    thread = await desk.chats.thread(desk.who, desk.id)
    assert thread.run is not None
    await desk.begin(thread.run, acme.scout.id)  # which knows nothing yet
    await desk.chats.delete(desk.who, desk.id)
    for attempt in (
        desk.chats.get(desk.who, desk.id),
        desk.chats.thread(desk.who, desk.id),
        desk.chats.delete(desk.who, desk.id),
        desk.chats.answer(desk.who, thread.run.id, "late"),
        desk.ask("late"),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert (await desk.talks.of_workflow(desk.who, desk.chat.workflow_id)).items == []
    assert (await Runs(storage).get(desk.who, thread.run.id)).status == "cancelled"
    for agent_id in (None, acme.scout.id):
        key = ConversationKey(workflow_id=desk.chat.workflow_id, agent_id=agent_id)
        with pytest.raises(LateSave):
            await desk.talks.save(desk.who, key, [says("late")], fence=0)
    recorded = await read(storage, acme, select(activities.c.type, activities.c.subject_id))
    assert ("chat_deleted", desk.id) in recorded
    await other.assert_known()
    again = await desk.chats.create(desk.who, workflow_id=desk.chat.workflow_id)
    assert again.id != desk.id


async def test_a_chat_whose_workflow_was_reset_can_be_deleted_too(
    desk: Desk, storage: Storage, acme: Tenant
) -> None:
    await desk.exchange("q", "a")
    await desk.talks.resets.reset(desk.who, desk.chat.workflow_id)
    await desk.chats.delete(desk.who, desk.id)
    assert await read(storage, acme, select(chats.c.id)) == []


@pytest.mark.parametrize("ends", ["cleared", "deleted"])
async def test_what_was_said_since_a_reset_ends_with_the_chat_too(
    desk: Desk, acme: Tenant, ends: str
) -> None:
    await desk.exchange("q", "a")
    workflow = desk.chat.workflow_id
    await desk.talks.resets.reset(desk.who, workflow)
    since = ConversationKey(workflow_id=workflow, generation=2, agent_id=acme.scout.id)
    await desk.talks.append(acme.member(acme.anna), since, [says("since")])
    bens = ConversationKey(workflow_id=workflow, generation=2, agent_id=acme.clerk.id)
    await desk.talks.append(acme.member(acme.ben), bens, [says("bens")])
    if ends == "cleared":
        assert (await desk.chats.clear(desk.who, desk.id)).generation == 2
        run = (await desk.ask("q")).run
        assert (await desk.begin(run, acme.scout.id)).loaded.messages == []
    else:
        await desk.chats.delete(desk.who, desk.id)
    left = (await desk.talks.of_workflow(desk.who, workflow)).items
    assert [each.agent_id for each in left if each.length] == [acme.clerk.id]


async def test_an_erased_users_rating_is_told_nobody_any_more(
    database_url: str, scanner: Scanner
) -> None:
    async with Memoranda.open(database_url) as memoranda:
        acme = await new_tenant(memoranda.storage)
        desk = await Desk.of(memoranda.storage, acme)
        answered = await desk.exchange("q", "a")
        assert answered.answer is not None
        gone, ben = Told(1), acme.owner.model_copy(update={"user_id": acme.ben.id})
        await desk.chats.feedback.give(
            ben, desk.id, answered.answer.id, Rating.DOWN, comment=gone.text()
        )
        assert scanner.found(gone.traces)
        await memoranda.removal.erase_user(acme.owner, acme.ben.id)
        assert scanner.found(gone.traces) == {}


# --- no word is left --------------------------------------------------------------------------


async def test_no_word_is_left_of_a_chat_that_is_gone_for_good(
    database_url: str, scanner: Scanner
) -> None:
    async with Memoranda.open(database_url) as memoranda:
        acme = await new_tenant(memoranda.storage)
        chats, resets = memoranda.chats, memoranda.conversations.resets
        gone, stays = Told(1), Told(2)
        deleted, purged, workflow = [
            await Desk.of(memoranda.storage, acme, user_id=acme.owner.user_id, title=gone.text())
            for _ in range(3)
        ]
        annas = await Desk.of(memoranda.storage, acme, title=gone.text())
        for desk in (deleted, purged, workflow):
            await desk.exchange(gone.text(), gone.text())
            await desk.chats.fail(desk.who, (await desk.regenerate()).run.id, gone.text())
        await whole_life(annas, gone, None)
        bens = await Desk.of(memoranda.storage, acme, user_id=acme.ben.id, title=stays.text())
        await bens.exchange(stays.text(), stays.text())
        await memoranda.worker.drain()
        assert scanner.found(gone.traces)
        await chats.delete(acme.owner, deleted.id)
        (made,) = (
            await memoranda.conversations.of_workflow(acme.owner, purged.chat.workflow_id)
        ).items
        await resets.purge(acme.owner, made.id)
        await resets.purge_workflow(acme.owner, workflow.chat.workflow_id)
        await memoranda.removal.erase_user(acme.owner, acme.anna.id)
        assert scanner.found(gone.traces) == {}
        assert scanner.found({each for each in stays.traces if isinstance(each, str)})
        assert [each.id for each in (await chats.page(acme.owner)).items] == [bens.id]


async def test_a_purge_of_what_is_not_the_chats_leaves_the_chat(desk: Desk, acme: Tenant) -> None:
    await desk.exchange("q", "a")
    bens = ConversationKey(workflow_id=desk.chat.workflow_id, agent_id=acme.clerk.id)
    made = await desk.talks.append(acme.member(acme.ben), bens, [says("bens")])
    await desk.talks.resets.purge(acme.owner, made.id)
    await desk.assert_known()


async def test_an_erasure_finds_the_chats_that_quote_what_it_takes(
    memoranda: Memoranda,
) -> None:
    acme = await new_tenant(memoranda.storage)
    quote = "we never ship on fridays"
    where = {}
    for place in ("message", "left branch", "note", "live run", "title", "snapshot", "nowhere"):
        title = quote if place == "title" else None
        desk = where[place] = await Desk.of(memoranda.storage, acme, title=title)
        await desk.exchange("q", "a")
    await where["message"].exchange("hm?", f"As said, {quote.upper()}.")
    await where["left branch"].exchange("hm?", quote)
    await where["left branch"].regenerate()
    await where["note"].chats.notes.add(acme.owner, where["note"].id, "k", f"He says {quote}")
    prepared = await where["snapshot"].begin((await where["snapshot"].ask("hm?")).run)
    kept = [where["snapshot"].turn(prepared, quote)]  # which the agent knows, and nobody was told
    await where["snapshot"].chats.answer(acme.owner, prepared.run.id, "hm", kept)
    await where["snapshot"].regenerate()
    run = (await where["live run"].ask("hm?")).run
    await where["live run"].chats.pick_up(acme.owner, run.id)
    told = [TextDelta(text=quote[:9]), TextDelta(text=quote[9:])]
    await where["live run"].chats.live.emit(acme.owner, run.id, told)
    memory = await memoranda.memories.remember(acme.owner, quote)
    erased = await memoranda.removal.erase(acme.owner, memory.id)
    assert erased.quoted_in_chats == [
        where[place].id
        for place in ("snapshot", "title", "live run", "note", "left branch", "message")
    ]


async def test_what_an_erased_user_says_is_not_among_what_is_left_to_decide(
    memoranda: Memoranda,
) -> None:
    acme = await new_tenant(memoranda.storage)
    quote = "we never ship on fridays"
    annas, bens = [
        await Desk.of(memoranda.storage, acme, user_id=user.id) for user in (acme.anna, acme.ben)
    ]
    for desk in (annas, bens):
        await desk.exchange(quote, "indeed")
    await memoranda.memories.remember(acme.owner, quote, user_id=acme.anna.id)
    erased = await memoranda.removal.erase_user(acme.owner, acme.anna.id)
    assert erased.quoted_in_chats == [bens.id]
    assert [each.id for each in (await memoranda.chats.page(acme.owner)).items] == [bens.id]


async def test_after_a_reset_no_snapshot_is_kept(
    desk: Desk, storage: Storage, acme: Tenant
) -> None:
    await desk.exchange("q", "a")
    await desk.chats.fail(desk.who, (await desk.regenerate()).run.id, "no")
    assert await read(storage, acme, select(chat_branch_snapshots.c.id))
    await desk.talks.resets.reset(desk.who, desk.chat.workflow_id)
    assert await read(storage, acme, select(chat_branch_snapshots.c.id)) == []
    with pytest.raises(OlderGeneration):
        await desk.regenerate()
