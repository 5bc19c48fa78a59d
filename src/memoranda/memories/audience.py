"""Who may know a memory: one rule for lists, lookups and context sources."""

from typing import Final, NamedTuple, Self
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import subject_of
from memoranda.words.errors import Refused
from memoranda.words.ref import ResourceRef
from memoranda.words.subject import ContextSubject

_ALL_OF_IT: Final = {Role.OWNER, Role.READ_ONLY}


class Audience(NamedTuple):
    """For whom a memory is; an unset part means everybody in the organization.

    `space` belongs to the one tool that is bound to it, and to no subject.
    """

    user_id: UUID | None = None
    agent_id: UUID | None = None
    space: str | None = None

    @classmethod
    def of(cls, subject: ContextSubject) -> Self:
        """The audience that a memory written for `subject` gets."""
        return cls(user_id=subject.user_id, agent_id=subject.agent_id)

    def covers(self, subject: ContextSubject) -> bool:
        """Whether `subject` may know it.

        A subject without a user knows only what is no user's; a subject without an
        agent is not held to any agent.
        """
        return (
            self.space is None
            and self.user_id in {None, subject.user_id}
            and (subject.agent_id is None or self.agent_id in {None, subject.agent_id})
        )

    @property
    def spelled(self) -> str:
        """All three parts as one text that no other audience has: ids have one length, the space is last."""
        parts = []
        if self.user_id is not None:
            parts.append(f"user={self.user_id.hex}")
        if self.agent_id is not None:
            parts.append(f"agent={self.agent_id.hex}")
        if self.space is not None:
            parts.append(f"space={self.space}")
        return ";".join(parts) or "all"

    def owner(self, organization_id: UUID) -> ResourceRef:
        """Whose facts these are, which is what a subject key without an entity begins with."""
        if self.user_id is not None:
            return ResourceRef(kind="user", id=str(self.user_id))
        return ResourceRef(kind="organization", id=str(organization_id))


def audience_of(
    who: Principal, agent_id: UUID | None = None, user_id: UUID | None = None
) -> Audience:
    """The audience of what `who` writes for the user and agent named; unset means all.

    A key of a space writes for that space, and for its user where it has one; its agent may
    change, and what it knows stays. Raises `Refused` for a user or agent that is not the caller's to name.
    """
    if who.space is None:
        return Audience.of(subject_of(who, agent_id, user_id))
    if agent_id is not None or user_id not in {None, who.user_id}:
        raise Refused("A key that is bound to a space writes for that space alone: name nobody.")
    return Audience(user_id=who.user_id, space=who.space.name)


def sees_everything(who: Principal) -> bool:
    """Whether the role reads all memories of its organization, whoever they are for."""
    return who.space is None and who.role in _ALL_OF_IT


def may_know(who: Principal, audience: Audience) -> bool:
    """Whether `who` may read a memory of this audience; one that may not is told that it is not there."""
    if who.space is not None:
        return audience.space == who.space.name and audience.user_id in {None, who.user_id}
    return sees_everything(who) or audience.covers(subject_of(who))


def may_change(who: Principal, audience: Audience) -> bool:
    """Whether a caller that may write and read it may also change it.

    A member changes only what is its user's, an agent what is that agent's or its space's.
    """
    if who.role is Role.MEMBER:
        return audience.user_id == who.user_id
    if who.role is Role.AGENT and who.space is None:
        return audience.agent_id == who.agent_id
    return True
