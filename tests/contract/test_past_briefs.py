"""A brief as of a past time: the bytes that were built then, or a loud word of what can't be told."""

import random
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from memoranda import Memoranda
from memoranda.briefs.models import ContextBrief
from memoranda.briefs.past import PRESENT_ONLY
from memoranda.conversations.models import Message
from memoranda.memories.limits import KEPT_WHEN_FORGOTTEN
from memoranda.runs.models import Run, RunStatus
from memoranda.storage import Transaction
from memoranda.storage.tables import run_changes
from memoranda.words.errors import (
    Conflict,
    Gone,
    Invalid,
    NotFound,
    Refused,
    RequiredContextSourceError,
)
from memoranda.words.ids import new_id
from memoranda.words.ref import ResourceRef
from tests.contract.clocks import SteppedClock
from tests.contract.tenants import Tenant, new_tenant

DEAL = ResourceRef(kind="crm.deal", id="7")
DATED = ("conversation", "personal_memory", "memory", "run_history")
PRESENT = ("dossier", "definition_summary", "knowledge")


@pytest.fixture
async def memoranda(
    database_url: str, clock: SteppedClock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Memoranda]:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    async with Memoranda.open(database_url, clock=clock, migrate=False) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


@pytest.fixture
async def other(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage, "Other")


def policy(*names: str, **spec: Any) -> dict[str, Any]:
    sources = [{"name": name, "token_budget": 1_000, **spec} for name in names]
    return {"sources": sources, "total_token_budget": 6_000}


async def build(memoranda: Memoranda, tenant: Tenant, *names: str, **asked: Any) -> ContextBrief:
    asked.setdefault("policy", policy(*(names or DATED)))
    return await memoranda.briefs.build(tenant.owner, "q", **asked)


async def test_a_brief_of_then_is_the_brief_that_was_built_then(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock
) -> None:
    talk = await memoranda.conversations.create(acme.owner, user_id=acme.anna.id)
    asked: dict[str, Any] = {
        "user_id": acme.anna.id,
        "agent_id": acme.scout.id,
        "conversation": talk.id,
        "entities": [DEAL],
    }
    history = History(memoranda, acme, talk.id)
    then: list[tuple[datetime, ContextBrief]] = []
    for step in range(60):
        clock.tick(timedelta(minutes=1))
        await history.goes_on(step)
        clock.tick(timedelta(minutes=1))
        then.append((clock.now, await build(memoranda, acme, explain=True, **asked)))
    assert len({brief.text for _, brief in then}) > 40
    assert {"Run waiting", "Run running", "Run completed"} <= {
        item.title for _, brief in then for item in brief.explain or ()
    }
    for moment, brief in then:
        again = await build(memoranda, acme, explain=True, as_of=moment, **asked)
        assert again.text == brief.text
        assert again.model_copy(update={"as_of": None, "times": {}}) == brief.model_copy(
            update={"stable_prefix_bytes": None}
        )
        assert again.as_of == moment
        assert {each.speaks_for for each in again.times.values()} == {moment}


@dataclass
class History:
    """What has come to be so far, for changes to go on from."""

    memoranda: Memoranda
    tenant: Tenant
    talk: UUID
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    memories: list[UUID] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)

    async def goes_on(self, step: int) -> None:
        """One change, of all kinds that a brief may be told of."""
        whats = ["remember", "remember", "update", "forget", "restore", "say", "run", "run"]
        what = self.chance.choice(whats)
        if what == "remember" or not self.memories:
            await self.remember(step)
        elif what == "say":
            said = [Message(role="user", content=f"{step}?")]
            await self.memoranda.conversations.append(self.tenant.owner, self.talk, said)
        elif what == "run":
            await self.run()
        else:
            change = {"text": f"Fact {step}, again."} if what == "update" else {}
            verb = getattr(self.memoranda.memories, what)
            with suppress(Conflict, NotFound, Gone):
                await verb(self.tenant.owner, self.chance.choice(self.memories), **change)

    async def remember(self, step: int) -> None:
        user, agent = {"user_id": self.tenant.anna.id}, {"agent_id": self.tenant.scout.id}
        audience: dict[str, Any] = self.chance.choice([{}, user, agent, user | agent])
        lasts = self.chance.choice([None, timedelta(minutes=9)])
        now = await self.memoranda.storage.read(self.tenant.owner.organization_id, _now)
        made = await self.memoranda.memories.remember(
            self.tenant.owner, f"Fact {step}.", expires_at=lasts and now + lasts, **audience
        )
        self.memories.append(made.id)

    async def run(self) -> None:
        """A run begins, waits, goes on or ends."""
        verbs, who = self.memoranda.runs, self.tenant.owner
        running = [run for run in self.runs if not run.status.ended]
        if not running or self.chance.random() < 0.3:
            user = self.chance.choice([self.tenant.anna, self.tenant.ben])
            self.runs.append(await verbs.create(who, user_id=user.id))
            return
        run = self.chance.choice(running)
        self.runs.remove(run)
        if run.status is RunStatus.WAITING:
            run = await verbs.resume(who, run.id)
        elif self.chance.random() < 0.5:
            run = await verbs.wait(who, run.id, f"Approval {self.chance.random()}")
        elif self.chance.random() < 0.5:
            run = await verbs.complete(who, run.id, summary="Sent", refs=[DEAL])
        else:
            run = await verbs.fail(who, run.id, "It broke")
        self.runs.append(run)


def _now(tx: Transaction) -> datetime:
    return tx.now


async def test_a_run_is_told_as_it_stood_then_with_what_it_waited_for(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock
) -> None:
    run = await memoranda.runs.create(acme.owner, user_id=acme.anna.id)
    moments = [clock.now]
    for verb, said in (("wait", ["Approval"]), ("resume", []), ("wait", ["More"])):
        clock.tick()
        await getattr(memoranda.runs, verb)(acme.owner, run.id, *said)
        moments.append(clock.now)
    told = [
        (await build(memoranda, acme, "run_history", user_id=acme.anna.id, as_of=moment)).text
        for moment in moments
    ]
    said = [line.rpartition("] ")[2] for text in told for line in text.splitlines()[1:]]
    assert said == [
        "Run running: running",
        "Run waiting: waiting; waits for: Approval",
        "Run running: running",
        "Run waiting: waiting; waits for: More",
    ]


async def test_rows_are_named_by_a_result_only_from_its_end_on(
    memoranda: Memoranda, acme: Tenant, other: Tenant, clock: SteppedClock
) -> None:
    run = await memoranda.runs.create(acme.owner, user_id=acme.ben.id)
    before = clock.tick()
    clock.tick()
    await memoranda.runs.complete(acme.owner, run.id, refs=[DEAL])
    after = clock.tick()
    asked: dict[str, Any] = {"entities": [DEAL]}
    assert (await build(memoranda, acme, as_of=before, **asked)).items == []
    assert str(run.id) in (await build(memoranda, acme, as_of=after, **asked)).text
    assert (await build(memoranda, other, as_of=after, **asked)).items == []


async def test_a_run_of_which_nothing_was_recorded_is_no_guess(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock
) -> None:
    run = await memoranda.runs.create(acme.owner, user_id=acme.anna.id)
    then = clock.tick()
    clock.tick()
    await memoranda.runs.complete(acme.owner, run.id)

    def lose(tx: Transaction) -> int:
        return tx.run(run_changes.delete())

    assert acme.owner.organization_id is not None
    await memoranda.storage.write(acme.owner.organization_id, lose)
    brief = await build(memoranda, acme, user_id=acme.anna.id, as_of=then)
    assert brief.failure_reasons == {"run_history": "gone"}


async def test_what_knows_the_present_alone_is_missing_and_said_to_be(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock
) -> None:
    await memoranda.memories.remember(acme.owner, "Tea is at five.")
    await memoranda.knowledge.add(acme.owner, b"# Tea\n\nTea is at six.", title="Tea")
    await memoranda.worker.drain(acme.owner.organization_id)
    then = clock.tick()
    brief = await build(memoranda, acme, *DATED, *PRESENT, as_of=then)
    first, *rest = brief.text.splitlines()
    assert first.startswith("Unavailable sources: ")
    assert all(name in first for name in PRESENT)
    assert "Tea is at five." in "\n".join(rest)
    assert "six" not in brief.text
    assert sorted(brief.failed_sources) == sorted(PRESENT)
    for name in PRESENT:
        assert brief.failure_reasons[name] == "present_only"
        assert (brief.times[name].speaks_for, brief.times[name].note) == (None, PRESENT_ONLY)
    for name in DATED:
        assert brief.times[name].speaks_for == then
    assert "about a row" in brief.times["memory"].note
    now = await build(memoranda, acme, *DATED, *PRESENT)
    assert (now.failed_sources, now.as_of, now.times) == ([], None, {})


async def test_a_required_source_that_cannot_tell_of_then_is_gone_and_no_fault(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock
) -> None:
    with pytest.raises(Gone) as gone:
        await build(memoranda, acme, policy=policy("dossier", required=True), as_of=clock.now)
    assert "dossier" in gone.value.message
    assert gone.value.details["sources"] == ["dossier"]
    with pytest.raises(RequiredContextSourceError):
        await build(memoranda, acme, policy=policy("application", required=True), as_of=clock.now)


async def test_what_was_erased_since_makes_the_past_of_its_readers_gone_and_of_nobody_else(
    memoranda: Memoranda, acme: Tenant, other: Tenant, clock: SteppedClock
) -> None:
    for tenant in (acme, other):
        await memoranda.memories.remember(tenant.owner, "Tea is at five.")
    kept = await memoranda.memories.remember(acme.owner, "Ada.", user_id=acme.anna.id)
    await memoranda.memories.remember(acme.owner, "Ben.", user_id=acme.ben.id)
    then = clock.tick()
    clock.tick()
    await memoranda.removal.erase(acme.owner, kept.id)
    brief = await build(memoranda, acme, as_of=then, user_id=acme.anna.id)
    assert brief.failure_reasons == {"personal_memory": "gone"}
    assert brief.times["personal_memory"].speaks_for is None
    assert "erased or purged" in brief.times["personal_memory"].note
    assert "Tea is at five." in brief.text
    assert "personal_memory" in brief.text.splitlines()[0]
    bens = await build(memoranda, acme, as_of=then, user_id=acme.ben.id)
    assert (bens.failed_sources, "Ben." in bens.text) == ([], True)
    assert (await build(memoranda, other, as_of=then)).failed_sources == []
    after = await build(memoranda, acme, as_of=clock.now, user_id=acme.anna.id)
    assert after.failed_sources == []


async def test_what_was_erased_for_an_agent_is_gone_for_whoever_was_told_of_it(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock
) -> None:
    kept = await memoranda.memories.remember(acme.owner, "Scout.", agent_id=acme.scout.id)
    then = clock.tick()
    clock.tick()
    await memoranda.removal.erase(acme.owner, kept.id)
    for asked, failed in (
        ({"agent_id": acme.scout.id}, ["memory"]),
        ({"agent_id": acme.clerk.id}, []),
        ({}, ["memory"]),
        ({"user_id": acme.anna.id}, ["memory"]),
    ):
        assert (await build(memoranda, acme, as_of=then, **asked)).failed_sources == failed


async def test_what_began_later_or_was_never_told_hides_nothing_of_the_time_before(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock
) -> None:
    await memoranda.memories.remember(acme.owner, "Tea is at five.")
    agent = acme.key_of(acme.scout)
    asked = await memoranda.proposals.propose(agent, "Scout likes tea.")
    then = clock.tick()
    clock.tick()
    later = await memoranda.memories.remember(acme.owner, "Coffee is at six.")
    assert asked.proposal is not None
    await memoranda.proposals.discard(acme.owner, asked.proposal.id)
    with_it = clock.tick()
    clock.tick()
    await memoranda.removal.erase(acme.owner, later.id)
    brief = await build(memoranda, acme, "memory", as_of=then)
    assert brief.failed_sources == []
    assert "Tea is at five." in brief.text
    assert (await build(memoranda, acme, as_of=with_it)).failed_sources == ["memory"]


async def test_a_purge_makes_gone_only_what_came_before_it_was_forgotten(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock
) -> None:
    kept = await memoranda.memories.remember(acme.owner, "Tea is at five.")
    then = clock.tick()
    clock.tick()
    await memoranda.memories.forget(acme.owner, kept.id)
    forgotten = clock.now
    clock.tick(KEPT_WHEN_FORGOTTEN - timedelta(seconds=1))
    assert "five" in (await build(memoranda, acme, "memory", as_of=then)).text
    clock.tick()
    assert acme.owner.organization_id is not None
    assert await memoranda.removal.purge_due(acme.owner.organization_id) == 1
    assert (await build(memoranda, acme, "memory", as_of=then)).failure_reasons == {
        "memory": "gone"
    }
    assert (await build(memoranda, acme, "memory", as_of=forgotten)).failed_sources == []


async def test_a_time_to_come_or_without_a_zone_is_refused(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock
) -> None:
    for wrong in (clock.now + timedelta(seconds=1), datetime(2026, 1, 1)):  # noqa: DTZ001 - the fault
        with pytest.raises(Invalid) as refused:
            await build(memoranda, acme, as_of=wrong)
        assert refused.value.details["field"] == "as_of"
    long_ago = await build(memoranda, acme, as_of=datetime(1990, 1, 1, tzinfo=UTC))
    assert (long_ago.text, long_ago.failed_sources) == ("", [])


async def test_the_past_is_for_people_and_no_agent_is_told_what_has_been_forgotten(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock
) -> None:
    kept = await memoranda.memories.remember(acme.owner, "Anna takes milk.", user_id=acme.anna.id)
    then = clock.tick()
    clock.tick()
    await memoranda.memories.forget(acme.owner, kept.id)
    asked: dict[str, Any] = {"policy": policy("personal_memory"), "as_of": then}
    for who in (acme.key_of(acme.scout), acme.key_of(acme.scout, acme.anna)):
        with pytest.raises(Refused):
            await memoranda.briefs.build(who, "q", **asked)
    anna = await memoranda.briefs.build(acme.member(acme.anna), "q", **asked)
    assert "Anna takes milk." in anna.text
    ben = await memoranda.briefs.build(acme.member(acme.ben), "q", **asked)
    assert ben.items == []
    for who in (acme.reader, acme.owner):
        read = await memoranda.briefs.build(who, "q", user_id=acme.anna.id, **asked)
        assert read.text == anna.text


async def test_a_past_brief_for_a_run_is_about_its_rows_and_leaves_it_out(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock
) -> None:
    trigger = new_id()
    done = await memoranda.runs.create(acme.owner, user_id=acme.ben.id)
    await memoranda.runs.complete(acme.owner, done.id, refs=[DEAL])
    given = {"refs": [{"kind": "crm.deal", "id": "7"}]}
    run = await memoranda.runs.create(acme.owner, trigger_id=trigger, input=given)
    then = clock.tick()
    clock.tick()
    brief = await build(memoranda, acme, as_of=then, run_id=run.id, trigger_id=trigger)
    assert brief.items[0] == ResourceRef(kind="run", id=str(done.id))
    assert str(run.id) not in brief.text
    assert brief.stable_prefix_bytes is None
