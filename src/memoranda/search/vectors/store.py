"""The vectors in the database: which are wanted, what stands in for them, and which model's answer searches.

Whatever changes a vector takes the row of `search_models` first (`turn`), gets its stamps there and
holds it until its commit. So stamps become visible in their order: who has read up to one has missed
none before it. And as all take the same row first, no two of them can wait for each other.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import BindParameter, bindparam, delete, false, func, select, true, update

from memoranda.search.vectors.matrix import Changes
from memoranda.storage import Row, Transaction, id_bytes, one_of, upsert
from memoranda.storage.signals import EMBEDDING, signal
from memoranda.storage.tables import search_models, search_vectors

TRIES: Final = 3
"""After so many failures a text is left without a vector, until it is wanted again."""
DROPPED: Final = -1
"""The failures of a row that stands only so that caches forget the vector that it had."""

_FREE: Final = {"lease_owner": None, "lease_until": None}
_OF = search_vectors.c
_collection: BindParameter[str] = bindparam("in_collection")
_model: BindParameter[str] = bindparam("of_model")
_item: BindParameter[UUID] = bindparam("of_item")
_OF_MODEL = (_OF.collection == _collection) & (_OF.model == _model)
_OF_ITEM = (_OF.collection == _collection) & (_OF.item_id == _item) & (_OF.failures != DROPPED)
_UNMADE = _OF_MODEL & _OF.vector.is_(None) & (_OF.failures != DROPPED)

NEXT_STAMP: Final = upsert(search_models, ["scope_id", "collection"], add=["stamp"])
FIRST_TURN: Final = NEXT_STAMP.returning(search_models.c.model, search_models.c.stamp)
# What is wanted of another model alone is lacking among the items of the serving one.
NEXT_STAMP_OF: Final = upsert(
    search_models, ["scope_id", "collection"], add=["stamp"], still={"whole": "model"}
)
NOT_WHOLE: Final = (
    update(search_models)
    .where(search_models.c.collection == _collection, search_models.c.whole)
    .values(whole=false())
)
WHOLE: Final = (
    update(search_models)
    .where(
        search_models.c.collection == _collection,
        search_models.c.model == _model,
        ~search_models.c.whole,
    )
    .values(whole=true())
)
TURN: Final = (
    update(search_models)
    .where(search_models.c.collection == _collection)
    .values(stamp=search_models.c.stamp + bindparam("more"))
    .returning(search_models.c.model, search_models.c.stamp)
)
SERVING: Final = select(
    search_models.c.model, search_models.c.stamp, search_models.c.since, search_models.c.whole
).where(search_models.c.collection == _collection)
FLIP: Final = (
    update(search_models)
    .where(search_models.c.collection == _collection, search_models.c.model == _model)
    .values(model=bindparam("to_model"), since=bindparam("now"), whole=false())
)

WANT: Final = upsert(
    search_vectors,
    ["scope_id", "collection", "item_id", "model"],
    set_=[
        *("text_id", "vector", "letters", "stamp"),
        *("failures", "retry_at", "lease_owner", "lease_until"),
    ],
)
# Its stamp is the one that the transaction has just dealt out, without a round trip that fetches it.
WANT_NEXT: Final = WANT.values(
    stamp=select(search_models.c.stamp)
    .where(search_models.c.collection == _collection)
    .scalar_subquery()
)
DROP: Final = (
    update(search_vectors)
    .where(_OF_ITEM)
    .values(
        vector=None,
        letters=None,
        failures=DROPPED,
        retry_at=bindparam("now"),
        stamp=bindparam("new_stamp"),
        lease_owner=None,
        lease_until=None,
    )
)
# The lease goes too: its holder embeds under the old name, and could not keep what it makes.
RENAME: Final = (
    update(search_vectors)
    .where(_OF_ITEM)
    .values(
        text_id=bindparam("to_text"),
        stamp=bindparam("new_stamp"),
        lease_owner=None,
        lease_until=None,
    )
)
OF_ITEM: Final = select(_OF.model, _OF.vector, _OF.letters, _OF.failures, _OF.retry_at).where(
    _OF_ITEM
)

MADE_SINCE: Final = (
    select(_OF.item_id, _OF.text_id, _OF.vector, _OF.stamp, _OF.letters)
    .where(_OF_MODEL, _OF.stamp > bindparam("after"))
    .order_by(_OF.stamp)
    .limit(bindparam("most"))
)
MADE: Final = MADE_SINCE.where(_OF.vector.is_not(None))
ROWS: Final = select(func.count().label("rows")).select_from(search_vectors).where(_OF_MODEL)
UNMADE: Final = (
    select(_OF.failures, func.count().label("rows"))
    .where(_OF_MODEL, _OF.vector.is_(None))
    .group_by(_OF.failures)
)
ONE_WAITING: Final = select(_OF.item_id).where(_UNMADE, _OF.failures < TRIES).limit(1)

GIVEN_UP: Final = (
    select(_OF.item_id, _OF.text_id)
    .where(_OF_MODEL, _OF.vector.is_(None), _OF.failures >= TRIES)
    .order_by(_OF.item_id)
    .limit(bindparam("most"))
)
OLD_MODELS: Final = (
    select(_OF.item_id, _OF.model)
    .where(_OF.collection == _collection, _OF.model != _model, _OF.model != bindparam("or_model"))
    .order_by(_OF.item_id)
    .limit(bindparam("most"))
)
LONG_DROPPED: Final = (
    select(_OF.item_id)
    .where(
        _OF_MODEL,
        _OF.vector.is_(None),
        _OF.failures == DROPPED,
        _OF.retry_at < bindparam("before"),
    )
    .order_by(_OF.item_id)
    .limit(bindparam("most"))
)
DELETE: Final = delete(search_vectors).where(_OF_MODEL, one_of(_OF.item_id, "items"))


class Serving(NamedTuple):
    """The model whose vectors answer searches, since when, and the last stamp that was dealt out.

    `whole` says that every item has a row of that model for its present text.
    """

    model: str
    stamp: int
    since: datetime
    whole: bool


class Progress(NamedTuple):
    """How many vectors of a model are made, wait to be made, and were given up."""

    made: int
    waiting: int
    given_up: int


def want(
    tx: Transaction,
    collection: str,
    item_id: UUID,
    text_id: UUID,
    models: Sequence[str],
    *,
    fresh: bool = False,
) -> None:
    """Have the vector of an item's text made; that of the text that it had before goes at once.

    `models` are those with an embedder, the one to use first. Made are vectors of that one and of the
    one that serves now; that of another model goes. `fresh` says that the item has no vector of any.
    Without models this does nothing: see `leave_out`.
    """
    if not models:
        return
    if len(models) == 1 and fresh:
        _want_next(tx, collection, item_id, text_id, models[0])
    else:
        serving, stamp = turn(tx, collection, 1, first=models[0])
        if serving not in models:
            tx.send(DROP, in_collection=collection, of_item=item_id, now=tx.now, new_stamp=stamp)
            tx.send(NOT_WHOLE, in_collection=collection)
        _want(tx, collection, [item_id], [text_id], models[0], last=stamp)
        if serving != models[0] and serving in models:
            _want(tx, collection, [item_id], [text_id], serving, last=stamp)
    signal(tx, EMBEDDING)


def want_again(tx: Transaction, collection: str, model: str, texts: Mapping[UUID, UUID]) -> None:
    """Have vectors of one model made anew; `texts` names each item's text."""
    if texts:
        _, last = turn(tx, collection, len(texts), first=model)
        _want(tx, collection, list(texts), list(texts.values()), model, last=last)
        signal(tx, EMBEDDING)


def leave_out(tx: Transaction, collection: str) -> None:
    """Say that an item has a text that no vector is wanted of, so that not all of them have a row."""
    tx.send(NOT_WHOLE, in_collection=collection)


def be_whole(tx: Transaction, collection: str, model: str) -> None:
    """Say that every item has a row of its present text, if this model serves.

    Whoever says so has had its `turn`, and has looked for items without a row after that.
    """
    tx.run(WHOLE, in_collection=collection, of_model=model)


def drop(tx: Transaction, collection: str, item_ids: Sequence[UUID]) -> None:
    """Take away the items' vectors, of every model, and the work of making them."""
    turned = turn_if_any(tx, collection, len(item_ids)) if item_ids else None
    if turned is not None:
        first = turned.stamp - len(item_ids) + 1
        of = {"in_collection": collection, "now": tx.now}
        tx.send_many(
            DROP,
            [
                {**of, "of_item": item_id, "new_stamp": stamp}
                for stamp, item_id in enumerate(item_ids, first)
            ],
        )


def carry(tx: Transaction, collection: str, from_id: UUID, to_id: UUID, text_id: UUID) -> None:
    """Keep an unchanged text's vectors under its new name, or under the item that it moved to."""
    turned = turn_if_any(tx, collection, 2)
    if turned is None:
        return
    of = {"in_collection": collection, "of_item": from_id}
    if from_id == to_id:
        tx.send(RENAME, **of, to_text=text_id, new_stamp=turned.stamp)
        return
    named = {"item_id": to_id, "text_id": text_id, "stamp": turned.stamp}
    kept = {"collection": collection, **_FREE}
    rows = [row._asdict() | named | kept for row in tx.all(OF_ITEM, **of)]
    tx.send_many(WANT, rows)
    tx.send(DROP, **of, now=tx.now, new_stamp=turned.stamp - 1)


def serving(tx: Transaction, collection: str) -> Serving | None:
    """Return the model that answers searches; None before the first vector was wanted."""
    row = tx.one(SERVING, in_collection=collection)
    return None if row is None else Serving(*row)


def changes(tx: Transaction, collection: str, model: str, after: int, most: int) -> Changes:
    """Return up to `most` changes after a stamp, in the order of their stamps.

    No vector means that the item has none (any more); such items are left out from stamp 0 on.
    """
    statement = MADE_SINCE if after else MADE
    rows = tx.plain(statement, in_collection=collection, of_model=model, after=after, most=most)
    nothing = (), (), (), (after,), ()
    items, texts, vectors, stamps, letters = zip(*rows, strict=True) if rows else nothing
    return Changes(id_bytes(items), id_bytes(texts), vectors, stamps[-1], letters)


def rows_of(tx: Transaction, collection: str, model: str) -> int:
    """Return how many rows a model has, with a vector and without."""
    counted: Row = tx.one(ROWS, in_collection=collection, of_model=model)
    return int(counted.rows)


def waiting(tx: Transaction, collection: str, models: Sequence[str]) -> bool:
    """Whether a vector of these models is still to be made, by whomever and whenever."""
    return any(
        tx.one(ONE_WAITING, in_collection=collection, of_model=model) is not None
        for model in models
    )


def progress(tx: Transaction, collection: str, model: str) -> Progress:
    """Return how far a model's vectors are made."""
    of = {"in_collection": collection, "of_model": model}
    unmade = {row.failures: row.rows for row in tx.all(UNMADE, **of)}
    left = sum(rows for failures, rows in unmade.items() if failures >= TRIES)
    return Progress(
        made=rows_of(tx, collection, model) - sum(unmade.values()),
        waiting=sum(unmade.values()) - left - unmade.get(DROPPED, 0),
        given_up=left,
    )


def given_up(tx: Transaction, collection: str, model: str, most: int) -> dict[UUID, UUID]:
    """Return up to `most` items without a vector that nobody tries any more, each with its text."""
    rows = tx.all(GIVEN_UP, in_collection=collection, of_model=model, most=most)
    return {row.item_id: row.text_id for row in rows}


def turn(tx: Transaction, collection: str, stamps: int, *, first: str) -> tuple[str, int]:
    """Be the one that changes vectors until the commit: the serving model, and the last of so many new stamps.

    `first` is the model that serves from now on where none did.
    """
    row = tx.one(FIRST_TURN, collection=collection, model=first, stamp=stamps, since=tx.now)
    if row is None:  # an upsert always returns its row
        raise AssertionError("the row of the serving model is neither there nor made")
    return row.model, row.stamp


def flip(tx: Transaction, collection: str, from_model: str, to_model: str) -> bool:
    """Let another model serve from this commit on; False where `from_model` does not serve any more."""
    of = {"in_collection": collection, "of_model": from_model}
    return tx.run(FLIP, **of, to_model=to_model, now=tx.now) == 1


def clear(tx: Transaction, collection: str, models: tuple[str, str], most: int) -> int:
    """Delete up to `most` rows of all but these models; how many there were."""
    turned = turn_if_any(tx, collection, 0)
    if turned is None:
        return 0
    kept = {"of_model": models[0], "or_model": models[1]}
    rows = tx.all(OLD_MODELS, in_collection=collection, **kept, most=most)
    for model in {row.model for row in rows}:
        items = [row.item_id for row in rows if row.model == model]
        tx.run(DELETE, in_collection=collection, of_model=model, items=items)
    return len(rows)


def tidy(tx: Transaction, collection: str, model: str, before: datetime, most: int) -> int:
    """Delete up to `most` rows of items that were dropped before a time; how many there were.

    A cache must have seen them by then, or read all anew.
    """
    if turn_if_any(tx, collection, 0) is None:
        return 0
    of = {"in_collection": collection, "of_model": model}
    items = [row.item_id for row in tx.all(LONG_DROPPED, **of, before=before, most=most)]
    return tx.run(DELETE, **of, items=items) if items else 0


def turn_if_any(tx: Transaction, collection: str, stamps: int) -> Row | None:
    """As `turn`; None where no vector was ever wanted, so that there is nothing to change."""
    return tx.one(TURN, in_collection=collection, more=stamps)


def _want_next(tx: Transaction, collection: str, item_id: UUID, text_id: UUID, model: str) -> None:
    """`turn` and `_want` where no model but this is asked for, so that it is the same which one serves."""
    tx.send(NEXT_STAMP_OF, collection=collection, model=model, stamp=1, since=tx.now)
    named = {"item_id": item_id, "text_id": text_id, "in_collection": collection}
    tx.send(WANT_NEXT, **named, **_unmade(collection, model))


def _want(
    tx: Transaction,
    collection: str,
    items: Sequence[UUID],
    texts: Sequence[UUID],
    model: str,
    *,
    last: int,
) -> None:
    unmade = _unmade(collection, model)
    named = zip(items, texts, range(last - len(items) + 1, last + 1), strict=True)
    rows = ({"item_id": item, "text_id": text, "stamp": stamp} for item, text, stamp in named)
    tx.send_many(WANT, [row | unmade for row in rows])


def _unmade(collection: str, model: str) -> dict[str, object]:
    """The state of a vector that nobody has made or makes."""
    made = {"vector": None, "letters": None, "failures": 0, "retry_at": None}
    return {"collection": collection, "model": model, **made, **_FREE}
