"""A process that dies within any verb of a chat has done it or not; who comes after goes on from what is shown."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any, Final

import pytest

from memoranda.conversations.chats.models import Thread
from memoranda.storage import Storage
from tests.contract.chat_desk import SYSTEM, Desk, assert_sendable, text_of
from tests.contract.chat_verbs import (
    BASE,
    CASES,
    HOST,
    OTHER,
    UNHEARD,
    Death,
    Statements,
    do_and_die,
)
from tests.contract.killing import PROCESSES, heard_of_who_kills_itself
from tests.contract.tenants import Tenant, new_tenant

Done = dict[str, list[bool]]
POINTS: Final = 2
"""Statements of each verb at which somebody dies, beside the point behind the last."""


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Let the process that others are forked from import what they need, once."""
    PROCESSES.set_forkserver_preload(["tests.contract.chat_verbs", "memoranda.storage.dialects"])


async def new_desk(storage: Storage, tenant: Tenant, name: str) -> Desk:
    """A chat with two branches, and what there is before the verb."""
    desk = await Desk.of(storage, tenant)
    await desk.exchange(*OTHER[:2])
    asked = await desk.ask(OTHER[2])
    await desk.reply(asked.run, OTHER[3])
    edited = await desk.edit(asked.message.id, BASE[2])
    await desk.reply(edited.run, BASE[3])
    before = CASES[name].before
    if before is not None:
        await before(desk)
    return desk


def shown(thread: Thread) -> list[str]:
    return [text_of(each.content) for each in thread.messages]


async def rows_of(desk: Desk) -> Any:
    """Every row, but for when a host was heard of last, which it is by asking what it begins from."""
    rows = await desk.rows()
    runs = [row._replace(seen_at=None) for row in rows["chat_runs"]]
    return {**rows, "chat_runs": runs}


async def assert_done_or_not(desk: Desk, name: str, before: Any, *, heard: bool) -> bool:
    """Whether the verb was done: what was acknowledged was, and what was not has left nothing behind."""
    thread = await desk.chats.thread(desk.who, desk.id)
    changed = await rows_of(desk) != before
    assert changed or not heard, name
    if not changed:
        return False
    assert shown(thread) == CASES[name].shown, name
    if name not in {"compact", "reset"}:
        answered = [text_of(each.content) for each in thread.messages]
        saved = await desk.known()
        assert saved == answered[: len(saved)], name
    return True


async def assert_goes_on(desk: Desk, name: str) -> None:
    """Another host takes over what is live; the next request is valid, and the agent knows all that is shown."""
    generation = await desk.talks.resets.generation(desk.who, desk.chat.workflow_id)
    if generation.generation != (await desk.now()).generation:
        await desk.chats.clear(desk.who, desk.id)
        await desk.now()
    thread = await desk.chats.thread(desk.who, desk.id)
    run = thread.run
    if run is not None and run.status == "stopping":
        await desk.chats.fail(desk.who, run.id, "Its host is gone.")
    elif run is not None:
        if run.status == "waiting":
            await desk.chats.resume(desk.who, run.id)
        taken = await desk.chats.pick_up(desk.who, run.id, picked_up_by=HOST)
        prepared = await desk.begin(taken)
        assert_sendable(prepared.request(SYSTEM))
        await desk.chats.answer(desk.who, run.id, "over", [desk.turn(prepared, "over")])
    prepared = await desk.begin((await desk.ask("is anybody there?")).run)
    assert_sendable(prepared.request(SYSTEM))
    await desk.chats.answer(desk.who, prepared.run.id, "yes", [desk.turn(prepared, "yes")])
    said, known = await desk.shown(), await desk.known()
    if name == "compact":
        assert known[-2:] == said[-2:]
        return
    # What waited to be told stands ahead of what was said then.
    assert len(known) == len(said), name
    assert all(told.endswith(each) for told, each in zip(known, said, strict=True)), name


async def statements_of(storage: Storage, tenant: Tenant, name: str) -> int:
    """How many statements the verb takes."""
    desk = await new_desk(storage, tenant, name)
    do = await CASES[name].at_hand(desk)
    with Statements() as counting:
        await do()
    await desk.chats.delete(desk.who, desk.id)  # a worker would look at its run, too
    return counting.count


async def dies_within(url: str, names: Sequence[str], chance: random.Random) -> Done:
    """For each verb, whether it was done each time that somebody died of it."""
    storage = await Storage.open(url)
    tenant = await new_tenant(storage)
    done: Done = {}
    for name in names:
        count = await statements_of(storage, tenant, name)
        points = [
            *sorted(chance.sample(range(1, count + 1), min(POINTS, count))),
            UNHEARD,
            count + 1,
        ]
        desk: Desk | None = None
        for at in points:
            desk = desk or await new_desk(storage, tenant, name)
            before = await rows_of(desk)
            said = await asyncio.to_thread(
                heard_of_who_kills_itself, do_and_die, url, desk.who, desk.chat, Death(name, at)
            )
            assert said == ([name] if at == count + 1 else []), (name, at, count)
            was = await assert_done_or_not(desk, name, before, heard=bool(said))
            done.setdefault(name, []).append(was)
            if was:  # else all is as it was, and the next one dies of the same
                await assert_goes_on(desk, name)
                desk = None
    await storage.close()
    return done


async def assert_whole_whenever_somebody_dies(url: str, names: Sequence[str]) -> None:
    done = await dies_within(url, names, random.Random(20261130))
    assert [*done] == names
    for name, was in done.items():
        assert was[-2:] == [True, True], (name, "what was committed is there, told or not")
    assert not all(all(was) for was in done.values()), "some died before they had done it"


OF_HOSTS: Final = [name for name, case in CASES.items() if case.before is not None]
OF_PEOPLE: Final = [name for name in CASES if name not in OF_HOSTS]


@pytest.mark.slow
@pytest.mark.parametrize("names", [OF_HOSTS, OF_PEOPLE], ids=["in a run", "between runs"])
async def test_whoever_dies_within_a_verb_has_done_it_or_not_on_sqlite(
    sqlite_database: str, names: list[str]
) -> None:
    await assert_whole_whenever_somebody_dies(sqlite_database, names)


@pytest.mark.slow
@pytest.mark.parametrize("names", [OF_HOSTS, OF_PEOPLE], ids=["in a run", "between runs"])
async def test_whoever_dies_within_a_verb_has_done_it_or_not_on_postgresql(
    durable_database: str, names: list[str]
) -> None:
    await assert_whole_whenever_somebody_dies(durable_database, names)
