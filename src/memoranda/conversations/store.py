"""The SQL of conversations: an append costs what its turn holds, whatever came before."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, insert, select, update

from memoranda.conversations.content import read
from memoranda.conversations.models import Content, Conversation, StoredMessage
from memoranda.storage import Row, Transaction
from memoranda.storage.tables import conversation_messages, conversations
from memoranda.words.errors import Conflict, NotFound
from memoranda.words.ids import new_id
from memoranda.words.quotes import Quotes

c, m = conversations.c, conversation_messages.c
NEWEST: Final = UUID(int=2**128 - 1)
"""A page that begins before this id begins at the newest conversation."""
AT_ONCE: Final = 50
"""Messages that are in memory together while all of a conversation is read."""

COLUMNS = tuple(c[name] for name in Conversation.model_fields)
INSERT_CONVERSATION = insert(conversations)
CONVERSATION = select(*COLUMNS).where(c.id == bindparam("conversation"))
_OF_GENERATION = select(*COLUMNS).where(
    c.workflow_id == bindparam("workflow"), c.generation == bindparam("number")
)
UNDER_KEY = _OF_GENERATION.where(c.agent_id == bindparam("agent"))
UNDER_KEY_WITHOUT_AGENT = _OF_GENERATION.where(c.agent_id.is_(None))
_LONGER = (
    update(conversations)
    .where(c.id == bindparam("conversation"))
    .values(length=c.length + bindparam("added"), updated_at=bindparam("now"))
    .returning(*COLUMNS)
)
MAKE_ROOM = _LONGER
MAKE_ROOM_AT = _LONGER.where(c.length == bindparam("expected"))
INSERT_MESSAGE = insert(conversation_messages)
MESSAGES = (
    select(m.position, m.role, m.content, m.created_at)
    .where(m.conversation_id == bindparam("conversation"), m.position > bindparam("after"))
    .order_by(m.position)
    .limit(bindparam("most"))
)
LATEST = (
    select(m.position, m.role, m.content, m.created_at)
    .where(m.conversation_id == bindparam("conversation"))
    .order_by(m.position.desc())
    .limit(bindparam("most"))
)
LATEST_THEN = LATEST.where(m.created_at <= bindparam("then"))
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


def create(tx: Transaction, conversation: Conversation) -> Conversation:
    """Store a new, empty conversation; `ConstraintViolated` where its key is taken."""
    tx.run(INSERT_CONVERSATION, **dict(conversation))
    return conversation


def under_key(
    tx: Transaction, workflow_id: str, generation: int, agent_id: UUID | None
) -> Conversation | None:
    """The conversation of a workflow's generation with an agent (or with none)."""
    statement = UNDER_KEY if agent_id else UNDER_KEY_WITHOUT_AGENT
    row = tx.one(statement, workflow=workflow_id, number=generation, agent=agent_id)
    return None if row is None else _conversation(row)


def find(tx: Transaction, conversation_id: UUID) -> Conversation | None:
    """The conversation, if the organization has it."""
    row = tx.one(CONVERSATION, conversation=conversation_id)
    return None if row is None else _conversation(row)


def append(
    tx: Transaction,
    conversation_id: UUID,
    turn: Sequence[tuple[str, str]],
    expected: int | None,
    seen_by: Callable[[Conversation], bool],
) -> Conversation:
    """Add (role, written content) pairs after the last message; all of them or none.

    Raises `NotFound`, or `Conflict` with the present length where `expected` is another.
    """
    room = {"conversation": conversation_id, "added": len(turn), "now": tx.now}
    if expected is None:
        row = tx.one(MAKE_ROOM, **room)
    else:
        row = tx.one(MAKE_ROOM_AT, expected=expected, **room)
    longer = find(tx, conversation_id) if row is None else _conversation(row)
    if longer is None or not seen_by(longer):
        raise unknown_conversation(conversation_id)
    if row is None:
        raise _moved_on(longer, expected)
    tx.send_many(
        INSERT_MESSAGE,
        [
            {
                "id": new_id(),
                "conversation_id": conversation_id,
                "position": position,
                "role": role,
                "content": written,
                "created_at": tx.now,
            }
            for position, (role, written) in enumerate(turn, longer.length - len(turn) + 1)
        ],
    )
    return longer


def messages(tx: Transaction, conversation_id: UUID, after: int, most: int) -> list[StoredMessage]:
    """Messages in their order, from after the position `after`."""
    rows = tx.all(MESSAGES, conversation=conversation_id, after=after, most=most)
    return [_message(row) for row in rows]


def latest(
    tx: Transaction, conversation_id: UUID, most: int, then: datetime | None = None
) -> list[StoredMessage]:
    """The last messages, the newest first; with `then`, those that were the last at that time."""
    asked = {"conversation": conversation_id, "most": most}
    rows = tx.all(LATEST, **asked) if then is None else tx.all(LATEST_THEN, then=then, **asked)
    return [_message(row) for row in rows]


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


def quoting(
    tx: Transaction, quotes: Quotes, before: UUID | None, most: int
) -> tuple[list[UUID], UUID | None]:
    """Of the `most` newest conversations from before `before`, those that quote; and where to go on from."""
    rows = tx.all(PAGE, before=before or NEWEST, most=most)
    found = [row.id for row in rows if any(map(quotes.are_in, _contents(tx, row.id)))]
    return found, rows[-1].id if rows else None


def _contents(tx: Transaction, conversation_id: UUID) -> Iterator[Content]:
    after = 0
    while page := messages(tx, conversation_id, after, AT_ONCE):
        yield from (message.content for message in page)
        after = page[-1].position


def unknown_conversation(conversation_id: UUID) -> NotFound:
    """The refusal of a conversation that is not there, or not for this caller."""
    return NotFound(
        f"There is no conversation {conversation_id}. Make one, or list those that there are.",
        conversation_id=str(conversation_id),
    )


def _moved_on(conversation: Conversation, expected: int | None) -> Conflict:
    return Conflict(
        f"The conversation has {conversation.length} messages and not {expected}: "
        "read the ones that are new to you, then append again.",
        conversation_id=str(conversation.id),
        length=conversation.length,
    )


def _conversation(row: Row) -> Conversation:
    return Conversation.model_validate(row._asdict())


def _message(row: Row) -> StoredMessage:
    return StoredMessage(
        position=row.position, role=row.role, content=read(row.content), ts=row.created_at
    )
