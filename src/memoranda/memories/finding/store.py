"""The SQL of finding. Whom a memory may be shown to stands in every statement, before any limit."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final
from uuid import UUID

from sqlalchemy import and_, bindparam, select, update

from memoranda.memories.finding.reach.store import (
    EVERYBODY,
    KNOWN,
    REACHED_SOMEHOW,
    Reach,
    Reader,
    asked_of,
)
from memoranda.memories.limits import COLLECTION
from memoranda.memories.models import Memory
from memoranda.memories.views.store import AT_HEAD, SAYING, SHOWN, shown, with_branches
from memoranda.runs.models import LogLevel
from memoranda.runs.store import add_log
from memoranda.search.terms import Query
from memoranda.search.texts import store as texts
from memoranda.search.texts.store import TextHit
from memoranda.search.vectors.matrix import Hit
from memoranda.search.vectors.service import Nearest
from memoranda.storage import Transaction, contains, id_of, one_of
from memoranda.storage.tables import memories, run_logs

__all__ = ["EVERYBODY", "Reach", "Reader"]

STEP: Final = "memory-recall"
"""What a recall is called in the log of its run."""
MOST_PINNED: Final = 1_000
EVERY: Final = 2**31 - 1

m = memories.c
# By their ids, from the index of ids.
KNOWN_OF_THEM: Final = and_(SAYING, REACHED_SOMEHOW, one_of(m.id, "ids"))
NEWEST: Final = (m.recorded_at.desc(), m.id.desc())

AMONG: Final = select(m.id, m.head_id).where(KNOWN_OF_THEM)
KNOWN_ONES: Final = texts.shelf(
    lambda rows: select(m.id).where(m.id == rows.c.document_id, KNOWN).exists()
)
LITERAL: Final = (
    select(m.id)
    .where(KNOWN, contains(m.folded, "letters"))
    .order_by(*NEWEST)
    .limit(bindparam("most"))
)
LITERAL_AMONG: Final = select(m.id, m.recorded_at).where(
    KNOWN_OF_THEM, contains(m.folded, "letters")
)
BY_ID: Final = select(*SHOWN).select_from(AT_HEAD).where(KNOWN_OF_THEM)
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


def near(tx: Transaction, reader: Reader, hits: Sequence[Hit]) -> dict[UUID, float]:
    """The scores by meaning of what the reader may know, where the vector is of the present text."""
    if not hits:
        return {}
    rows = tx.plain(AMONG, **asked_of(tx, reader), ids=[hit.item_id for hit in hits])
    head_of = {id_of(item): id_of(head) for item, head in rows}
    return {hit.item_id: hit.score for hit in hits if head_of.get(hit.item_id) == hit.text_id}


def worded(
    tx: Transaction, reader: Reader, reach: Reach, query: Query, *, at_least: float
) -> dict[UUID, TextHit]:
    """What holds words of the query. Nothing but what the reader may know says how rare a word is."""
    if reach.ids is not None:
        hits = texts.find_among(tx, COLLECTION, query, reach.ids, at_least=at_least)
    else:
        find = partial(texts.find, tx, COLLECTION, query, total=reach.known, at_least=at_least)
        all_of_it = reach.known == reach.held
        hits = find() if all_of_it else find(on=KNOWN_ONES, **asked_of(tx, reader))
    return {hit.item_id: hit for hit in hits}


def literal(
    tx: Transaction,
    reader: Reader,
    reach: Reach,
    letters: str,
    *,
    most: int,
    among: Collection[UUID],
    nearest: Nearest | None = None,
) -> set[UUID]:
    """What holds these folded letters somewhere: the newest `most`, and of `among` all.

    What a search by meaning has in memory may tell the few that can hold them; what they say, and
    to whom, is asked here all the same.
    """
    of = {**asked_of(tx, reader), "letters": letters}
    holders = nearest.holders if nearest else None
    ids = holders.among(tx, letters) if holders else None
    ids = reach.ids if ids is None else ids
    if ids is not None:
        rows = tx.all(LITERAL_AMONG, **of, ids=ids)
        newest = sorted(rows, key=lambda row: (row.recorded_at, row.id), reverse=True)[:most]
        return {row.id for row in newest} | {row.id for row in rows}.intersection(among)
    newest = tx.plain(LITERAL, **of, most=most)
    found = {id_of(row[0]) for row in newest}
    if len(newest) < most:
        return found
    return found | {row.id for row in tx.all(LITERAL_AMONG, **of, ids=among)}


def by_id(tx: Transaction, reader: Reader, ids: Sequence[UUID]) -> dict[UUID, Memory]:
    """The memories of these that the reader may know."""
    rows = tx.all(BY_ID, **asked_of(tx, reader), ids=ids)
    return {each.id: each for each in with_branches(tx, [shown(row) for row in rows])}


def pinned(tx: Transaction, reader: Reader) -> list[Memory]:
    """The pinned memories that the reader may know, the last recorded first."""
    rows = tx.all(PINNED, **asked_of(tx, reader), most=MOST_PINNED)
    return with_branches(tx, [shown(row) for row in rows])


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
    tx.send_many(USE, [{"memory": memory_id, "now": tx.now} for memory_id in sorted(new)])
