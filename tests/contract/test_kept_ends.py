"""Whatever takes away what frameworks keep leaves no row of it, and no word of it in any file."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace

import pytest
from sqlalchemy import select

from memoranda.app import Memoranda
from memoranda.conversations.histories.service import Histories
from memoranda.conversations.models import ConversationKey
from memoranda.conversations.sessions.service import Sessions
from memoranda.graphs.checkpoints.models import At, Channel, Write
from memoranda.memories.removal.models import QuotedInKept, QuotingState, QuotingThread
from memoranda.storage import PLATFORM
from memoranda.storage.signals import SCRUB, signals
from memoranda.storage.tables.base import METADATA
from memoranda.words.errors import Conflict, NotFound
from tests.contract.kept_house import ROOMY, TABLES, Keeping, packed
from tests.contract.memory_trail import read
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.told_words import Told
from tests.contract.traces import Scanner


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    async with Memoranda.open(database_url) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


@pytest.fixture
def gone() -> str:
    return Told(1).word()


@pytest.fixture
def stays() -> str:
    return Told(2).word()


async def rows(memoranda: Memoranda, acme: Tenant) -> dict[str, int]:
    """How many rows each table has."""
    return {
        name: len(await read(memoranda.storage, acme, select(METADATA.tables[name])))
        for name in TABLES
    }


async def keep_both(memoranda: Memoranda, acme: Tenant, gone: str, stays: str) -> Keeping:
    """Everything of Anna's in one word, and of Ben's in another."""
    await Keeping(memoranda, acme.owner, stays, acme.ben.id).everything()
    kept = Keeping(memoranda, acme.owner, gone, acme.anna.id)
    await kept.everything()
    there = await rows(memoranda, acme)
    assert all(there.values()), "every table has a row"
    return kept


async def test_erasing_a_user_takes_all_that_frameworks_keep_of_it(
    memoranda: Memoranda, acme: Tenant, gone: str, stays: str, scanner: Scanner
) -> None:
    await Keeping(memoranda, acme.owner, stays, acme.ben.id).everything()
    before = await rows(memoranda, acme)
    await Keeping(memoranda, acme.owner, gone, acme.anna.id).everything()
    # A graph's holder of an agent with her is hers too.
    await Keeping(memoranda, acme.owner, gone, acme.anna.id, acme.scout.id).graph()
    assert scanner.found([gone])
    done = await memoranda.removal.erase_user(acme.owner, acme.anna.id)
    assert done.scrubbed
    # Two checkpoints and items, a history, a session and a state; a conversation and its branch.
    assert (done.kept, done.conversations, done.chats) == (7, 2, 0)
    again = await memoranda.removal.erase_user(acme.owner, acme.anna.id)
    assert (again.kept, again.conversations, again.chats) == (0, 0, 0)
    assert await rows(memoranda, acme) == before
    assert scanner.found([stays])
    assert scanner.found([gone]) == {}


Rooms = Mapping[str, Callable[[Keeping], Awaitable[None]]]
ALONE: Rooms = {
    "graph": Keeping.graph,
    "history": Keeping.history,
    "sessions": Keeping.sessions,
}


@pytest.mark.parametrize("room", ALONE)
async def test_erasing_a_user_who_has_nothing_else_scrubs_the_files_too(
    memoranda: Memoranda, acme: Tenant, gone: str, scanner: Scanner, room: str
) -> None:
    await ALONE[room](Keeping(memoranda, acme.owner, gone, acme.anna.id))
    assert (await memoranda.removal.erase_user(acme.owner, acme.anna.id)).scrubbed
    assert scanner.found([gone]) == {}


async def test_each_purge_leaves_no_word_of_what_it_takes(
    memoranda: Memoranda, acme: Tenant, gone: str, stays: str, scanner: Scanner
) -> None:
    kept = await keep_both(memoranda, acme, gone, stays)
    anna = acme.member(acme.anna)
    graphs, hosts = memoranda.graphs, memoranda.kept
    [item] = (await graphs.namespaces.items(anna)).items
    [history] = (await hosts.histories.page(anna)).items
    [session] = (await hosts.sessions.page(anna)).items
    done = [
        await graphs.namespaces.purge_item(anna, item.id),
        await graphs.threads.purge(anna, kept.thread),
        await hosts.histories.purge(anna, history.id),
        await hosts.sessions.purge(anna, session.id),
        await hosts.sessions.purge_state(anna, "desk", str(acme.anna.id)),
    ]
    assert [each.rows for each in done] == [1, 3, 4, 2, 1]
    assert all(each.scrubbed for each in done)
    [conversation] = (
        await memoranda.conversations.of_workflow(acme.owner, kept.flow.workflow_id)
    ).items
    purged = await memoranda.conversations.resets.purge(acme.owner, conversation.id)
    assert purged.conversations == 2, "the conversation and its branch"
    assert scanner.found([gone]) == {}
    assert scanner.found([stays])
    assert set((await rows(memoranda, acme)).values()) >= {1}
    with pytest.raises(NotFound):
        await graphs.threads.purge(anna, kept.thread)


async def test_what_a_framework_deletes_itself_leaves_the_files_too(
    memoranda: Memoranda, acme: Tenant, gone: str, scanner: Scanner
) -> None:
    kept, storage = Keeping(memoranda, acme.owner, gone, acme.anna.id), memoranda.storage
    for keep, delete in (
        (
            kept.history,
            lambda: Histories(storage, max_bytes=ROOMY).delete(
                acme.owner, f"{gone}-talk", expected_revision="1", user_id=acme.anna.id
            ),
        ),
        (
            kept.graph,
            lambda: memoranda.graphs.checkpoints.delete_thread(
                acme.owner, kept.thread, user_id=acme.anna.id
            ),
        ),
        (
            kept.graph,
            lambda: memoranda.graphs.checkpoints.prune(
                acme.owner, [kept.thread], keep="nothing", user_id=acme.anna.id
            ),
        ),
        (
            kept.sessions,
            lambda: Sessions(storage, max_bytes=ROOMY).delete(acme.owner, kept.session),
        ),
    ):
        await keep()
        assert not await storage.read(PLATFORM, signals, SCRUB)
        await delete()
        assert await storage.read(PLATFORM, signals, SCRUB)
        await storage.scrub()
    await memoranda.graphs.namespaces.purge(acme.owner, (gone,), user_id=acme.anna.id)
    await memoranda.kept.sessions.purge_state(acme.owner, "desk", str(acme.anna.id))
    assert scanner.found([gone]) == {}


async def test_a_history_that_another_one_was_forked_from_leaves_what_that_comes_by(
    memoranda: Memoranda, acme: Tenant
) -> None:
    kept = Keeping(memoranda, acme.owner, "word", acme.anna.id)
    await kept.history()
    fork = (await memoranda.kept.histories.page(acme.owner)).items[0]
    service = Histories(memoranda.storage, max_bytes=ROOMY)
    first = await service.find(acme.owner, "word-talk", user_id=acme.anna.id)
    assert first is not None
    forked = first.model_copy(update={"name": "fork", "revision": "f", "tips": ("word-b",)})
    await service.write(acme.owner, forked, expected_revision=None, user_id=acme.anna.id)
    assert (await memoranda.kept.histories.purge(acme.owner, fork.id)).rows == 2
    [left] = (await memoranda.kept.histories.page(acme.owner)).items
    said = (await memoranda.kept.histories.entries(acme.owner, left.id)).items
    assert [(each.name, each.parent) for each in said] == [("word-a", None), ("word-b", "word-a")]
    assert (await memoranda.kept.histories.get(acme.owner, left.id)).tips == ["word-b"]


async def test_purging_a_conversation_takes_its_branches_and_their_names(
    memoranda: Memoranda, acme: Tenant, gone: str, stays: str, scanner: Scanner
) -> None:
    other = Keeping(memoranda, acme.owner, stays, acme.anna.id)
    await other.branches()
    before = await rows(memoranda, acme)
    kept = Keeping(memoranda, acme.owner, gone, acme.anna.id)
    main, _ = await kept.branches()
    await memoranda.conversations.resets.purge(acme.owner, main)
    assert await rows(memoranda, acme) == before
    assert await memoranda.conversations.branches.listed(acme.owner, kept.flow) == []
    with pytest.raises(NotFound):
        await memoranda.conversations.branches.messages(acme.owner, kept.flow, branch=f"{gone}-way")
    assert len(await memoranda.conversations.branches.listed(acme.owner, other.flow)) == 2
    assert scanner.found([gone]) == {}


async def test_purging_a_branchs_conversation_ends_the_branch_whose_name_stays_given(
    memoranda: Memoranda, acme: Tenant
) -> None:
    kept = Keeping(memoranda, acme.owner, "word", acme.anna.id)
    _, made = await kept.branches()
    service, key = memoranda.conversations.branches, kept.flow
    done = await memoranda.conversations.resets.purge(acme.owner, made.conversation_id)
    assert done.conversations == 1
    assert [each.name for each in await service.listed(acme.owner, key)] == ["main"]
    with pytest.raises(Conflict):
        await service.create(acme.owner, key, turn=2, name=made.name)
    assert len(await service.messages(acme.owner, key)) == 2


@pytest.mark.parametrize("reset_first", [False, True])
async def test_purging_a_workflow_takes_its_branches_also_those_of_a_generation_that_ended(
    memoranda: Memoranda, acme: Tenant, gone: str, scanner: Scanner, *, reset_first: bool
) -> None:
    before = await rows(memoranda, acme)
    kept = Keeping(memoranda, acme.owner, gone, acme.anna.id)
    _, made = await kept.branches()
    resets = memoranda.conversations.resets
    if reset_first:
        done = await resets.reset(acme.owner, kept.flow.workflow_id)
        assert done.conversations == 2
        found = await memoranda.conversations.get(acme.owner, made.conversation_id)
        assert found.length == 0
        later = ConversationKey(workflow_id=kept.flow.workflow_id, generation=2)
        assert await memoranda.conversations.branches.listed(acme.owner, later) == []
    purged = await resets.purge_workflow(acme.owner, kept.flow.workflow_id)
    assert purged.conversations == 2
    assert await rows(memoranda, acme) == before
    assert scanner.found([gone]) == {}


TEXT = "Anna keeps bees behind the house"


async def test_an_erasure_tells_where_frameworks_quote_what_went(
    memoranda: Memoranda, acme: Tenant
) -> None:
    made = await memoranda.memories.remember(acme.owner, TEXT)
    keeping = Keeping(memoranda, acme.owner, TEXT.upper(), acme.ben.id, acme.scout.id)
    await keeping.graph()
    await keeping.history()
    await keeping.sessions()
    main, branch = await keeping.branches()
    for word, user in (("quiet", acme.anna.id), ("silent", acme.ben.id)):
        await Keeping(memoranda, acme.owner, word, user).everything()
    expected = await places(memoranda, acme, TEXT.upper())
    done = await memoranda.removal.erase(acme.owner, made.id)
    assert done.quoted_in_kept == expected
    assert expected.threads[0].agent_id == acme.scout.id
    assert set(done.quoted_in) == {main, branch.conversation_id}
    again = await memoranda.memories.remember(acme.owner, TEXT)
    other = await new_tenant(memoranda.storage, "Other")
    theirs = await memoranda.memories.remember(other.owner, TEXT)
    assert (await memoranda.removal.erase(other.owner, theirs.id)).quoted_in_kept == QuotedInKept()
    mine = await memoranda.memories.remember(acme.owner, TEXT, user_id=acme.ben.id)
    del again, mine
    erased = await memoranda.removal.erase_user(acme.owner, acme.ben.id)
    assert erased.quoted_in_kept == QuotedInKept()


async def places(memoranda: Memoranda, acme: Tenant, word: str) -> QuotedInKept:
    """Where the word stands, looked up by the lists."""
    who, kept = acme.owner, memoranda.kept
    return QuotedInKept(
        threads=[
            QuotingThread(user_id=each.user_id, agent_id=each.agent_id, thread_id=each.thread_id)
            for each in (await memoranda.graphs.threads.page(who)).items
            if word in each.thread_id
        ],
        items=[
            each.id
            for each in (await memoranda.graphs.namespaces.items(who)).items
            if word in each.key
        ],
        histories=[each.id for each in (await kept.histories.page(who)).items if word in each.name],
        sessions=[each.id for each in (await kept.sessions.page(who)).items if word in each.name],
        states=[
            QuotingState(application=each.application, person=each.person)
            for each in (await kept.sessions.states(who)).items
            if word in json.dumps(each.state)
        ],
    )


@pytest.mark.parametrize("at", ["state", "metadata", "value", "write"])
async def test_a_quote_is_found_in_each_part_of_a_thread(
    memoranda: Memoranda, acme: Tenant, at: str
) -> None:
    """The text ends before a number that its last letter could be taken together with."""
    graphs = memoranda.graphs
    plain = Keeping(memoranda, acme.owner, "plain", None).checkpoint("1")
    new = {
        "state": replace(plain, state=packed(TEXT)),
        "metadata": replace(plain, metadata=packed(TEXT)),
        "value": replace(plain, values=[Channel("plain-channel", "1", packed(TEXT))]),
        "write": plain,
    }[at]
    await graphs.checkpoints.keep(acme.owner, new)
    if at == "write":
        written = [Write(0, "c", packed(TEXT))]
        await graphs.checkpoints.write(acme.owner, At("plain-thread", "", "9"), "t", written)
    made = await memoranda.memories.remember(acme.owner, TEXT)
    done = await memoranda.removal.erase(acme.owner, made.id)
    assert [each.thread_id for each in done.quoted_in_kept.threads] == ["plain-thread"]


async def test_a_user_that_is_erased_keeps_nothing_for_anybody_else(
    memoranda: Memoranda, acme: Tenant, gone: str
) -> None:
    """Each table that frameworks' rooms own names its rows' holder, and none of them is the user's afterwards."""
    await Keeping(memoranda, acme.owner, gone, acme.anna.id, acme.scout.id).everything()
    await memoranda.removal.erase_user(acme.owner, acme.anna.id)
    left = await rows(memoranda, acme)
    # What the application keeps for everybody is nobody's.
    assert {name for name, count in left.items() if count} == {"agent_session_states"}
