"""A ready document is not given up for bytes that can't take its place, and stays where it was in line."""

import asyncio
import threading
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from memoranda.access.models import LOCAL_OPERATOR, Principal
from memoranda.knowledge import ingest
from memoranda.knowledge.chunk import Chunk
from memoranda.knowledge.errors import BinaryFile, BrokenTranscript, UnreadableDocument, WrongKind
from memoranda.knowledge.extract import extract, misfit
from memoranda.knowledge.models import Source, SourceKind
from memoranda.knowledge.service import Knowledge
from memoranda.storage import PLATFORM, Storage
from tests.contract.clocks import SteppedClock
from tests.contract.tenants import Tenant, new_tenant
from tests.knowledge.made_documents import docx, ole, paragraph, pdf

TEXT = b"The front dock is closed.\n"
TURN = b'{"speaker": "Ada", "text": "hi"}'


@pytest.fixture
def knowledge(storage: Storage) -> Knowledge:
    return Knowledge(storage, max_bytes=100_000)


async def taken_in(knowledge: Knowledge, who: Principal) -> None:
    scope = who.organization_id or PLATFORM
    worker = uuid4()
    while (claimed := await knowledge.claim(scope, worker)) is not None:
        await knowledge.ingest(scope, claimed, worker)


async def add(
    knowledge: Knowledge, who: Principal, content: bytes, kind: SourceKind | None = None
) -> Source:
    return await knowledge.add(
        who,
        content,
        title="docks.txt",
        kind=kind,
        uri="made:docks",
        platform=who.organization_id is None,
    )


@pytest.mark.parametrize(
    ("content", "kind", "error"),
    [
        (TEXT, "pdf", WrongKind),
        (TEXT, "docx", WrongKind),
        (TEXT, "transcript", BrokenTranscript),
        (pdf("x"), "html", WrongKind),
        (docx(paragraph("x")), "pdf", WrongKind),
        (b"\x89PNG\r\n\x1a\n", None, BinaryFile),
        (ole("EncryptedPackage"), "docx", UnreadableDocument),
        (b"", None, UnreadableDocument),
        (b"RIFF\x1a\0\0\0WEBPVP8 ", None, BinaryFile),
        (b"The front dock" + b" is open" * 900 + b"\0\1\2", "markdown", BinaryFile),
        (b"<p>The front dock</p>\0", "html", BinaryFile),
    ],
)
@pytest.mark.parametrize("platform", [False, True])
async def test_what_is_not_of_its_kind_takes_no_ready_document_out_of_search(
    knowledge: Knowledge,
    acme: Tenant,
    content: bytes,
    kind: SourceKind | None,
    error: type[UnreadableDocument],
    *,
    platform: bool,
) -> None:
    who = LOCAL_OPERATOR if platform else acme.owner
    await add(knowledge, who, TEXT)
    await taken_in(knowledge, who)
    before = await add(knowledge, who, TEXT)
    with pytest.raises(error) as refused:
        await knowledge.add(
            who,
            content,
            title="other",
            kind=kind,
            uri="made:docks",
            summary="New.",
            object_key="key",
            platform=platform,
        )
    assert refused.value.message.endswith("'docks.txt' stays as it was.")
    assert await knowledge.get(who, before.id) == before
    await taken_in(knowledge, who)
    found = await knowledge.search(acme.owner, "front dock", include_platform=True)
    assert [each.source_id for each in found.results] == [before.id]


async def test_what_no_ready_document_gives_way_to_fails_with_its_reason(
    storage: Storage, knowledge: Knowledge, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    await add(knowledge, other.owner, TEXT)
    await taken_in(knowledge, other.owner)
    for content in (TEXT, b"More words."):  # new, and in the place of one that failed
        source = await add(knowledge, acme.owner, content, "pdf")
        await taken_in(knowledge, acme.owner)
        ended = await knowledge.get(acme.owner, source.id)
        assert (ended.status, "called PDF and is none" in (ended.reason or "")) == ("failed", True)
    await add(knowledge, acme.owner, TEXT)
    await taken_in(knowledge, acme.owner)
    assert (await knowledge.search(acme.owner, "front dock")).results


async def test_another_kind_that_can_be_read_replaces_the_document(
    knowledge: Knowledge, acme: Tenant
) -> None:
    await add(knowledge, acme.owner, TEXT)
    await taken_in(knowledge, acme.owner)
    for content, kind in ((pdf("A new page"), None), (TURN, "transcript"), (b"a,b\n1,2", "csv")):
        source = await add(knowledge, acme.owner, content, kind)
        await taken_in(knowledge, acme.owner)
        assert (await knowledge.get(acme.owner, source.id)).status == "ready"


@pytest.mark.parametrize(
    "content",
    [
        TURN,
        b"\n \r\n" + TURN,
        b"\xef\xbb\xbf" + TURN,
        TURN + b"\r" + TURN,
        "\u00a0\n".encode() + TURN,
        TURN.decode().encode("utf-16"),
        b'{"speaker": "Ada", "text": ""}',
    ],
)
def test_a_transcript_is_told_by_its_first_turn(content: bytes) -> None:
    assert misfit(content, "transcript") is None


async def test_neither_a_description_nor_a_name_moves_a_document_or_its_place_in_line(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    knowledge = Knowledge(timed_storage, max_bytes=10_000)
    acme = await new_tenant(timed_storage)
    first, second = [
        await knowledge.add(acme.owner, TEXT, title=name, object_key=name) for name in ("a", "b")
    ]
    clock.tick(timedelta(minutes=59))
    described = await knowledge.describe(acme.owner, first.id, summary="About docks.")
    named = await knowledge.add(acme.owner, TEXT, title="a", object_key="a", uri="made:a")
    assert (described.updated_at, named.updated_at) == (first.updated_at, first.updated_at)
    assert (named.id, named.uri, named.summary) == (first.id, "made:a", "About docks.")
    assert await knowledge.claim(acme.owner.organization_id, uuid4()) == first.id
    assert await knowledge.claim(acme.owner.organization_id, uuid4()) == second.id
    clock.tick(timedelta(minutes=2))
    assert await knowledge.give_up_overdue(acme.owner.organization_id, uuid4())
    assert (await knowledge.get(acme.owner, first.id)).status == "failed"


class Held:
    """A reading that waits, so that something can happen meanwhile; only of documents that say so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        monkeypatch.setattr(ingest, "extract", self._extract)

    def _extract(self, data: bytes, *args: Any, **kwargs: Any) -> list[Chunk]:
        if b"slow" in data:
            self.begun.set()
            assert self.go_on.wait(30)
        return extract(data, *args, **kwargs)


async def test_a_document_that_is_renewed_while_it_is_read_is_found_in_its_new_version_alone(
    knowledge: Knowledge, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch)
    scope, worker = acme.owner.organization_id, uuid4()
    source = await add(knowledge, acme.owner, b"The slow old harbor.")
    assert await knowledge.claim(scope, worker) == source.id
    reading = asyncio.create_task(knowledge.ingest(scope, source.id, worker))
    await asyncio.to_thread(held.begun.wait, 30)
    renewed = await add(knowledge, acme.owner, b"The new bridge.")
    assert renewed.id == source.id
    held.go_on.set()
    assert await reading is None
    assert (await knowledge.search(acme.owner, "harbor bridge")).results == []
    await taken_in(knowledge, acme.owner)
    found = (await knowledge.search(acme.owner, "harbor bridge")).results
    assert [each.text for each in found] == ["The new bridge."]
    ended = await knowledge.get(acme.owner, source.id)
    assert (ended.status, ended.attempts) == ("ready", 1)


async def test_many_who_add_one_name_while_it_is_read_leave_one_whole_document(
    storage: Storage, knowledge: Knowledge, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch)
    scope, worker = acme.owner.organization_id, uuid4()
    other = await new_tenant(storage, "Other")
    theirs = await add(knowledge, other.owner, b"Their harbor.")
    source = await add(knowledge, acme.owner, b"The slow old harbor.")
    assert await knowledge.claim(scope, worker) == source.id
    reading = asyncio.create_task(knowledge.ingest(scope, source.id, worker))
    await asyncio.to_thread(held.begun.wait, 30)
    texts = [f"The harbor, version {number}.".encode() for number in range(6)]
    added = await asyncio.gather(
        *(add(knowledge, acme.owner, each) for each in texts),
        knowledge.describe(acme.owner, source.id, summary="About harbors."),
    )
    assert {each.id for each in added} == {source.id}
    held.go_on.set()
    assert await reading is None
    await taken_in(knowledge, acme.owner)
    await taken_in(knowledge, other.owner)
    [found] = (await knowledge.search(acme.owner, "harbor")).results
    assert found.text.encode() in texts
    ended = await knowledge.get(acme.owner, source.id)
    assert (ended.status, ended.summary, ended.size) == ("ready", "About harbors.", len(texts[0]))
    [found] = (await knowledge.search(other.owner, "harbor")).results
    assert (found.source_id, found.text) == (theirs.id, "Their harbor.")


async def test_a_document_that_is_removed_while_it_is_read_leaves_nothing(
    knowledge: Knowledge, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch)
    scope, worker = acme.owner.organization_id, uuid4()
    source = await add(knowledge, acme.owner, b"The slow old harbor.")
    assert await knowledge.claim(scope, worker) == source.id
    reading = asyncio.create_task(knowledge.ingest(scope, source.id, worker))
    await asyncio.to_thread(held.begun.wait, 30)
    await knowledge.remove(acme.owner, source.id)
    again = await add(knowledge, acme.owner, b"The new bridge.")
    assert again.id != source.id
    held.go_on.set()
    assert await reading is None
    await taken_in(knowledge, acme.owner)
    found = (await knowledge.search(acme.owner, "harbor bridge")).results
    assert [each.source_id for each in found] == [again.id]
