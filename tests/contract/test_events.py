"""What events promise on every database: in the order of the commits, each once, to whom they are for."""

import asyncio
import random
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, closing
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any
from uuid import UUID

import pytest

from memoranda.access.models import LOCAL_OPERATOR, Principal
from memoranda.memories.audience import Audience, may_know
from memoranda.runs.events import feed, store
from memoranda.runs.events.models import Event, Mark, Reset
from memoranda.runs.events.service import KEPT_FOR, Events, hears
from memoranda.runs.events.store import record_event
from memoranda.storage import PLATFORM, Storage, Transaction
from memoranda.words.errors import Refused
from tests.contract.tenants import Tenant, new_tenant

SOON = timedelta(milliseconds=20)
LONG = timedelta(seconds=60)
PATIENCE_S = 20


class Thought(Exception):
    """The writer thought better of it."""


@pytest.fixture
async def events(storage: Storage) -> AsyncIterator[Events]:
    opened = Events(storage, poll=SOON)
    yield opened
    await opened.close()


def home(tenant: Tenant) -> UUID:
    assert tenant.owner.organization_id is not None
    return tenant.owner.organization_id


def change(tx: Transaction, *, fail: bool = False, **audience: Any) -> None:
    record_event(tx, "memory.updated", action="created", **audience)
    if fail:
        raise Thought


async def changed(storage: Storage, tenant: Tenant, times: int = 1, **audience: Any) -> None:
    for _ in range(times):
        await storage.write(home(tenant), change, **audience)


async def numbers(events: Events, who: Principal, after: int = 0) -> list[int]:
    """The numbers of all that came after `after` and `who` is told."""
    found: list[int] = []
    more = True
    while more:
        page = await events.page(who, after, limit=500)
        assert not page.reset
        found += [event.number for event in page.items]
        after, more = page.number, page.more
    return found


async def heard(
    events: Events, who: Principal, after: int | None, enough: Callable[[list[int]], bool]
) -> list[int]:
    """Follow until that is enough."""
    found: list[int] = []
    async with asyncio.timeout(PATIENCE_S), aclosing(events.follow(who, after)) as told:
        async for each in told:
            assert not isinstance(each, Reset)
            if isinstance(each, Event):
                found.append(each.number)
            if enough(found):
                break
    return found


async def test_numbers_have_no_gap_whoever_writes_at_once_and_takes_back(
    storage: Storage, events: Events, acme: Tenant
) -> None:
    async def write(writer: int) -> int:
        kept = 0
        for number in range(6):
            fail = (writer + number) % 3 == 0
            try:
                await storage.write(home(acme), change, fail=fail)
            except Thought:
                continue
            kept += 1
        return kept

    kept = sum(await asyncio.gather(*(write(writer) for writer in range(32))))
    assert kept == 32 * 4
    assert await numbers(events, acme.owner) == list(range(1, kept + 1))


async def test_whoever_sees_a_number_sees_every_lower_one_while_others_write(
    storage: Storage, events: Events, acme: Tenant
) -> None:
    writing = asyncio.gather(*(changed(storage, acme, 20) for _ in range(8)))
    seen: list[int] = []
    while not writing.done():
        newest = await events.page(acme.owner, 0, limit=500)
        seen = [event.number for event in newest.items]
        assert seen == list(range(1, len(seen) + 1))
    await writing
    assert await numbers(events, acme.owner) == list(range(1, 161))


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_whoever_comes_back_with_the_last_number_hears_each_once_and_in_order(
    storage: Storage, events: Events, acme: Tenant, seed: int
) -> None:
    chance = random.Random(seed)

    async def write() -> None:
        for _ in range(30):
            await storage.write(home(acme), change)
            events.wake(home(acme))
            await asyncio.sleep(chance.choice([0, 0, 0.002]))

    writing = asyncio.gather(*(write() for _ in range(4)))
    seen: list[int] = []
    while len(seen) < 120:
        some = chance.randint(0, 9)
        stop_at = min(some, 120 - len(seen))
        seen += await heard(
            events,
            acme.owner,
            seen[-1] if seen else 0,
            lambda found, stop_at=stop_at: len(found) >= stop_at,
        )
    await writing
    assert seen == list(range(1, 121))


async def test_whoever_begins_with_no_number_is_told_where_it_began_and_misses_nothing_since(
    storage: Storage, events: Events, acme: Tenant
) -> None:
    await changed(storage, acme, 3)
    async with aclosing(events.follow(acme.owner)) as told:
        assert await anext(told) == Mark(3)
    await changed(storage, acme, 2)
    assert await heard(events, acme.owner, 3, lambda found: len(found) == 2) == [4, 5]


async def test_an_event_is_told_only_once_it_is_committed_and_never_when_it_is_taken_back(
    storage: Storage, events: Events, acme: Tenant
) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def slow(tx: Transaction, *, fail: bool) -> None:
        record_event(tx, "memory.updated", action="created")
        reached.set()
        assert go_on.wait(PATIENCE_S)
        if fail:
            raise Thought

    for fail in (True, False):
        reached.clear()
        go_on.clear()
        writing = asyncio.ensure_future(storage.write(home(acme), slow, fail=fail))
        await asyncio.to_thread(reached.wait, PATIENCE_S)
        events.wake(home(acme))
        assert await numbers(events, acme.owner) == []
        async with aclosing(events.follow(acme.owner, 0)) as told:
            assert await anext(told) == Mark(0)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(told), 0.1)
        go_on.set()
        await asyncio.wait({writing})
        assert isinstance(writing.exception(), Thought) is fail
    assert await numbers(events, acme.owner) == [1]


async def test_a_listener_is_told_as_soon_as_it_is_woken(storage: Storage, acme: Tenant) -> None:
    events = Events(storage, poll=LONG)
    async with aclosing(events.follow(acme.owner)) as told:
        await anext(told)
        hearing = asyncio.ensure_future(anext(told))
        await asyncio.sleep(0.1)
        await changed(storage, acme)
        events.wake(home(acme))
        event = await asyncio.wait_for(hearing, 2)
    assert isinstance(event, Event)
    await events.close()


async def test_what_another_process_wrote_is_told_without_a_wake(
    storage: Storage, database_url: str, events: Events, acme: Tenant
) -> None:
    other = await Storage.open(database_url)
    async with aclosing(events.follow(acme.owner)) as told:
        await anext(told)
        hearing = asyncio.ensure_future(anext(told))
        await asyncio.sleep(0.1)
        await changed(other, acme)
        event = await asyncio.wait_for(hearing, PATIENCE_S)
    await other.close()
    assert isinstance(event, Event)
    assert event.number == 1


async def test_each_is_told_what_is_for_it_and_no_other(
    storage: Storage, events: Events, acme: Tenant
) -> None:
    users, agents = (None, acme.anna.id, acme.ben.id), (None, acme.scout.id, acme.clerk.id)
    audiences = [
        Audience(user_id=user, agent_id=agent, space=space)
        for user, agent, space in product(users, agents, (None, "flow:node"))
    ]
    for audience in audiences:
        await changed(storage, acme, **audience._asdict())
    listeners = [
        acme.owner,
        acme.reader,
        acme.member(acme.anna),
        acme.member(acme.ben),
        acme.key_of(acme.scout),
        acme.key_of(acme.scout, acme.anna),
        acme.key_of(acme.clerk, acme.ben),
    ]
    for who in listeners:
        may = [
            number
            for number, audience in enumerate(audiences, 1)
            if audience.space is None and may_know(who, audience)
        ]
        assert await numbers(events, who) == may
        assert await heard(events, who, 0, lambda found, may=may: len(found) == len(may)) == may
    anna = await numbers(events, acme.member(acme.anna))
    assert {audiences[number - 1].user_id for number in anna} == {None, acme.anna.id}
    scout = await numbers(events, acme.key_of(acme.scout))
    assert {audiences[number - 1].agent_id for number in scout} == {None, acme.scout.id}


async def test_an_event_is_for_whom_a_memory_of_its_audience_is(acme: Tenant) -> None:
    for who in (acme.owner, acme.member(acme.anna), acme.key_of(acme.scout, acme.ben)):
        for user, agent in product((None, acme.anna.id, acme.ben.id), (None, acme.scout.id)):
            event = Event(
                number=1,
                type="memory.updated",
                user_id=user,
                agent_id=agent,
                metadata={},
                created_at=datetime.now(UTC),
            )
            assert hears(who, event) == may_know(who, Audience(user_id=user, agent_id=agent))


async def test_no_organization_is_told_anything_of_another(
    storage: Storage, events: Events, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    async with aclosing(events.follow(other.owner, 0)) as told:
        assert await anext(told) == Mark(0)
        await changed(storage, acme, 5)
        events.wake(home(acme))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(told), 0.1)
    assert await numbers(events, other.owner) == []
    await changed(storage, other)
    assert await numbers(events, other.owner) == [1]


async def test_the_operator_and_the_platform_have_no_events(
    storage: Storage, events: Events
) -> None:
    await storage.write(PLATFORM, change)
    with pytest.raises(Refused):
        await events.page(LOCAL_OPERATOR, 0)
    with pytest.raises(Refused):
        events.follow(LOCAL_OPERATOR)


async def test_a_listener_that_does_not_listen_holds_up_nobody_and_no_more_than_so_many_events(
    storage: Storage, events: Events, acme: Tenant
) -> None:
    await changed(storage, acme)
    rounds = (feed.KEPT + 150) // 10
    last = 10 * rounds + 1
    async with aclosing(events.follow(acme.owner, 0)) as slow:
        assert await anext(slow) == Mark(0)
        told = [await anext(slow)]
        for _ in range(rounds):
            await asyncio.gather(*(changed(storage, acme) for _ in range(10)))
            events.wake(home(acme))
        assert await heard(events, acme.owner, last - 1, bool) == [last]
        assert len(events._feeds[home(acme)]._held) <= feed.KEPT
        told += [await asyncio.wait_for(anext(slow), PATIENCE_S) for _ in range(last - 1)]
    assert [each.number for each in told] == list(range(1, last + 1))


async def test_whoever_is_told_nothing_is_told_how_far_it_has_heard(
    storage: Storage, acme: Tenant
) -> None:
    events = Events(storage, poll=SOON, pause=timedelta(milliseconds=100))
    async with aclosing(events.follow(acme.member(acme.ben))) as told:
        assert await anext(told) == Mark(0)
        await changed(storage, acme, 3, user_id=acme.anna.id)
        marks = [await asyncio.wait_for(anext(told), PATIENCE_S) for _ in range(3)]
    await events.close()
    assert marks[-1] == Mark(3)


async def test_whoever_leaves_leaves_nothing_behind(
    storage: Storage, events: Events, acme: Tenant
) -> None:
    before = asyncio.all_tasks()
    followers = [events.follow(acme.owner) for _ in range(50)]
    for told in followers:
        await anext(told)
    waiting = [asyncio.ensure_future(anext(told)) for told in followers]
    await asyncio.sleep(0.1)
    assert len(asyncio.all_tasks() - before) == len(followers) + 1  # one reader for all of them
    for each in waiting[:-1]:
        each.cancel()
    await asyncio.wait(waiting[:-1])
    assert len(asyncio.all_tasks() - before) == 2
    await changed(storage, acme)
    assert isinstance(await asyncio.wait_for(waiting[-1], PATIENCE_S), Event)
    await followers[-1].aclose()
    await asyncio.sleep(0.1)
    assert events._feeds == {}
    assert asyncio.all_tasks() - before == set()


async def test_closing_ends_whatever_is_followed_at_once(storage: Storage, acme: Tenant) -> None:
    events = Events(storage, poll=LONG, pause=LONG)
    told = events.follow(acme.owner)
    await anext(told)
    waiting = asyncio.ensure_future(anext(told, None))
    await asyncio.sleep(0.05)
    await asyncio.wait_for(events.close(), 2)
    assert await asyncio.wait_for(waiting, 2) is None
    assert [each async for each in events.follow(acme.owner)] == [Mark(0)]
    assert events._feeds == {}


@pytest.mark.parametrize("after", [0, 3])
async def test_a_number_that_was_pruned_is_answered_with_a_reset_and_the_rest_is_told(
    storage: Storage, events: Events, acme: Tenant, after: int
) -> None:
    await changed(storage, acme, 10)
    future = datetime.now(UTC) + timedelta(days=1)
    assert await storage.write(home(acme), store.prune, future, 4) == 4
    page = await events.page(acme.owner, after)
    assert (page.items, page.number, page.reset) == ([], 10, True)
    async with aclosing(events.follow(acme.owner, after)) as told:
        assert await anext(told) == Reset(10)
        await changed(storage, acme)
        event = await asyncio.wait_for(anext(told), PATIENCE_S)
    assert isinstance(event, Event)
    assert event.number == 11
    assert await numbers(events, acme.owner, 4) == list(range(5, 12))


async def test_whoever_is_overtaken_by_the_pruning_is_told_so(
    storage: Storage, events: Events, acme: Tenant
) -> None:
    await changed(storage, acme, 150)
    async with aclosing(events.follow(acme.owner, 0)) as told:
        first = [await anext(told) for _ in range(11)]
        await storage.write(home(acme), store.prune, datetime.now(UTC) + timedelta(days=1), 120)
        rest = [await asyncio.wait_for(anext(told), PATIENCE_S) for _ in range(91)]
    assert [each.number for each in (*first, *rest[:-1])] == list(range(101))
    assert rest[-1] == Reset(150)


async def test_the_last_number_needs_no_reset_when_all_was_pruned(
    storage: Storage, events: Events, acme: Tenant
) -> None:
    await changed(storage, acme, 3)
    future = datetime.now(UTC) + timedelta(days=1)
    assert await storage.write(home(acme), store.prune, future, 100) == 3
    page = await events.page(acme.owner, 3)
    assert (page.items, page.number, page.reset) == ([], 3, False)
    assert (await events.page(acme.owner, 2)).reset
    await changed(storage, acme)
    assert await numbers(events, acme.owner, 3) == [4]


async def test_a_number_that_is_yet_to_come_is_answered_with_a_reset(
    storage: Storage, events: Events, acme: Tenant
) -> None:
    await changed(storage, acme, 2)
    for after in (3, 2**62):
        assert (await events.page(acme.owner, after)).reset
        async with aclosing(events.follow(acme.owner, after)) as told:
            assert await anext(told) == Reset(2)


async def test_events_are_kept_for_thirty_days_and_go_in_the_order_of_their_numbers(
    database_url: str,
) -> None:
    now = [datetime(2026, 3, 1, tzinfo=UTC)]
    storage = await Storage.open(database_url, clock=lambda: now[0])
    events, acme = Events(storage), await new_tenant(storage)
    await changed(storage, acme, 2)
    now[0] += timedelta(hours=2)
    await changed(storage, acme)
    now[0] -= timedelta(hours=1)  # a clock that was set back
    await changed(storage, acme)
    now[0] += timedelta(hours=5)
    await changed(storage, acme)
    now[0] = datetime(2026, 3, 1, 1, 30, tzinfo=UTC) + KEPT_FOR
    assert await events.prune(home(acme)) == 4
    assert await events.prune(home(acme)) == 0
    assert await numbers(events, acme.owner, 4) == [5]
    await storage.close()


async def test_followers_outlive_a_database_that_is_away_for_a_while(
    sqlite_database: str, caplog: pytest.LogCaptureFixture
) -> None:
    storage = await Storage.open(sqlite_database)
    events, acme = Events(storage, poll=SOON), await new_tenant(storage)
    with closing(sqlite3.connect(sqlite_database.removeprefix("sqlite:///"))) as other_program:
        async with aclosing(events.follow(acme.owner)) as told:
            await anext(told)
            hearing = asyncio.ensure_future(anext(told))
            other_program.execute("ALTER TABLE event_counters RENAME TO taken_away")
            await asyncio.sleep(0.1)
            other_program.execute("ALTER TABLE taken_away RENAME TO event_counters")
            await changed(storage, acme)
            assert isinstance(await asyncio.wait_for(hearing, PATIENCE_S), Event)
    await events.close()
    await storage.close()
    assert "can't be read for now" in caplog.text
    assert "event_counters" not in caplog.text
