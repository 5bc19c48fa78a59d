"""A source that hangs costs a brief its timeout, and costs the database nothing afterwards."""

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import func, literal, select

from memoranda.access.models import Principal
from memoranda.access.service import Access
from memoranda.briefs.builder import DefaultContextBuilder
from memoranda.briefs.models import (
    ContextBrief,
    ContextItem,
    ContextKind,
    ContextPolicy,
    ContextRequest,
    ContextSourceSpec,
)
from memoranda.briefs.options import NoOptions
from memoranda.briefs.packer import ContextPacker
from memoranda.briefs.registry import ContextSource, ContextSourceRegistry
from memoranda.briefs.sources.memory import MemorySource
from memoranda.memories.service import Memories
from memoranda.storage import Storage, Transaction
from memoranda.storage.dialects.postgres import CONNECTIONS
from memoranda.storage.dialects.sqlite import READERS
from memoranda.words.errors import RequiredContextSourceError
from memoranda.words.subject import ContextSubject

TIMEOUT_S = 0.4
ENOUGH_S = TIMEOUT_S + 1.5
"""What a brief may take on a busy machine; the sources hang for a minute."""


class Sleeper:
    """Awaits for a minute."""

    name: ContextKind = "dossier"
    kind: ContextKind = "dossier"
    options_schema = NoOptions

    async def retrieve(self, request: ContextRequest, spec: ContextSourceSpec) -> list[ContextItem]:
        await asyncio.sleep(60)
        return []


def _counting() -> Any:
    numbers = select(literal(1).label("n")).cte("numbers", recursive=True)
    numbers = numbers.union_all(select(numbers.c.n + 1).where(numbers.c.n < 2_000_000_000))
    return select(func.max(numbers.c.n))


ENDLESS = _counting()


class Counter:
    """Runs a statement for a minute and more."""

    name: ContextKind = "run_history"
    kind: ContextKind = "run_history"
    options_schema = NoOptions

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.begun = 0

    async def retrieve(self, request: ContextRequest, spec: ContextSourceSpec) -> list[ContextItem]:
        await self._storage.read(request.subject.organization_id, self._count)
        return []

    def _count(self, tx: Transaction) -> None:
        self.begun += 1
        tx.all(ENDLESS)


class Desk:
    """A builder over real memories and two sources that hang."""

    def __init__(self, storage: Storage, owner: Principal) -> None:
        self.counter = Counter(storage)
        self.sources: list[ContextSource] = [
            Sleeper(),
            MemorySource(Memories(storage)),
            self.counter,
        ]
        self.builder = DefaultContextBuilder(
            ContextSourceRegistry(self.sources), ContextPacker(), source_timeout_s=TIMEOUT_S
        )
        assert owner.organization_id is not None
        self.request = ContextRequest(
            subject=ContextSubject(organization_id=owner.organization_id), query="?"
        )

    async def build(self, *names: str, required: str | None = None) -> ContextBrief:
        specs = [
            ContextSourceSpec(name=name, token_budget=500, required=name == required)
            for name in names
        ]
        policy = ContextPolicy(sources=specs, total_token_budget=2_000)
        return await self.builder.build(self.request, policy)


@pytest.fixture
async def desk(storage: Storage) -> Desk:
    owner = await Access(storage).ensure_default()
    await Memories(storage).remember(owner, "Orders ship from Leipzig.")
    return Desk(storage, owner)


def statements(database_url: str) -> Iterator[tuple[str, str]]:
    """The state and text of each statement of other connections, as the server itself sees them."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield from connection.execute(
            "SELECT state, query FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        ).fetchall()


async def assert_nothing_is_left(database_url: str) -> None:
    """No statement runs and no transaction is open. The server needs a moment to end what was cancelled."""
    if not database_url.startswith("postgresql"):
        return
    deadline = time.monotonic() + 2
    while left := [query for state, query in statements(database_url) if state != "idle"]:
        assert time.monotonic() < deadline, left
        await asyncio.sleep(0.05)
    assert len(list(statements(database_url))) <= CONNECTIONS


async def test_sources_that_hang_for_a_minute_are_named_and_the_rest_is_there_in_time(
    desk: Desk, database_url: str
) -> None:
    began = time.perf_counter()
    brief = await desk.build("dossier", "memory", "run_history")
    assert TIMEOUT_S < time.perf_counter() - began < ENOUGH_S
    assert desk.counter.begun == 1, "its statement had begun"
    assert brief.failure_reasons == {"dossier": "timeout", "run_history": "timeout"}
    assert brief.text.startswith("Unavailable sources: dossier, run_history.")
    assert brief.text.endswith("Orders ship from Leipzig.")
    await assert_nothing_is_left(database_url)


async def test_more_hanging_briefs_than_connections_leave_every_connection_free(
    desk: Desk, storage: Storage, database_url: str
) -> None:
    """One that stayed behind in each brief would leave none for the last of them."""
    held = CONNECTIONS if database_url.startswith("postgresql") else READERS
    for _ in range(held + 1):
        began = time.perf_counter()
        brief = await desk.build("memory", "run_history")
        assert time.perf_counter() - began < ENOUGH_S
        assert brief.failed_sources == ["run_history"]
        assert brief.text.endswith("Orders ship from Leipzig.")
    assert desk.counter.begun == held + 1
    await assert_nothing_is_left(database_url)
    began = time.perf_counter()
    await storage.close()
    assert time.perf_counter() - began < 2, "closing waits for whatever still runs"
    names = [each.name for each in threading.enumerate()]
    assert not [n for n in names if n.startswith(("memoranda-reader", "memoranda-postgres"))]


async def test_a_required_source_that_hangs_fails_the_brief_in_time(
    desk: Desk, database_url: str
) -> None:
    began = time.perf_counter()
    with pytest.raises(RequiredContextSourceError, match="run_history"):
        await desk.build("memory", "run_history", required="run_history")
    assert time.perf_counter() - began < ENOUGH_S
    await assert_nothing_is_left(database_url)


async def test_a_caller_who_leaves_takes_the_running_statement_along(
    desk: Desk, database_url: str
) -> None:
    building = asyncio.create_task(desk.build("memory", "run_history"))
    deadline = time.monotonic() + 2
    while not desk.counter.begun:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    began = time.perf_counter()
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building
    assert time.perf_counter() - began < TIMEOUT_S / 2, "it did not wait for the timeout"
    await assert_nothing_is_left(database_url)
