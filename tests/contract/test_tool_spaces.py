"""What spaces promise on every database: a node of a workflow with its own tools, agent and memories."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest

from memoranda.access.models import Principal, Role
from memoranda.conversations.service import Conversations
from memoranda.memories.removal.service import Removal
from memoranda.storage import Storage
from memoranda.tools.errors import NotInSpaces, UnknownTool, WriterNeedsAgent
from memoranda.tools.models import ApprovalStatus, Decision, ToolSpace
from memoranda.tools.registry import ToolRegistry
from memoranda.words.errors import Invalid, NotFound, OverLimit, Refused
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.deciding_house import DecidingHouse, activities
from tests.contract.tenants import Tenant, new_tenant

FLOW, NODE = "order intake/v2", "ask %2F agent"
ALL = ["remember", "recall", "list", "get", "update", "forget"]
READS = ["recall", "list", "get"]


@pytest.fixture
def storage(timed_storage: Storage) -> Storage:
    """Time stands still here until a test moves it."""
    return timed_storage


@pytest.fixture
def house(storage: Storage) -> DecidingHouse:
    return DecidingHouse(storage)


@pytest.fixture
async def space(house: DecidingHouse, acme: Tenant) -> ToolSpace:
    """A space of the first agent, which may write there without being asked about."""
    for tool in ("remember", "update", "forget"):
        await house.policies.set(acme.owner, acme.scout.id, tool, Decision.ALLOW)
    return await house.spaces.publish(acme.owner, FLOW, NODE, agent_id=acme.scout.id, tools=ALL)


async def bound(house: DecidingHouse, acme: Tenant, node: str = NODE, **given) -> Principal:
    return await house.spaces.bound(acme.owner, FLOW, node, **given)


async def listed(house: DecidingHouse, who: Principal) -> list[str | None]:
    """What a caller is shown of memories."""
    return [each.text for each in (await house.memories.page(who)).items]


async def known(house: DecidingHouse, who: Principal, memory_id: UUID | str) -> bool:
    """Whether the caller's tool shows it this memory."""
    result = await house.call(who, "get", {"memory_id": str(memory_id)})
    assert result.refusal is None or result.refusal.code == "not_found"
    return result.refusal is None


# --- publishing -------------------------------------------------------------------------------


async def test_a_space_is_published_as_it_was_asked_for(
    house: DecidingHouse, acme: Tenant, clock: SteppedClock
) -> None:
    made = await house.spaces.publish(
        acme.owner, FLOW, NODE, agent_id=acme.scout.id, tools=["get", "remember", "get"]
    )
    assert made == ToolSpace(
        id=made.id,
        name="order intake%2Fv2/ask %252F agent",
        workflow_id=FLOW,
        node_id=NODE,
        agent_id=acme.scout.id,
        tools=["get", "remember"],
        reset_policy="keep",
        created_at=clock.now,
        published_at=clock.now,
    )
    assert await house.spaces.get(acme.owner, made.id) == made
    assert (await house.spaces.page(acme.reader)).items == [made]


async def test_published_again_it_keeps_its_id_and_takes_the_new_tools_and_agent(
    house: DecidingHouse, acme: Tenant, space: ToolSpace, clock: SteppedClock, storage: Storage
) -> None:
    clock.tick(timedelta(days=1))
    again = await house.spaces.publish(acme.owner, FLOW, NODE, tools=READS)
    assert again == space.model_copy(
        update={"agent_id": None, "tools": READS, "published_at": clock.now}
    )
    assert (await house.spaces.page(acme.owner)).items == [again]
    found = [a for a in await activities(storage, acme) if a.type == "tool_space_published"]
    assert [(a.subject_id, a.user_id) for a in found] == [(space.id, acme.owner.user_id)] * 2


async def test_ids_that_differ_at_all_are_other_spaces(house: DecidingHouse, acme: Tenant) -> None:
    pairs = [("a/b", "c"), ("a", "b/c"), ("a%2Fb", "c"), ("A/b", "c"), ("a/b", "c "), ("ä", "c")]
    made = [await house.spaces.publish(acme.owner, *pair, tools=READS) for pair in pairs]
    assert len({each.id for each in made}) == len(pairs)
    found = (await house.spaces.page(acme.owner)).items
    assert [(each.workflow_id, each.node_id) for each in found] == pairs[::-1]


async def test_a_tool_that_writes_needs_an_agent(house: DecidingHouse, acme: Tenant) -> None:
    with pytest.raises(WriterNeedsAgent) as refusal:
        await house.spaces.publish(acme.owner, FLOW, NODE, tools=ALL)
    assert refusal.value.code == "writer_needs_an_agent"
    assert refusal.value.details["tools"] == ["remember", "update", "forget"]
    assert (await house.spaces.page(acme.owner)).items == []


async def test_a_tool_that_no_space_can_call_is_refused(house: DecidingHouse, acme: Tenant) -> None:
    tools = [replace(each, in_spaces=each.name != "list") for each in house.registry]
    house.knows(ToolRegistry(tools))
    with pytest.raises(NotInSpaces) as refusal:
        await house.spaces.publish(acme.owner, FLOW, NODE, tools=["get", "list"])
    assert refusal.value.code == "not_in_spaces"
    assert refusal.value.details == {"field": "tools", "tools": ["list"]}
    assert (await house.spaces.page(acme.owner)).items == []
    made = await house.spaces.publish(acme.owner, FLOW, NODE, tools=["get"])
    assert made.tools == ["get"]


async def test_what_makes_no_space_is_refused(house: DecidingHouse, acme: Tenant) -> None:
    publish = house.spaces.publish
    with pytest.raises(UnknownTool):
        await publish(acme.owner, FLOW, NODE, tools=["recall", "erase"])
    with pytest.raises(NotFound, match="agent"):
        await publish(acme.owner, FLOW, NODE, agent_id=new_id(), tools=ALL)
    with pytest.raises(Invalid):
        await publish(acme.owner, FLOW, NODE, tools=[])
    with pytest.raises(Invalid):
        await publish(acme.owner, " ", NODE, tools=READS)
    with pytest.raises(Invalid):
        await publish(acme.owner, FLOW, "nul\0", tools=READS)
    with pytest.raises(OverLimit):
        await publish(acme.owner, FLOW, "x" * 121, tools=READS)
    assert (await house.spaces.page(acme.owner)).items == []


async def test_the_longest_ids_of_any_characters_hold_memories_under_the_longest_attributes(
    house: DecidingHouse, acme: Tenant, space: ToolSpace
) -> None:
    for character in ("%", "/", "\U0001f9e0"):
        ids = (character * 120, character * 120)
        await house.spaces.publish(acme.owner, *ids, agent_id=acme.scout.id, tools=ALL)
        who = await house.spaces.bound(acme.owner, *ids, user_id=acme.anna.id)
        name = "observation." + "\U0001f9e0" * 116
        made = await house.answer(who, "remember", content="Tea", attribute=name)
        assert made["outcome"] == "done"


async def test_only_owners_publish_withdraw_and_bind(
    house: DecidingHouse, acme: Tenant, space: ToolSpace
) -> None:
    strangers = [acme.member(acme.anna), acme.key_of(acme.scout), acme.reader]
    for who in [*strangers, await bound(house, acme)]:
        with pytest.raises(Refused):
            await house.spaces.publish(who, FLOW, NODE, tools=READS)
        with pytest.raises(Refused):
            await house.spaces.withdraw(who, space.id)
        with pytest.raises(Refused):
            await house.spaces.bound(who, FLOW, NODE)
        if who != acme.reader:
            with pytest.raises(Refused):
                await house.spaces.page(who)
            with pytest.raises(Refused):
                await house.spaces.get(who, space.id)
    assert await house.spaces.get(acme.reader, space.id) == space


async def test_another_organization_has_no_part_in_it(
    house: DecidingHouse, acme: Tenant, space: ToolSpace, storage: Storage
) -> None:
    other = await new_tenant(storage, "Other")
    for verb in (
        house.spaces.get(other.owner, space.id),
        house.spaces.withdraw(other.owner, space.id),
        house.spaces.bound(other.owner, FLOW, NODE),
        house.spaces.publish(other.owner, "x", "y", agent_id=acme.scout.id, tools=ALL),
    ):
        with pytest.raises(NotFound):
            await verb
    # The same ids are another space there.
    await house.policies.set(other.owner, "scout", "remember", Decision.ALLOW)
    theirs = await house.spaces.publish(other.owner, FLOW, NODE, agent_id=other.scout.id, tools=ALL)
    assert theirs.id != space.id
    there = await house.spaces.bound(other.owner, FLOW, NODE)
    made = await house.answer(there, "remember", content="known there")
    assert await known(house, there, made["memory_id"])
    assert not await known(house, await bound(house, acme), made["memory_id"])
    assert (await house.spaces.page(acme.owner)).items == [space]


async def test_a_wrong_cursor_or_limit_is_refused_and_pages_go_on(
    house: DecidingHouse, acme: Tenant
) -> None:
    made = [await house.spaces.publish(acme.owner, FLOW, f"{n}", tools=READS) for n in range(3)]
    first = await house.spaces.page(acme.owner, limit=2)
    last = await house.spaces.page(acme.owner, limit=2, cursor=first.next_cursor)
    assert [*first.items, *last.items] == made[::-1]
    for given in ({"limit": 0}, {"cursor": "x"}):
        with pytest.raises(Invalid):
            await house.spaces.page(acme.owner, **given)


# --- being bound to one -----------------------------------------------------------------------


async def test_a_node_acts_as_its_spaces_agent_and_for_the_user_that_is_named(
    house: DecidingHouse, acme: Tenant, space: ToolSpace
) -> None:
    who = await bound(house, acme, user_id=acme.anna.id)
    assert (who.role, who.agent_id, who.user_id) == (Role.AGENT, acme.scout.id, acme.anna.id)
    assert who.organization_id == acme.owner.organization_id
    assert who.space is not None
    assert (who.space.id, who.space.tools) == (space.id, tuple(ALL))
    with pytest.raises(NotFound):
        await bound(house, acme, user_id=new_id())
    with pytest.raises(NotFound):
        await bound(house, acme, "another node")


async def test_a_node_without_an_agent_reads_alone(house: DecidingHouse, acme: Tenant) -> None:
    await house.spaces.publish(acme.owner, FLOW, NODE, tools=READS)
    who = await bound(house, acme)
    assert (who.role, who.agent_id) == (Role.READ_ONLY, None)
    assert not await known(house, who, new_id())
    assert await house.code(who, "remember", content="x") == "unknown_tool"


async def test_a_node_knows_its_own_memories_and_nobody_elses(
    house: DecidingHouse, acme: Tenant, space: ToolSpace
) -> None:
    await house.spaces.publish(acme.owner, FLOW, "next", agent_id=acme.scout.id, tools=ALL)
    await house.memories.remember(acme.owner, "everybody knows")
    await house.memories.remember(acme.owner, "the agent knows", agent_id=acme.scout.id)
    here, there = await bound(house, acme), await bound(house, acme, "next")
    await house.answer(here, "remember", content="known here")
    await house.answer(there, "remember", content="known there")
    for_anna = await bound(house, acme, user_id=acme.anna.id)
    await house.answer(for_anna, "remember", content="known of Anna here")
    assert await listed(house, here) == ["known here"]
    assert await listed(house, there) == ["known there"]
    assert await listed(house, for_anna) == ["known of Anna here", "known here"]
    assert await listed(house, await bound(house, acme, user_id=acme.ben.id)) == ["known here"]
    agent = acme.key_of(acme.scout)
    assert await listed(house, agent) == ["the agent knows", "everybody knows"]


async def test_a_node_calls_the_tools_of_its_space_alone(
    house: DecidingHouse, acme: Tenant, space: ToolSpace
) -> None:
    await house.spaces.publish(
        acme.owner, FLOW, NODE, agent_id=acme.scout.id, tools=["recall", "get"]
    )
    who = await bound(house, acme)
    assert [each.name for each in await house.tools.offers(who)] == ["recall", "get"]
    assert await house.code(who, "list") == "unknown_tool"
    assert await house.code(who, "remember", content="x") == "unknown_tool"
    assert await house.code(who, "get", memory_id=str(new_id())) == "not_found"


# --- approvals within one ---------------------------------------------------------------------


async def asked_here(house: DecidingHouse, acme: Tenant) -> UUID:
    """An approval of a forgetting that the node asked for."""
    who = await bound(house, acme)
    made = await house.answer(who, "remember", content="known here")
    await house.policies.set(acme.owner, acme.scout.id, "forget", Decision.ASK)
    asked = await house.answer(who, "forget", memory_id=made["memory_id"], expected_version=1)
    return UUID(asked["approval_id"])


async def test_what_is_asked_in_a_space_is_done_in_it(
    house: DecidingHouse, acme: Tenant, space: ToolSpace
) -> None:
    approval_id = await asked_here(house, acme)
    assert (await house.approvals.get(acme.owner, approval_id)).space_id == space.id
    decided = await house.approvals.approve(acme.owner, approval_id)
    assert decided.status is ApprovalStatus.APPROVED
    assert not await known(house, await bound(house, acme), decided.memory_id)


async def test_what_is_asked_in_a_space_is_no_business_of_the_agents_other_keys(
    house: DecidingHouse, acme: Tenant, space: ToolSpace
) -> None:
    approval_id = await asked_here(house, acme)
    agent = acme.key_of(acme.scout)
    assert await house.listed(agent) == []
    with pytest.raises(NotFound):
        await house.approvals.get(agent, approval_id)
    for verb in (house.approvals.get, house.approvals.approve, house.approvals.deny):
        with pytest.raises(Refused):
            await verb(await bound(house, acme), approval_id)


@pytest.mark.parametrize(
    "then", [(READS, "scout", "unknown_tool"), (ALL, "clerk", "refused")], ids=["tools", "agent"]
)
async def test_what_the_space_would_not_do_any_more_is_not_done(
    house: DecidingHouse, acme: Tenant, space: ToolSpace, then
) -> None:
    tools, of, code = then
    approval_id = await asked_here(house, acme)
    agent = getattr(acme, of)
    await house.spaces.publish(acme.owner, FLOW, NODE, agent_id=agent.id, tools=tools)
    decided = await house.approvals.approve(acme.owner, approval_id)
    assert decided.answer is not None
    assert (decided.status, decided.answer["code"]) == ("failed", code)
    assert await known(house, await bound(house, acme), decided.memory_id)


# --- withdrawing ------------------------------------------------------------------------------


async def test_a_space_that_is_withdrawn_is_nowhere_any_more(
    house: DecidingHouse, acme: Tenant, space: ToolSpace, storage: Storage
) -> None:
    approval_id = await asked_here(house, acme)
    assert await house.spaces.withdraw(acme.owner, space.id) == space
    for verb in (
        house.spaces.get(acme.owner, space.id),
        house.spaces.withdraw(acme.owner, space.id),
        house.approvals.get(acme.owner, approval_id),
        bound(house, acme),
    ):
        with pytest.raises(NotFound):
            await verb
    assert (await house.spaces.page(acme.owner)).items == []
    assert (await activities(storage, acme))[-1].type == "tool_space_withdrawn"


async def test_what_asks_in_a_space_that_is_withdrawn_is_refused(
    house: DecidingHouse, acme: Tenant, space: ToolSpace
) -> None:
    who = await bound(house, acme)
    made = await house.answer(who, "remember", content="known here")
    await house.policies.set(acme.owner, acme.scout.id, "forget", Decision.ASK)
    await house.spaces.withdraw(acme.owner, space.id)
    given = {"memory_id": made["memory_id"], "expected_version": 1}
    assert await house.code(who, "forget", **given) == "not_found"


async def test_its_memories_are_out_of_reach_and_come_back_with_the_node_and_can_be_erased(
    house: DecidingHouse, acme: Tenant, space: ToolSpace, storage: Storage
) -> None:
    made = await house.answer(await bound(house, acme), "remember", content="known here")
    memory_id = UUID(made["memory_id"])
    await house.spaces.withdraw(acme.owner, space.id)
    for who in (acme.member(acme.anna), acme.key_of(acme.scout)):
        with pytest.raises(NotFound):
            await house.memories.get(who, memory_id)
    again = await house.spaces.publish(acme.owner, FLOW, NODE, agent_id=acme.scout.id, tools=ALL)
    assert again.id != space.id
    assert await known(house, await bound(house, acme), memory_id)
    removal = Removal(storage, quoting=Conversations(storage).quoting)
    assert (await removal.erase(acme.owner, memory_id)).memories == 1
    assert not await known(house, await bound(house, acme), memory_id)
