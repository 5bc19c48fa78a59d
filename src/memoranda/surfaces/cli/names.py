"""Whom an id stands for, in words: what a person calls the users and agents of a list."""

from collections.abc import Awaitable, Iterable
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from memoranda.surfaces.cli.session import Session
from memoranda.words.errors import NotFound

if TYPE_CHECKING:
    from memoranda.access.models import Agent, User
    from memoranda.tools.models import ToolSpace


class Meant(Protocol):
    """A row that is for a user, an agent, both or neither; it may name a space too, or its id."""

    @property
    def user_id(self) -> UUID | None:
        """The user's id."""

    @property
    def agent_id(self) -> UUID | None:
        """The agent's id."""


async def whose(at: Session, rows: Iterable[Meant], *, nobody: str = "") -> list[str]:
    """For each row its user's name, its agent's slug and its space, or `nobody` where it names none.

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
    return [_said(row, await _space(at, row, named), named) or nobody for row in listed]


def _said(row: Meant, space: str | None, named: dict[UUID, str]) -> str:
    people = " with ".join(named[each] for each in (row.user_id, row.agent_id) if each)
    return " in ".join(part for part in (people, space and f"the space {space}") if part)


async def _space(at: Session, row: Meant, named: dict[UUID, str]) -> str | None:
    """The name of the row's space, which some rows have and others know by its id."""
    name: str | None = getattr(row, "space", None)
    id_: UUID | None = getattr(row, "space_id", None)
    if name is not None or id_ is None:
        return name
    if id_ not in named:
        named[id_] = await _name(id_, at.memoranda.tools.spaces.get(at.who, id_))
    return named[id_]


async def _name(
    id_: UUID, asked: "Awaitable[User] | Awaitable[Agent] | Awaitable[ToolSpace]"
) -> str:
    try:
        found = await asked
    except NotFound:  # it is of another organization, or was taken away
        return str(id_)
    return getattr(found, "slug", found.name)
