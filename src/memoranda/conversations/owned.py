"""For whom a host keeps what its framework gives it: a user of its own, or nobody. Pure."""

from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, organization_for, subject_of
from memoranda.words.errors import Refused


def organization_of_host(who: Principal, permission: Permission) -> UUID:
    """The organization that a host acts in. Raises `Refused`, also for an agent's key.

    These rows name no agent, so that an agent's key could see what other agents were told.
    """
    organization = organization_for(who, permission)
    if who.role is Role.AGENT:
        raise Refused(
            "What a framework keeps is its host's: use an owner's key, or one of the user's own."
        )
    return organization


def user_of_host(who: Principal, user_id: UUID | None) -> UUID | None:
    """The user that is meant: for a member its own. Raises `Refused` for another's."""
    return subject_of(who, None, user_id).user_id
