"""What keeps agents from nagging, on every database: nobody is asked twice for the same, nor soon after a no."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from memoranda.access.models import Principal
from memoranda.memories.models import Memory
from memoranda.memories.proposals.inbox import DISCARDED_FOR
from memoranda.memories.proposals.service import Proposals
from memoranda.storage import Storage
from memoranda.tools.approvals.asking import DENIED_FOR
from memoranda.tools.journal.service import Journal
from memoranda.tools.models import ApprovalStatus, Course
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.deciding_house import DecidingHouse, change
from tests.contract.tenants import Tenant, new_tenant

TEA, COFFEE, MILK = "drinks tea", "drinks coffee now", "drinks milk by now"


@pytest.fixture
def storage(timed_storage: Storage) -> Storage:
    """Time stands still here until a test moves it."""
    return timed_storage


@pytest.fixture
def house(storage: Storage) -> DecidingHouse:
    return DecidingHouse(storage)


@pytest.fixture
def agent(acme: Tenant) -> Principal:
    """The agent, as it works for nobody in particular."""
    return acme.key_of(acme.scout)


@pytest.fixture
async def memory(house: DecidingHouse, acme: Tenant) -> Memory:
    """One that the agent may change."""
    return await house.memories.remember(acme.owner, TEA, agent_id=acme.scout.id)


def forgetting(memory: Memory) -> dict[str, Any]:
    """The arguments that forget a memory."""
    return {"memory_id": str(memory.id), "expected_version": memory.version}


# --- while it waits ---------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["forget", "update"])
async def test_the_same_call_is_answered_with_the_approval_that_waits(
    tool: str, house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    given = forgetting(memory) if tool == "forget" else change(memory, COFFEE)
    first = await house.call(agent, tool, given)
    again = await house.call(agent, tool, given)
    assert first.answer is not None
    assert again.answer is not None
    assert (first.replayed, again.replayed) == (False, True)
    assert again.answer["outcome"] == "waiting"
    assert again.answer["approval_id"] == first.answer["approval_id"]
    assert len(await house.listed(acme.owner)) == 1


async def test_in_another_run_and_under_another_key_it_is_the_same_call(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    given = forgetting(memory)
    first = await house.answer(agent, "forget", **given)
    course = Course(run_id=new_id(), conversation_id=new_id())
    for more in ({"course": course}, {"key": "one"}, {"key": "two", "course": course}):
        again = await house.call(agent, "forget", given, **more)
        assert again.answer is not None
        assert again.answer["approval_id"] == first["approval_id"]
    assert len(await house.listed(acme.owner)) == 1


@pytest.mark.parametrize("decision", ["approve", "deny"])
async def test_whoever_asked_under_another_key_is_told_what_was_decided(
    decision: str, house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    first = await house.waiting(agent, memory, COFFEE, key="one")
    await house.waiting(agent, memory, COFFEE, key="two")
    await getattr(house.approvals, decision)(acme.owner, first)
    told = [
        await house.answer(agent, "update", k, **change(memory, COFFEE)) for k in ("one", "two")
    ]
    assert told[0] == told[1]
    assert told[0]["outcome"] == ("done" if decision == "approve" else "denied")


async def test_whoever_asked_under_another_key_is_told_that_it_failed(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    first = await house.waiting(agent, memory, COFFEE, key="one")
    await house.waiting(agent, memory, COFFEE, key="two")
    await house.memories.update(acme.owner, memory.id, text=MILK)
    await house.approvals.approve(acme.owner, first)
    told = [
        await house.answer(agent, "update", k, **change(memory, COFFEE)) for k in ("one", "two")
    ]
    assert told[0] == told[1]
    assert (told[0]["outcome"], told[0]["version"]) == ("failed", 2)


async def test_what_differs_at_all_is_another_call(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    other = await house.memories.remember(acme.owner, "lives in Rome", agent_id=acme.scout.id)
    for_anna = acme.key_of(acme.scout, acme.anna)
    asked = [
        (agent, "forget", forgetting(memory)),
        (agent, "forget", forgetting(other)),
        (agent, "update", change(memory, COFFEE)),
        (agent, "update", change(memory, MILK)),
        (for_anna, "update", change(memory, MILK)),
    ]
    answers = [await house.answer(who, tool, **given) for who, tool, given in asked]
    assert len({each["approval_id"] for each in answers}) == len(asked)


async def test_another_organization_is_asked_for_itself(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory, storage: Storage
) -> None:
    zeta = await new_tenant(storage, "Zeta")
    theirs = await house.memories.remember(zeta.owner, TEA, agent_id=zeta.scout.id)
    await house.answer(agent, "forget", **forgetting(memory))
    await house.answer(zeta.key_of(zeta.scout), "forget", **forgetting(theirs))
    assert [len(await house.listed(each.owner)) for each in (acme, zeta)] == [1, 1]


# --- after a no -------------------------------------------------------------------------------


async def test_after_a_no_the_same_call_is_answered_by_it_and_asks_nobody(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    denied = await house.waiting(agent, memory, COFFEE)
    await house.approvals.deny(acme.owner, denied)
    again = await house.call(agent, "update", change(memory, COFFEE), key="new")
    assert again.answer is not None
    assert (again.answer["outcome"], again.answer["approval_id"]) == ("denied", str(denied))
    assert again.replayed
    assert await house.listed(acme.owner) == []
    assert (await house.memories.get(acme.owner, memory.id)).text == TEA


async def test_a_no_says_until_when_it_holds_and_holds_no_longer(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory, clock: SteppedClock
) -> None:
    denied = await house.waiting(agent, memory, COFFEE)
    await house.approvals.deny(acme.owner, denied)
    until = clock.now + DENIED_FOR
    clock.tick(DENIED_FOR - timedelta(seconds=1))
    told = await house.answer(agent, "update", **change(memory, COFFEE))
    assert f"{until:%Y-%m-%d}" in told["message"]
    clock.tick(timedelta(seconds=1))
    assert await house.waiting(agent, memory, COFFEE) != denied


async def test_once_the_memory_has_changed_a_person_may_be_asked_again(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    first = await house.answer(agent, "forget", **forgetting(memory))
    await house.approvals.deny(acme.owner, UUID(first["approval_id"]))
    changed = await house.memories.update(acme.owner, memory.id, text=MILK)
    again = await house.answer(agent, "forget", **forgetting(changed))
    assert again["outcome"] == "waiting"


async def test_a_no_to_one_is_no_no_to_another(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    await house.approvals.deny(acme.owner, await house.waiting(agent, memory, COFFEE))
    await house.waiting(agent, memory, MILK)
    await house.waiting(acme.key_of(acme.scout, acme.anna), memory, COFFEE)


@pytest.mark.parametrize("call", [("forget", None), ("update", None), ("update", "new")])
async def test_after_a_yes_the_same_call_is_answered_with_what_was_done_and_asks_nobody(
    call: tuple[str, str | None],
    house: DecidingHouse,
    acme: Tenant,
    agent: Principal,
    memory: Memory,
) -> None:
    tool, key = call
    given = forgetting(memory) if tool == "forget" else change(memory, COFFEE)
    asked = await house.answer(agent, tool, **given)
    decided = await house.approvals.approve(acme.owner, UUID(asked["approval_id"]))
    if tool == "update":
        await house.memories.update(acme.owner, memory.id, text=MILK)
    again = await house.call(agent, tool, given, key=key)
    assert again.answer == decided.answer
    assert again.replayed
    assert await house.listed(acme.owner) == []
    other = change(memory, "drinks no tea")
    assert await house.code(agent, "update", **other) in {"stale_version", "conflict"}


async def test_a_yes_to_one_caller_or_organization_is_no_answer_to_another(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory, storage: Storage
) -> None:
    zeta = await new_tenant(storage, "Zeta")
    await house.approvals.approve(acme.owner, await house.waiting(agent, memory, COFFEE))
    given = change(memory, COFFEE)
    assert (
        await house.code(acme.key_of(acme.scout, acme.anna), "update", **given) == "stale_version"
    )
    assert await house.code(zeta.key_of(zeta.scout), "update", **given) == "not_found"


async def test_what_was_approved_or_failed_may_be_asked_again(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    asked = await house.waiting(agent, memory, COFFEE)
    await house.approvals.approve(acme.owner, asked)
    back = await house.memories.update(acme.owner, memory.id, text=TEA)
    again = await house.waiting(agent, back, COFFEE)
    await house.memories.update(acme.owner, memory.id, text=MILK)
    decided = await house.approvals.approve(acme.owner, again)
    assert decided.status is ApprovalStatus.FAILED


# --- proposals --------------------------------------------------------------------------------


async def test_what_a_person_discarded_is_not_proposed_again_by_the_same_agent(
    house: DecidingHouse, acme: Tenant, agent: Principal, storage: Storage, clock: SteppedClock
) -> None:
    proposals = Proposals(storage)
    first = await house.answer(agent, "remember", content=TEA)
    await proposals.discard(acme.owner, UUID(first["proposal_id"]))
    again = await house.answer(agent, "remember", content=" Drinks TEA ")
    assert (again["outcome"], again["proposal_id"]) == ("denied", first["proposal_id"])
    noted = (await Journal(storage).page(acme.owner)).items
    assert [each.outcome for each in noted] == ["replayed", "asked"], "nobody was asked again"
    assert (await proposals.page(acme.owner)).items == []
    assert (await proposals.propose(agent, TEA)).outcome == "discarded"
    clock.tick(DISCARDED_FOR)
    assert (await house.answer(agent, "remember", content=TEA))["outcome"] == "proposed"


async def test_a_discard_binds_neither_another_agent_nor_a_person_nor_another_organization(
    house: DecidingHouse, acme: Tenant, agent: Principal, storage: Storage
) -> None:
    proposals = Proposals(storage)
    zeta = await new_tenant(storage, "Zeta")
    first = await house.answer(agent, "remember", content=TEA)
    await proposals.discard(acme.owner, UUID(first["proposal_id"]))
    for who in (acme.key_of(acme.clerk), zeta.key_of(zeta.scout)):
        assert (await house.answer(who, "remember", content=TEA))["outcome"] == "proposed"
    by_a_person = await proposals.propose(acme.owner, TEA, agent_id=acme.scout.id)
    assert by_a_person.outcome == "waiting"
    assert (await house.answer(agent, "remember", content=COFFEE))["outcome"] == "proposed"


async def test_what_expired_while_it_waited_may_be_proposed_again(
    house: DecidingHouse, agent: Principal, storage: Storage, clock: SteppedClock
) -> None:
    soon = (clock.now + timedelta(hours=1)).isoformat()
    await house.answer(agent, "remember", content=TEA, expires_at=soon)
    clock.tick(timedelta(hours=2))
    assert (await house.answer(agent, "remember", content=TEA))["outcome"] == "proposed"
    assert (await house.answer(agent, "remember", content=TEA))["outcome"] == "known"


# --- what a person reads ----------------------------------------------------------------------


async def test_a_waiting_call_shows_what_the_memory_says_now_to_whoever_decides(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    asked = await house.waiting(agent, memory, COFFEE)
    (shown,) = await house.listed(acme.owner)
    assert shown.memory == memory
    changed = await house.memories.update(acme.owner, memory.id, text=MILK)
    assert (await house.approvals.get(acme.owner, asked)).memory == changed
    # An agent decides nothing, and is told no more than what it asked for.
    assert [each.memory for each in await house.listed(agent)] == [None]
    await house.approvals.deny(acme.owner, asked)
    assert (await house.approvals.get(acme.owner, asked)).memory is None


async def test_a_member_sees_the_memory_of_its_own_approvals(
    house: DecidingHouse, acme: Tenant
) -> None:
    annas = await house.memories.remember(
        acme.owner, "has a dog", agent_id=acme.scout.id, user_id=acme.anna.id
    )
    await house.waiting(acme.key_of(acme.scout, acme.anna), annas, "has two dogs")
    (shown,) = await house.listed(acme.member(acme.anna))
    assert shown.memory == annas


async def test_a_proposal_shows_the_memory_whose_place_it_would_take(
    house: DecidingHouse, acme: Tenant, agent: Principal, storage: Storage
) -> None:
    proposals = Proposals(storage)
    named = {"attribute": "preference.drink"}
    made = await house.memories.remember(acme.owner, TEA, agent_id=acme.scout.id, **named)
    await house.memories.remember(acme.owner, "for all", **named)
    await house.answer(agent, "remember", content=COFFEE, **named)
    await house.answer(agent, "remember", content=MILK, attribute="preference.food")
    shown = {each.text: each for each in (await proposals.page(acme.owner)).items}
    assert shown[COFFEE].replaces == made
    assert shown[MILK].replaces is None
    changed = await house.memories.update(acme.owner, made.id, title="Drink")
    assert (await proposals.get(acme.owner, shown[COFFEE].id)).replaces == changed
    assert [each.replaces for each in (await proposals.page(agent)).items] == [None, None]
    await house.memories.forget(acme.owner, made.id)
    assert (await proposals.get(acme.owner, shown[COFFEE].id)).replaces is None


async def test_a_memory_that_is_forgotten_meanwhile_is_not_shown(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    await house.waiting(agent, memory, COFFEE)
    await house.memories.forget(acme.owner, memory.id)
    (shown,) = await house.listed(acme.owner)
    assert shown.memory is None
    assert shown.memory_id == memory.id
