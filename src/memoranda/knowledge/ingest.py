"""From uploaded bytes to a searchable source: read, cut and indexed off the event loop, stored in steps."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from threading import Event
from typing import Final
from uuid import UUID

from memoranda.knowledge import store
from memoranda.knowledge.chunk import Chunk
from memoranda.knowledge.claims import store as claims
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

_Extract = Callable[..., list[Chunk]]


class _Stopped(Exception):
    """Nobody waits for what the thread reads any more."""


async def ingest(
    storage: Storage, scope: Scope, claim: Claim, *, limit: int, bounds: Bounds = BOUNDS
) -> Source | None:
    """Bring a claimed source to its end; None where the claim was lost meanwhile.

    A document that can't be read ends `failed` with its reason. Any other fault gives the
    claim back with a growing pause, and ends it `failed` at the third try. Killed at any
    moment, nothing of it is searchable, and the next worker starts from the upload.
    """
    beat = asyncio.create_task(_hold(storage, scope, claim))
    try:
        await _end(storage, scope, claim, partial(extract, limit=limit, bounds=bounds))
    except steps.ClaimLost:
        return None
    except asyncio.CancelledError:
        # A worker that is stopped in order keeps nobody waiting for the end of its lease.
        await asyncio.shield(storage.write(scope, claims.hand_back, claim))
        raise
    finally:
        beat.cancel()
    return await storage.read(scope, store.get, claim.source_id)


async def _end(storage: Storage, scope: Scope, claim: Claim, read: _Extract) -> None:
    row = await storage.read(scope, steps.claimed, claim)
    if row.digest == steps.GONE:
        await finish_removal(storage, scope, claim.source_id)
    elif row.attempts > TRIES:  # the workers that had it died of it, or with it
        await _later(storage, scope, claim, row)
    else:
        await _take_in(storage, scope, claim, row, read)


async def give_up(storage: Storage, scope: Scope, claim: Claim, reason: str) -> bool:
    """End a claimed source as failed, with nothing left of what was begun; False where the claim was lost."""
    beat = asyncio.create_task(_hold(storage, scope, claim))
    try:
        row = await storage.read(scope, steps.claimed, claim)
        await _clear(storage, scope, claim, row)
        return await storage.write(scope, claims.fail, claim, reason)
    except steps.ClaimLost:
        return False
    finally:
        beat.cancel()


async def finish_removal(storage: Storage, scope: Scope, source_id: UUID) -> None:
    """Clear what is left of a source whose removal has begun, a step at a time."""
    while not await storage.write(scope, steps.remove_some, source_id):
        pass


async def _take_in(storage: Storage, scope: Scope, claim: Claim, row: Row, read: _Extract) -> None:
    try:
        await _clear(storage, scope, claim, row)
        content = await storage.read(scope, steps.upload, claim)
        with _keeping_on() as keep_on:
            chunks, indexed = await asyncio.to_thread(_read, content, row, read, keep_on)
        for step in steps.steps_of(chunks, indexed):
            await storage.write(scope, steps.write, claim, row.digest, indexed, step)
    except MemorandaError as error:
        if error.retryable:
            own = str(error) if isinstance(error, UnreadableDocument) else None
            await _later(storage, scope, claim, row, own)
        else:
            await storage.write(scope, claims.fail, claim, str(error))
    except steps.ClaimLost:
        raise
    except Exception as error:  # noqa: BLE001 - a document may break any parser, and must end ready or failed all the same
        _tell_fault(claim, error)
        await _later(storage, scope, claim, row)


def _tell_fault(claim: Claim, error: Exception) -> None:
    # The type alone, without a traceback: either may quote the document.
    logger.error("Ingesting %s broke: %s.", claim.source_id, type(error).__name__)


async def _clear(storage: Storage, scope: Scope, claim: Claim, row: Row) -> None:
    """Clear what an earlier try, or the version before, left."""
    if await storage.read(scope, steps.is_clear, claim.source_id):
        return
    while not await storage.write(scope, steps.clear, claim, row.digest):
        pass


@contextmanager
def _keeping_on() -> Iterator[Callable[[], None]]:
    """A check for the reading thread, which ends it soon after whoever waits for it has gone."""
    left = Event()

    def keep_on() -> None:
        if left.is_set():
            raise _Stopped

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


async def _hold(storage: Storage, scope: Scope, claim: Claim) -> None:
    while True:
        await asyncio.sleep(LEASE.total_seconds() / 6)
        # One lost heartbeat is no lost claim: the next comes long before the lease ends.
        with suppress(Unavailable):
            await storage.write(scope, claims.extend, claim, LEASE)


async def _later(
    storage: Storage, scope: Scope, claim: Claim, row: Row, own: str | None = None
) -> None:
    """Give the source back for another try; after the last, it has failed, for its `own` reason if there is one."""
    if row.attempts >= TRIES:
        await _clear(storage, scope, claim, row)  # it may wait for ever for somebody to try again
        reason = f"The document could not be ingested in {TRIES} tries. Try again, or add it anew."
        await storage.write(scope, claims.fail, claim, own or reason)
    else:
        pause = timedelta(seconds=2 * 4**row.attempts)
        await storage.write(scope, claims.release, claim, pause)
