"""From uploaded bytes to a searchable source: read, cut and indexed off the event loop, stored in steps."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from threading import Event
from typing import Final
from uuid import UUID

from memoranda.knowledge import store
from memoranda.knowledge.active.store import ModelsMoved
from memoranda.knowledge.chunk import Chunk
from memoranda.knowledge.claims import store as claims
from memoranda.knowledge.embedding.making import EmbedderAway, NotEmbedded
from memoranda.knowledge.embedding.service import DocumentEmbedding
from memoranda.knowledge.errors import UnreadableDocument
from memoranda.knowledge.extract import BOUNDS, extract
from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.models import Claim, Source
from memoranda.knowledge.steps import store as steps
from memoranda.search.document import IndexedDocument, index_document
from memoranda.storage import Row, Scope, Storage
from memoranda.words.errors import MemorandaError, Unavailable
from memoranda.words.tokens import estimate_tokens

logger = logging.getLogger(__name__)

TRIES: Final = 3
"""How often an ingestion that broke for no reason of the document's own is tried."""

LEASE: Final = claims.LEASE
BEAT_S: Final = LEASE.total_seconds() / 6
"""How often whoever holds a claim says so."""

_Extract = Callable[..., list[Chunk]]


@dataclass(frozen=True, slots=True)
class _Work:
    """A claimed source, and what it takes to take it in."""

    storage: Storage
    scope: Scope
    claim: Claim
    read: _Extract
    embedding: DocumentEmbedding
    lost: Event
    """Set once another worker has the claim, so that a long read of the document ends."""


class _Stopped(Exception):
    """Nobody waits for what the thread reads any more."""


async def ingest(
    storage: Storage,
    scope: Scope,
    claim: Claim,
    *,
    limit: int,
    bounds: Bounds = BOUNDS,
    embedding: DocumentEmbedding,
) -> Source | None:
    """Bring a claimed source to its end; None where the claim was lost meanwhile.

    A document that can't be read, or that the embedder refuses, ends `failed` with its reason. While
    the embedder is away it waits, and that is no try. Any other fault gives the claim back with a
    growing pause, and ends it `failed` at the third try. Killed at any moment, nothing of it is
    searchable, and the next worker reads the upload anew; the vectors that were kept are taken up.
    """
    lost = Event()
    beat = asyncio.create_task(_hold(storage, scope, claim, lost))
    read = partial(extract, limit=limit, bounds=bounds)
    work = _Work(storage, scope, claim, read, embedding, lost)
    try:
        await _end(work)
    except steps.ClaimLost:
        return None
    except asyncio.CancelledError:
        # A worker that is stopped in order keeps nobody waiting for the end of its lease.
        await asyncio.shield(storage.write(scope, claims.hand_back, claim))
        raise
    finally:
        beat.cancel()
    return await storage.read(scope, store.get, claim.source_id)


async def _end(work: _Work) -> None:
    row = await work.storage.read(work.scope, steps.claimed, work.claim)
    if row.digest == steps.GONE:
        await finish_removal(work.storage, work.scope, work.claim.source_id)
    elif row.attempts > TRIES:  # the workers that had it died of it, or with it
        await _later(work, row)
    else:
        await _take_in(work, row)


async def give_up(storage: Storage, scope: Scope, claim: Claim, reason: str) -> bool:
    """End a claimed source as failed, with nothing left of what was begun; False where the claim was lost."""
    beat = asyncio.create_task(_hold(storage, scope, claim, Event()))
    try:
        row = await storage.read(scope, steps.claimed, claim)
        await _clear_all(storage, scope, claim, row)
        return await storage.write(scope, claims.fail, claim, reason)
    except steps.ClaimLost:
        return False
    finally:
        beat.cancel()


async def finish_removal(storage: Storage, scope: Scope, source_id: UUID) -> None:
    """Clear what is left of a source whose removal has begun, a step at a time."""
    while not await storage.write(scope, steps.remove_some, source_id):
        pass


async def _take_in(work: _Work, row: Row) -> None:
    claim = work.claim
    try:
        await work.embedding.check(work.scope)
        await _clear(work, row)
        content = await work.storage.read(work.scope, steps.upload, claim)
        with _keeping_on(work.lost) as keep_on:
            chunks, indexed = await asyncio.to_thread(_read, content, row, work.read, keep_on)
        await _write(work, row, chunks, indexed)
    except EmbedderAway as error:
        await work.embedding.wait(work.scope, claim, row.digest, str(error))
    except NotEmbedded as error:
        await _refused(work, row, error)
    except MemorandaError as error:
        if error.retryable:
            own = str(error) if isinstance(error, UnreadableDocument) else None
            await _later(work, row, own)
        else:
            await work.storage.write(work.scope, claims.fail, claim, str(error))
    except steps.ClaimLost:
        raise
    except Exception as error:  # noqa: BLE001 - a document may break any parser, and must end ready or failed all the same
        _tell_fault(claim, error)
        await _later(work, row)


async def _refused(work: _Work, row: Row, error: NotEmbedded) -> None:
    if not error.for_good:
        await _later(work, row, error.reason)
        return
    await _clear(work, row)
    await work.storage.write(work.scope, claims.fail, work.claim, error.reason)


async def _write(work: _Work, row: Row, chunks: list[Chunk], indexed: IndexedDocument) -> None:
    """Embed the chunks, then write them in steps: an index of what waits for its vectors slows every search."""

    async def embedded() -> steps.Embedded | None:
        return await work.embedding.take_in(work.scope, work.claim, row.digest, row.title, chunks)

    under = await embedded()
    for step in steps.steps_of(chunks, indexed):
        while True:
            try:
                await work.storage.write(
                    work.scope, steps.write, work.claim, row.digest, indexed, step, embedded=under
                )
                break
            except ModelsMoved:
                under = await embedded()


def _tell_fault(claim: Claim, error: Exception) -> None:
    # The type alone, without a traceback: either may quote the document.
    logger.error("Ingesting %s broke: %s.", claim.source_id, type(error).__name__)


async def _clear(work: _Work, row: Row) -> None:
    await _clear_all(work.storage, work.scope, work.claim, row)


async def _clear_all(storage: Storage, scope: Scope, claim: Claim, row: Row) -> None:
    """Clear what an earlier try, or the version before, left."""
    if await storage.read(scope, steps.is_clear, claim.source_id):
        return
    while not await storage.write(scope, steps.clear, claim, row.digest):
        pass


@contextmanager
def _keeping_on(lost: Event) -> Iterator[Callable[[], None]]:
    """A check for the reading thread, which ends it soon after whoever waits has gone or the claim is lost."""
    left = Event()

    def keep_on() -> None:
        if left.is_set():
            raise _Stopped
        if lost.is_set():
            raise steps.ClaimLost

    try:
        yield keep_on
    finally:
        left.set()


def _read(
    content: bytes, row: Row, read: _Extract, keep_on: Callable[[], None]
) -> tuple[list[Chunk], IndexedDocument]:
    def estimate(text: str) -> int:
        keep_on()
        return estimate_tokens(text)

    chunks = read(content, row.kind, estimator=estimate, keep_on=keep_on)
    return chunks, index_document((chunk.passage(row.title) for chunk in chunks), keep_on)


async def _hold(storage: Storage, scope: Scope, claim: Claim, lost: Event) -> None:
    while not lost.is_set():
        await asyncio.sleep(BEAT_S)
        # One lost heartbeat is no lost claim: the next comes long before the lease ends.
        with suppress(Unavailable):
            if not await storage.write(scope, claims.extend, claim, LEASE):
                lost.set()


async def _later(work: _Work, row: Row, own: str | None = None) -> None:
    """Give the source back for another try; after the last, it has failed, for its `own` reason if there is one."""
    if row.attempts >= TRIES:
        await _clear(work, row)  # it may wait for ever for somebody to try again
        reason = f"The document could not be ingested in {TRIES} tries. Try again, or add it anew."
        await work.storage.write(work.scope, claims.fail, work.claim, own or reason)
    else:
        pause = timedelta(seconds=2 * 4**row.attempts)
        await work.storage.write(work.scope, claims.release, work.claim, pause)
