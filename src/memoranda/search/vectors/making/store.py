"""Who makes which vectors: claims that hold by a lease, and how they end."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import BindParameter, bindparam, select, update

from memoranda.search.vectors.store import DROPPED, TRIES, turn
from memoranda.storage import Transaction, one_of
from memoranda.storage.tables import search_vectors

PAUSES: Final = (timedelta(minutes=1), timedelta(minutes=10))
"""How long a text waits after its first failure and after its second."""

_OF = search_vectors.c
_worker: BindParameter[UUID] = bindparam("worker")
_OF_MODEL = (_OF.collection == bindparam("in_collection")) & (_OF.model == bindparam("of_model"))
_UNMADE = _OF_MODEL & _OF.vector.is_(None) & (_OF.failures != DROPPED) & (_OF.failures < TRIES)
_UNHELD = _OF.lease_until.is_(None) | (_OF.lease_until < bindparam("now"))
_DUE = _OF.retry_at.is_(None) | (_OF.retry_at <= bindparam("now"))
_HELD = _OF_MODEL & _OF.vector.is_(None) & (_OF.lease_owner == _worker)
_HELD_ONE = _HELD & (_OF.item_id == bindparam("of_item")) & (_OF.text_id == bindparam("of_text"))

FREE: Final = (
    select(_OF.item_id, _OF.text_id, _OF.failures)
    .where(_UNMADE, _UNHELD, _DUE)
    .order_by(_OF.item_id)
    .limit(bindparam("most"))
)
CLAIM: Final = (
    update(search_vectors)
    .where(_UNMADE, one_of(_OF.item_id, "items"))
    .values(lease_owner=_worker, lease_until=bindparam("until"))
)
HAND_BACK: Final = (
    update(search_vectors)
    .where(_HELD, one_of(_OF.item_id, "items"))
    .values(lease_owner=None, lease_until=None)
)
KEEP: Final = (
    update(search_vectors)
    .where(_HELD_ONE)
    .values(
        vector=bindparam("made"),
        letters=bindparam("made_letters"),
        stamp=bindparam("new_stamp"),
        failures=0,
        retry_at=None,
        lease_owner=None,
        lease_until=None,
    )
)
FAIL: Final = (
    update(search_vectors)
    .where(_HELD_ONE)
    .values(
        failures=bindparam("tried"),
        retry_at=bindparam("later"),
        lease_owner=None,
        lease_until=None,
    )
)


class Claimed(NamedTuple):
    """A text whose vector a worker is to make, and how often that failed."""

    item_id: UUID
    text_id: UUID
    failures: int


class Claim(NamedTuple):
    """What a worker holds: texts of one collection, to be made vectors of one model."""

    collection: str
    model: str
    worker_id: UUID
    texts: Sequence[Claimed]


def claim(
    tx: Transaction, collection: str, model: str, worker_id: UUID, *, lease: timedelta, most: int
) -> Claim:
    """Take up to `most` texts whose vectors are due and with nobody, or whose holder's lease is over."""
    turn(tx, collection, 0, first=model)
    of = {"in_collection": collection, "of_model": model}
    texts = [Claimed(*row) for row in tx.all(FREE, **of, now=tx.now, most=most)]
    if texts:
        items = [text.item_id for text in texts]
        tx.run(CLAIM, **of, items=items, worker=worker_id, until=tx.now + lease)
    return Claim(collection, model, worker_id, texts)


def due(tx: Transaction, collection: str, model: str) -> bool:
    """Whether there is anything to claim now."""
    of = {"in_collection": collection, "of_model": model}
    return tx.one(FREE, **of, now=tx.now, most=1) is not None


def keep(
    tx: Transaction,
    claim: Claim,
    vectors: Sequence[bytes],
    letters: Sequence[bytes | None] | None = None,
) -> int:
    """Keep one vector per text of the claim, and its letters' signature; how many were kept.

    One is not where the claim was lost, or where the item has another text by now.
    """
    _, last = turn(tx, claim.collection, len(vectors), first=claim.model)
    made = zip(claim.texts, vectors, letters or [None] * len(vectors), strict=True)
    return tx.run_many(
        KEEP,
        [
            _held(claim, text) | {"made": vector, "made_letters": letters, "new_stamp": stamp}
            for stamp, (text, vector, letters) in enumerate(made, last - len(vectors) + 1)
        ],
    )


def fail(tx: Transaction, claim: Claim) -> int:
    """Give the claim's texts back to be tried later; how many were given up instead."""
    turn(tx, claim.collection, 0, first=claim.model)
    rows = [
        _held(claim, text) | {"tried": text.failures + 1, "later": _later(tx.now, text.failures)}
        for text in claim.texts
    ]
    last = [row for row in rows if row["tried"] == TRIES]
    tx.run_many(FAIL, [row for row in rows if row["tried"] != TRIES])
    return tx.run_many(FAIL, last)


def hand_back(tx: Transaction, claim: Claim) -> None:
    """Give a claim back as if it had never been taken: a worker that was stopped is no failed try."""
    turn(tx, claim.collection, 0, first=claim.model)
    of = {"in_collection": claim.collection, "of_model": claim.model}
    items = [text.item_id for text in claim.texts]
    tx.run(HAND_BACK, **of, worker=claim.worker_id, items=items)


def _later(now: datetime, failures: int) -> datetime | None:
    return now + PAUSES[failures] if failures < len(PAUSES) else None


def _held(claim: Claim, text: Claimed) -> dict[str, object]:
    return {
        "in_collection": claim.collection,
        "of_model": claim.model,
        "worker": claim.worker_id,
        "of_item": text.item_id,
        "of_text": text.text_id,
    }
