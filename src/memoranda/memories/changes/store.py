"""The SQL of a chain's changes, and the one place where all that follows from a change is written."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, insert, update

from memoranda.memories import chain
from memoranda.memories.audience import Audience
from memoranda.memories.candidate import Author, Candidate, Mark
from memoranda.memories.chain import Head
from memoranda.memories.counts import store as counts
from memoranda.memories.limits import COLLECTION
from memoranda.memories.ways import Ways
from memoranda.runs.events.store import record_event
from memoranda.runs.store import record_activity
from memoranda.search.terms import read_passage
from memoranda.search.texts import store as texts
from memoranda.search.texts.store import WORDS_VERSION
from memoranda.search.vectors import store as vectors
from memoranda.storage import Row, Transaction
from memoranda.storage.tables import memories, memory_revisions
from memoranda.words.ids import new_id

EVENT: Final = "memory.updated"
# What the activity feed calls each action; a listener is told the action itself.
ACTIVITIES: Final[Mapping[str, str]] = {
    "created": "memory_fact_created",
    "updated": "memory_fact_updated",
    "pinned": "memory_fact_updated",
    "unpinned": "memory_fact_updated",
    "moved": "memory_fact_updated",
    "forgotten": "memory_fact_forgotten",
    "merged": "memory_fact_forgotten",
    "restored": "memory_fact_restored",
    "accepted": "memory_fact_accepted",
}

INSERT_MEMORY: Final = insert(memories)
INSERT_REVISION: Final = insert(memory_revisions)
PROJECTED: Final = (
    *("head_id", "version", "live", "folded", "folded_digest", "recorded_at", "expires_at"),
    *("pinned", "words_version"),
)
MOVE_HEAD: Final = (
    update(memories)
    .where(memories.c.id == bindparam("memory"))
    .values({name: bindparam(f"new_{name}") for name in PROJECTED})
)
SET_PINNED: Final = (
    update(memories)
    .where(memories.c.id == bindparam("memory"))
    .values(pinned=bindparam("new_pinned"))
)


COUNTED: Final = ("active", "forgotten", "pinned", "lapsed", "lapsed_pins")


class Change(NamedTuple):
    """One chain that a write has changed, and what has to follow.

    `said` is what it says now, where that is new; `vector_of` names the memory whose
    vector is of the same text already. `fresh` says that no words of it are in the index.
    A change without an activity is a part of another one. `active`, `forgotten` and `pinned`
    are what it adds to the counts; `lapsed` and `lapsed_pins`, how many that had expired and
    were still counted are gone, or back.
    """

    head: Head
    audience: Audience
    author: Author
    action: str
    said: Candidate | None = None
    fresh: bool = False
    vector_of: UUID | None = None
    recorded: bool = True
    details: Mapping[str, object] = {}
    active: int = 0
    forgotten: int = 0
    pinned: int = 0
    lapsed: int = 0
    lapsed_pins: int = 0


def begin(
    tx: Transaction,
    candidate: Candidate,
    mark: Mark,
    *,
    memory_id: UUID | None = None,
    moved: Row | None = None,
) -> Head:
    """Write a new chain; `moved` is the chain that it continues, whose use it takes over."""
    head = chain.first(
        memory_id or new_id(),
        new_id(),
        expires_at=candidate.expires_at,
        now=tx.now,
        pinned=candidate.pinned,
    )
    tx.send(
        INSERT_MEMORY,
        id=head.memory_id,
        user_id=candidate.audience.user_id,
        agent_id=candidate.audience.agent_id,
        space=candidate.audience.space,
        audience=candidate.audience.spelled,
        subject_key=candidate.subject_key,
        subject_refs=list(candidate.subject_refs),
        pinned=head.pinned,
        head_id=head.revision_id,
        version=head.version,
        live=head.live,
        folded=mark.folded,
        folded_digest=mark.digest,
        recorded_at=tx.now,
        expires_at=head.expires_at,
        created_at=head.created_at,
        uses=moved.uses if moved else 0,
        used_at=moved.used_at if moved else None,
        words_version=WORDS_VERSION,
    )
    _insert_revision(
        tx, None, head, candidate.author, candidate, continues_id=moved.id if moved else None
    )
    return head


def append(tx: Transaction, parent: Head, candidate: Candidate, mark: Mark) -> Head:
    """Write what a chain says from now on."""
    head = parent.followed_by(new_id(), expires_at=candidate.expires_at, pinned=candidate.pinned)
    _insert_revision(tx, parent, head, candidate.author, candidate)
    _move_head(tx, head, mark)
    return head


def end(tx: Transaction, parent: Head, author: Author, continued_by_id: UUID | None) -> Head:
    """Write a tombstone, which has no text; nothing forgotten stays pinned."""
    head = parent.followed_by(new_id(), live=False)
    _insert_revision(tx, parent, head, author, None, continued_by_id=continued_by_id)
    _move_head(tx, head, None)
    return head


def set_pinned(tx: Transaction, memory_id: UUID, *, pinned: bool) -> None:
    """Pin or unpin, which is no revision."""
    tx.send(SET_PINNED, memory=memory_id, new_pinned=pinned)


def settle(tx: Transaction, changes: Sequence[Change], ways: Ways) -> None:
    """Write all that follows from these changes, last in the transaction and once in it.

    Every write takes the rows that all writers of an organization share in this one
    order: the indexes' own, the events' number, the counts. A write that waited for
    another chain after this could wait for ever.
    """
    for change in changes:
        _put_words(tx, change)
        _record(tx, change)
    for change in changes:
        _put_vector(tx, change, ways.models)
    for change in changes:
        _tell(tx, change)
    more = {name: sum(getattr(change, name) for change in changes) for name in COUNTED}
    if any(more.values()):
        counts.bump(tx, ways.limits, **more)


def _put_words(tx: Transaction, change: Change) -> None:
    if not change.head.live:
        texts.drop(tx, COLLECTION, [change.head.memory_id])
    elif change.said is not None:
        terms = read_passage(change.said.words)
        texts.put(tx, COLLECTION, change.head.memory_id, terms, fresh=change.fresh)


def _put_vector(tx: Transaction, change: Change, models: Sequence[str]) -> None:
    memory_id, text_id = change.head.memory_id, change.head.revision_id
    if not change.head.live:
        vectors.drop(tx, COLLECTION, [memory_id])
    elif change.vector_of is not None:
        vectors.carry(tx, COLLECTION, change.vector_of, memory_id, text_id)
    elif change.said is not None and models:
        vectors.want(tx, COLLECTION, memory_id, text_id, models, fresh=change.fresh)
    elif change.said is not None:
        if not change.fresh:
            vectors.drop(tx, COLLECTION, [memory_id])  # of a text that it says no more
        vectors.leave_out(tx, COLLECTION)


def _record(tx: Transaction, change: Change) -> None:
    if change.recorded:
        record_activity(
            tx,
            ACTIVITIES[change.action],
            subject_id=change.head.memory_id,
            user_id=change.author.user_id,
            agent_id=change.author.agent_id,
            version=change.head.version,
            **change.details,
        )


def _tell(tx: Transaction, change: Change) -> None:
    record_event(
        tx,
        EVENT,
        user_id=change.audience.user_id,
        agent_id=change.audience.agent_id,
        space=change.audience.space,
        memory_id=str(change.head.memory_id),
        version=change.head.version,
        action=change.action,
    )


def _insert_revision(
    tx: Transaction,
    parent: Head | None,
    head: Head,
    author: Author,
    said: Candidate | None,
    *,
    continues_id: UUID | None = None,
    continued_by_id: UUID | None = None,
) -> None:
    tx.send(
        INSERT_REVISION,
        id=head.revision_id,
        memory_id=head.memory_id,
        version=head.version,
        supersedes_id=parent.revision_id if parent else None,
        text=said.text if said else None,
        title=said.title if said else None,
        category=said.category if said else None,
        tags=said.tags if said else (),
        expires_at=head.expires_at,
        origin=author.origin,
        author_user_id=author.user_id,
        author_agent_id=author.agent_id,
        run_id=author.run_id,
        conversation_id=author.conversation_id,
        forgotten_at=None if head.live else tx.now,
        continues_id=continues_id,
        continued_by_id=continued_by_id,
        created_at=tx.now,
    )


def _move_head(tx: Transaction, head: Head, mark: Mark | None) -> None:
    new: dict[str, Any] = {
        "head_id": head.revision_id,
        "version": head.version,
        "live": head.live,
        "folded": mark.folded if mark else None,
        "folded_digest": mark.digest if mark else None,
        "recorded_at": tx.now,
        "expires_at": head.expires_at,
        "pinned": head.pinned,
        "words_version": WORDS_VERSION if head.live else 0,
    }
    tx.send(MOVE_HEAD, memory=head.memory_id, **{f"new_{name}": new[name] for name in PROJECTED})
