"""The SQL of files as they stand."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import Select, bindparam, or_, select, update

from memoranda.files.body import EMPTY
from memoranda.files.models import (
    ALWAYS_AT_FIRST,
    SYSTEM,
    TITLES,
    Action,
    AgentFile,
    Author,
    ContextFile,
    FileSummary,
    LoadMode,
    Place,
    WorkspaceFile,
)
from memoranda.storage import Row, Transaction, insert_or_ignore, one_of
from memoranda.storage.scope import NIL
from memoranda.storage.tables import context_files
from memoranda.words.ids import new_id
from memoranda.words.quotes import Quotes

f = context_files.c
MODES: Final = "load modes of context files"
"""What everybody holds who changes a load mode, so that never more files are always loaded than may be."""
_AUTHOR: Final = (f.author_kind, f.author_user_id, f.author_agent_id)
_DERIVED: Final = {"title", "author"}
_SUMMARY: Final = tuple(f[name] for name in FileSummary.model_fields if name not in _DERIVED)
_ORIGIN: Final = (f.restored_from, f.proposal_id)


def _of_agent(statement: Select[Any]) -> Select[Any]:
    return statement.where(f.agent_id == bindparam("agent"))


def _of_organization(statement: Select[Any]) -> Select[Any]:
    return statement.where(f.agent_id.is_(None))


SUMMARIES: Final = select(*_SUMMARY, *_AUTHOR)
WHOLE: Final = select(*_SUMMARY, *_AUTHOR, f.body, *_ORIGIN)
ONE: Final = WHOLE.where(f.name == bindparam("named"))
# By whether it is an agent's file.
ALL_SUMMARIES: Final = {True: _of_agent(SUMMARIES), False: _of_organization(SUMMARIES)}
FILE: Final = {True: _of_agent(ONE), False: _of_organization(ONE)}
# Whoever changes a file holds it: the next one waits, and then sees what it has become.
HELD: Final = {of_agent: each.with_for_update() for of_agent, each in FILE.items()}
BY_ID: Final = WHOLE.where(f.id == bindparam("file"))
HELD_BY_ID: Final = BY_ID.with_for_update()
FOR_A_RUN: Final = WHOLE.where(or_(f.agent_id.is_(None), f.agent_id == bindparam("agent")))
TEXTS: Final = (
    select(f.id, f.body)
    .where(f.id > bindparam("after"), f.bytes > 0)
    .order_by(f.id)
    .limit(bindparam("most"))
)
PLACES: Final = select(f.id, f.agent_id, f.name).where(one_of(f.id, "ids"))
ALWAYS: Final = select(f.name).where(f.load_mode == LoadMode.ALWAYS.value)

MAKE: Final = insert_or_ignore(context_files)
_NEW: Final = (
    *("body", "hash", "bytes", "load_mode", "action", "restored_from", "proposal_id"),
    *("author_kind", "author_user_id", "author_agent_id", "written_at"),
)
CHANGE: Final = (
    update(context_files)
    .where(f.id == bindparam("file"))
    .values(
        {name: bindparam(f"new_{name}", type_=f[name].type) for name in _NEW}
        | {"revision": f.revision + 1}
    )
)


class Kept(ContextFile):
    """A file with what its present state came of."""

    restored_from: int | None
    proposal_id: UUID | None

    def shown(self) -> ContextFile:
        """The file as it is told."""
        return ContextFile(**{name: getattr(self, name) for name in ContextFile.model_fields})


def make(tx: Transaction, agent_id: UUID | None) -> None:
    """Make the files of the organization, or of an agent, as far as they are not there: empty, by nobody.

    However many ask at once, each file is made once.
    """
    known = WorkspaceFile if agent_id is None else AgentFile
    for name in known:
        tx.run(
            MAKE,
            id=new_id(),
            agent_id=agent_id,
            name=name.value,
            revision=1,
            body=EMPTY.text,
            hash=EMPTY.hash,
            bytes=EMPTY.bytes,
            load_mode=first_mode(name.value, agent_id),
            action=Action.CREATED.value,
            author_kind=SYSTEM.kind.value,
            written_at=tx.now,
            created_at=tx.now,
        )


def first_mode(name: str, agent_id: UUID | None) -> LoadMode | None:
    """How a file is loaded until somebody says otherwise; an agent's is loaded as its kind is."""
    if agent_id is not None:
        return None
    return LoadMode.ALWAYS if name in ALWAYS_AT_FIRST else LoadMode.ON_DEMAND


def summaries(tx: Transaction, agent_id: UUID | None) -> list[FileSummary] | None:
    """The files of the organization or of an agent in their own order; None before they are made."""
    known: Sequence[str] = list(WorkspaceFile if agent_id is None else AgentFile)
    rows = tx.all(ALL_SUMMARIES[agent_id is not None], **_agent(agent_id))
    if len(rows) < len(known):
        return None
    return sorted(map(_summary, rows), key=lambda file: known.index(file.name))


def find(tx: Transaction, place: Place) -> Kept | None:
    """The file; None before it is made."""
    row = tx.one(FILE[place.agent_id is not None], named=place.name, **_agent(place.agent_id))
    return None if row is None else _kept(row)


def hold(tx: Transaction, place: Place) -> Kept:
    """The file, which nobody else changes until the commit; it is made where it is not there."""
    wanted = {"named": place.name, **_agent(place.agent_id)}
    statement = HELD[place.agent_id is not None]
    row = tx.one(statement, **wanted)
    if row is None:
        make(tx, place.agent_id)
        row = tx.one(statement, **wanted)
    if row is None:
        raise AssertionError("a file that was just made is there")
    return _kept(row)


def hold_by_id(tx: Transaction, file_id: UUID) -> Kept:
    """The same, by its id: something names it, so it is there."""
    return _there(tx.one(HELD_BY_ID, file=file_id))


def by_id(tx: Transaction, file_id: UUID) -> Kept:
    """The file that something names."""
    return _there(tx.one(BY_ID, file=file_id))


def for_a_run(tx: Transaction, agent_id: UUID | None) -> list[Kept]:
    """All files that there are of the organization and of an agent."""
    return [_kept(row) for row in tx.all(FOR_A_RUN, agent=agent_id)]


def quoting(
    tx: Transaction, quotes: Quotes, after: UUID | None, most: int
) -> tuple[list[UUID], UUID | None]:
    """Of the next `most` files, those that quote; and where to go on from."""
    rows = tx.all(TEXTS, after=after or NIL, most=most)
    return [row.id for row in rows if quotes.are_in(row.body)], rows[-1].id if rows else None


def places(tx: Transaction, ids: Sequence[UUID]) -> dict[UUID, Place]:
    """Which files these are."""
    return {row.id: Place(row.agent_id, row.name) for row in tx.all(PLACES, ids=list(ids))}


def always_loaded(tx: Transaction) -> list[str]:
    """The names of the files that are always loaded, in the order of the files."""
    known: Sequence[str] = list(WorkspaceFile)
    return sorted((row.name for row in tx.all(ALWAYS)), key=known.index)


def change(tx: Transaction, file: Kept, new: Kept) -> None:
    """Write what has become of a file that is held."""
    author = new.author
    tx.run(
        CHANGE,
        file=file.id,
        new_body=new.body,
        new_hash=new.hash,
        new_bytes=new.bytes,
        new_load_mode=new.load_mode,
        new_action=new.action.value,
        new_restored_from=new.restored_from,
        new_proposal_id=new.proposal_id,
        new_author_kind=author.kind.value,
        new_author_user_id=author.user_id,
        new_author_agent_id=author.agent_id,
        new_written_at=new.written_at,
    )


def author_in(row: dict[str, Any]) -> Author:
    """The author that a row's columns name, which are taken out of it."""
    return Author(
        kind=row.pop("author_kind"),
        user_id=row.pop("author_user_id"),
        agent_id=row.pop("author_agent_id"),
    )


def _agent(agent_id: UUID | None) -> dict[str, UUID]:
    return {} if agent_id is None else {"agent": agent_id}


def _there(row: Row | None) -> Kept:
    if row is None:
        raise AssertionError("no file is ever taken away")
    return _kept(row)


def _summary(row: Row) -> FileSummary:
    values = row._asdict()
    return FileSummary(author=author_in(values), title=TITLES[values["name"]], **values)


def _kept(row: Row) -> Kept:
    values = row._asdict()
    return Kept(author=author_in(values), title=TITLES[values["name"]], **values)
