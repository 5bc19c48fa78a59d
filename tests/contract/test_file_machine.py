"""Whatever is done to files, one thing after the other, they are what a few lists say they are."""

import asyncio
from collections.abc import Awaitable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from memoranda.files.body import hash_of
from memoranda.files.proposals.service import FileProposals
from memoranda.files.service import Files
from memoranda.storage import Storage
from memoranda.words.errors import MemorandaError
from memoranda.words.subject import ContextSubject
from tests.contract.clocks import SteppedClock
from tests.contract.file_model import AGENT, WORKSPACE, Answer, Change, Model
from tests.contract.tenants import new_tenant

DAY = timedelta(days=1)
NAMES = (*WORKSPACE[2:5], *AGENT)
NAME = st.sampled_from(NAMES)
BODY = st.sampled_from(["", "a", "b\r\n", "\ufeffc ", "d\n\nd"])
READ = st.sampled_from(["now", "now", "now", "stale"])
WHICH = st.integers(0, 9)


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
    """One database for all examples, each of which has organizations of its own."""
    opened = House(module_database_url)
    yield opened
    opened.close()


class Machine(RuleBasedStateMachine):
    """Does the same to the product and to the lists; a second organization looks on."""

    house: House

    @initialize()
    def begin(self) -> None:
        run, storage = self.house.run, self.house.storage
        self.files, self.changes = Files(storage), FileProposals(storage)
        self.acme, self.zeta = run(new_tenant(storage)), run(new_tenant(storage, "Zeta"))
        self.keys = {"owner": self.acme.owner, "agent": self.acme.key_of(self.acme.scout)}
        for tenant in (self.acme, self.zeta):
            run(self.files.listed(tenant.owner))
            run(self.files.listed(tenant.owner, agent="scout"))
        self.model = Model(self.house.clock.now)
        self.times = [self.house.clock.now]

    def outcome(self, asked: Awaitable[Any]) -> Answer:
        """What a verb came to."""
        try:
            done = self.house.run(asked)
        except MemorandaError as error:
            name = type(error).__name__
            if name == "FileChanged":
                return (name, error.details["current_body"])
            if name == "AlwaysLoadedFull":
                return (name, tuple(error.details["files"]))
            return (name, error.details["status"]) if name == "Conflict" else (name,)
        if hasattr(done, "diff"):
            return ("proposed", done)
        return ("done", done.status.value if hasattr(done, "status") else done.revision)

    def read(self, name: str, how: str) -> str:
        file = self.model.files[name]
        return hash_of(file.now.body if how == "now" else f"{file.now.body}?")

    def of(self, name: str) -> dict[str, str]:
        return {"agent": "scout"} if name in AGENT else {}

    @property
    def now(self) -> Any:
        return self.house.clock.now

    @rule(who=st.sampled_from(["owner", "owner", "agent"]), name=NAME, body=BODY, how=READ)
    def write(self, who: str, name: str, body: str, how: str) -> None:
        read = self.read(name, how)
        done = self.outcome(self.files.write(self.keys[who], name, body, read, **self.of(name)))
        assert done == self.model.write(who, name, body, read, self.now)

    @rule(name=NAME, count=st.integers(2, 25))
    def write_much(self, name: str, count: int) -> None:
        for number in range(count):
            self.write("owner", name, f"{number} of {self.now}", "now")

    @rule(name=NAME, number=st.integers(1, 30))
    def restore(self, name: str, number: int) -> None:
        done = self.outcome(self.files.restore(self.acme.owner, name, number, **self.of(name)))
        assert done == self.model.restore(name, number, self.now)

    @rule(name=st.sampled_from(WORKSPACE), mode=st.sampled_from(["always", "always", "on_demand"]))
    def set_mode(self, name: str, mode: str) -> None:
        done = self.outcome(self.files.set_load_mode(self.acme.owner, name, mode))
        assert done == self.model.set_mode(name, mode, self.now)

    @rule(name=NAME, body=BODY, how=READ)
    def propose(self, name: str, body: str, how: str) -> None:
        read = self.read(name, how)
        known = self.model.waiting(name, body, read)
        done = self.outcome(
            self.changes.propose(self.keys["agent"], name, body, read, **self.of(name))
        )
        assert done[: 1 if done[0] == "proposed" else 2] == self.model.propose(name, body, read)
        if done[0] == "proposed":
            change: Any = done[1]
            assert known in {None, change.id}
            self.model.changes[change.id] = self.model.changes.get(change.id) or Change(
                change.file, change.base_hash, change.body
            )

    @rule(which=WHICH, over=st.booleans())
    def apply(self, which: int, over: bool) -> None:
        if not self.model.changes:
            return
        change_id = list(self.model.changes)[which % len(self.model.changes)]
        read = self.read(self.model.changes[change_id].file, "now") if over else None
        done = self.outcome(self.changes.apply(self.acme.owner, change_id, expected_hash=read))
        assert done == self.model.apply(change_id, read, self.now)

    @rule(which=WHICH)
    def discard(self, which: int) -> None:
        if self.model.changes:
            change_id = list(self.model.changes)[which % len(self.model.changes)]
            done = self.outcome(self.changes.discard(self.acme.owner, change_id))
            assert done == self.model.discard(change_id, self.now)

    @rule(by=st.sampled_from([timedelta(seconds=1), DAY, 16 * DAY, 31 * DAY]))
    def tick(self, by: timedelta) -> None:
        self.times.append(self.house.clock.tick(by))

    @rule()
    def prune(self) -> None:
        while self.house.run(self.files.prune(self.acme.owner.organization_id)):
            pass
        self.model.prune(self.now)

    @rule(name=NAME, which=WHICH)
    def look_back(self, name: str, which: int) -> None:
        moment = self.times[which % len(self.times)]
        try:
            found = self.house.run(self.files.as_of(self.acme.owner, name, moment, **self.of(name)))
            done: Answer = ("done", found.body)
        except MemorandaError as error:
            done = (type(error).__name__,)
        assert done == self.model.as_of(name, moment)

    @invariant()
    def all_is_as_the_lists_say(self) -> None:
        if not hasattr(self, "model"):
            return
        run, owner = self.house.run, self.acme.owner
        subject = ContextSubject(organization_id=owner.organization_id, agent_id=self.acme.scout.id)
        view = run(self.files.view(subject))
        seen = {file.name: file for file in (*view.workspace, *view.agent)}
        for name, file in self.model.files.items():
            assert (seen[name].body, seen[name].load_mode) == (file.now.body, file.now.mode)
            assert seen[name].revision == len(file.states)
        assert [file.name for file in view.always_loaded] == self.model.always
        statuses = {}
        for status in ("waiting", "applied", "discarded"):
            for change in run(self.changes.page(owner, status=status, limit=200)).items:
                statuses[change.id] = status
        assert statuses == {key: each.status for key, each in self.model.changes.items()}

    def teardown(self) -> None:
        """At the end all of the history, and that nobody else's files were touched."""
        if not hasattr(self, "model"):
            return
        run = self.house.run
        for name in NAMES:
            found = run(self.files.history(self.acme.owner, name, limit=200, **self.of(name)))
            told = [
                (each.number, each.hash, each.load_mode, each.action, *_span(each))
                for each in found
            ]
            assert told == self.model.history(name)[:200]
            if name not in AGENT:
                assert run(self.files.get(self.zeta.owner, name)).revision == 1
        assert run(self.changes.page(self.zeta.owner)).items == []


def _span(state: Any) -> tuple[Any, Any]:
    return state.written_at, state.replaced_at


@pytest.mark.slow
def test_files_are_what_a_few_lists_say(house: House) -> None:
    machine = type("Files", (Machine,), {"house": house})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
