"""Many callers at once, on many connections, some of which die: each key is one call, each count is exact."""

import asyncio
import multiprocessing
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from memoranda.storage import Storage, Transaction
from memoranda.tools.errors import KeyReused, TooManyToolCalls
from memoranda.tools.invoker import Invoked
from memoranda.tools.models import Course
from memoranda.words.errors import DuplicateMemory
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant
from tests.contract.tool_house import ToolHouse, note
from tests.contract.tool_writer import CALLERS, call_until_killed

CLIENTS = 6
PROCESSES = multiprocessing.get_context("forkserver")


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Let the process that clients are forked from import what they need, once."""
    PROCESSES.set_forkserver_preload(["tests.contract.tool_writer", "memoranda.storage.dialects"])


@pytest.fixture
async def houses(
    database_url: str, storage: Storage, acme: Tenant
) -> AsyncIterator[list[ToolHouse]]:
    """Six openings of one database, as six processes would have."""
    opened = [await Storage.open(database_url) for _ in range(CLIENTS)]
    houses = [ToolHouse(each, acme, calls_per_run=20) for each in opened]
    yield houses
    for house in houses:
        await house.tools.settled()
        await house.storage.close()


async def test_one_call_delivered_many_times_at_once_is_done_once(houses: list[ToolHouse]) -> None:
    owner, course = houses[0].acme.owner, Course(run_id=new_id())
    for number in range(5):
        asked = {"text": f"Number {number}."}
        answers = await asyncio.gather(
            *[
                house.tools.invoke(owner, "note", asked, key=f"key {number}", course=course)
                for house in houses
                for _ in range(4)
            ]
        )
        assert len({answer.answer["memory_id"] for answer in answers}) == 1
        assert all(answer.answer == answers[0].answer for answer in answers)
        assert Counter(answer.replayed for answer in answers) == {False: 1, True: CLIENTS * 4 - 1}
    assert len(await houses[0].rows("memories")) == 5
    assert sum(len(house.told) for house in houses) == 5
    (count,) = await houses[0].rows("counts")
    assert count.calls == 5
    ends = Counter(ending for _, ending, _ in await houses[0].lines())
    assert ends == {"done": 5, "replayed": 5 * (CLIENTS * 4 - 1)}


async def test_of_different_calls_under_one_key_at_once_one_is_done(
    houses: list[ToolHouse],
) -> None:
    owner = houses[0].acme.owner
    answers = await asyncio.gather(
        *[
            house.tools.invoke(owner, "note", {"text": f"Number {n}."}, key="k")
            for n, house in enumerate(houses)
        ],
        return_exceptions=True,
    )
    kinds = Counter(type(answer) for answer in answers)
    assert kinds == {Invoked: 1, KeyReused: CLIENTS - 1}
    assert len(await houses[0].rows("memories")) == 1


async def test_calls_that_want_the_same_under_keys_of_their_own_are_each_told_the_truth(
    houses: list[ToolHouse],
) -> None:
    owner = houses[0].acme.owner
    answers = await asyncio.gather(
        *[
            house.tools.invoke(owner, "note", {"text": "Oat milk."}, key=f"{n}")
            for n, house in enumerate(houses)
        ],
        return_exceptions=True,
    )
    assert Counter(map(type, answers)) == {Invoked: 1, DuplicateMemory: CLIENTS - 1}
    # Who lost has no receipt, and so asks again with what it has by now.
    assert len(await houses[0].rows("receipts")) == 1


async def test_whoever_comes_second_waits_for_the_first_and_does_it_where_that_one_fails(
    houses: list[ToolHouse], database_url: str
) -> None:
    first, second = houses[:2]
    owner = first.acme.owner
    slow = first.tools._registry.find("note")
    assert slow is not None

    def slowly(tx: Transaction, *args: object) -> object:
        note(tx, *args)
        time.sleep(0.5)
        raise RuntimeError

    object.__setattr__(slow, "write", slowly)
    failing = asyncio.create_task(first.tools.call(owner, "note", {"text": "Oat milk."}, key="k"))
    await asyncio.sleep(0.2)
    made = await second.tools.invoke(owner, "note", {"text": "Oat milk."}, key="k")
    assert (await failing).refusal.code == "tool_failed"
    assert made.replayed is False
    assert len(await second.rows("memories")) == 1


async def test_a_run_calls_a_tool_as_often_as_it_may_however_many_call_at_once(
    houses: list[ToolHouse],
) -> None:
    owner, course = houses[0].acme.owner, Course(run_id=new_id())
    answers = await asyncio.gather(
        *[
            house.tools.invoke(owner, tool, arguments, course=course)
            for n, house in enumerate(houses)
            for turn in range(6)
            for tool, arguments in (("note", {"text": f"{n} and {turn}"}), ("look", {}))
        ],
        return_exceptions=True,
    )
    assert Counter(map(type, answers)) == {Invoked: 40, TooManyToolCalls: 32}
    assert len(await houses[0].rows("memories")) == 20
    for house in houses:
        await house.tools.settled()
    ends = Counter(await houses[0].lines())
    assert ends == {
        ("note", "done", None): 20,
        ("look", "done", None): 20,
        ("note", "refused", "too_many_tool_calls"): 16,
        ("look", "refused", "too_many_tool_calls"): 16,
    }


async def test_a_cancelled_call_leaves_nothing_and_its_key_is_free(
    houses: list[ToolHouse],
) -> None:
    first, second = houses[:2]
    owner = first.acme.owner
    tool = first.tools._registry.find("note")
    assert tool is not None

    def slowly(tx: Transaction, *args: object) -> object:
        time.sleep(0.3)
        return note(tx, *args)

    object.__setattr__(tool, "write", slowly)
    waiting = asyncio.create_task(first.tools.call(owner, "note", {"text": "Oat milk."}, key="k"))
    await asyncio.sleep(0.1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    made = await second.tools.invoke(owner, "note", {"text": "Oat milk."}, key="k")
    assert made.replayed is False
    assert len(await second.rows("receipts")) == 1


def keys_until_killed(url: str, acme: Tenant, name: str) -> dict[str, str | None]:
    """The keys that a client used before it was killed, each with the memory that it was told of."""
    here, there = PROCESSES.Pipe(duplex=False)
    client = PROCESSES.Process(target=call_until_killed, args=(url, acme, name, there), daemon=True)
    client.start()
    there.close()
    used: dict[str, str | None] = {}
    assert here.recv() is None
    try:
        while True:
            key, told = here.recv()
            used[key] = told
            if client.is_alive() and len(used) > 3 * CALLERS:
                client.kill()  # in the middle of several calls
    except EOFError:
        here.close()
    client.join()
    assert client.exitcode == -signal.SIGKILL, "it ran until it was killed"
    return used


async def test_a_client_that_is_killed_can_try_all_of_it_again(
    database_url: str, storage: Storage, acme: Tenant
) -> None:
    house = ToolHouse(storage, acme)
    used: dict[str, str | None] = {}
    for kill in range(3):
        used |= await asyncio.to_thread(keys_until_killed, database_url, acme, f"client {kill}")
    assert any(used.values())
    for key, told in used.items():
        again = await house.tools.invoke(acme.owner, "note", {"text": key}, key=key)
        assert told in {None, again.answer["memory_id"]}
        assert again.replayed or told is None
    receipts = {row.key: row.memory_id for row in await house.rows("receipts")}
    assert receipts.keys() == used.keys()
    assert set(receipts.values()) == {row.id for row in await house.rows("memories")}
    done = [row.memory_id for row in await house.rows("calls") if row.outcome == "done"]
    assert Counter(done) == dict.fromkeys(receipts.values(), 1)
