"""The SQL that reads conversations: one with its messages, lists of them, and how one was at a past time."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from pydantic import TypeAdapter
from sqlalchemy import and_, bindparam, insert, or_, select

from memoranda.conversations.content import read, read_metadata
from memoranda.conversations.models import (
    Conversation,
    ConversationKey,
    Message,
    StoredMessage,
)
from memoranda.conversations.rows.store import COLUMNS
from memoranda.conversations.said import is_summary
from memoranda.storage import Row, Transaction, contains
from memoranda.storage.tables import (
    conversation_archive,
    conversation_compactions,
    conversation_messages,
    conversations,
)
from memoranda.words.errors import Gone
from memoranda.words.quotes import Quotes

c, m, a = conversations.c, conversation_messages.c, conversation_archive.c
k = conversation_compactions.c
NEWEST: Final = UUID(int=2**128 - 1)
"""A page that begins before this id begins at the newest conversation."""
MARKED: Final = '"summary":true'
"""What the metadata of a summary's message holds, as it is written."""
LOOKED_AT: Final = 20
"""Messages that may pass for a summary, of which the one that is is found."""
AT_ONCE: Final = 50
"""Messages that are in memory together while all of a conversation is read."""
_MESSAGES: Final = TypeAdapter(list[Message])
_OF_TOOLS: Final = '"tool_'
"""Stands in the content of every message that calls tools or answers a call, and in few others."""

INSERT_CONVERSATION = insert(conversations)
CONVERSATION = select(*COLUMNS).where(c.id == bindparam("conversation"))
_OF_GENERATION = select(*COLUMNS).where(
    c.workflow_id == bindparam("workflow"), c.generation == bindparam("number")
)
UNDER_KEY = _OF_GENERATION.where(c.agent_id == bindparam("agent"))
UNDER_KEY_WITHOUT_AGENT = _OF_GENERATION.where(c.agent_id.is_(None))
WHOLE_SINCE = select(c.whole_since).where(c.id == bindparam("conversation"))
ALL = (
    select(m.role, m.content, m.metadata, m.pinned)
    .where(m.conversation_id == bindparam("conversation"))
    .order_by(m.position)
)
_STORED = select(m.position, m.role, m.content, m.metadata, m.pinned, m.created_at).where(
    m.conversation_id == bindparam("conversation")
)
MESSAGES = (
    _STORED.where(m.position > bindparam("after")).order_by(m.position).limit(bindparam("most"))
)
LATEST = _STORED.order_by(m.position.desc()).limit(bindparam("most"))
LATEST_THEN = LATEST.where(m.placed_at <= bindparam("then"))
LEFT_SINCE = (
    select(a.position, a.role, a.content, a.metadata, a.pinned, a.created_at)
    .where(
        a.conversation_id == bindparam("conversation"),
        a.placed_at <= bindparam("then"),
        a.left_at > bindparam("then"),
    )
    .order_by(a.position.desc())
    .limit(bindparam("most"))
)
COMPACTED = (
    select(k.id)
    .where(k.conversation_id == bindparam("conversation"), k.number.is_not(None))
    .limit(1)
)
SUMMARIES = LATEST.where(contains(m.metadata, "holding"))
SUMMARIES_THEN = LATEST_THEN.where(contains(m.metadata, "holding"))
SUMMARIES_LEFT_SINCE = LEFT_SINCE.where(contains(a.metadata, "holding"))
ARCHIVED = (
    select(a.id, a.content, a.metadata)
    .where(a.conversation_id == bindparam("conversation"), a.id > bindparam("after"))
    .order_by(a.id)
    .limit(bindparam("most"))
)
PAGE = (
    select(*COLUMNS)
    .where(c.id < bindparam("before"))
    .order_by(c.id.desc())
    .limit(bindparam("most"))
)
OF_USER, OF_AGENT = c.user_id == bindparam("user"), c.agent_id == bindparam("agent")
PAGE_OF_USER = PAGE.where(OF_USER)
PAGE_OF_AGENT = PAGE.where(OF_AGENT)
PAGE_OF_BOTH = PAGE.where(OF_USER, OF_AGENT)
PAGE_OF_AGENT_ALONE = PAGE.where(OF_AGENT, c.user_id.is_(None))
OF_WORKFLOW = (
    select(*COLUMNS)
    .where(
        c.workflow_id == bindparam("workflow"),
        or_(
            c.generation < bindparam("number"),
            and_(c.generation == bindparam("number"), c.id < bindparam("before")),
        ),
    )
    .order_by(c.generation.desc(), c.id.desc())
    .limit(bindparam("most"))
)


class Everything(NamedTuple):
    """All messages, at which places tools are named in blocks, and the characters of the longest content."""

    messages: list[Message]
    of_tools: list[int]
    longest: int


def create(tx: Transaction, conversation: Conversation) -> Conversation:
    """Store a new, empty conversation; `ConstraintViolated` where its key is taken."""
    tx.run(INSERT_CONVERSATION, **dict(conversation))
    return conversation


def under_key(tx: Transaction, key: ConversationKey) -> Conversation | None:
    """The conversation of a workflow's generation with an agent (or with none)."""
    statement = UNDER_KEY if key.agent_id else UNDER_KEY_WITHOUT_AGENT
    row = tx.one(statement, workflow=key.workflow_id, number=key.generation, agent=key.agent_id)
    return None if row is None else _conversation(row)


def find(tx: Transaction, conversation_id: UUID) -> Conversation | None:
    """The conversation, if the organization has it."""
    row = tx.one(CONVERSATION, conversation=conversation_id)
    return None if row is None else _conversation(row)


def everything(tx: Transaction, conversation_id: UUID) -> Everything:
    """All messages in their order, exactly as they were given."""
    rows = tx.plain(ALL, conversation=conversation_id)
    # One text for all: it is read at once, in a third of the time that thousands of small ones take.
    parts = [
        f'{{"role":"{role}","content":{content},"metadata":{metadata},'
        f'"pinned":{"true" if pinned else "false"}}}'
        for role, content, metadata, pinned in rows
    ]
    return Everything(
        _MESSAGES.validate_json(f"[{','.join(parts)}]"),
        [place for place, row in enumerate(rows) if _OF_TOOLS in row[1]],
        max((len(row[1]) for row in rows), default=0),
    )


def messages(tx: Transaction, conversation_id: UUID, after: int, most: int) -> list[StoredMessage]:
    """Messages in their order, from after the position `after`."""
    rows = tx.all(MESSAGES, conversation=conversation_id, after=after, most=most)
    return [_message(row) for row in rows]


def latest(
    tx: Transaction, conversation_id: UUID, most: int, then: datetime | None = None
) -> list[StoredMessage]:
    """The last messages, the newest first; with `then`, those that were the last at that time.

    Raises `Gone` for a time of which not everything is kept.
    """
    asked = {"conversation": conversation_id, "most": most}
    if then is None:
        return [_message(row) for row in tx.all(LATEST, **asked)]
    row = tx.one(WHOLE_SINCE, conversation=conversation_id)
    if row is not None and row.whole_since is not None and then < row.whole_since:
        raise Gone(
            "What was said in this conversation at that time was cleared or replaced since, and "
            "is not kept. Ask for a later time.",
            conversation_id=str(conversation_id),
        )
    rows = [*tx.all(LATEST_THEN, then=then, **asked), *tx.all(LEFT_SINCE, then=then, **asked)]
    rows.sort(key=lambda each: each.position, reverse=True)
    return [_message(row) for row in rows[:most]]


def summary(
    tx: Transaction, conversation_id: UUID, then: datetime | None = None
) -> StoredMessage | None:
    """The message that stands for what was compacted, at that time; None where nothing was."""
    if tx.one(COMPACTED, conversation=conversation_id) is None:
        return None
    asked = {"conversation": conversation_id, "holding": MARKED, "most": LOOKED_AT}
    if then is None:
        rows = tx.all(SUMMARIES, **asked)
    else:
        asked["then"] = then
        rows = [*tx.all(SUMMARIES_THEN, **asked), *tx.all(SUMMARIES_LEFT_SINCE, **asked)]
    return next(filter(is_summary, map(_message, rows)), None)


def page(
    tx: Transaction,
    user_id: UUID | None,
    agent_id: UUID | None,
    before: UUID | None,
    most: int,
    *,
    alone: bool = False,
) -> list[Conversation]:
    """Conversations, the newest first, of the user and agent that are named; `alone`: of no user."""
    if agent_id is None:
        statement = PAGE if user_id is None else PAGE_OF_USER
    elif user_id is None:
        statement = PAGE_OF_AGENT_ALONE if alone else PAGE_OF_AGENT
    else:
        statement = PAGE_OF_BOTH
    rows = tx.all(statement, user=user_id, agent=agent_id, before=before or NEWEST, most=most)
    return [_conversation(row) for row in rows]


def of_workflow(
    tx: Transaction, workflow_id: str, before: tuple[int, UUID], most: int
) -> list[Conversation]:
    """The workflow's conversations, the newest generation first, from before a generation and id."""
    number, last = before
    rows = tx.all(OF_WORKFLOW, workflow=workflow_id, number=number, before=last, most=most)
    return [_conversation(row) for row in rows]


def quoting(
    tx: Transaction, quotes: Quotes, before: UUID | None, most: int
) -> tuple[list[Conversation], UUID | None]:
    """Of the `most` newest conversations from before `before`, those that quote; and where to go on from."""
    rows = tx.all(PAGE, before=before or NEWEST, most=most)
    found = [_conversation(row) for row in rows if any(map(quotes.are_in, _kept(tx, row.id)))]
    return found, rows[-1].id if rows else None


def _kept(tx: Transaction, conversation_id: UUID) -> Iterator[Any]:
    """All that is kept of what was said: what is there, and what is there no more."""
    after = 0
    while page := messages(tx, conversation_id, after, AT_ONCE):
        for message in page:
            yield [message.content, message.metadata]
        after = page[-1].position
    last = UUID(int=0)
    while rows := tx.all(ARCHIVED, conversation=conversation_id, after=last, most=AT_ONCE):
        for row in rows:
            yield [read(row.content), read_metadata(row.metadata)]
        last = rows[-1].id


def _conversation(row: Row) -> Conversation:
    return Conversation.model_validate(row._asdict())


def _message(row: Row) -> StoredMessage:
    return StoredMessage(
        position=row.position,
        role=row.role,
        content=read(row.content),
        metadata=read_metadata(row.metadata),
        pinned=row.pinned,
        ts=row.created_at,
    )
