"""How many memories a reader may know is told truly, and whichever way they are looked for, the same is found."""

from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import product
from uuid import UUID

import pytest
from sqlalchemy import select

from memoranda.memories.audience import Audience
from memoranda.memories.finding.reach import store
from memoranda.memories.finding.reach.store import EVERYBODY, Reader, reach
from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import memories
from memoranda.words.ids import new_id
from memoranda.words.subject import ContextSubject
from tests.contract.finding_desk import Desk, SetClock

LIVE = select(
    *(memories.c[name] for name in ("id", "user_id", "agent_id", "space", "expires_at"))
).where(memories.c.live)
QUERIES = ("oak table", "ash", "the oak and the elm of nobody", "OAK 1", "no such word")


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
async def desk(database_url: str, clock: SetClock) -> AsyncIterator[Desk]:
    storage = await Storage.open(database_url, clock=clock)
    yield await Desk.open(storage)
    await storage.close()


async def _fill(desk: Desk, clock: SetClock) -> None:
    """Memories of every audience, some of which have expired."""
    acme, until = desk.acme, clock.now + timedelta(days=1)
    users, agents = (None, acme.anna.id, acme.ben.id), (None, acme.scout.id, acme.clerk.id)
    for number, parts in enumerate(product(users, agents, (None, "music;user=1"))):
        said = [f"oak {number} is a table", f"ash {number} and an oak"]
        await desk.remember_at_once(said, Audience(*parts))
        await desk.remember_at_once([f"elm {number}"], Audience(*parts), expires_at=until)
    clock.pass_days(2)


def _readers(desk: Desk) -> list[Reader]:
    acme = desk.acme
    users, agents = (None, acme.anna.id, new_id()), (None, acme.scout.id, new_id())
    subjects = [
        ContextSubject(organization_id=desk.organization, user_id=user, agent_id=agent)
        for user, agent in product(users, agents)
    ]
    return [EVERYBODY, *map(Reader.of, subjects)]


def _known(tx: Transaction, reader: Reader) -> tuple[int, set[UUID]]:
    """How many are held, and which of them the reader may know, one by one."""
    rows = tx.all(LIVE)
    users, agents = {None, reader.user}, {None, reader.agent}
    return len(rows), {
        row.id
        for row in rows
        if row.space is None
        and (row.expires_at is None or row.expires_at > tx.now)
        and (reader.any_user or row.user_id in users)
        and (reader.any_agent or row.agent_id in agents)
    }


@pytest.mark.parametrize("many", [0, 10, 5_000])
async def test_what_is_counted_is_what_each_reader_may_know(
    desk: Desk, clock: SetClock, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MANY", many)
    await _fill(desk, clock)
    for reader in _readers(desk):
        held, known = await desk.storage.read(desk.organization, _known, reader)
        told = await desk.storage.read(desk.organization, reach, reader)
        assert (told.held, told.known) == (held, len(known)), reader
        assert told.ids is None or set(told.ids) == known


async def test_a_few_among_many_are_named(
    desk: Desk, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MANY", 20)
    await _fill(desk, clock)
    for reader in _readers(desk)[1:]:
        told = await desk.storage.read(desk.organization, reach, reader)
        assert (told.ids is not None) == (told.known <= 20)


@pytest.mark.parametrize("agents", [0, 200])
async def test_a_search_finds_the_same_whichever_way_it_looks(
    desk: Desk, clock: SetClock, agents: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _fill(desk, clock)
    acme = desk.acme
    whose = [{}, {"user_id": acme.anna.id}, {"user_id": acme.ben.id, "agent_id": acme.clerk.id}]
    asked = [(query, named, limit) for query in QUERIES for named in whose for limit in (1, 3, 50)]
    plainly = [await desk.search(query, limit=limit, **named) for query, named, limit in asked]
    assert any(found.results for found in plainly)
    monkeypatch.setattr(store, "MANY", 20)
    monkeypatch.setattr(store, "MOST_AGENTS", agents)
    for (query, named, limit), found in zip(asked, plainly, strict=True):
        assert await desk.search(query, limit=limit, **named) == found


async def test_who_belongs_to_all_audiences_needs_no_count(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme = desk.acme
    for audience in (Audience(), Audience(user_id=acme.anna.id), Audience(agent_id=acme.scout.id)):
        await desk.remember_at_once([f"oak of {audience.spelled}"], audience)
    monkeypatch.setattr(store, "HOW_MANY", None)  # whoever counts breaks
    subject = ContextSubject(organization_id=desk.organization, user_id=acme.anna.id)
    told = await desk.storage.read(desk.organization, reach, Reader.of(subject))
    assert (told.held, told.known) == (3, 3)
    await desk.remember_at_once(["oak of Ben"], Audience(user_id=acme.ben.id))
    with pytest.raises(Exception, match="NoneType"):
        await desk.storage.read(desk.organization, reach, Reader.of(subject))


async def test_an_empty_organization_has_nothing_to_know(desk: Desk) -> None:
    for reader in _readers(desk):
        assert await desk.storage.read(desk.organization, reach, reader) == (0, 0, None)


def test_a_reader_belongs_to_the_audiences_that_cover_it() -> None:
    users, agents = (None, new_id(), new_id()), (None, new_id(), new_id())
    organization_id = new_id()
    for user, agent, space in product(users, agents, (None, "music", "user=1;agent=2")):
        audience = Audience(user, agent, space)
        for whose, by in product(users, agents):
            subject = ContextSubject(organization_id=organization_id, user_id=whose, agent_id=by)
            assert Reader.of(subject).belongs_to(audience.spelled) == audience.covers(subject)


async def test_what_has_expired_is_known_to_nobody(desk: Desk, clock: SetClock) -> None:
    await desk.remember("oak")
    await desk.remember("elm", expires_at=clock.now + timedelta(days=1))
    everyone = [EVERYBODY, Reader(any_agent=True)]
    told = [await desk.storage.read(desk.organization, reach, reader) for reader in everyone]
    assert told == [(2, 2, None)] * 2
    clock.pass_days(2)
    told = [await desk.storage.read(desk.organization, reach, reader) for reader in everyone]
    assert told == [(2, 1, None)] * 2
