"""LangGraph's checkpointer over Memoranda passes LangGraph's own conformance, and runs real graphs."""

import asyncio
import operator
from collections.abc import AsyncIterator, Iterator
from itertools import count
from pathlib import Path
from typing import Annotated, Any, TypedDict

import anyio.to_thread
import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.base.id import uuid6
from langgraph.checkpoint.conformance import validate
from langgraph.checkpoint.conformance.initializer import checkpointer_test
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Command, interrupt
from sqlalchemy import func, select

from memoranda import Memoranda, sync
from memoranda.integrations.langgraph import MemorandaSaver, MemorandaStore
from memoranda.storage import Transaction
from memoranda.storage.tables import graph_channels, graph_checkpoints, graph_writes
from memoranda.words.errors import NotFound, OverLimit, Refused
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant, new_tenant
from tests.peers.rooms import Hands, opened

NUMBERS = count(1)


@pytest.fixture(scope="module")
async def memoranda(module_database_url: str) -> AsyncIterator[Memoranda]:
    async with opened(module_database_url, Hands()) as product:
        yield product


@pytest.fixture(scope="module")
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


@pytest.fixture
async def saver(memoranda: Memoranda, acme: Tenant) -> MemorandaSaver:
    user = await memoranda.access.create_user(acme.owner, f"User {next(NUMBERS)}")
    return MemorandaSaver(memoranda, acme.owner, user_id=user.id)


def config(thread_id: str, **more: str) -> Any:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", **more}}


async def put(
    saver: MemorandaSaver,
    at: Any,
    values: dict[str, Any],
    versions: dict[str, str],
    *,
    new: tuple[str, ...] | None = None,
    **metadata: Any,
) -> Any:
    checkpoint = empty_checkpoint()
    checkpoint |= {
        "id": str(uuid6(clock_seq=-1)),
        "channel_values": values,
        "channel_versions": dict(versions),
    }
    fresh = {name: versions[name] for name in new or tuple(versions)}
    about: Any = {"source": "loop", "step": 0, "parents": {}, **metadata}
    return await saver.aput(at, checkpoint, about, fresh)


async def rows(memoranda: Memoranda, who: Tenant) -> tuple[int, ...]:
    tables = (graph_checkpoints, graph_channels, graph_writes)

    def counted(tx: Transaction) -> tuple[int, ...]:
        return tuple(
            tx.one(select(func.count()).select_from(table))[0]  # type: ignore[index]  # one row
            for table in tables
        )

    assert who.owner.organization_id is not None
    return await memoranda.storage.read(who.owner.organization_id, counted)


async def test_every_capability_of_the_conformance_suite_passes(
    memoranda: Memoranda, acme: Tenant
) -> None:
    @checkpointer_test(name="MemorandaSaver")
    async def made() -> AsyncIterator[MemorandaSaver]:
        yield MemorandaSaver(memoranda, acme.owner)

    report = await validate(made)
    assert {name: result.failures for name, result in report.results.items()} == {
        name: [] for name in report.results
    }
    assert all(result.passed for result in report.results.values())
    assert set(report.results) >= {"put", "put_writes", "get_tuple", "list", "delete_thread"}


class State(TypedDict):
    said: Annotated[list[str], operator.add]


def asking() -> StateGraph[Any]:
    """A graph that asks a person in between, and notes in a store what came of it."""

    def ask(state: State) -> State:
        return {"said": [f"you said {interrupt('go on?')}"]}

    async def note(state: State, *, store: BaseStore) -> State:
        await store.aput(("notes",), "last", {"said": state["said"]})
        return {"said": ["noted"]}

    graph: StateGraph[Any] = StateGraph(State)
    graph.add_node("ask", ask)
    graph.add_node("note", note)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "note")
    graph.add_edge("note", END)
    return graph


async def test_a_graph_that_waits_goes_on_in_another_process(
    memoranda: Memoranda, acme: Tenant, saver: MemorandaSaver
) -> None:
    subject = {"user_id": saver._home.user_id}
    store = MemorandaStore(memoranda, acme.owner, **subject)
    first = asking().compile(checkpointer=saver, store=store)
    waits = await first.ainvoke({"said": ["hello"]}, config("t"))
    assert [each.value for each in waits["__interrupt__"]] == ["go on?"]
    anew = asking().compile(
        checkpointer=MemorandaSaver(memoranda, acme.owner, **subject), store=store
    )
    done = await anew.ainvoke(Command(resume="yes"), config("t"))
    assert done["said"] == ["hello", "you said yes", "noted"]
    noted = await store.aget(("notes",), "last")
    assert noted is not None
    assert noted.value == {"said": ["hello", "you said yes"]}
    past = [each async for each in anew.aget_state_history(config("t"))]
    assert [each.values.get("said", []) for each in past][-1] == []
    forked = await anew.aupdate_state(past[-2].config, {"said": ["instead"]})
    assert (await anew.aget_state(forked)).values["said"][-1] == "instead"
    other = await anew.ainvoke({"said": ["else"]}, config("another"))
    assert other["said"] == ["else"]


async def test_branches_of_a_thread_that_reach_the_same_step_keep_their_own_values(
    saver: MemorandaSaver,
) -> None:
    root = await put(saver, config("t"), {"a": 0}, {"a": saver.get_next_version(None, None)})
    head = await saver.aget_tuple(root)
    assert head is not None
    current = head.checkpoint["channel_versions"]["a"]
    ends = []
    for value in ("left", "right"):
        version = saver.get_next_version(str(current), None)
        assert version > str(current)
        ends.append(await put(saver, root, {"a": value}, {"a": version}))
    found = [await saver.aget_tuple(end) for end in ends]
    assert [each and each.checkpoint["channel_values"] for each in found] == [
        {"a": "left"},
        {"a": "right"},
    ]


async def test_a_value_is_kept_once_and_each_checkpoint_shows_the_version_that_it_names(
    memoranda: Memoranda, saver: MemorandaSaver, acme: Tenant
) -> None:
    before = await rows(memoranda, acme)
    at = config("t")
    for step in range(3):
        versions = {"big": "1", "n": str(step)}
        at = await put(
            saver,
            at,
            {"big": "x" * 1000, "n": step},
            versions,
            new=("big", "n") if step == 0 else ("n",),
        )
    listed = [each async for each in saver.alist(config("t"))]
    assert [each.checkpoint["channel_values"]["n"] for each in listed] == [2, 1, 0]
    assert {each.checkpoint["channel_values"]["big"] for each in listed} == {"x" * 1000}
    after = await rows(memoranda, acme)
    assert (after[0] - before[0], after[1] - before[1]) == (3, 4)


async def test_a_long_list_goes_on_past_its_pages_and_stops_at_its_limit(
    saver: MemorandaSaver,
) -> None:
    at = config("t")
    ids = []
    for step in range(55):
        at = await put(saver, at, {}, {}, step=step, even=step % 2 == 0)
        ids.append(at["configurable"]["checkpoint_id"])
    other = await put(saver, config("u"), {}, {}, step=99)

    async def listed(where: Any, **asked: Any) -> list[str]:
        return [
            each.config["configurable"]["checkpoint_id"]
            async for each in saver.alist(where, **asked)
        ]

    newest = ids[::-1]
    assert await listed(config("t")) == newest
    assert await listed(None) == [other["configurable"]["checkpoint_id"], *newest]
    assert await listed(config("t"), limit=52) == newest[:52]
    assert await listed(config("t"), limit=0) == []
    assert len(await listed(config("t"), filter={"even": True})) == 28
    assert await listed(config("t"), filter={"even": False}, limit=2) == [ids[53], ids[51]]
    before = config("t", checkpoint_id=ids[2])
    assert await listed(config("t"), before=before) == [ids[1], ids[0]]
    assert await listed(config("t", checkpoint_id=ids[7])) == [ids[7]]
    assert await listed({"configurable": {"thread_id": "t"}}, limit=1) == [ids[54]]


async def test_writes_come_back_in_the_order_of_their_tasks_paths(saver: MemorandaSaver) -> None:
    at = await put(saver, config("t"), {}, {})
    await saver.aput_writes(at, [("c", 1), ("c", 2)], "task-b", "path-1")
    await saver.aput_writes(at, [("c", 3)], "task-a", "path-2")
    await saver.aput_writes(at, [("c", 0)], "task-z")
    await saver.aput_writes(at, [("c", "again")], "task-a", "path-2")
    await saver.aput_writes(at, [("__error__", "one")], "task-a", "path-2")
    await saver.aput_writes(at, [("__error__", "two")], "task-a", "path-2")
    found = await saver.aget_tuple(at)
    assert found is not None
    assert found.pending_writes == [
        ("task-z", "c", 0),
        ("task-b", "c", 1),
        ("task-b", "c", 2),
        ("task-a", "__error__", "two"),
        ("task-a", "c", 3),
    ]


async def test_pruning_and_deleting_leave_no_row_that_nobody_needs(
    memoranda: Memoranda, saver: MemorandaSaver, acme: Tenant
) -> None:
    before = await rows(memoranda, acme)
    at = config("t")
    for step in range(4):
        at = await put(
            saver, at, {"n": step, "s": 1}, {"n": str(step), "s": "1"}, run_id=f"run-{step}"
        )
        await saver.aput_writes(at, [("n", step)], "task")
    await saver.adelete_for_runs(["run-0"])
    after = await rows(memoranda, acme)
    assert [now - then for now, then in zip(after, before, strict=True)] == [3, 4, 3]
    await saver.aprune(["t"])
    [head] = [each async for each in saver.alist(config("t"))]
    assert head.checkpoint["channel_values"] == {"n": 3, "s": 1}
    assert head.parent_config is None
    assert head.pending_writes == [("task", "n", 3)]
    after = await rows(memoranda, acme)
    assert [now - then for now, then in zip(after, before, strict=True)] == [1, 2, 1]
    await saver.aprune(["t"], strategy="delete")
    assert await rows(memoranda, acme) == before
    with pytest.raises(ValueError, match="sometimes"):
        await saver.aprune(["t"], strategy="sometimes")
    with pytest.raises(TypeError, match="not a str"):
        await saver.aprune("t")


async def test_a_thread_that_is_read_from_several_checkpoints_is_not_pruned(
    saver: MemorandaSaver,
) -> None:
    for thread in ("plain", "delta"):
        at = config(thread)
        for step in range(2):
            more = {"counters_since_delta_snapshot": {"c": (1, 1)}} if thread == "delta" else {}
            at = await put(saver, at, {}, {}, step=step, **more)
    with pytest.raises(NotImplementedError):
        await saver.aprune(["plain", "delta"])
    for thread in ("plain", "delta"):
        assert len([each async for each in saver.alist(config(thread))]) == 2


async def test_what_a_subgraphs_call_kept_goes_with_the_checkpoint_that_it_was_started_from(
    memoranda: Memoranda, saver: MemorandaSaver, acme: Tenant
) -> None:
    before = await rows(memoranda, acme)
    old = await put(saver, config("t"), {}, {})
    head = await put(saver, old, {}, {})
    unsaved = config("t", checkpoint_id=str(uuid6(clock_seq=7)))
    started = {"done:1": old, "waits:2": head, "runs:3": unsaved, "outlives": old}
    for name, root in started.items():
        parents = {"": root["configurable"]["checkpoint_id"]}
        at = config("t", checkpoint_ns=name)
        for step in range(2):
            at = await put(saver, at, {"n": step}, {"n": str(step)}, parents=parents)
            await saver.aput_writes(at, [("n", step)], "task")
    await saver.aprune(["t"])
    left = [each.config["configurable"]["checkpoint_ns"] async for each in saver.alist(config("t"))]
    assert left == [""]
    everywhere = [each async for each in saver.alist({"configurable": {"thread_id": "t"}})]
    spaces = sorted(each.config["configurable"]["checkpoint_ns"] for each in everywhere)
    assert spaces == ["", "outlives", "runs:3", "waits:2"]
    after = await rows(memoranda, acme)
    assert [now - then for now, then in zip(after, before, strict=True)] == [4, 3, 3]


async def test_a_thread_that_holds_a_snapshot_of_a_delta_channel_is_not_pruned(
    saver: MemorandaSaver,
) -> None:
    at = await put(saver, config("snapped"), {"c": _DeltaSnapshot([1])}, {"c": "1"})
    await put(saver, at, {}, {"c": "2"}, new=())
    with pytest.raises(NotImplementedError, match="snapped"):
        await saver.aprune(["snapped"])
    assert len([each async for each in saver.alist(config("snapped"))]) == 2


async def test_a_delta_channels_history_is_read_along_its_own_branch(
    saver: MemorandaSaver,
) -> None:
    root = await put(saver, config("t"), {"c": ["seed"]}, {"c": "1"})
    await saver.aput_writes(root, [("c", "a")], "task")
    left = await put(saver, root, {}, {"c": "2"}, new=())
    await saver.aput_writes(left, [("c", "b")], "task")
    right = await put(saver, root, {}, {"c": "2r"}, new=())
    await saver.aput_writes(right, [("c", "x")], "task")
    end = await put(saver, left, {}, {"c": "3"}, new=())
    history = await saver.aget_delta_channel_history(config=end, channels=["c"])
    assert [value for _, _, value in history["c"]["writes"]] == ["a", "b"]
    assert history["c"]["seed"] == ["seed"]


async def test_a_thread_of_another_subject_or_organization_is_another_thread(
    memoranda: Memoranda, acme: Tenant
) -> None:
    other = await new_tenant(memoranda.storage, "Globex")
    savers = [
        MemorandaSaver(memoranda, acme.member(acme.anna)),
        MemorandaSaver(memoranda, acme.member(acme.ben)),
        MemorandaSaver(memoranda, acme.key_of(acme.clerk)),
        MemorandaSaver(memoranda, other.owner),
    ]
    made = [
        await put(each, config("same"), {"n": number}, {"n": "1"}, run_id="run")
        for number, each in enumerate(savers)
    ]
    for number, each in enumerate(savers):
        [found] = [one async for one in each.alist(None)]
        assert found.checkpoint["channel_values"] == {"n": number}
        assert await each.aget_tuple(made[number - 1]) is None
    await savers[0].adelete_thread("same")
    await savers[1].adelete_for_runs(["run"])
    await savers[2].aprune(["same"], strategy="delete")
    assert await savers[3].aget_tuple(config("same")) is not None
    with pytest.raises(Refused):
        await put(MemorandaSaver(memoranda, acme.reader), config("t"), {}, {})
    with pytest.raises(NotFound):
        await put(MemorandaSaver(memoranda, acme.owner, user_id=new_id()), config("t"), {}, {})


async def test_what_is_too_large_is_refused_and_nothing_of_it_kept(saver: MemorandaSaver) -> None:
    for thread, values in (("x" * 501, {}), ("t", {"a": "x" * (16 * 2**20 + 1)})):
        with pytest.raises(OverLimit):
            await put(saver, config(thread), values, dict.fromkeys(values, "1"))
    assert [each async for each in saver.alist(None)] == []


async def test_writers_of_one_thread_at_once_lose_nothing(saver: MemorandaSaver) -> None:
    async def work(number: int) -> str:
        at = await put(saver, config("t"), {"n": number}, {"n": str(number)})
        await saver.aput_writes(at, [("n", number)], f"task-{number}")
        return str(at["configurable"]["checkpoint_id"])

    made = await asyncio.gather(*(work(number) for number in range(10)))
    found = [each async for each in saver.alist(config("t"))]
    ids = [each.config["configurable"]["checkpoint_id"] for each in found]
    assert ids == sorted(made, reverse=True)
    assert [each.pending_writes for each in found] == [
        [(f"task-{n}", "n", n)] for n in (each.checkpoint["channel_values"]["n"] for each in found)
    ]


async def test_erasing_a_user_takes_its_threads_along(
    memoranda: Memoranda, acme: Tenant, saver: MemorandaSaver
) -> None:
    at = await put(saver, config("t"), {"a": "apricot"}, {"a": "1"})
    await saver.aput_writes(at, [("a", "apricot")], "task")
    user_id = saver._home.user_id
    assert user_id is not None
    before = await rows(memoranda, acme)
    await memoranda.removal.erase_user(acme.owner, user_id)
    after = await rows(memoranda, acme)
    assert [then - now for now, then in zip(after, before, strict=True)] == [1, 1, 1]


async def test_threads_call_the_synchronous_methods(saver: MemorandaSaver) -> None:
    graph = StateGraph(State)
    graph.add_node("echo", lambda state: {"said": [f"{state['said'][-1]}!"]})
    graph.add_edge(START, "echo")
    compiled = graph.compile(checkpointer=saver)

    def work() -> list[str]:
        compiled.invoke({"said": ["a"]}, config("t"))
        done = compiled.invoke({"said": ["b"]}, config("t"))
        saver.copy_thread("t", "u")
        saver.prune(["t"])
        saver.delete_for_runs(["nobody"])
        assert len(list(saver.list(config("t")))) == 1
        assert len(list(saver.list(config("u")))) > 1
        saver.delete_thread("t")
        assert saver.get_tuple(config("t")) is None
        said: list[str] = done["said"]
        return said

    assert await anyio.to_thread.run_sync(work) == ["a", "a!", "b", "b!"]
    with pytest.raises(RuntimeError, match="begins with an a"):
        saver.get_tuple(config("t"))


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[sync.Memoranda]:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    with sync.Memoranda(str(tmp_path / "script.db")) as memoranda:
        yield memoranda


def test_a_script_without_a_loop_uses_both(script: sync.Memoranda) -> None:
    graph = StateGraph(State)
    graph.add_node("echo", lambda state: {"said": [f"{state['said'][-1]}!"]})
    graph.add_edge(START, "echo")
    store = MemorandaStore(script)
    compiled = graph.compile(checkpointer=MemorandaSaver(script), store=store)
    assert compiled.invoke({"said": ["a"]}, config("t"))["said"] == ["a", "a!"]
    assert compiled.get_state(config("t")).values["said"] == ["a", "a!"]
    store.put(("s",), "k", {"n": 1})
    assert [item.key for item in store.search(("s",))] == ["k"]
