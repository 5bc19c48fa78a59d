"""The SQL of what is written down of a chat, a page at a time."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import and_, bindparam, or_, select

from memoranda.conversations.chats.feedback.models import Feedback
from memoranda.conversations.chats.models import ChatMessage, ChatRun, ChatRunStatus
from memoranda.conversations.content import read
from memoranda.storage import Transaction
from memoranda.storage.tables import chat_feedback, chat_messages, chat_runs

m, r, f = chat_messages.c, chat_runs.c, chat_feedback.c
START: Final = UUID(int=0)
THERE = select(m.id).where(
    m.chat_id == bindparam("chat"),
    m.sequence == bindparam("number"),
    m.id == bindparam("message"),
)
MESSAGES = (
    select(*(m[name] for name in ChatMessage.model_fields))
    .where(
        m.chat_id == bindparam("chat"),
        m.sequence > bindparam("after"),
        m.sequence <= bindparam("upto"),
    )
    .order_by(m.sequence)
    .limit(bindparam("most"))
)
RUNS = (
    select(*(r[name] for name in ChatRun.model_fields))
    .where(
        r.chat_id == bindparam("chat"),
        r.revision > bindparam("after"),
        r.revision <= bindparam("upto"),
    )
    .order_by(r.revision)
    .limit(bindparam("most"))
)
FEEDBACK = (
    select(*(f[name] for name in Feedback.model_fields))
    .where(
        f.chat_id == bindparam("chat"),
        or_(
            f.message_id > bindparam("message"),
            and_(f.message_id == bindparam("message"), f.user_id > bindparam("user")),
        ),
    )
    .order_by(f.message_id, f.user_id)
    .limit(bindparam("most"))
)


def is_there(tx: Transaction, chat_id: UUID, message_id: UUID, sequence: int) -> bool:
    """Whether the chat's message of that number is still the one of that id."""
    return tx.one(THERE, chat=chat_id, message=message_id, number=sequence) is not None


def messages(
    tx: Transaction, chat_id: UUID, after: int, upto: int, most: int
) -> Sequence[ChatMessage]:
    """Messages on all branches, in the order in which they came."""
    rows = tx.all(MESSAGES, chat=chat_id, after=after, upto=upto, most=most)
    return [
        ChatMessage.model_validate({**row._asdict(), "content": read(row.content)}) for row in rows
    ]


def runs(tx: Transaction, chat_id: UUID, after: int, upto: int, most: int) -> Sequence[ChatRun]:
    """Runs, in the order in which they began."""
    rows = tx.all(RUNS, chat=chat_id, after=after, upto=upto, most=most)
    return [
        ChatRun.model_validate({**row._asdict(), "status": ChatRunStatus(row.status)})
        for row in rows
    ]


def feedback(
    tx: Transaction, chat_id: UUID, after: Feedback | None, most: int
) -> Sequence[Feedback]:
    """What users think of answers, in the order of the messages."""
    place = (START, START) if after is None else (after.message_id, after.user_id)
    rows = tx.all(FEEDBACK, chat=chat_id, message=place[0], user=place[1], most=most)
    return [Feedback.model_validate(row._asdict()) for row in rows]
