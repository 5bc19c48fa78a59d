"""What becomes of runs, on every database: who may say it, what is kept, and who is told."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from memoranda.access.models import Principal
from memoranda.runs.events.service import Events
from memoranda.runs.models import Run, RunStatus
from memoranda.runs.service import Runs
from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import run_refs
from memoranda.words.errors import Conflict, Invalid, NotFound, OverLimit, ReadOnly, Refused
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant, new_tenant

Change = Callable[[Runs, Principal, Run], Awaitable[Run]]
CHANGES: dict[str, Change] = {
    "wait": lambda runs, who, run: runs.wait(who, run.id, "Approval of the offer"),
    "complete": lambda runs, who, run: runs.complete(who, run.id, summary="Sent"),
    "fail": lambda runs, who, run: runs.fail(who, run.id, "No answer"),
    "cancel": lambda runs, who, run: runs.cancel(who, run.id),
    "resume": lambda runs, who, run: runs.resume(who, run.id),
}


@pytest.fixture
def runs(storage: Storage) -> Runs:
    return Runs(storage)


@pytest.fixture
async def acme(storage: Storage) -> Tenant:
    return await new_tenant(storage)


@pytest.fixture
async def other(storage: Storage) -> Tenant:
    return await new_tenant(storage, "Other")


async def test_a_run_that_waited_and_was_completed_reads_back_with_all_that_became_of_it(
    runs: Runs, acme: Tenant
) -> None:
    made = await runs.create(acme.owner, user_id=acme.anna.id)
    assert (made.stage, made.result, made.ended_at) == (0, None, None)
    waiting = await runs.wait(acme.owner, made.id, "Approval")
    assert (waiting.status, waiting.waiting_reason) == (RunStatus.WAITING, "Approval")
    assert (await runs.resume(acme.owner, made.id)).stage == 1
    done = await runs.complete(
        acme.owner, made.id, summary="Größe ☃", refs=[{"kind": "crm.deal", "id": "7", "label": "B"}]
    )
    assert done.result is not None
    assert (done.status, done.stage, done.result.summary) == (RunStatus.COMPLETED, 1, "Größe ☃")
    assert [(ref.kind, ref.id, ref.label) for ref in done.result.refs] == [("crm.deal", "7", None)]
    assert done.ended_at == done.updated_at
    assert await runs.get(acme.owner, made.id) == done


@pytest.mark.parametrize("ends", ["complete", "fail", "cancel"])
async def test_a_run_that_has_ended_never_changes(runs: Runs, acme: Tenant, ends: str) -> None:
    made = await runs.create(acme.owner)
    ended = await CHANGES[ends](runs, acme.owner, made)
    for change in CHANGES.values():
        with pytest.raises(Conflict) as refused:
            await change(runs, acme.owner, made)
        assert refused.value.details["status"] == ended.status
    assert await runs.get(acme.owner, made.id) == ended


async def test_each_change_is_one_activity_and_one_event_of_ids_and_counts(
    storage: Storage, acme: Tenant
) -> None:
    woken: list[object] = []
    runs = Runs(storage, woken.append)
    made = await runs.create(acme.owner, user_id=acme.anna.id, agent_id=acme.scout.id)
    await runs.wait(acme.owner, made.id, "Secret reason")
    await runs.resume(acme.owner, made.id)
    await runs.complete(acme.owner, made.id, summary="Secret", refs=[{"kind": "a", "id": "secret"}])
    with pytest.raises(Conflict):
        await runs.cancel(acme.owner, made.id)
    activities = (await runs.activities(acme.owner)).items
    actions = ["completed", "resumed", "waiting", "started"]
    assert [each.type for each in activities] == [f"run_{action}" for action in actions]
    assert {each.subject_id for each in activities} == {made.id}
    assert activities[0].metadata == {"stage": 1, "refs": 1}
    told = (await Events(storage).page(acme.owner, 0)).items
    assert [each.metadata["action"] for each in told] == actions[::-1]
    assert {(each.type, each.user_id, each.agent_id) for each in told} == {
        ("run.updated", acme.anna.id, acme.scout.id)
    }
    assert told[-1].metadata == {"run_id": str(made.id), "action": "completed", "stage": 1}
    assert "ecret" not in str(activities) + str(told)
    assert woken == [acme.owner.organization_id] * 4


async def test_whoever_is_bound_hears_of_its_own_runs_alone(
    storage: Storage, runs: Runs, acme: Tenant
) -> None:
    await runs.create(acme.owner, user_id=acme.ben.id)
    mine = await runs.create(acme.owner, user_id=acme.anna.id)
    told = (await Events(storage).page(acme.member(acme.anna), 0)).items
    assert [each.metadata["run_id"] for each in told] == [str(mine.id)]


@pytest.mark.parametrize("name", CHANGES)
async def test_nobody_changes_a_run_that_it_may_not_know_of(
    runs: Runs, acme: Tenant, other: Tenant, name: str
) -> None:
    made = await runs.create(acme.owner, user_id=acme.anna.id, agent_id=acme.scout.id)
    for who in (
        other.owner,
        acme.member(acme.ben),
        acme.key_of(acme.clerk, acme.anna),
        acme.key_of(acme.scout),
    ):
        with pytest.raises(NotFound):
            await CHANGES[name](runs, who, made)
    with pytest.raises(ReadOnly):
        await CHANGES[name](runs, acme.reader, made)
    assert await runs.get(acme.owner, made.id) == made


async def test_an_agent_reports_its_own_run(runs: Runs, acme: Tenant) -> None:
    scout = acme.key_of(acme.scout, acme.anna)
    made = await runs.create(scout)
    assert (await runs.wait(scout, made.id, "Approval")).status is RunStatus.WAITING
    assert (await runs.cancel(scout, made.id)).status is RunStatus.CANCELLED


async def test_what_can_not_be_kept_is_refused_and_the_run_goes_on(
    runs: Runs, acme: Tenant
) -> None:
    made = await runs.create(acme.owner)
    for reason in ("", " ", "nul\0", "\ud800"):
        with pytest.raises(Invalid):
            await runs.wait(acme.owner, made.id, reason)
        with pytest.raises(Invalid):
            await runs.fail(acme.owner, made.id, reason)
    with pytest.raises(OverLimit):
        await runs.fail(acme.owner, made.id, "x" * 1_001)
    with pytest.raises(Invalid):
        await runs.complete(acme.owner, made.id, refs=[{"kind": "a"}])
    longest = {"kind": "\U0001f600" * 100, "id": "\U0001f600" * 500}
    assert await runs.get(acme.owner, made.id) == made
    done = await runs.complete(acme.owner, made.id, refs=[longest])
    assert done.result is not None
    assert len(done.result.refs) == 1


async def test_of_many_that_end_a_run_at_once_one_does(
    storage: Storage, runs: Runs, acme: Tenant
) -> None:
    made = await runs.create(acme.owner)
    ways = [
        *(runs.complete(acme.owner, made.id, refs=[{"kind": "a", "id": "1"}]) for _ in range(4)),
        *(runs.fail(acme.owner, made.id, "No answer") for _ in range(4)),
    ]
    answers = await asyncio.gather(*ways, return_exceptions=True)
    ended = [each for each in answers if isinstance(each, Run)]
    assert len(ended) == 1
    assert all(isinstance(each, Conflict) for each in answers if not isinstance(each, Run))
    assert await runs.get(acme.owner, made.id) == ended[0]
    assert len((await runs.activities(acme.owner)).items) == 2
    assert await rows_named(storage, acme) == (1 if ended[0].result else 0)


async def rows_named(storage: Storage, tenant: Tenant) -> int:
    def read(tx: Transaction) -> int:
        return len(tx.all(run_refs.select()))

    assert tenant.owner.organization_id is not None
    return await storage.read(tenant.owner.organization_id, read)


# --- lists -----------------------------------------------------------------------------------


async def listed(runs: Runs, who: Principal, **wanted: Any) -> list[Any]:
    """The ids of all pages of two."""
    found: list[Any] = []
    cursor = None
    while True:
        page = await runs.page(who, limit=2, cursor=cursor, **wanted)
        found += [each.id for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return found


async def test_runs_are_listed_newest_first_by_what_is_wanted_of_them(
    runs: Runs, acme: Tenant, other: Tenant
) -> None:
    await runs.create(other.owner)
    parent = await runs.create(acme.owner)
    child = await runs.create(acme.owner, parent_id=parent.id, user_id=acme.anna.id)
    scouts = await runs.create(acme.owner, agent_id=acme.scout.id)
    both = await runs.create(acme.owner, agent_id=acme.scout.id, user_id=acme.anna.id)
    await runs.wait(acme.owner, both.id, "Approval")
    assert await listed(runs, acme.owner) == [both.id, scouts.id, child.id, parent.id]
    assert await listed(runs, acme.reader, user_id=acme.anna.id) == [both.id, child.id]
    assert await listed(runs, acme.owner, agent_id=acme.scout.id) == [both.id, scouts.id]
    assert await listed(runs, acme.owner, parent_id=parent.id) == [child.id]
    assert await listed(runs, acme.owner, status=RunStatus.WAITING) == [both.id]
    assert await listed(runs, acme.owner, status=RunStatus.FAILED) == []
    assert (
        await listed(
            runs,
            acme.owner,
            status=RunStatus.WAITING,
            agent_id=acme.scout.id,
            user_id=acme.anna.id,
            parent_id=parent.id,
        )
        == []
    )


async def test_a_list_holds_what_its_reader_may_get_whole(runs: Runs, acme: Tenant) -> None:
    made = [
        await runs.create(acme.owner, **named)
        for named in (
            {},
            {"user_id": acme.anna.id},
            {"user_id": acme.ben.id, "agent_id": acme.scout.id},
            {"agent_id": acme.scout.id},
            {"user_id": acme.anna.id, "agent_id": acme.scout.id},
        )
    ]
    for who in (
        acme.owner,
        acme.reader,
        acme.member(acme.anna),
        acme.key_of(acme.scout),
        acme.key_of(acme.scout, acme.anna),
    ):
        may = []
        for run in made[::-1]:
            try:
                found = await runs.get(who, run.id)
            except NotFound:
                continue
            may += [found.id] if found.whole else []
        assert await listed(runs, who) == may
    with pytest.raises(Refused):
        await runs.page(acme.member(acme.anna), user_id=acme.ben.id)
    with pytest.raises(Invalid):
        await runs.page(acme.owner, cursor="x")


async def test_nothing_of_another_organization_is_listed_by_its_ids(
    runs: Runs, acme: Tenant, other: Tenant
) -> None:
    parent = await runs.create(acme.owner)
    await runs.create(acme.owner, parent_id=parent.id, user_id=acme.anna.id, agent_id=acme.scout.id)
    for named in (
        {"parent_id": parent.id},
        {"user_id": acme.anna.id},
        {"agent_id": acme.scout.id},
        {"user_id": new_id()},
    ):
        assert await listed(runs, other.owner, **named) == []
