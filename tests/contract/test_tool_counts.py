"""A run calls each tool so many times, and no caller uses up another's."""

import pytest

from memoranda.storage import Storage
from memoranda.tools.errors import TooManyToolCalls
from memoranda.tools.models import Course, Decision
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.tool_house import ToolHouse

RUN = Course(run_id=new_id())


@pytest.fixture
async def house(storage: Storage, acme: Tenant) -> ToolHouse:
    return ToolHouse(storage, acme, calls_per_run=3)


async def test_a_run_that_has_called_a_tool_often_enough_is_refused(house: ToolHouse) -> None:
    owner = house.acme.owner
    for _ in range(3):
        await house.tools.invoke(owner, "look", {}, course=RUN)
    with pytest.raises(TooManyToolCalls) as refused:
        await house.tools.invoke(owner, "look", {}, course=RUN)
    assert refused.value.details == {"limit": 3}
    await house.tools.invoke(owner, "note", {"text": "Another tool."}, course=RUN)
    await house.tools.invoke(owner, "look", {}, course=Course(run_id=new_id()))
    await house.tools.invoke(owner, "look", {})


@pytest.mark.parametrize("arguments", [{"txt": "no such field"}, {"text": "Oat milk."}])
async def test_refused_calls_count_too(house: ToolHouse, arguments: dict[str, str]) -> None:
    owner = house.acme.owner
    for _ in range(4):
        await house.tools.call(owner, "stumble", arguments, course=RUN)
    with pytest.raises(TooManyToolCalls):
        await house.tools.invoke(owner, "stumble", {"text": "Oat milk."}, course=RUN)
    assert await house.rows("memories") == []


async def test_a_call_that_is_denied_counts_once(house: ToolHouse) -> None:
    agent = house.acme.key_of(house.acme.scout)
    for tool, arguments in (("note", {"text": "Oat milk."}), ("look", {})):
        await house.policy(tool, Decision.DENY)
        for _ in range(4):
            await house.tools.call(agent, tool, arguments, course=RUN)
    codes = [code for _, _, code in await house.lines()]
    denied, too_many = "tool_denied", "too_many_tool_calls"
    assert codes == [denied, denied, denied, too_many] * 2


async def test_a_read_that_breaks_counts_once(house: ToolHouse) -> None:
    for _ in range(2):
        await house.tools.call(house.acme.owner, "crack", {}, course=RUN)
    (count,) = await house.rows("counts")
    assert count.calls == 2


async def test_no_caller_uses_up_the_calls_of_another_by_naming_its_run(house: ToolHouse) -> None:
    acme = house.acme
    for who in (acme.owner, acme.member(acme.anna), acme.member(acme.ben)):
        for _ in range(3):
            await house.tools.invoke(who, "look", {}, course=RUN)
    other = ToolHouse(house.storage, await new_tenant(house.storage, "Other"), calls_per_run=3)
    for _ in range(3):
        await other.tools.invoke(other.acme.owner, "look", {}, course=RUN)


async def test_a_limit_of_0_is_none_and_counts_nothing(storage: Storage, acme: Tenant) -> None:
    house = ToolHouse(storage, acme, calls_per_run=0)
    for number in range(5):
        await house.tools.invoke(acme.owner, "note", {"text": f"{number}"}, course=RUN)
        await house.tools.invoke(acme.owner, "look", {}, course=RUN)
        await house.tools.call(acme.owner, "stumble", {}, course=RUN)
    assert await house.rows("counts") == []
