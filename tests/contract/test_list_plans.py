"""A list is read by an index in its order: what it costs is its page, whatever else is there."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import pytest

from memoranda.conversations import store as conversations
from memoranda.conversations.chats.following import store as following
from memoranda.conversations.chats.models import ChatRunStatus
from memoranda.knowledge import store as knowledge
from memoranda.memories.finding import store as finding
from memoranda.memories.views import store as views
from memoranda.memories.views.store import Wanted
from memoranda.runs import store as runs
from memoranda.runs.history import store as history
from memoranda.runs.models import RunStatus
from memoranda.storage import Storage
from memoranda.words.ref import ResourceRef
from memoranda.words.subject import ContextSubject
from tests.contract.listed_rows import BEGINNING, Full, analyze, effort, fill, overhear

FEW, MANY = 300, 3_000
MOST: Final = 51

Read = Callable[[Any, Full], object]
Places = tuple[str, Storage, Full, Full]


def page(wanted: Wanted, *, user: bool = False, agent: bool = False, after: int = 0) -> Read:
    def read(tx: Any, full: Full) -> object:
        reader = subject(full, user=user, agent=agent) if user or agent else None
        return views.page(tx, reader, wanted, full.some[-after] if after else None, MOST)

    return read


def recent(*, personal: bool, user: bool = True, agent: bool = True) -> Read:
    return lambda tx, full: views.recent(
        tx, subject(full, user=user, agent=agent), personal=personal, most=20
    )


def subject(full: Full, *, user: bool, agent: bool) -> ContextSubject:
    return ContextSubject(
        organization_id=full.organization,
        user_id=full.user if user else None,
        agent_id=full.agent if agent else None,
    )


def talks(*, user: bool = False, agent: bool = False) -> Read:
    return lambda tx, full: conversations.page(
        tx, full.user if user else None, full.agent if agent else None, None, MOST
    )


def ran(
    *, status: bool = False, user: bool = False, agent: bool = False, alone: bool = False
) -> Read:
    return lambda tx, full: runs.page(
        tx,
        status=RunStatus.FAILED if status else None,
        user_id=full.user if user else None,
        agent_id=full.agent if agent else None,
        parent_id=None,
        before=None,
        limit=MOST,
        alone=alone,
    )


def answered(*, user: bool = False, agent: bool = False) -> Read:
    return lambda tx, full: following.page(
        tx,
        ChatRunStatus.FAILED,
        user_id=full.user if user else None,
        agent_id=full.agent if agent else None,
        after=None,
        most=MOST,
    )


def looked_back(*, user: bool = False, rows: bool = False) -> Read:
    return lambda tx, full: history.earlier(
        tx,
        user_id=full.user if user else None,
        trigger_id=None,
        entities=[ResourceRef(kind="deal", id=str(full.user))] if rows else [],
        since=BEGINNING,
        but=None,
        limit=20,
    )


LATER: Final = BEGINNING + timedelta(days=900)
LISTS: Final[dict[str, Read]] = {
    "all": page(Wanted()),
    "all, the next page": page(Wanted(), after=100),
    "all, the oldest first": page(Wanted(oldest_first=True)),
    "pinned": page(Wanted(pinned_only=True)),
    "a user's": page(Wanted(), user=True),
    "a user's, the oldest first": page(Wanted(oldest_first=True), user=True),
    "a user's with an agent": page(Wanted(), user=True, agent=True),
    "an agent's": page(Wanted(), agent=True),
    "for a run: the user's own": recent(personal=True),
    "for a run: the others": recent(personal=False),
    "for a run of any agent": recent(personal=False, agent=False),
    "for a run of nobody": recent(personal=False, user=False, agent=False),
    "some by their ids": lambda tx, full: finding.by_id(
        tx, finding.EVERYBODY, full.some[::12][:20]
    ),
    "conversations": talks(),
    "a user's conversations": talks(user=True),
    "an agent's conversations": talks(agent=True),
    "a user's conversations with an agent": talks(user=True, agent=True),
    "runs": ran(),
    "runs of a status": ran(status=True),
    "a user's runs": ran(user=True),
    "an agent's runs": ran(agent=True),
    "an agent's runs for a user": ran(user=True, agent=True),
    "an agent's runs for nobody": ran(agent=True, alone=True),
    "a user's runs looked back at": looked_back(user=True),
    "runs about a row": looked_back(rows=True),
    "ended runs of chats": answered(),
    "ended runs of a user's chats": answered(user=True),
    "ended runs of an agent's chats": answered(agent=True),
    "ended runs of a user's chats with an agent": answered(user=True, agent=True),
    "sources": lambda tx, _: knowledge.page(tx, None, MOST),
    "activities": lambda tx, _: runs.activities_before(tx, None, MOST),
}
"""Lists of a brand-new database, before anything in it was counted."""
COUNTED: Final[dict[str, Read]] = {
    **LISTS,
    "as of a time": page(Wanted(as_of=LATER)),
    "a user's as of a time": page(Wanted(as_of=LATER), user=True),
    "unused": page(Wanted(unused_only=True)),
}


@pytest.fixture(scope="module")
async def places(module_database_url: str) -> AsyncIterator[Places]:
    """A database with an organization of a few rows and one of many."""
    storage = await Storage.open(module_database_url)
    try:
        yield module_database_url, storage, await fill(storage, FEW), await fill(storage, MANY)
    finally:
        await storage.close()


async def costs(places: Places, read: Read) -> tuple[int, int]:
    """What the list costs among few and among many."""
    url, storage, *both = places
    found = []
    for full in both:
        asked = await overhear(storage, full.organization, lambda tx, full=full: read(tx, full))
        found.append(effort(url, full.organization, asked))
    return found[0], found[1]


@pytest.mark.parametrize("read", LISTS.values(), ids=LISTS)
async def test_a_list_in_a_new_database_costs_its_page(places: Places, read: Read) -> None:
    few, many = await costs(places, read)
    assert many <= 1.5 * few + 10


@pytest.mark.parametrize("read", COUNTED.values(), ids=COUNTED)
async def test_a_list_costs_its_page_once_the_database_has_counted(
    places: Places, read: Read
) -> None:
    analyze(places[0])
    few, many = await costs(places, read)
    assert many <= 1.5 * few + 10


async def test_a_full_page_is_what_was_measured(places: Places) -> None:
    _, storage, _, full = places
    ids: list[UUID] = []
    for name in ("all", "a user's", "a user's with an agent", "an agent's"):
        await overhear(
            storage,
            full.organization,
            lambda tx, name=name: ids.extend(each.id for each in LISTS[name](tx, full)),  # type: ignore[attr-defined]  # these are pages
        )
    assert len(ids) >= 3 * MOST
