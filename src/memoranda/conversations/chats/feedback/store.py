"""The SQL of feedback; whoever calls holds the chat."""

from uuid import UUID

from sqlalchemy import bindparam, delete, insert, select, update

from memoranda.conversations.chats.feedback.models import Feedback, Rating
from memoranda.storage import Transaction
from memoranda.storage.tables import chat_feedback

f = chat_feedback.c
_COLUMNS = [f[name] for name in Feedback.model_fields]
_OWN = (f.message_id == bindparam("message"), f.user_id == bindparam("user"))
INSERT = insert(chat_feedback)
FIND = select(*_COLUMNS).where(*_OWN)
CHANGE = (
    update(chat_feedback)
    .where(*_OWN)
    .values(
        rating=bindparam("new_rating"),
        comment=bindparam("new_comment"),
        updated_at=bindparam("new_time"),
    )
)
REMOVE = delete(chat_feedback).where(*_OWN)
OF_CHAT = (
    select(*_COLUMNS)
    .where(f.chat_id == bindparam("chat"))
    .order_by(f.message_id, f.user_id)
    .limit(bindparam("most"))
)


def put(
    tx: Transaction,
    chat_id: UUID,
    message_id: UUID,
    user_id: UUID,
    *,
    rating: Rating,
    comment: str | None,
) -> Feedback:
    """Keep what the user thinks of the message, in the place of what was kept."""
    row = tx.one(FIND, message=message_id, user=user_id)
    made = Feedback(
        chat_id=chat_id,
        message_id=message_id,
        user_id=user_id,
        rating=rating,
        comment=comment,
        created_at=tx.now if row is None else row.created_at,
        updated_at=tx.now,
    )
    if row is None:
        tx.send(INSERT, **dict(made))
    else:
        tx.send(
            CHANGE,
            message=message_id,
            user=user_id,
            new_rating=rating,
            new_comment=comment,
            new_time=tx.now,
        )
    return made


def remove(tx: Transaction, message_id: UUID, user_id: UUID) -> bool:
    """Keep nothing of it any more; whether there was something."""
    return tx.run(REMOVE, message=message_id, user=user_id) > 0


def of_chat(tx: Transaction, chat_id: UUID, most: int) -> list[Feedback]:
    """What users think of the chat's answers, in the order of the messages."""
    return [
        Feedback.model_validate(row._asdict()) for row in tx.all(OF_CHAT, chat=chat_id, most=most)
    ]
