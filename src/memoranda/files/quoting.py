"""Where context files quote some texts: in what they say, in what they said before, in what is proposed."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeVar
from uuid import UUID

from memoranda.files import store
from memoranda.files.models import AgentFile, WorkspaceFile
from memoranda.files.proposals import store as proposals
from memoranda.files.revisions import store as revisions
from memoranda.storage import Storage, Transaction
from memoranda.words.quotes import Quotes

LOOKED_THROUGH: Final = 20
"""How many texts one view of the database is held for."""
_ORDER: Final = {name: place for place, name in enumerate([*WorkspaceFile, *AgentFile])}

F = TypeVar("F")
K = TypeVar("K")


class Quoting(NamedTuple):
    """A file that quotes: whether it does now, the numbers of earlier revisions that do, and waiting changes."""

    file: str
    agent_id: UUID | None
    now: bool
    revisions: list[int]
    proposals: list[UUID]


async def quoting(storage: Storage, organization_id: UUID, texts: Iterable[str]) -> list[Quoting]:
    """The files that hold one of these texts, the organization's first.

    Case and whitespace make no difference. For whoever has the right to see them all, and to
    decide what becomes of them: nothing is changed here.
    """
    quotes = Quotes(texts)
    if not quotes:
        return []
    now = await _through(storage, organization_id, store.quoting, quotes)
    before = await _through(storage, organization_id, revisions.quoting, quotes)
    waiting = await _through(storage, organization_id, proposals.quoting, quotes)
    numbers, changes = defaultdict[UUID, list[int]](list), defaultdict[UUID, list[UUID]](list)
    for file_id, number in before:
        numbers[file_id].append(number)
    for file_id, proposal_id in waiting:
        changes[file_id].append(proposal_id)
    ids = sorted({*now, *numbers, *changes})
    places = await storage.read(organization_id, store.places, ids) if ids else {}
    found = [
        Quoting(place.name, place.agent_id, file_id in now, numbers[file_id], changes[file_id])
        for file_id, place in places.items()
    ]
    return sorted(found, key=_place)


async def _through(
    storage: Storage,
    organization_id: UUID,
    some: Callable[[Transaction, Quotes, K | None, int], tuple[list[F], K | None]],
    quotes: Quotes,
) -> list[F]:
    """All that a store finds, some at a time, so that no one view of the database is held for long."""
    found: list[F] = []
    after: K | None = None
    while True:
        more, after = await storage.read(organization_id, some, quotes, after, LOOKED_THROUGH)
        found += more
        if after is None:
            return found


def _place(found: Quoting) -> tuple[bool, str, int]:
    return (found.agent_id is not None, str(found.agent_id), _ORDER[found.file])
