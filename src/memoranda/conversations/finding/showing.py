"""Found passages as results: the message that each is of, where it stands, and why it was found."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from uuid import UUID

from memoranda.conversations.finding.models import FoundMessage, Why
from memoranda.conversations.finding.passages import (
    Place,
    Row,
    at_of,
    name_of,
    passages_of,
    unpack_places,
)
from memoranda.conversations.finding.reach import store as reaches
from memoranda.search.both import Both
from memoranda.search.document import Passage
from memoranda.search.fusion import Meaning
from memoranda.search.lexical import DIGITS, Hit
from memoranda.search.terms import Query, read_passage
from memoranda.search.weights import REACH
from memoranda.storage import Transaction


class _Around(NamedTuple):
    """A passage's own place, and those of the ones around it."""

    own: Place
    others: list[Place]


def show(
    tx: Transaction, query: Query, found: Both, meaning: Meaning | None, limit: int
) -> list[FoundMessage]:
    """At most `limit` messages, each by its best passage, best first; what is gone by now is left out."""
    seen = reaches.shown(tx, [hit.document_id for hit in found.hits])
    around: dict[Hit, _Around] = {}
    taken: set[UUID] = set()
    for hit in found.hits:
        near = _around(seen.places.get(hit.document_id, b""), hit.ordinal)
        if near is not None and near.own.message_id not in taken and len(around) < limit:
            taken.add(near.own.message_id)
            around[hit] = near
    wanted = {place.message_id for near in around.values() for place in (near.own, *near.others)}
    messages, compacted = reaches.messages(tx, wanted)
    texts = _Texts(messages)
    results = []
    for hit, near in around.items():
        own = texts.passage(near.own)
        if own is None:
            continue
        message = messages[near.own.message_id].message
        conversation_id = seen.conversation_of[hit.document_id]
        words = texts.words(query, [near.own])
        nearby = [each for each in texts.words(query, near.others) if each not in words]
        results.append(
            FoundMessage(
                conversation_id=conversation_id,
                **seen.about[conversation_id]._asdict(),
                position=message.position,
                role=message.role,
                name=name_of(message),
                at=at_of(message),
                ts=message.ts,
                text=own.text,
                score=hit.score,
                why=Why(words=words, nearby=nearby, meaning=_nearness(found, hit, meaning)),
                compacted=near.own.message_id in compacted,
            )
        )
    return results


class _Texts:
    """What stands at places, and which terms it holds; each is read once."""

    def __init__(self, messages: Mapping[UUID, Row]) -> None:
        self._messages = messages
        self._passages: dict[UUID, list[Passage]] = {}
        self._terms: dict[Place, frozenset[str]] = {}

    def passage(self, place: Place) -> Passage | None:
        row = self._messages.get(place.message_id)
        if row is None:
            return None
        if row.id not in self._passages:
            self._passages[row.id] = passages_of(row.message)
        parts = self._passages[row.id]
        return parts[place.part] if place.part < len(parts) else None

    def words(self, query: Query, places: Iterable[Place]) -> list[str]:
        """The words of the query that are held there, as they were typed."""
        held = frozenset[str]().union(*map(self._held, places))
        found = (typed for terms, typed in query.words.items() if held.issuperset(terms))
        return list(dict.fromkeys(found))

    def _held(self, place: Place) -> frozenset[str]:
        if place not in self._terms:
            found = self.passage(place)
            read = found and read_passage(found.text, speaker=found.speaker, at=found.at)
            self._terms[place] = frozenset(read.counts if read else ())
        return self._terms[place]


def _around(places: bytes, ordinal: int) -> _Around | None:
    start = max(0, ordinal - REACH)
    near = unpack_places(places, start, ordinal + REACH + 1)
    own = ordinal - start
    if own >= len(near):
        return None
    return _Around(near[own], [*near[:own], *near[own + 1 :]])


def _nearness(found: Both, hit: Hit, meaning: Meaning | None) -> float | None:
    cosine = found.cosines.get((hit.document_id, hit.ordinal))
    if meaning is None or cosine is None:
        return None
    return round(meaning.curve.score(cosine), DIGITS)
