"""The SQL of finding. Whom a memory may be shown to stands in every statement, before any limit."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, Self
from uuid import UUID

from sqlalchemy import Boolean, and_, bindparam, case, func, or_, select, update

from memoranda.memories.counts.store import counts
from memoranda.memories.limits import COLLECTION
from memoranda.memories.models import Memory
from memoranda.memories.views.store import AT_HEAD, SHOWN, UNEXPIRED, shown
from memoranda.runs.models import LogLevel
from memoranda.runs.store import add_log
from memoranda.search.terms import Query
from memoranda.search.texts import store as texts
from memoranda.search.texts.store import TextHit
from memoranda.search.vectors.service import Nearest
from memoranda.search.vectors.store import current
from memoranda.storage import Transaction, contains, one_of
from memoranda.storage.tables import memories, run_logs
from memoranda.words.subject import ContextSubject

STEP: Final = "memory-recall"
"""What a recall is called in the log of its run."""
MOST_PINNED: Final = 1_000
EVERY: Final = 2**31 - 1

m = memories.c
# `= NULL` is never true: a reader without a user meets no user's memory.
KNOWN: Final = and_(
    m.live,
    UNEXPIRED,
    m.space.is_(None),
    or_(
        bindparam("any_user", type_=Boolean()), m.user_id.is_(None), m.user_id == bindparam("user")
    ),
    or_(
        bindparam("any_agent", type_=Boolean()),
        m.agent_id.is_(None),
        m.agent_id == bindparam("agent"),
    ),
)
NEWEST: Final = (m.recorded_at.desc(), m.id.desc())

# Of all that the indexes hold: how much the reader may know.
HOW_MANY: Final = select(
    func.count().label("held"), func.coalesce(func.sum(case((KNOWN, 1), else_=0)), 0).label("known")
).where(m.live)
# Two looks into small indexes, where counting would read every memory.
HIDDEN_FROM_ALL: Final[Any] = select(
    select(m.id).where(m.live, m.expires_at <= bindparam("now")).exists().label("expired"),
    select(m.id).where(m.live, m.space.is_not(None)).exists().label("spaced"),
)
AMONG: Final = select(m.id).where(KNOWN, one_of(m.id, "ids"))
KNOWN_ONES: Final = texts.shelf(
    lambda rows: select(m.id).where(m.id == rows.c.document_id, KNOWN).exists()
)
LITERAL: Final = (
    select(m.id)
    .where(KNOWN, contains(m.folded, "letters"))
    .order_by(*NEWEST)
    .limit(bindparam("most"))
)
LITERAL_AMONG: Final = AMONG.where(contains(m.folded, "letters"))
BY_ID: Final = select(*SHOWN).select_from(AT_HEAD).where(KNOWN, one_of(m.id, "ids"))
PINNED: Final = (
    select(*SHOWN)
    .select_from(AT_HEAD)
    .where(KNOWN, m.pinned)
    .order_by(*NEWEST)
    .limit(bindparam("most"))
)
RECALLS_OF_RUN: Final = select(run_logs.c.metadata).where(
    run_logs.c.run_id == bindparam("run"), run_logs.c.step == bindparam("of_step")
)
USE: Final = (
    update(memories)
    .where(m.id == bindparam("memory"))
    .values(uses=m.uses + 1, used_at=bindparam("now"))
)


class Reader(NamedTuple):
    """Whose memories are found: what covers a user and an agent, or what is for anybody."""

    user: UUID | None = None
    agent: UUID | None = None
    any_user: bool = False
    any_agent: bool = False

    @classmethod
    def of(cls, subject: ContextSubject) -> Self:
        """What `Audience.covers` says of the subject. Without an agent it is not held to any."""
        return cls(subject.user_id, subject.agent_id, any_agent=subject.agent_id is None)


EVERYBODY: Final = Reader(any_user=True, any_agent=True)


def near(tx: Transaction, reader: Reader, nearest: Nearest | None) -> dict[UUID, float]:
    """The scores by meaning of what the reader may know, where the vector is of the present text."""
    if nearest is None or not nearest.hits:
        return {}
    ids = [hit.item_id for hit in nearest.hits]
    known = [row.id for row in tx.all(AMONG, **_of(tx, reader), ids=ids)]
    text_of = current(tx, COLLECTION, nearest.model, known)
    return {
        hit.item_id: hit.score for hit in nearest.hits if text_of.get(hit.item_id) == hit.text_id
    }


def worded(
    tx: Transaction, reader: Reader, query: Query, *, at_least: float
) -> dict[UUID, TextHit]:
    """What holds words of the query. Nothing but what the reader may know says how rare a word is."""
    of = _of(tx, reader)
    held, known = _held_and_known(tx, reader)
    found = partial(texts.find, tx, COLLECTION, query, total=known, at_least=at_least)
    hits = found() if known == held else found(on=KNOWN_ONES, **of)
    return {hit.item_id: hit for hit in hits}


def _held_and_known(tx: Transaction, reader: Reader) -> tuple[int, int]:
    """How many memories the indexes hold, and how many of them the reader may know."""
    if reader == EVERYBODY:
        held = counts(tx).active
        hidden: Any = tx.one(HIDDEN_FROM_ALL, now=tx.now)
        if not hidden.expired and not hidden.spaced:
            return held, held
    there: Any = tx.one(HOW_MANY, **_of(tx, reader))
    return there.held, there.known


def literal(
    tx: Transaction, reader: Reader, letters: str, *, most: int, among: Collection[UUID]
) -> set[UUID]:
    """What holds these folded letters somewhere: the newest `most`, and of `among` all."""
    of = _of(tx, reader)
    newest = {row.id for row in tx.all(LITERAL, **of, letters=letters, most=most)}
    if len(newest) < most:
        return newest
    return newest | {row.id for row in tx.all(LITERAL_AMONG, **of, letters=letters, ids=among)}


def by_id(tx: Transaction, reader: Reader, ids: Sequence[UUID]) -> dict[UUID, Memory]:
    """The memories of these that the reader may know."""
    return {row.id: shown(row) for row in tx.all(BY_ID, **_of(tx, reader), ids=ids)}


def pinned(tx: Transaction, reader: Reader) -> list[Memory]:
    """The pinned memories that the reader may know, the last recorded first."""
    return [shown(row) for row in tx.all(PINNED, **_of(tx, reader), most=MOST_PINNED)]


def note(
    tx: Transaction,
    memory_ids: Collection[UUID],
    run_id: UUID | None,
    level: LogLevel,
    metadata: Mapping[str, Any],
) -> None:
    """Log a recall, and count its memories as used, those that the run was given before not again."""
    new = set(memory_ids)
    if run_id is not None:
        tx.lock(f"recalls of run {run_id}")
        for row in tx.all(RECALLS_OF_RUN, run=run_id, of_step=STEP):
            new -= {UUID(given) for given in row.metadata.get("injected", ())}
        add_log(tx, run_id, level, STEP, dict(metadata))
    # In the order of their ids, so that no two of these can wait for each other.
    tx.run_many(USE, [{"memory": memory_id, "now": tx.now} for memory_id in sorted(new)])


def _of(tx: Transaction, reader: Reader) -> dict[str, Any]:
    return {**reader._asdict(), "now": tx.now}
