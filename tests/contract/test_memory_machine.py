"""Whatever is done to memories, alone or two things at once, they are what the documents say they are."""

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from itertools import permutations, product
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from memoranda.storage import Storage
from tests.contract.clocks import SteppedClock
from tests.contract.memory_desk import (
    Desk,
    expected,
    expected_found,
    expected_history,
)
from tests.contract.memory_model import ANNA, OWNER, SCOUT, Answer, Op
from tests.contract.memory_model_verbs import State
from tests.contract.tenants import new_tenant

WORDS = ("oat", "milk", "standup", "dawn", "kitchen", "harbor")
READERS = (OWNER, ANNA, SCOUT)
DAY = timedelta(days=1)


class House:
    """An open storage, its clock, and the loop that it lives on."""

    def __init__(self, url: str) -> None:
        self.clock = SteppedClock()
        self.runner = asyncio.Runner()
        self.run = self.runner.run
        self.storage: Storage = self.run(Storage.open(url, clock=self.clock))

    def close(self) -> None:
        self.run(self.storage.close())
        self.runner.close()


@pytest.fixture(scope="module")
def house(module_database_url: str) -> Iterator[House]:
    """One database for all examples, each of which has an organization of its own."""
    opened = House(module_database_url)
    yield opened
    opened.close()


# --- what may be asked -----------------------------------------------------------------------

TEXTS = (
    "Ada takes oat milk",
    "ada TAKES oat milk",
    "Ada takes milk",
    "The standup moves to noon",
    "Ships leave at dawn",
)
AUDIENCES = ((None, None), ("anna", None), (None, "scout"), ("ben", "scout"))
TEXT = st.sampled_from(TEXTS)
TITLE = st.sampled_from([None, "Kitchen", "Harbor"])
EXPIRES = st.sampled_from([None, DAY, DAY, 10 * DAY, 40 * DAY, -DAY])
AUDIENCE = st.sampled_from(AUDIENCES)
WRITER = st.sampled_from([OWNER] * 8 + [ANNA, ANNA, SCOUT])
PROPOSER = st.sampled_from([SCOUT, SCOUT, OWNER, OWNER, OWNER, ANNA])
ATTRIBUTE = st.sampled_from(["preference.milk", "observation.day"])
VERSION = st.sampled_from(["right", "stale"])
NOTHING: st.SearchStrategy[Any] = st.just({})
WHICH = st.integers(0, 7)
"""Which of the ids: up to 5 one of those that the verb is for, beyond that any other."""


def asks(
    verb: str,
    who: st.SearchStrategy[str] = WRITER,
    which: st.SearchStrategy[Any] = WHICH,
    given: st.SearchStrategy[Any] = NOTHING,
) -> st.SearchStrategy[Any]:
    return st.tuples(st.just(verb), who, which, given)


SAYING = {"expires": EXPIRES, "title": TITLE, "attribute": ATTRIBUTE, "audience": AUDIENCE}
EDIT = {"text": TEXT, "title": TITLE, "expires": EXPIRES, "pinned": st.booleans()}
REMEMBER = asks(
    "remember",
    which=st.none(),
    given=st.fixed_dictionaries({"text": TEXT}, optional={**SAYING, "pinned": st.booleans()}),
)
PROPOSE = asks(
    "propose", PROPOSER, st.none(), st.fixed_dictionaries({"text": TEXT}, optional=SAYING)
)
UPDATE = asks(
    "update",
    given=st.fixed_dictionaries({}, optional={**EDIT, "version": VERSION}).filter(
        lambda given: set(given) - {"version"}
    ),
)
PIN = asks(
    "update",
    given=st.fixed_dictionaries({"pinned": st.sampled_from([True, False, "other", "other"])}),
)
MOVE = asks(
    "update", given=st.fixed_dictionaries({"audience": AUDIENCE}, optional={"text": TEXT, **EDIT})
)
FORGET = asks("forget", given=st.fixed_dictionaries({}, optional={"version": VERSION}))
RESTORE = asks("restore")
ACCEPT = asks("accept", given=st.fixed_dictionaries({}, optional={"text": TEXT}))
DISCARD = asks("discard")
RESTORE_PROPOSAL = asks("restore_proposal")
FORGET_ALL = asks("forget_all", which=st.none())
ERASE = asks("erase")
PURGE = asks("purge_due", st.just(OWNER), st.none())
ANYTHING = st.one_of(
    *(REMEMBER, REMEMBER, PROPOSE, UPDATE, UPDATE, PIN, MOVE, FORGET, RESTORE, ACCEPT, DISCARD),
    *(RESTORE_PROPOSAL, FORGET_ALL, ERASE, PURGE),
)
REMOVE = st.one_of(ERASE, PURGE, PURGE, FORGET_ALL)


def contest(asked: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Two that want something of the same memory or proposal, or say the same."""

    def meet(first: Any, second: Any) -> Any:
        verb, who, which, given = second
        same = {
            name: first[3][name] for name in given if name in {"audience", "text"} & set(first[3])
        }
        return first, (verb, who, None if which is None else first[2], given | same)

    return st.builds(meet, asked, asked)


CONTEST = st.one_of(
    contest(st.one_of(UPDATE, PIN, MOVE, FORGET, ERASE)),
    contest(st.one_of(ACCEPT, DISCARD)),
    contest(st.one_of(REMEMBER, REMEMBER, PROPOSE)),
)


class MemoryMachine(RuleBasedStateMachine):
    """Does one thing or two at once, and looks at all that anybody may see of it.

    Which of two comes first differs from run to run, so nothing that is drawn, and no
    rule's being there, may depend on the state: `meant` makes the call of what was drawn.
    """

    def __init__(self, house: House) -> None:
        super().__init__()
        self.house = house
        tenant = house.run(new_tenant(house.storage))
        self.desk = Desk(house.storage, tenant)
        self.state = State(house.clock())
        self.steps = 0
        self.broken = False

    @initialize(count=st.integers(0, 6), pinned=st.integers(0, 2), expires=EXPIRES)
    def begin(self, count: int, pinned: int, expires: timedelta | None) -> None:
        """Remember so much at first, or an example seldom meets a limit."""
        for place, (text, audience) in enumerate(list(product(TEXTS[1:], AUDIENCES))[:count]):
            given: dict[str, Any] = {"text": text, "audience": audience}
            if place < pinned:
                given |= {"pinned": True, "expires": expires}
            self.do(("remember", OWNER, None, given))

    @rule(ask=REMEMBER)
    def remember(self, ask: Any) -> None:
        self.do(ask)

    @rule(ask=UPDATE)
    def update(self, ask: Any) -> None:
        self.do(ask)

    @rule(ask=PIN)
    def pin(self, ask: Any) -> None:
        self.do(ask)

    @rule(ask=MOVE)
    def move(self, ask: Any) -> None:
        self.do(ask)

    @rule(ask=st.one_of(FORGET, RESTORE))
    def forget_or_restore(self, ask: Any) -> None:
        self.do(ask)

    @rule(ask=PROPOSE)
    def propose(self, ask: Any) -> None:
        self.do(ask)

    @rule(ask=st.one_of(ACCEPT, DISCARD, RESTORE_PROPOSAL))
    def decide(self, ask: Any) -> None:
        self.do(ask)

    @rule(ask=REMOVE)
    def remove(self, ask: Any) -> None:
        self.do(ask)

    @rule(first=ANYTHING, second=ANYTHING)
    def together(self, first: Any, second: Any) -> None:
        self.do(first, second)

    @rule(two=CONTEST)
    def contend(self, two: Any) -> None:
        self.do(*two)

    @rule(by=st.sampled_from([timedelta(minutes=20), DAY, DAY, 10 * DAY, 31 * DAY]))
    def wait(self, by: timedelta) -> None:
        self.state.now = self.house.clock.tick(by)
        self.do()

    def do(self, *asked: Any) -> None:
        """Do these at the same time; one order of the model must answer and leave the same."""
        ops = [op for ask in asked if (op := self.meant(*ask))]
        if asked and not ops:
            return
        self.broken = True
        self.house.run(self._do(ops))
        self.broken = False

    async def _do(self, ops: list[Op]) -> None:
        done = await asyncio.gather(*(self.desk.do(op) for op in ops))
        answers = [answer for answer, _ in done]
        note(f"   {ops} -> {answers}")
        orders = list(permutations(range(len(ops))))
        outcomes = [self.modeled(ops, [born for _, born in done], order) for order in orders]
        agreed = [state for state, said in outcomes if said == answers]
        assert agreed, f"{ops}\nanswered {answers}\n and not {[said for _, said in outcomes]}"
        told = await self.desk.told(len(self.state.events))
        models = [state.events[len(self.state.events) :] for state in agreed]
        views = [heard(events) for events in models]
        assert heard(told) in views, f"{ops}\ntold {told}\n and not {models}"
        self.state = agreed[views.index(heard(told))]
        self.steps += 1
        await self._compare({op.target for op in ops} | {event[0] for event in told})

    def modeled(
        self, ops: list[Op], born: list[UUID | None], order: tuple[int, ...]
    ) -> tuple[State, list[Answer]]:
        """The state after these in this order, and their answers in the order of `ops`."""
        state, answers = self.state, {}
        for place in order:
            state, answers[place] = state.after(ops[place], born[place])
        return state, [answers[place] for place in range(len(ops))]

    async def _compare(self, touched: set[UUID | None]) -> None:
        """What the owner sees and, by turns, what another reader does; all of what has changed."""
        for who in {OWNER, READERS[self.steps % 3]}:
            await self._compare_lists(who)
        await self._compare_search(READERS[self.steps % 3], WORDS[self.steps % len(WORDS)])
        for memory_id in touched & set(self.state.chains):
            if memory_id is not None:
                await self._compare_history(memory_id)

    async def _compare_lists(self, who: str) -> None:
        seen, wanted = await self.desk.seen(who), expected(self.state, who)
        for name, there in seen.items():
            assert there == wanted[name], f"{who} sees {name} {there}\n and not {wanted[name]}"

    async def _compare_search(self, who: str, word: str) -> None:
        found, wanted = await self.desk.found(who, word), expected_found(self.state, who, word)
        assert found == wanted, f"{who} finds by {word!r} {found}\n and not {wanted}"

    async def _compare_history(self, memory_id: UUID) -> None:
        history, wanted = (
            await self.desk.history(memory_id),
            expected_history(self.state, memory_id),
        )
        assert history == wanted, f"{memory_id} has {history}\n and not {wanted}"

    async def _compare_all(self) -> None:
        for who in READERS:
            await self._compare_lists(who)
            for word in WORDS:
                await self._compare_search(who, word)
        for memory_id in self.state.chains:
            await self._compare_history(memory_id)

    def teardown(self) -> None:
        """Look at everything once more, unless there is an error to tell of already."""
        if not self.broken:
            self.house.run(self._compare_all())

    def meant(self, verb: str, who: str, which: int | None, given: dict[str, Any]) -> Op | None:
        """The call that is asked for, of what there is just now; None where there is nothing."""
        args = dict(given)
        target = None
        if which is not None:
            fit, others = self.targets(verb)
            there = (fit or others) if which < 6 else (others or fit)
            if not there:
                return None
            target = there[which % len(there)]
        if args.get("expires"):
            args["expires"] += self.state.now
        if "audience" in args:
            args["user"], args["agent"] = args.pop("audience")
        chain = self.state.chains.get(target) if target else None
        if "version" in args:
            version = 1 if chain is None else chain.version
            args["version"] = version + (args["version"] == "stale")
        if args.get("pinned") == "other":
            args["pinned"] = chain is None or not chain.pinned
        return Op(verb, who, target, args)

    def targets(self, verb: str) -> tuple[list[UUID], list[UUID]]:
        """The ids that the verb is for, and all others that there ever were; the newest first."""
        state = self.state
        there = set(state.purged)
        if verb in {"accept", "discard", "restore_proposal"}:
            wanted = "discarded" if verb == "restore_proposal" else "waiting"
            fit = {key for key, each in state.proposals.items() if each.status == wanted}
            there |= set(state.proposals)
        else:
            ended = verb == "restore"
            fit = {key for key, each in state.chains.items() if each.ended == ended}
            there |= set(state.chains)
        return sorted(fit, reverse=True), sorted(there - fit, reverse=True)


def heard(events: list[Answer]) -> Any:
    """What is told of each memory and proposal, in order: of two that do not meet, either may be first.

    What clears everything meets all.
    """
    if any(event[2] == "cleared" for event in events):
        return events
    return {event[0]: [each for each in events if each[0] == event[0]] for event in events}


def breadth() -> settings:
    """Some of all there is in every run; `--hypothesis-profile explore` goes on for long.

    Only that one looks for a smaller example: it takes minutes, and 30 steps can be read.
    """
    explores = settings.get_current_profile_name() == "explore"
    return settings(
        max_examples=settings.default.max_examples if explores else 40,
        stateful_step_count=30,
        phases=tuple(Phase) if explores else (Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )


def test_memories_are_what_the_documents_say_after_whatever_is_done_to_them(house: House) -> None:
    run_state_machine_as_test(partial(MemoryMachine, house), settings=breadth())
