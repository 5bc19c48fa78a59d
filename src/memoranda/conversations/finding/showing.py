"""Found passages as results: the message that each is of, where it stands, and why it was found."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple
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
from memoranda.search.weights import FUSION, REACH
from memoranda.storage import Transaction

NEIGHBORS_SHARE: Final = 0.4
"""How much of the best score a message needs that is found for its neighbors alone."""


class _Around(NamedTuple):
    """A passage's own place, and those of the ones around it."""

    own: Place
    others: list[Place]


def show(
    tx: Transaction, query: Query, found: Both, meaning: Meaning | None, limit: int
) -> list[FoundMessage]:
    """At most `limit` messages, each by its best passage, best first; what is gone by now is left out.

    So is a message that neither holds a word of the query nor is near it, and is found for those around it
    alone, unless they speak of it enough: the answer to a question may say none of its words.
    """
    seen = reaches.shown(tx, [hit.document_id for hit in found.hits])
    results: list[FoundMessage] = []
    taken: set[UUID] = set()
    waiting = iter(found.hits)
    while len(results) < limit:
        around = dict(_some(waiting, seen.places, taken, limit - len(results)))
        if not around:
            break
        wanted = {
            place.message_id for near in around.values() for place in (near.own, *near.others)
        }
        texts = _Texts(*reaches.messages(tx, wanted))
        for hit, near in around.items():
            conversation_id = seen.conversation_of[hit.document_id]
            about = {"conversation_id": conversation_id, **seen.about[conversation_id]._asdict()}
            shown = texts.shown(query, hit, near, _nearness(found, hit, meaning), about)
            if shown is not None and not _is_faint(shown, found.hits[0].score):
                results.append(shown)
    return results


def by_itself(why: Why) -> bool:
    """Whether a message holds a word of the query or is near it, and is not found for its neighbors alone."""
    return bool(why.words) or (why.meaning or 0.0) >= FUSION.faint


def _some(
    hits: Iterator[Hit], places: Mapping[UUID, bytes], taken: set[UUID], count: int
) -> Iterator[tuple[Hit, _Around]]:
    """The next `count` hits that are of messages which are not `taken` yet, each with what is around it."""
    while count:
        hit = next(hits, None)
        if hit is None:
            return
        near = _around(places.get(hit.document_id, b""), hit.ordinal)
        if near is not None and near.own.message_id not in taken:
            taken.add(near.own.message_id)
            count -= 1
            yield hit, near


def _is_faint(found: FoundMessage, best: float) -> bool:
    """Whether it is found for its neighbors alone, and they hardly speak of what was asked."""
    return not by_itself(found.why) and found.score < NEIGHBORS_SHARE * best


class _Texts:
    """What stands at places, and which terms it holds; each is read once."""

    def __init__(self, messages: Mapping[UUID, Row], compacted: Collection[UUID]) -> None:
        self._messages = messages
        self._compacted = compacted
        self._passages: dict[UUID, list[Passage]] = {}
        self._terms: dict[Place, frozenset[str]] = {}

    def shown(
        self, query: Query, hit: Hit, near: _Around, meaning: float | None, about: dict[str, Any]
    ) -> FoundMessage | None:
        """The message of a hit, with why it was found; None where it is gone by now."""
        own = self.passage(near.own)
        if own is None:
            return None
        message = self._messages[near.own.message_id].message
        words = self.words(query, [near.own])
        nearby = [each for each in self.words(query, near.others) if each not in words]
        return FoundMessage(
            **about,
            position=message.position,
            role=message.role,
            name=name_of(message),
            at=at_of(message),
            ts=message.ts,
            text=own.text,
            score=hit.score,
            why=Why(words=words, nearby=nearby, meaning=meaning),
            compacted=near.own.message_id in self._compacted,
        )

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
