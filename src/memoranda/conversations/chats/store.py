"""The SQL of chats: the chat, the messages of its tree, and the runs that answer them.

Whoever changes a chat takes its workflow's lock and then its row, and only then conversations and runs.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import and_, bindparam, delete, func, insert, select, update

from memoranda.conversations.chats.keys import key_of
from memoranda.conversations.chats.models import Chat, ChatMessage, ChatRun, ChatRunStatus
from memoranda.conversations.content import read, read_metadata, written
from memoranda.conversations.generations import store as generations
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.tables import (
    chat_branch_snapshots,
    chat_feedback,
    chat_messages,
    chat_notes,
    chat_run_states,
    chat_runs,
    chats,
    conversations,
    run_changes,
    runs,
)

c, m, r = chats.c, chat_messages.c, chat_runs.c
s = chat_branch_snapshots.c
NEWEST: Final = UUID(int=2**128 - 1)
"""A page that begins before this id begins at the newest chat."""
AT_ONCE: Final = 50
"""Messages that are in memory together while all of a chat is read."""
_CHAT: Final = tuple(c[name] for name in Chat.model_fields)
_MESSAGE: Final = tuple(m[name] for name in ChatMessage.model_fields)
_RUN: Final = tuple(r[name] for name in ChatRun.model_fields)
_BY_ID: Final = select(*_CHAT).where(c.id == bindparam("chat"))
CHAT = _BY_ID
HOLD = _BY_ID.with_for_update()
WORKFLOW = select(c.workflow_id).where(c.id == bindparam("chat"))
OF_RUN = select(r.chat_id).where(r.id == bindparam("run"))
INSERT_CHAT = insert(chats)
CHANGE = (
    update(chats)
    .where(c.id == bindparam("chat"))
    .values(
        active_leaf=bindparam("new_leaf"),
        revision=bindparam("new_revision"),
        generation=bindparam("new_generation"),
        last_sequence=bindparam("new_sequence"),
        updated_at=bindparam("now"),
    )
)
LAST_SEQUENCE = select(c.last_sequence).where(c.id == bindparam("chat"))
DELETE = delete(chats).where(c.id == bindparam("chat"))
PAGE = (
    select(*_CHAT).where(c.id < bindparam("before")).order_by(c.id.desc()).limit(bindparam("most"))
)
OF_USER, OF_AGENT = c.user_id == bindparam("user"), c.agent_id == bindparam("agent")
PAGES: Final = {
    (False, False): PAGE,
    (True, False): PAGE.where(OF_USER),
    (False, True): PAGE.where(OF_AGENT),
    (True, True): PAGE.where(OF_USER, OF_AGENT),
}
ALL_OF_USER = select(*_CHAT).where(OF_USER).order_by(c.workflow_id)
OF_WORKFLOW = select(*_CHAT).where(c.workflow_id == bindparam("workflow"))
SPOKEN_IN = (
    select(func.count().label("conversations"))
    .select_from(conversations)
    .where(
        conversations.c.workflow_id == bindparam("workflow"),
        conversations.c.generation == bindparam("number"),
        conversations.c.length > 0,
    )
)
INSERT_MESSAGE = insert(chat_messages)
OUTLINE = (
    select(m.id, m.parent_id, m.sequence, m.role, m.run_id)
    .where(m.chat_id == bindparam("chat"))
    .order_by(m.sequence)
)
THESE = select(*_MESSAGE).where(one_of(m.id, "messages")).order_by(m.sequence)
SENT_BEFORE = select(*_MESSAGE).where(
    m.chat_id == bindparam("chat"), m.client_message_id == bindparam("client")
)
EMPTY = delete(chat_messages).where(m.chat_id == bindparam("chat"))
CONTENTS = (
    select(m.sequence, m.content)
    .where(m.chat_id == bindparam("chat"), m.sequence > bindparam("after"))
    .order_by(m.sequence)
    .limit(bindparam("most"))
)
LINES = select(chat_notes.c.line.label("text")).where(chat_notes.c.chat_id == bindparam("chat"))
COMMENTS = select(chat_feedback.c.comment.label("text")).where(
    chat_feedback.c.chat_id == bindparam("chat"), chat_feedback.c.comment.is_not(None)
)
OF_ITS_RUN = and_(
    chat_run_states.c.organization_id == r.organization_id, chat_run_states.c.run_id == r.id
)
STATES = (
    select(r.revision, r.reason, chat_run_states.c.state)
    .select_from(chat_runs.outerjoin(chat_run_states, OF_ITS_RUN))
    .where(r.chat_id == bindparam("chat"), r.revision > bindparam("after"))
    .order_by(r.revision)
    .limit(bindparam("most"))
)
SNAPSHOT_IDS = select(s.id).where(s.chat_id == bindparam("chat"))
SNAPSHOT = select(s.messages).where(s.id == bindparam("snapshot"))
FORGET_NOTES = delete(chat_notes).where(chat_notes.c.chat_id == bindparam("chat"))
OPINIONS = select(chat_feedback.c.chat_id, chat_feedback.c.message_id).where(
    chat_feedback.c.user_id == bindparam("user")
)
FORGET_OPINIONS = delete(chat_feedback).where(chat_feedback.c.user_id == bindparam("user"))
FORGET_NOTE = FORGET_NOTES.where(chat_notes.c.key == bindparam("of_key"))
BARE = (
    update(runs).where(one_of(runs.c.id, "runs")).values(failure_reason=None, waiting_reason=None)
)
BARE_CHANGES = update(run_changes).where(one_of(run_changes.c.run_id, "runs")).values(reason=None)
INSERT_RUN = insert(chat_runs)
RUN = select(*_RUN).where(r.id == bindparam("run"))
HOLD_RUN = RUN.with_for_update()
RUNS = select(*_RUN).where(r.chat_id == bindparam("chat")).order_by(r.revision)
LIVE = select(*_RUN).where(r.chat_id == bindparam("chat"), r.ended_at.is_(None))
OF_MESSAGE = select(*_RUN).where(r.message_id == bindparam("message")).limit(1)
FIRST_OF, LAST_OF = OF_MESSAGE.order_by(r.revision), OF_MESSAGE.order_by(r.revision.desc())
SET_STATUS = (
    update(chat_runs)
    .where(r.id == bindparam("run"))
    .values(
        status=bindparam("new_status"),
        reason=bindparam("new_reason"),
        answer_id=bindparam("new_answer"),
        picked_up_at=bindparam("new_picked"),
        seen_at=bindparam("now"),
        ended_at=bindparam("new_end"),
    )
)
SEE = update(chat_runs).where(r.id == bindparam("run")).values(seen_at=bindparam("now"))
LEAVE = update(runs).where(one_of(runs.c.id, "runs")).values(left_at=bindparam("since"))


class Place(NamedTuple):
    """A message's place in the tree, without what it says."""

    id: UUID
    parent_id: UUID | None
    sequence: int
    role: str
    run_id: UUID | None


def find(tx: Transaction, chat_id: UUID) -> Chat | None:
    """The chat, if the organization has it."""
    row = tx.one(CHAT, chat=chat_id)
    return None if row is None else Chat.model_validate(row._asdict())


def hold(tx: Transaction, chat_id: UUID) -> Chat | None:
    """The chat, to be changed in this transaction alone, and its workflow with it."""
    row = tx.one(WORKFLOW, chat=chat_id)
    if row is None:
        return None
    generations.lock(tx, row.workflow_id)
    held = tx.one(HOLD, chat=chat_id)
    return None if held is None else Chat.model_validate(held._asdict())


def hold_run(tx: Transaction, run_id: UUID) -> tuple[Chat, ChatRun] | None:
    """A run with its chat, both held."""
    row = tx.one(OF_RUN, run=run_id)
    chat = None if row is None else hold(tx, row.chat_id)
    held = tx.one(HOLD_RUN, run=run_id)
    return None if chat is None or held is None else (chat, _run(held))


def find_run(tx: Transaction, run_id: UUID) -> ChatRun | None:
    """The run, if it answers in a chat of the organization."""
    row = tx.one(RUN, run=run_id)
    return None if row is None else _run(row)


def add(tx: Transaction, chat: Chat) -> None:
    """Store a new chat; `ConstraintViolated` where its workflow has one."""
    tx.run(INSERT_CHAT, **dict(chat))


def change(tx: Transaction, chat: Chat, *, sequence: int | None = None) -> None:
    """Store where a chat that is held is by now, and with `sequence` how many messages it ever had."""
    tx.send(
        CHANGE,
        chat=chat.id,
        new_leaf=chat.active_leaf,
        new_revision=chat.revision,
        new_generation=chat.generation,
        new_sequence=last_sequence(tx, chat.id) if sequence is None else sequence,
        now=tx.now,
    )


def last_sequence(tx: Transaction, chat_id: UUID) -> int:
    """The number of the newest message that the chat ever had."""
    row = tx.one(LAST_SEQUENCE, chat=chat_id)
    return 0 if row is None else int(row.last_sequence)


def page(
    tx: Transaction, user_id: UUID | None, agent_id: UUID | None, before: UUID | None, most: int
) -> list[Chat]:
    """Chats of the user and agent that are named, the newest first."""
    statement = PAGES[user_id is not None, agent_id is not None]
    rows = tx.all(statement, user=user_id, agent=agent_id, before=before or NEWEST, most=most)
    return _chats(rows)


def of_user(tx: Transaction, user_id: UUID) -> list[Chat]:
    """All chats of the user, in the order in which their workflows are locked."""
    return _chats(tx.all(ALL_OF_USER, user=user_id))


def of_workflow(tx: Transaction, workflow_id: str) -> Chat | None:
    """The chat that stands for the workflow."""
    row = tx.one(OF_WORKFLOW, workflow=workflow_id)
    return None if row is None else Chat.model_validate(row._asdict())


def is_spoken_in(tx: Transaction, workflow_id: str, generation: int) -> bool:
    """Whether the workflow's generation has conversations with messages."""
    row = tx.one(SPOKEN_IN, workflow=workflow_id, number=generation)
    return row is not None and row.conversations > 0


def remove(tx: Transaction, chat_id: UUID) -> None:
    """Delete the chat with all that hangs on it; runs stay among `runs`."""
    tx.run(DELETE, chat=chat_id)


def forget_opinions(tx: Transaction, user_id: UUID) -> bool:
    """Delete all that the user thinks of answers, and the notes that tell of it; whether there was anything."""
    for row in tx.all(OPINIONS, user=user_id):
        tx.run(FORGET_NOTE, chat=row.chat_id, of_key=key_of(row.message_id, user_id))
    return tx.run(FORGET_OPINIONS, user=user_id) > 0


def add_message(tx: Transaction, message: ChatMessage) -> None:
    """Store a new message."""
    tx.send(INSERT_MESSAGE, **{**dict(message), "content": written(message.content)})


def outline(tx: Transaction, chat_id: UUID) -> dict[UUID, Place]:
    """Every message's place, in the order in which they came."""
    return {row.id: Place(*row) for row in tx.all(OUTLINE, chat=chat_id)}


def messages(tx: Transaction, message_ids: Iterable[UUID]) -> list[ChatMessage]:
    """These messages, in the order in which they came, which is that of a path."""
    return [_message(row) for row in tx.all(THESE, messages=list(message_ids))]


def message(tx: Transaction, chat_id: UUID, message_id: UUID) -> ChatMessage | None:
    """The message, if it is this chat's."""
    (found,) = messages(tx, [message_id]) or (None,)
    return found if found is not None and found.chat_id == chat_id else None


def texts(tx: Transaction, chat_id: UUID) -> Iterator[Any]:
    """All that is kept of what was said in a chat, as JSON values, a few at a time.

    Of a run that has ended, the state is all that it told.
    """
    last = 0
    while rows := tx.all(CONTENTS, chat=chat_id, after=last, most=AT_ONCE):
        yield from (read(row.content) for row in rows)
        last = rows[-1].sequence
    for row in tx.all(LINES, chat=chat_id) + tx.all(COMMENTS, chat=chat_id):
        yield row.text
    last = 0
    while rows := tx.all(STATES, chat=chat_id, after=last, most=AT_ONCE):
        yield from ([row.reason, json.loads(row.state or "null")] for row in rows)
        last = rows[-1].revision
    for row in tx.all(SNAPSHOT_IDS, chat=chat_id):
        kept = tx.one(SNAPSHOT, snapshot=row.id)
        for content, metadata in _packed(kept):
            yield [read(content), read_metadata(metadata)]


def sent_before(tx: Transaction, chat_id: UUID, client_message_id: str) -> ChatMessage | None:
    """The message that was sent under the client's id."""
    row = tx.one(SENT_BEFORE, chat=chat_id, client=client_message_id)
    return None if row is None else _message(row)


def empty(tx: Transaction, chat_id: UUID) -> None:
    """Delete every message of the chat, with its runs, opinions and snapshots, and its notes."""
    tx.run(EMPTY, chat=chat_id)
    tx.run(FORGET_NOTES, chat=chat_id)


def bare_runs(tx: Transaction, run_ids: Sequence[UUID]) -> None:
    """Take the reasons that these were given from `runs` too."""
    tx.run(BARE, runs=list(run_ids))
    tx.run(BARE_CHANGES, runs=list(run_ids))


def add_run(tx: Transaction, chat: Chat, run: ChatRun) -> None:
    """Store a run of the chat that `runs` has already."""
    tx.run(INSERT_RUN, **dict(run), user_id=chat.user_id, agent_id=chat.agent_id)


def runs_of(tx: Transaction, chat_id: UUID) -> list[ChatRun]:
    """All runs of the chat, in the order in which they began."""
    return [_run(row) for row in tx.all(RUNS, chat=chat_id)]


def live_run(tx: Transaction, chat_id: UUID) -> ChatRun | None:
    """The run that has not ended."""
    row = tx.one(LIVE, chat=chat_id)
    return None if row is None else _run(row)


def first_run_of(tx: Transaction, message_id: UUID) -> ChatRun:
    """The run that a message began."""
    row = tx.one(FIRST_OF, message=message_id)
    if row is None:  # it was made with the message
        raise AssertionError(f"the message {message_id} began no run")
    return _run(row)


def last_run_of(tx: Transaction, message_id: UUID) -> ChatRun | None:
    """The newest run that was to answer a message."""
    row = tx.one(LAST_OF, message=message_id)
    return None if row is None else _run(row)


def set_status(tx: Transaction, run: ChatRun) -> None:
    """Store how a held run stands by now; its host was heard of just now."""
    tx.run(
        SET_STATUS,
        run=run.id,
        new_status=run.status,
        new_reason=run.reason,
        new_answer=run.answer_id,
        new_picked=run.picked_up_at,
        new_end=run.ended_at,
        now=tx.now,
    )


def see(tx: Transaction, run_id: UUID) -> None:
    """Keep that the run's host was heard of."""
    tx.send(SEE, run=run_id, now=tx.now)


def leave(tx: Transaction, left: Sequence[UUID], entered: Sequence[UUID]) -> None:
    """Say among `runs` which of them are on a part of their chat that was left, and which no longer."""
    for ids, since in ((left, tx.now), (entered, None)):
        if ids:
            tx.run(LEAVE, runs=list(ids), since=since)


def _packed(row: Row | None) -> list[tuple[str, str]]:
    """The contents and metadata of a snapshot's messages, as their rows hold them."""
    return [] if row is None else [(each[1], each[2]) for each in json.loads(row.messages)]


def _chats(rows: Sequence[Row]) -> list[Chat]:
    return [Chat.model_validate(row._asdict()) for row in rows]


def _run(row: Row) -> ChatRun:
    values: dict[str, Any] = row._asdict()
    return ChatRun.model_validate(values | {"status": ChatRunStatus(values["status"])})


def _message(row: Row) -> ChatMessage:
    return ChatMessage.model_validate({**row._asdict(), "content": read(row.content)})
