"""Who may read and write which file: asked within the transaction, once it is known which one is meant."""

import logging
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, require
from memoranda.access.store import find_agent, no_agent
from memoranda.files.errors import NotYourFile
from memoranda.files.models import AgentFile, Author, AuthorKind, Named, Place
from memoranda.files.naming import agent_file_name, workspace_name
from memoranda.storage import Transaction
from memoranda.words.errors import Refused

logger = logging.getLogger(__name__)

_ADVICE: Final = "Propose the change instead: it waits until an owner applies it."


def place_of(tx: Transaction, who: Principal, named: Named) -> Place:
    """The file that is meant, which `who` may read: one of an agent's, or without an agent the organization's.

    Raises `UnknownFile`, `NotFound` for an unknown agent, and `NotYourFile` for an agent that
    asks for another one's, whatever it is permitted.
    """
    agent_id = agent_of(tx, who, named.agent)
    require(who, Permission.READ_FILES)
    if agent_id is None:
        return Place(None, workspace_name(named.name).value)
    return Place(agent_id, agent_file_name(named.name).value)


def agent_of(tx: Transaction, who: Principal, agent: UUID | str | None) -> UUID | None:
    """The agent that is named, whose files `who` may know. Raises as `place_of`."""
    if agent is None:
        return None
    found = find_agent(tx, agent)
    if found is None:
        raise no_agent(agent)
    if who.role is Role.AGENT and found.id != who.agent_id:
        logger.warning("Agent %s asked for a file of agent %s.", who.agent_id, found.id)
        raise _not_yours()
    return found.id


def is_own_notes(who: Principal, place: Place) -> bool:
    """Whether it is the one file that an agent writes on its own initiative."""
    own = who.role is Role.AGENT and place.agent_id is not None and place.agent_id == who.agent_id
    return own and place.name == AgentFile.NOTES


def require_write(who: Principal, place: Place) -> None:
    """Return where `who` may write the file by itself. Raises `Refused`, with what to do instead."""
    permission = Permission.WRITE_NOTES if is_own_notes(who, place) else Permission.WRITE_FILES
    try:
        require(who, permission)
    except Refused as refused:
        if who.role in {Role.MEMBER, Role.AGENT}:
            raise Refused(
                f"This key ({who.role.value}) may not {permission.value}. {_ADVICE}"
            ) from refused
        raise


def require_granted(who: Principal, place: Place) -> None:
    """Return where `who`, whom a policy lets write, may write this file: a person as anywhere else.

    An agent writes the organization's files then, and its own; another agent's never.
    """
    if who.role is not Role.AGENT:
        require_write(who, place)
    elif place.agent_id not in {None, who.agent_id}:
        raise _not_yours()


def author_of(who: Principal) -> Author:
    """Who writes: the agent where it is an agent's credential, else the person."""
    kind = AuthorKind.AGENT if who.role is Role.AGENT else AuthorKind.USER
    return Author(kind=kind, user_id=who.user_id, agent_id=who.agent_id)


def _not_yours() -> NotYourFile:
    return NotYourFile("This key acts for one agent alone, and this file is another agent's.")
