"""The SQL of histories: entries are added and never changed, and records point at them."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, delete, func, insert, select, update

from memoranda.conversations.errors import too_large
from memoranda.conversations.histories.errors import changed
from memoranda.conversations.histories.models import History, HistoryEntry
from memoranda.conversations.histories.reach import unreached
from memoranda.storage import ConstraintViolated, Row, Transaction, one_of
from memoranda.storage.scope import NIL
from memoranda.storage.signals import SCRUB, signal
from memoranda.storage.tables import histories, history_entries, history_tips
from memoranda.words.ids import new_id

ALL: Final = 2**31 - 1
h, e, t = histories.c, history_entries.c, history_tips.c
_MINE: Final = h.owner_id == bindparam("owner")
_OWN: Final = e.owner_id == bindparam("owner")

FIND: Final = select(h.id, h.name, h.scope, h.revision, h.record, h.updated_at).where(
    _MINE, h.name == bindparam("named")
)
_NEWEST: Final = (
    select(h.id, h.name, h.scope, h.revision, h.record, h.updated_at)
    .where(_MINE)
    .order_by(h.updated_at.desc(), h.id.desc())
    .limit(bindparam("most"))
)
PAGE: Final = _NEWEST
PAGE_OF_SCOPE: Final = _NEWEST.where(h.scope == bindparam("within"))
INSERT: Final = insert(histories)
UPDATE: Final = (
    update(histories)
    .where(h.id == bindparam("history"))
    .values(
        scope=bindparam("new_scope"),
        revision=bindparam("new_revision"),
        record=bindparam("new_record"),
        updated_at=bindparam("new_time"),
    )
)
DELETE: Final = delete(histories).where(h.id == bindparam("history"))
TIPS: Final = (
    select(t.history_id, e.name)
    .join(history_entries, e.id == t.entry_id)
    .where(one_of(t.history_id, "histories"))
)
ADD_TIPS: Final = insert(history_tips)
DROP_TIPS: Final = delete(history_tips).where(t.history_id == bindparam("history"))
_PLACED: Final = (e.id, e.name, e.parent_id, e.tree_id, e.strand_id, e.place, e.path_bytes)
NAMED: Final = select(*_PLACED).where(_OWN, one_of(e.name, "names"))
BY_ID: Final = select(*_PLACED).where(e.id == bindparam("entry"))
ENTRY: Final = select(e.name, e.parent_id, e.content).where(_OWN, e.name == bindparam("named"))
STRAND: Final = (
    select(e.name, e.parent_id, e.place, e.content)
    .where(e.strand_id == bindparam("strand"), e.place <= bindparam("last"))
    .order_by(e.place.desc())
    .limit(bindparam("most"))
)
ENDS: Final = (
    select(e.strand_id, func.max(e.place).label("place"))
    .where(one_of(e.strand_id, "strands"))
    .group_by(e.strand_id)
)
ADD_ENTRIES: Final = insert(history_entries)
TREES: Final = (
    select(e.tree_id)
    .join(history_tips, t.entry_id == e.id)
    .where(t.history_id == bindparam("history"))
    .distinct()
)
SHAPE: Final = select(e.id, e.parent_id).where(e.tree_id == bindparam("tree"))
TIPS_OF_TREE: Final = (
    select(t.entry_id)
    .join(history_entries, e.id == t.entry_id)
    .where(e.tree_id == bindparam("tree"))
)
DROP_ENTRIES: Final = delete(history_entries).where(one_of(e.id, "entries"))
CLEAR_HISTORIES: Final = delete(histories).where(h.user_id == bindparam("user"))
CLEAR_ENTRIES: Final = delete(history_entries).where(e.user_id == bindparam("user"))


class Place(NamedTuple):
    """Where an entry stands; `last` says that nothing follows it in its strand."""

    id: UUID
    tree: UUID
    strand: UUID
    place: int
    path_bytes: int
    last: bool


def owner_of(user_id: UUID | None) -> UUID:
    """Whose names are looked among: the user's, or those of nobody."""
    return user_id or NIL


def find(tx: Transaction, user_id: UUID | None, name: str) -> History | None:
    """The history of that name."""
    row = tx.one(FIND, owner=owner_of(user_id), named=name)
    return None if row is None else _histories(tx, [row])[0]


def page(tx: Transaction, user_id: UUID | None, scope: str | None, most: int) -> list[History]:
    """The histories of a scope, or all, the last written first."""
    asked: dict[str, Any] = {"owner": owner_of(user_id), "most": most}
    if scope is None:
        return _histories(tx, tx.all(PAGE, **asked))
    return _histories(tx, tx.all(PAGE_OF_SCOPE, **asked, within=scope))


def entry(tx: Transaction, user_id: UUID | None, name: str) -> HistoryEntry | None:
    """The entry of that name."""
    row = tx.one(ENTRY, owner=owner_of(user_id), named=name)
    if row is None:
        return None
    return HistoryEntry(name=row.name, parent=_name(tx, row.parent_id), content=row.content)


def path(
    tx: Transaction, user_id: UUID | None, head: str, most: int | None
) -> list[HistoryEntry] | None:
    """The entries up to `head`, the oldest first, or the last `most`; None where there is no such entry."""
    at = tx.one(NAMED, owner=owner_of(user_id), names=[head])
    if at is None:
        return None
    wanted = ALL if most is None else most
    found: list[Row] = []
    before: UUID | None = at.id
    while before is not None and len(found) < wanted:
        row = tx.one(BY_ID, entry=before)
        if row is None:
            raise AssertionError("an entry stays for as long as one follows it")
        rest = wanted - len(found)
        found += tx.all(STRAND, strand=row.strand_id, last=row.place, most=rest)
        before = found[-1].parent_id
    found.reverse()
    names = [_name(tx, before), *(row.name for row in found)]
    return [
        HistoryEntry(name=row.name, parent=parent, content=row.content)
        for row, parent in zip(found, names, strict=False)
    ]


def write(
    tx: Transaction,
    user_id: UUID | None,
    history: History,
    entries: Sequence[HistoryEntry],
    *,
    expected: str | None,
    most_bytes: int,
) -> None:
    """Add the entries, and write the record over the one of the `expected` revision (None: there is none).

    Raises `HistoryChanged`, and `ConversationTooLarge`.
    """
    owner = owner_of(user_id)
    tx.lock(f"histories {owner}")
    stored = tx.one(FIND, owner=owner, named=history.name)
    if (None if stored is None else stored.revision) != expected:
        raise changed(history.name)
    placed = _add(tx, user_id, history, entries, most_bytes)
    new = {"record": history.record, "revision": history.revision, "scope": history.scope}
    if stored is None:
        made = new_id()
        own = {"owner_id": owner, "user_id": user_id, "name": history.name}
        tx.run(INSERT, id=made, **own, **new, updated_at=history.updated_at)
    else:
        made = stored.id
        renewed = {f"new_{name}": value for name, value in new.items()}
        tx.run(UPDATE, history=made, **renewed, new_time=history.updated_at)
        tx.run(DROP_TIPS, history=made)
    tips = [{"history_id": made, "entry_id": placed[tip].id} for tip in history.tips]
    tx.run_many(ADD_TIPS, tips)


def remove(tx: Transaction, user_id: UUID | None, name: str, expected: str) -> None:
    """Delete the history, and the entries that no other one comes by. Raises `HistoryChanged`."""
    owner = owner_of(user_id)
    tx.lock(f"histories {owner}")
    stored = tx.one(FIND, owner=owner, named=name)
    if stored is None or stored.revision != expected:
        raise changed(name)
    drop(tx, user_id, stored.id)


def drop(tx: Transaction, user_id: UUID | None, history_id: UUID) -> int:
    """Delete that history of the user's, whatever its revision, and the entries that no other one comes by; how many rows.

    Their traces are taken out of the files.
    """
    tx.lock(f"histories {owner_of(user_id)}")
    trees = [row.tree_id for row in tx.all(TREES, history=history_id)]
    rows = tx.run(DELETE, history=history_id)
    for tree in trees:
        kept = {row.entry_id for row in tx.all(TIPS_OF_TREE, tree=tree)}
        shape = {row.id: row.parent_id for row in tx.all(SHAPE, tree=tree)}
        rows += tx.run(DROP_ENTRIES, entries=unreached(shape, kept))
    signal(tx, SCRUB)
    return rows


def clear_user(tx: Transaction, user_id: UUID) -> None:
    """Delete all histories of a user, with their entries, and have their traces taken out of the files."""
    gone = tx.run(CLEAR_HISTORIES, user=user_id)
    if gone + tx.run(CLEAR_ENTRIES, user=user_id):
        signal(tx, SCRUB)


def _add(
    tx: Transaction,
    user_id: UUID | None,
    history: History,
    entries: Sequence[HistoryEntry],
    most_bytes: int,
) -> dict[str, Place]:
    """Place the new entries; where they stand, and those that they and the record name."""
    new = {each.name for each in entries}
    named = {each.parent for each in entries} | {*history.tips}
    placed = _places(tx, user_id, [name for name in named if name is not None and name not in new])
    rows: list[dict[str, Any]] = []
    for each in entries:
        before = None if each.parent is None else placed.get(each.parent)
        if each.parent is not None and before is None:
            raise changed(history.name)
        place = _after(before, len(each.content.encode()))
        if place.path_bytes > most_bytes:
            raise too_large(place.path_bytes, most_bytes)
        if before is not None and each.parent is not None:
            placed[each.parent] = before._replace(last=False)
        placed[each.name] = place
        rows.append(_row(tx, user_id, each, place, before))
    if not set(history.tips) <= placed.keys():
        raise changed(history.name)
    try:
        tx.run_many(ADD_ENTRIES, rows)
    except ConstraintViolated as violated:
        if violated.name == "one_entry_per_name":
            raise changed(history.name) from None
        raise
    return placed


def _row(
    tx: Transaction, user_id: UUID | None, entry: HistoryEntry, place: Place, before: Place | None
) -> dict[str, Any]:
    return {
        "id": place.id,
        "owner_id": owner_of(user_id),
        "user_id": user_id,
        "name": entry.name,
        "parent_id": None if before is None else before.id,
        "tree_id": place.tree,
        "strand_id": place.strand,
        "place": place.place,
        "content": entry.content,
        "path_bytes": place.path_bytes,
        "created_at": tx.now,
    }


def _after(before: Place | None, size: int) -> Place:
    """Where an entry goes: on in the strand of the one before it, or as the first of one of its own."""
    made = new_id()
    if before is None:
        return Place(made, made, made, 1, size, last=True)
    if before.last:
        return before._replace(id=made, place=before.place + 1, path_bytes=before.path_bytes + size)
    return Place(made, before.tree, made, 1, before.path_bytes + size, last=True)


def _places(tx: Transaction, user_id: UUID | None, names: list[str]) -> dict[str, Place]:
    found = tx.all(NAMED, owner=owner_of(user_id), names=names)
    strands = {row.strand_id for row in found}
    ends = {row.strand_id: row.place for row in tx.all(ENDS, strands=list(strands))}
    return {
        row.name: Place(
            row.id,
            row.tree_id,
            row.strand_id,
            row.place,
            row.path_bytes,
            last=ends[row.strand_id] == row.place,
        )
        for row in found
    }


def _histories(tx: Transaction, rows: list[Row]) -> list[History]:
    tips: dict[UUID, list[str]] = {row.id: [] for row in rows}
    for tip in tx.all(TIPS, histories=list(tips)):
        tips[tip.history_id].append(tip.name)
    return [
        History(
            name=row.name,
            scope=row.scope,
            revision=row.revision,
            record=row.record,
            tips=tuple(sorted(tips[row.id])),
            updated_at=row.updated_at,
        )
        for row in rows
    ]


def _name(tx: Transaction, entry_id: UUID | None) -> str | None:
    if entry_id is None:
        return None
    row = tx.one(BY_ID, entry=entry_id)
    return None if row is None else str(row.name)
