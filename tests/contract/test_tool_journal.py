"""The journal has a line for each call, agrees with the receipts, holds nothing up, and quotes nobody."""

import logging
import time
from datetime import timedelta
from typing import Any

import pytest

from memoranda.access.models import Principal
from memoranda.storage import Storage, StorageUnavailable, Transaction
from memoranda.tools.attempt import Attempt
from memoranda.tools.journal import service, store
from memoranda.tools.journal.line import Ending, Line
from memoranda.tools.journal.service import Journal
from memoranda.tools.models import Course, Decision, ToolCall
from memoranda.words.errors import Invalid, Refused
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.tool_house import ToolHouse
from tests.contract.traces import Scanner

RUN = Course(run_id=new_id())


@pytest.fixture
async def house(storage: Storage, acme: Tenant) -> ToolHouse:
    return ToolHouse(storage, acme)


async def listed(house: ToolHouse, who: Principal, **options: Any) -> list[ToolCall]:
    await house.tools.settled()
    return (await house.journal.page(who, **options)).items


async def test_every_receipt_has_the_line_that_tells_of_it(house: ToolHouse) -> None:
    agent = house.acme.key_of(house.acme.scout, house.acme.anna)
    await house.policy("note", Decision.ALLOW)
    for number in range(4):
        made = await house.tools.invoke(
            agent, "note", {"text": f"Number {number}."}, key=f"n{number}", course=RUN
        )
        gone = {"memory_id": made.answer["memory_id"]}
        for _ in range(2):
            await house.tools.invoke(agent, "drop", gone, key=f"d{number}", course=RUN)
    answers = [row.answer for row in await house.rows("receipts")]
    lines = [each for each in await listed(house, house.acme.owner) if each.outcome != "replayed"]

    def told(memory: Any, version: Any, proposal: Any, approval: Any) -> tuple[str, ...]:
        return (str(memory), str(version), str(proposal), str(approval))

    ids = ("memory_id", "version", "proposal_id", "approval_id")
    assert sorted(told(*[answer[name] for name in ids]) for answer in answers) == sorted(
        told(*[getattr(line, name) for name in ids]) for line in lines
    )
    assert {line.agent_id for line in lines} == {house.acme.scout.id}


async def test_a_line_says_who_called_and_from_where(house: ToolHouse) -> None:
    space = await house.space(agent=True, names=("look",))
    agent = house.acme.key_of(house.acme.scout, house.acme.anna)
    await house.tools.invoke(agent.model_copy(update={"space": space}), "look", {}, course=RUN)
    (line,) = await listed(house, house.acme.owner)
    assert (line.user_id, line.agent_id) == (agent.user_id, agent.agent_id)
    assert (line.space_id, line.run_id) == (space.id, RUN.run_id)
    assert 0 <= line.milliseconds < 60_000


async def test_everybody_is_shown_the_calls_that_it_may_know_of(house: ToolHouse) -> None:
    acme = house.acme
    callers = {
        "owner": acme.owner,
        "anna": acme.member(acme.anna),
        "ben": acme.member(acme.ben),
        "scout": acme.key_of(acme.scout),
        "scout for anna": acme.key_of(acme.scout, acme.anna),
        "clerk for anna": acme.key_of(acme.clerk, acme.anna),
    }
    for who in callers.values():
        await house.tools.invoke(who, "look", {})

    async def shown(who: Principal) -> set[str]:
        seen = {(each.user_id, each.agent_id) for each in await listed(house, who)}
        return {name for name, who in callers.items() if (who.user_id, who.agent_id) in seen}

    assert await shown(acme.owner) == await shown(acme.reader) == set(callers)
    assert await shown(callers["anna"]) == {"anna", "scout for anna", "clerk for anna"}
    for name in ("ben", "scout", "scout for anna", "clerk for anna"):
        assert await shown(callers[name]) == {name}
    other = await new_tenant(house.storage, "Other")
    assert await listed(house, other.owner) == []


async def test_a_key_of_a_space_reads_no_journal(house: ToolHouse) -> None:
    space = await house.space(agent=True, names=("look",))
    with pytest.raises(Refused):
        await listed(house, house.acme.owner.model_copy(update={"space": space}))


async def test_pages_go_on_where_they_ended_whatever_comes_meanwhile(house: ToolHouse) -> None:
    owner = house.acme.owner
    for number in range(7):
        await house.tools.call(
            owner, "note", {"text": f"{number}"}, course=RUN if number % 2 else Course()
        )
    every = [each.id for each in await listed(house, owner)]
    met: list[Any] = []
    cursor = None
    while True:
        page = await house.journal.page(owner, limit=2, cursor=cursor)
        met += [each.id for each in page.items]
        await house.tools.call(owner, "note", {"text": f"more {len(met)}"})
        cursor = page.next_cursor
        if cursor is None:
            break
    assert met == every == sorted(every, reverse=True)
    assert len(await listed(house, owner, run_id=RUN.run_id)) == 3
    assert await listed(house, owner, run_id=new_id()) == []


async def test_a_cursor_is_for_its_own_list_and_not_to_be_changed(house: ToolHouse) -> None:
    owner = house.acme.owner
    for _ in range(3):
        await house.tools.invoke(owner, "look", {})
    await house.tools.settled()
    cursor = (await house.journal.page(owner, limit=1)).next_cursor
    assert cursor is not None
    for wrong in (cursor[::-1], f"{cursor}A", "", "\0"):
        with pytest.raises(Invalid):
            await house.journal.page(owner, cursor=wrong)
    with pytest.raises(Invalid):
        await house.journal.page(owner, run_id=RUN.run_id, cursor=cursor)
    for limit in (0, 201):
        with pytest.raises(Invalid):
            await house.journal.page(owner, limit=limit)


async def test_a_read_waits_for_no_line_of_the_journal(
    house: ToolHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = store.add_all

    def slowly(tx: Transaction, lines: Any) -> None:
        time.sleep(1)
        write(tx, lines)

    monkeypatch.setattr(store, "add_all", slowly)
    began = time.perf_counter()
    for _ in range(5):
        await house.tools.invoke(house.acme.owner, "look", {})
    assert time.perf_counter() - began < 0.8
    assert len(await listed(house, house.acme.owner)) == 5


def a_line(house: ToolHouse) -> Line:
    return Attempt(house.organization, None, house.acme.owner, Course()).line(Ending.DONE)


async def test_a_journal_that_fails_fails_no_read_and_no_refusal(
    house: ToolHouse, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise StorageUnavailable("swordfish")

    owner = house.acme.owner
    monkeypatch.setattr(store, "add_all", fail)
    monkeypatch.setattr(store, "add", fail)
    assert (await house.tools.invoke(owner, "look", {})).answer == {"items": []}
    await house.tools.settled()
    for course in (Course(), RUN):
        refused = await house.tools.call(owner, "stumble", {}, course=course)
        assert refused.refusal.code == "invalid_input"
        await house.tools.settled()
    assert caplog.text.count("StorageUnavailable") == 3
    assert "swordfish" not in caplog.text
    # What changes something is whole or not at all, its line included.
    written = await house.tools.call(owner, "note", {"text": "Oat milk."})
    assert written.refusal.code == "storage_unavailable"
    assert await house.rows("memories") == []


async def test_lines_that_wait_are_written_together_and_no_more_wait_than_may(
    house: ToolHouse, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(service, "MOST_WAITING", 10)
    for _ in range(15):
        house.journal.note(house.organization, a_line(house))
    assert len(await house.rows("calls")) == 10
    assert caplog.text.count("dropped") == 5
    house.journal.note(house.organization, a_line(house))
    assert len(await house.rows("calls")) == 11


async def test_lines_go_when_they_are_old(timed_storage: Storage, clock: SteppedClock) -> None:
    acme = await new_tenant(timed_storage)
    house = ToolHouse(timed_storage, acme)
    journal = Journal(timed_storage, kept=timedelta(days=10))
    await house.tools.invoke(acme.owner, "note", {"text": "Old."})
    clock.now += timedelta(days=9)
    await house.tools.invoke(acme.owner, "note", {"text": "New."})
    assert await journal.prune(house.organization) == 0
    clock.now += timedelta(days=2)
    assert await journal.prune(house.organization) == 1
    assert len(await house.rows("calls")) == 1
    assert await Journal(timed_storage).prune(house.organization) == 0


SECRET = "swordfish"


async def test_what_is_said_stands_in_memories_and_nowhere_else(
    house: ToolHouse, scanner: Scanner, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    owner, agent = house.acme.owner, house.acme.key_of(house.acme.scout)
    said = {"text": f"The word is {SECRET}."}
    await house.tools.call(owner, "note", said, key="k", course=RUN)
    await house.tools.call(owner, "note", said, key="k", course=RUN)
    await house.tools.call(owner, "note", {"text": f"{SECRET} again"}, key="k", course=RUN)
    await house.tools.call(owner, "note", said, key="other", course=RUN)
    await house.tools.call(agent, "note", {"text": f"I propose {SECRET}."}, key="k")
    await house.tools.call(agent, "note", {SECRET: SECRET}, key="k", course=RUN)
    await house.tools.call(agent, SECRET, {SECRET: SECRET})
    await house.tools.call(owner, "look", {"deep": {SECRET: SECRET}})
    await house.tools.call(owner, "crack", {})
    await house.tools.call(owner, "break", said, course=RUN)
    assert len(await listed(house, owner)) == 10
    held = [name for name, rows in scanner.rows().items() if any(SECRET in row for row in rows)]
    assert held, "what was remembered is there"
    assert not [name for name in held if name.startswith("tool_")]
    assert SECRET not in caplog.text
