"""Knowledge in the database: sources, their uploads, and what a search finds of them."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import BindParameter, bindparam, func, insert, select, update

from memoranda.knowledge.active import store as active
from memoranda.knowledge.claims import store as claims
from memoranda.knowledge.hits import hits
from memoranda.knowledge.models import CHUNK_KIND, COLLECTION, Document, SearchResult, Source
from memoranda.knowledge.progress import progress_of
from memoranda.knowledge.readiness import store as readiness
from memoranda.knowledge.steps import store as steps
from memoranda.search import store as index
from memoranda.search.fusion import Meaning
from memoranda.search.terms import Query
from memoranda.storage import ConstraintViolated, Row, Transaction, one_of_pairs
from memoranda.storage.signals import KNOWLEDGE, signal
from memoranda.storage.tables import knowledge_chunks, knowledge_sources, knowledge_uploads
from memoranda.words.errors import Conflict
from memoranda.words.ids import new_id
from memoranda.words.ref import ResourceRef

_NAME_KEPT_BY: Final = {
    "one_source_per_object": "object_key",
    "one_source_per_uri": "uri",
    "one_platform_source_per_object": "object_key",
    "one_platform_source_per_uri": "uri",
}
"""What a constraint that two adders at once may break says is taken."""

_LAST: Final = UUID(int=2**128 - 1)

_source: BindParameter[UUID] = bindparam("source")
_NAMES: Final = [name for name in Source.model_fields if name != "progress"]
_SOURCE_COLUMNS = [knowledge_sources.c[name] for name in (*_NAMES, "lease_owner")]

ADD_SOURCE: Final = insert(knowledge_sources)
ADD_UPLOAD: Final = insert(knowledge_uploads)

GET_SOURCE: Final = select(*_SOURCE_COLUMNS).where(
    knowledge_sources.c.id == _source, knowledge_sources.c.digest != steps.GONE
)
_SAME = select(*_SOURCE_COLUMNS, knowledge_sources.c.digest)
SAME_OBJECT: Final = _SAME.where(knowledge_sources.c.object_key == bindparam("key"))
SAME_URI: Final = _SAME.where(knowledge_sources.c.uri == bindparam("key"))
# Ids are made in the order of time, so the newest id is the newest source.
PAGE: Final = (
    select(*_SOURCE_COLUMNS)
    .where(knowledge_sources.c.id < bindparam("before"), knowledge_sources.c.digest != steps.GONE)
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
# Neither its names nor what is said of it are a change of the document, or of its place in line.
RENAME: Final = (
    update(knowledge_sources)
    .where(knowledge_sources.c.id == _source)
    .values(uri=bindparam("new_uri"), object_key=bindparam("new_key"))
)
DESCRIBE: Final = (
    update(knowledge_sources)
    .where(knowledge_sources.c.id == _source, knowledge_sources.c.digest != steps.GONE)
    .values(summary=bindparam("new_summary"))
)
_READY = (knowledge_sources.c.status == "ready", knowledge_sources.c.digest != steps.GONE)
READY: Final = (
    select(*_SOURCE_COLUMNS)
    .where(*_READY)
    .order_by(knowledge_sources.c.id.desc())
    .limit(bindparam("most"))
)
COUNT_READY: Final = (
    select(func.count().label("count")).select_from(knowledge_sources).where(*_READY)
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

# Each chunk asks for its own source. As a join, SQLite, which knows no sizes, begins with all sources of
# the scope and looks for every place in each of them.
_ITS_SOURCE = (
    select(knowledge_sources.c.id)
    .where(
        knowledge_sources.c.id == knowledge_chunks.c.source_id,
        knowledge_sources.c.status == "ready",
    )
    .correlate(knowledge_chunks)
    .scalar_subquery()
)
_ITS_TITLE = (
    select(knowledge_sources.c.title)
    .where(knowledge_sources.c.id == knowledge_chunks.c.source_id)
    .correlate(knowledge_chunks)
    .scalar_subquery()
)
CHUNKS: Final = select(
    knowledge_chunks.c.id,
    knowledge_chunks.c.source_id,
    knowledge_chunks.c.ordinal,
    knowledge_chunks.c.external_id,
    _ITS_TITLE.label("title"),
    knowledge_chunks.c.place,
    knowledge_chunks.c.speaker,
    knowledge_chunks.c.at,
    knowledge_chunks.c.text,
).where(
    knowledge_chunks.c.source_id == _ITS_SOURCE,
    one_of_pairs(knowledge_chunks.c.source_id, knowledge_chunks.c.ordinal, "places"),
)


def add(tx: Transaction, document: Document) -> Source:
    """Put a document in line to be ingested; the same object key or URI is the same source.

    The same bytes under the same key, kind and title change nothing but its names, unless
    their last try failed. Anything else takes the source out of the search until it is
    ready. Raises `Conflict` for a URI that is the name of a source with another key, and the
    document's `misfit` where it would take the place of a ready one.
    """
    try:
        return _add(tx, document)
    except ConstraintViolated as error:
        field = _NAME_KEPT_BY.get(error.name)
        if field is None:
            raise
        raise _taken(field) from error


def _add(tx: Transaction, document: Document) -> Source:
    known, hidden = _same(tx, document), False
    if known is None:
        source_id = _add_source(tx, document)
    else:
        source_id = known.id
        _rename(tx, known, document)
        if document.summary is not None:
            describe(tx, source_id, document.summary)
        if _says_the_same(known, document) and known.status != "failed":
            return _source_of(tx.one(GET_SOURCE, source=source_id))
        _keep_from_misfit(known, document)
        hidden = _renew(tx, source_id, document)
    tx.run(ADD_UPLOAD, source_id=source_id, content=document.content)
    signal(tx, KNOWLEDGE)
    if hidden:
        active.pass_turn(tx)
    return _source_of(tx.one(GET_SOURCE, source=source_id))


def _keep_from_misfit(known: Row, document: Document) -> None:
    """What is searched is not given up for what nobody can read."""
    if known.status == "ready" and (why := document.misfit) is not None:
        raise type(why)(f"{why.message} {known.title!r} stays as it was.", **why.details)


def _rename(tx: Transaction, known: Row, document: Document) -> None:
    """Take over the names that the document states; one that it leaves out stays."""
    uri = known.uri if document.uri is None else document.uri
    key = known.object_key if document.object_key is None else document.object_key
    if (uri, key) != (known.uri, known.object_key):
        tx.run(RENAME, source=known.id, new_uri=uri, new_key=key)


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
        summary=document.summary,
        digest=document.digest,
        status="pending",
        size=len(document.content),
        created_at=tx.now,
        updated_at=tx.now,
    )
    return source_id


def _renew(tx: Transaction, source_id: UUID, document: Document) -> bool:
    """Put a new version in the place of an earlier one; whether that was in a search."""
    hidden = steps.set_aside(tx, source_id)
    tx.run(
        RENEW,
        source=source_id,
        new_kind=document.kind,
        new_title=document.title,
        new_digest=document.digest,
        new_size=len(document.content),
        now=tx.now,
    )
    return hidden


def get(tx: Transaction, source_id: UUID) -> Source | None:
    """The source, or None where the scope has none of that id."""
    row = tx.one(GET_SOURCE, source=source_id)
    return None if row is None else _sources_of(tx, [row])[0]


def page(tx: Transaction, before: UUID | None, most: int) -> list[Source]:
    """Sources, newest first, older than the source `before`."""
    return _sources_of(tx, tx.all(PAGE, before=before or _LAST, most=most))


def describe(tx: Transaction, source_id: UUID, summary: str | None) -> bool:
    """Say what the source is about; False where there is none of that id."""
    return tx.run(DESCRIBE, source=source_id, new_summary=summary) == 1


def newest(tx: Transaction, most: int) -> tuple[list[Source], int]:
    """The newest ready sources, and how many are ready in all."""
    counted = tx.one(COUNT_READY)
    return [
        _source_of(row) for row in tx.all(READY, most=most)
    ], 0 if counted is None else counted.count


def repeat(tx: Transaction, source_id: UUID) -> bool:
    """Put a failed source in line again; False where it is not a failed one."""
    repeated = tx.run(REPEAT, source=source_id, now=tx.now) == 1
    if repeated:
        signal(tx, KNOWLEDGE)
    return repeated


def wording(
    tx: Transaction, said: str, asked: Query, source_ids: Sequence[UUID] | None = None
) -> str:
    """The text of a query that is embedded: without the names of who speaks in the scope's transcripts."""
    return index.wording(tx, COLLECTION, said, asked, document_ids=source_ids)


def search(
    tx: Transaction,
    asked: Query,
    limit: int,
    source_ids: Sequence[UUID] | None = None,
    meaning: Meaning | None = None,
) -> list[SearchResult]:
    """The best chunks of the scope's ready sources, best first: by words, and by `meaning` where it is known."""
    found = hits(tx, asked, limit, source_ids, meaning)
    if not found:
        return []
    rows = tx.all(CHUNKS, places=[(hit.document_id, hit.ordinal) for hit in found])
    chunks = {(row.source_id, row.ordinal): row for row in rows}
    return [
        _result_of(chunks[place], hit.score)
        for hit in found
        if (place := (hit.document_id, hit.ordinal)) in chunks
    ]


def _same(tx: Transaction, document: Document) -> Row | None:
    """The source that the document is, with its row held until the transaction ends."""
    for name in sorted({document.uri, document.object_key} - {None}, key=str):
        tx.lock(f"knowledge source {name}")
    known = _named(tx, document)
    if known is not None:
        claims.alone(tx, known.id)
        known = _named(tx, document)  # as it is now, if nobody removed it meanwhile
    return known


def _named(tx: Transaction, document: Document) -> Row | None:
    uri, key = document.uri, document.object_key
    by_key = None if key is None else tx.one(SAME_OBJECT, key=key)
    by_uri = None if uri is None else tx.one(SAME_URI, key=uri)
    if by_uri is None or key is None:
        return by_uri if by_key is None else by_key
    # A source without a key takes this one; the URI of a source with another key stays that source's.
    if by_uri.object_key != key and (by_uri.object_key is not None or by_key is not None):
        raise _taken("uri")
    return by_uri


def _taken(field: str) -> Conflict:
    return Conflict(
        f"The {field} is another source's: remove that source, or add the document under its names.",
        field=field,
    )


def _source_of(row: Row) -> Source:
    return Source(**{name: getattr(row, name) for name in _NAMES})


def _sources_of(tx: Transaction, rows: Sequence[Row]) -> list[Source]:
    """The sources, of which the pending ones tell how far they are."""
    pending = {row.id for row in rows if row.status == "pending"}
    if not pending:
        return [_source_of(row) for row in rows]
    serving = active.now(tx)
    models = () if serving is None else serving.wanted
    far = readiness.far(tx, pending, models) if models else {}
    sources = []
    for row in rows:
        source = _source_of(row)
        if row.id in pending:
            made, why = far.get(row.id, (0, None))
            progress = progress_of(
                held=row.lease_owner is not None,
                chunks=row.chunks,
                models=len(models),
                made=made,
                waits_for=why,
            )
            source = source.model_copy(update={"progress": progress})
        sources.append(source)
    return sources


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
