"""Whatever is done in a chat, by whoever at once: its agents know what is shown, and nothing acknowledged is lost."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select

from memoranda.conversations.chats import store
from memoranda.conversations.chats.feedback.models import Rating
from memoranda.conversations.chats.following.service import LiveRuns
from memoranda.conversations.chats.keys import key_of
from memoranda.conversations.chats.live.models import TextDelta
from memoranda.conversations.chats.live.patience import Patience
from memoranda.conversations.chats.live.stopping import stopped_turn
from memoranda.conversations.chats.models import (
    AgentTurn,
    Answered,
    Chat,
    ChatRun,
    Prepared,
    Sent,
    Thread,
)
from memoranda.conversations.chats.service import Chats
from memoranda.conversations.errors import NothingToCompact
from memoranda.conversations.models import ConversationKey, Message, WorkflowReset
from memoranda.conversations.service import Conversations
from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import chat_messages
from memoranda.words.errors import MemorandaError
from tests.contract.chat_model import (
    ChatModel,
    Node,
    Picture,
    contents,
    picture,
    refusals,
    same,
    texts,
)
from tests.contract.conversation_model import PROVIDERS, faults_of, missing, turn_of
from tests.contract.talking_house import Talk, bare
from tests.contract.tenants import new_tenant

SYSTEM: Final = "You know ships."
WHOLE = st.sampled_from(["plain", "tools", "apart", "malformed", "thinking"])
PARTIAL = st.sampled_from(["open", "stopped", "thinking", "mid call", "plain"])
PROVIDER = st.sampled_from(PROVIDERS)
AGENTS = st.sampled_from([(0,), (0,), (1,), (0, 1)])
PLACE = st.integers(0, 9)
RATING = st.sampled_from(list(Rating))
STALE = st.sampled_from([False] * 5 + [True])
BUSY = st.sampled_from([False] * 5 + [True])
AFTER = st.none() | st.tuples(AGENTS, WHOLE, PROVIDER)
TAKEN = st.sampled_from(["clear chat", "reset", *["compact"] * 4, *["clear conversation"] * 2])
NOBODY: Final = UUID(int=0)
MAY_BE_IMPOSSIBLE: Final = {"cannot_rewind", "branch_unavailable"}
REFUSALS: Final = MAY_BE_IMPOSSIBLE | {
    *("run_in_progress", "revision_conflict", "not_editable", "run_ended", "conflict", "not_found"),
    *("late_save", "older_generation", "invalid_input"),
}
NONE_LEFT: Final = Patience(*[timedelta(0)] * 4)
"""With which every live run is one that nobody finishes."""


class House:
    """An open storage, and the loop that it lives on."""

    def __init__(self, url: str) -> None:
        self.runner = asyncio.Runner()
        self.run = self.runner.run
        self.storage: Storage = self.run(Storage.open(url))

    def close(self) -> None:
        self.run(self.storage.close())
        self.runner.close()


@pytest.fixture(scope="module")
def house(module_database_url: str) -> Iterator[House]:
    """One database for all examples, each of which has an organization of its own."""
    opened = House(module_database_url)
    yield opened
    opened.close()


@dataclass
class Ask:
    """Something to be done: the verb, why it would have to be refused, and what follows from its answer."""

    verb: Callable[[], Awaitable[Any]]
    follows: Callable[[Any], Awaitable[None]]
    reasons: set[str] = field(default_factory=set)
    may_be_impossible: bool = False


def moves() -> st.SearchStrategy[Any]:
    """Anything that moves the path."""
    return st.one_of(
        st.tuples(st.just("send")),
        st.tuples(st.just("edit"), PLACE),
        st.tuples(st.just("regenerate")),
        st.tuples(st.just("switch"), PLACE),
    )


def meanwhile() -> st.SearchStrategy[Any]:
    """Anything that ends a run."""
    return st.one_of(
        st.tuples(st.just("answer"), WHOLE, PROVIDER),
        st.tuples(st.just("answer"), PARTIAL, PROVIDER, st.just(True)),
        st.tuples(st.just("fail")),
    )


def anything() -> st.SearchStrategy[Any]:
    """Anything that may be done at that time."""
    return st.one_of(
        moves(),
        st.tuples(st.just("answer"), WHOLE, PROVIDER),
        st.tuples(st.just("fail")),
        st.tuples(st.just("stop")),
        st.tuples(st.just("compact"), st.integers(0, 1)),
        st.tuples(st.just("note"), st.integers(0, 2)),
        st.tuples(st.just("rate"), PLACE, RATING),
        st.tuples(st.just("give up")),
    )


def whatever_dies() -> st.SearchStrategy[Any]:
    """Anything in the middle of which the service may die, and whether it needs a run that goes on."""
    alone = st.one_of(
        moves(),
        st.just(("clear chat",)),
        st.just(("reset",)),
        st.tuples(st.just("compact"), st.integers(0, 1)),
        st.tuples(st.just("note"), st.integers(0, 2)),
        st.tuples(st.just("rate"), PLACE, RATING),
    )
    in_a_run = st.one_of(
        st.tuples(st.just("answer"), WHOLE, PROVIDER),
        *(st.just((name,)) for name in ("stop", "fail", "tell", "give up")),
    )
    return st.one_of(st.tuples(alone, st.just(False)), st.tuples(in_a_run, st.just(True)))


class ChatMachine(RuleBasedStateMachine):
    """A person's chat with two agents, their host, and an owner who compacts, clears and resets."""

    def __init__(self, house: House) -> None:
        super().__init__()
        self.run, self.storage = house.run, house.storage
        tenant = house.run(new_tenant(house.storage))
        self.who, self.agents = tenant.owner, [tenant.scout.id, tenant.clerk.id]
        self.talks, self.chats = Conversations(house.storage), Chats(house.storage)
        self.chat: Chat = self.run(self.chats.create(self.who, user_id=tenant.anna.id))
        self.model = ChatModel(revision=self.chat.revision)
        self.status = ""
        self.prepared: dict[UUID, Prepared] = {}
        self.clouded: set[UUID] = set()
        """Agents whose conversation became another one since they were prepared."""
        self.cleared: set[UUID] = set()
        self.ended = self.lenient = False
        self.number = 0
        self.said: list[str] = []
        """What the live run has told."""

    @initialize(turns=st.lists(st.tuples(AGENTS, WHOLE, PROVIDER), min_size=1, max_size=3))
    def begin(self, turns: list[Any]) -> None:
        for turn in turns:
            self.turn(*turn)

    # --- what a person does -------------------------------------------------------------------

    @rule(which=PLACE, stale=STALE, busy=BUSY, then=AFTER)
    def edit(self, which: int, stale: bool, busy: bool, then: Any) -> None:
        self.stand(busy=busy)
        self.do(("edit", which, stale))
        self.go_on(then)

    @rule(stale=STALE, busy=BUSY, then=AFTER)
    def regenerate(self, stale: bool, busy: bool, then: Any) -> None:
        self.stand(busy=busy)
        self.do(("regenerate", stale))
        self.go_on(then)

    @rule(which=PLACE, stale=STALE, busy=BUSY, then=AFTER)
    def switch(self, which: int, stale: bool, busy: bool, then: Any) -> None:
        self.stand(busy=busy)
        self.do(("switch", which, stale))
        self.go_on(then)

    @rule(which=PLACE)
    def switch_back_and_forth(self, which: int) -> None:
        self.stand(busy=False)
        before = self.model.leaf
        self.do(("switch", which))
        if before in self.model.nodes:
            self.do(("switch to", before))

    @rule(which=PLACE, key=st.integers(0, 2), busy=BUSY)
    def say_again_and_note(self, which: int, key: int, busy: bool) -> None:
        """What comes twice is answered once, and what happens meanwhile is noted."""
        self.stand(busy=busy)
        self.do(("send again", which))
        self.do(("note", key))

    @rule(how=TAKEN, agent=st.integers(0, 1), busy=BUSY)
    def take_away(self, how: str, agent: int, busy: bool) -> None:
        self.stand(busy=busy)
        self.do((how,) if how in {"clear chat", "reset"} else (how, agent))
        if self.ended:
            for verb in (("send",), ("edit", 0), ("regenerate",), ("switch", 0)):
                self.do(verb)
            self.do(("clear chat",))

    @rule(
        how=st.sampled_from(["compact", "clear conversation"]),
        agent=st.integers(0, 1),
        which=st.sampled_from([0, 0, 1, 2, 3, 4]),
    )
    def go_back_behind(self, how: str, agent: int, which: int) -> None:
        """What was compacted or cleared since can't be what it was."""
        self.stand(busy=False)
        self.do((how, agent))
        self.do(("edit", which))
        self.end()
        self.do(("switch", which))

    # --- what a host does ---------------------------------------------------------------------

    @rule(agents=AGENTS, shape=WHOLE, provider=PROVIDER)
    def turn(self, agents: tuple[int, ...], shape: str, provider: str | None) -> None:
        self.work(agents)
        self.do(("answer", shape, provider))
        self.end()

    @rule(agents=AGENTS)
    def work(self, agents: tuple[int, ...]) -> None:
        """A run is begun, where there is none, and its agents are prepared."""
        if self.model.live is None:
            self.do(("send",))
        self.do(("pick up",))
        for agent in agents:
            self.do(("prepare", agent))

    @rule(agents=AGENTS, how=st.sampled_from(["fail", "stop", "stop unread"]))
    def come_to_nothing(self, agents: tuple[int, ...], how: str) -> None:
        if how == "stop unread":
            self.stand(busy=False)
            self.do(("send",))
            self.do(("stop",))
            return
        self.work(agents)
        self.do((how,))

    @rule(agents=AGENTS, shape=PARTIAL, provider=PROVIDER)
    def stop(self, agents: tuple[int, ...], shape: str, provider: str | None) -> None:
        self.work(agents)
        self.do(("stop",))
        self.do(("answer", shape, provider, True))

    @rule(agents=AGENTS)
    def drop(self, agents: tuple[int, ...]) -> None:
        """The host dies and another one comes, which knows nothing but what is stored."""
        self.work(agents)
        self.chats, self.prepared = Chats(self.storage), {}
        for agent in agents[:1]:
            self.do(("prepare", agent))

    @rule(dies=whatever_dies(), agents=AGENTS, tells=st.booleans(), steps=st.integers(0, 40))
    def crash(self, dies: Any, agents: tuple[int, ...], tells: bool, steps: int) -> None:
        verb, in_a_run = dies
        if in_a_run:
            self.work(agents)
            if tells:
                self.do(("tell",))
        else:
            self.stand(busy=verb[0] in {"clear chat", "reset"} and tells)
        self.run(self._crash(verb, steps))
        self.begin_anew()

    @rule(agents=AGENTS, waits=st.booleans(), tells=st.integers(0, 2), then=AFTER)
    def nobody_finishes(self, agents: tuple[int, ...], waits: bool, tells: int, then: Any) -> None:
        """A host tells some of its answer, perhaps waits for somebody, and is heard of no more."""
        self.work(agents)
        for _ in range(tells):
            self.do(("tell",))
        if waits:
            self.do(("wait",))
            if tells > 1:
                self.do(("resume",))
        self.do(("give up",))
        self.do(("send",))
        self.go_on(then)

    @rule(which=PLACE, rating=RATING, busy=BUSY)
    def rate(self, which: int, rating: Rating, busy: bool) -> None:
        self.stand(busy=busy)
        self.do(("rate", which, rating))

    @rule(first=moves(), second=moves())
    def move_together(self, first: tuple[Any, ...], second: tuple[Any, ...]) -> None:
        """Of two who move at once, the second is told of the first."""
        self.stand(busy=False)
        self.run(self._together(first, second))

    @rule(agents=AGENTS, first=meanwhile(), second=anything())
    def together(self, agents: tuple[int, ...], first: Any, second: Any) -> None:
        self.work(agents)
        self.run(self._together(first, second))

    @rule(agents=AGENTS, first=meanwhile(), how=st.sampled_from(["clear chat", "reset"]))
    def take_away_together(self, agents: tuple[int, ...], first: Any, how: str) -> None:
        """All is taken away in the moment in which a run ends."""
        self.work(agents)
        self.run(self._together(first, (how,)))
        self.begin_anew()

    def begin_anew(self) -> None:
        """Go on after a reset, as people do."""
        if self.ended:
            self.do(("clear chat",))

    def stand(self, *, busy: bool) -> None:
        """Let a run be live, or none."""
        if busy and self.model.live is None:
            self.do(("send",))
        if not busy:
            self.end()

    def end(self) -> None:
        if self.model.live is not None:
            self.do(("fail",))

    def go_on(self, then: Any) -> None:
        """Let what was begun be answered, if anybody does."""
        if then is not None and self.model.live is not None and self.status == "queued":
            self.turn(*then)

    # --- how it is done ----------------------------------------------------------------------

    def do(self, asked: tuple[Any, ...]) -> None:
        self.run(self._do(asked))

    @invariant()
    def what_is_stored_is_what_is_shown(self) -> None:
        self.run(self._check())

    def _ask(self, asked: tuple[Any, ...]) -> Ask | None:
        kind, *words = asked
        made: Ask | None = getattr(self, "_ask_" + kind.replace(" ", "_"))(*words)
        return made

    async def _do(self, asked: tuple[Any, ...]) -> None:
        """One thing by itself: it is done, or refused for a reason that there is, and then nothing has changed."""
        ask = self._ask(asked)
        if ask is None:
            return
        known = ask.reasons | (MAY_BE_IMPOSSIBLE if ask.may_be_impossible else set())
        before = await self._picture() if known else {}
        done, refused = None, None
        try:
            done = await ask.verb()
        except MemorandaError as error:
            refused = error
        note(f"   {asked} -> {refused.code if refused else 'done'}")
        if refused is None:
            assert not ask.reasons, (asked, ask.reasons)
            await ask.follows(done)
            return
        assert refused.code in known, (asked, refused.code, refused.message, known)
        assert same(before, await self._picture()) == {}

    async def _together(self, *verbs: tuple[Any, ...]) -> None:
        """Both at once: in whatever order, it is as if one had come after the other."""
        asks = [ask for verb in verbs if (ask := self._ask(verb))]
        self.lenient = True
        done = await asyncio.gather(*(ask.verb() for ask in asks), return_exceptions=True)
        note(f"   {verbs} -> {[getattr(each, 'code', 'done') for each in done]}")
        came = []
        for ask, each in zip(asks, done, strict=True):
            if not isinstance(each, BaseException):
                came.append((_order(each), ask, each))
            elif not isinstance(each, MemorandaError) or each.code not in REFUSALS:
                raise each
        for _, ask, each in sorted(came, key=lambda one: one[0]):
            await ask.follows(each)
        self.lenient = False

    async def _crash(self, verb: tuple[Any, ...], steps: int) -> None:
        """The service dies in the middle: all of it is there, or nothing. A resent message comes once."""
        ask = self._ask(verb)
        if ask is None:
            return
        before = await self._picture()
        known = await self._rows()
        task = asyncio.ensure_future(ask.verb())
        await asyncio.wait({task}, timeout=steps / 2_000)
        task.cancel()
        with suppress(asyncio.CancelledError, MemorandaError):
            await task
        self.chats = Chats(self.storage)
        # What was begun in the database may end a little later: whoever waits for its locks sees how.
        await self.storage.write(self.who.organization_id, store.hold, self.chat.id)
        gone = same(before, await self._picture()) == {}
        note(f"   {verb}, cut off -> {'nothing' if gone else 'all'} of it is there")
        if gone:
            return
        if verb[0] == "send":
            await ask.follows(await ask.verb())  # under the same client's id
            return
        await self._catch_up(verb, ask, known)

    async def _catch_up(self, verb: tuple[Any, ...], ask: Ask, known: set[UUID]) -> None:
        """What nobody was told is read from what is there."""
        thread = await self.chats.thread(self.who, self.chat.id)
        new = [each for each in thread.messages if each.id not in known]
        match verb[0]:
            case "switch":
                await ask.follows(thread)
            case "clear chat":
                await ask.follows(thread.chat)
            case "stop" | "fail" | "give up":
                run = await self.chats.run(self.who, self.model.live or NOBODY)
                answer = new[-1] if new else None
                done = Answered(chat=thread.chat, run=run, answer=answer)
                await ask.follows(run if verb[0] == "stop" else done)
            case "compact":
                agent_id = self.agents[verb[1]]
                stored = await self._stored(agent_id)
                if stored != self.model.told(agent_id):
                    self._disturb(agent_id, stored)
            case "note" | "rate" | "tell" | "reset":
                await ask.follows(None)
            case "answer":
                run = await self.chats.run(self.who, self.model.live or NOBODY)
                await ask.follows(Answered(chat=thread.chat, run=run, answer=new[-1]))
            case _:
                assert thread.run is not None
                message = thread.messages[-1]
                await ask.follows(Sent(chat=thread.chat, message=message, run=thread.run))

    # --- what may be asked --------------------------------------------------------------------

    def _reasons(self, *, stale: bool = False) -> set[str]:
        reasons = {"run_in_progress"} if self.model.live else set()
        reasons |= {"revision_conflict"} if stale else set()
        return reasons | ({"older_generation"} if self.ended else set())

    def _ask_send(self) -> Ask:
        self.number += 1
        client, said = f"c{self.number}", f"question {self.number}"

        async def sent(done: Sent) -> None:
            assert done.message.parent_id == self.model.leaf
            assert done.message.content == said
            self.model.sent[client] = done.message.id
            self._begun(done)

        return Ask(
            lambda: self.chats.send(self.who, self.chat.id, said, client_message_id=client),
            sent,
            self._reasons(),
        )

    def _ask_send_again(self, which: int) -> Ask | None:
        if not self.model.sent:
            return None
        client, message_id = sorted(self.model.sent.items())[which % len(self.model.sent)]
        said = self.model.nodes[message_id].content

        async def again(done: Sent) -> None:
            assert done.message.id == message_id

        return Ask(
            lambda: self.chats.send(self.who, self.chat.id, said, client_message_id=client), again
        )

    def _ask_edit(self, which: int, stale: bool = False) -> Ask | None:
        node = self._pick(which)
        if node is None:
            return None
        self.number += 1
        said, revision = f"question {self.number}, edited", self.model.revision + stale
        reasons = self._reasons(stale=stale)
        if node.role != "user" or node not in self.model.shown:
            reasons.add("not_editable")
        elif self.model.is_behind(node.parent_id):
            reasons.add("cannot_rewind")

        async def edited(done: Sent) -> None:
            assert done.message.parent_id == node.parent_id
            assert done.message.content == said
            self._begun(done)

        verb = partial(self.chats.edit, self.who, self.chat.id, node.id, said)
        return Ask(
            lambda: verb(expected_revision=revision),
            edited,
            reasons,
            may_be_impossible=self.model.disturbed,
        )

    def _ask_regenerate(self, stale: bool = False) -> Ask:
        asked = [node for node in self.model.shown if node.role == "user"]
        revision = self.model.revision + stale
        reasons = self._reasons(stale=stale) | (set() if asked else {"not_editable"})
        if asked and self.model.is_behind(asked[-1].parent_id):
            reasons.add("cannot_rewind")

        async def again(done: Sent) -> None:
            assert self.lenient or done.message.id == asked[-1].id
            self._begun(done)

        verb = partial(self.chats.regenerate, self.who, self.chat.id)
        return Ask(
            lambda: verb(expected_revision=revision),
            again,
            reasons,
            may_be_impossible=self.model.disturbed,
        )

    def _ask_switch(self, which: int, stale: bool = False) -> Ask | None:
        node = self._pick(which)
        return None if node is None else self._ask_switch_to(node.id, stale)

    def _ask_switch_to(self, message_id: UUID, stale: bool = False) -> Ask:
        revision, reasons = self.model.revision + stale, self._reasons(stale=stale)
        if self.model.is_behind(self.model.newest_below(message_id)):
            reasons |= MAY_BE_IMPOSSIBLE

        async def switched(done: Thread) -> None:
            self.model.leaf = self.model.newest_below(message_id)
            self.model.revision = done.chat.revision
            assert done.chat.active_leaf == self.model.leaf

        verb = partial(self.chats.switch, self.who, self.chat.id, message_id)
        return Ask(
            lambda: verb(expected_revision=revision),
            switched,
            reasons,
            may_be_impossible=self.model.disturbed,
        )

    def _ask_pick_up(self) -> Ask | None:
        run = self.model.live
        if run is None or self.status != "queued":
            return None

        async def picked(_: Any) -> None:
            self.status = "running"

        return Ask(lambda: self.chats.pick_up(self.who, run), picked)

    def _ask_prepare(self, agent: int) -> Ask | None:
        run, agent_id = self.model.live, self.agents[agent]
        if run is None or self.status != "running":
            return None

        async def prepared(done: Prepared) -> None:
            told, asked = self.model.told(agent_id), contents(self.model.untold(agent_id))
            assert told is not None
            assert done.loaded.length == len(told)
            assert done.notes == self.model.claim(run)
            *earlier, last = texts(done.asked)
            assert earlier == asked[:-1]
            assert asked[-1] in str(last)
            assert all(line in str(last) for line in done.notes)
            assert refusals(done.request(SYSTEM)) == []
            self.prepared[agent_id] = done
            self.model.began.setdefault(run, {}).setdefault(
                agent_id, self.model.touched.get(agent_id, 0)
            )
            self.clouded.discard(agent_id)
            self.cleared.discard(agent_id)

        return Ask(lambda: self.chats.prepare(self.who, run, agent_id), prepared)

    def _ask_answer(self, shape: str, provider: str | None, stopped: bool = False) -> Ask | None:
        run = self.model.live
        if run is None or self.status not in {"running", "stopping"}:
            return None
        self.number += 1
        said = turn_of(shape, self.number, provider)[1:]
        lists = {
            agent: [*prepared.request(SYSTEM), *said] for agent, prepared in self.prepared.items()
        }
        turns = [
            AgentTurn(agent_id=agent, messages=made, fence=self.prepared[agent].loaded.fence)
            for agent, made in lists.items()
        ]

        async def answered(done: Answered) -> None:
            assert done.answer is not None
            assert done.answer.parent_id == self.model.leaf
            clouded = self.clouded & set(lists)
            self._ended(told=True)
            self.model.nodes[done.answer.id] = Node.of(done.answer)
            self.model.leaf, self.model.revision = done.answer.id, done.chat.revision
            self.model.saved[run] = {
                agent: None if agent in clouded else stopped_turn(made) if stopped else made
                for agent, made in lists.items()
            }

        verb = partial(self.chats.answer, self.who, run, f"answer {self.number}", turns)
        return Ask(
            lambda: verb(stopped=stopped), answered, {"late_save"} if self.late(lists) else set()
        )

    def _ask_fail(self) -> Ask | None:
        run = self.model.live
        if run is None:
            return None

        async def failed(done: Answered) -> None:
            assert done.answer is None
            self._ended(told=False)

        return Ask(lambda: self.chats.fail(self.who, run, "It broke."), failed)

    def _ask_stop(self) -> Ask | None:
        run = self.model.live
        if run is None:
            return None

        async def stopped(done: Any) -> None:
            if done.status.live:
                self.status = done.status.value
            elif self.model.live == run and done.answer_id is None:
                self._ended(told=False)

        return Ask(lambda: self.chats.live.stop(self.who, run), stopped)

    def _ask_note(self, key: int) -> Ask:
        self.number += 1
        name, said = f"k{key}", f"noted {self.number}"

        async def noted(_: Any) -> None:
            line = await self._newest_line(name)
            assert said in line
            self.model.notes.add(name, line)

        return Ask(lambda: self.chats.notes.add(self.who, self.chat.id, name, said), noted)

    def _ask_rate(self, which: int, rating: Rating) -> Ask | None:
        node = self._pick(which)
        if node is None:
            return None
        reasons = set() if node.role == "assistant" else {"invalid_input"}

        async def rated(_: Any) -> None:
            self.model.feedback[node.id] = rating
            key = key_of(node.id, self.who.user_id or self.chat.user_id)
            self.model.notes.add(key, await self._newest_line(key))

        give = self.chats.feedback.give
        return Ask(lambda: give(self.who, self.chat.id, node.id, rating), rated, reasons)

    def _ask_tell(self) -> Ask | None:
        run = self.model.live
        if run is None or self.status == "queued":
            return None
        self.number += 1
        text = f"told {self.number} "

        async def told(_: Any) -> None:
            self.said.append(text)

        return Ask(lambda: self.chats.live.emit(self.who, run, [TextDelta(text=text)]), told)

    def _ask_wait(self) -> Ask | None:
        run = self.model.live
        if run is None or self.status != "running":
            return None

        async def waits(done: ChatRun) -> None:
            self.status = done.status.value
            assert done.status == "waiting"

        return Ask(lambda: self.chats.wait(self.who, run, "Somebody has to agree."), waits)

    def _ask_resume(self) -> Ask | None:
        run = self.model.live
        if run is None or self.status != "waiting":
            return None

        async def goes_on(done: ChatRun) -> None:
            self.status = done.status.value
            assert done.status == "running"

        return Ask(lambda: self.chats.resume(self.who, run), goes_on)

    def _ask_give_up(self) -> Ask | None:
        run = self.model.live
        if run is None:
            return None

        async def given_up(done: Answered) -> None:
            if self.model.live != run:
                return  # somebody else has ended it
            assert self.lenient or done.run.status == (
                "stopped" if self.status == "stopping" else "failed"
            )
            told = [{"type": "text", "text": "".join(self.said), "stopped": True}]
            assert (done.answer and done.answer.content) == (told if self.said else None)
            self._ended(told=bool(self.said))
            if done.answer is not None:
                self.model.nodes[done.answer.id] = Node.of(done.answer)
                self.model.leaf, self.model.revision = done.answer.id, done.chat.revision

        return Ask(partial(self._given_up, run), given_up)

    async def _given_up(self, run_id: UUID) -> Answered:
        home = self.who.organization_id
        assert home is not None
        await LiveRuns(self.storage, patience=NONE_LEFT).end_overdue(home)
        thread = await self.chats.thread(self.who, self.chat.id)
        answers = [each for each in thread.messages if each.run_id == run_id]
        run = await self.chats.run(self.who, run_id)
        return Answered(chat=thread.chat, run=run, answer=answers[-1] if answers else None)

    async def _newest_line(self, key: str) -> str:
        """What the newest note under the key says."""
        page = await self.chats.notes.page(self.who, self.chat.id, limit=500)
        return [each.line for each in page.items if each.key == key][-1]

    def _ask_compact(self, agent: int) -> Ask:
        agent_id = self.agents[agent]

        async def compacted(done: Any) -> None:
            if done is None or done.status != "activated":
                return
            if self.lenient:  # of what was moved at that time, or not
                self._disturb(agent_id, None)
                return
            talk = Talk(self.storage, self.who, done.conversation_id)
            everything = [*await talk.active(), *await talk.archived()]
            assert missing(self.model.told(agent_id) or [], everything) == []
            self._disturb(agent_id, await self._stored(agent_id))

        return Ask(partial(self._compacted, agent_id), compacted)

    async def _compacted(self, agent_id: UUID) -> Any:
        there = await self._conversation(agent_id)
        if there is None:
            return None
        with suppress(NothingToCompact):
            return await self.talks.compactions.compact(self.who, there)

    def _ask_clear_conversation(self, agent: int) -> Ask:
        agent_id = self.agents[agent]

        async def cleared(done: Any) -> None:
            if done is not None or any(agent_id in each for each in self.model.began.values()):
                self.cleared.add(agent_id)
                self._disturb(agent_id, [])

        return Ask(lambda: self.talks.clear(self.who, self._key(agent_id)), cleared)

    def _ask_clear_chat(self) -> Ask:
        async def cleared(done: Chat) -> None:
            self.model.forget()
            self.chat, self.model.revision, self.ended = done, done.revision, False
            self._ended(told=False)

        return Ask(lambda: self.chats.clear(self.who, self.chat.id), cleared)

    def _ask_reset(self) -> Ask:
        async def reset(_: Any) -> None:
            self._ended(told=False)
            self.ended = True

        return Ask(lambda: self.talks.resets.reset(self.who, self.chat.workflow_id), reset)

    # --- what follows -------------------------------------------------------------------------

    def _pick(self, which: int) -> Node | None:
        nodes = [*self.model.nodes.values()]
        return nodes[which % len(nodes)] if nodes else None

    def _begun(self, done: Sent) -> None:
        """A run waits to be picked up, and is the only one."""
        self.model.nodes[done.message.id] = Node.of(done.message)
        self.model.leaf, self.model.revision = done.message.id, done.chat.revision
        self.model.live, self.status, self.prepared = done.run.id, "queued", {}
        self.said = []
        assert done.chat.active_leaf == done.message.id

    def _ended(self, *, told: bool) -> None:
        if self.model.live is not None:
            self.model.notes.settle(self.model.live, told=told)
        self.model.live, self.prepared, self.clouded, self.cleared = None, {}, set(), set()

    def _disturb(self, agent_id: UUID, now: list[Message] | None) -> None:
        """An agent's conversation is another one by now; None where only a look tells which."""
        self.model.touched[agent_id] = self.model.touched.get(agent_id, 0) + 1
        self.clouded.add(agent_id)
        last = self.model.last_told(agent_id)
        if last is not None:
            self.model.saved[last][agent_id] = now

    def late(self, lists: Any) -> bool:
        """Whether what is to be saved was begun before a clearing."""
        return bool(self.cleared & set(lists))

    # --- what there is ------------------------------------------------------------------------

    def _key(self, agent_id: UUID) -> ConversationKey:
        return ConversationKey(
            workflow_id=self.chat.workflow_id,
            generation=self.chat.generation,
            agent_id=agent_id,
        )

    async def _conversation(self, agent_id: UUID) -> Any:
        loaded = await self.talks.load(self.who, self._key(agent_id))
        return None if loaded.conversation is None else loaded.conversation.id

    async def _stored(self, agent_id: UUID) -> list[Message]:
        there = await self._conversation(agent_id)
        if there is None:
            return []
        return [bare(each) for each in await Talk(self.storage, self.who, there).active()]

    async def _rows(self) -> set[UUID]:
        found = await self.storage.read(self.who.organization_id, _messages)
        return {row.id for row in found}

    async def _picture(self) -> Picture:
        return await self.storage.read(self.who.organization_id, picture)

    async def _check(self) -> None:
        """What has to hold after whatever was done."""
        model = self.model
        thread = await self.chats.thread(self.who, self.chat.id)
        assert [each.id for each in thread.messages] == [node.id for node in model.shown]
        assert texts(thread.messages) == contents(model.shown)
        for each, node in zip(thread.messages, model.shown, strict=True):
            assert each.versions == model.versions(node)
            assert each.versions[each.version - 1] == each.id
        assert thread.chat.revision == model.revision
        assert (thread.run.id if thread.run else None) == model.live
        assert await self._rows() == set(model.nodes)
        given = await self.chats.feedback.list(self.who, self.chat.id)
        assert {each.message_id: each.rating for each in given} == model.feedback
        if self.ended:
            return
        for agent_id in self.agents:
            stored, told = await self._stored(agent_id), model.told(agent_id)
            if told is None:
                model.learn(agent_id, stored)
            else:
                assert texts(stored) == texts(told)
                assert stored == told
            loaded = await self.talks.load(self.who, self._key(agent_id))
            assert faults_of(loaded.messages) == []
            if loaded.conversation is not None:
                await Talk(self.storage, self.who, loaded.conversation.id).assert_whole()


def _messages(tx: Transaction) -> list[Any]:
    return tx.all(select(chat_messages.c.id))


def _order(done: Any) -> tuple[int, int]:
    """In which order two things came that were done at once: a chat's revision grows with each move."""
    if isinstance(done, WorkflowReset):
        return sys.maxsize, 0  # of what comes after it, nothing is done
    if isinstance(done, Chat):
        return done.revision, 2
    if isinstance(done, Sent | Thread):
        return done.chat.revision, 1
    return (done.chat.revision, 0) if isinstance(done, Answered) else (0, 0)


def breadth() -> settings:
    """Some of all there is in every run; `--hypothesis-profile explore` goes on for long."""
    explores = settings.get_current_profile_name() == "explore"
    return settings(
        max_examples=settings.default.max_examples if explores else 8,
        stateful_step_count=12,
        phases=tuple(Phase) if explores else (Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )


def test_a_chats_agents_know_what_is_shown_whatever_is_done_in_it(house: House) -> None:
    run_state_machine_as_test(partial(ChatMachine, house), settings=breadth())
