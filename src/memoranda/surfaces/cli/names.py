"""Whom an id stands for, in words: what a person calls the users and agents of a list."""

from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from memoranda.surfaces.cli.session import Session
from memoranda.words.errors import NotFound

if TYPE_CHECKING:
    from memoranda.access.models import Agent, User


class Meant(Protocol):
    """A row that is for a user, an agent, both or neither."""

    @property
    def user_id(self) -> UUID | None:
        """The user's id."""

    @property
    def agent_id(self) -> UUID | None:
        """The agent's id."""


async def whose(at: Session, rows: Iterable[Meant], *, nobody: str = "") -> list[str]:
    """For each row its user's name and its agent's slug, or `nobody` where it names neither.

    A script has the ids, so for `--json` nothing is looked up.
    """
    listed = list(rows)
    if at.choices.as_json:
        return [nobody] * len(listed)
    access = at.memoranda.access
    named: dict[UUID, str] = {}
    for user_id in dict.fromkeys(row.user_id for row in listed if row.user_id):
        named[user_id] = await _name(user_id, access.user(at.who, user_id))
    for agent_id in dict.fromkeys(row.agent_id for row in listed if row.agent_id):
        named[agent_id] = await _name(agent_id, access.agent(at.who, agent_id))
    return [
        " with ".join(named[each] for each in (row.user_id, row.agent_id) if each) or nobody
        for row in listed
    ]


async def _name(id_: UUID, asked: "Awaitable[User] | Awaitable[Agent]") -> str:
    try:
        found = await asked
    except NotFound:  # it is of another organization, or was taken away by hand
        return str(id_)
    return getattr(found, "slug", found.name)
