"""What approvals promise on every database: what an agent asks for waits, and a person alone lets it be done."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from memoranda.access.models import Principal
from memoranda.memories.models import Memory
from memoranda.storage import Storage
from memoranda.storage.tables import events, tool_approvals
from memoranda.tools.models import Approval, ApprovalStatus, Course, Decision, Input
from memoranda.tools.registry import ToolRegistry
from memoranda.words.errors import Conflict, Invalid, NotFound, ReadOnly, Refused, StorageBusy
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.deciding_house import DecidingHouse, activities, change
from tests.contract.memory_trail import read
from tests.contract.tenants import Tenant, new_tenant

TEA, COFFEE, MILK = "drinks tea", "drinks coffee now", "drinks milk by now"
TOLD = select(events.c.type, events.c.user_id, events.c.agent_id, events.c.space, events.c.metadata)
ROWS = select(tool_approvals.c.status, tool_approvals.c.arguments, tool_approvals.c.answer)


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


async def annas(house: DecidingHouse, acme: Tenant) -> UUID:
    """An approval of what the agent asked for as it worked for Anna."""
    own = await house.memories.remember(
        acme.owner, "has a dog", agent_id=acme.scout.id, user_id=acme.anna.id
    )
    return await house.waiting(acme.key_of(acme.scout, acme.anna), own, "has two dogs")


async def told(storage: Storage, tenant: Tenant) -> list[Any]:
    """What listeners were told of approvals."""
    return [row for row in await read(storage, tenant, TOLD) if row.type == "approval.updated"]


async def text_of(house: DecidingHouse, tenant: Tenant, memory: Memory) -> str | None:
    return (await house.memories.get(tenant.owner, memory.id)).text


# --- asking -----------------------------------------------------------------------------------


async def test_what_an_agent_asks_for_waits_and_changes_nothing(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory, clock: SteppedClock
) -> None:
    course = Course(run_id=new_id(), conversation_id=new_id())
    approval_id = await house.waiting(agent, memory, COFFEE, course=course)
    assert await house.approvals.get(acme.owner, approval_id) == Approval(
        id=approval_id,
        tool="update",
        status=ApprovalStatus.WAITING,
        arguments=change(memory, COFFEE),
        answer=None,
        user_id=None,
        agent_id=acme.scout.id,
        space_id=None,
        run_id=course.run_id,
        conversation_id=course.conversation_id,
        memory_id=memory.id,
        decided_by=None,
        decided_at=None,
        created_at=clock.now,
        memory=memory,
    )
    assert await text_of(house, acme, memory) == TEA


async def test_listeners_are_told_that_something_waits_with_the_audience_of_who_asked(
    house: DecidingHouse, acme: Tenant, storage: Storage
) -> None:
    approval_id = await annas(house, acme)
    (event,) = await told(storage, acme)
    assert (event.user_id, event.agent_id, event.space) == (acme.anna.id, acme.scout.id, None)
    assert event.metadata == {
        "approval_id": str(approval_id),
        "tool": "update",
        "status": "waiting",
    }


async def test_a_change_that_the_agent_could_not_make_is_refused_and_not_asked_for(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    clerks = await house.memories.remember(acme.owner, "the clerk's", agent_id=acme.clerk.id)
    everybodys = await house.memories.remember(acme.owner, "everybody's")
    gone = await house.memories.remember(acme.owner, "gone", agent_id=acme.scout.id)
    await house.memories.forget(acme.owner, gone.id)
    codes = {
        new_id(): "not_found",
        clerks.id: "not_found",
        everybodys.id: "refused",
        gone.id: "conflict",
    }
    for memory_id, code in codes.items():
        given = {"memory_id": str(memory_id), "expected_version": 1}
        assert await house.code(agent, "forget", **given) == code
    assert await house.listed(acme.owner) == []


async def test_no_more_calls_wait_than_may_and_one_that_is_decided_makes_room(
    storage: Storage, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    house = DecidingHouse(storage, most=2)
    first = await house.waiting(agent, memory, COFFEE)
    await house.waiting(agent, memory, MILK)
    given = change(memory, "drinks nothing")
    full = await house.call(agent, "update", given, key="third")
    assert full.refusal is not None
    assert (full.refusal.code, full.refusal.details) == ("approvals_full", {"limit": 2})
    await house.approvals.deny(acme.owner, first)
    again = await house.answer(agent, "update", "third", **given)
    assert again["outcome"] == "waiting"


async def test_pages_neither_skip_nor_repeat_while_calls_come_and_are_decided(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    asked = [await house.waiting(agent, memory, f"drinks {n}") for n in range(7)]
    seen: list[UUID] = []
    cursor, more = None, True
    while more:
        page = await house.approvals.page(acme.owner, limit=2, cursor=cursor)
        assert len({each.created_at for each in page.items}) <= 1  # time stands still
        seen += [each.id for each in page.items]
        await house.approvals.deny(acme.owner, page.items[0].id)
        await house.waiting(agent, memory, f"drinks more than {len(seen)}")
        cursor, more = page.next_cursor, page.next_cursor is not None
    assert seen == asked[::-1]


async def test_the_limit_is_each_organizations_own(storage: Storage, acme: Tenant) -> None:
    house = DecidingHouse(storage, most=1)
    for tenant in (acme, await new_tenant(storage, "Other")):
        made = await house.memories.remember(tenant.owner, TEA, agent_id=tenant.scout.id)
        await house.waiting(tenant.key_of(tenant.scout), made, COFFEE)


# --- deciding ---------------------------------------------------------------------------------


async def test_what_a_person_approves_is_done_as_the_agent_who_asked(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory, clock: SteppedClock
) -> None:
    course = Course(run_id=new_id(), conversation_id=new_id())
    approval_id = await house.waiting(agent, memory, COFFEE, course=course)
    clock.tick(timedelta(hours=3))
    decided = await house.approvals.approve(acme.owner, approval_id)
    assert (decided.status, decided.arguments) == (ApprovalStatus.APPROVED, None)
    assert (decided.decided_by, decided.decided_at) == (acme.owner.user_id, clock.now)
    assert decided.answer is not None
    assert decided.answer["outcome"] == "done"
    assert decided.answer["memory_id"] == str(memory.id)
    assert (decided.answer["version"], decided.answer["approval_id"]) == (2, str(approval_id))
    newest = (await house.memories.history(acme.owner, memory.id))[-1]
    assert (newest.text, newest.version) == (COFFEE, 2)
    assert (newest.author_user_id, newest.author_agent_id) == (None, acme.scout.id)
    assert (newest.run_id, newest.conversation_id) == course
    assert await house.approvals.get(acme.owner, approval_id) == decided


async def test_what_a_person_denies_is_never_done(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    approval_id = await house.waiting(agent, memory, COFFEE)
    decided = await house.approvals.deny(acme.owner, approval_id)
    assert (decided.status, decided.arguments) == (ApprovalStatus.DENIED, None)
    assert decided.answer is not None
    assert decided.answer["outcome"] == "denied"
    assert await text_of(house, acme, memory) == TEA
    assert len(await house.memories.history(acme.owner, memory.id)) == 1


async def test_a_forgetting_waits_and_is_done_likewise(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    given = {"memory_id": str(memory.id), "expected_version": 1}
    asked = await house.answer(agent, "forget", **given)
    await house.approvals.approve(acme.owner, UUID(asked["approval_id"]))
    with pytest.raises(NotFound):
        await house.memories.get(acme.owner, memory.id)


async def test_nothing_of_what_was_asked_is_kept_once_it_is_decided(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory, storage: Storage
) -> None:
    await house.approvals.deny(acme.owner, await house.waiting(agent, memory, MILK))
    await house.approvals.approve(acme.owner, await house.waiting(agent, memory, COFFEE))
    rows = await read(storage, acme, ROWS)
    assert [row.arguments for row in rows] == [None, None]
    assert COFFEE not in str(rows)
    assert MILK not in str(rows)


async def test_each_decision_is_an_activity_of_the_person_and_an_event_and_wakes_listeners(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory, storage: Storage
) -> None:
    denied = await house.waiting(agent, memory, MILK)
    await house.approvals.deny(acme.owner, denied)
    approved = await house.waiting(agent, memory, COFFEE)
    await house.approvals.approve(acme.owner, approved)
    failed = await stale(house, acme, agent)
    await house.approvals.approve(acme.owner, failed)
    found = await activities(storage, acme)
    assert [(a.type, a.subject_id, a.metadata["status"]) for a in found] == [
        ("tool_call_denied", denied, "denied"),
        ("tool_call_approved", approved, "approved"),
        ("tool_call_approved", failed, "failed"),
    ]
    for each in found:
        assert (each.user_id, each.agent_id) == (acme.owner.user_id, None)
        assert each.metadata["asked_by"] == str(acme.scout.id)
    statuses = [
        (e.metadata["approval_id"], e.metadata["status"]) for e in await told(storage, acme)
    ]
    assert statuses == [
        (str(denied), "waiting"),
        (str(denied), "denied"),
        (str(approved), "waiting"),
        (str(approved), "approved"),
        (str(failed), "waiting"),
        (str(failed), "failed"),
    ]
    assert house.heard == [acme.owner.organization_id] * 3


async def stale(
    house: DecidingHouse, acme: Tenant, agent: Principal, key: str | None = None
) -> UUID:
    """An approval of a change to a memory that a person has changed since."""
    made = await house.memories.remember(acme.owner, "lives in Rome", agent_id=acme.scout.id)
    approval_id = await house.waiting(agent, made, "lives in Oslo", key=key)
    await house.memories.update(acme.owner, made.id, text=MILK)
    return approval_id


@pytest.mark.parametrize("first", ["approve", "deny", "fail"])
async def test_what_is_decided_is_not_decided_again(
    first: str, house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    if first == "fail":
        approval_id = await stale(house, acme, agent)
        await house.approvals.approve(acme.owner, approval_id)
    else:
        approval_id = await house.waiting(agent, memory, COFFEE)
        await getattr(house.approvals, first)(acme.owner, approval_id)
    before = await house.approvals.get(acme.owner, approval_id)
    for again in (house.approvals.approve, house.approvals.deny):
        with pytest.raises(Conflict) as refusal:
            await again(acme.owner, approval_id)
        assert refusal.value.details["status"] == before.status
    assert await house.approvals.get(acme.owner, approval_id) == before


# --- the same call again ----------------------------------------------------------------------


async def test_the_same_call_again_is_answered_by_what_was_decided(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    given = change(memory, COFFEE)
    asked = await house.call(agent, "update", given, key="k")
    assert asked.answer is not None
    before = await house.call(agent, "update", given, key="k")
    assert (before.answer, before.replayed) == (asked.answer, True)
    decided = await house.approvals.approve(acme.owner, UUID(asked.answer["approval_id"]))
    after = await house.call(agent, "update", given, key="k")
    assert (after.answer, after.replayed) == (decided.answer, True)
    assert len(await house.memories.history(acme.owner, memory.id)) == 2


async def test_the_same_call_again_after_a_denial_is_answered_by_it(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    approval_id = await house.waiting(agent, memory, COFFEE, key="k")
    await house.approvals.deny(acme.owner, approval_id)
    again = await house.answer(agent, "update", "k", **change(memory, COFFEE))
    assert (again["outcome"], again["approval_id"]) == ("denied", str(approval_id))
    assert await house.listed(acme.owner) == []


async def test_the_same_call_again_after_it_failed_says_so_and_at_which_version_the_memory_is(
    house: DecidingHouse, acme: Tenant, agent: Principal
) -> None:
    approval_id = await stale(house, acme, agent, key="k")
    arguments = (await house.approvals.get(acme.owner, approval_id)).arguments
    await house.approvals.approve(acme.owner, approval_id)
    again = await house.answer(agent, "update", "k", **arguments)
    assert (again["outcome"], again["version"]) == ("failed", 2)
    assert again["approval_id"] == str(approval_id)


# --- what is refused by the time it is approved -----------------------------------------------


async def test_a_memory_that_was_changed_meanwhile_is_left_and_the_approval_failed(
    house: DecidingHouse, acme: Tenant, agent: Principal, storage: Storage
) -> None:
    approval_id = await stale(house, acme, agent)
    decided = await house.approvals.approve(acme.owner, approval_id)
    assert (decided.status, decided.arguments) == (ApprovalStatus.FAILED, None)
    assert decided.answer is not None
    assert (decided.answer["code"], decided.answer["kind"]) == ("stale_version", "conflict")
    assert decided.answer["details"] == {"memory_id": str(decided.memory_id), "version": 2}
    assert decided.memory_id is not None
    assert (await house.memories.get(acme.owner, decided.memory_id)).text == MILK
    assert MILK not in str(await read(storage, acme, ROWS))


async def test_a_memory_that_was_forgotten_meanwhile_stays_so(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    approval_id = await house.waiting(agent, memory, COFFEE)
    await house.memories.forget(acme.owner, memory.id)
    decided = await house.approvals.approve(acme.owner, approval_id)
    assert decided.status is ApprovalStatus.FAILED
    assert decided.answer is not None
    assert decided.answer["code"] == "conflict"
    assert len(await house.memories.history(acme.owner, memory.id)) == 2


async def test_what_another_memory_says_by_now_is_not_said_twice(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    approval_id = await house.waiting(agent, memory, COFFEE)
    other = await house.memories.remember(acme.owner, COFFEE, agent_id=acme.scout.id)
    decided = await house.approvals.approve(acme.owner, approval_id)
    assert decided.answer is not None
    assert (decided.status, decided.answer["code"]) == ("failed", "duplicate_memory")
    assert decided.answer["details"]["memory_id"] == str(other.id)
    assert await text_of(house, acme, memory) == TEA


async def test_what_the_agent_may_not_call_any_more_is_not_done_for_it(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    approval_id = await house.waiting(agent, memory, COFFEE)
    await house.policies.set(acme.owner, acme.scout.id, "update", Decision.DENY)
    decided = await house.approvals.approve(acme.owner, approval_id)
    assert decided.answer is not None
    assert (decided.status, decided.answer["code"]) == ("failed", "tool_denied")
    assert await text_of(house, acme, memory) == TEA


async def test_a_memory_that_is_another_agents_by_now_is_not_changed(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    approval_id = await house.waiting(agent, memory, COFFEE)
    moved = await house.memories.update(acme.owner, memory.id, agent_id=acme.clerk.id)
    decided = await house.approvals.approve(acme.owner, approval_id)
    assert decided.status is ApprovalStatus.FAILED
    assert await text_of(house, acme, moved) == TEA


async def test_a_tool_that_is_gone_or_asks_for_something_else_by_now_is_not_called(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    class Other(Input):
        memory_id: UUID
        why: str

    known = {tool.name: tool for tool in house.registry}
    gone = ToolRegistry([known["forget"]])
    changed = ToolRegistry([replace(known["update"], input=Other)])
    for registry, code in ((gone, "unknown_tool"), (changed, "invalid_input")):
        approval_id = await house.waiting(agent, memory, COFFEE)
        decided = (
            await DecidingHouse(house.storage)
            .knows(registry)
            .approvals.approve(acme.owner, approval_id)
        )
        assert decided.answer is not None
        assert (decided.status, decided.answer["code"]) == ("failed", code)
        assert COFFEE not in str(decided)
    assert await text_of(house, acme, memory) == TEA


def breaking(house: DecidingHouse, broken: Exception) -> ToolRegistry:
    """The same tools, where a change is made and then refused by something else."""
    update = house.registry.tool("update")

    def write(*given: Any) -> Any:
        assert update.write is not None
        update.write(*given)
        raise broken

    return ToolRegistry([replace(update, write=write)])


async def test_of_what_is_refused_halfway_nothing_is_kept(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    approval_id = await house.waiting(agent, memory, COFFEE)
    other = DecidingHouse(house.storage).knows(breaking(house, Refused("Not on a Sunday.")))
    decided = await other.approvals.approve(acme.owner, approval_id)
    assert decided.status is ApprovalStatus.FAILED
    assert await text_of(house, acme, memory) == TEA


@pytest.mark.parametrize("broken", [StorageBusy("Later."), ZeroDivisionError()])
async def test_what_could_not_be_done_just_now_still_waits(
    broken: Exception, house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    approval_id = await house.waiting(agent, memory, COFFEE)
    other = DecidingHouse(house.storage).knows(breaking(house, broken))
    with pytest.raises(type(broken)):
        await other.approvals.approve(acme.owner, approval_id)
    assert [each.id for each in await house.listed(acme.owner)] == [approval_id]
    assert await text_of(house, acme, memory) == TEA
    await house.approvals.approve(acme.owner, approval_id)
    assert await text_of(house, acme, memory) == COFFEE


# --- who sees, and who decides ----------------------------------------------------------------


async def test_a_member_sees_and_decides_what_was_asked_for_its_user_and_nothing_else(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    nobodys = await house.waiting(agent, memory, COFFEE)
    anna, ben = acme.member(acme.anna), acme.member(acme.ben)
    for decide in (house.approvals.approve, house.approvals.deny):
        own = await annas(house, acme)
        assert [each.id for each in await house.listed(anna)] == [own]
        assert await house.listed(ben) == []
        for who, approval_id in ((ben, own), (ben, nobodys), (anna, nobodys)):
            for verb in (house.approvals.get, house.approvals.approve, house.approvals.deny):
                with pytest.raises(NotFound):
                    await verb(who, approval_id)
        decided = await decide(anna, own)
        assert decided.decided_by == acme.anna.id
        if decided.status is ApprovalStatus.APPROVED:
            await house.memories.forget(acme.owner, decided.memory_id)
    assert [each.id for each in await house.listed(acme.owner)] == [nobodys]


async def test_an_agent_sees_what_it_asked_itself_and_decides_nothing(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    nobodys = await house.waiting(agent, memory, COFFEE)
    own = await annas(house, acme)
    for_anna = acme.key_of(acme.scout, acme.anna)
    assert [each.id for each in await house.listed(agent)] == [nobodys]
    assert [each.id for each in await house.listed(for_anna)] == [own]
    for stranger in (acme.key_of(acme.clerk), acme.key_of(acme.scout, acme.ben)):
        assert await house.listed(stranger) == []
        with pytest.raises(NotFound):
            await house.approvals.get(stranger, nobodys)
    assert (await house.approvals.get(agent, nobodys)).id == nobodys
    for decide in (house.approvals.approve, house.approvals.deny):
        with pytest.raises(Refused):
            await decide(agent, nobodys)


async def test_a_reader_sees_all_and_decides_nothing(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    found = {await house.waiting(agent, memory, COFFEE), await annas(house, acme)}
    assert {each.id for each in await house.listed(acme.reader)} == found
    for decide in (house.approvals.approve, house.approvals.deny):
        with pytest.raises(ReadOnly):
            await decide(acme.reader, found.copy().pop())


async def test_another_organization_neither_sees_nor_decides_anything(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory, storage: Storage
) -> None:
    approval_id = await house.waiting(agent, memory, COFFEE)
    other = await new_tenant(storage, "Other")
    assert await house.listed(other.owner) == []
    for verb in (house.approvals.get, house.approvals.approve, house.approvals.deny):
        with pytest.raises(NotFound) as theirs:
            await verb(other.owner, approval_id)
        with pytest.raises(NotFound) as nobodys:
            await verb(other.owner, missing := new_id())
        assert theirs.value.message.replace(str(approval_id), str(missing)) == nobodys.value.message
    assert [each.id for each in await house.listed(acme.owner)] == [approval_id]


# --- lists ------------------------------------------------------------------------------------


async def test_a_list_shows_one_status_the_newest_first_page_by_page(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    made = [await house.waiting(agent, memory, f"drinks {n}") for n in range(5)]
    first = await house.approvals.page(acme.owner, limit=2)
    # What is decided between two pages makes nothing come twice or be left out.
    await house.approvals.deny(acme.owner, made[4])
    made.append(await house.waiting(agent, memory, "drinks 5"))
    second = await house.approvals.page(acme.owner, limit=2, cursor=first.next_cursor)
    last = await house.approvals.page(acme.owner, limit=2, cursor=second.next_cursor)
    found = [each.id for page in (first, second, last) for each in page.items]
    assert found == made[4::-1]
    assert last.next_cursor is None
    assert [each.id for each in await house.listed(acme.owner, "denied")] == [made[4]]


async def test_a_wrong_cursor_limit_or_status_is_refused(
    house: DecidingHouse, acme: Tenant
) -> None:
    for given in ({"cursor": "x"}, {"limit": 0}, {"limit": 201}, {"status": "open"}):
        with pytest.raises(Invalid):
            await house.approvals.page(acme.owner, **given)


async def test_a_cursor_of_one_status_is_none_of_another(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> None:
    for text in (COFFEE, MILK):
        await house.waiting(agent, memory, text)
    cursor = (await house.approvals.page(acme.owner, limit=1)).next_cursor
    with pytest.raises(Invalid):
        await house.approvals.page(acme.owner, status=ApprovalStatus.DENIED, cursor=cursor)


async def test_what_was_decided_long_ago_goes_and_what_waits_stays(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory, clock: SteppedClock
) -> None:
    decided = await house.waiting(agent, memory, COFFEE)
    waits = await house.waiting(agent, memory, MILK)
    clock.tick(timedelta(days=5))
    await house.approvals.deny(acme.owner, decided)
    organization = acme.owner.organization_id
    assert organization is not None
    clock.tick(timedelta(days=29))
    assert await house.approvals.prune(organization) == 0
    clock.tick(timedelta(days=2))
    assert await house.approvals.prune(organization) == 1
    with pytest.raises(NotFound):
        await house.approvals.get(acme.owner, decided)
    assert (await house.approvals.get(acme.owner, waits)).status is ApprovalStatus.WAITING
    assert await house.approvals.prune(organization) == 0
