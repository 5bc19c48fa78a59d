"""Every verb of a chat by its name, as it is done once: by a process that dies in the middle of it, too."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Final, NamedTuple, Self

from memoranda.access.models import Principal
from memoranda.conversations.chats.feedback.models import Rating
from memoranda.conversations.chats.following.service import LiveRuns
from memoranda.conversations.chats.live.models import TextDelta
from memoranda.conversations.chats.live.patience import Patience
from memoranda.conversations.chats.models import Chat, ChatRun, Prepared
from memoranda.storage import Storage, Transaction
from tests.contract.chat_desk import Desk

HOST: Final = "host"
TOLD: Final = "At no"
LEFT_ALONE: Final = Patience(*[timedelta(0)] * 4)
UNHEARD: Final = 10_000
"""Where somebody dies whose verb is done, and who has told nobody."""

# What is shown before the verbs, and on the branch that was left.
LONG: Final = " ".join(f"ferry{number} leaves at {number};" for number in range(200))
FIRST: Final = [f"q0 {LONG}", f"a0 {LONG}"]
BASE: Final = [*FIRST, "q1 edited", "a1 edited"]
OTHER: Final = [*FIRST, "q1", "a1"]
ASKED: Final = [*BASE, "q2"]

Verb = Callable[[Desk], Awaitable[Any]]


@dataclass(frozen=True)
class Case:
    """A verb, what there is before it, and what is shown once it is done."""

    verb: Callable[..., Awaitable[Any]]
    shown: list[str]
    before: Verb | None = None
    ready: Verb | None = None
    """What whoever does it has asked for before, which the verb is given too."""

    async def at_hand(self, desk: Desk) -> Callable[[], Awaitable[Any]]:
        """The verb, about to be done."""
        given = [] if self.ready is None else [await self.ready(desk)]
        return partial(self.verb, desk, *given)


async def run_of(desk: Desk) -> ChatRun:
    """The run that is live."""
    run = (await desk.chats.thread(desk.who, desk.id)).run
    assert run is not None
    return run


async def queued(desk: Desk) -> None:
    await desk.ask("q2")


async def picked(desk: Desk) -> None:
    await queued(desk)
    await desk.chats.pick_up(desk.who, (await run_of(desk)).id, picked_up_by=HOST)


async def running(desk: Desk) -> None:
    """A host was told what it begins from, and has told some of its answer."""
    await picked(desk)
    run = await run_of(desk)
    await desk.begin(run)
    await desk.chats.live.emit(desk.who, run.id, [TextDelta(text=TOLD)])


async def stopping(desk: Desk) -> None:
    await running(desk)
    await desk.chats.live.stop(desk.who, (await run_of(desk)).id)


async def _edit(desk: Desk) -> Any:
    return await desk.edit((await desk.chats.thread(desk.who, desk.id)).messages[0].id, "q")


async def _switch(desk: Desk) -> Any:
    versions = (await desk.chats.thread(desk.who, desk.id)).messages[2].versions
    return await desk.switch(versions[0])


async def _compact(desk: Desk) -> Any:
    conversation = (await desk.loaded()).conversation
    assert conversation is not None
    return await desk.talks.compactions.compact(desk.who, conversation.id)


async def _rate(desk: Desk) -> Any:
    answer = (await desk.chats.thread(desk.who, desk.id)).messages[-1]
    return await desk.chats.feedback.give(desk.who, desk.id, answer.id, Rating.UP)


async def _prepared(desk: Desk) -> Any:
    return await desk.begin(await run_of(desk))


async def _answer(desk: Desk, prepared: Prepared) -> Any:
    turn = desk.turn(prepared, "a2")
    return await desk.chats.answer(desk.who, prepared.run.id, "a2", [turn])


async def _answer_stopped(desk: Desk) -> Any:
    return await desk.chats.answer(desk.who, (await run_of(desk)).id, TOLD, stopped=True)


async def _give_up(desk: Desk) -> Any:
    home = desk.who.organization_id
    assert home is not None
    return await LiveRuns(desk.storage, patience=LEFT_ALONE).end_overdue(home)


def of_run(name: str, *words: str, **more: Any) -> Verb:
    async def done(desk: Desk) -> Any:
        run = await run_of(desk)
        return await getattr(desk.chats, name)(desk.who, run.id, *words, **more)

    return done


async def _stop(desk: Desk) -> Any:
    return await desk.chats.live.stop(desk.who, (await run_of(desk)).id)


async def _tell(desk: Desk) -> Any:
    run = await run_of(desk)
    return await desk.chats.live.emit(desk.who, run.id, [TextDelta(text="on")] * 300)


CASES: Final = {
    "send": Case(lambda desk: desk.ask("q2"), ASKED),
    "edit": Case(_edit, ["q"]),
    "regenerate": Case(lambda desk: desk.regenerate(), BASE[:3]),
    "switch": Case(_switch, OTHER),
    "compact": Case(_compact, BASE),
    "note": Case(lambda desk: desk.chats.notes.add(desk.who, desk.id, "form", "Saved."), BASE),
    "rate": Case(_rate, BASE),
    "clear": Case(lambda desk: desk.chats.clear(desk.who, desk.id), [], running),
    "reset": Case(
        lambda desk: desk.talks.resets.reset(desk.who, desk.chat.workflow_id), ASKED, running
    ),
    "pick up": Case(of_run("pick_up", picked_up_by=HOST), ASKED, queued),
    "prepare": Case(of_run("prepare"), ASKED, picked),
    "tell": Case(_tell, ASKED, running),
    "wait": Case(of_run("wait", "Approval."), ASKED, running),
    "answer": Case(_answer, [*ASKED, "a2"], running, _prepared),
    "answer, stopped": Case(_answer_stopped, [*ASKED, TOLD], stopping),
    "fail": Case(of_run("fail", "It broke."), ASKED, running),
    "stop": Case(_stop, ASKED, running),
    "stop, unread": Case(_stop, ASKED, queued),
    "give up": Case(_give_up, [*ASKED, TOLD], running),
}


class Statements:
    """Counts what is asked of the database in this process, and dies at a number of it."""

    def __init__(self, last: int | None = None) -> None:
        self.count = 0
        self._last = last
        self._real = {name: getattr(Transaction, name) for name in ("_execute", "_execute_many")}

    def __enter__(self) -> Self:
        for name, real in self._real.items():
            setattr(Transaction, name, self._counted(real))
        return self

    def __exit__(self, *_: object) -> None:
        for name, real in self._real.items():
            setattr(Transaction, name, real)

    def _counted(self, real: Any) -> Any:
        def execute(*args: Any) -> Any:
            self.count += 1
            if self.count == self._last:
                die()
            return real(*args)

        return execute


def die() -> None:
    """End this process as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


class Death(NamedTuple):
    """Of which verb somebody dies, and at the statement of which number."""

    verb: str
    at: int


def do_and_die(url: str, who: Principal, chat: Chat, death: Death, report: Connection) -> None:
    """Do that verb, send its name once it is acknowledged, and die there, or at last."""
    asyncio.run(_do_and_die(url, who, chat, death, report))


async def _do_and_die(
    url: str, who: Principal, chat: Chat, death: Death, report: Connection
) -> None:
    desk = Desk(await Storage.open(url), who, chat)
    do = await CASES[death.verb].at_hand(desk)
    with Statements(death.at):
        await do()
        if death.at == UNHEARD:
            die()
        report.send(death.verb)
        die()
