"""The SQL of embedding: which memories lack a vector or words, and the texts that vectors are made of."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Uuid, and_, bindparam, case, func, select, update

from memoranda.memories.candidate import words_of
from memoranda.memories.limits import COLLECTION
from memoranda.search.terms import read_passage
from memoranda.search.texts import store as words
from memoranda.search.texts.store import WORDS_VERSION
from memoranda.search.vectors import letters
from memoranda.search.vectors import store as vectors
from memoranda.search.vectors.lettering import store as lettering
from memoranda.search.vectors.making.store import Claim
from memoranda.search.vectors.store import DROPPED, TRIES, Progress
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.tables import memories, memory_revisions, search_vectors

MOST_COUNTED: Final = 50

_VECTOR = search_vectors.c
_ITS_VECTOR = and_(
    _VECTOR.collection == COLLECTION,
    _VECTOR.model == bindparam("of_model"),
    _VECTOR.item_id == memories.c.id,
    _VECTOR.text_id == memories.c.head_id,
    _VECTOR.failures != DROPPED,
)
_WITH_VECTORS = memories.outerjoin(search_vectors, _ITS_VECTOR)
_WITH_TEXTS = memories.join(
    memory_revisions,
    and_(
        memory_revisions.c.id == memories.c.head_id, memory_revisions.c.memory_id == memories.c.id
    ),
)

LACKING: Final = (
    select(memories.c.id, memories.c.head_id)
    .select_from(_WITH_VECTORS)
    .where(memories.c.live, _VECTOR.item_id.is_(None))
    .order_by(memories.c.id)
    .limit(bindparam("most"))
)
# From before there were letters.
LETTERLESS: Final = (
    select(memories.c.id, memories.c.head_id, memories.c.folded)
    .select_from(memories.join(search_vectors, _ITS_VECTOR))
    .where(memories.c.live, _VECTOR.vector.is_not(None), _VECTOR.letters.is_(None))
    .limit(bindparam("most"))
)
_COUNTS: tuple[ColumnElement[Any], ...] = (
    func.count(memories.c.id).label("live"),
    func.count(_VECTOR.vector).label("made"),
    func.count(case((_VECTOR.vector.is_(None) & (_VECTOR.failures >= TRIES), 1))).label("given_up"),
)
PROGRESS: Final = select(*_COUNTS).select_from(_WITH_VECTORS).where(memories.c.live)
# What somebody has just written and nobody has tried to embed yet.
JUST_WRITTEN: Final = (
    select(memories.c.id)
    .select_from(
        _WITH_TEXTS.join(
            search_vectors, and_(_ITS_VECTOR, _VECTOR.vector.is_(None), _VECTOR.failures == 0)
        )
    )
    .where(
        memories.c.live,
        memories.c.recorded_at > bindparam("since"),
        memory_revisions.c.author_user_id.is_not_distinct_from(bindparam("by_user", type_=Uuid())),
        memory_revisions.c.author_agent_id.is_not_distinct_from(
            bindparam("by_agent", type_=Uuid())
        ),
    )
    .limit(bindparam("most"))
)
ANY_LIVE: Final = select(memories.c.id).where(memories.c.live).limit(1)
TEXTS: Final = (
    select(memories.c.id, memories.c.head_id, memories.c.folded, memory_revisions.c.text)
    .select_from(_WITH_TEXTS)
    .where(memories.c.live, one_of(memories.c.id, "ids"))
)
OTHERWISE_READ: Final = (
    select(
        memories.c.id,
        memories.c.head_id,
        memory_revisions.c.text,
        memory_revisions.c.title,
        memory_revisions.c.category,
        memory_revisions.c.tags,
    )
    .select_from(_WITH_TEXTS)
    .where(memories.c.live, memories.c.words_version != bindparam("now_read"))
    .order_by(memories.c.id)
    .limit(bindparam("most"))
)
# Takes the memory's row, as whoever changes the memory does before its words.
SET_WORDS_VERSION: Final = (
    update(memories)
    .where(memories.c.id == bindparam("memory"), memories.c.head_id == bindparam("head"))
    .values(words_version=bindparam("now_read"))
)


class Readable(NamedTuple):
    """A part of a claim that there is something to embed of, the texts, and their letters' signatures."""

    claim: Claim
    texts: list[str]
    letters: list[bytes]


def lacking(tx: Transaction, model: str, most: int) -> dict[UUID, UUID]:
    """Return up to `most` live memories whose text is nobody's work and has no vector, each with its head."""
    return {row.id: row.head_id for row in tx.all(LACKING, of_model=model, most=most)}


def unready(tx: Transaction, model: str) -> bool:
    """Whether a live memory has no words as they are read now, or a text that nobody makes a vector of.

    Or a vector without its letters. A look alone; with `model` empty, at words only.
    """
    if tx.one(OTHERWISE_READ, now_read=WORDS_VERSION, most=1) is not None:
        return True
    looks = (LACKING, LETTERLESS) if model else ()
    return any(tx.one(look, of_model=model, most=1) is not None for look in looks)


def spell(tx: Transaction, model: str, most: int) -> int:
    """Keep the letters of up to `most` memories whose vectors lack them; how many there were.

    Only in one's `turn`, so that no vector becomes another text's meanwhile.
    """
    rows = tx.all(LETTERLESS, of_model=model, most=most)
    signed = {row.id: (row.head_id, letters.signature(row.folded)) for row in rows}
    lettering.spell(tx, COLLECTION, model, signed)
    return len(rows)


def beyond_meaning(tx: Transaction, model: str) -> bool:
    """Whether there are memories, and a search that had no vector to compare with left some out."""
    if tx.one(ANY_LIVE) is None:
        return False
    made = vectors.changes(tx, COLLECTION, model, 0, 1)
    # An empty one is near nothing, and was left out rightly.
    return not made.vectors or bool(made.vectors[0])


def just_written(
    tx: Transaction,
    models: Sequence[str],
    since: datetime,
    *,
    user_id: UUID | None,
    agent_id: UUID | None,
) -> int:
    """How many memories that this author has written since then have no vector yet, 50 at most.

    Of the model that answers searches, or of the first where none does yet.
    """
    if not vectors.waiting(tx, COLLECTION, models):
        return 0
    now = vectors.serving(tx, COLLECTION)
    model = now.model if now is not None and now.model in models else models[0]
    by = {"by_user": user_id, "by_agent": agent_id}
    return len(tx.all(JUST_WRITTEN, of_model=model, since=since, most=MOST_COUNTED, **by))


def progress(tx: Transaction, model: str) -> Progress:
    """Return how many live memories have their vector, wait for it, and were given up."""
    row: Row = tx.one(PROGRESS, of_model=model)
    return Progress(row.made, row.live - row.made - row.given_up, row.given_up)


def readable(tx: Transaction, claim: Claim) -> Readable:
    """Return the texts of a claim. What is no memory's text by now is put right, and left out."""
    ids = [text.item_id for text in claim.texts]
    said = {row.id: row for row in tx.all(TEXTS, ids=ids)}
    here = [
        text
        for text in claim.texts
        if text.item_id in said and said[text.item_id].head_id == text.text_id
    ]
    moved_on = {
        text.item_id: said[text.item_id].head_id
        for text in claim.texts
        if text.item_id in said and said[text.item_id].head_id != text.text_id
    }
    vectors.drop(tx, COLLECTION, [item_id for item_id in ids if item_id not in said])
    vectors.want_again(tx, COLLECTION, claim.model, moved_on)
    rows = [said[text.item_id] for text in here]
    signatures = [letters.signature(row.folded) for row in rows]
    return Readable(claim._replace(texts=here), [row.text for row in rows], signatures)


def read_anew(tx: Transaction, most: int) -> int:
    """Put up to `most` memories into the word index whose words were read otherwise; how many there were."""
    rows = tx.all(OTHERWISE_READ, now_read=WORDS_VERSION, most=most)
    for row in rows:
        if tx.run(SET_WORDS_VERSION, memory=row.id, head=row.head_id, now_read=WORDS_VERSION):
            terms = read_passage(words_of(row.title, row.text, row.category, row.tags))
            words.put(tx, COLLECTION, row.id, terms, fresh=False)
    return len(rows)
