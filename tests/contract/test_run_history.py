"""What a brief is told of earlier runs: which, in what order, in which words, and nothing else of them."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from memoranda import Memoranda
from memoranda.access.models import Principal
from memoranda.access.roles import sees
from memoranda.briefs.models import ContextBrief, ContextItem, ContextRequest, ContextSourceSpec
from memoranda.briefs.sources.run_history import LONGEST_ID, RunHistorySource
from memoranda.runs.history.service import RunHistory
from memoranda.runs.models import Run
from memoranda.words.errors import NotFound
from memoranda.words.ids import new_id
from memoranda.words.ref import ResourceRef
from memoranda.words.subject import ContextSubject
from tests.contract.tenants import Tenant, new_tenant

DEAL = ResourceRef(kind="crm.deal", id="7")


class Time:
    """A clock that a test turns."""

    def __init__(self) -> None:
        self.now = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def passes(self, **time: float) -> None:
        self.now += timedelta(**time)


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
async def memoranda(database_url: str, time: Time) -> AsyncIterator[Memoranda]:
    async with Memoranda.open(database_url, clock=time, migrate=False) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


@pytest.fixture
async def other(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage, "Other")


async def done(memoranda: Memoranda, tenant: Tenant, *refs: ResourceRef, **named: Any) -> Run:
    run = await memoranda.runs.create(tenant.owner, **named)
    return await memoranda.runs.complete(tenant.owner, run.id, summary="Sent", refs=refs)


async def told(
    memoranda: Memoranda,
    tenant: Tenant,
    *,
    user_id: UUID | None = None,
    trigger_id: UUID | None = None,
    entities: Sequence[ResourceRef] = (),
    run_id: UUID | None = None,
    limit: int | None = None,
    **options: Any,
) -> list[ContextItem]:
    """What the source answers."""
    assert tenant.owner.organization_id is not None
    subject = ContextSubject(
        organization_id=tenant.owner.organization_id, user_id=user_id, trigger_id=trigger_id
    )
    request = ContextRequest(subject=subject, query="q", entities=list(entities), run_id=run_id)
    spec = ContextSourceSpec(name="run_history", token_budget=1_000, limit=limit, options=options)
    return await RunHistorySource(RunHistory(memoranda.storage)).retrieve(request, spec)


def ids(items: Sequence[ContextItem]) -> list[str]:
    return [item.ref.id for item in items if item.ref]


def only_history(**spec: Any) -> dict[str, Any]:
    source = {"name": "run_history", "token_budget": 2_000, **spec}
    return {"sources": [source], "total_token_budget": 2_000}


async def history(memoranda: Memoranda, tenant: Tenant, **asked: Any) -> ContextBrief:
    return await memoranda.briefs.build(tenant.owner, "q", policy=only_history(), **asked)


async def test_runs_of_the_same_user_or_trigger_or_about_the_same_rows_are_told_newest_first(
    memoranda: Memoranda, acme: Tenant, time: Time
) -> None:
    trigger = new_id()
    made = []
    for named, refs in (
        ({"user_id": acme.anna.id}, ()),
        ({"trigger_id": trigger}, ()),
        ({"user_id": acme.ben.id}, (ResourceRef(kind="crm.deal", id="1"), DEAL)),
        ({"user_id": acme.anna.id, "trigger_id": trigger}, (DEAL,)),
    ):
        made.append(str((await done(memoranda, acme, *refs, **named)).id))
        time.passes(minutes=1)
    await done(memoranda, acme, ResourceRef(kind="crm.deal", id="8"), user_id=acme.ben.id)
    await done(memoranda, acme, ResourceRef(kind="crm.person", id="7"))
    asked = {"user_id": acme.anna.id, "trigger_id": trigger, "entities": [DEAL, DEAL]}
    assert ids(await told(memoranda, acme, **asked)) == made[::-1]
    assert ids(await told(memoranda, acme, user_id=acme.anna.id)) == [made[3], made[0]]
    assert ids(await told(memoranda, acme, trigger_id=trigger)) == [made[3], made[1]]
    labelled = ResourceRef(kind="crm.deal", id="7", label="The big one")
    assert ids(await told(memoranda, acme, entities=[labelled])) == [made[3], made[2]]
    assert await told(memoranda, acme) == []


async def test_rows_of_however_many_kinds_are_looked_for(
    memoranda: Memoranda, acme: Tenant, time: Time
) -> None:
    rows = [ResourceRef(kind=f"kind{n}", id=str(n % 7)) for n in range(40)]
    made = []
    for first in (0, 20, 39):
        made.append(str((await done(memoranda, acme, *rows[first : first + 2])).id))
        time.passes(minutes=1)
    await done(memoranda, acme, ResourceRef(kind="kind0", id="1"))
    assert ids(await told(memoranda, acme, entities=rows)) == made[::-1]
    assert ids(await told(memoranda, acme, entities=rows[15:30])) == [made[1]]
    assert ids(await told(memoranda, acme, entities=rows, limit=2)) == made[:0:-1]


async def test_runs_of_one_moment_are_told_in_the_order_of_their_ids(
    memoranda: Memoranda, acme: Tenant
) -> None:
    made = [str((await done(memoranda, acme, user_id=acme.anna.id)).id) for _ in range(7)]
    asked = {"user_id": acme.anna.id, "entities": [DEAL]}
    assert ids(await told(memoranda, acme, **asked)) == sorted(made, reverse=True)[:5]
    assert ids(await told(memoranda, acme, limit=6, **asked)) == sorted(made, reverse=True)[:6]


async def test_children_are_told_like_any_other_and_the_current_run_never_is(
    memoranda: Memoranda, acme: Tenant
) -> None:
    parent = await memoranda.runs.create(acme.owner, user_id=acme.anna.id)
    child = await done(memoranda, acme, DEAL, user_id=acme.anna.id, parent_id=parent.id)
    asked = {"user_id": acme.anna.id, "entities": [DEAL]}
    assert ids(await told(memoranda, acme, run_id=parent.id, **asked)) == [str(child.id)]
    assert ids(await told(memoranda, acme, run_id=child.id, **asked)) == [str(parent.id)]


async def test_runs_from_before_the_time_that_is_looked_back_to_are_not_told(
    memoranda: Memoranda, acme: Tenant, time: Time
) -> None:
    old = await done(memoranda, acme, DEAL, user_id=acme.anna.id)
    ways: list[dict[str, Any]] = [{"user_id": acme.anna.id}, {"entities": [DEAL]}]
    time.passes(hours=24)
    for way in ways:
        assert ids(await told(memoranda, acme, **way)) == [str(old.id)]
    time.passes(seconds=1)
    for way in ways:
        assert await told(memoranda, acme, **way) == []
        assert ids(await told(memoranda, acme, lookback_hours=25, **way)) == [str(old.id)]


async def test_a_limit_of_zero_reads_nothing(memoranda: Memoranda, acme: Tenant) -> None:
    await done(memoranda, acme, user_id=acme.anna.id)
    await memoranda.storage.close()
    assert await told(memoranda, acme, user_id=acme.anna.id, limit=0) == []


async def test_an_item_says_the_status_first_then_the_parent_summary_and_rows(
    memoranda: Memoranda, acme: Tenant, time: Time
) -> None:
    parent = await memoranda.runs.create(acme.owner)
    person = ResourceRef(kind="crm.person", id="ada-8")
    run = await done(memoranda, acme, DEAL, person, user_id=acme.anna.id, parent_id=parent.id)
    [item] = await told(memoranda, acme, user_id=acme.anna.id)
    assert item.title == "Run completed"
    assert item.body == (
        f"completed; part of run {parent.id}; Sent; results: crm.deal 7, crm.person ada-8"
    )
    assert (item.ref, item.body_refs) == (
        ResourceRef(kind="run", id=str(run.id)),
        [DEAL, person],
    )
    assert (item.recorded_at, item.subject_key) == (time.now, None)


async def test_an_item_ends_with_why_its_run_waits_or_failed(
    memoranda: Memoranda, acme: Tenant
) -> None:
    run = await memoranda.runs.create(acme.owner, user_id=acme.anna.id)
    bodies = []
    for step in ("wait", "resume", "fail"):
        verb = getattr(memoranda.runs, step)
        await verb(acme.owner, run.id, *([] if step == "resume" else [f"because of {step}"]))
        bodies += [each.body for each in await told(memoranda, acme, user_id=acme.anna.id)]
    assert bodies == [
        "waiting; waits for: because of wait",
        "running",
        "failed; failed because: because of fail",
    ]


async def test_nothing_else_of_a_run_reaches_a_brief(memoranda: Memoranda, acme: Tenant) -> None:
    run = await memoranda.runs.create(
        acme.owner, user_id=acme.anna.id, agent_id=acme.scout.id, input={"secret": "marigold"}
    )
    await memoranda.runs.log(acme.owner, run.id, "marigold", metadata={"marigold": 1})
    brief = await history(memoranda, acme, user_id=acme.anna.id)
    assert str(run.id) in brief.text
    for hidden in ("marigold", str(acme.anna.id), str(acme.scout.id)):
        assert hidden not in brief.text


async def test_a_row_that_a_brief_shows_whole_may_be_cited_and_one_that_it_rewrites_may_not(
    memoranda: Memoranda, acme: Tenant
) -> None:
    whole = ResourceRef(kind="crm.deal", id="x" * LONGEST_ID)
    cut = ResourceRef(kind="crm.deal", id="y" * (LONGEST_ID + 1))
    bracketed = ResourceRef(kind="crm.deal", id="a[0]")
    spaced = ResourceRef(kind="crm.deal", id="two  spaces")
    run = await done(memoranda, acme, whole, cut, bracketed, spaced, user_id=acme.anna.id)
    [item] = await told(memoranda, acme, user_id=acme.anna.id)
    assert cut not in item.body_refs
    brief = await history(memoranda, acme, user_id=acme.anna.id)
    assert brief.items == [ResourceRef(kind="run", id=str(run.id)), whole]
    assert cut.id not in brief.text
    assert cut.id[: LONGEST_ID - 1] + "…" in brief.text


async def test_the_rows_of_a_run_that_the_budget_cuts_may_not_be_cited(
    memoranda: Memoranda, acme: Tenant
) -> None:
    await done(memoranda, acme, DEAL, user_id=acme.anna.id)
    brief = await memoranda.briefs.build(
        acme.owner, "q", policy=only_history(token_budget=3), user_id=acme.anna.id
    )
    assert (brief.items, brief.dropped) == ([], {"run_history": 1})


async def test_the_default_policy_reads_history_and_a_run_is_about_the_rows_of_its_input(
    memoranda: Memoranda, acme: Tenant
) -> None:
    earlier = await done(memoranda, acme, DEAL)
    given = {"refs": [{"kind": "crm.deal", "id": "7"}, {"kind": "crm.deal"}, "7"]}
    run = await memoranda.runs.create(acme.owner, input=given)
    brief = await memoranda.briefs.build(acme.owner, "q", run_id=run.id)
    assert f"[run:{earlier.id}] Run completed" in brief.text
    assert (await memoranda.runs.get(acme.owner, run.id)).input == given
    others = [{"kind": "crm.deal", "id": "8"}]
    brief = await memoranda.briefs.build(acme.owner, "q", run_id=run.id, entities=others)
    assert brief.text == ""


async def test_runs_of_another_organization_are_never_told(
    memoranda: Memoranda, acme: Tenant, other: Tenant
) -> None:
    trigger = new_id()
    await done(memoranda, acme, DEAL, user_id=acme.anna.id, trigger_id=trigger)
    asked = {"user_id": acme.anna.id, "trigger_id": trigger, "entities": [DEAL]}
    assert len(await told(memoranda, acme, **asked)) == 1
    assert await told(memoranda, other, **asked) == []


# --- whoever is told of a run can look it up, and nobody else ----------------------------------


def readers(tenant: Tenant) -> list[Principal]:
    return [
        tenant.owner,
        tenant.reader,
        tenant.member(tenant.anna),
        tenant.member(tenant.ben),
        tenant.key_of(tenant.scout),
        tenant.key_of(tenant.clerk),
        tenant.key_of(tenant.scout, tenant.anna),
        tenant.key_of(tenant.clerk, tenant.ben),
    ]


async def test_each_run_that_a_brief_cites_can_be_looked_up_and_no_other(
    memoranda: Memoranda, acme: Tenant, other: Tenant, time: Time
) -> None:
    """The list of history and the single run are told within one boundary."""
    trigger = new_id()
    subjects: list[dict[str, Any]] = [
        {},
        {"user_id": acme.anna.id},
        {"user_id": acme.ben.id, "agent_id": acme.scout.id},
        {"agent_id": acme.clerk.id},
        {"trigger_id": trigger},
    ]
    made = [
        await done(memoranda, acme, *refs, **named) for named in subjects for refs in ((), (DEAL,))
    ]
    time.passes(minutes=1)
    for who in readers(acme):
        cited = await _cited(memoranda, who, trigger)
        for run in made:
            alone = sees(who, user_id=run.user_id, agent_id=run.agent_id)
            if run.id in cited or alone:
                assert (await memoranda.runs.get(who, run.id)).whole is alone
            else:
                with pytest.raises(NotFound):
                    await memoranda.runs.get(who, run.id)
    for run in made:
        with pytest.raises(NotFound):
            await memoranda.runs.get(other.owner, run.id)


async def _cited(memoranda: Memoranda, who: Principal, trigger: UUID) -> set[UUID]:
    """The runs that any brief which this caller may ask for cites."""
    policy = only_history(limit=100)
    asked: dict[str, Any] = {"policy": policy, "entities": [DEAL], "trigger_id": trigger}
    brief = await memoranda.briefs.build(who, "q", **asked)
    return {UUID(ref.id) for ref in brief.items if ref.kind == "run"}


async def test_of_anothers_run_nothing_is_told_but_what_history_tells(
    memoranda: Memoranda, acme: Tenant
) -> None:
    named = {"user_id": acme.ben.id, "agent_id": acme.scout.id, "trigger_id": new_id()}
    run = await memoranda.runs.create(acme.owner, input={"secret": "marigold"}, **named)
    await memoranda.briefs.for_run(acme.owner, run.id, "q")
    await memoranda.runs.log(acme.owner, run.id, "marigold")
    whole = await memoranda.runs.complete(acme.owner, run.id, summary="Sent", refs=[DEAL])
    anna = acme.member(acme.anna)
    seen = await memoranda.runs.get(anna, run.id)
    assert (seen.status, seen.result, seen.created_at) == (
        whole.status,
        whole.result,
        whole.created_at,
    )
    assert (seen.whole, seen.input, seen.entities) == (False, None, [])
    assert {seen.user_id, seen.agent_id, seen.trigger_id} == {None}
    for looking in (
        memoranda.runs.logs(anna, run.id),
        memoranda.runs.own(anna, run.id),
        memoranda.briefs.block(anna, run.id),
        memoranda.briefs.for_run(anna, run.id, "q"),
        memoranda.briefs.build(anna, "q", run_id=run.id),
        memoranda.runs.create(anna, parent_id=run.id),
        memoranda.runs.cancel(anna, run.id),
    ):
        with pytest.raises(NotFound):
            await looking
    assert run.id not in [each.id for each in (await memoranda.runs.page(anna)).items]


async def test_looking_back_from_the_first_days_of_the_calendar_finds_no_run(
    memoranda: Memoranda, acme: Tenant
) -> None:
    run = await done(memoranda, acme, DEAL, user_id=acme.anna.id)
    subject = ContextSubject(organization_id=acme.owner.organization_id, user_id=acme.anna.id)
    earlier = RunHistory(memoranda.storage).earlier
    for then, found in (
        (datetime(1, 1, 1, tzinfo=UTC), []),
        (datetime(1970, 1, 1, tzinfo=UTC), []),
        (run.created_at, [run.id]),
    ):
        past = await earlier(subject, [DEAL], lookback=timedelta(days=30), limit=5, as_of=then)
        assert [each.id for each in past] == found
