"""Documents of every format are taken in whole or end failed with their reason; none waits for ever."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.access.service import Access
from memoranda.jobs.chores import Sweeping
from memoranda.jobs.worker import Worker
from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.models import Source
from memoranda.knowledge.service import Knowledge
from memoranda.storage import PLATFORM, Storage
from tests.contract.clocks import SteppedClock
from tests.knowledge.made_documents import docx, encrypted, paragraph, pdf

DOCUMENTS = {
    "docks.pdf": pdf("The front dock is closed", "Use the back door"),
    "doors.docx": docx(paragraph("Doors", "H1") + paragraph("The front dock is closed.")),
    "docks.html": b"<h1>Docks</h1><p>The front dock is closed.",
    "docks.csv": b"Dock,State\nfront dock,closed\n",
    "docks.tsv": b"Dock\tState\nfront dock\tclosed\n",
}
HOUR = timedelta(hours=1, seconds=1)


@pytest.fixture
def knowledge(storage: Storage) -> Knowledge:
    return Knowledge(storage, max_bytes=1_000_000)


@pytest.fixture
async def owner(storage: Storage) -> Principal:
    return await Access(storage).ensure_default()


async def another(storage: Storage) -> Principal:
    made = await Access(storage).create_organization(LOCAL_OPERATOR, "Other")
    return Principal(
        organization_id=made.organization.id, role=Role.OWNER, user_id=made.organization.owner_id
    )


async def added(knowledge: Knowledge, who: Principal, title: str, content: bytes) -> Source:
    source = await knowledge.add(who, content, title=title)
    worker = uuid4()
    while (claimed := await knowledge.claim(who.organization_id, worker)) is not None:
        await knowledge.ingest(who.organization_id, claimed, worker)
    return await knowledge.get(who, source.id)


@pytest.mark.parametrize("title", DOCUMENTS)
async def test_a_document_of_every_format_is_found_by_its_own_organization_alone(
    storage: Storage, knowledge: Knowledge, owner: Principal, title: str
) -> None:
    other = await another(storage)
    source = await added(knowledge, owner, title, DOCUMENTS[title])
    assert (source.status, source.reason) == ("ready", None)
    [found] = (await knowledge.search(owner, "is the front dock closed", limit=1)).results
    assert found.source_id == source.id
    assert (await knowledge.search(other, "is the front dock closed")).results == []


async def test_a_result_says_which_page_it_is_from(knowledge: Knowledge, owner: Principal) -> None:
    await added(knowledge, owner, "docks.pdf", DOCUMENTS["docks.pdf"])
    [found] = (await knowledge.search(owner, "back door", limit=1)).results
    assert (found.text, found.place) == ("Use the back door", "page 2")


async def test_a_pdf_that_is_called_text_is_read_as_what_it_is(
    knowledge: Knowledge, owner: Principal
) -> None:
    source = await added(knowledge, owner, "docks.txt", DOCUMENTS["docks.pdf"])
    assert (source.kind, source.status) == ("pdf", "ready")


async def test_an_encrypted_document_ends_failed_with_what_to_do(
    knowledge: Knowledge, owner: Principal
) -> None:
    source = await added(knowledge, owner, "a.pdf", encrypted(pdf("secret"), "pw"))
    assert source.status == "failed"
    assert "Save a copy without one" in (source.reason or "")
    assert source.attempts == 1


async def test_a_document_that_hangs_ends_failed_at_the_third_try_with_its_reason(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    slow = replace(Bounds(), seconds=1, depth=1 << 30)
    knowledge = Knowledge(timed_storage, max_bytes=1_000_000, bounds=slow)
    owner = await Access(timed_storage).ensure_default()
    source = await knowledge.add(owner, b"<div>" * 120_000 + b"x", title="deep.html")
    for _ in range(3):
        worker = uuid4()
        assert await knowledge.claim(owner.organization_id, worker) == source.id
        await knowledge.ingest(owner.organization_id, source.id, worker)
        clock.tick(timedelta(minutes=10))
    ended = await knowledge.get(owner, source.id)
    assert (ended.status, ended.attempts) == ("failed", 3)
    assert "took more than 1 seconds" in (ended.reason or "")


async def test_what_waited_for_over_an_hour_has_failed_and_can_be_tried_again(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    knowledge = Knowledge(timed_storage, max_bytes=1_000_000)
    owner = await Access(timed_storage).ensure_default()
    scope = owner.organization_id
    other = await another(timed_storage)
    source = await knowledge.add(owner, DOCUMENTS["docks.html"], title="docks.html")
    strange = await knowledge.add(other, DOCUMENTS["docks.html"], title="docks.html")
    clock.tick(timedelta(hours=1))
    assert not await knowledge.give_up_overdue(scope, uuid4())
    clock.tick()
    assert await knowledge.give_up_overdue(scope, uuid4())
    assert not await knowledge.give_up_overdue(scope, uuid4())
    ended = await knowledge.get(owner, source.id)
    assert (ended.status, "more than an hour" in (ended.reason or "")) == ("failed", True)
    assert (await knowledge.get(other, strange.id)).status == "pending"
    await knowledge.retry(owner, source.id)
    assert not await knowledge.give_up_overdue(scope, uuid4())
    worker = uuid4()
    assert await knowledge.claim(scope, worker) == source.id
    ready = await knowledge.ingest(scope, source.id, worker)
    assert ready is not None
    assert ready.status == "ready"


async def test_what_a_living_worker_holds_is_left_to_it_however_long_it_takes(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    knowledge = Knowledge(timed_storage, max_bytes=1_000_000)
    owner = await Access(timed_storage).ensure_default()
    source = await knowledge.add(owner, DOCUMENTS["docks.html"], title="docks.html")
    clock.tick(HOUR)
    worker = uuid4()
    assert await knowledge.claim(owner.organization_id, worker) == source.id
    assert not await knowledge.give_up_overdue(owner.organization_id, uuid4())
    clock.tick(timedelta(minutes=2))  # its lease is over: it died
    assert await knowledge.give_up_overdue(owner.organization_id, uuid4())
    assert (await knowledge.get(owner, source.id)).status == "failed"


async def test_a_platform_document_waits_no_longer_than_another(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    knowledge = Knowledge(timed_storage, max_bytes=1_000_000)
    source = await knowledge.add(LOCAL_OPERATOR, b"Words", title="a.txt", platform=True)
    clock.tick(HOUR)
    assert await knowledge.give_up_overdue(PLATFORM, uuid4())
    assert (await knowledge.get(LOCAL_OPERATOR, source.id)).status == "failed"


async def test_a_worker_sweeps_and_first_leaves_time_to_take_in_what_waits(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    knowledge = Knowledge(timed_storage, max_bytes=1_000_000)
    owner = await Access(timed_storage).ensure_default()
    source = await knowledge.add(owner, DOCUMENTS["docks.html"], title="docks.html")
    clock.tick(HOUR)
    assert not await Sweeping(knowledge).serve(owner.organization_id, uuid4())
    sweeping = Sweeping(knowledge, rests=timedelta(0))
    assert await Worker(timed_storage, [sweeping]).drain(owner.organization_id)
    assert (await knowledge.get(owner, source.id)).status == "failed"


async def test_two_sweeps_and_a_worker_at_once_end_a_document_once(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    knowledge = Knowledge(timed_storage, max_bytes=1_000_000)
    owner = await Access(timed_storage).ensure_default()
    scope = owner.organization_id
    await knowledge.add(owner, DOCUMENTS["docks.html"], title="docks.html")
    clock.tick(HOUR)
    swept = await asyncio.gather(
        knowledge.give_up_overdue(scope, uuid4()),
        knowledge.give_up_overdue(scope, uuid4()),
        knowledge.claim(scope, uuid4()),
    )
    assert sum(bool(each) for each in swept) == 1
