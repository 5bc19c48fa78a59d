"""Many who decide at once, and who change or erase what it is about: one outcome, and never a write beside it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from memoranda.access.models import Principal
from memoranda.conversations.service import Conversations
from memoranda.memories.errors import StaleVersion
from memoranda.memories.models import Memory
from memoranda.memories.removal.models import Elsewhere
from memoranda.memories.removal.service import Removal
from memoranda.storage import Storage
from memoranda.tools import forgetting
from memoranda.tools.models import Approval, ApprovalStatus
from memoranda.tools.registry import ToolRegistry
from memoranda.words.errors import Conflict, NotFound
from tests.contract.deciding_house import DecidingHouse, activities, change
from tests.contract.tenants import Tenant

TURNS = 12
TEA, COFFEE, MILK = "drinks tea", "drinks coffee now", "drinks milk by now"


@pytest.fixture
async def houses(database_url: str, storage: Storage) -> AsyncIterator[list[DecidingHouse]]:
    """Three openings of one database, as three processes would have."""
    opened = [await Storage.open(database_url) for _ in range(3)]
    yield [DecidingHouse(each, most=1_000) for each in opened]
    for each in opened:
        await each.close()


@pytest.fixture
def agent(acme: Tenant) -> Principal:
    return acme.key_of(acme.scout)


async def asked(
    house: DecidingHouse, acme: Tenant, turn: int, key: str | None = None
) -> tuple[Memory, UUID]:
    """A memory, and the approval that a change of it waits for."""
    made = await house.memories.remember(acme.owner, f"{TEA} {turn}", agent_id=acme.scout.id)
    agent = acme.key_of(acme.scout)
    return made, await house.waiting(agent, made, f"{COFFEE} {turn}", key=key)


async def at_once(*calls: Awaitable[Any]) -> list[Any]:
    return await asyncio.gather(*calls, return_exceptions=True)


async def versions(house: DecidingHouse, acme: Tenant, memory: Memory) -> int:
    return len(await house.memories.history(acme.owner, memory.id))


@pytest.mark.parametrize(
    "verbs",
    [("approve", "approve", "approve"), ("deny", "deny", "deny"), ("approve", "deny", "approve")],
)
async def test_of_several_who_decide_at_once_one_does(
    verbs: tuple[str, ...], houses: list[DecidingHouse], acme: Tenant, storage: Storage
) -> None:
    for turn in range(TURNS):
        memory, approval_id = await asked(houses[0], acme, turn)
        outcomes = await at_once(
            *(
                getattr(house.approvals, verb)(acme.owner, approval_id)
                for house, verb in zip(houses, verbs, strict=True)
            )
        )
        (decided,) = [each for each in outcomes if isinstance(each, Approval)]
        others = [each for each in outcomes if each is not decided]
        assert [type(each) for each in others] == [Conflict, Conflict]
        assert await houses[0].approvals.get(acme.owner, approval_id) == decided
        done = decided.status is ApprovalStatus.APPROVED
        assert await versions(houses[0], acme, memory) == 1 + done
    assert len(await activities(storage, acme)) == TURNS


async def test_of_several_who_decide_about_no_memory_at_once_one_does(
    houses: list[DecidingHouse], acme: Tenant, agent: Principal
) -> None:
    # One that waits itself, and not as a proposal.
    remember = replace(houses[0].registry.tool("remember"), ask=None)
    for house in houses:
        house.knows(ToolRegistry([remember]))
    for turn in range(TURNS):
        asked = await houses[0].answer(agent, "remember", content=f"{TEA} {turn}")
        approval_id = UUID(asked["approval_id"])
        outcomes = await at_once(
            houses[0].approvals.approve(acme.owner, approval_id),
            houses[1].approvals.deny(acme.owner, approval_id),
            houses[2].approvals.deny(acme.owner, approval_id),
        )
        (decided,) = [each for each in outcomes if isinstance(each, Approval)]
        assert [type(each) for each in outcomes if each is not decided] == [Conflict, Conflict]
        found = (await houses[0].memories.page(acme.owner, limit=200)).items
        done = decided.status is ApprovalStatus.APPROVED
        assert (f"{TEA} {turn}" in [each.text for each in found]) is done


async def test_the_same_call_again_while_it_is_decided_is_answered_by_one_or_the_other(
    houses: list[DecidingHouse], acme: Tenant, agent: Principal
) -> None:
    for turn in range(TURNS):
        memory, approval_id = await asked(houses[0], acme, turn, key=f"k{turn}")
        given = change(memory, f"{COFFEE} {turn}")
        decided, again = await at_once(
            houses[0].approvals.approve(acme.owner, approval_id),
            houses[1].answer(agent, "update", f"k{turn}", **given),
        )
        assert decided.status is ApprovalStatus.APPROVED
        assert again["outcome"] in {"waiting", "done"}
        later = await houses[2].answer(agent, "update", f"k{turn}", **given)
        assert later == decided.answer
        assert await versions(houses[0], acme, memory) == 2


async def test_an_approval_and_another_change_never_both_follow_one_version(
    houses: list[DecidingHouse], acme: Tenant
) -> None:
    for turn in range(TURNS):
        memory, approval_id = await asked(houses[0], acme, turn)
        decided, changed = await at_once(
            houses[0].approvals.approve(acme.owner, approval_id),
            houses[1].memories.update(
                acme.owner, memory.id, text=f"{MILK} {turn}", expected_version=1
            ),
        )
        assert isinstance(decided, Approval)
        won = decided.status is ApprovalStatus.APPROVED
        assert isinstance(changed, StaleVersion if won else Memory), changed
        assert await versions(houses[0], acme, memory) == 2


@pytest.mark.parametrize("verb", ["approve", "deny"])
async def test_what_is_erased_while_somebody_decides_about_it_leaves_nothing(
    verb: str, houses: list[DecidingHouse], acme: Tenant
) -> None:
    removal = Removal(
        houses[1].storage,
        quoting=Conversations(houses[1].storage).quoting,
        elsewhere=Elsewhere(forgetting.clear, forgetting.clear_user),
    )
    for turn in range(TURNS):
        memory, approval_id = await asked(houses[0], acme, turn, key=f"k{turn}")
        decided, erased = await at_once(
            getattr(houses[0].approvals, verb)(acme.owner, approval_id),
            removal.erase(acme.owner, memory.id),
        )
        assert erased.memories == 1, erased
        assert isinstance(decided, Approval | NotFound | Conflict), decided
        for house in houses:
            with pytest.raises(NotFound):
                await house.approvals.get(acme.owner, approval_id)
            with pytest.raises(NotFound):
                await house.memories.get(acme.owner, memory.id)
        given = change(memory, f"{COFFEE} {turn}")
        assert await houses[2].code(acme.key_of(acme.scout), "update", f"k{turn}", **given) == (
            "erased"
        )


async def test_what_is_asked_about_a_memory_while_it_is_erased_does_not_stay(
    houses: list[DecidingHouse], acme: Tenant, agent: Principal
) -> None:
    removal = Removal(
        houses[1].storage,
        quoting=Conversations(houses[1].storage).quoting,
        elsewhere=Elsewhere(forgetting.clear, forgetting.clear_user),
    )
    for turn in range(TURNS):
        made = await houses[0].memories.remember(
            acme.owner, f"{TEA} {turn}", agent_id=acme.scout.id
        )
        result, erased = await at_once(
            houses[0].call(agent, "update", change(made, COFFEE)),
            removal.erase(acme.owner, made.id),
        )
        assert erased.memories == 1
        assert result.refusal is None or result.refusal.code == "not_found"
        assert await houses[2].listed(acme.owner) == []


async def test_who_ask_the_same_at_one_instant_are_told_of_one_approval(
    houses: list[DecidingHouse], acme: Tenant, agent: Principal
) -> None:
    for turn in range(TURNS):
        made = await houses[0].memories.remember(
            acme.owner, f"{TEA} {turn}", agent_id=acme.scout.id
        )
        given = {"memory_id": str(made.id), "expected_version": 1}
        results = await at_once(
            *(
                each.call(agent, "forget", given, key=key)
                for each in houses
                for key in (None, f"{turn}")
            )
        )
        told = {each.answer["approval_id"] for each in results if each.answer is not None}
        assert len(told) == 1
        assert [each.refusal for each in results] == [None] * len(results)
        (waiting,) = await houses[0].listed(acme.owner)
        assert {str(waiting.id)} == told
        await houses[0].approvals.approve(acme.owner, waiting.id)


async def test_however_many_ask_at_once_no_more_wait_than_may(
    houses: list[DecidingHouse], acme: Tenant, agent: Principal
) -> None:
    few = [DecidingHouse(each.storage, most=3) for each in houses]
    made = [
        await few[0].memories.remember(acme.owner, f"{TEA} {n}", agent_id=acme.scout.id)
        for n in range(9)
    ]
    for turn in range(6):
        results = await at_once(
            *(
                few[n % 3].call(agent, "update", change(each, f"{COFFEE} {turn}"))
                for n, each in enumerate(made)
            )
        )
        refused = [each.refusal.code for each in results if each.refusal is not None]
        assert refused == ["approvals_full"] * 6
        waiting = await few[0].listed(acme.owner)
        assert len(waiting) == 3
        for each in waiting:
            await few[0].approvals.deny(acme.owner, each.id)


async def test_what_is_approved_while_its_space_is_withdrawn_is_done_or_gone(
    houses: list[DecidingHouse], acme: Tenant
) -> None:
    tools = ["remember", "forget"]
    await houses[0].policies.set(acme.owner, acme.scout.id, "remember", "allow")
    for turn in range(TURNS):
        space = await houses[0].spaces.publish(
            acme.owner, "flow", f"{turn}", agent_id=acme.scout.id, tools=tools
        )
        who = await houses[0].spaces.bound(acme.owner, "flow", f"{turn}")
        made = await houses[0].answer(who, "remember", content="known here")
        given = {"memory_id": made["memory_id"], "expected_version": 1}
        waiting = await houses[0].answer(who, "forget", **given)
        decided, withdrawn = await at_once(
            houses[0].approvals.approve(acme.owner, UUID(waiting["approval_id"])),
            houses[1].spaces.withdraw(acme.owner, space.id),
        )
        assert withdrawn == space
        history = await houses[0].memories.history(acme.owner, UUID(made["memory_id"]))
        if isinstance(decided, Approval):
            assert decided.status is ApprovalStatus.APPROVED
        else:
            assert isinstance(decided, NotFound), decided
        assert len(history) == 1 + isinstance(decided, Approval)
