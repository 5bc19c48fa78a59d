"""The block of a run, on every database: built when it is due, kept as it was, gone when it must be."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from memoranda import Memoranda
from memoranda.briefs.blocks import store as blocks
from memoranda.briefs.models import ContextPolicy
from memoranda.runs.models import Run
from memoranda.storage import Transaction
from memoranda.storage.tables import run_block_items, run_blocks
from memoranda.words.errors import Erased, Invalid, NotFound, ReadOnly
from tests.contract.tenants import Tenant, new_tenant


@pytest.fixture
async def memoranda(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Memoranda]:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    async with Memoranda.open(database_url, migrate=False) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


@pytest.fixture
async def other(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage, "Other")


@pytest.fixture
async def run(memoranda: Memoranda, acme: Tenant) -> Run:
    await memoranda.memories.remember(acme.owner, "Tea is at five.")
    return await memoranda.runs.create(acme.owner, user_id=acme.anna.id)


async def goes_on(memoranda: Memoranda, tenant: Tenant, run: Run) -> None:
    """The run waits, and meanwhile something is remembered."""
    await memoranda.runs.wait(tenant.owner, run.id, "Approval")
    await memoranda.memories.remember(tenant.owner, f"Stage {run.stage} is over.")
    await memoranda.runs.resume(tenant.owner, run.id)


def policy(**said: Any) -> dict[str, Any]:
    source = {"name": "memory", "token_budget": 1_000}
    return {"sources": [source], "total_token_budget": 1_000, **said}


async def test_the_first_stage_builds_a_block_which_whoever_asks_again_is_given(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    first = await memoranda.briefs.for_run(acme.owner, run.id, "tea")
    assert (first.built, first.stage, first.brief.stable_prefix_bytes) == (True, 0, None)
    assert "Tea is at five." in first.brief.text
    await memoranda.memories.remember(acme.owner, "Coffee is at six.")
    again = await memoranda.briefs.for_run(acme.owner, run.id, "coffee")
    assert (again.built, again.brief.text) == (False, first.brief.text)
    assert again.brief.stable_prefix_bytes == len(first.brief.text.encode())
    assert (await memoranda.briefs.block(acme.reader, run.id)).brief == first.brief


async def test_a_stage_after_a_wait_holds_one_new_brief_where_the_policy_asks(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    first = await memoranda.briefs.for_run(acme.owner, run.id, "tea")
    await goes_on(memoranda, acme, run)
    second = await memoranda.briefs.for_run(acme.owner, run.id, "tea")
    assert (second.built, second.stage) == (True, 1)
    assert second.brief.text.count("## Memory") == 1
    assert second.brief.text.count("Tea is at five.") == 1
    assert "Stage 0 is over." in second.brief.text
    assert 0 < (second.brief.stable_prefix_bytes or 0) < len(first.brief.text)
    assert (await memoranda.briefs.block(acme.owner, run.id)).brief.text == second.brief.text
    old = await memoranda.briefs.block(acme.owner, run.id, stage=0)
    assert old.brief.text == first.brief.text


async def test_without_refresh_on_resume_a_later_stage_is_given_the_same_bytes(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    still = policy(refresh_on_resume=False)
    first = await memoranda.briefs.for_run(acme.owner, run.id, "tea", policy=still)
    await goes_on(memoranda, acme, run)
    second = await memoranda.briefs.for_run(acme.owner, run.id, "tea", policy=still)
    assert (second.built, second.stage) == (False, 0)
    assert second.brief.text == first.brief.text
    assert second.brief.digest == first.brief.digest
    forced = await memoranda.briefs.for_run(acme.owner, run.id, "x", policy=still, refresh=True)
    assert forced.built


async def test_a_replay_of_what_is_over_builds_nothing(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    first = await memoranda.briefs.for_run(acme.owner, run.id, "tea")
    await goes_on(memoranda, acme, run)
    replayed = await memoranda.briefs.for_run(acme.owner, run.id, "tea", stage=0, refresh=True)
    assert (replayed.built, replayed.brief.text) == (False, first.brief.text)
    await memoranda.runs.complete(acme.owner, run.id)
    ended = await memoranda.briefs.for_run(acme.owner, run.id, "tea", refresh=True)
    assert (ended.built, ended.brief.text) == (False, first.brief.text)
    never = await memoranda.runs.create(acme.owner)
    await memoranda.runs.complete(acme.owner, never.id)
    with pytest.raises(NotFound):
        await memoranda.briefs.for_run(acme.owner, never.id, "tea")


async def test_a_retry_of_a_stage_replaces_its_block(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    await memoranda.briefs.for_run(acme.owner, run.id, "tea")
    await memoranda.memories.remember(acme.owner, "Coffee is at six.")
    retried = await memoranda.briefs.for_run(acme.owner, run.id, "tea", refresh=True)
    assert retried.built
    assert "Coffee" in retried.brief.text
    assert (await memoranda.briefs.block(acme.owner, run.id)).brief.text == retried.brief.text
    assert len(await rows(memoranda, acme, run_blocks)) == 1


async def test_all_who_build_at_once_are_given_the_same_block(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    made = await asyncio.gather(
        *(memoranda.briefs.for_run(acme.owner, run.id, f"q{n}") for n in range(6))
    )
    assert len({each.brief.text for each in made}) == 1
    assert [each.built for each in made].count(True) == 1


async def test_a_past_block_is_explained_as_it_was_built(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    tight = policy(total_token_budget=25)
    await memoranda.memories.remember(acme.owner, "A much longer memory " * 20)
    built = await memoranda.briefs.for_run(acme.owner, run.id, "q", policy=tight, explain=True)
    for memory in (await memoranda.memories.page(acme.owner)).items:
        await memoranda.memories.forget(acme.owner, memory.id)
    read = await memoranda.briefs.block(acme.owner, run.id, explain=True)
    assert read.brief == built.brief
    assert {entry.outcome for entry in read.brief.explain or []} >= {"over_total_budget"}
    assert read.policy == ContextPolicy.model_validate(tight)
    assert (await memoranda.briefs.block(acme.owner, run.id)).brief.explain is None


async def test_a_brief_says_how_much_of_the_block_before_it_stays(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    talk = await memoranda.conversations.create(acme.owner, user_id=acme.anna.id)
    asked: dict[str, Any] = {"conversation": talk.id}
    first = await memoranda.briefs.for_run(acme.owner, run.id, "tea", **asked)
    whole = len(first.brief.text.encode())
    next_run = await memoranda.runs.create(acme.owner, user_id=acme.anna.id)
    second = await memoranda.briefs.for_run(acme.owner, next_run.id, "tea", **asked)
    assert second.brief.stable_prefix_bytes is not None
    only = await memoranda.briefs.build(
        acme.owner, "tea", user_id=acme.anna.id, run_id=run.id, policy=policy()
    )
    assert only.stable_prefix_bytes is not None
    assert only.stable_prefix_bytes <= whole
    free = await memoranda.briefs.build(acme.owner, "tea", user_id=acme.anna.id)
    assert free.stable_prefix_bytes is None


# --- what is erased --------------------------------------------------------------------------


async def rows(memoranda: Memoranda, tenant: Tenant, table: Any) -> list[Any]:
    def read(tx: Transaction) -> list[Any]:
        return tx.all(table.select())

    assert tenant.owner.organization_id is not None
    return await memoranda.storage.read(tenant.owner.organization_id, read)


async def test_erasing_a_memory_takes_the_text_of_every_block_that_was_offered_it(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    secret = await memoranda.memories.remember(acme.owner, "The code is marigold.")
    tight = policy(sources=[{"name": "memory", "token_budget": 9}])
    kept = await memoranda.briefs.for_run(acme.owner, run.id, "q")
    assert "marigold" in kept.brief.text
    dropped = await memoranda.runs.create(acme.owner)
    block = await memoranda.briefs.for_run(acme.owner, dropped.id, "q", policy=tight)
    assert "marigold" not in block.brief.text
    await memoranda.removal.erase(acme.owner, secret.id)
    for each in (run, dropped):
        with pytest.raises(Erased) as gone:
            await memoranda.briefs.block(acme.owner, each.id)
        assert (gone.value.code, gone.value.kind) == ("erased", "gone")
    assert "marigold" not in str(await rows(memoranda, acme, run_blocks))
    assert await rows(memoranda, acme, run_block_items) == []


async def test_a_run_that_goes_on_is_built_another_block_and_one_that_ended_is_not(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    secret = await memoranda.memories.remember(acme.owner, "The code is marigold.")
    ended = await memoranda.runs.create(acme.owner)
    for each in (run, ended):
        await memoranda.briefs.for_run(acme.owner, each.id, "q")
    await memoranda.runs.complete(acme.owner, ended.id)
    await memoranda.removal.erase(acme.owner, secret.id)
    with pytest.raises(Erased):
        await memoranda.briefs.for_run(acme.owner, ended.id, "q", refresh=True)
    again = await memoranda.briefs.for_run(acme.owner, run.id, "q")
    assert again.built
    assert "marigold" not in again.brief.text
    assert (await memoranda.briefs.block(acme.owner, run.id)).brief.text == again.brief.text


async def test_erasing_a_user_takes_the_blocks_of_its_runs_and_of_its_memories(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    bens = await memoranda.runs.create(acme.owner, user_id=acme.ben.id)
    for each in (run, bens):
        await memoranda.briefs.for_run(acme.owner, each.id, "q")
    await memoranda.removal.erase_user(acme.owner, acme.anna.id)
    with pytest.raises(Erased):
        await memoranda.briefs.block(acme.owner, run.id)
    assert (await memoranda.briefs.block(acme.owner, bens.id)).brief.text


async def test_what_is_erased_while_a_block_is_built_is_in_no_block(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    secret = await memoranda.memories.remember(acme.owner, "The code is marigold.")
    brief = await memoranda.briefs.build(
        acme.owner, "q", user_id=acme.anna.id, policy=policy(), explain=True
    )
    await memoranda.removal.erase(acme.owner, secret.id)
    assert acme.owner.organization_id is not None
    kept = await memoranda.storage.write(
        acme.owner.organization_id,
        blocks.keep,
        run.id,
        0,
        brief,
        ContextPolicy.model_validate(policy()),
        conversation_id=None,
        replace=False,
    )
    assert kept is None
    assert await rows(memoranda, acme, run_blocks) == []


# --- whose they are --------------------------------------------------------------------------


async def test_nobody_is_given_a_block_of_a_run_that_it_may_not_know_of(
    memoranda: Memoranda, acme: Tenant, other: Tenant, run: Run
) -> None:
    await memoranda.briefs.for_run(acme.owner, run.id, "q")
    for who in (other.owner, acme.member(acme.ben), acme.key_of(acme.scout, acme.anna)):
        with pytest.raises(NotFound):
            await memoranda.briefs.block(who, run.id)
        with pytest.raises(NotFound):
            await memoranda.briefs.for_run(who, run.id, "q")
    with pytest.raises(ReadOnly):
        await memoranda.briefs.for_run(acme.reader, run.id, "q")
    own = await memoranda.briefs.for_run(acme.member(acme.anna), run.id, "q")
    assert not own.built


async def test_a_stage_that_is_yet_to_come_has_no_block(
    memoranda: Memoranda, acme: Tenant, run: Run
) -> None:
    with pytest.raises(NotFound):
        await memoranda.briefs.block(acme.owner, run.id)
    for stage in (-1, 1):
        with pytest.raises(Invalid):
            await memoranda.briefs.for_run(acme.owner, run.id, "q", stage=stage)
        with pytest.raises(Invalid):
            await memoranda.briefs.block(acme.owner, run.id, stage=stage)
