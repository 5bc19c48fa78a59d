"""Clients that call at once, twice, and again: each call is done once, and no change is lost."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select

from memoranda.memories.limits import MemoryLimits
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import tool_calls, tool_receipts
from memoranda.tools.invoker import ToolInvoker
from memoranda.tools.memory.tools import memory_tools
from memoranda.tools.models import ToolResult
from memoranda.tools.registry import ToolRegistry
from tests.contract.tenants import Tenant, new_tenant

TEXTS = ("oat milk", "cow's milk", "no milk", "black tea")
CLIENTS = 3
WAYS = Ways(MemoryLimits(active=6, pinned=2, waiting=5, text_chars=500))


class House:
    """Several open storages over one database, as several processes have, and the loop that they live on."""

    def __init__(self, url: str) -> None:
        self.runner = asyncio.Runner()
        self.run = self.runner.run
        self.storages = [self.run(Storage.open(url)) for _ in range(CLIENTS)]

    def close(self) -> None:
        for storage in self.storages:
            self.run(storage.close())
        self.runner.close()


@pytest.fixture(scope="module")
def house(module_database_url: str) -> Iterator[House]:
    """One database for all examples, each of which has an organization of its own."""
    opened = House(module_database_url)
    yield opened
    opened.close()


@dataclass
class Request:
    """What a client wants once, under a key of its own, and what it was answered so far."""

    key: str
    tool: str
    arguments: dict[str, Any]
    answer: dict[str, Any] | None = None
    refusals: list[str] = field(default_factory=list)


# Which request of all so far, and how often it is delivered at once.
AGAIN = st.tuples(st.just("again"), st.integers(0, 40), st.integers(1, 3))
REMEMBER = st.tuples(st.just("remember"), st.sampled_from(TEXTS), st.integers(1, 3))
CHANGE = st.tuples(
    st.sampled_from(["update", "update", "forget"]),
    st.tuples(st.integers(0, 5), st.sampled_from([0, 0, 0, -1]), st.sampled_from(TEXTS)),
    st.integers(1, 2),
)
STEP = st.one_of(REMEMBER, CHANGE, CHANGE, AGAIN)


class Clients(RuleBasedStateMachine):
    """Clients of one organization; what they were answered is all that is known of it."""

    house: House

    @initialize()
    def begin(self) -> None:
        self.acme: Tenant = self.house.run(new_tenant(self.house.storages[0]))
        self.desks = [
            ToolInvoker(
                storage, ToolRegistry(memory_tools(Memories(storage, WAYS), WAYS, chars=9_000))
            )
            for storage in self.house.storages
        ]
        self.requests: list[Request] = []

    @rule(steps=st.lists(STEP, min_size=1, max_size=3))
    def deliver(self, steps: list[Any]) -> None:
        """Some requests, each perhaps several times, all at once and through any client."""
        made = [(self.request(kind, which), copies) for kind, which, copies in steps]
        deliveries = [request for request, copies in made if request for _ in range(copies)]
        answered = [each.key for each in self.requests if each.answer is not None]
        results = self.house.run(self.all_at_once(deliveries))
        for request, result in zip(deliveries, results, strict=True):
            self.hold(request, result, before=request.key in answered)
        self.house.run(self.compare())

    def request(self, kind: str, which: Any) -> Request | None:
        if kind == "again":
            return self.requests[which % len(self.requests)] if self.requests else None
        arguments: dict[str, Any] = {"content": which}
        if kind != "remember":
            place, off, text = which
            known = sorted(self.heads())
            if not known:
                return None
            memory_id = known[place % len(known)]
            arguments = {
                "memory_id": memory_id,
                "expected_version": max(1, self.heads()[memory_id] + off),
            }
            if kind == "update":
                arguments["patch"] = {"content": text}
        made = Request(f"request {len(self.requests)}", kind, arguments)
        self.requests.append(made)
        return made

    async def all_at_once(self, deliveries: list[Request]) -> list[ToolResult]:
        return await asyncio.gather(
            *(
                self.desks[place % CLIENTS].call(
                    self.acme.owner, each.tool, each.arguments, key=each.key
                )
                for place, each in enumerate(deliveries)
            )
        )

    def hold(self, request: Request, result: ToolResult, *, before: bool) -> None:
        """One answer for each request, however often it came; once it is given, nothing else is.

        Of those that came at once, one may be refused before another is done: a refusal leaves the key free.
        """
        if result.answer is None:
            assert result.refusal is not None
            assert not before or result.refusal.retryable, result.refusal
            request.refusals.append(result.refusal.code)
        elif request.answer is None:
            request.answer = dict(result.answer)
        else:
            assert result.answer == request.answer

    def heads(self) -> dict[str, int]:
        """The newest version of each memory that anybody was told of."""
        found: dict[str, int] = {}
        for each in self.requests:
            if each.answer is not None:
                memory_id, version = each.answer["memory_id"], each.answer["version"]
                found[memory_id] = max(version, found.get(memory_id, 0))
        return found

    async def compare(self) -> None:
        """Chains, receipts and journal say what the clients were answered, and nothing else."""
        done = {
            (each.answer["memory_id"], each.answer["version"]): each
            for each in self.requests
            if each.answer is not None
        }
        assert len(done) == sum(each.answer is not None for each in self.requests)
        memories = Memories(self.house.storages[0], WAYS)
        revisions = {}
        for memory_id in self.heads():
            for each in await memories.history(self.acme.owner, UUID(memory_id)):
                revisions[memory_id, each.version] = each.text
        assert revisions == {place: said_by(each) for place, each in done.items()}
        for desk in self.desks:
            await desk.settled()
        organization = self.acme.owner.organization_id
        assert organization is not None
        kept, lines = await self.house.storages[0].read(organization, rows)
        assert {row.key for row in kept} == {each.key for each in done.values()}
        assert len([row for row in lines if row.outcome == "done"]) == len(done)
        noted = {(str(row.memory_id), row.version) for row in lines if row.outcome == "done"}
        assert noted == set(done)
        refused = [row.code for row in lines if row.outcome in {"refused", "failed"}]
        assert sorted(refused) == sorted(code for each in self.requests for code in each.refusals)


def said_by(request: Request) -> str | None:
    """What a request left the memory saying; nothing where it was forgotten."""
    if request.tool == "forget":
        return None
    arguments = request.arguments
    return str(arguments.get("content") or arguments["patch"]["content"])


KEPT = select(tool_receipts.c.key, tool_receipts.c.answer)
LINES = select(
    tool_calls.c.outcome, tool_calls.c.code, tool_calls.c.memory_id, tool_calls.c.version
)


def rows(tx: Transaction) -> tuple[list[Any], list[Any]]:
    return tx.all(KEPT), tx.all(LINES)


@pytest.mark.slow
def test_each_request_is_done_once_and_no_change_is_lost(house: House) -> None:
    machine = type("OfHouse", (Clients,), {"house": house})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=40,
            stateful_step_count=12,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
        ),
    )
