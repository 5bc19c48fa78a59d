"""For whom each entry of a file is: its users and agents found again in this organization, or not."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import subject_of
from memoranda.access.store import check_subject
from memoranda.memories.audience import Audience
from memoranda.memories.transfer import store
from memoranda.memories.transfer.entry import Entry, Named
from memoranda.storage import Transaction
from memoranda.words.errors import Refused
from memoranda.words.inputs import SHORT_TEXT

_CHUNK: Final = 500


class Whom(NamedTuple):
    """To whom all is to be given, and whom a file's names mean otherwise."""

    user_id: UUID | None = None
    agent_id: UUID | None = None
    users: Mapping[str, UUID] = {}
    agents: Mapping[str, UUID] = {}


class NotHere(NamedTuple):
    """Why an entry can be given to nobody."""

    code: str
    detail: str


class People(NamedTuple):
    """Whom the names of a file mean in this organization."""

    who: Principal
    whom: Whom
    users: Mapping[str, UUID]
    agents: Mapping[str, UUID]

    def audience(self, entry: Entry) -> Audience | NotHere:
        """For whom the entry is, as far as the caller may write for them."""
        user, agent = self._user(entry), self._agent(entry)
        if isinstance(user, NotHere):
            return user
        if isinstance(agent, NotHere):
            return agent
        return Audience.of(subject_of(self.who, agent, user))

    def _user(self, entry: Entry) -> UUID | NotHere | None:
        if self.whom.user_id is not None:
            return self.whom.user_id
        bound = self.who.user_id if self.who.role is Role.MEMBER else None
        found = {
            self.users[name] for name in _names(entry.user, entry.labels) if name in self.users
        }
        if bound is not None:
            # Not a word on whether others are there.
            own = found == {bound} or (entry.user is None and not entry.labels and not entry.stated)
            return bound if own else _NOT_YOURS
        if entry.user is not None:
            return self._called(entry.user, self.users) or _unknown("user", entry.user.shown)
        if len(found) > 1:
            return NotHere("unknown_user", "Its namespace names several users. Say --user.")
        labelled = found or any(label in self.agents for label in entry.labels)
        if entry.labels and not labelled:
            return _unknown("user", ".".join(entry.labels))
        return next(iter(found), None)

    def _agent(self, entry: Entry) -> UUID | NotHere | None:
        if self.whom.agent_id is not None:
            return self.whom.agent_id
        if entry.agent is not None:
            return self._called(entry.agent, self.agents) or _unknown("agent", entry.agent.shown)
        found = {self.agents[label] for label in entry.labels if label in self.agents}
        if len(found) > 1:
            return NotHere("unknown_agent", "Its namespace names several agents. Say --agent.")
        return next(iter(found), None)

    @staticmethod
    def _called(named: Named, known: Mapping[str, UUID]) -> UUID | None:
        return next((known[name] for name in _names(named) if name in known), None)


_NOT_YOURS: Final = NotHere(
    "not_yours",
    "A member takes in what is for its own user alone. Name that user with --user to be given all of it, "
    "or use an owner's key.",
)
_MADE_BY: Final = {
    "user": "make one with memoranda users create NAME --external-id ID",
    "agent": "make one with memoranda agents create SLUG",
}


def _unknown(kind: str, named: str) -> NotHere:
    shown = named if len(named) <= 80 else f"{named[:79]}…"
    return NotHere(
        f"unknown_{kind}",
        f"This organization has no {kind} {shown!r}: say --{kind} to give all to one, or {_MADE_BY[kind]}.",
    )


def find_people(tx: Transaction, who: Principal, whom: Whom, entries: Iterable[Entry]) -> People:
    """Look up everybody whom the entries name. Raises `NotFound` and `Refused` for whom the caller named."""
    subject = subject_of(who, whom.agent_id, whom.user_id)
    check_subject(tx, user_id=subject.user_id, agent_id=whom.agent_id)
    for user_id in set(whom.users.values()):
        check_subject(tx, user_id=user_id, agent_id=None)
    for agent_id in set(whom.agents.values()):
        check_subject(tx, user_id=None, agent_id=agent_id)
    if who.role is Role.MEMBER and not set(whom.users.values()) <= {who.user_id}:
        raise Refused("A member takes in memories for its own user alone: map others to nobody.")
    users: set[str] = set()
    agents: set[str] = set()
    for entry in entries:
        users.update(_names(entry.user, entry.labels))
        agents.update(_names(entry.agent, entry.labels))
    return People(
        who,
        whom,
        _users(tx, who, users) | dict(whom.users),
        _agents(tx, agents) | dict(whom.agents),
    )


def _users(tx: Transaction, who: Principal, names: set[str]) -> dict[str, UUID]:
    """An id goes before an external id that is spelled like one. A member finds itself alone."""
    if who.role is Role.MEMBER and who.user_id is not None:
        own = store.users_by_id(tx, [who.user_id])
        return {name: row.id for row in own for name in (row.external_id, str(row.id)) if name}
    found: dict[str, UUID] = {}
    for chunk in _chunks(names):
        found |= {row.external_id: row.id for row in store.users_called(tx, chunk)}
        found |= {str(row.id): row.id for row in store.users_by_id(tx, _ids(chunk))}
    return found


def _agents(tx: Transaction, names: set[str]) -> dict[str, UUID]:
    """Likewise: a slug before an external id, and an id before both."""
    found: dict[str, UUID] = {}
    for chunk in _chunks(names):
        rows = store.agents_called(tx, chunk)
        found |= {row.external_id: row.id for row in rows if row.external_id}
        found |= {row.slug: row.id for row in rows}
        found |= {str(row.id): row.id for row in store.agents_by_id(tx, _ids(chunk))}
    return found


def _names(named: Named | None, labels: Iterable[str] = ()) -> Iterator[str]:
    if named is not None and named.id is not None:
        yield named.id
    if named is not None:
        yield from named.names
    yield from labels


def _chunks(names: set[str]) -> Iterator[list[str]]:
    """What can be somebody's name in a database, some at a time."""
    usable = sorted(name for name in names if len(name) <= SHORT_TEXT and _storable(name))
    for start in range(0, len(usable), _CHUNK):
        yield usable[start : start + _CHUNK]


def _storable(name: str) -> bool:
    return "\0" not in name and not any("\ud800" <= each <= "\udfff" for each in name)


def _ids(names: Iterable[str]) -> list[UUID]:
    """Those that are spelled as an id is written here."""
    found = []
    for name in names:
        try:
            read = UUID(name)
        except ValueError:
            continue
        if str(read) == name:
            found.append(read)
    return found
