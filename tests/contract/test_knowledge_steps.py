"""A document goes in and out in bounded steps: between any two, nothing of it is found or counted."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select

from memoranda import Memoranda
from memoranda.access.models import LOCAL_OPERATOR
from memoranda.knowledge import ingest as ingestion
from memoranda.knowledge import store as knowledge_store
from memoranda.knowledge.claims import store as claims
from memoranda.knowledge.models import Claim, Source
from memoranda.knowledge.steps import store as steps
from memoranda.search import store as index
from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import (
    knowledge_chunks,
    knowledge_sources,
    knowledge_uploads,
    search_documents,
    search_postings,
    search_terms,
    search_totals,
)
from memoranda.words.errors import Conflict, NotFound
from memoranda.words.ids import new_id

TERMS = 3
CHUNKS = 2
OLD = "\n\n".join(f"harbor old{n} pier{n} " + "alpha " * 90 for n in range(5))
NEW = "\n\n".join(f"harbor new{n} quay{n} " + "beta " * 90 for n in range(6))
QUERIES = ("harbor", "new1 quay2 beta", "old1 pier2 alpha", "lighthouse")

POSTINGS = select(search_postings.c.term, search_postings.c.document_id, search_postings.c.postings)
COUNTS = select(
    search_terms.c.term,
    search_terms.c.passages,
    search_terms.c.windows,
    search_terms.c.documents,
)
TOTALS = select(search_totals.c.documents, search_totals.c.passages, search_totals.c.tokens)
LENGTHS = select(
    search_documents.c.collection,
    search_documents.c.document_id,
    search_documents.c.passages,
    search_documents.c.tokens,
    search_documents.c.lengths,
)
PASSAGES = (
    select(knowledge_chunks.c.source_id, knowledge_chunks.c.ordinal, knowledge_chunks.c.text)
    .join(knowledge_sources, knowledge_chunks.c.source_id == knowledge_sources.c.id)
    .order_by(knowledge_chunks.c.source_id, knowledge_chunks.c.ordinal)
)
UPLOADS = select(knowledge_uploads.c.source_id).join(
    knowledge_sources, knowledge_uploads.c.source_id == knowledge_sources.c.id
)
STATUS = select(knowledge_sources.c.id, knowledge_sources.c.status)


class Killed(BaseException):
    """What no code of the product catches: as if the process had ended."""


@pytest.fixture
async def memoranda(database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Memoranda]:
    monkeypatch.setattr(steps, "TERMS_AT_ONCE", TERMS)
    monkeypatch.setattr(steps, "CHUNKS_AT_ONCE", CHUNKS)
    async with Memoranda.open(database_url, migrate=False) as opened:
        yield opened


def home(memoranda: Memoranda) -> UUID:
    assert memoranda.owner.organization_id is not None
    return memoranda.owner.organization_id


def kill_after(monkeypatch: pytest.MonkeyPatch, writes: int) -> Callable[[], int]:
    """Let so many transactions of steps commit, then die before the next; answers how many there were."""
    done = 0
    write = Storage.write

    async def counted(self: Storage, scope: Any, fn: Any, /, *args: Any, **named: Any) -> Any:
        nonlocal done
        if fn.__module__ == steps.__name__:
            if done == writes:
                raise Killed
            done += 1
        return await write(self, scope, fn, *args, **named)

    monkeypatch.setattr(Storage, "write", counted)
    return lambda: done


def whole(tx: Transaction) -> dict[str, object]:
    names = {row.id: row.status for row in tx.all(STATUS)}
    order = {source: number for number, source in enumerate(sorted(names))}
    return {
        "sources": sorted((order[source], status) for source, status in names.items()),
        "postings": sorted((r.term, order[r.document_id], r.postings) for r in tx.all(POSTINGS)),
        "counts": sorted(map(tuple, tx.all(COUNTS))),
        "totals": [tuple(row) for row in tx.all(TOTALS) if row.documents],
        "lengths": sorted((r[0], order[r[1]], *r[2:]) for r in tx.all(LENGTHS)),
        "chunks": [(order[row.source_id], row.ordinal, row.text) for row in tx.all(PASSAGES)],
        "uploads": [order[row.source_id] for row in tx.all(UPLOADS)],
    }


async def state(memoranda: Memoranda) -> dict[str, object]:
    return await memoranda.storage.read(home(memoranda), whole)


async def answers(memoranda: Memoranda) -> list[list[tuple[str, float]]]:
    found = [await memoranda.knowledge.search(memoranda.owner, query) for query in QUERIES]
    return [[(result.text, result.score) for result in answer.results] for answer in found]


async def add(memoranda: Memoranda, text: str, key: str = "k") -> Source:
    return await memoranda.knowledge.add(
        memoranda.owner, text.encode(), title="a.txt", object_key=key
    )


async def take_in(memoranda: Memoranda) -> Source | None:
    """What one worker does with one document, and its claim ends with it."""
    worker = new_id()
    claimed = await memoranda.knowledge.claim(home(memoranda), worker)
    assert claimed is not None
    try:
        return await memoranda.knowledge.ingest(home(memoranda), claimed, worker)
    except Killed:
        await memoranda.storage.write(home(memoranda), let_go, worker, claimed)
        raise


def let_go(tx: Transaction, worker: UUID, source_id: UUID) -> None:
    """The lease is over."""
    claims.hand_back(tx, Claim(source_id, worker))


async def beside(memoranda: Memoranda) -> list[list[tuple[str, float]]]:
    """Another document, whose rank and score nothing unfinished may move."""
    await add(memoranda, "The harbor has a lighthouse.\n\nold1 and new1 are words here.", key="b")
    await memoranda.worker.drain()
    return await answers(memoranda)


@pytest.mark.parametrize("renewed", [False, True])
async def test_killed_between_any_two_steps_it_is_never_half_searched_and_the_next_try_is_exact(
    memoranda: Memoranda, renewed: bool
) -> None:
    alone = await beside(memoranda)
    await add(memoranda, NEW)
    await memoranda.worker.drain()
    right, found = await state(memoranda), await answers(memoranda)
    for kill in range(1_000):
        if renewed:
            await add(memoranda, OLD)
            await memoranda.worker.drain()
            await add(memoranda, NEW)
        else:
            await memoranda.knowledge.remove(memoranda.owner, (await only(memoranda, "k")).id)
            await add(memoranda, NEW)
        assert await answers(memoranda) == alone
        with pytest.MonkeyPatch.context() as patched:
            wrote = kill_after(patched, kill)
            try:
                await take_in(memoranda)
                break
            except Killed:
                assert wrote() == kill
        assert await answers(memoranda) == alone
        await memoranda.worker.drain()
        assert await state(memoranda) == right
        assert await answers(memoranda) == found
    assert kill > 4
    assert await state(memoranda) == right


async def only(memoranda: Memoranda, key: str) -> Source:
    page = await memoranda.knowledge.page(memoranda.owner)
    return next(source for source in page.items if source.object_key == key)


async def test_a_removal_killed_between_any_two_steps_hides_the_source_at_once_and_a_worker_ends_it(
    memoranda: Memoranda,
) -> None:
    alone = await beside(memoranda)
    without = await state(memoranda)
    for kill in range(1, 1_000):
        source = await add(memoranda, NEW)
        await memoranda.worker.drain()
        with pytest.MonkeyPatch.context() as patched:
            wrote = kill_after(patched, kill)
            try:
                await memoranda.knowledge.remove(memoranda.owner, source.id)
                break
            except Killed:
                assert wrote() == kill
        assert await answers(memoranda) == alone
        with pytest.raises(NotFound):
            await memoranda.knowledge.get(memoranda.owner, source.id)
        await memoranda.worker.drain()
        assert await state(memoranda) == without
    assert kill > 4
    assert await state(memoranda) == without


async def test_a_half_written_source_is_removed_without_a_trace(memoranda: Memoranda) -> None:
    await beside(memoranda)
    without = await state(memoranda)
    for kill in (1, 2, 3):
        source = await add(memoranda, NEW)
        with pytest.MonkeyPatch.context() as patched:
            kill_after(patched, kill)
            with pytest.raises(Killed):
                await take_in(memoranda)
        await memoranda.knowledge.remove(memoranda.owner, source.id)
        await memoranda.worker.drain()
        assert await state(memoranda) == without


async def test_the_name_of_a_source_that_is_being_removed_is_free(memoranda: Memoranda) -> None:
    source = await add(memoranda, NEW)
    await memoranda.worker.drain()
    with pytest.MonkeyPatch.context() as patched:
        kill_after(patched, 1)
        with pytest.raises(Killed):
            await memoranda.knowledge.remove(memoranda.owner, source.id)
    again = await add(memoranda, NEW)
    await memoranda.worker.drain()
    assert again.id != source.id
    assert [s.id for s in (await memoranda.knowledge.page(memoranda.owner)).items] == [again.id]
    fresh = await state(memoranda)
    await memoranda.knowledge.remove(memoranda.owner, again.id)
    await add(memoranda, NEW)
    await memoranda.worker.drain()
    assert await state(memoranda) == fresh


async def test_no_transaction_writes_or_clears_more_than_a_step(
    memoranda: Memoranda, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    add_terms, clear_terms = index.add_terms, index.clear_terms

    def adding(tx: Transaction, *args: Any) -> None:
        sizes.append(len(args[-1]))
        add_terms(tx, *args)

    def clearing(tx: Transaction, *args: Any) -> int:
        sizes.append(clear_terms(tx, *args))
        return sizes[-1]

    monkeypatch.setattr(index, "add_terms", adding)
    monkeypatch.setattr(index, "clear_terms", clearing)
    await add(memoranda, OLD)
    await memoranda.worker.drain()
    await add(memoranda, NEW)
    await memoranda.worker.drain()
    await memoranda.knowledge.remove(memoranda.owner, (await only(memoranda, "k")).id)
    assert max(sizes) == TERMS
    assert sum(sizes) > 8 * TERMS


async def test_a_worker_whose_claim_is_lost_between_two_steps_writes_no_more(
    memoranda: Memoranda, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add(memoranda, NEW)
    await memoranda.worker.drain()
    right = await state(memoranda)
    await memoranda.knowledge.remove(memoranda.owner, (await only(memoranda, "k")).id)
    await add(memoranda, OLD)
    write = Storage.write
    steps_done = 0

    async def renewing(self: Storage, scope: Any, fn: Any, /, *args: Any, **named: Any) -> Any:
        nonlocal steps_done
        answer = await write(self, scope, fn, *args, **named)
        if fn is steps.write:
            steps_done += 1
            if steps_done == 2:
                await add(memoranda, NEW)
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(Storage, "write", renewing)
        assert await take_in(memoranda) is None
    assert steps_done == 2
    await memoranda.worker.drain()
    assert await state(memoranda) == right


async def test_a_stopped_worker_leaves_no_thread_reading(
    memoranda: Memoranda, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, ended = threading.Event(), threading.Event()
    read = ingestion._read

    def watched(*args: Any) -> Any:
        began.set()
        try:
            return read(*args)
        finally:
            ended.set()

    def slow(_: str) -> int:
        time.sleep(0.01)
        return 1

    monkeypatch.setattr(ingestion, "estimate_tokens", slow)
    monkeypatch.setattr(ingestion, "_read", watched)
    source = await add(memoranda, NEW * 500)
    work = asyncio.create_task(take_in(memoranda))
    await asyncio.to_thread(began.wait, 30)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert await asyncio.to_thread(ended.wait, 5)
    assert (await memoranda.knowledge.get(memoranda.owner, source.id)).attempts == 0


async def test_a_read_whose_claim_is_another_s_by_now_ends_long_before_the_document_does(
    memoranda: Memoranda, monkeypatch: pytest.MonkeyPatch
) -> None:
    began = threading.Event()

    def slow(_: str) -> int:
        began.set()
        time.sleep(0.2)
        return 1

    monkeypatch.setattr(ingestion, "estimate_tokens", slow)
    monkeypatch.setattr(ingestion, "BEAT_S", 0.05)
    await add(memoranda, NEW * 2_000)
    work = asyncio.create_task(take_in(memoranda))
    await asyncio.to_thread(began.wait, 30)
    await add(memoranda, OLD)  # renewed, so that what is read now is nobody's any more
    assert await asyncio.wait_for(work, 10) is None
    monkeypatch.undo()
    await memoranda.worker.drain()
    found = await memoranda.knowledge.get(memoranda.owner, (await only(memoranda, "k")).id)
    assert (found.status, found.attempts) == ("ready", 1)


async def test_the_uri_of_a_source_with_another_key_is_a_conflict_that_loses_nothing(
    memoranda: Memoranda,
) -> None:
    async def named(text: bytes, **names: str) -> Source:
        return await memoranda.knowledge.add(memoranda.owner, text, title="a.txt", **names)

    first = await named(b"The harbor.", object_key="A", uri="u1")
    for _ in range(2):
        with pytest.raises(Conflict) as refused:
            await named(b"The bridge.", object_key="B", uri="u1")
        assert refused.value.details == {"field": "uri"}
        await memoranda.worker.drain()
        assert await memoranda.knowledge.get(memoranda.owner, first.id) is not None
        found = await memoranda.knowledge.search(memoranda.owner, "harbor bridge")
        assert [result.text for result in found.results] == ["The harbor."]
        moved = await named(b"The harbor.", object_key="B", uri="u2")
        assert moved.id != first.id
        await memoranda.knowledge.remove(memoranda.owner, moved.id)
    renewed = await named(b"The bridge.", object_key="A", uri="u3")
    assert (renewed.id, renewed.uri) == (first.id, "u3")
    renamed = await named(b"The bridge.", object_key="A", uri="u4")
    assert (renamed.id, renamed.uri) == (first.id, "u4")
    by_uri = await named(b"The quay.", uri="u5")
    assert (await named(b"The quay.", uri="u5", object_key="C")).id == by_uri.id
    with pytest.raises(Conflict):
        await named(b"The quay.", uri="u5", object_key="A")


@pytest.mark.parametrize("platform", [False, True])
@pytest.mark.parametrize("name", ["uri", "object_key"])
async def test_a_name_that_another_took_in_between_is_a_conflict_with_its_field(
    memoranda: Memoranda, monkeypatch: pytest.MonkeyPatch, name: str, platform: bool
) -> None:
    who = LOCAL_OPERATOR if platform else memoranda.owner
    names = {name: "docs/a"}
    await memoranda.knowledge.add(who, b"one", title="a", platform=platform, **names)
    monkeypatch.setattr(knowledge_store, "_same", lambda *_: None)
    with pytest.raises(Conflict) as refused:
        await memoranda.knowledge.add(who, b"two", title="a", platform=platform, **names)
    assert refused.value.details == {"field": name}
