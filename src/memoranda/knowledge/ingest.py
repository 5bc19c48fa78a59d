"""From uploaded bytes to a searchable source: read, cut and indexed off the event loop, stored at once."""

import asyncio
import logging
from contextlib import suppress
from datetime import timedelta
from typing import Final

from memoranda.knowledge import store
from memoranda.knowledge.chunk import Chunk
from memoranda.knowledge.extract import extract
from memoranda.knowledge.models import Claim, Source, SourceKind
from memoranda.search.document import IndexedDocument, index_document
from memoranda.storage import Scope, Storage
from memoranda.words.errors import MemorandaError, Unavailable

logger = logging.getLogger(__name__)

TRIES: Final = 3
"""How often an ingestion that broke for no reason of the document's own is tried."""

LEASE: Final = timedelta(seconds=60)
"""How long a claim holds without a sign of life; then another worker takes over."""


async def ingest(storage: Storage, scope: Scope, claim: Claim, *, limit: int) -> Source | None:
    """Bring a claimed source to its end; None where the claim was lost meanwhile.

    A document that can't be read ends `failed` with its reason. Any other fault gives the
    claim back with a growing pause, and ends it `failed` at the third try. Killed at any
    moment, nothing of it is searchable, and the next worker starts from the upload.
    """
    held = await storage.read(scope, store.claimed, claim)
    if held is None:
        return None
    row, content = held
    if row.attempts > TRIES:  # the workers that had it died of it, or with it
        await _later(storage, scope, claim, row.attempts)
        return await storage.read(scope, store.get, claim.source_id)
    beat = asyncio.create_task(_hold(storage, scope, claim))
    try:
        chunks, indexed = await asyncio.to_thread(_read, content, row.kind, row.title, limit)
        await storage.write(scope, store.finish, claim, row.digest, chunks, indexed)
    except asyncio.CancelledError:
        # A worker that is stopped in order keeps nobody waiting for the end of its lease.
        await asyncio.shield(storage.write(scope, store.hand_back, claim))
        raise
    except MemorandaError as error:
        if error.retryable:
            await _later(storage, scope, claim, row.attempts)
        else:
            await storage.write(scope, store.fail, claim, str(error))
    except Exception as error:  # noqa: BLE001 - whatever broke, the source must not wait for ever
        # The type alone: an error's message may quote the document.
        logger.error("Ingesting %s broke: %s.", claim.source_id, type(error).__name__)  # noqa: TRY400 - see above
        await _later(storage, scope, claim, row.attempts)
    finally:
        beat.cancel()
    return await storage.read(scope, store.get, claim.source_id)


def _read(
    content: bytes, kind: SourceKind, title: str, limit: int
) -> tuple[list[Chunk], IndexedDocument]:
    chunks = extract(content, kind, limit=limit)
    return chunks, index_document(chunk.passage(title) for chunk in chunks)


async def _hold(storage: Storage, scope: Scope, claim: Claim) -> None:
    while True:
        await asyncio.sleep(LEASE.total_seconds() / 6)
        # One lost heartbeat is no lost claim: the next comes long before the lease ends.
        with suppress(Unavailable):
            await storage.write(scope, store.extend, claim, LEASE)


async def _later(storage: Storage, scope: Scope, claim: Claim, attempts: int) -> None:
    if attempts >= TRIES:
        reason = f"The document could not be ingested in {TRIES} tries. Try again, or add it anew."
        await storage.write(scope, store.fail, claim, reason)
    else:
        pause = timedelta(seconds=2 * 4**attempts)
        await storage.write(scope, store.release, claim, pause)
