"""Chunks and index rows of one source, written and cleared in transactions of a bounded size.

Whatever a kill leaves between two steps is in no search: the next try, or the next
worker for a removed source, clears it first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import BindParameter, bindparam, delete, insert, select, update

from memoranda.knowledge.active import store as active
from memoranda.knowledge.chunk import Chunk
from memoranda.knowledge.claims import store as claims
from memoranda.knowledge.models import COLLECTION, Claim
from memoranda.knowledge.readiness import store as readiness
from memoranda.search import store as index
from memoranda.search.document import IndexedDocument
from memoranda.storage import Row, Transaction, mine
from memoranda.storage.signals import KNOWLEDGE, KNOWLEDGE_VECTORS, signal
from memoranda.storage.tables import knowledge_chunks, knowledge_sources, knowledge_uploads
from memoranda.words.ids import new_id

GONE: Final = ""
"""The digest of a source that is being removed: nobody sees it, and a worker ends what a kill left."""

TERMS_AT_ONCE: Final = 10_000
CHUNKS_AT_ONCE: Final = 2_000

_source: BindParameter[UUID] = bindparam("source")
_OWN = select(knowledge_sources.c.id).where(mine(knowledge_sources))

ADD_CHUNKS: Final = insert(knowledge_chunks)
LAST_CHUNK: Final = (
    select(knowledge_chunks.c.ordinal)
    .join(knowledge_sources, knowledge_chunks.c.source_id == knowledge_sources.c.id)
    .where(knowledge_chunks.c.source_id == _source)
    .order_by(knowledge_chunks.c.ordinal.desc())
    .limit(1)
)
DROP_CHUNKS: Final = delete(knowledge_chunks).where(
    knowledge_chunks.c.source_id == _source,
    knowledge_chunks.c.ordinal >= bindparam("first"),
    knowledge_chunks.c.source_id.in_(_OWN),
)
DROP_UPLOAD: Final = delete(knowledge_uploads).where(
    knowledge_uploads.c.source_id == _source, knowledge_uploads.c.source_id.in_(_OWN)
)
BEGIN_REMOVAL: Final = (
    update(knowledge_sources)
    .where(knowledge_sources.c.id == _source, knowledge_sources.c.digest != GONE)
    .values(
        digest=GONE,
        uri=None,
        object_key=None,
        status="pending",
        reason=None,
        lease_owner=None,
        lease_until=None,
        updated_at=bindparam("now"),
    )
)
IN_REMOVAL: Final = select(knowledge_sources.c.id).where(
    knowledge_sources.c.id == _source, knowledge_sources.c.digest == GONE
)
DROP_SOURCE: Final = delete(knowledge_sources).where(knowledge_sources.c.id == _source)


class ClaimLost(Exception):
    """Another worker has the source, or it was renewed or removed: the step wrote nothing."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one transaction writes of a source."""

    terms: Sequence[str]
    chunks: Sequence[Chunk]
    first: bool
    last: bool


@dataclass(frozen=True, slots=True)
class Embedded:
    """Which models a document was to be embedded under, and which have all of its vectors."""

    tried: frozenset[str]
    made: frozenset[str]


def steps_of(chunks: Sequence[Chunk], indexed: IndexedDocument) -> Iterator[Step]:
    """Cut a source into steps, terms in order; a small one is written in a single step."""
    terms = sorted(indexed.postings)
    count = max(1, -(-len(terms) // TERMS_AT_ONCE), -(-len(chunks) // CHUNKS_AT_ONCE))
    for number in range(count):
        yield Step(
            terms[number * TERMS_AT_ONCE : (number + 1) * TERMS_AT_ONCE],
            chunks[number * CHUNKS_AT_ONCE : (number + 1) * CHUNKS_AT_ONCE],
            first=number == 0,
            last=number == count - 1,
        )


def claimed(tx: Transaction, claim: Claim) -> Row:
    """What the worker holds: (kind, title, attempts, digest). Raises `ClaimLost`."""
    row = claims.claimed(tx, claim)
    if row is None:
        raise ClaimLost
    return row


def upload(tx: Transaction, claim: Claim) -> bytes:
    """The bytes to read. Raises `ClaimLost`."""
    content = claims.upload(tx, claim)
    if content is None:
        raise ClaimLost
    return content


def write(
    tx: Transaction,
    claim: Claim,
    digest: str,
    indexed: IndexedDocument,
    step: Step,
    *,
    embedded: Embedded | None = None,
) -> None:
    """Write one step; the last opens the source to search.

    Raises `ClaimLost`, and `ModelsMoved` where it may not be opened yet: another model is wanted
    by now than those that it was `embedded` under. Without an embedder, words alone are opened.
    """
    hold(tx, claim, digest)
    source_id = claim.source_id
    if step.first:
        index.begin_document(tx, COLLECTION, source_id, indexed.passages)
    index.add_terms(tx, COLLECTION, source_id, indexed, step.terms)
    tx.send_many(ADD_CHUNKS, [_chunk_row(source_id, chunk) for chunk in step.chunks])
    if step.last:
        index.open_document(tx, COLLECTION, source_id, indexed)
        tx.run(DROP_UPLOAD, source=source_id)
        claims.succeed(tx, claim, indexed.passages)
        _open_to_meaning(tx, source_id, embedded)


def _open_to_meaning(tx: Transaction, source_id: UUID, embedded: Embedded | None) -> None:
    if embedded is not None and embedded.made:
        readiness.finish(tx, source_id, embedded.made)
    serving = active.turn(tx)
    if embedded is None:
        return
    wanted = set() if serving is None else set(serving.wanted)
    needed = {serving.model} if serving is not None and serving.model is not None else set()
    if not (wanted <= embedded.tried and needed <= embedded.made):
        raise active.ModelsMoved
    if not wanted <= embedded.made:
        signal(tx, KNOWLEDGE_VECTORS)


def is_clear(tx: Transaction, source_id: UUID) -> bool:
    """Whether no earlier try or version left anything of the source."""
    known = index.knows(tx, COLLECTION, source_id)
    return not known and tx.one(LAST_CHUNK, source=source_id) is None


def clear(tx: Transaction, claim: Claim, digest: str) -> bool:
    """Clear a step's worth of what an earlier try or version left; True once nothing is left.

    Raises `ClaimLost`.
    """
    hold(tx, claim, digest)
    return _clear_some(tx, claim.source_id)


def set_aside(tx: Transaction, source_id: UUID) -> bool:
    """Take a source that is renewed out of every search, with its upload, and clear a first step of it.

    That is all of a small one; of a large one, the next try clears the rest. Whether it was in a
    search: then the caller says so at the end of its transaction (`active.pass_turn`).
    """
    hidden = _hide(tx, source_id)
    tx.run(DROP_UPLOAD, source=source_id)
    _clear_some(tx, source_id)
    readiness.reset(tx, source_id)
    return hidden


def begin_removal(tx: Transaction, source_id: UUID) -> bool:
    """Take a source away from everybody, and clear a first step; True once nothing is left.

    It is found no more from here on, and its names are free. A worker ends what is not ended here.
    """
    hidden = _hide(tx, source_id)
    if tx.run(BEGIN_REMOVAL, source=source_id, now=tx.now):
        tx.run(DROP_UPLOAD, source=source_id)
    gone = remove_some(tx, source_id)
    if not gone:
        signal(tx, KNOWLEDGE)
    if hidden:
        active.pass_turn(tx)
    return gone


def remove_some(tx: Transaction, source_id: UUID) -> bool:
    """Clear one more step of a source that is being removed; True once nothing is left."""
    claims.alone(tx, source_id)
    if tx.one(IN_REMOVAL, source=source_id) is None:
        return True
    cleared = _clear_some(tx, source_id) and readiness.drop_of_any(tx, source_id)
    return cleared and tx.run(DROP_SOURCE, source=source_id) == 1


def _hide(tx: Transaction, source_id: UUID) -> bool:
    """Take a source out of every search; whether it was in one."""
    claims.alone(tx, source_id)
    return index.hide_document(tx, COLLECTION, source_id)


def hold(tx: Transaction, claim: Claim, digest: str) -> None:
    """Make sure that the claim holds until the step is written: who would take it over waits."""
    claims.alone(tx, claim.source_id)
    if not claims.extend(tx, claim, claims.LEASE):
        raise ClaimLost
    if claimed(tx, claim).digest != digest:
        raise ClaimLost


def _clear_some(tx: Transaction, source_id: UUID) -> bool:
    cleared = index.clear_terms(tx, COLLECTION, source_id, TERMS_AT_ONCE)
    last = tx.one(LAST_CHUNK, source=source_id)
    first = 0 if last is None else max(0, last.ordinal + 1 - CHUNKS_AT_ONCE)
    if last is not None:
        tx.run(DROP_CHUNKS, source=source_id, first=first)
    return cleared < TERMS_AT_ONCE and first == 0


def _chunk_row(source_id: UUID, chunk: Chunk) -> dict[str, Any]:
    return {
        "id": new_id(),
        "source_id": source_id,
        "ordinal": chunk.ordinal,
        "text": chunk.text,
        "tokens": chunk.tokens,
        "place": chunk.place,
        "external_id": chunk.external_id,
        "speaker": chunk.speaker,
        "at": chunk.at,
    }
