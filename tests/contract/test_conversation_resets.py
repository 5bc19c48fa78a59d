"""What a clear, a reset and a purge promise: what is taken away, what stays, and what comes too late."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from sqlalchemy import select

from memoranda.access.models import LOCAL_OPERATOR, Principal
from memoranda.app import Memoranda
from memoranda.conversations import store
from memoranda.conversations.errors import LaterGeneration, LateSave, OlderGeneration
from memoranda.conversations.models import (
    ConversationChange,
    ConversationKey,
    Message,
    WorkflowGeneration,
    WorkflowReset,
)
from memoranda.conversations.service import Conversations
from memoranda.runs.events.service import Events
from memoranda.search.terms import read_passage
from memoranda.storage import Storage
from memoranda.storage.tables import (
    activities,
    conversation_archive,
    conversation_fences,
    conversation_messages,
    conversations,
)
from memoranda.words.errors import Conflict, Gone, Invalid, NotFound, Refused
from memoranda.words.ids import new_id
from memoranda.words.subject import ContextSubject
from tests.contract.clocks import SteppedClock
from tests.contract.conversation_desk import KEY, begun, contents, kept, said, texts
from tests.contract.memory_trail import read
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.test_same_brief import MORNING, furnish
from tests.contract.told_words import Told
from tests.contract.traces import Scanner

INDEXED = ("documents", "models", "postings", "terms", "totals")
CLEARED = {
    *("conversations", "conversation_messages", "conversation_segments"),
    *("events", "event_counters", *(f"search_{each}" for each in INDEXED)),
}
"""The tables that a clear may write to; a reset counts the generation too, and is an activity."""
RESET = {*CLEARED, "workflow_generations", "activities"}


@pytest.fixture
def talks(storage: Storage) -> Conversations:
    return Conversations(storage)


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    async with Memoranda.open(database_url) as opened:
        yield opened


# --- clear ------------------------------------------------------------------------------------


async def test_a_clear_empties_the_conversation_and_keeps_it(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    await begun(talks, acme.owner, "a", "b")
    await begun(talks, acme.owner, "a", "c")
    other = ConversationKey(workflow_id="other")
    await begun(talks, acme.owner, "stays", key=other)
    (before,) = (await talks.of_workflow(acme.owner, "support")).items
    cleared = await talks.clear(acme.owner, KEY)
    assert cleared is not None
    assert (cleared.id, cleared.length, cleared.bytes, cleared.digest, cleared.fence) == (
        before.id,
        0,
        0,
        "",
        before.fence + 1,
    )
    assert await talks.get(acme.owner, before.id) == cleared
    assert await texts(talks, acme.owner, other) == ["stays"]
    assert await kept(storage, acme) == (1, 0)


async def test_a_save_or_append_begun_before_a_clear_is_refused_and_the_next_load_goes_on(
    talks: Conversations, acme: Tenant
) -> None:
    await begun(talks, acme.owner, "a")
    before = await talks.load(acme.owner, KEY)
    await talks.clear(acme.owner, KEY)
    for attempt in (
        talks.save(acme.owner, KEY, [*before.messages, *said("late")], fence=before.fence),
        talks.append(acme.owner, KEY, said("late"), fence=before.fence),
    ):
        with pytest.raises(LateSave) as refused:
            await attempt
        assert refused.value.details["fence"] == before.fence + 1
    now = await talks.load(acme.owner, KEY)
    assert (now.messages, now.length, now.fence) == ([], 0, before.fence + 1)
    await talks.save(acme.owner, KEY, said("new"), fence=now.fence)
    assert await texts(talks, acme.owner) == ["new"]


async def test_positions_go_on_after_a_clear(talks: Conversations, acme: Tenant) -> None:
    before = await begun(talks, acme.owner, "a", "b")
    await talks.clear(acme.owner, KEY)
    after = await begun(talks, acme.owner, "c")
    assert after[0].position > before[-1].position


async def test_a_clear_of_a_key_without_a_conversation_refuses_the_first_save_that_was_begun(
    talks: Conversations, acme: Tenant
) -> None:
    before = await talks.load(acme.owner, KEY)
    assert await talks.clear(acme.owner, KEY) is None
    with pytest.raises(LateSave):
        await talks.save(acme.owner, KEY, said("late"), fence=before.fence)
    assert (await talks.page(acme.owner)).items == []
    await begun(talks, acme.owner, "new")
    assert await texts(talks, acme.owner) == ["new"]


async def test_how_it_was_before_a_clear_is_told_to_nobody(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    talks, acme = Conversations(timed_storage), await new_tenant(timed_storage)
    subject = ContextSubject(organization_id=acme.owner.organization_id)
    await begun(talks, acme.owner, "a")
    before = clock.now
    clock.tick(timedelta(minutes=1))
    cleared = await talks.clear(acme.owner, KEY)
    assert cleared is not None
    with pytest.raises(Gone):
        await talks.recent(subject, cleared.id, 5, as_of=before)
    assert await talks.recent(subject, cleared.id, 5, as_of=clock.now) == []


# --- reset ------------------------------------------------------------------------------------


async def test_a_reset_begins_a_generation_and_ends_the_conversations_of_all_agents(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    keys = [KEY, KEY.model_copy(update={"agent_id": acme.scout.id})]
    for key in keys:
        await begun(talks, acme.owner, "old", "older", key=key)
    await begun(talks, acme.owner, "stays", key=ConversationKey(workflow_id="sales"))
    await begun(talks, other.owner, "theirs")
    told: list[ConversationChange] = []
    talks.listen(told.append)
    done = await talks.resets.reset(acme.owner, "support")
    assert done == WorkflowReset(
        workflow_id="support",
        generation=2,
        conversations=2,
        spaces_cleared=[],
        memories_forgotten=0,
    )
    assert [each.action for each in told] == ["reset", "reset"]
    listed = (await talks.of_workflow(acme.owner, "support")).items
    assert [(each.generation, each.length, each.bytes) for each in listed] == [(1, 0, 0)] * 2
    assert await kept(storage, acme) == (1, 0)
    assert await texts(talks, other.owner) == ["theirs"]
    for key in keys:
        for attempt in (
            talks.load(acme.owner, key),
            talks.save(acme.owner, key, said("late"), fence=0),
            talks.save(acme.owner, key, said("late"), fence=1),
            talks.append(acme.owner, key, said("late")),
            talks.clear(acme.owner, key),
        ):
            with pytest.raises(OlderGeneration) as refused:
                await attempt
            assert refused.value.details["generation"] == 2
    for each in listed:
        with pytest.raises(OlderGeneration):
            await talks.append(acme.owner, each.id, said("late"))
        with pytest.raises(OlderGeneration):
            await talks.load(acme.owner, each.id)
    new = KEY.model_copy(update={"generation": 2})
    await begun(talks, acme.owner, "new", key=new)
    assert [each.generation for each in (await talks.of_workflow(acme.owner, "support")).items] == [
        2,
        1,
        1,
    ]


async def test_a_first_save_for_an_older_generation_makes_nothing(
    talks: Conversations, acme: Tenant
) -> None:
    await talks.resets.reset(acme.owner, "support")
    for attempt in (
        talks.load(acme.owner, KEY),
        talks.save(acme.owner, KEY, said("late"), fence=0),
        talks.append(acme.owner, KEY, said("late")),
        talks.create(acme.owner, workflow_id="support"),
    ):
        with pytest.raises(OlderGeneration):
            await attempt
    assert (await talks.page(acme.owner)).items == []


async def test_a_generation_that_no_reset_has_begun_takes_nothing_and_is_told_which_goes_on(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    for tenant in (acme, other):
        await begun(talks, tenant.owner, "a")
    await talks.resets.reset(acme.owner, "support")
    for tenant, present in ((acme, 2), (other, 1)):
        for agent in (None, tenant.scout.id):
            later = ConversationKey(workflow_id="support", generation=present + 7, agent_id=agent)
            for attempt in (
                talks.load(tenant.owner, later),
                talks.save(tenant.owner, later, said("early"), fence=0),
                talks.append(tenant.owner, later, said("early")),
                talks.clear(tenant.owner, later),
                talks.create(
                    tenant.owner, workflow_id="support", agent_id=agent, generation=present + 1
                ),
            ):
                with pytest.raises(LaterGeneration) as refused:
                    await attempt
                assert refused.value.details["generation"] == present
    assert await kept(storage, acme) == (0, 0)
    assert await kept(storage, other) == (1, 0)
    assert len((await talks.page(acme.owner)).items) == 1


async def test_everybody_is_told_which_generation_of_a_workflow_goes_on(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    everybody = (acme.owner, acme.member(acme.anna), acme.reader, acme.key_of(acme.scout))

    async def told(who: Principal) -> WorkflowGeneration:
        return await talks.resets.generation(who, " support ")

    for generation in (1, 2, 3):
        for who in everybody:
            assert await told(who) == WorkflowGeneration(
                workflow_id="support", generation=generation
            )
        await talks.resets.reset(acme.owner, "support")
    await talks.resets.purge_workflow(acme.owner, "support")
    assert (await told(acme.reader)).generation == 5
    assert (await told(other.owner)).generation == 1
    with pytest.raises(Refused):
        await told(LOCAL_OPERATOR)
    with pytest.raises(Invalid):
        await talks.resets.generation(acme.owner, "\0")


async def test_a_reset_goes_past_later_generations_that_are_there_from_before(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    """A host could begin them by itself once; what is there goes on until then."""
    first = await talks.create(acme.owner, workflow_id="support")
    there = first.model_copy(update={"id": new_id(), "generation": 7})
    await storage.write(acme.owner.organization_id, store.create, there)
    key = KEY.model_copy(update={"generation": 7})
    await begun(talks, acme.owner, "a", key=key)
    assert await texts(talks, acme.owner, key) == ["a"]
    assert (await talks.resets.reset(acme.owner, "support")).generation == 8
    assert (await talks.resets.reset(acme.owner, "support")).generation == 9
    assert await kept(storage, acme) == (0, 0)


@pytest.mark.parametrize("workflow", ["reset", "purge_workflow"])
async def test_what_was_purged_in_a_generation_that_is_still_to_come_is_made_again_by_no_late_save(
    talks: Conversations, storage: Storage, acme: Tenant, workflow: str
) -> None:
    key = KEY.model_copy(update={"generation": 4})
    first = await talks.create(acme.owner, workflow_id="support")
    there = first.model_copy(update={"id": new_id(), "generation": 4})
    await storage.write(acme.owner.organization_id, store.create, there)
    await begun(talks, acme.owner, "a", key=key)
    before = await talks.load(acme.owner, key)
    assert before.conversation is not None
    await talks.resets.purge(acme.owner, before.conversation.id)
    for refused in (LaterGeneration, LaterGeneration, LateSave):
        await getattr(talks.resets, workflow)(acme.owner, "support")
        with pytest.raises(refused):
            await talks.save(acme.owner, key, [*before.messages, *said("late")], fence=before.fence)
    assert await kept(storage, acme) == (0, 0)
    await begun(talks, acme.owner, "new", key=key)
    assert await texts(talks, acme.owner, key) == ["new"]


async def test_a_clear_for_an_older_generation_is_refused_whether_it_had_a_conversation_or_not(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    await begun(talks, acme.owner, "a")
    await talks.resets.reset(acme.owner, "support")
    for agent in (None, acme.scout.id):
        with pytest.raises(OlderGeneration) as refused:
            await talks.clear(acme.owner, KEY.model_copy(update={"agent_id": agent}))
        assert refused.value.details["generation"] == 2
    assert await read(storage, acme, select(conversation_fences.c.fence)) == []


async def test_each_space_of_a_workflow_is_kept_or_cleared_as_its_policy_says(
    memoranda: Memoranda,
) -> None:
    acme = await new_tenant(memoranda.storage)
    other = await new_tenant(memoranda.storage, "Other")
    spaces = memoranda.tools.spaces
    for tenant in (acme, other):
        for node, policy in (("keeps", "keep"), ("clears", "clear"), ("says nothing", None)):
            await spaces.publish(
                tenant.owner, "support", node, agent_id=tenant.scout.id,
                tools=["remember", "list"], reset_policy=policy,
            )  # fmt: skip
        await spaces.publish(
            tenant.owner, "sales", "clears", agent_id=tenant.scout.id,
            tools=["remember", "list"], reset_policy="clear",
        )  # fmt: skip
        await memoranda.memories.remember(tenant.owner, "of no space")
        for name in ("support/keeps", "support/clears", "support/says nothing", "sales/clears"):
            workflow, node = name.split("/")
            who = await spaces.bound(tenant.owner, workflow, node)
            await memoranda.tools.policies.set(tenant.owner, tenant.scout.id, "remember", "allow")
            await memoranda.tools.call(who, "remember", {"content": f"in {name}"})
    done = await memoranda.conversations.resets.reset(acme.owner, "support")
    assert (done.spaces_cleared, done.memories_forgotten) == (["support/clears"], 1)

    async def there(tenant: Tenant, workflow: str, node: str) -> int:
        who = await spaces.bound(tenant.owner, workflow, node)
        answer = (await memoranda.tools.call(who, "list", {})).answer
        return len(answer["memories"])

    assert [await there(acme, "support", node) for node in ("keeps", "clears", "says nothing")] == [
        1,
        0,
        1,
    ]
    assert await there(acme, "sales", "clears") == 1
    assert await there(other, "support", "clears") == 1
    assert len((await memoranda.memories.page(acme.owner)).items) == 4
    assert len((await memoranda.memories.page(other.owner)).items) == 5


async def test_a_space_published_again_without_a_policy_keeps_the_one_it_has(
    memoranda: Memoranda,
) -> None:
    acme = await new_tenant(memoranda.storage)
    publish = memoranda.tools.spaces.publish
    made = await publish(acme.owner, "w", "n", tools=["list"])
    assert made.reset_policy == "keep"
    cleared = await publish(acme.owner, "w", "n", tools=["list"], reset_policy="clear")
    again = await publish(acme.owner, "w", "n", tools=["get"])
    assert (cleared.reset_policy, again.reset_policy) == ("clear", "clear")
    assert (
        await publish(acme.owner, "w", "n", tools=["get"], reset_policy="keep")
    ).reset_policy == "keep"


async def test_a_reset_and_a_purge_are_recorded_without_a_word(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    await begun(talks, acme.owner, "secret")
    await talks.resets.reset(acme.owner, "support")
    (ended,) = (await talks.of_workflow(acme.owner, "support")).items
    await talks.resets.purge(acme.owner, ended.id)
    recorded = await read(storage, acme, select(activities.c.type, activities.c.metadata))
    types = [each.type for each in recorded]
    assert types[-2:] == ["workflow_reset", "conversations_purged"]
    page = await Events(storage).page(acme.owner, 0)
    assert [each.metadata["action"] for each in page.items] == ["saved", "reset", "purged"]
    assert "secret" not in repr((recorded, page))


async def test_only_owners_reset_and_purge(talks: Conversations, acme: Tenant) -> None:
    await begun(talks, acme.member(acme.anna), "mine")
    (made,) = (await talks.page(acme.owner)).items
    for who in (acme.member(acme.anna), acme.key_of(acme.scout), acme.reader):
        for attempt in (
            talks.resets.reset(who, "support"),
            talks.resets.purge(who, made.id),
            talks.resets.purge_workflow(who, "support"),
        ):
            with pytest.raises(Refused):
                await attempt
    assert await texts(talks, acme.owner) == ["mine"]


@pytest.mark.parametrize("how", ["clear", "reset"])
async def test_nothing_but_the_workflows_conversations_is_cleared(
    database_url: str, scanner: Scanner, how: str
) -> None:
    async with Memoranda.open(database_url, clock=lambda: MORNING) as memoranda:
        talks, who = memoranda.conversations, memoranda.owner
        await furnish(memoranda)
        made = await talks.append(who, KEY, said("a", "b"))
        await memoranda.worker.drain()
        before = scanner.rows()
        await (talks.clear(who, KEY) if how == "clear" else talks.resets.reset(who, "support"))
        after = scanner.rows()
    changed = {table for table in before if before[table] != after[table]}
    assert changed == (CLEARED if how == "clear" else RESET)
    for table in ("conversations", "conversation_messages", "conversation_segments"):
        gone = set(before[table]) - set(after[table])
        assert gone, table
        assert all(str(made.id) in row or made.id.hex in row for row in gone), table
    for table in (f"search_{each}" for each in INDEXED):
        for row in set(before[table]) ^ set(after[table]):
            assert "conversations" in row, table


# --- purge ------------------------------------------------------------------------------------


def spoken(told: Told) -> list[Message]:
    """A conversation of words that stand nowhere else, in every part of a message."""
    call = {"type": "tool_call", "id": told.word(), "name": "f", "arguments": told.word()}
    return [
        Message(role="user", content=told.text(), metadata={"note": told.word()}),
        Message(role="assistant", content=[{"type": "text", "text": told.text()}, call]),
        Message(role="user", content=told.text(), pinned=True),
    ]


async def whole_life(
    talks: Conversations, tenant: Tenant, told: Told, key: ConversationKey
) -> None:
    """Saved, replaced in part, appended to, and saved again."""
    first = await talks.save(tenant.owner, key, spoken(told), fence=0)
    loaded = await talks.load(tenant.owner, key)
    await talks.save(tenant.owner, key, [loaded.messages[0], *spoken(told)[1:]], fence=loaded.fence)
    await talks.append(tenant.owner, first.id, spoken(told))


@pytest.mark.parametrize("way", ["one", "workflow", "after a clear", "after a reset"])
async def test_nothing_of_what_was_said_is_left_once_it_is_purged(
    database_url: str, scanner: Scanner, way: str
) -> None:
    async with Memoranda.open(database_url) as memoranda:
        talks, acme = memoranda.conversations, await new_tenant(memoranda.storage)
        gone, stays = Told(1), Told(2)
        await whole_life(talks, acme, gone, KEY)
        await whole_life(talks, acme, stays, ConversationKey(workflow_id="stays"))
        run = await memoranda.runs.create(acme.owner)
        (made,) = (await talks.of_workflow(acme.owner, "support")).items
        await memoranda.briefs.build(
            acme.owner, "what was said", run_id=run.id, conversation=made.id
        )
        await memoranda.worker.drain()
        assert scanner.found(gone.traces)
        if way == "after a clear":
            await talks.clear(acme.owner, KEY)
        elif way == "after a reset":
            await talks.resets.reset(acme.owner, "support")
        if way == "workflow":
            done = await talks.resets.purge_workflow(acme.owner, "support")
        else:
            done = await talks.resets.purge(acme.owner, made.id)
        assert done.model_dump() == {"conversations": 1, "scrubbed": True}
        assert scanner.found(gone.traces) == {}
        said_there = {each for each in stays.traces if isinstance(each, str)}
        assert scanner.found(said_there)
        with pytest.raises(NotFound):
            await talks.get(acme.owner, made.id)
        assert (await talks.of_workflow(acme.owner, "support")).items == []


async def test_a_save_begun_before_a_purge_is_refused_and_the_key_can_be_used_again(
    talks: Conversations, acme: Tenant
) -> None:
    await begun(talks, acme.owner, "a")
    before = await talks.load(acme.owner, KEY)
    assert before.conversation is not None
    await talks.resets.purge(acme.owner, before.conversation.id)
    with pytest.raises(LateSave):
        await talks.save(acme.owner, KEY, said("a", "late"), fence=before.fence)
    with pytest.raises(NotFound):
        await talks.append(acme.owner, before.conversation.id, said("late"))
    assert (await talks.page(acme.owner)).items == []
    (new,) = await begun(talks, acme.owner, "new")
    assert new.position == 1
    now = await talks.load(acme.owner, KEY)
    assert now.conversation is not None
    await talks.resets.purge(acme.owner, now.conversation.id)
    assert (await talks.load(acme.owner, KEY)).fence > now.fence


async def test_a_purge_of_a_workflow_takes_all_generations_and_begins_another(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    for tenant in (acme, other):
        await begun(talks, tenant.owner, "a")
        await talks.resets.reset(tenant.owner, "support")
        await begun(talks, tenant.owner, "b", key=KEY.model_copy(update={"generation": 2}))
    await begun(talks, acme.owner, "stays", key=ConversationKey(workflow_id="sales"))
    done = await talks.resets.purge_workflow(acme.owner, "support")
    assert done.conversations == 2
    assert (await talks.resets.purge_workflow(acme.owner, "support")).conversations == 0
    with pytest.raises(OlderGeneration):
        await talks.save(acme.owner, KEY.model_copy(update={"generation": 2}), said("x"), fence=0)
    assert len((await talks.page(acme.owner)).items) == 1
    assert len((await talks.page(other.owner)).items) == 2


async def test_a_purge_finds_no_conversation_of_another_organization(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    await begun(talks, acme.owner, "a")
    (made,) = (await talks.page(acme.owner)).items
    with pytest.raises(NotFound):
        await talks.resets.purge(other.owner, made.id)
    assert await texts(talks, acme.owner) == ["a"]


async def test_an_erased_users_conversations_go_with_the_user(
    database_url: str, scanner: Scanner
) -> None:
    async with Memoranda.open(database_url) as memoranda:
        talks, acme = memoranda.conversations, await new_tenant(memoranda.storage)
        gone, stays = Told(3), Told(4)
        anna, ben = acme.member(acme.anna), acme.member(acme.ben)
        mine = await talks.save(anna, KEY, spoken(gone), fence=0)
        loose = await talks.create(anna)
        await talks.append(anna, loose.id, spoken(gone))
        await talks.save(ben, ConversationKey(workflow_id="ben"), spoken(stays), fence=0)
        await memoranda.worker.drain()
        quote = await memoranda.memories.remember(anna, "we never ship on fridays")
        await talks.append(anna, loose.id, said("we never ship on fridays"))
        await talks.append(
            ben, ConversationKey(workflow_id="ben"), said("we never ship on fridays")
        )
        done = await memoranda.removal.erase_user(acme.owner, acme.anna.id)
        (bens,) = (await talks.page(acme.owner)).items
        assert (done.memories, done.quoted_in) == (1, [bens.id])
        assert quote.text
        assert scanner.found(gone.traces) == {}
        assert bens.user_id == acme.ben.id
        with pytest.raises(LateSave):
            await talks.save(anna, KEY, said("late"), fence=mine.fence)


async def test_no_row_is_left_of_a_purged_conversation(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    await begun(talks, acme.owner, "a", "b")
    await begun(talks, acme.owner, "c")
    (made,) = (await talks.page(acme.owner)).items
    await talks.resets.purge(acme.owner, made.id)
    for table in (conversations, conversation_messages, conversation_archive):
        assert await read(storage, acme, select(table.c.id)) == []
    fences = await read(storage, acme, select(conversation_fences.c.fence))
    assert [row.fence for row in fences] == [1], "a number is all that stays"


async def test_a_conversation_that_was_taken_is_named_to_its_own_user_alone(
    talks: Conversations, acme: Tenant
) -> None:
    await begun(talks, acme.member(acme.anna), "a")
    with pytest.raises(Conflict) as refused:
        await talks.create(acme.member(acme.ben), workflow_id="support")
    assert refused.value.details == {}


def test_made_up_words_have_stems_of_their_own() -> None:
    """Else a scan for what is left would prove nothing."""
    told = Told(1)
    (stem,) = read_passage(told.word()).counts
    assert stem in told.traces


async def test_what_was_read_before_is_as_it_was(talks: Conversations, acme: Tenant) -> None:
    await begun(talks, acme.owner, "a")
    loaded = await talks.load(acme.owner, KEY)
    await talks.clear(acme.owner, KEY)
    assert contents(loaded.messages) == ["a"]
