"""The SQL of notes; whoever calls holds the chat."""

from collections.abc import Collection
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, insert, select, update

from memoranda.conversations.chats.keys import answer_of, is_of_rating
from memoranda.conversations.chats.models import Chat, ChatRun
from memoranda.conversations.chats.notes.models import Note
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.tables import chat_notes, runs
from memoranda.words.errors import OverLimit
from memoranda.words.ids import new_id

MOST_WAITING: Final = 50
"""Notes that may wait in one chat, or be with a run that has not answered; and as many about ratings."""

n = chat_notes.c
_COLUMNS = [n[name] for name in Note.model_fields]
_WAITING: Final = (n.claimed_by.is_(None), n.told_at.is_(None))
OF_CHAT = n.chat_id == bindparam("chat")
OF_RUN = n.claimed_by == bindparam("run")
INSERT = insert(chat_notes)
LIST = (
    select(*_COLUMNS)
    .where(OF_CHAT, n.id > bindparam("after"))
    .order_by(n.id)
    .limit(bindparam("most"))
)
WAITING = select(n.id, n.key).where(OF_CHAT, *_WAITING)
# With those that a live run was given, which may wait again.
UNTOLD = select(n.id, n.key).where(OF_CHAT, n.told_at.is_(None)).order_by(n.id)
MAKE_ROOM = delete(chat_notes).where(OF_CHAT, one_of(n.key, "keys"), n.told_at.is_(None))
REPLACE = delete(chat_notes).where(OF_CHAT, n.key == bindparam("of_key"), *_WAITING)
CLAIM = update(chat_notes).where(one_of(n.id, "notes")).values(claimed_by=bindparam("by"))
newer = chat_notes.alias("newer")
# Told in a run on a part that was left since: on the path that is shown, nobody was told.
LEFT = (
    select(n.id, n.key)
    .select_from(chat_notes.join(runs, runs.c.id == n.claimed_by))
    .where(
        OF_CHAT,
        n.told_at.is_not(None),
        runs.c.left_at.is_not(None),
        ~select(newer.c.id)
        .where(newer.c.chat_id == n.chat_id, newer.c.key == n.key, newer.c.id > n.id)
        .exists(),
    )
    .order_by(n.id)
)
TELL_AGAIN = (
    update(chat_notes).where(one_of(n.id, "notes")).values(claimed_by=bindparam("by"), told_at=None)
)
CLAIMED = select(*_COLUMNS).where(OF_RUN, n.told_at.is_(None)).order_by(n.id)
TOLD = update(chat_notes).where(OF_RUN, n.told_at.is_(None)).values(told_at=bindparam("at"))
DROP = delete(chat_notes).where(n.id == bindparam("note"))
RELEASE = update(chat_notes).where(OF_RUN, n.told_at.is_(None)).values(claimed_by=None)


def add(tx: Transaction, chat_id: UUID, key: str, line: str) -> Note:
    """Let the line wait under its key, in the place of one that waits there.

    Notes about ratings are counted by themselves: of those the oldest makes room, since nobody is to be refused an
    opinion for want of it. Of the others, raises `OverLimit`.
    """
    tx.send(REPLACE, chat=chat_id, of_key=key)
    rating = is_of_rating(key)
    # Each key where its newest note is.
    untold = {
        row.key: row.id
        for row in tx.all(UNTOLD, chat=chat_id)
        if row.key != key and is_of_rating(row.key) is rating
    }
    if len(untold) >= MOST_WAITING:
        if not rating:
            raise OverLimit(
                f"At most {MOST_WAITING} notes wait in a chat: use one key for what replaces each other, "
                "or let the next run be told.",
                field="key",
                limit=MOST_WAITING,
            )
        oldest = sorted(untold, key=untold.__getitem__)[: len(untold) - MOST_WAITING + 1]
        tx.send(MAKE_ROOM, chat=chat_id, keys=oldest)
    made = Note(
        id=new_id(),
        chat_id=chat_id,
        key=key,
        line=line,
        claimed_by=None,
        told_at=None,
        created_at=tx.now,
    )
    tx.send(INSERT, **dict(made))
    return made


def take_back(tx: Transaction, chat_id: UUID, key: str) -> bool:
    """Let nobody be told what waits under that key; whether something did."""
    return tx.run(REPLACE, chat=chat_id, of_key=key) > 0


def page(tx: Transaction, chat_id: UUID, after: UUID, most: int) -> list[Note]:
    """Notes of the chat, the oldest first."""
    return [
        Note.model_validate(row._asdict())
        for row in tx.all(LIST, chat=chat_id, after=after, most=most)
    ]


def claim(tx: Transaction, chat: Chat, run: ChatRun, shown: Collection[UUID]) -> list[str]:
    """Give the run all that waits, and what was told on a part of the chat that was left since.

    Of ratings that were told there, the newest; and none of an answer that is not among the messages `shown`, of which
    its agents know nothing. Its lines, those that it was given before among them, the oldest first.
    """
    known = {None, *shown}

    def is_known(row: Row) -> bool:
        return answer_of(row.key) in known

    told = [*filter(is_known, tx.all(LEFT, chat=chat.id))]
    ratings = [row.id for row in told if is_of_rating(row.key)]
    left = [row.id for row in told if row.id not in ratings[:-MOST_WAITING]]
    waiting = [row.id for row in tx.all(WAITING, chat=chat.id) if is_known(row)]
    if waiting:
        tx.send(CLAIM, notes=waiting, by=run.id)
    if left:
        tx.send(TELL_AGAIN, notes=left, by=run.id)
    return [row.line for row in tx.all(CLAIMED, run=run.id)]


def told(tx: Transaction, run: ChatRun) -> None:
    """Keep that the run was told what it was given: its answer is there."""
    tx.send(TOLD, run=run.id, at=tx.now)


def unclaim(tx: Transaction, run: ChatRun) -> None:
    """Let what the run was given wait again: it came to no answer.

    Where a newer note has the same key, the older one goes; a run that begins with a second agent may have both.
    """
    given = tx.all(CLAIMED, run=run.id)
    if not given:
        return
    newer = {row.key for row in tx.all(WAITING, chat=given[0].chat_id)}
    for row in reversed(given):
        if row.key in newer:
            tx.send(DROP, note=row.id)
        newer.add(row.key)
    tx.send(RELEASE, run=run.id)
