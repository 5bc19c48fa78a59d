"""The SQL of a search's reach: which segments and messages a caller may be shown, and how they read."""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Table, and_, bindparam, case, func, select

from memoranda.conversations.finding.passages import Row
from memoranda.conversations.finding.store import read_row
from memoranda.storage import Transaction, one_of
from memoranda.storage.tables import (
    conversation_archive,
    conversation_marks,
    conversation_messages,
    conversation_segments,
    conversations,
)

MOST_SEGMENTS: Final = 2_000
"""Segments that one search goes over, the newest first, where its caller may not see all there are."""
MOST_WAITING: Final = 1_000
"""New messages are counted up to here."""

Whose = Literal["all", "user", "agent", "both", "alone", "one"]
"""Whose conversations: all; a user's; an agent's; both's; an agent's that are no user's; or one of them."""

c, s, k = conversations.c, conversation_segments.c, conversation_marks.c
_OF_USER = c.user_id == bindparam("user")
_OF_AGENT = c.agent_id == bindparam("agent")
_WHOSE: Final[dict[Whose, list[ColumnElement[bool]]]] = {
    "all": [],
    "user": [_OF_USER],
    "agent": [_OF_AGENT],
    "both": [_OF_USER, _OF_AGENT],
    "alone": [_OF_AGENT, c.user_id.is_(None)],
    "one": [c.id == bindparam("conversation")],
}

_IN_REACH = select(s.id, s.passages, s.model, s.embedded).join(
    conversations, s.conversation_id == c.id
)
SEGMENTS: Final = {
    whose: _IN_REACH.where(*which).order_by(s.id.desc()).limit(bindparam("most"))
    for whose, which in _WHOSE.items()
}
COUNTED: Final = {
    whose: select(func.count(s.id).label("segments"))
    .join(conversations, s.conversation_id == c.id)
    .where(*which)
    for whose, which in _WHOSE.items()
}
LACKING: Final = select(s.id).where(s.lacks).limit(1)
WITHOUT_VECTORS: Final = select(
    func.sum(s.passages - case((s.model == bindparam("of_model"), s.embedded), else_=0)).label(
        "passages"
    )
)
OWNERS: Final = select(c.user_id, c.agent_id).where(c.id == bindparam("conversation"))
PLACES: Final = select(s.id, s.conversation_id, s.places).where(one_of(s.id, "segments"))
ABOUT: Final = select(c.id, c.workflow_id, c.generation, c.agent_id, c.user_id).where(
    one_of(c.id, "conversations")
)

_last_read = (
    select(func.coalesce(func.max(s.last_position), 0))
    .where(s.conversation_id == k.conversation_id)
    .correlate(conversation_marks)
    .scalar_subquery()
)


def _waiting(
    messages: Table, which: Iterable[ColumnElement[bool]], *more: ColumnElement[bool]
) -> Select[tuple[UUID]]:
    """Messages of marked conversations that stand behind all that was read of them."""
    return (
        select(messages.c.id)
        .select_from(conversation_marks)
        .join(conversations, k.conversation_id == c.id)
        .join(messages, messages.c.conversation_id == k.conversation_id)
        .where(messages.c.position > _last_read, *which, *more)
        .limit(bindparam("most"))
    )


_COMPACTED = conversation_archive.c.compaction_id.is_not(None)
WAITING: Final = {
    whose: (
        _waiting(conversation_messages, which),
        _waiting(conversation_archive, which, _COMPACTED),
    )
    for whose, which in _WHOSE.items()
}


def _messages(messages: Table, *which: ColumnElement[bool]) -> Select[tuple[object, ...]]:
    m = messages.c
    return select(m.id, m.position, m.role, m.content, m.metadata, m.pinned, m.created_at).where(
        and_(one_of(m.id, "ids"), *which)
    )


MESSAGES: Final = _messages(conversation_messages)
COMPACTED: Final = _messages(conversation_archive, _COMPACTED)


class Reach(NamedTuple):
    """Whose conversations a search goes over."""

    whose: Whose
    user_id: UUID | None = None
    agent_id: UUID | None = None
    conversation_id: UUID | None = None

    @property
    def named(self) -> dict[str, UUID | None]:
        """The parameters of its statements."""
        return {
            "user": self.user_id,
            "agent": self.agent_id,
            "conversation": self.conversation_id,
        }


class Within(NamedTuple):
    """The segments that are searched, None for all; how many are not; and their passages without a vector."""

    segment_ids: list[UUID] | None
    left_out: int
    words_alone: int


class About(NamedTuple):
    """Whose a conversation is."""

    workflow_id: str | None
    generation: int
    agent_id: UUID | None
    user_id: UUID | None


class Shown(NamedTuple):
    """What is shown of segments: their packed places, and their conversations."""

    places: dict[UUID, bytes]
    conversation_of: dict[UUID, UUID]
    about: dict[UUID, About]


def owners(tx: Transaction, conversation_id: UUID) -> tuple[UUID | None, UUID | None] | None:
    """The user and the agent of a conversation; None where there is none."""
    row = tx.one(OWNERS, conversation=conversation_id)
    return None if row is None else (row.user_id, row.agent_id)


def within(tx: Transaction, reach: Reach, model: str | None) -> Within:
    """The segments of a reach, up to so many of the newest where it is not all there are."""
    lacking = model is not None and tx.one(LACKING) is not None
    if reach.whose == "all":
        row = tx.one(WITHOUT_VECTORS, of_model=model) if lacking else None
        return Within(None, 0, 0 if row is None else row.passages or 0)
    rows = tx.all(SEGMENTS[reach.whose], **reach.named, most=MOST_SEGMENTS + 1)
    left_out = 0
    if len(rows) > MOST_SEGMENTS:
        counted = tx.one(COUNTED[reach.whose], **reach.named)
        left_out = 0 if counted is None else counted.segments - MOST_SEGMENTS
        rows = rows[:MOST_SEGMENTS]
    bare = sum(row.passages - (row.embedded if row.model == model else 0) for row in rows)
    return Within([row.id for row in rows], left_out, bare if lacking else 0)


def waiting(tx: Transaction, reach: Reach) -> int:
    """How many messages in reach no search finds yet, up to a thousand."""
    statements = WAITING[reach.whose]
    found = sum(len(tx.plain(each, **reach.named, most=MOST_WAITING)) for each in statements)
    return min(found, MOST_WAITING)


def shown(tx: Transaction, segment_ids: Sequence[UUID]) -> Shown:
    """What stands where in these segments, and whose they are."""
    rows = tx.all(PLACES, segments=sorted(set(segment_ids)))
    conversation_of = {row.id: row.conversation_id for row in rows}
    about = tx.all(ABOUT, conversations=sorted(set(conversation_of.values())))
    return Shown(
        {row.id: row.places for row in rows},
        conversation_of,
        {
            row.id: About(row.workflow_id, row.generation, row.agent_id, row.user_id)
            for row in about
        },
    )


def messages(tx: Transaction, ids: Iterable[UUID]) -> tuple[dict[UUID, Row], set[UUID]]:
    """These messages by their rows' ids, and which of them a compaction put away."""
    wanted = sorted(set(ids))
    listed = {row.id: Row(row.id, read_row(row)) for row in tx.all(MESSAGES, ids=wanted)}
    missing = [each for each in wanted if each not in listed]
    put_away = tx.all(COMPACTED, ids=missing) if missing else []
    archived = {row.id: Row(row.id, read_row(row)) for row in put_away}
    return listed | archived, set(archived)
