"""The SQL of histories as people see them: lists, the entries that a history comes by, and its end."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import bindparam, func, select

from memoranda.conversations.histories import store
from memoranda.conversations.histories.kept.models import KeptEntry, KeptHistory, ShownHistory
from memoranda.conversations.histories.reach import unreached
from memoranda.storage import Row, Transaction, one_of
from memoranda.storage.scope import NIL
from memoranda.storage.tables import histories, history_entries, history_tips

NEWEST: Final = UUID(int=2**128 - 1)
AT_ONCE: Final = 20
"""Entries that are in memory together while all are read."""
h, e, t = histories.c, history_entries.c, history_tips.c
_COLUMNS: Final = (h.id, h.name, h.user_id, h.scope, h.revision, h.updated_at)
_OWNED: Final[Any] = bindparam("first_owner"), bindparam("last_owner")
_PAGE: Final = (
    select(*_COLUMNS)
    .where(
        h.owner_id.between(*_OWNED),
        h.id < bindparam("before"),
    )
    .order_by(h.id.desc())
    .limit(bindparam("most"))
)
PAGE: Final = _PAGE
PAGE_OF_SCOPE: Final = _PAGE.where(h.scope == bindparam("within"))
COUNT: Final = select(func.count()).select_from(histories).where(h.owner_id.between(*_OWNED))
COUNT_ENTRIES: Final = (
    select(func.count()).select_from(history_entries).where(e.owner_id.between(*_OWNED))
)
SHOWN: Final = select(*_COLUMNS, h.owner_id, h.record).where(h.id == bindparam("history"))
TIPS: Final = (
    select(t.entry_id, e.name, e.tree_id)
    .join(history_entries, e.id == t.entry_id)
    .where(t.history_id == bindparam("history"))
    .order_by(e.name)
)
SHAPE: Final = select(e.id, e.parent_id, e.name).where(one_of(e.tree_id, "trees"))
ENTRIES: Final = select(e.id, e.name, e.content, e.created_at).where(one_of(e.id, "entries"))


class Whose(NamedTuple):
    """From which owner to which; the nil id is nobody."""

    first: UUID
    last: UUID


EVERYBODY: Final = Whose(NIL, NEWEST)


def page(
    tx: Transaction, whose: Whose, scope: str | None, before: UUID | None, most: int
) -> list[KeptHistory]:
    """Histories of these owners, the newest first."""
    asked: dict[str, Any] = {
        "first_owner": whose.first,
        "last_owner": whose.last,
        "before": before or NEWEST,
        "most": most,
    }
    statement = PAGE if scope is None else PAGE_OF_SCOPE
    return [KeptHistory(**row._asdict()) for row in tx.all(statement, within=scope, **asked)]


def count(tx: Transaction, whose: Whose) -> tuple[int, int]:
    """How many histories and entries these owners have."""
    asked = {"first_owner": whose.first, "last_owner": whose.last}
    found = [tx.one(each, **asked) for each in (COUNT, COUNT_ENTRIES)]
    histories, entries = (0 if row is None else int(row[0]) for row in found)
    return histories, entries


def shown(tx: Transaction, history_id: UUID) -> ShownHistory | None:
    """The history with its record."""
    row = tx.one(SHOWN, history=history_id)
    if row is None:
        return None
    fields = {name: value for name, value in row._asdict().items() if name != "owner_id"}
    tips = [each.name for each in tx.all(TIPS, history=history_id)]
    return ShownHistory(**fields, tips=tips)


def entries(tx: Transaction, history_id: UUID, after: UUID) -> Iterator[KeptEntry]:
    """All entries that the history comes by, on whichever branch, in the order of their making, from behind one."""
    tips = tx.all(TIPS, history=history_id)
    shape = tx.all(SHAPE, trees=sorted({tip.tree_id for tip in tips})) if tips else []
    parents = {row.id: row.parent_id for row in shape}
    names = {row.id: row.name for row in shape}
    apart = set(unreached(parents, [tip.entry_id for tip in tips]))
    wanted = sorted(entry for entry in parents if entry > after and entry not in apart)
    for begin in range(0, len(wanted), AT_ONCE):
        rows = tx.all(ENTRIES, entries=wanted[begin : begin + AT_ONCE])
        for row in sorted(rows, key=lambda row: row.id):
            yield _entry(row, names.get(parents[row.id]))


def remove(tx: Transaction, there: ShownHistory) -> int:
    """Delete the history, and the entries that no other one comes by; how many rows."""
    return store.drop(tx, there.user_id, there.id)


def _entry(row: Row, parent: str | None) -> KeptEntry:
    return KeptEntry(**row._asdict(), parent=parent)
