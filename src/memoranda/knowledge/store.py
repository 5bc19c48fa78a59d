"""Knowledge in the database: sources and their claims, uploads, chunks, and the way to their index."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import BindParameter, bindparam, delete, insert, select, update

from memoranda.knowledge.chunk import Chunk
from memoranda.knowledge.models import CHUNK_KIND, Claim, Document, SearchResult, Source
from memoranda.search import store as index
from memoranda.search.document import IndexedDocument
from memoranda.search.terms import Query
from memoranda.storage import Row, Transaction, mine, one_of
from memoranda.storage.signals import KNOWLEDGE, signal
from memoranda.storage.tables import knowledge_chunks, knowledge_sources, knowledge_uploads
from memoranda.words.ids import new_id
from memoranda.words.ref import ResourceRef

COLLECTION: Final = "knowledge"
_LAST: Final = UUID(int=2**128 - 1)

_source: BindParameter[UUID] = bindparam("source")
_SOURCE_COLUMNS = [knowledge_sources.c[name] for name in Source.model_fields]

ADD_SOURCE: Final = insert(knowledge_sources)
ADD_UPLOAD: Final = insert(knowledge_uploads)
ADD_CHUNKS: Final = insert(knowledge_chunks)

GET_SOURCE: Final = select(*_SOURCE_COLUMNS).where(knowledge_sources.c.id == _source)
_SAME = select(*_SOURCE_COLUMNS, knowledge_sources.c.digest)
SAME_OBJECT: Final = _SAME.where(knowledge_sources.c.object_key == bindparam("key"))
SAME_URI: Final = _SAME.where(knowledge_sources.c.uri == bindparam("key"))
# Ids are made in the order of time, so the newest id is the newest source.
PAGE: Final = (
    select(*_SOURCE_COLUMNS)
    .where(knowledge_sources.c.id < bindparam("before"))
    .order_by(knowledge_sources.c.id.desc())
    .limit(bindparam("most"))
)

RENEW: Final = (
    update(knowledge_sources)
    .where(knowledge_sources.c.id == _source)
    .values(
        kind=bindparam("new_kind"),
        title=bindparam("new_title"),
        digest=bindparam("new_digest"),
        size=bindparam("new_size"),
        status="pending",
        reason=None,
        chunks=0,
        attempts=0,
        lease_owner=None,
        lease_until=None,
        updated_at=bindparam("now"),
    )
)
REPEAT: Final = (
    update(knowledge_sources)
    .where(knowledge_sources.c.id == _source, knowledge_sources.c.status == "failed")
    .values(
        status="pending",
        reason=None,
        attempts=0,
        lease_owner=None,
        lease_until=None,
        updated_at=bindparam("now"),
    )
)

WAITING: Final = (
    select(knowledge_sources.c.id).where(knowledge_sources.c.status == "pending").limit(1)
)
_FREE = (knowledge_sources.c.lease_until.is_(None)) | (
    knowledge_sources.c.lease_until < bindparam("now")
)
NEXT_FREE: Final = (
    select(knowledge_sources.c.id)
    .where(knowledge_sources.c.status == "pending", _FREE)
    .order_by(knowledge_sources.c.updated_at, knowledge_sources.c.id)
    .limit(1)
)
# The condition stands here again: between the look and the claim, another worker may have come.
CLAIM: Final = (
    update(knowledge_sources)
    .where(knowledge_sources.c.id == _source, knowledge_sources.c.status == "pending", _FREE)
    .values(
        lease_owner=bindparam("worker"),
        lease_until=bindparam("until"),
        attempts=knowledge_sources.c.attempts + 1,
    )
)
_CLAIMED = (
    (knowledge_sources.c.id == _source)
    & (knowledge_sources.c.status == "pending")
    & (knowledge_sources.c.lease_owner == bindparam("worker"))
)
CLAIMED: Final = select(
    knowledge_sources.c.kind,
    knowledge_sources.c.title,
    knowledge_sources.c.attempts,
    knowledge_sources.c.digest,
).where(_CLAIMED)
UPLOAD: Final = (
    select(knowledge_uploads.c.content)
    .join(knowledge_sources, knowledge_uploads.c.source_id == knowledge_sources.c.id)
    .where(knowledge_sources.c.id == _source)
)
EXTEND: Final = update(knowledge_sources).where(_CLAIMED).values(lease_until=bindparam("until"))
RELEASE: Final = (
    update(knowledge_sources)
    .where(_CLAIMED)
    .values(lease_owner=None, lease_until=bindparam("until"))
)
HAND_BACK: Final = (
    update(knowledge_sources)
    .where(_CLAIMED)
    .values(lease_owner=None, lease_until=None, attempts=knowledge_sources.c.attempts - 1)
)
FINISH: Final = (
    update(knowledge_sources)
    .where(_CLAIMED)
    .values(
        status=bindparam("new_status"),
        reason=bindparam("why"),
        chunks=bindparam("made"),
        lease_owner=None,
        lease_until=None,
        updated_at=bindparam("now"),
    )
)

_OWN = knowledge_chunks.c.source_id.in_(
    select(knowledge_sources.c.id).where(mine(knowledge_sources))
)
DROP_CHUNKS: Final = delete(knowledge_chunks).where(knowledge_chunks.c.source_id == _source, _OWN)
DROP_UPLOAD: Final = delete(knowledge_uploads).where(
    knowledge_uploads.c.source_id == _source,
    knowledge_uploads.c.source_id.in_(
        select(knowledge_sources.c.id).where(mine(knowledge_sources))
    ),
)
DROP_SOURCE: Final = delete(knowledge_sources).where(knowledge_sources.c.id == _source)
CHUNKS: Final = (
    select(
        knowledge_chunks.c.id,
        knowledge_chunks.c.source_id,
        knowledge_chunks.c.ordinal,
        knowledge_chunks.c.external_id,
        knowledge_sources.c.title,
        knowledge_chunks.c.place,
        knowledge_chunks.c.speaker,
        knowledge_chunks.c.at,
        knowledge_chunks.c.text,
    )
    .join(knowledge_sources, knowledge_chunks.c.source_id == knowledge_sources.c.id)
    .where(
        knowledge_sources.c.status == "ready",
        one_of(knowledge_chunks.c.source_id, "sources"),
        one_of(knowledge_chunks.c.ordinal, "ordinals"),
    )
)


def add(tx: Transaction, document: Document) -> Source:
    """Put a document in line to be ingested; the same object key or URI is the same source.

    The same bytes under the same key, kind and title change nothing, unless their last try
    failed. Anything else takes the source out of the search until it is ready.
    """
    known = _same(tx, document.uri, document.object_key)
    if known is not None and _says_the_same(known, document) and known.status != "failed":
        return _source_of(known)
    if known is None:
        source_id = _add_source(tx, document)
    else:
        source_id = known.id
        _renew(tx, source_id, document)
    tx.run(ADD_UPLOAD, source_id=source_id, content=document.content)
    signal(tx, KNOWLEDGE)
    return _source_of(tx.one(GET_SOURCE, source=source_id))


def _says_the_same(known: Row, document: Document) -> bool:
    """Whether taking the document in would make what is there already: a title is searched too."""
    now = (document.digest, document.kind, document.title)
    return (known.digest, known.kind, known.title) == now


def _add_source(tx: Transaction, document: Document) -> UUID:
    source_id = new_id()
    tx.run(
        ADD_SOURCE,
        id=source_id,
        kind=document.kind,
        title=document.title,
        uri=document.uri,
        object_key=document.object_key,
        digest=document.digest,
        status="pending",
        size=len(document.content),
        created_at=tx.now,
        updated_at=tx.now,
    )
    return source_id


def _renew(tx: Transaction, source_id: UUID, document: Document) -> None:
    _clear(tx, source_id)
    tx.run(
        RENEW,
        source=source_id,
        new_kind=document.kind,
        new_title=document.title,
        new_digest=document.digest,
        new_size=len(document.content),
        now=tx.now,
    )


def get(tx: Transaction, source_id: UUID) -> Source | None:
    """The source, or None where the scope has none of that id."""
    row = tx.one(GET_SOURCE, source=source_id)
    return None if row is None else _source_of(row)


def page(tx: Transaction, before: UUID | None, most: int) -> list[Source]:
    """Sources, newest first, older than the source `before`."""
    return [_source_of(row) for row in tx.all(PAGE, before=before or _LAST, most=most)]


def repeat(tx: Transaction, source_id: UUID) -> bool:
    """Put a failed source in line again; False where it is not a failed one."""
    repeated = tx.run(REPEAT, source=source_id, now=tx.now) == 1
    if repeated:
        signal(tx, KNOWLEDGE)
    return repeated


def remove(tx: Transaction, source_id: UUID) -> bool:
    """Delete a source with its upload, chunks and index rows; False where there is none."""
    _alone(tx, source_id)
    if tx.one(GET_SOURCE, source=source_id) is None:
        return False
    _clear(tx, source_id)
    return tx.run(DROP_SOURCE, source=source_id) == 1


def waiting(tx: Transaction) -> bool:
    """Whether any source of the scope still waits, claimed or not."""
    return tx.one(WAITING) is not None


def claim(tx: Transaction, worker_id: UUID, lease: timedelta) -> UUID | None:
    """Take the source that waits longest and that nobody holds; None when there is none."""
    row = tx.one(NEXT_FREE, now=tx.now)
    if row is None:
        return None
    taken = tx.run(CLAIM, source=row.id, worker=worker_id, now=tx.now, until=tx.now + lease)
    return row.id if taken else None


def claimed(tx: Transaction, claim: Claim) -> tuple[Row, bytes] | None:
    """What the worker that holds the claim has to read: (kind, title, attempts, digest) and the bytes."""
    row = tx.one(CLAIMED, **_held(claim))
    upload = tx.one(UPLOAD, source=claim.source_id)
    return None if row is None or upload is None else (row, upload.content)


def extend(tx: Transaction, claim: Claim, lease: timedelta) -> bool:
    """Hold a claim for longer; False where it is lost."""
    return tx.run(EXTEND, **_held(claim), until=tx.now + lease) == 1


def release(tx: Transaction, claim: Claim, pause: timedelta) -> bool:
    """Give a claim back; nobody takes it again before `pause` is over."""
    return tx.run(RELEASE, **_held(claim), until=tx.now + pause) == 1


def hand_back(tx: Transaction, claim: Claim) -> bool:
    """Give a claim back as if it had never been taken: a worker that was stopped is no failed try."""
    return tx.run(HAND_BACK, **_held(claim)) == 1


def fail(tx: Transaction, claim: Claim, reason: str) -> bool:
    """End a source as failed, with the reason that a person reads; the upload stays for another try."""
    return _finish(tx, claim, "failed", reason=reason)


def finish(
    tx: Transaction, claim: Claim, digest: str, chunks: Sequence[Chunk], indexed: IndexedDocument
) -> bool:
    """Store chunks and index and open the source to search, all at once; False where the claim is lost."""
    _alone(tx, claim.source_id)
    held = tx.one(CLAIMED, **_held(claim))
    if held is None or held.digest != digest:
        return False
    _clear(tx, claim.source_id)
    tx.run_many(ADD_CHUNKS, [_chunk_row(claim.source_id, chunk) for chunk in chunks])
    index.add_document(tx, COLLECTION, claim.source_id, indexed)
    return _finish(tx, claim, "ready", made=len(chunks))


def search(
    tx: Transaction, query: Query, limit: int, source_ids: Sequence[UUID] | None
) -> list[SearchResult]:
    """The best chunks of the scope's ready sources, best first."""
    hits = index.search(tx, COLLECTION, query, limit=limit, document_ids=source_ids)
    if not hits:
        return []
    rows = tx.all(
        CHUNKS,
        sources=list({hit.document_id for hit in hits}),
        ordinals=list({hit.ordinal for hit in hits}),
    )
    found = {(row.source_id, row.ordinal): row for row in rows}
    return [
        _result_of(found[place], hit.score)
        for hit in hits
        if (place := (hit.document_id, hit.ordinal)) in found
    ]


def _same(tx: Transaction, uri: str | None, object_key: str | None) -> Row | None:
    for statement, key in ((SAME_OBJECT, object_key), (SAME_URI, uri)):
        if key is not None:
            tx.lock(f"knowledge source {key}")
            row = tx.one(statement, key=key)
            if row is not None:
                _alone(tx, row.id)
                row = tx.one(statement, key=key)  # as it is now, if nobody removed it meanwhile
            if row is not None:
                return row
    return None


def _alone(tx: Transaction, source_id: UUID) -> None:
    """Let one at a time renew, finish or remove a source; whoever waited looks at it anew.

    Else a removal does not see the index rows that an ingestion is about to commit, and leaves them.
    """
    tx.lock(f"knowledge document {source_id}")


def _clear(tx: Transaction, source_id: UUID) -> None:
    index.remove_document(tx, COLLECTION, source_id)
    tx.run(DROP_CHUNKS, source=source_id)
    tx.run(DROP_UPLOAD, source=source_id)


def _finish(
    tx: Transaction, claim: Claim, status: str, *, reason: str | None = None, made: int = 0
) -> bool:
    values = {"new_status": status, "why": reason, "made": made, "now": tx.now}
    return tx.run(FINISH, **_held(claim), **values) == 1


def _held(claim: Claim) -> dict[str, UUID]:
    return {"source": claim.source_id, "worker": claim.worker_id}


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


def _source_of(row: Row) -> Source:
    return Source(**{name: getattr(row, name) for name in Source.model_fields})


def _result_of(row: Row, score: float) -> SearchResult:
    return SearchResult(
        ref=ResourceRef(kind=CHUNK_KIND, id=str(row.id)),
        source_id=row.source_id,
        ordinal=row.ordinal,
        external_id=row.external_id,
        title=row.title,
        place=row.place,
        speaker=row.speaker,
        at=row.at,
        text=row.text,
        score=score,
    )
