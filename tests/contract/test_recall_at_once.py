"""A recall right after a remember: it finds by meaning what its caller has just written, or says that it can't yet."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from memoranda.access.models import Principal
from memoranda.app import Memoranda
from memoranda.settings import Settings
from memoranda.tools.memory.reading import PAUSES_S
from memoranda.tools.models import Decision
from tests.contract.tenants import new_tenant

SAID = "Ada takes oat milk in her coffee."


@asynccontextmanager
async def opened(database_url: str, *, work: bool) -> AsyncIterator[Memoranda]:
    """The product with its own embedder, whose worker looks for work by itself once a minute."""
    settings = Settings.load(embedder="bundled", worker_poll_s=60)
    async with Memoranda.open(database_url, settings=settings, work=work) as memoranda:
        yield memoranda


async def call(memoranda: Memoranda, who: Principal, tool: str, **given: Any) -> dict[str, Any]:
    return (await memoranda.tools.invoke(who, tool, given)).answer


async def test_what_was_just_remembered_is_found_by_its_meaning(database_url: str) -> None:
    async with opened(database_url, work=True) as memoranda:
        who = memoranda.owner
        await call(memoranda, who, "remember", content="Warm up the model.")
        while (await call(memoranda, who, "recall", query="model"))["pending_vectors"]:
            pass  # it waits a while by itself
        made = await call(memoranda, who, "remember", content=SAID)
        found = await call(memoranda, who, "recall", query="Which milk does Ada like?")
        assert (found["semantic"], found["pending_vectors"]) == (True, 0)
        (ada,) = [each for each in found["memories"] if each["id"] == made["memory_id"]]
        assert "meaning" in ada["matched"]


async def test_without_a_worker_the_answer_says_what_is_found_by_words_alone_for_now(
    database_url: str,
) -> None:
    async with opened(database_url, work=False) as memoranda:
        who = memoranda.owner
        await call(memoranda, who, "remember", content=SAID)
        began = time.monotonic()
        found = await call(memoranda, who, "recall", query="oat milk")
        took_s = time.monotonic() - began
        assert [each["content"] for each in found["memories"]] == [SAID]
        assert (found["semantic"], found["pending_vectors"]) == (False, 1)
        assert took_s >= sum(PAUSES_S)
        await memoranda.worker.drain()
        assert (await call(memoranda, who, "recall", query="oat milk"))["pending_vectors"] == 0


async def test_nobody_waits_for_what_others_wrote(database_url: str) -> None:
    async with opened(database_url, work=False) as memoranda:
        acme = await new_tenant(memoranda.storage)
        zeta = await new_tenant(memoranda.storage, "Zeta")
        scout = acme.key_of(acme.scout)
        await memoranda.tools.policies.set(acme.owner, acme.scout.id, "remember", Decision.ALLOW)
        await call(memoranda, scout, "remember", content=SAID)
        others = (
            *(acme.owner, acme.reader, acme.member(acme.anna), acme.key_of(acme.clerk)),
            *(acme.key_of(acme.scout, acme.anna), zeta.owner, zeta.key_of(zeta.scout)),
        )
        for who in others:
            assert (await call(memoranda, who, "recall", query="milk"))["pending_vectors"] == 0
        assert (await call(memoranda, scout, "recall", query="milk"))["pending_vectors"] == 1


async def test_a_correction_waits_for_its_vector_too(database_url: str) -> None:
    async with opened(database_url, work=False) as memoranda:
        who = memoranda.owner
        made = await call(memoranda, who, "remember", content=SAID)
        await memoranda.worker.drain()
        named = {"memory_id": made["memory_id"], "expected_version": 1}
        await call(memoranda, who, "update", **named, patch={"content": "Ada takes soy milk."})
        assert (await call(memoranda, who, "recall", query="milk"))["pending_vectors"] == 1


async def test_without_an_embedder_nothing_is_waited_for(database_url: str) -> None:
    settings = Settings.load(embedder="none")
    async with Memoranda.open(database_url, settings=settings) as memoranda:
        await call(memoranda, memoranda.owner, "remember", content=SAID)
        found = await call(memoranda, memoranda.owner, "recall", query="milk")
        assert (found["semantic"], found["pending_vectors"]) == (False, 0)
