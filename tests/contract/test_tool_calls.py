"""A call is checked in one order, is done whole or not at all, and every refusal is one that a model can act on."""

from typing import Any

import pytest

from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.storage import Storage
from memoranda.tools.errors import (
    ApprovalsFull,
    ToolDenied,
    TooManyToolCalls,
    UnknownTool,
    WriterNeedsAgent,
)
from memoranda.tools.models import Course, Decision, ToolResult
from memoranda.words.errors import (
    Conflict,
    DuplicateMemory,
    Invalid,
    MemorandaError,
    OverLimit,
    ReadOnly,
    Refused,
    StorageBusy,
)
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant
from tests.contract.tool_house import ToolHouse


@pytest.fixture
async def house(storage: Storage, acme: Tenant) -> ToolHouse:
    return ToolHouse(storage, acme)


def code_of(result: ToolResult) -> str | None:
    assert (result.answer is None) is not (result.refusal is None)
    return None if result.refusal is None else result.refusal.code


# --- what is done --------------------------------------------------------------------------------


async def test_a_person_s_call_writes_and_is_announced_once_it_is_committed(
    house: ToolHouse,
) -> None:
    result = await house.tools.call(house.acme.owner, "note", {"text": "Oat milk."}, key="k")
    assert result.refusal is None
    assert (result.answer["outcome"], result.answer["version"]) == ("done", 1)
    (memory,) = await house.rows("memories")
    assert str(memory.id) == result.answer["memory_id"]
    assert house.told == [house.organization]
    assert await house.lines() == [("note", "done", None)]


async def test_an_agent_s_call_is_asked_about_in_the_way_of_its_tool(house: ToolHouse) -> None:
    agent = house.acme.key_of(house.acme.scout)
    result = await house.tools.call(agent, "note", {"text": "Oat milk."})
    assert result.answer["outcome"] == "proposed"
    sizes = await house.sizes()
    assert (sizes.get("memories"), sizes["proposals"], sizes.get("approvals")) == (None, 1, None)
    assert await house.lines() == [("note", "asked", None)]


async def test_an_agent_s_call_of_a_tool_without_a_way_of_its_own_waits_itself(
    house: ToolHouse,
) -> None:
    await house.policy("note", Decision.ALLOW)
    agent = house.acme.key_of(house.acme.scout)
    made = await house.tools.call(agent, "note", {"text": "Oat milk."})
    asked = await house.tools.call(agent, "drop", {"memory_id": made.answer["memory_id"]}, key="k")
    assert asked.answer["outcome"] == "waiting"
    (approval,) = await house.rows("approvals")
    assert str(approval.id) == asked.answer["approval_id"]
    (memory,) = await house.rows("memories")
    assert memory.live, "nothing is done before a person says so"
    *_, last = sorted(await house.rows("calls"), key=lambda row: row.id)
    assert (last.outcome, last.approval_id, last.memory_id) == ("asked", approval.id, memory.id)


async def test_what_is_proposed_already_is_noted_as_known(house: ToolHouse) -> None:
    agent = house.acme.key_of(house.acme.scout)
    await house.tools.call(agent, "note", {"text": "Oat milk."})
    await house.tools.call(agent, "note", {"text": "oat milk."})
    assert await house.lines() == [("note", "asked", None), ("note", "replayed", "known")]


async def test_a_read_answers_what_it_found_and_says_how_much(house: ToolHouse) -> None:
    await house.tools.call(house.acme.owner, "note", {"text": "Oat milk."})
    found = await house.tools.call(house.acme.owner, "look", {})
    assert found.answer == {"items": ["Oat milk."]}
    await house.tools.settled()
    *_, line = sorted(await house.rows("calls"), key=lambda row: row.id)
    assert (line.tool, line.outcome, line.items) == ("look", "done", 1)
    assert house.told == [house.organization], "nothing changed by the read"


async def test_a_call_is_kept_with_the_run_and_conversation_in_whose_course_it_was(
    house: ToolHouse,
) -> None:
    course = Course(new_id(), new_id())
    await house.tools.invoke(house.acme.owner, "note", {"text": "Oat milk."}, course=course)
    (line,) = await house.rows("calls")
    assert (line.run_id, line.conversation_id) == course
    assert line.user_id == house.acme.owner.user_id


# --- the order of checks -------------------------------------------------------------------------

LONG = {"text": "x" * 70_000}


async def test_an_unknown_tool_is_refused_before_anything_is_read(house: ToolHouse) -> None:
    with pytest.raises(UnknownTool) as refused:
        await house.tools.invoke(house.acme.reader, "swordfish", "no object", key="\n")
    assert "swordfish" not in refused.value.message
    offered = [each.name for each in await house.tools.offers(house.acme.reader)]
    assert refused.value.details["tools"] == offered
    assert "note" not in offered
    assert await house.lines() == [("-", "refused", "unknown_tool")]


async def test_an_unknown_tool_is_told_of_none_that_the_caller_is_not_offered(
    house: ToolHouse,
) -> None:
    await house.policy("crack", Decision.DENY)
    acme = house.acme
    for who in (acme.owner, acme.member(acme.anna), acme.reader, acme.key_of(acme.scout)):
        with pytest.raises(UnknownTool) as refused:
            await house.tools.invoke(who, "swordfish", {})
        offered = [each.name for each in await house.tools.offers(who)]
        assert refused.value.details["tools"] == offered
        assert ("crack" in refused.value.message) is (who.agent_id is None)


async def test_arguments_are_checked_before_who_may_call(house: ToolHouse) -> None:
    with pytest.raises(Invalid):
        await house.tools.invoke(house.acme.reader, "note", {"txt": "Oat milk."}, key="k")
    with pytest.raises(OverLimit):
        await house.tools.invoke(house.acme.reader, "note", LONG)


async def test_a_read_only_key_calls_what_reads_and_nothing_that_writes(house: ToolHouse) -> None:
    with pytest.raises(ReadOnly):
        await house.tools.invoke(house.acme.reader, "note", {"text": "Oat milk."}, key="k")
    assert (await house.tools.invoke(house.acme.reader, "look", {})).answer == {"items": []}
    assert await house.sizes() == {"calls": 2}


async def test_an_operator_calls_nothing(house: ToolHouse) -> None:
    with pytest.raises(Refused):
        await house.tools.invoke(LOCAL_OPERATOR, "look", {})
    assert code_of(await house.tools.call(LOCAL_OPERATOR, "look", {})) == "refused"
    with pytest.raises(Refused):
        await house.tools.offers(LOCAL_OPERATOR)


async def test_a_key_of_a_space_calls_the_space_s_tools_alone(house: ToolHouse) -> None:
    space = await house.space(agent=True, names=("look",))
    who = house.acme.member(house.acme.anna).model_copy(update={"space": space})
    with pytest.raises(UnknownTool) as refused:
        await house.tools.invoke(who, "note", {"text": "Oat milk."})
    assert refused.value.details["tools"] == ["look"]
    assert await house.rows("memories") == []


async def test_a_space_without_an_agent_calls_nothing_that_writes(house: ToolHouse) -> None:
    space = await house.space(agent=False, names=("look", "note"))
    who = house.acme.member(house.acme.anna).model_copy(update={"space": space})
    with pytest.raises(WriterNeedsAgent):
        await house.tools.invoke(who, "note", {"text": "Oat milk."}, key="k")
    assert await house.sizes() == {"calls": 1}
    assert [each.name for each in await house.tools.offers(who)] == ["look"]


async def test_a_policy_may_deny_what_writes_and_what_reads(house: ToolHouse) -> None:
    agent = house.acme.key_of(house.acme.scout)
    await house.policy("note", Decision.DENY)
    await house.policy("look", Decision.DENY)
    with pytest.raises(ToolDenied):
        await house.tools.invoke(agent, "note", {"text": "Oat milk."}, key="k")
    with pytest.raises(ToolDenied):
        await house.tools.invoke(agent, "look", {})
    assert await house.sizes() == {"calls": 2}
    other = house.acme.key_of(house.acme.clerk)
    assert (await house.tools.invoke(other, "note", {"text": "Oat milk."})).answer


async def test_only_so_many_calls_wait_for_a_person(storage: Storage, acme: Tenant) -> None:
    house = ToolHouse(storage, acme, max_approvals=1)
    agent = acme.key_of(acme.scout)
    await house.policy("note", Decision.ALLOW)
    made = [await house.tools.invoke(agent, "note", {"text": str(n)}) for n in range(2)]
    first, second = ({"memory_id": each.answer["memory_id"]} for each in made)
    await house.tools.invoke(agent, "drop", first, key="first")
    with pytest.raises(ApprovalsFull):
        await house.tools.invoke(agent, "drop", second, key="second")
    assert [row.key for row in await house.rows("receipts")] == ["first"]


# --- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "code", "ending"),
    [("stumble", "conflict", "refused"), ("break", "tool_failed", "failed")],
)
async def test_what_is_refused_leaves_no_row_but_its_line(
    house: ToolHouse, tool: str, code: str, ending: str
) -> None:
    course = Course(run_id=new_id())
    result = await house.tools.call(
        house.acme.owner, tool, {"text": "Oat milk."}, key="k", course=course
    )
    assert code_of(result) == code
    assert await house.sizes() == {"calls": 1, "counts": 1}
    (line,) = await house.rows("calls")
    assert (line.tool, line.outcome, line.code, line.memory_id) == (tool, ending, code, None)
    assert house.told == []


async def test_a_key_whose_call_was_refused_may_be_used_again(house: ToolHouse) -> None:
    owner = house.acme.owner
    refused = await house.tools.call(owner, "stumble", {"text": "Oat milk."}, key="k")
    assert code_of(refused) == "conflict"
    again = await house.tools.call(owner, "note", {"text": "Oat milk."}, key="k")
    assert (code_of(again), again.replayed) == (None, False)


async def test_a_refusal_says_what_the_error_says(house: ToolHouse) -> None:
    result = await house.tools.call(house.acme.owner, "stumble", {"text": "Oat milk."})
    assert result.refusal.model_dump() == {
        "code": "conflict",
        "kind": "conflict",
        "message": "It moved on.",
        "retryable": False,
        "details": {"version": 3},
    }


async def test_a_lost_database_is_a_refusal_that_may_be_tried_again(house: ToolHouse) -> None:
    result = await house.tools.call(house.acme.owner, "lose", {})
    assert (code_of(result), result.refusal.retryable) == ("storage_busy", True)
    with pytest.raises(StorageBusy):
        await house.tools.invoke(house.acme.owner, "lose", {})
    assert await house.lines() == [("lose", "failed", "storage_busy")] * 2


async def test_a_tool_s_defect_is_a_refusal_that_gives_nothing_away(
    house: ToolHouse, caplog: pytest.LogCaptureFixture
) -> None:
    for tool, arguments in (("crack", {}), ("break", {"text": "Oat milk."})):
        result = await house.tools.call(house.acme.owner, tool, arguments)
        assert (code_of(result), result.refusal.retryable) == ("tool_failed", False)
        assert "swordfish" not in result.model_dump_json()
    with pytest.raises(KeyError):
        await house.tools.invoke(house.acme.owner, "crack", {})
    assert "swordfish" not in caplog.text
    assert "crack" in caplog.text


async def test_what_the_tool_itself_refuses_comes_as_it_is(house: ToolHouse) -> None:
    await house.tools.invoke(house.acme.owner, "note", {"text": "Oat milk."}, key="a")
    with pytest.raises(DuplicateMemory):
        await house.tools.invoke(house.acme.owner, "note", {"text": "Oat milk."}, key="b")
    assert len(await house.rows("receipts")) == 1


@pytest.mark.parametrize("key", ["", "  ", "x" * 201, "a\nb", "a\0", "\ud800", "\u202e"])
async def test_a_key_that_is_none_is_refused(house: ToolHouse, key: str) -> None:
    with pytest.raises(Invalid) as refused:
        await house.tools.invoke(house.acme.owner, "note", {"text": "Oat milk."}, key=key)
    assert refused.value.details["field"] == "idempotency_key"
    assert await house.sizes() == {"calls": 1}


HOSTILE: list[Any] = [
    "\0", "\ud800", "note\u202e", "x" * 100_000, "", "NOTE", "note ", "../note", None, 3, ["note"],
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
async def test_any_name_is_answered(house: ToolHouse, name: Any) -> None:
    result = await house.tools.call(house.acme.owner, name, {})
    assert code_of(result) == "unknown_tool"
    assert len(result.model_dump_json()) < 1_000
    assert await house.lines() == [("-", "refused", "unknown_tool")]


# --- offers --------------------------------------------------------------------------------------


async def test_everybody_is_offered_what_it_may_call_and_how(house: ToolHouse) -> None:
    await house.policy("note", Decision.ALLOW)
    await house.policy("crack", Decision.DENY)

    async def offered(who: Principal) -> dict[str, str]:
        return {each.name: str(each.decision) for each in await house.tools.offers(who)}

    writers = ["note", "drop", "mark", "stumble", "break"]
    readers = ["look", "lose", "crack"]
    acme = house.acme
    for person in (acme.owner, acme.member(acme.anna)):
        assert await offered(person) == dict.fromkeys([*writers, *readers], "allow")
    assert await offered(acme.reader) == dict.fromkeys(readers, "allow")
    assert await offered(acme.key_of(acme.scout)) == {
        **dict.fromkeys(writers, "ask"),
        **dict.fromkeys(readers[:-1], "allow"),
        "note": "allow",
    }


async def test_an_offer_describes_what_is_taken_and_answered(house: ToolHouse) -> None:
    first, *_ = await house.tools.offers(house.acme.owner)
    assert first.input_schema["required"] == ["text"]
    assert first.input_schema["additionalProperties"] is False
    assert set(first.answer_schema["properties"]) >= {"outcome", "memory_id"}


async def test_every_refusal_of_the_door_is_a_kind_that_surfaces_know() -> None:
    kinds = {
        UnknownTool: "not_found",
        ToolDenied: "refused",
        WriterNeedsAgent: "invalid",
        TooManyToolCalls: "over_limit",
        ApprovalsFull: "over_limit",
    }
    assert {error: error.kind for error in kinds} == kinds
    assert all(issubclass(error, MemorandaError) for error in kinds)


async def test_a_member_calls_for_its_own_user(house: ToolHouse) -> None:
    anna = house.acme.member(house.acme.anna)
    await house.tools.invoke(anna, "note", {"text": "Oat milk."})
    (memory,) = await house.rows("memories")
    assert memory.user_id == house.acme.anna.id
    assert anna.role is Role.MEMBER
    with pytest.raises(Conflict):
        await house.tools.invoke(anna, "stumble", {"text": "Else."})
