"""The same call again changes nothing: it is answered as before, for as long as that is true."""

from datetime import timedelta
from typing import Any

import pytest

from memoranda.memories.service import Memories
from memoranda.storage import Storage
from memoranda.tools.errors import KeyReused
from memoranda.tools.models import Course, Decision, Outcome, Written
from memoranda.tools.receipts import store as receipts
from memoranda.words.errors import Erased
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.tool_house import ToolHouse

MILK = {"text": "Oat milk."}
RUN = Course(run_id=new_id())


@pytest.fixture
async def house(storage: Storage, acme: Tenant) -> ToolHouse:
    return ToolHouse(storage, acme)


async def test_the_same_call_again_is_answered_as_before_and_does_nothing(
    house: ToolHouse,
) -> None:
    owner = house.acme.owner
    first = await house.tools.invoke(owner, "note", MILK, key="k", course=RUN)
    before = await house.sizes()
    again = await house.tools.invoke(owner, "note", dict(MILK), key="k", course=RUN)
    assert (again.answer, first.replayed, again.replayed) == (first.answer, False, True)
    assert await house.sizes() == {**before, "calls": 2}
    assert house.told == [house.organization], "a listener hears of a change once"
    (count,) = await house.rows("counts")
    assert count.calls == 1, "a call that is tried again is counted once"
    assert await house.lines() == [("note", "done", None), ("note", "replayed", None)]
    first_line, second_line = sorted(await house.rows("calls"), key=lambda row: row.id)
    assert first_line.memory_id == second_line.memory_id


async def test_the_answer_of_a_call_made_again_is_as_it_was_whatever_happened_since(
    house: ToolHouse,
) -> None:
    owner = house.acme.owner
    first = await house.tools.invoke(owner, "note", MILK, key="k")
    (memory,) = await house.rows("memories")
    await Memories(house.storage).forget(owner, memory.id)
    again = await house.tools.invoke(owner, "note", MILK, key="k")
    assert again.answer == first.answer


@pytest.mark.parametrize(
    ("tool", "arguments", "course"),
    [
        ("note", {"text": "Oat milk"}, RUN),
        ("note", {**MILK, "tags": []}, RUN),  # to some tools that is something else
        ("stumble", MILK, RUN),
        ("note", MILK, Course()),
        ("note", MILK, Course(RUN.run_id, new_id())),
    ],
)
async def test_a_key_is_for_one_call(
    house: ToolHouse, tool: str, arguments: Any, course: Course
) -> None:
    owner = house.acme.owner
    await house.tools.invoke(owner, "note", MILK, key="k", course=RUN)
    with pytest.raises(KeyReused):
        await house.tools.invoke(owner, tool, arguments, key="k", course=course)
    assert len(await house.rows("memories")) == 1
    assert (await house.lines())[-1] == (tool, "refused", "idempotency_key_reused")


async def test_the_same_request_spelled_in_another_order_is_the_same_call(
    house: ToolHouse,
) -> None:
    owner = house.acme.owner
    first = await house.tools.invoke(owner, "note", {"text": "a", "tags": ["b"]}, key="k")
    again = await house.tools.invoke(owner, "note", {"tags": ["b"], "text": "a"}, key="k")
    assert again == (first.answer, True)


async def test_without_a_key_each_call_is_a_new_one(house: ToolHouse) -> None:
    first = await house.tools.call(house.acme.owner, "note", MILK)
    again = await house.tools.call(house.acme.owner, "note", MILK)
    assert first.refusal is None
    assert again.refusal.code == "duplicate_memory"
    assert await house.rows("receipts") == []


async def test_a_key_has_nothing_to_do_with_a_read(house: ToolHouse) -> None:
    owner = house.acme.owner
    assert (await house.tools.invoke(owner, "look", {}, key="k")).answer == {"items": []}
    await house.tools.invoke(owner, "note", MILK, key="k")
    assert (await house.tools.invoke(owner, "look", {}, key="k")).answer == {
        "items": [MILK["text"]]
    }


async def test_two_callers_never_meet_under_one_key(house: ToolHouse) -> None:
    acme = house.acme
    anna, ben, nobody = acme.anna, acme.ben, None
    space = await house.space(agent=True, names=("note",))
    callers = [
        acme.owner,
        acme.owner.model_copy(update={"user_id": None}),
        acme.owner.model_copy(update={"user_id": anna.id}),
        acme.member(anna),
        acme.member(ben),
        *[
            acme.key_of(agent, user)
            for agent in (acme.scout, acme.clerk)
            for user in (nobody, anna)
        ],
    ]
    callers += [each.model_copy(update={"space": space}) for each in callers[3:]]
    for number, who in enumerate(callers):
        made = await house.tools.invoke(who, "note", {"text": f"Number {number}."}, key="k")
        assert made.replayed is False
    assert len({row.caller for row in await house.rows("receipts")}) == len(callers)


async def test_two_keys_of_one_caller_do_meet(house: ToolHouse) -> None:
    anna = house.acme.member(house.acme.anna)
    one, other = (anna.model_copy(update={"key_id": new_id()}) for _ in range(2))
    first = await house.tools.invoke(one, "note", MILK, key="k")
    assert await house.tools.invoke(other, "note", MILK, key="k") == (first.answer, True)


async def test_two_organizations_never_meet_under_one_key(house: ToolHouse) -> None:
    other = ToolHouse(house.storage, await new_tenant(house.storage, "Other"))
    first = await house.tools.invoke(house.acme.owner, "note", MILK, key="k")
    second = await other.tools.invoke(other.acme.owner, "note", MILK, key="k")
    assert second.replayed is False
    assert second.answer["memory_id"] != first.answer["memory_id"]


async def test_a_proposal_made_again_is_answered_as_the_same_proposal(house: ToolHouse) -> None:
    agent = house.acme.key_of(house.acme.scout)
    first = await house.tools.invoke(agent, "note", MILK, key="k")
    assert await house.tools.invoke(agent, "note", MILK, key="k") == (first.answer, True)
    assert len(await house.rows("proposals")) == 1


async def test_a_call_that_was_decided_meanwhile_is_answered_by_what_was_decided(
    house: ToolHouse,
) -> None:
    agent = house.acme.key_of(house.acme.scout)
    await house.policy("note", Decision.ALLOW)
    made = await house.tools.invoke(agent, "note", MILK)
    gone = {"memory_id": made.answer["memory_id"]}
    waiting = await house.tools.invoke(agent, "drop", gone, key="k")
    assert await house.tools.invoke(agent, "drop", gone, key="k") == (waiting.answer, True)
    decided = Written(outcome=Outcome.DENIED, message="No.")
    await house.storage.write(
        house.organization, receipts.answer_late, receipts.caller_of(agent), "k", decided
    )
    again = await house.tools.invoke(agent, "drop", gone, key="k")
    assert again == (decided.model_dump(mode="json"), True)
    (receipt,) = await house.rows("receipts")
    assert str(receipt.memory_id) == made.answer["memory_id"], "it is still about that memory"


async def test_what_is_erased_is_answered_no_more_and_not_done_again(house: ToolHouse) -> None:
    owner = house.acme.owner
    await house.tools.invoke(owner, "note", MILK, key="k")
    await house.tools.invoke(owner, "note", {"text": "Else."}, key="other")
    memory = next(row for row in await house.rows("receipts") if row.key == "k")
    cleared = await house.storage.write(house.organization, receipts.clear, [memory.memory_id])
    assert cleared == 1
    for arguments in (MILK, {"text": "Something else."}):
        with pytest.raises(Erased):
            await house.tools.invoke(owner, "note", arguments, key="k")
    late = Written(outcome=Outcome.DONE, message="Too late.")
    await house.storage.write(
        house.organization, receipts.answer_late, receipts.caller_of(owner), "k", late
    )
    with pytest.raises(Erased):
        await house.tools.invoke(owner, "note", MILK, key="k")
    assert (await house.tools.invoke(owner, "note", {"text": "Else."}, key="other")).replayed


async def test_a_call_is_about_the_memory_that_it_names_whatever_it_is_answered(
    house: ToolHouse,
) -> None:
    owner = house.acme.owner
    made = await house.tools.invoke(owner, "note", MILK)
    named = made.answer["memory_id"]
    assert (await house.tools.invoke(owner, "mark", {"memory_id": named}, key="k")).answer
    (receipt,) = await house.rows("receipts")
    _, line = sorted(await house.rows("calls"), key=lambda row: row.id)
    assert (str(receipt.memory_id), str(line.memory_id)) == (named, named)


async def test_a_proposal_s_receipt_goes_by_the_proposal_s_id(house: ToolHouse) -> None:
    agent = house.acme.key_of(house.acme.scout)
    made = await house.tools.invoke(agent, "note", MILK, key="k")
    (proposal,) = await house.rows("proposals")
    assert str(proposal.id) == made.answer["proposal_id"]
    assert await house.storage.write(house.organization, receipts.clear, [proposal.id]) == 1
    with pytest.raises(Erased):
        await house.tools.invoke(agent, "note", MILK, key="k")


async def test_a_user_s_receipts_go_with_the_user(house: ToolHouse) -> None:
    acme = house.acme
    callers = [
        acme.member(acme.anna), acme.key_of(acme.scout, acme.anna),
        acme.member(acme.ben), acme.key_of(acme.scout), acme.owner,
    ]  # fmt: skip
    for number, who in enumerate(callers):
        await house.tools.invoke(who, "note", {"text": f"Number {number}."}, key="k")
    gone = await house.storage.write(house.organization, receipts.clear_user, acme.anna.id)
    left = {row.caller for row in await house.rows("receipts")}
    assert (gone, left) == (2, {receipts.caller_of(who) for who in callers[2:]})


async def test_receipts_and_counts_go_when_they_are_old(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    acme = await new_tenant(timed_storage)
    house = ToolHouse(timed_storage, acme, receipts_kept=timedelta(days=30))
    await house.tools.invoke(acme.owner, "note", MILK, key="old", course=RUN)
    clock.now += timedelta(days=29)
    assert (await house.tools.invoke(acme.owner, "note", MILK, key="old", course=RUN)).replayed
    await house.tools.invoke(acme.owner, "note", {"text": "New."}, key="new")
    assert await house.tools.prune(house.organization) == 0
    clock.now += timedelta(days=2)
    assert await house.tools.prune(house.organization) == 2
    assert [row.key for row in await house.rows("receipts")] == ["new"]
    assert await house.rows("counts") == []
    assert await house.tools.prune(house.organization) == 0


async def test_of_one_text_no_two_receipts_are_alike(house: ToolHouse) -> None:
    acme = house.acme
    for user in (acme.anna, acme.ben):
        await house.tools.invoke(acme.member(user), "note", MILK, key="k")
    one, other = await house.rows("receipts")
    assert one.digest != other.digest
    assert one.salt != other.salt
    assert len(one.salt) == 16
