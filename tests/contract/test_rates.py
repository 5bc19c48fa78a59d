"""What rates promise on every database: no more than the limit, each asker by itself, all processes together."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.access.rates import store
from memoranda.access.rates.service import Rate, Rates, TooManyRequests
from memoranda.storage import Storage, Transaction
from memoranda.words.ids import new_id
from tests.contract.copied_rows import rows_of
from tests.contract.tenants import Tenant, new_tenant

WRITES, LISTS = Rate.MEMORY_WRITES, Rate.LISTS
LIMIT = 60


class Minute:
    """A database, a clock that the test sets, and rates over it."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.now = datetime(2026, 5, 1, 12, 0, 20, tzinfo=UTC)
        self.storage: Storage

    def clock(self) -> datetime:
        return self.now

    def rates(self, storage: Storage | None = None, *, limit: int = LIMIT) -> Rates:
        limits = {WRITES: limit, LISTS: 2 * limit}
        return Rates(storage or self.storage, limits, clock=self.clock)

    async def rows(self, organization_id: UUID) -> list[dict[str, object]]:
        return (await self.storage.read(organization_id, rows_of))["rate_windows"]


@pytest.fixture
async def minute(database_url: str) -> AsyncIterator[Minute]:
    made = Minute(database_url)
    made.storage = await Storage.open(database_url, clock=made.clock)
    yield made
    await made.storage.close()


@pytest.fixture
async def acme(minute: Minute) -> Tenant:
    return await new_tenant(minute.storage)


async def allowed(rates: Rates, who: Principal, rate: Rate, asked: int) -> int:
    """How many of so many requests at once are answered."""
    told = await asyncio.gather(
        *(rates.count(who, rate) for _ in range(asked)), return_exceptions=True
    )
    assert all(each is None or isinstance(each, TooManyRequests) for each in told)
    return told.count(None)


async def test_a_minute_allows_the_limit_and_not_one_more(minute: Minute, acme: Tenant) -> None:
    rates = minute.rates()
    assert await allowed(rates, acme.owner, WRITES, LIMIT) == LIMIT
    assert await allowed(rates, acme.owner, WRITES, 20) == 0
    assert await allowed(rates, acme.owner, LISTS, 3 * LIMIT) == 2 * LIMIT


async def test_whoever_waits_as_long_as_it_was_told_is_answered(
    minute: Minute, acme: Tenant
) -> None:
    rates = minute.rates(limit=2)
    assert await allowed(rates, acme.owner, WRITES, 2) == 2
    minute.now += timedelta(seconds=12, milliseconds=300)
    with pytest.raises(TooManyRequests) as refused:
        await rates.count(acme.owner, WRITES)
    assert refused.value.details["retry_after_s"] == 28
    assert refused.value.details["limit"] == 2
    minute.now += timedelta(seconds=26)
    assert await allowed(rates, acme.owner, WRITES, 1) == 0
    minute.now += timedelta(seconds=2)
    assert await allowed(rates, acme.owner, WRITES, 3) == 2


async def test_the_last_moment_of_a_minute_is_a_second_to_wait(
    minute: Minute, acme: Tenant
) -> None:
    rates = minute.rates(limit=1)
    minute.now = minute.now.replace(second=59, microsecond=999_999)
    await rates.count(acme.owner, WRITES)
    with pytest.raises(TooManyRequests) as refused:
        await rates.count(acme.owner, WRITES)
    assert refused.value.details["retry_after_s"] == 1


async def test_each_user_is_counted_alone_and_all_of_its_keys_together(
    minute: Minute, acme: Tenant
) -> None:
    rates = minute.rates()
    anna = acme.member(acme.anna)
    for_anna = acme.key_of(acme.scout, acme.anna)
    assert await allowed(rates, anna, WRITES, LIMIT - 1) == LIMIT - 1
    assert await allowed(rates, for_anna, WRITES, 5) == 1
    assert await allowed(rates, acme.member(acme.ben), WRITES, LIMIT + 1) == LIMIT
    other = await new_tenant(minute.storage, "Other")
    assert await allowed(rates, other.owner, WRITES, LIMIT + 1) == LIMIT


async def test_a_key_without_a_user_is_counted_alone(minute: Minute, acme: Tenant) -> None:
    rates = minute.rates()
    for _ in range(2):
        key = acme.key_of(acme.scout).model_copy(update={"key_id": new_id()})
        assert await allowed(rates, key, LISTS, 2 * LIMIT + 1) == 2 * LIMIT


async def test_no_limit_counts_nothing(minute: Minute, acme: Tenant) -> None:
    rates = minute.rates(limit=0)
    assert await allowed(rates, acme.owner, WRITES, 500) == 500
    assert await minute.rows(home(acme)) == []


async def test_the_operator_is_not_counted(minute: Minute) -> None:
    assert await allowed(minute.rates(limit=1), LOCAL_OPERATOR, WRITES, 5) == 5


@pytest.mark.parametrize("processes", [2, 5])
async def test_processes_that_share_a_database_never_allow_more_than_the_limit_together(
    postgres_database: str, processes: int
) -> None:
    minute = Minute(postgres_database)
    async with AsyncExitStack() as stack:
        opened = []
        for _ in range(processes):
            storage = await Storage.open(postgres_database, clock=minute.clock)
            stack.push_async_callback(storage.close)
            opened.append(minute.rates(storage))
            minute.storage = storage
        acme = await new_tenant(minute.storage)
        one_by_one = 0
        for number in range(2 * LIMIT):
            one_by_one += await allowed(opened[number % processes], acme.owner, WRITES, 1)
        assert LIMIT - 2 * processes <= one_by_one <= LIMIT
        at_once = await asyncio.gather(*(allowed(each, acme.owner, LISTS, 150) for each in opened))
        assert sum(at_once) == 2 * LIMIT


async def test_not_every_request_writes(postgres_database: str) -> None:
    minute = Minute(postgres_database)
    minute.storage = await Storage.open(postgres_database, clock=minute.clock)
    acme, rates = await new_tenant(minute.storage), minute.rates()
    reserved = []

    def watched(tx: Transaction, *args: object) -> int:
        reserved.append(args)
        return reserve(tx, *args)

    reserve = store.reserve
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "reserve", watched)
        assert await allowed(rates, acme.owner, WRITES, 7) == 7
        assert len(reserved) == 1
        assert await allowed(rates, acme.owner, WRITES, 200) == LIMIT - 7
        assert len(reserved) < LIMIT / 2
    await minute.storage.close()


async def test_where_one_process_serves_nothing_is_written(sqlite_database: str) -> None:
    minute = Minute(sqlite_database)
    minute.storage = await Storage.open(sqlite_database, clock=minute.clock)
    acme, rates = await new_tenant(minute.storage), minute.rates()
    assert await allowed(rates, acme.owner, WRITES, LIMIT + 1) == LIMIT
    assert await minute.rows(home(acme)) == []
    await minute.storage.close()


async def test_what_was_counted_in_minutes_long_over_goes(postgres_database: str) -> None:
    minute = Minute(postgres_database)
    minute.storage = await Storage.open(postgres_database, clock=minute.clock)
    acme, rates = await new_tenant(minute.storage), minute.rates()
    for _ in range(30):
        await rates.count(acme.owner, WRITES)
        await rates.count(acme.member(acme.anna), LISTS)
        minute.now += timedelta(minutes=1)
    assert len(await minute.rows(home(acme))) <= 2 * 11
    minute.now += store.KEPT
    await rates.prune(home(acme))
    assert await minute.rows(home(acme)) == []
    await minute.storage.close()


async def test_a_process_keeps_only_the_minute_that_it_is(minute: Minute, acme: Tenant) -> None:
    rates = minute.rates()
    for _ in range(50):
        key = Principal(organization_id=home(acme), role=Role.READ_ONLY, key_id=new_id())
        await rates.count(key, LISTS)
    minute.now += timedelta(minutes=1)
    await rates.count(acme.owner, LISTS)
    assert len(rates._minute.shares) == 1


def home(tenant: Tenant) -> UUID:
    assert tenant.owner.organization_id is not None
    return tenant.owner.organization_id
