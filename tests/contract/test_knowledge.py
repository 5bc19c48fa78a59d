"""Documents become searchable whole or not at all, for their own organization alone."""

import asyncio
import json
import threading
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import func, select

from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.access.service import Access
from memoranda.knowledge import ingest as ingestion
from memoranda.knowledge.errors import DocumentTooLarge
from memoranda.knowledge.models import Source
from memoranda.knowledge.service import Knowledge
from memoranda.storage import PLATFORM, Storage, Transaction
from memoranda.storage.tables import (
    knowledge_chunks,
    knowledge_sources,
    search_documents,
    search_postings,
    search_terms,
)
from memoranda.words.errors import Conflict, Invalid, NotFound, Refused

HANDBOOK = b"""# Handbook

We never promise a delivery under ten working days.

## Refunds

A refund takes two weeks and goes to the card it came from.
"""
TURNS = [
    {"speaker": "Ana", "text": "I moved to Lisbon in March.", "id": "t1", "at": "2024-03-02"},
    {"speaker": "Ben", "text": "How do you like it there?", "id": "t2", "at": "2024-03-02"},
    {"speaker": "Ana", "text": "The pastries alone are worth it.", "id": "t3", "at": "2024-03-02"},
]


@pytest.fixture
def knowledge(storage: Storage) -> Knowledge:
    return Knowledge(storage, max_bytes=100_000)


@pytest.fixture
async def owner(storage: Storage) -> Principal:
    return await Access(storage).ensure_default()


async def another(storage: Storage, name: str = "Other") -> Principal:
    made = await Access(storage).create_organization(LOCAL_OPERATOR, name)
    return Principal(
        organization_id=made.organization.id, role=Role.OWNER, user_id=made.organization.owner_id
    )


async def drain(knowledge: Knowledge, scope: UUID | None) -> None:
    worker = uuid4()
    place = PLATFORM if scope is None else scope
    while (source := await knowledge.claim(place, worker)) is not None:
        await knowledge.ingest(place, source, worker)


async def added(knowledge: Knowledge, who: Principal, content: bytes, **fields: str) -> Source:
    fields = {"title": "handbook.md", **fields}
    source = await knowledge.add(who, content, **fields)
    await drain(knowledge, who.organization_id)
    return await knowledge.get(who, source.id)


async def texts(knowledge: Knowledge, who: Principal, query: str, **options: bool) -> list[str]:
    return [result.text for result in (await knowledge.search(who, query, **options)).results]


async def test_a_document_is_searched_once_it_is_ready(
    knowledge: Knowledge, owner: Principal
) -> None:
    pending = await knowledge.add(owner, HANDBOOK, title="handbook.md")
    assert pending.status == "pending"
    assert await texts(knowledge, owner, "delivery promise") == []
    await drain(knowledge, owner.organization_id)
    ready = await knowledge.get(owner, pending.id)
    assert (ready.status, ready.reason, ready.chunks) == ("ready", None, 2)
    answer = await knowledge.search(owner, "delivery promise")
    best = answer.results[0]
    assert best.text == "We never promise a delivery under ten working days."
    assert (best.ref.kind, best.source_id, best.place) == ("chunk", ready.id, "Handbook")
    assert (answer.semantic, answer.model) == (False, None)


async def test_a_turn_of_a_transcript_keeps_its_own_id(
    knowledge: Knowledge, owner: Principal
) -> None:
    content = "\n".join(json.dumps(turn) for turn in TURNS).encode()
    source = await added(knowledge, owner, content, title="chat.jsonl")
    assert (source.kind, source.chunks) == ("transcript", 3)
    best = (await knowledge.search(owner, "Where did Ana move?")).results[0]
    assert (best.external_id, best.speaker, best.at) == ("t1", "Ana", "2024-03-02")


@pytest.mark.parametrize(
    ("content", "title", "word"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", "readme.md", "png picture"),
        (b"", "empty.txt", "is empty"),
        (b'{"speaker": "Ana", "text": " "}\n', "chat.jsonl", "turn"),
        (b'{"speaker": "Ana"\n', "chat.jsonl", "line 1"),
    ],
)
async def test_what_cant_be_read_ends_failed_and_says_why(
    knowledge: Knowledge, owner: Principal, content: bytes, title: str, word: str
) -> None:
    source = await added(knowledge, owner, content, title=title)
    assert source.status == "failed"
    assert word in (source.reason or "").lower()
    assert source.chunks == 0


async def test_a_failed_source_is_tried_again_when_asked_and_no_other(
    knowledge: Knowledge, owner: Principal
) -> None:
    failed = await added(knowledge, owner, b"", title="empty.txt")
    assert (await knowledge.retry(owner, failed.id)).status == "pending"
    ready = await added(knowledge, owner, HANDBOOK)
    with pytest.raises(Conflict, match="ready"):
        await knowledge.retry(owner, ready.id)


async def test_too_large_a_document_is_refused_before_anything_is_stored(
    storage: Storage, owner: Principal
) -> None:
    small = Knowledge(storage, max_bytes=10)
    with pytest.raises(DocumentTooLarge, match="10 bytes"):
        await small.add(owner, b"x" * 11, title="big.txt")
    assert (await small.page(owner)).items == []


async def test_the_same_object_is_the_same_source(knowledge: Knowledge, owner: Principal) -> None:
    first = await added(knowledge, owner, HANDBOOK, object_key="bucket/handbook")
    again = await added(knowledge, owner, HANDBOOK, object_key="bucket/handbook")
    assert (again.id, again.status, again.updated_at) == (first.id, "ready", first.updated_at)
    changed = await added(
        knowledge, owner, b"Deliveries take a week.", title="h.txt", object_key="bucket/handbook"
    )
    assert (changed.id, changed.chunks) == (first.id, 1)
    assert await texts(knowledge, owner, "refund") == []
    assert await texts(knowledge, owner, "deliveries") == ["Deliveries take a week."]
    by_uri = [await added(knowledge, owner, HANDBOOK, uri="file:///h.md") for _ in range(2)]
    assert by_uri[0].id == by_uri[1].id != first.id


async def test_two_organizations_may_hold_the_same_object(
    storage: Storage, knowledge: Knowledge, owner: Principal
) -> None:
    other = await another(storage)
    mine = await added(knowledge, owner, HANDBOOK, object_key="k")
    theirs = await added(knowledge, other, HANDBOOK, object_key="k")
    assert mine.id != theirs.id
    assert {result.source_id for result in (await knowledge.search(other, "refund")).results} == {
        theirs.id
    }
    for verb in (knowledge.get, knowledge.retry, knowledge.remove):
        with pytest.raises(NotFound):
            await verb(other, mine.id)
    found = await knowledge.search(other, "refund", source_ids=[mine.id])
    assert found.results == []


async def test_removing_a_source_leaves_nothing_of_it(
    storage: Storage, knowledge: Knowledge, owner: Principal
) -> None:
    source = await added(knowledge, owner, HANDBOOK)
    keeps = await added(knowledge, owner, b"A refund needs the receipt.", title="r.txt")
    await knowledge.remove(owner, source.id)
    assert await texts(knowledge, owner, "refund") == ["A refund needs the receipt."]
    rows = await storage.read(_scope(owner), _leftovers, source.id)
    assert rows == {"chunks": 0, "postings": 0, "documents": 0}
    await knowledge.remove(owner, keeps.id)
    assert await storage.read(_scope(owner), _terms) == 0


async def test_platform_documents_are_found_only_where_they_are_asked_for(
    storage: Storage, knowledge: Knowledge, owner: Principal
) -> None:
    platform = await knowledge.add(
        LOCAL_OPERATOR, b"A lifecycle has five stages.", title="manual.txt", platform=True
    )
    await drain(knowledge, None)
    assert await texts(knowledge, owner, "lifecycle") == []
    assert await texts(knowledge, owner, "lifecycle", include_platform=True) == [
        "A lifecycle has five stages."
    ]
    assert (await knowledge.get(owner, platform.id)).organization_id is None
    with pytest.raises(Refused):
        await knowledge.remove(owner, platform.id)
    with pytest.raises(Refused):
        await knowledge.add(owner, b"x", title="x.txt", platform=True)


async def test_a_scope_that_is_not_asked_for_is_not_searched(
    knowledge: Knowledge, owner: Principal
) -> None:
    await added(knowledge, owner, HANDBOOK)
    assert await texts(knowledge, owner, "refund", include_organization=False) == []


async def test_two_workers_never_get_the_same_source(
    knowledge: Knowledge, owner: Principal
) -> None:
    for number in range(6):
        await knowledge.add(owner, HANDBOOK, title=f"{number}.md")
    scope = _scope(owner)
    claims = await asyncio.gather(*(knowledge.claim(scope, uuid4()) for _ in range(12)))
    taken = [claim for claim in claims if claim is not None]
    assert len(set(taken)) == len(taken)
    assert taken


async def test_a_dead_workers_source_is_taken_over_and_its_late_answer_is_refused(
    database_url: str,
) -> None:
    now = [datetime(2026, 3, 1, tzinfo=UTC)]
    storage = await Storage.open(database_url, clock=lambda: now[0])
    try:
        knowledge = Knowledge(storage, max_bytes=100_000)
        owner = await Access(storage).ensure_default()
        scope = _scope(owner)
        source = await knowledge.add(owner, HANDBOOK, title="handbook.md")
        dead, living = uuid4(), uuid4()
        assert await knowledge.claim(scope, dead) == source.id
        assert await knowledge.claim(scope, living) is None
        now[0] += ingestion.LEASE + timedelta(seconds=1)
        assert await knowledge.claim(scope, living) == source.id
        assert await knowledge.ingest(scope, source.id, dead) is None
        done = await knowledge.ingest(scope, source.id, living)
        assert done is not None
        assert (done.status, done.chunks) == ("ready", 2)
        assert await knowledge.ingest(scope, source.id, living) is None
        assert len(await texts(knowledge, owner, "refund")) > 0
    finally:
        await storage.close()


async def test_a_source_that_breaks_three_workers_ends_failed(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no document's fault")

    monkeypatch.setattr(ingestion, "extract", broken)
    now = [datetime(2026, 3, 1, tzinfo=UTC)]
    storage = await Storage.open(database_url, clock=lambda: now[0])
    try:
        knowledge = Knowledge(storage, max_bytes=100_000)
        owner = await Access(storage).ensure_default()
        source = await knowledge.add(owner, HANDBOOK, title="handbook.md")
        seen = []
        for _ in range(3):
            await drain(knowledge, owner.organization_id)
            seen.append((await knowledge.get(owner, source.id)).status)
            now[0] += timedelta(hours=1)
        assert seen == ["pending", "pending", "failed"]
        reason = (await knowledge.get(owner, source.id)).reason
        assert reason is not None
        assert "3 tries" in reason
    finally:
        await storage.close()


async def test_a_worker_that_is_stopped_gives_its_source_back_at_once(
    knowledge: Knowledge, owner: Principal, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, go_on = threading.Event(), threading.Event()

    def slow(*_: object, **__: object) -> None:
        reading.set()
        go_on.wait(30)

    source = await knowledge.add(owner, HANDBOOK, title="handbook.md")
    stopped = uuid4()
    assert await knowledge.claim(_scope(owner), stopped) == source.id
    with monkeypatch.context() as patched:
        patched.setattr(ingestion, "extract", slow)
        work = asyncio.create_task(knowledge.ingest(_scope(owner), source.id, stopped))
        await asyncio.to_thread(reading.wait, 30)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        go_on.set()
    await drain(knowledge, owner.organization_id)
    assert (await knowledge.get(owner, source.id)).status == "ready"


@pytest.mark.parametrize("title", ["", "   ", "a\0b", "\ud800"])
async def test_a_title_that_cant_be_stored_is_refused(
    knowledge: Knowledge, owner: Principal, title: str
) -> None:
    with pytest.raises(Invalid, match="title"):
        await knowledge.add(owner, HANDBOOK, title=title)


async def test_pages_go_on_where_the_last_one_ended(knowledge: Knowledge, owner: Principal) -> None:
    made = [await knowledge.add(owner, HANDBOOK, title=f"{n}.md") for n in range(5)]
    first = await knowledge.page(owner, limit=2)
    await knowledge.add(owner, HANDBOOK, title="later.md")
    await knowledge.remove(owner, made[2].id)
    second = await knowledge.page(owner, limit=9, cursor=first.next_cursor)
    assert [source.title for source in first.items] == ["4.md", "3.md"]
    assert [source.title for source in second.items] == ["1.md", "0.md"]
    assert second.next_cursor is None
    for wrong in ("garbled", str(made[0].id)):
        with pytest.raises(Invalid) as refused:
            await knowledge.page(owner, cursor=wrong)
        assert refused.value.details == {"field": "cursor"}


def _scope(who: Principal) -> UUID:
    assert who.organization_id is not None
    return who.organization_id


CHUNKS_LEFT = select(func.count(knowledge_chunks.c.id)).join(
    knowledge_sources, knowledge_chunks.c.source_id == knowledge_sources.c.id
)
POSTINGS_LEFT = select(search_postings.c.document_id)
DOCUMENTS_LEFT = select(search_documents.c.document_id)
TERMS_LEFT = select(func.count(search_terms.c.term))


def _leftovers(tx: Transaction, source_id: UUID) -> dict[str, int]:
    return {
        "chunks": tx.one(CHUNKS_LEFT)[0] - 1,
        "postings": sum(row.document_id == source_id for row in tx.all(POSTINGS_LEFT)),
        "documents": sum(row.document_id == source_id for row in tx.all(DOCUMENTS_LEFT)),
    }


def _terms(tx: Transaction) -> int:
    count: int = tx.one(TERMS_LEFT)[0]
    return count
