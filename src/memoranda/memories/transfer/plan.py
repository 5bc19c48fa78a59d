"""What an import is to write, before anything is looked up: memories that are fit, and refusals. Pure."""

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from memoranda.memories.about import about_input
from memoranda.memories.audience import Audience
from memoranda.memories.candidate import Author, Candidate, Mark, mark_of
from memoranda.memories.transfer.entry import Entry, State
from memoranda.memories.transfer.fitting import Fitted, fit
from memoranda.memories.transfer.whom import NotHere, People
from memoranda.words.errors import Invalid, OverLimit
from memoranda.words.subject_key import make_subject_key


class Piece(NamedTuple):
    """One memory that may be written."""

    candidate: Candidate
    mark: Mark

    @property
    def spelled(self) -> str:
        """For whom it is."""
        return self.candidate.audience.spelled


class Item(NamedTuple):
    """One entry: the memories that it becomes, and what was changed."""

    line: int
    state: State
    pieces: tuple[Piece, ...]
    how: tuple[str, ...]


class Refusal(NamedTuple):
    """An entry that can't become a memory."""

    line: int
    code: str
    detail: str


class Plan(NamedTuple):
    """Everything that a file holds, in the order in which it is taken."""

    items: list[Item]
    refusals: list[Refusal]


def plan_of(
    organization_id: UUID,
    people: People,
    entries: Iterable[Entry],
    *,
    author: Author,
    text_chars: int,
) -> Plan:
    """Make every entry fit, for whom it is."""
    items: list[Item] = []
    refusals: list[Refusal] = []
    for entry in entries:
        made = _item(organization_id, people, entry, author, text_chars)
        if isinstance(made, Item):
            items.append(made)
        else:
            refusals.append(made)
    return Plan(_unkeyed_first(items), refusals)


def _item(
    organization_id: UUID, people: People, entry: Entry, author: Author, text_chars: int
) -> Item | Refusal:
    audience = people.audience(entry)
    if isinstance(audience, NotHere):
        return Refusal(entry.line, audience.code, audience.detail)
    try:
        fitted = fit(entry, text_chars)
        refs = about_input(entry.about)
        key = _key(organization_id, audience, entry, fitted)
    except (Invalid, OverLimit) as refused:
        return Refusal(entry.line, refused.code, refused.message)
    pieces = tuple(
        Piece(
            Candidate(
                audience=audience,
                subject_key=key,
                text=text,
                title=fitted.title,
                category=fitted.category,
                tags=fitted.tags,
                expires_at=fitted.expires_at,
                author=author,
                pinned=entry.pinned and entry.state is State.ACTIVE,
                subject_refs=refs,
            ),
            mark_of(text),
        )
        for text in fitted.texts
    )
    return Item(entry.line, entry.state, pieces, fitted.how)


def _key(organization_id: UUID, audience: Audience, entry: Entry, fitted: Fitted) -> str | None:
    try:
        return make_subject_key(entry.about or audience.owner(organization_id), fitted.attribute)
    except ValueError as error:
        raise Invalid(f"about: {error}", field="about") from None


def _unkeyed_first(items: list[Item]) -> list[Item]:
    """Let a memory without a key go before those that say the same under one, which would refuse it.

    The other way round both may stand, so that what came out of one organization goes into another.
    """
    keyed: dict[tuple[str, bytes], int] = {}
    places: list[tuple[int, int, int]] = []
    for number, item in enumerate(items):
        place = number
        for piece in item.pieces if item.state is State.ACTIVE else ():
            said = (piece.spelled, piece.mark.digest)
            if piece.candidate.subject_key is None:
                place = min(place, keyed.get(said, place))
            else:
                keyed.setdefault(said, number)
        places.append((place, place == number, number))
    return [items[number] for _, _, number in sorted(places)]
