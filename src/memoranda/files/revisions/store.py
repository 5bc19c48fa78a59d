"""The SQL of what files said before."""

from datetime import datetime
from typing import Any, Final, TypeAlias
from uuid import UUID

from sqlalchemy import Select, and_, bindparam, delete, insert, or_, select

from memoranda.files.models import FileRevision, RevisionText
from memoranda.files.store import Kept, author_in
from memoranda.storage import Row, Transaction, one_of_pairs
from memoranda.storage.scope import NIL
from memoranda.storage.tables import context_file_revisions, context_files
from memoranda.words.quotes import Quotes

r, f = context_file_revisions.c, context_files.c
LAST: Final = 2**31 - 1
Place: TypeAlias = tuple[UUID, int]
"""A file's id, and the number of a revision."""
_AUTHOR: Final = (r.author_kind, r.author_user_id, r.author_agent_id)
_SHOWN: Final = tuple(r[name] for name in FileRevision.model_fields if name != "author")
_REVISIONS: Final = select(*_SHOWN, *_AUTHOR).where(r.file_id == bindparam("file"))


def _newest(statement: Select[Any]) -> Select[Any]:
    return statement.order_by(r.number.desc()).limit(bindparam("most"))


KEEP: Final = insert(context_file_revisions)
PAGE: Final = _newest(_REVISIONS.where(r.number < bindparam("before")))
_TEXTS: Final = _REVISIONS.add_columns(r.body)
TEXT: Final = _TEXTS.where(r.number == bindparam("wanted"))
AT: Final = _newest(_TEXTS.where(r.written_at <= bindparam("moment")))
LEFT: Final = (
    select(r.replaced_at)
    .where(r.file_id == bindparam("file"), r.hash == bindparam("said"))
    .order_by(r.number.desc())
    .limit(1)
)
AFTER: Final = (
    select(r.file_id, r.number, r.body)
    .where(
        r.bytes > 0,
        or_(
            r.file_id > bindparam("after"),
            and_(r.file_id == bindparam("after"), r.number > bindparam("then")),
        ),
    )
    .order_by(r.file_id, r.number)
    .limit(bindparam("most"))
)
OLD: Final = (
    select(r.file_id, r.number)
    .select_from(context_file_revisions.join(context_files, f.id == r.file_id))
    .where(r.replaced_at <= bindparam("before"), r.number < f.revision - bindparam("newest"))
    .order_by(r.replaced_at)
    .limit(bindparam("most"))
)
ERASE: Final = delete(context_file_revisions).where(
    r.file_id == bindparam("file"), r.number == bindparam("wanted")
)
PRUNE: Final = delete(context_file_revisions).where(one_of_pairs(r.file_id, r.number, "places"))


def keep(tx: Transaction, file: Kept, replaced_at: datetime) -> None:
    """Keep what a file that is held says now, for when it says something else."""
    author = file.author
    tx.run(
        KEEP,
        file_id=file.id,
        number=file.revision,
        body=file.body,
        hash=file.hash,
        bytes=file.bytes,
        load_mode=file.load_mode,
        action=file.action.value,
        restored_from=file.restored_from,
        proposal_id=file.proposal_id,
        author_kind=author.kind.value,
        author_user_id=author.user_id,
        author_agent_id=author.agent_id,
        written_at=file.written_at,
        replaced_at=replaced_at,
    )


def page(tx: Transaction, file_id: UUID, before: int | None, most: int) -> list[FileRevision]:
    """What the file was before, the newest first, below the number `before`."""
    rows = tx.all(PAGE, file=file_id, before=before or LAST, most=most)
    return [_state(row) for row in rows]


def find(tx: Transaction, file_id: UUID, number: int) -> RevisionText | None:
    """One earlier state of the file, while it is kept."""
    return _text(tx.one(TEXT, file=file_id, wanted=number))


def at(tx: Transaction, file_id: UUID, moment: datetime) -> RevisionText | None:
    """The newest of the earlier states that had begun by then, while it is kept."""
    return _text(tx.one(AT, file=file_id, moment=moment, most=1))


def erase(tx: Transaction, file_id: UUID, number: int) -> None:
    """Delete one earlier state."""
    tx.run(ERASE, file=file_id, wanted=number)


def left(tx: Transaction, file_id: UUID, said: str) -> datetime | None:
    """Since when a file does not say any more what has that hash; None where that is kept no longer."""
    row = tx.one(LEFT, file=file_id, said=said)
    return None if row is None else row.replaced_at


def quoting(
    tx: Transaction, quotes: Quotes, after: Place | None, most: int
) -> tuple[list[Place], Place | None]:
    """Of the next `most` earlier states, those that quote; and where to go on from."""
    file_id, number = after or (NIL, 0)
    rows = tx.all(AFTER, after=file_id, then=number, most=most)
    found = [(row.file_id, row.number) for row in rows if quotes.are_in(row.body)]
    return found, (rows[-1].file_id, rows[-1].number) if rows else None


def prune(tx: Transaction, before: datetime, *, newest: int, most: int) -> int:
    """Delete what was replaced before that time, but for the `newest` of each file; how many went."""
    old = tx.all(OLD, before=before, newest=newest, most=most)
    return tx.run(PRUNE, places=[(row.file_id, row.number) for row in old]) if old else 0


def _state(row: Row) -> FileRevision:
    values = row._asdict()
    return FileRevision(author=author_in(values), **values)


def _text(row: Row | None) -> RevisionText | None:
    if row is None:
        return None
    values = row._asdict()
    return RevisionText(author=author_in(values), **values)
