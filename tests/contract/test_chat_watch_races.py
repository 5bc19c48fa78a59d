"""A worker that gives a run up in the very moment in which somebody goes on with it: the run ends once, and the thread is right."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from threading import Event
from typing import Any, Final

import pytest

from memoranda.conversations.chats import answering, removing
from memoranda.conversations.chats import store as chat_store
from memoranda.conversations.chats.errors import RunEnded
from memoranda.conversations.chats.following import changing
from memoranda.conversations.chats.following.service import LiveRuns
from memoranda.conversations.chats.live import store as live
from memoranda.conversations.chats.live.models import TextDelta
from memoranda.conversations.chats.live.patience import Patience
from memoranda.conversations.chats.models import AgentTurn, ChatRun, ChatRunStatus
from memoranda.conversations.chats.notes import store as notes
from memoranda.conversations.chats.service import Chats
from memoranda.conversations.service import Conversations
from memoranda.storage import Storage
from memoranda.words.errors import Conflict, NotFound
from tests.contract.chat_desk import Desk
from tests.contract.clocks import SteppedClock
from tests.contract.tenants import new_tenant

LONG: Final = timedelta(minutes=2)
PATIENCE: Final = Patience(queued=LONG, silent=LONG, waiting=LONG, stopping=LONG)
PATIENT_S: Final = 30
TOLD: Final = "At no"
KEPT: Final = [{"type": "text", "text": TOLD, "stopped": True}]
ROUNDS = 4


@dataclass
class Scene:
    """A run that is overdue, the verbs of two processes on it, and what its host would save."""

    desk: Desk
    elsewhere: Storage
    clock: SteppedClock
    run: ChatRun
    turn: AgentTurn | None = None

    @property
    def home(self) -> Any:
        return self.desk.who.organization_id

    async def watched(self) -> None:
        """A worker's look, in a process of its own."""
        await LiveRuns(self.elsewhere, patience=PATIENCE).end_overdue(self.home)


Verb = Callable[[Scene], Awaitable[Any]]


@dataclass(frozen=True)
class Case:
    """What somebody does with a run that stands so, where it holds the run for that, and how the run stands after it."""

    verb: Verb
    holds: tuple[Any, str]
    stands: str
    before: str = "running"
    shown: str | None = None
    refused: type[Exception] | None = RunEnded
    """How it is refused once the worker came first; None where it is answered with how the run ended."""


def answer(scene: Scene) -> Awaitable[Any]:
    turns = [] if scene.turn is None else [scene.turn]
    return scene.desk.chats.answer(scene.desk.who, scene.run.id, "At noon.", turns)


def emit(*texts: str) -> Verb:
    events = [TextDelta(text=text) for text in texts]
    return lambda at: at.desk.chats.live.emit(at.desk.who, at.run.id, events)


def verb(name: str, *words: str) -> Verb:
    return lambda at: getattr(at.desk.chats, name)(at.desk.who, at.run.id, *words)


def stop(at: Scene) -> Awaitable[Any]:
    return at.desk.chats.live.stop(at.desk.who, at.run.id)


def clear(at: Scene) -> Awaitable[Any]:
    return at.desk.chats.clear(at.desk.who, at.desk.id)


def reset(at: Scene) -> Awaitable[Any]:
    return Conversations(at.desk.storage).resets.reset(at.desk.who, at.desk.chat.workflow_id)


CASES: Final = {
    "answer": Case(answer, (answering, "finish"), "completed", shown="At noon."),
    "answer, stopping": Case(
        answer, (answering, "finish"), "completed", before="stopping", shown="At noon."
    ),
    "fail": Case(verb("fail", "It broke."), (answering, "finish"), "failed"),
    "tell": Case(emit("on."), (live, "append"), "running"),
    "live": Case(emit(), (chat_store, "see"), "running", refused=None),
    "stop": Case(stop, (changing, "become"), "stopping", refused=None),
    "wait": Case(verb("wait", "Approval."), (answering, "become"), "waiting"),
    "resume": Case(verb("resume"), (answering, "become"), "running", before="waiting"),
    "pick up": Case(verb("pick_up"), (answering, "become"), "running", before="queued"),
    "prepare": Case(verb("prepare"), (notes, "claim"), "running"),
    "reset": Case(reset, (removing, "finish"), "stopped", refused=None),
}


@pytest.fixture
async def scene(
    timed_storage: Storage, clock: SteppedClock, database_url: str
) -> AsyncIterator[Scene]:
    elsewhere = await Storage.open(database_url, clock=clock)
    desk = await Desk.of(timed_storage, await new_tenant(timed_storage))
    await desk.exchange("Hello.", "Hello.")
    yield Scene(desk, elsewhere, clock, (await desk.ask("When?")).run)
    await elsewhere.close()


async def stand(scene: Scene, status: str) -> None:
    """Let the run stand so, with something told, and let nobody hear of it for too long."""
    desk, chats = scene.desk, scene.desk.chats
    if status != "queued":
        scene.turn = desk.turn(await desk.begin(scene.run), "At noon.")
        await chats.live.emit(desk.who, scene.run.id, [TextDelta(text=TOLD)])
    if status == "waiting":
        await chats.wait(desk.who, scene.run.id, "Approval.")
    if status == "stopping":
        await chats.live.stop(desk.who, scene.run.id)
    scene.clock.tick(LONG)


async def at_the_moment(
    monkeypatch: pytest.MonkeyPatch,
    where: tuple[Any, str],
    first: Callable[[], Awaitable[Any]],
    second: Callable[[], Awaitable[Any]],
) -> list[Any]:
    """The second begins when the first holds the run, and has neither changed nor committed anything."""
    holds, go_on = Event(), Event()
    place, name = where
    real = getattr(place, name)

    def held(*args: Any, **kwargs: Any) -> Any:
        holds.set()
        assert go_on.wait(PATIENT_S)
        return real(*args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(place, name, held)
        one = asyncio.ensure_future(first())
        try:
            assert await asyncio.to_thread(holds.wait, PATIENT_S)
            other = asyncio.ensure_future(second())
            await asyncio.wait({other}, timeout=0.3)
            assert not other.done(), "it waits until the first has committed"
        finally:
            go_on.set()
        return [*await asyncio.gather(one, other, return_exceptions=True)]


def refusals(outcomes: list[Any]) -> list[Exception]:
    """The errors among outcomes; one that no caller should see is raised."""
    found = [each for each in outcomes if isinstance(each, Exception)]
    for each in found:
        if not isinstance(each, Conflict | NotFound):
            raise each
    return found


async def assert_ended_once(scene: Scene) -> None:
    """The run has told one ending at the most, which is how it stands, and one answer at the most, which is shown."""
    desk = scene.desk
    run = await desk.chats.run(desk.who, scene.run.id)
    events = (await desk.chats.live.events(desk.who, run.id, limit=1_000)).items
    assert [each.sequence for each in events] == list(range(1, run.last_event + 1))
    told = Counter(each.type.value for each in events)
    assert told["message"] == (run.answer_id is not None)
    stood = [ChatRunStatus(each.data["status"]) for each in events if each.type == "status"]
    assert [each for each in stood if not each.live] == ([] if run.status.live else [run.status])
    thread = await desk.chats.thread(desk.who, desk.id)
    assert (thread.run is None) is (not run.status.live)
    answers = [each for each in thread.messages if each.run_id == run.id]
    assert [each.id for each in answers] == ([run.answer_id] if run.answer_id else [])
    everything = await desk.rows()
    of_run = [row for row in everything["chat_messages"] if row.run_id == run.id]
    assert len(of_run) == len(answers)


async def assert_goes_on(scene: Scene) -> None:
    """The next turn is told of all that is shown, and then the agent knows it."""
    desk = scene.desk
    thread = await desk.chats.thread(desk.who, desk.id)
    if thread.run is not None:
        await desk.chats.fail(desk.who, thread.run.id, "It broke.")
    if thread.chat.generation == 1 and (await _generation(desk)) == 1:
        await desk.exchange("And then?", "Then it leaves.")
        await desk.assert_known()


async def _generation(desk: Desk) -> int:
    found = await desk.talks.resets.generation(desk.who, desk.chat.workflow_id)
    return found.generation


async def shown_last(scene: Scene) -> Any:
    """What the run's answer says; None where it has none."""
    thread = await scene.desk.chats.thread(scene.desk.who, scene.desk.id)
    last = thread.messages[-1]
    return last.content if last.run_id == scene.run.id else None


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_whoever_comes_before_the_worker_is_not_ended_by_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    await stand(scene, case.before)
    outcomes = await at_the_moment(monkeypatch, case.holds, lambda: case.verb(scene), scene.watched)
    assert refusals(outcomes) == []
    run = await scene.desk.chats.run(scene.desk.who, scene.run.id)
    assert run.status == case.stands
    assert await shown_last(scene) == case.shown
    await assert_ended_once(scene)
    await assert_goes_on(scene)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
async def test_whoever_comes_after_the_worker_is_told_how_the_run_ended(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    await stand(scene, case.before)
    outcomes = await at_the_moment(
        monkeypatch, (changing, "finish"), scene.watched, lambda: case.verb(scene)
    )
    assert [type(each) for each in refusals(outcomes)] == [case.refused][: case.refused is not None]
    run = await scene.desk.chats.run(scene.desk.who, scene.run.id)
    assert run.status == ("stopped" if case.before == "stopping" else "failed")
    assert await shown_last(scene) == (None if case.before == "queued" else KEPT)
    await assert_ended_once(scene)
    await assert_goes_on(scene)


async def test_a_chat_that_is_cleared_or_deleted_while_a_worker_looks_is_gone_whoever_comes_first(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = scene.desk
    await stand(scene, "running")
    for where, worker_first in (((removing, "finish"), False), ((changing, "finish"), True)):
        both = [lambda: clear(scene), scene.watched]
        outcomes = await at_the_moment(
            monkeypatch, where, *(reversed(both) if worker_first else both)
        )
        assert refusals(outcomes) == []
        assert await desk.shown() == await desk.known() == []
        scene.run = (await desk.ask("When?")).run
        await stand(scene, "running")
    outcomes = await at_the_moment(
        monkeypatch,
        (removing, "finish"),
        lambda: desk.chats.delete(desk.who, desk.id),
        scene.watched,
    )
    assert refusals(outcomes) == []
    with pytest.raises(NotFound):
        await desk.chats.run(desk.who, scene.run.id)


async def test_nothing_that_goes_on_in_the_moment_of_giving_up_ends_a_run_twice(
    scene: Scene,
) -> None:
    """Without any order: whatever of it comes first."""
    desk = scene.desk
    chats = Chats(scene.elsewhere)
    for number in range(ROUNDS):
        await stand(scene, "running")
        assert scene.turn is not None
        outcomes = await asyncio.gather(
            *(scene.watched() for _ in range(2)),
            answer(scene),
            chats.live.emit(desk.who, scene.run.id, [TextDelta(text=" on")]),
            chats.live.stop(desk.who, scene.run.id),
            return_exceptions=True,
        )
        refusals(outcomes)
        await assert_ended_once(scene)
        run = await desk.chats.run(desk.who, scene.run.id)
        assert not run.status.live
        await assert_goes_on(scene)
        scene.run = (await desk.ask(f"And {number}?")).run
