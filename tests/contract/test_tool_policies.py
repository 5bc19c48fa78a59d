"""What tool policies promise on every database: an owner says what an agent's tools may do, and it is held."""

import pytest

from memoranda.storage import Storage
from memoranda.tools.errors import UnknownTool
from memoranda.tools.models import Decision, Effect
from memoranda.words.errors import Invalid, NotFound, ReadOnly, Refused
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.deciding_house import DecidingHouse, activities
from tests.contract.tenants import Tenant, new_tenant


@pytest.fixture
def storage(timed_storage: Storage) -> Storage:
    """Time stands still here until a test moves it."""
    return timed_storage


@pytest.fixture
def house(storage: Storage) -> DecidingHouse:
    return DecidingHouse(storage)


async def said(house: DecidingHouse, tenant: Tenant) -> dict[str, Decision]:
    """What the first agent may do with each tool."""
    return {p.tool: p.decision for p in await house.policies.of(tenant.owner, tenant.scout.id)}


async def test_where_nothing_is_said_an_agent_reads_and_is_asked_about_what_it_writes(
    house: DecidingHouse, acme: Tenant
) -> None:
    policies = await house.policies.of(acme.owner, acme.scout.id)
    assert [p.tool for p in policies] == [tool.name for tool in house.registry]
    assert {p.set_at for p in policies} == {p.set_by for p in policies} == {None}
    for tool in house.registry:
        expected = Decision.ALLOW if tool.effect is Effect.READS else Decision.ASK
        assert (await said(house, acme))[tool.name] is expected
    assert (await house.policies.page(acme.owner)).items == []


async def test_what_is_set_is_held_from_the_next_call_on(
    house: DecidingHouse, acme: Tenant
) -> None:
    agent = acme.key_of(acme.scout)
    assert (await house.answer(agent, "remember", content="Tea"))["outcome"] == "proposed"
    await house.policies.set(acme.owner, acme.scout.id, "remember", Decision.ALLOW)
    assert (await house.answer(agent, "remember", content="Coffee"))["outcome"] == "done"
    await house.policies.set(acme.owner, acme.scout.id, "remember", Decision.DENY)
    assert await house.code(agent, "remember", content="Milk") == "tool_denied"
    await house.policies.set(acme.owner, acme.scout.id, "recall", Decision.DENY)
    assert await house.code(agent, "recall", query="Coffee") == "tool_denied"


async def test_a_policy_is_one_agents_and_a_person_needs_none(
    house: DecidingHouse, acme: Tenant
) -> None:
    await house.policies.set(acme.owner, acme.scout.id, "remember", Decision.DENY)
    clerk = acme.key_of(acme.clerk)
    assert (await house.answer(clerk, "remember", content="Tea"))["outcome"] == "proposed"
    for person in (acme.owner, acme.member(acme.anna)):
        made = await house.answer(person, "remember", content=f"Tea of {person.role}")
        assert made["outcome"] == "done"


async def test_a_policy_says_who_set_it_and_when_and_the_last_word_counts(
    house: DecidingHouse, acme: Tenant, clock: SteppedClock
) -> None:
    first = await house.policies.set(acme.owner, acme.scout.slug, "forget", Decision.DENY)
    assert (first.agent_id, first.tool, first.decision) == (acme.scout.id, "forget", "deny")
    assert (first.set_by, first.set_at) == (acme.owner.user_id, clock.now)
    clock.tick()
    last = await house.policies.set(acme.owner, acme.scout.id, "forget", Decision.ALLOW)
    assert last.set_at == clock.now
    assert (await house.policies.page(acme.owner)).items == [last]
    assert last in await house.policies.of(acme.owner, acme.scout.id)


async def test_what_is_unset_is_the_default_again(
    house: DecidingHouse, acme: Tenant, storage: Storage
) -> None:
    await house.policies.set(acme.owner, acme.scout.id, "forget", Decision.DENY)
    default = await house.policies.unset(acme.owner, acme.scout.id, "forget")
    assert (default.decision, default.set_at, default.set_by) == (Decision.ASK, None, None)
    assert await house.policies.unset(acme.owner, acme.scout.id, "forget") == default
    assert (await said(house, acme))["forget"] is Decision.ASK
    assert (await house.policies.page(acme.owner)).items == []
    assert [(a.type, a.metadata) for a in await activities(storage, acme)] == [
        ("tool_policy_set", {"tool": "forget", "decision": "deny", "default": False}),
        ("tool_policy_set", {"tool": "forget", "decision": "ask", "default": True}),
    ]


async def test_each_setting_is_an_activity_of_who_set_it_about_the_agent(
    house: DecidingHouse, acme: Tenant, storage: Storage
) -> None:
    await house.policies.set(acme.owner, acme.scout.id, "forget", Decision.DENY)
    (activity,) = await activities(storage, acme)
    assert activity.subject_id == acme.scout.id
    assert (activity.user_id, activity.agent_id) == (acme.owner.user_id, None)


async def test_there_is_nothing_to_ask_about_a_tool_that_reads(
    house: DecidingHouse, acme: Tenant
) -> None:
    for tool in house.registry:
        if tool.effect is Effect.READS:
            with pytest.raises(Invalid) as refusal:
                await house.policies.set(acme.owner, acme.scout.id, tool.name, Decision.ASK)
            assert refusal.value.details == {"field": "decision"}
    assert (await house.policies.page(acme.owner)).items == []


async def test_an_unknown_agent_tool_or_decision_is_refused(
    house: DecidingHouse, acme: Tenant
) -> None:
    for agent in (new_id(), "nobody"):
        for verb in (
            house.policies.set(acme.owner, agent, "forget", Decision.DENY),
            house.policies.unset(acme.owner, agent, "forget"),
            house.policies.of(acme.owner, agent),
        ):
            with pytest.raises(NotFound, match=str(agent)):
                await verb
    with pytest.raises(UnknownTool):
        await house.policies.set(acme.owner, acme.scout.id, "erase", Decision.DENY)
    with pytest.raises(UnknownTool):
        await house.policies.unset(acme.owner, acme.scout.id, "erase")
    with pytest.raises(Invalid, match="allow, ask, deny"):
        await house.policies.set(acme.owner, acme.scout.id, "forget", "perhaps")
    with pytest.raises(Invalid):
        await house.policies.of(acme.owner, "nul\0")


async def test_only_owners_set_and_only_those_who_see_everything_read(
    house: DecidingHouse, acme: Tenant
) -> None:
    bound = [acme.member(acme.anna), acme.key_of(acme.scout)]
    for who in [*bound, acme.reader]:
        with pytest.raises(Refused):
            await house.policies.set(who, acme.scout.id, "forget", Decision.ALLOW)
        with pytest.raises(Refused):
            await house.policies.unset(who, acme.scout.id, "forget")
    for who in bound:
        with pytest.raises(Refused):
            await house.policies.page(who)
        with pytest.raises(Refused):
            await house.policies.of(who, acme.scout.id)
    with pytest.raises(ReadOnly):
        await house.policies.set(acme.reader, acme.scout.id, "forget", Decision.ALLOW)
    assert await house.policies.of(acme.reader, acme.scout.id)
    assert (await house.policies.page(acme.reader)).items == []


async def test_pages_go_from_agent_to_agent_and_split_none(
    house: DecidingHouse, acme: Tenant
) -> None:
    for agent in (acme.clerk, acme.scout):
        for tool in ("forget", "update"):
            await house.policies.set(acme.owner, agent.id, tool, Decision.DENY)
    first = await house.policies.page(acme.owner, limit=1)
    assert first.next_cursor is not None
    last = await house.policies.page(acme.owner, limit=1, cursor=first.next_cursor)
    assert last.next_cursor is None
    ordered = sorted([acme.clerk.id, acme.scout.id])
    found = [[(p.agent_id, p.tool) for p in page.items] for page in (first, last)]
    assert found == [[(agent, "forget"), (agent, "update")] for agent in ordered]
    with pytest.raises(Invalid):
        await house.policies.page(acme.owner, cursor=first.next_cursor[:-1] + "%")
    with pytest.raises(Invalid):
        await house.policies.page(acme.owner, limit=0)


async def test_no_organization_says_anything_of_anothers_agent(
    house: DecidingHouse, acme: Tenant, storage: Storage
) -> None:
    other = await new_tenant(storage, "Other")
    await house.policies.set(other.owner, other.scout.slug, "remember", Decision.DENY)
    for verb in (
        house.policies.set(acme.owner, other.scout.id, "remember", Decision.ALLOW),
        house.policies.unset(acme.owner, other.scout.id, "remember"),
        house.policies.of(acme.owner, other.scout.id),
    ):
        with pytest.raises(NotFound):
            await verb
    # The same slug is another agent there.
    await house.policies.set(acme.owner, "scout", "remember", Decision.ALLOW)
    assert [p.agent_id for p in (await house.policies.page(acme.owner)).items] == [acme.scout.id]
    assert (await said(house, other))["remember"] is Decision.DENY
    assert (await house.code(other.key_of(other.scout), "remember", content="x")) == "tool_denied"
