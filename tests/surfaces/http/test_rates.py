"""How often a route may be asked: over it, the caller is told when to come back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from memoranda.access.rates.service import Rate
from memoranda.app import Memoranda
from memoranda.settings import Settings
from memoranda.surfaces.http.app import ROOMS
from memoranda.surfaces.http.operation import Operation
from memoranda.surfaces.http.rates import counted, rate_of
from tests.surfaces.http.house import House, furnished

LOW = Settings(writes_per_minute=3, lists_per_minute=5)


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 1, 12, 0, 20, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@asynccontextmanager
async def limited(database: str, settings: Settings = LOW) -> AsyncIterator[tuple[House, Clock]]:
    clock = Clock()
    opening = Memoranda.open(database, settings=settings, clock=clock, migrate=False)
    async with opening as opened, furnished(opened) as made:
        clock.now += timedelta(minutes=1)  # what it was furnished with is counted no more
        yield made, clock


async def test_more_than_the_minute_allows_is_refused_until_the_time_that_is_told(
    database_url: str,
) -> None:
    async with limited(database_url) as (house, clock):
        for number in range(3):
            kept = await house.owner.post("/v1/memories", {"text": f"Tea number {number}."})
            assert kept.status_code == 201
        refused = await house.owner.post("/v1/memories", {"text": "One more."})
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
        assert refused.headers["retry-after"] == "40"
        assert refused.json()["limit"] == 3
        clock.now += timedelta(seconds=39)
        still = await house.owner.post("/v1/memories", {"text": "One more."})
        assert (still.status_code, still.headers["retry-after"]) == (429, "1")
        clock.now += timedelta(seconds=1)
        kept = await house.owner.post("/v1/memories", {"text": "One more."})
        assert kept.status_code == 201


async def test_all_writes_of_memories_are_counted_together_and_lists_apart(
    database_url: str,
) -> None:
    async with limited(database_url) as (house, _):
        await house.owner.post("/v1/memories", {"text": "Tea."})
        await house.owner.post(f"/v1/memories/{house.rows.memory}/forget")
        await house.owner.post("/v1/memories", {"text": "Tea."})
        assert (await house.owner.post("/v1/memories", {"text": "Milk."})).status_code == 429
        for _ in range(5):
            assert (await house.owner.get("/v1/memories")).status_code == 200
        assert (await house.owner.get("/v1/memories")).status_code == 429
        assert (await house.owner.get("/v1/runs/" + house.rows.run)).status_code == 200


async def test_a_caller_is_not_counted_for_what_another_asks(database_url: str) -> None:
    async with limited(database_url) as (house, _):
        for _ in range(6):
            await house.owner.get("/v1/memories")
        for api in (house.member, house.read_only, house.stranger):
            assert (await api.get("/v1/memories")).status_code == 200


async def test_what_is_refused_for_another_reason_counts_too(database_url: str) -> None:
    async with limited(database_url) as (house, _):
        for _ in range(3):
            assert (await house.owner.post("/v1/memories", {"text": ""})).status_code == 422
        assert (await house.owner.post("/v1/memories", {"text": "Tea."})).status_code == 429


async def test_zero_takes_the_limit_away(database_url: str) -> None:
    settings = Settings(writes_per_minute=0, lists_per_minute=0)
    async with limited(database_url, settings) as (house, _):
        for _ in range(130):
            assert (await house.owner.get("/v1/memories")).status_code == 200


async def test_verbs_in_the_same_process_are_not_counted(database_url: str) -> None:
    async with limited(database_url) as (house, _):
        for number in range(10):
            await house.memoranda.memories.remember(house.memoranda.owner, f"Tea {number}.")


def test_a_person_may_write_once_a_second_and_list_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WRITES", "LISTS"):
        monkeypatch.delenv(f"MEMORANDA_{name}_PER_MINUTE")
    settings = Settings()
    assert (settings.writes_per_minute, settings.lists_per_minute) == (60, 120)


def memory_routes() -> list[Operation]:
    return [
        route
        for room in ROOMS
        for route in room.routes
        if isinstance(route, Operation) and ("memories" in route.tags or "memories" in route.path)
    ]


def undeclared(route: Operation) -> bool:
    """Whether the route says nothing about how often it may be asked, or lets a write go uncounted."""
    if not hasattr(route.endpoint, "rate"):
        return True
    if route.name == "recall":  # it is asked by runs, and a run must not wait for a minute to pass
        return False
    writes = bool((route.methods or set()) - {"GET"})
    return writes and rate_of(route.endpoint) is None


def test_every_route_of_memories_says_how_often_it_may_be_asked() -> None:
    routes = memory_routes()
    assert len(routes) >= 5
    assert not [route.name for route in routes if undeclared(route)]


def test_a_route_that_says_nothing_is_found() -> None:
    async def silent() -> None: ...

    async def said() -> None: ...

    assert undeclared(Operation("/v1/memories", silent, methods=["GET"]))
    assert undeclared(Operation("/v1/memories", counted(None)(said), methods=["POST"]))
    assert not undeclared(Operation("/v1/memories", counted(None)(said), methods=["GET"]))
    assert not undeclared(Operation("/v1/memories", counted(Rate.LISTS)(said), methods=["POST"]))


async def test_every_counted_route_tells_of_the_refusal(house: House) -> None:
    for route in memory_routes():
        (method,) = route.methods or ()
        told = house.contract.operations[f"{method} {route.path}"]["responses"]
        assert ("429" in told) is (rate_of(route.endpoint) is not None)
        if "429" in told:
            assert "Retry-After" in told["429"]["headers"]
