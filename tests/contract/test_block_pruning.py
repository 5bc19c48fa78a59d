"""Blocks that were kept long enough, on every database: the words go, and what explains them stays."""

from collections.abc import AsyncIterator
from datetime import time, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from memoranda import Memoranda
from memoranda.briefs.blocks.bare import bare_account, bare_explain
from memoranda.jobs.nightly import Nightly
from memoranda.runs.models import Run
from memoranda.settings import Settings
from memoranda.storage import Transaction
from memoranda.storage.tables import run_blocks
from memoranda.words.errors import Erased, Gone
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.tenants import Tenant, new_tenant

KEPT = timedelta(days=7)


@pytest.fixture
async def memoranda(
    database_url: str, clock: SteppedClock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Memoranda]:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    settings = Settings.load(blocks_days=KEPT.days)
    async with Memoranda.open(
        database_url, settings=settings, clock=clock, migrate=False
    ) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


@pytest.fixture
async def other(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage, "Other")


async def prune(memoranda: Memoranda, tenant: Tenant) -> int:
    assert tenant.owner.organization_id is not None
    return await memoranda.briefs.prune_blocks(tenant.owner.organization_id)


async def told(memoranda: Memoranda, tenant: Tenant, *, ended: bool = True) -> Run:
    """A run that was given a block, and what of it a scan of the table would find."""
    run = await memoranda.runs.create(tenant.owner)
    await memoranda.briefs.for_run(tenant.owner, run.id, "tea")
    if ended:
        await memoranda.runs.complete(tenant.owner, run.id)
    return run


async def stored(memoranda: Memoranda, tenant: Tenant) -> str:
    def read(tx: Transaction) -> list[Any]:
        return tx.all(run_blocks.select())

    assert tenant.owner.organization_id is not None
    return str(await memoranda.storage.read(tenant.owner.organization_id, read))


async def test_the_words_go_when_they_were_kept_long_enough_and_not_before(
    memoranda: Memoranda, acme: Tenant, other: Tenant, clock: SteppedClock
) -> None:
    for tenant in (acme, other):
        await memoranda.memories.remember(tenant.owner, "Marigold.", title="Marigold")
    run = await told(memoranda, acme)
    before = await memoranda.briefs.block(acme.owner, run.id, explain=True)
    theirs = await told(memoranda, other)
    clock.tick(KEPT)
    assert await prune(memoranda, acme) == 0
    clock.tick(timedelta(microseconds=1))
    assert await prune(memoranda, acme) == 1
    assert await prune(memoranda, acme) == 0
    assert "arigold" not in await stored(memoranda, acme)
    kept = await memoranda.briefs.block(acme.owner, run.id, explain=True)
    assert (kept.pruned, kept.brief.text) == (True, "")
    assert kept.brief.digest == before.brief.digest
    assert kept.brief.tokens == before.brief.tokens
    assert kept.brief.items == before.brief.items
    assert kept.brief.per_source_tokens == before.brief.per_source_tokens
    assert (kept.policy, kept.built_at, kept.stage) == (before.policy, before.built_at, 0)
    rows = [(each.ref, each.outcome, each.tokens) for each in before.brief.explain or ()]
    assert [(each.ref, each.outcome, each.tokens) for each in kept.brief.explain or ()] == rows
    assert rows
    assert not (await memoranda.briefs.block(other.owner, theirs.id)).pruned


async def test_a_run_is_never_given_a_block_without_its_words(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock
) -> None:
    await memoranda.memories.remember(acme.owner, "Marigold.")
    run = await told(memoranda, acme)
    clock.tick(KEPT * 2)
    await prune(memoranda, acme)
    with pytest.raises(Gone) as gone:
        await memoranda.briefs.for_run(acme.owner, run.id, "tea", refresh=True)
    assert gone.value.code == "gone"


async def test_a_run_that_goes_on_keeps_its_newest_block_however_old(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock
) -> None:
    await memoranda.memories.remember(acme.owner, "Marigold.")
    run = await told(memoranda, acme, ended=False)
    clock.tick(KEPT * 3)
    assert await prune(memoranda, acme) == 0
    await memoranda.runs.wait(acme.owner, run.id, "Approval")
    await memoranda.runs.resume(acme.owner, run.id)
    await memoranda.memories.remember(acme.owner, "Tulips.")
    second = await memoranda.briefs.for_run(acme.owner, run.id, "tea")
    assert (second.built, second.brief.stable_prefix_bytes is not None) == (True, True)
    assert await prune(memoranda, acme) == 1
    assert (await memoranda.briefs.block(acme.owner, run.id, stage=0)).pruned
    again = await memoranda.briefs.for_run(acme.owner, run.id, "tea")
    assert (again.built, again.brief.text) == (False, second.brief.text)
    await memoranda.runs.complete(acme.owner, run.id)
    clock.tick(KEPT)
    assert await prune(memoranda, acme) == 0, "its run has only just ended"


async def test_a_failed_run_may_still_be_built_another(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock
) -> None:
    await memoranda.memories.remember(acme.owner, "Marigold.")
    run = await told(memoranda, acme, ended=False)
    await memoranda.runs.fail(acme.owner, run.id, "It broke")
    clock.tick(KEPT * 2)
    assert await prune(memoranda, acme) == 1
    with pytest.raises(Gone):
        await memoranda.briefs.for_run(acme.owner, run.id, "tea")
    again = await memoranda.briefs.for_run(acme.owner, run.id, "tea", refresh=True)
    assert (again.built, again.pruned, "Marigold" in again.brief.text) == (True, False, True)


async def test_what_is_erased_later_takes_the_rest_of_a_pruned_block(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock
) -> None:
    made = await memoranda.memories.remember(acme.owner, "Marigold.")
    run = await told(memoranda, acme)
    clock.tick(KEPT * 2)
    await prune(memoranda, acme)
    await memoranda.removal.erase(acme.owner, made.id)
    with pytest.raises(Erased):
        await memoranda.briefs.block(acme.owner, run.id)
    assert await prune(memoranda, acme) == 0


async def test_a_night_prunes_all_that_is_due(
    memoranda: Memoranda, acme: Tenant, clock: SteppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.briefs.blocks.service.PRUNED_AT_ONCE", 2)
    await memoranda.memories.remember(acme.owner, "Marigold.")
    for _ in range(5):
        await told(memoranda, acme)
    clock.tick(KEPT * 2)
    own = memoranda.worker._nightly
    assert own is not None
    steps = own._steps  # what every night does, as it was joined
    nightly = Nightly(memoranda.storage, steps, at=time(4, 13))
    worker = new_id()
    await nightly.serve(worker)
    clock.tick(timedelta(days=1))
    await nightly.serve(worker)

    def count(tx: Transaction) -> Any:
        texts = select(func.count().label("texts")).where(run_blocks.c.text.is_not(None))
        return tx.one(texts).texts

    assert acme.owner.organization_id is not None
    assert await memoranda.storage.read(acme.owner.organization_id, count) == 0


def test_what_stays_names_rows_and_quotes_nothing() -> None:
    ref = {"kind": "crm.deal", "id": "7", "label": "Marigold"}
    entry = {"source": "memory", "title": "Marigold", "excerpt": "Marigold", "ref": ref}
    entry |= {"outcome": "kept", "tokens": 3}
    lost = {**entry, "outcome": "lost_subject_key", "lost_to": {**entry, "ref": None}}
    bare = bare_explain([{**entry, "lost_to": None}, lost])
    assert "Marigold" not in str(bare)
    assert [each["outcome"] for each in bare or ()] == ["kept", "lost_subject_key"]
    assert bare_explain(None) is None
    assert bare_account({"items": [ref], "dropped": {}}) == {
        "items": [{**ref, "label": None}],
        "dropped": {},
    }
