"""The signatures of texts' letters in the database, and whom a cache of them can't speak for."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, select, update

from memoranda.search.vectors.store import DROPPED, Serving, turn
from memoranda.storage import Transaction, id_of
from memoranda.storage.tables import search_vectors

_OF = search_vectors.c
_OF_MODEL = (_OF.collection == bindparam("in_collection")) & (_OF.model == bindparam("of_model"))
_UNMADE = _OF_MODEL & _OF.vector.is_(None) & (_OF.failures != DROPPED)

UNMADE_ITEMS: Final = select(_OF.item_id).where(_UNMADE).limit(bindparam("most"))
CHANGED_ITEMS: Final = (
    select(_OF.item_id).where(_OF_MODEL, _OF.stamp > bindparam("after")).limit(bindparam("most"))
)
SPELL: Final = (
    update(search_vectors)
    .where(
        _OF_MODEL,
        _OF.item_id == bindparam("of_item"),
        _OF.text_id == bindparam("of_text"),
        _OF.vector.is_not(None),
    )
    .values(letters=bindparam("made_letters"), stamp=bindparam("new_stamp"))
)


def spell(
    tx: Transaction, collection: str, model: str, letters: Mapping[UUID, tuple[UUID, bytes]]
) -> None:
    """Keep the letters of each item's text, which is named beside them, where it has a vector already."""
    if letters:
        _, last = turn(tx, collection, len(letters), first=model)
        of = {"in_collection": collection, "of_model": model}
        tx.send_many(
            SPELL,
            [
                {**of, "of_item": item, "of_text": text, "made_letters": made, "new_stamp": stamp}
                for stamp, (item, (text, made)) in enumerate(
                    letters.items(), last - len(letters) + 1
                )
            ],
        )


def unsettled(
    tx: Transaction, collection: str, now: Serving, after: int, most: int
) -> set[UUID] | None:
    """Return the items that a cache which was read up to a stamp can't speak for; None beyond `most`.

    Their vectors are not made yet, or they have changed since.
    """
    of = {"in_collection": collection, "of_model": now.model, "most": most + 1}
    rows = tx.plain(UNMADE_ITEMS, **of)
    if now.stamp != after and len(rows) <= most:
        rows = [*rows, *tx.plain(CHANGED_ITEMS, **of, after=after)]
    return {id_of(row[0]) for row in rows} if len(rows) <= most else None
