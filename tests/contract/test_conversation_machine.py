"""Whatever is done to a conversation, by whoever at once: its next request is valid, and nothing acknowledged is lost."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from memoranda.conversations.compaction.service import Compactions
from memoranda.conversations.errors import LateSave, NothingToCompact, OlderGeneration
from memoranda.conversations.generations import store as generations
from memoranda.conversations.limits import ConversationLimits
from memoranda.conversations.models import ConversationKey, Message
from memoranda.conversations.rows import store as rows
from memoranda.conversations.service import Conversations
from memoranda.storage import Storage, Transaction
from memoranda.words.errors import Conflict
from tests.contract.conversation_model import (
    PROVIDERS,
    SHAPES,
    Client,
    Kept,
    faults_of,
    missing,
    turn_of,
)
from tests.contract.talking_house import Scripted, Talk
from tests.contract.tenants import new_tenant
from tests.conversations.transcripts import open_calls

LIMITS = ConversationLimits(result_chars=700, seed_bytes=5_000)
SHAPE, PROVIDER = st.sampled_from(SHAPES), st.sampled_from(PROVIDERS)
CLIENT = st.integers(0, 1)
SUMMARIZER = st.sampled_from(["extractive"] * 5 + ["failing", "long", "nothing"])


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


def asks() -> st.SearchStrategy[Any]:
    """Anything that may be done at the same time as something else."""
    return st.one_of(
        st.tuples(st.just("append"), SHAPE, PROVIDER),
        st.tuples(st.just("append"), SHAPE, PROVIDER),
        st.tuples(st.just("save"), CLIENT, SHAPE, PROVIDER),
        st.tuples(st.just("compact"), SUMMARIZER),
        st.tuples(st.just("compact"), SUMMARIZER),
        st.tuples(st.just("pin"), st.integers(0, 9)),
        st.tuples(st.sampled_from(["clear", "reset"])),
    )


class ConversationMachine(RuleBasedStateMachine):
    """One key of a workflow, two hosts that go on from what they loaded, and an owner who clears and resets."""

    def __init__(self, house: House) -> None:
        super().__init__()
        self.run = house.run
        self.storage = house.storage
        self.who = house.run(new_tenant(house.storage)).owner
        self.talks = Conversations(house.storage, limits=LIMITS)
        self.key = ConversationKey(workflow_id="ships")
        self.clients = [Client(self.key), Client(self.key)]
        self.kept = Kept()
        self.number = 0
        self.broken = False

    @initialize(shapes=st.lists(st.tuples(SHAPE, PROVIDER), max_size=5))
    def begin(self, shapes: list[Any]) -> None:
        for shape, provider in shapes:
            self.do(("append", shape, provider))

    @rule(shape=SHAPE, provider=PROVIDER)
    def speak(self, shape: str, provider: Any) -> None:
        self.do(("append", shape, provider))

    @rule(client=CLIENT)
    def load(self, client: int) -> None:
        self.do(("load", client))

    @rule(client=CLIENT, shape=SHAPE, provider=PROVIDER)
    def save(self, client: int, shape: str, provider: Any) -> None:
        """Where nobody else wrote meanwhile, without naming the list that it was loaded from."""
        alone = self.clients[client].seen == self.kept.writes
        self.do(("save on" if alone else "save", client, shape, provider))

    @rule(summarizer=SUMMARIZER)
    def compact(self, summarizer: str) -> None:
        self.do(("compact", summarizer))

    @rule(which=st.integers(0, 9))
    def pin(self, which: int) -> None:
        self.do(("pin", which))

    @rule(how=st.sampled_from(["clear", "reset", *["load"] * 6]))
    def take_away(self, how: str) -> None:
        self.do((how, 0) if how == "load" else (how,))

    @rule(shapes=st.tuples(SHAPE, SHAPE), provider=PROVIDER)
    def race(self, shapes: tuple[str, str], provider: Any) -> None:
        """Of two hosts that go on from the same list, one is told that the other was first."""
        self.do(("load", 0), ("load", 1))
        writes = self.kept.writes
        self.do(*(("save", client, shape, provider) for client, shape in enumerate(shapes)))
        assert self.kept.writes == writes + 1

    @rule(client=CLIENT, how=st.sampled_from(["clear", "reset"]), shape=SHAPE, provider=PROVIDER)
    def save_late(self, client: int, how: str, shape: str, provider: Any) -> None:
        """What was begun before everything was taken away brings nothing back."""
        self.do(("load", client))
        self.do((how,))
        self.do(("save on", client, shape, provider))
        assert not self.kept.acknowledged

    @rule(client=CLIENT, shape=SHAPE, provider=PROVIDER)
    def save_over_a_compaction(self, client: int, shape: str, provider: Any) -> None:
        self.do(("load", client))
        self.do(("compact", "extractive"))
        self.do(("save on", client, shape, provider))

    @rule(shape=SHAPE, provider=PROVIDER, steps=st.integers(0, 3))
    def crash(self, shape: str, provider: Any, steps: int) -> None:
        self.do(("crash", shape, provider, steps))

    @rule(first=asks(), second=asks())
    def together(self, first: Any, second: Any) -> None:
        self.do(first, second)

    def do(self, *asked: Any) -> None:
        self.broken = True
        self.run(self._do(asked))
        self.broken = False

    async def _do(self, asked: tuple[Any, ...]) -> None:
        before = len(self.kept.acknowledged)
        verbs = {ask[0] for ask in asked}
        done = await asyncio.gather(
            *(getattr(self, "_" + ask[0].replace(" ", "_"))(*ask[1:]) for ask in asked)
        )
        note(f"   {asked} -> {done}")
        if len(asked) > 1 and verbs & {"clear", "reset"}:
            # What was said at that very time may have been said before or after.
            await self._look_what_is_left(done)
        assert len(self.kept.acknowledged) >= before or verbs & {
            "clear",
            "reset",
            "save",
            "save on",
        }
        await self._check()

    async def _look_what_is_left(self, done: list[Any]) -> None:
        said = await self._said()
        turns = [each for each in done if isinstance(each, list)]
        self.kept.acknowledged = [
            message for turn in turns if not missing(turn, said) for message in turn
        ]
        self.kept.pinned = []

    def _turn(self, shape: str, provider: str | None) -> list[Message]:
        self.number += 1
        return turn_of(shape, self.number, provider)

    async def _append(self, shape: str, provider: str | None) -> Any:
        turn = self._turn(shape, provider)
        try:
            await self.talks.append(self.who, self.key, turn)
        except OlderGeneration:
            return "older generation"
        self.kept.add(turn)
        return turn

    async def _crash(self, shape: str, provider: str | None, steps: int) -> str:
        """The host dies in the middle of an append: all of it is there, or nothing."""
        turn = self._turn(shape, provider)
        task = asyncio.create_task(self.talks.append(self.who, self.key, turn))
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        # What was begun in the database may end a little later: whoever waits for its locks sees how.
        await self.storage.write(self.who.organization_id, _wait_for, self.key)
        gone = missing(turn, await self._said())
        assert not gone or gone == missing(turn, []), "a turn is appended as a whole or not at all"
        self.kept.writes += 1
        if not gone:
            self.kept.acknowledged += turn
        return "not there" if gone else "there"

    async def _load(self, client: int) -> str:
        loaded = await self.talks.load(self.who, self.key)
        self.clients[client].take(self.key, loaded, self.kept.writes)
        return f"{len(loaded.messages)} messages"

    async def _save(self, client: int, shape: str, provider: str | None) -> Any:
        return await self._saved(client, shape, provider, strict=True)

    async def _save_on(self, client: int, shape: str, provider: str | None) -> Any:
        return await self._saved(client, shape, provider, strict=False)

    async def _saved(self, client: int, shape: str, provider: str | None, *, strict: bool) -> Any:
        host, turn = self.clients[client], self._turn(shape, provider)
        messages, writes, old = [*host.messages, *turn], self.kept.writes, host.key != self.key
        try:
            saved = await self.talks.save(
                self.who,
                host.key,
                messages,
                fence=host.fence,
                expected_digest=host.digest if strict else None,
            )
        except (LateSave, OlderGeneration):
            return "too late"
        except Conflict as moved_on:
            if not strict:
                raise
            return moved_on.code
        assert not old, "an older generation takes nothing"
        assert strict or host.seen == writes
        self.kept.add(turn)
        host.messages, host.digest, host.seen = messages, saved.digest, self.kept.writes
        return turn

    async def _compact(self, summarizer: str) -> str:
        made: Any = {
            "extractive": lambda: None,
            "failing": lambda: Scripted(error=RuntimeError()),
            "long": lambda: Scripted("long " * 5_000, usage=None),
            "nothing": lambda: Scripted("", usage=None),
        }[summarizer]()
        compactions = Compactions(self.storage, made, budget=LIMITS.seed_bytes)
        there = await self._there()
        if there is None:
            return "nobody spoke"
        try:
            done = await compactions.compact(self.who, there)
        except NothingToCompact:
            return "nothing to compact"
        assert summarizer == "extractive" or done.status != "activated"
        return f"{done.status}: {done.reason}"

    async def _pin(self, which: int) -> str:
        there = await self._there()
        messages = [] if there is None else await self.talks.messages(self.who, there)
        if there is None or not messages:
            return "nothing to pin"
        message = messages[which % len(messages)]
        try:
            await self.talks.compactions.pin(self.who, there, message.position)
        except Exception as error:  # noqa: BLE001 - gone by now, as another client may have wished
            return type(error).__name__
        return f"pinned {message.position}"

    async def _clear(self) -> str:
        try:
            await self.talks.clear(self.who, self.key)
        except OlderGeneration:
            return "older generation"
        self.kept.empty()
        return "cleared"

    async def _reset(self) -> str:
        reset = await self.talks.resets.reset(self.who, "ships")
        self.key = ConversationKey(workflow_id="ships", generation=reset.generation)
        self.kept.empty()
        return f"generation {reset.generation}"

    async def _there(self) -> Any:
        try:
            loaded = await self.talks.load(self.who, self.key)
        except OlderGeneration:  # the other one of two at once has just reset it
            return None
        return None if loaded.conversation is None else loaded.conversation.id

    async def _said(self) -> list[Message]:
        there = await self._there()
        if there is None:
            return []
        talk = Talk(self.storage, self.who, there)
        return [*await talk.active(), *await talk.archived()]

    async def _check(self) -> None:
        """What has to hold after whatever was done."""
        loaded = await self.talks.load(self.who, self.key)
        assert faults_of(loaded.messages) == []
        assert open_calls(loaded.messages) == []
        said = await self._said()
        assert missing(self.kept.acknowledged, said) == []
        if not self.kept.acknowledged:
            assert said == []
        if loaded.conversation is not None:
            talk = Talk(self.storage, self.who, loaded.conversation.id)
            await talk.assert_whole()
            pinned = [each for each in await talk.archived() if each.pinned]
            assert not pinned, "what is pinned is never put away"

    def teardown(self) -> None:
        """Everybody loads and saves once more, unless there is an error to tell of already."""
        if not self.broken:
            for client in (0, 1):
                self.do(("load", client))
                self.do(("save on", client, "plain", None))


def _wait_for(tx: Transaction, key: ConversationKey) -> None:
    generations.lock(tx, key.workflow_id)
    rows.hold_key(tx, key)


def breadth() -> settings:
    """Some of all there is in every run; `--hypothesis-profile explore` goes on for long."""
    explores = settings.get_current_profile_name() == "explore"
    return settings(
        max_examples=settings.default.max_examples if explores else 25,
        stateful_step_count=25,
        phases=tuple(Phase) if explores else (Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )


def test_a_conversation_goes_on_whatever_is_done_to_it(house: House) -> None:
    run_state_machine_as_test(partial(ConversationMachine, house), settings=breadth())
