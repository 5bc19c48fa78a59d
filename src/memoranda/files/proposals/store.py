"""The SQL of proposed changes."""

from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from memoranda.files.errors import FileProposalsFull
from memoranda.files.models import Author, FileProposal, FileProposalStatus
from memoranda.files.store import author_in
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.scope import NIL
from memoranda.storage.tables import context_file_proposals, context_files
from memoranda.words.errors import NotFound
from memoranda.words.ids import new_id
from memoranda.words.quotes import Quotes

p, f = context_file_proposals.c, context_files.c
INBOX: Final = "proposed changes of context files"
"""What everybody holds who adds one, so that never more wait than may."""
MOST_WAITING: Final = 200
NEWEST: Final = UUID(int=2**128 - 1)
_AUTHOR: Final = (p.author_kind, p.author_user_id, p.author_agent_id)
_ELSEWHERE: Final = {"file", "agent_id", "author", "stale"}
_SHOWN: Final = (
    *(p[name] for name in FileProposal.model_fields if name not in _ELSEWHERE),
    *_AUTHOR,
    f.name.label("file"),
    f.agent_id,
    and_(p.status == FileProposalStatus.WAITING.value, p.base_hash != f.hash).label("stale"),
)
_PROPOSALS: Final = select(*_SHOWN).select_from(
    context_file_proposals.join(context_files, f.id == p.file_id)
)


def _page(*criteria: ColumnElement[bool]) -> Select[Any]:
    wanted = (p.status == bindparam("in_status"), p.id < bindparam("earlier"), *criteria)
    return _PROPOSALS.where(*wanted).order_by(p.id.desc()).limit(bindparam("most"))


EVERYTHING: Final = _page()
OF_USER: Final = _page(p.author_user_id == bindparam("user"))
OF_AGENT: Final = _page(p.author_agent_id == bindparam("agent"))
PROPOSAL: Final = _PROPOSALS.where(p.id == bindparam("wanted"))
TEXT: Final = select(p.file_id, p.body).where(p.id == bindparam("wanted"))
# Whoever decides holds the row: the next one waits, and then sees that it is decided.
HELD: Final = select(p.id).where(p.id == bindparam("wanted")).with_for_update()
WAITING: Final = select(func.count().label("waiting")).where(
    p.status == FileProposalStatus.WAITING.value
)
SAME_SIZE: Final = select(p.id, p.body, *_AUTHOR).where(
    p.file_id == bindparam("file"),
    p.status == FileProposalStatus.WAITING.value,
    p.base_hash == bindparam("read"),
    p.bytes == bindparam("size"),
)
TEXTS: Final = (
    select(p.id, p.file_id, p.body)
    .where(p.id > bindparam("after"), p.status == FileProposalStatus.WAITING.value)
    .order_by(p.id)
    .limit(bindparam("most"))
)
INSERT: Final = insert(context_file_proposals)
# What it would have said is needed no more, and is not kept.
DECIDE: Final = (
    update(context_file_proposals)
    .where(p.id == bindparam("wanted"))
    .values(
        status=bindparam("becomes"),
        body=None,
        revision=bindparam("became"),
        decided_by=bindparam("by"),
        decided_at=bindparam("now"),
    )
)
DECIDED_BEFORE: Final = (
    select(p.id)
    .where(p.status != FileProposalStatus.WAITING.value, p.decided_at < bindparam("before"))
    .order_by(p.id)
    .limit(bindparam("most"))
)
PRUNE: Final = delete(context_file_proposals).where(one_of(p.id, "ids"))


class Change(NamedTuple):
    """A change to keep until a person decides: of which file, made from what, by whom."""

    file_id: UUID
    base_revision: int
    base_hash: str
    body: str
    bytes: int
    author: Author
    run_id: UUID | None
    conversation_id: UUID | None


def add(tx: Transaction, change: Change) -> UUID:
    """Let the change wait; its id. Raises `FileProposalsFull` where as many wait as may."""
    tx.lock(INBOX)
    row = tx.one(WAITING)
    if row is not None and row.waiting >= MOST_WAITING:
        raise FileProposalsFull(
            f"{MOST_WAITING} proposed changes of files wait for a person already. "
            "An owner applies or discards some first.",
            limit=MOST_WAITING,
        )
    proposal_id, author = new_id(), change.author
    columns = change._asdict()
    del columns["author"]
    tx.run(
        INSERT,
        id=proposal_id,
        status=FileProposalStatus.WAITING.value,
        author_kind=author.kind.value,
        author_user_id=author.user_id,
        author_agent_id=author.agent_id,
        created_at=tx.now,
        **columns,
    )
    return proposal_id


def same(tx: Transaction, change: Change) -> UUID | None:
    """The id of a change that waits already and is this one."""
    rows = tx.all(SAME_SIZE, file=change.file_id, read=change.base_hash, size=change.bytes)
    for row in rows:
        values = row._asdict()
        if author_in(values) == change.author and row.body == change.body:
            return UUID(str(row.id))
    return None


def find(tx: Transaction, proposal_id: UUID, *, hold: bool = False) -> FileProposal | None:
    """The proposal, if there is one; with `hold`, nobody else decides it until the commit."""
    if hold and tx.one(HELD, wanted=proposal_id) is None:
        return None
    row = tx.one(PROPOSAL, wanted=proposal_id)
    return None if row is None else _shown(row)


def text(tx: Transaction, proposal_id: UUID) -> tuple[UUID, str | None]:
    """The file's id, and what it would say while the change waits."""
    row = tx.one(TEXT, wanted=proposal_id)
    if row is None:
        raise unknown_proposal(proposal_id)
    return row.file_id, row.body


def page(
    tx: Transaction,
    status: FileProposalStatus,
    before: UUID | None,
    most: int,
    *,
    user_id: UUID | None,
    agent_id: UUID | None,
) -> list[FileProposal]:
    """Proposals of one status, the newest first: all, or those of one user or one agent."""
    wanted = {"in_status": status.value, "earlier": before or NEWEST, "most": most}
    if agent_id is not None:
        rows = tx.all(OF_AGENT, agent=agent_id, **wanted)
    elif user_id is not None:
        rows = tx.all(OF_USER, user=user_id, **wanted)
    else:
        rows = tx.all(EVERYTHING, **wanted)
    return [_shown(row) for row in rows]


def quoting(
    tx: Transaction, quotes: Quotes, after: UUID | None, most: int
) -> tuple[list[tuple[UUID, UUID]], UUID | None]:
    """Of the next `most` changes that wait, those that quote, each after its file's id; and where to go on from."""
    rows = tx.all(TEXTS, after=after or NIL, most=most)
    found = [(row.file_id, row.id) for row in rows if quotes.are_in(row.body)]
    return found, rows[-1].id if rows else None


def decide(
    tx: Transaction,
    proposal_id: UUID,
    status: FileProposalStatus,
    by: UUID | None,
    *,
    revision: int | None,
) -> None:
    """Note what a person decided about a proposal that is held."""
    tx.run(DECIDE, wanted=proposal_id, becomes=status.value, became=revision, by=by, now=tx.now)


def prune(tx: Transaction, before: datetime, most: int) -> int:
    """Delete what was decided before that time, a part of it at once; how many went."""
    old = tx.all(DECIDED_BEFORE, before=before, most=most)
    return tx.run(PRUNE, ids=[row.id for row in old]) if old else 0


def unknown_proposal(proposal_id: UUID) -> NotFound:
    """The refusal of a proposal that is not there, or not for this caller."""
    return NotFound(
        f"There is no proposed change {proposal_id}. A list of them shows the ids that there are.",
        proposal=str(proposal_id),
    )


def _shown(row: Row) -> FileProposal:
    values = row._asdict()
    return FileProposal(author=author_in(values), **values)
