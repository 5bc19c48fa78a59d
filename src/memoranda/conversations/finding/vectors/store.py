"""Vectors of what was said, a segment's in one row: made by a worker, and compared in memory on both databases.

Every statement here is of one scope and one model. A segment has vectors of one model alone, and a search
uses only those of the model that serves.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import bindparam, select, true, update

from memoranda.conversations.finding import store as segments
from memoranda.conversations.finding.passages import COLLECTION, Place, passages_of, unpack_places
from memoranda.search.candidates import Place as Passage
from memoranda.search.vectors import store as models
from memoranda.search.vectors.matrix import Changes, Snapshot
from memoranda.search.vectors.parts import Part, cache_of, read_anew
from memoranda.storage import Transaction, id_bytes, id_of, one_of
from memoranda.storage.signals import CONVERSATION_VECTORS, signal
from memoranda.storage.tables import conversation_segments

TRIES: Final = 3
"""At the last of so many tries, what can't be embedded gets a vector that is near nothing."""
PAUSES: Final = (timedelta(minutes=1), timedelta(minutes=10))
TRIED: Final = 8

_HALF: Final = np.dtype("<f2")
_PLACE: Final = np.dtype(">u8")
_ID: Final = 16

s = conversation_segments.c
_of_segment = s.id == bindparam("segment")
_held = _of_segment & (s.lease_owner == bindparam("worker"))
_unheld = s.lease_until.is_(None) | (s.lease_until < bindparam("now"))
_due = s.lacks & _unheld & (s.retry_at.is_(None) | (s.retry_at <= bindparam("now")))

ONE_LACKING: Final = select(s.id).where(s.lacks).limit(1)
DUE: Final = select(s.id).where(_due).order_by(s.id).limit(bindparam("most"))
CLAIM: Final = (
    update(conversation_segments)
    .where(_of_segment, _due)
    .values(lease_owner=bindparam("worker"), lease_until=bindparam("until"))
    .returning(
        s.id,
        s.conversation_id,
        s.first_position,
        s.model,
        s.embedded,
        s.failures,
        s.places,
        s.vectors,
    )
)
KEEP: Final = (
    update(conversation_segments)
    .where(_held)
    .values(
        model=bindparam("of_model"),
        embedded=bindparam("count"),
        vectors=bindparam("packed"),
        stamp=bindparam("new_stamp"),
        lacks=s.passages > bindparam("count"),
        failures=0,
        retry_at=None,
        lease_owner=None,
        lease_until=None,
    )
)
GIVE_BACK: Final = (
    update(conversation_segments)
    .where(_held)
    .values(
        failures=bindparam("tried"),
        retry_at=bindparam("later"),
        lease_owner=None,
        lease_until=None,
    )
)
# Another model is to serve: whatever was made of the one before is made anew.
LACK_ALL: Final = (
    update(conversation_segments)
    .where(s.model != bindparam("of_model"))
    .values(lacks=true(), failures=0, retry_at=None, lease_owner=None, lease_until=None)
)
PARTS: Final = select(s.id, s.stamp, s.embedded).where(
    s.model == bindparam("of_model"), s.embedded > 0
)
ROWS: Final = select(s.id, s.embedded, s.vectors).where(
    s.model == bindparam("of_model"), s.embedded > 0, one_of(s.id, "segments")
)


class Making(NamedTuple):
    """A segment that a worker embeds: what is to be embedded, and what was before (`done` and `packed`)."""

    segment_id: UUID
    worker_id: UUID
    model: str
    texts: list[str]
    done: int
    packed: bytes
    failures: int


def serving(tx: Transaction) -> str | None:
    """The model whose vectors answer searches; None before there was one."""
    now = models.serving(tx, COLLECTION)
    return None if now is None else now.model


def serve(tx: Transaction, model: str) -> bool:
    """Let a model's vectors answer searches, at once; whether another one did, or none.

    What has vectors of another model is found by its words until a worker has made new ones.
    """
    before, _ = models.turn(tx, COLLECTION, 1, first=model)
    if before != model:
        models.flip(tx, COLLECTION, before, model)
    tx.run(LACK_ALL, of_model=model)
    signal(tx, CONVERSATION_VECTORS)
    return before != model


def lacking(tx: Transaction) -> bool:
    """Whether any segment lacks vectors, by whomever and whenever they are to be made."""
    return tx.one(ONE_LACKING) is not None


def claim(tx: Transaction, model: str, worker_id: UUID, lease: timedelta) -> Making | None:
    """Take the oldest segment that lacks vectors; None where none is due."""
    for row in tx.all(DUE, now=tx.now, most=TRIED):
        taken = tx.one(CLAIM, segment=row.id, worker=worker_id, now=tx.now, until=tx.now + lease)
        if taken is not None:
            done = taken.embedded if taken.model == model else 0
            places = unpack_places(taken.places)[done:]
            texts = _texts(tx, taken.conversation_id, taken.first_position, places)
            packed = taken.vectors if done else b""
            return Making(taken.id, worker_id, model, texts, done, packed, taken.failures)
    return None


def keep(tx: Transaction, made: Making, rows: NDArray[np.float32]) -> bool:
    """Keep the vectors of a segment's texts; False where it is not the worker's any more.

    Vectors of another length than those before take the place of none: then all are made anew.
    """
    serving_model, stamp = models.turn(tx, COLLECTION, 1, first=made.model)
    packed = made.packed + rows.astype(_HALF).tobytes()
    count = made.done + len(rows)
    fits = len(packed) == count * rows.shape[1] * _HALF.itemsize
    of = {"segment": made.segment_id, "worker": made.worker_id}
    if serving_model != made.model or not fits:
        anew = {"of_model": "", "count": 0, "packed": None}
        return tx.run(KEEP, new_stamp=stamp, **anew, **of) == 1
    kept = {"of_model": made.model, "count": count, "packed": packed}
    return tx.run(KEEP, new_stamp=stamp, **kept, **of) == 1


def give_back(tx: Transaction, made: Making, *, failed: bool) -> None:
    """Let a segment be tried again, later where it failed."""
    tried = made.failures + failed
    later = tx.now + PAUSES[min(tried, len(PAUSES)) - 1] if failed else None
    of = {"segment": made.segment_id, "worker": made.worker_id}
    tx.run(GIVE_BACK, tried=tried, later=later, **of)


class _Said:
    """The vectors of what was said, as a search of both asks for them."""

    def nearest(
        self,
        tx: Transaction,
        model: str,
        query: NDArray[np.float32],
        most: int,
        segment_ids: Sequence[UUID] | None,
    ) -> dict[Passage, float]:
        held = snapshot(tx, model)
        if not _fits(held, query):
            return {}
        ids = None if segment_ids is None else b"".join(each.bytes for each in segment_ids)
        hits = held.closest(_as_kept(query), most, ids)
        return {(hit.item_id, hit.text_id.int): hit.score for hit in hits}

    def cosines(
        self,
        tx: Transaction,
        model: str,
        query: NDArray[np.float32],
        places: Iterable[Passage],
    ) -> dict[Passage, float]:
        held = snapshot(tx, model)
        return held.at(_as_kept(query), set(places)) if _fits(held, query) else {}


SAID: Final = _Said()


def snapshot(tx: Transaction, model: str) -> Snapshot:
    """All of the scope's vectors of a model, exactly as the transaction sees them."""
    reader = _Reader(tx, model)
    if tx.writes or reader.version is None:
        return read_anew(model, reader)
    return cache_of(tx.memory, COLLECTION).snapshot((tx.scope, model), reader)


class _Reader:
    """What a transaction sees, for the cache."""

    def __init__(self, tx: Transaction, model: str) -> None:
        self._tx = tx
        self._model = model
        self.version: object | None = models.serving(tx, COLLECTION)

    def parts(self) -> Mapping[UUID, Part]:
        rows = self._tx.plain(PARTS, of_model=self._model)
        return {id_of(segment_id): Part(stamp, count) for segment_id, stamp, count in rows}

    def rows(self, documents: list[UUID]) -> Changes:
        rows = self._tx.plain(ROWS, of_model=self._model, segments=documents)
        ids, counts, packed = zip(*rows, strict=True) if rows else ((), (), ())
        each = id_bytes(ids)
        items = b"".join(
            each[place * _ID : (place + 1) * _ID] * count for place, count in enumerate(counts)
        )
        texts = np.zeros((sum(counts), 2), _PLACE)
        texts[:, 1] = [ordinal for count in counts for ordinal in range(count)]
        vectors = [
            vector
            for one, count in zip(packed, counts, strict=True)
            for vector in _split(one, count)
        ]
        return Changes(items, texts.tobytes(), vectors, 0)


def _texts(
    tx: Transaction, conversation_id: UUID, first_position: int, places: Sequence[Place]
) -> list[str]:
    """What is embedded of each place: the passage by itself, without who said it and when."""
    wanted = {place.message_id for place in places}
    found: dict[UUID, list[str]] = {}
    for row in segments.rows(tx, conversation_id, first_position - 1):
        if row.id in wanted:
            found[row.id] = [passage.text for passage in passages_of(row.message)]
            if len(found) == len(wanted):
                break
    return [_part(found.get(place.message_id, []), place.part) for place in places]


def _part(parts: Sequence[str], part: int) -> str:
    return parts[part] if part < len(parts) else ""


def _split(packed: bytes, count: int) -> list[bytes]:
    """The vectors of a segment; nothing of zeros, which are near nothing."""
    size = len(packed) // count
    rows = [bytes(packed[start : start + size]) for start in range(0, size * count, size)]
    return [row if any(row) else b"" for row in rows]


def _fits(held: Snapshot, query: NDArray[np.float32]) -> bool:
    return bool(len(held.rows)) and held.rows.shape[1] == len(query) and bool(query.any())


def _as_kept(query: NDArray[np.float32]) -> NDArray[np.float32]:
    """The query in the precision of what it is compared with."""
    return query.astype(_HALF).astype(np.float32)
