"""What a new key may be: pure rules about who grants which role to whom."""

from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, require
from memoranda.words.errors import Invalid
from memoranda.words.inputs import SHORT_TEXT, check_length, check_storable, check_zone


class Grant(BaseModel):
    """A key to be made: everything but its secret and its time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    role: Role
    name: str = ""
    user_id: UUID | None = None
    agent_id: UUID | None = None
    space_id: UUID | None = None
    expires_at: datetime | None = None


def checked(who: Principal, grant: Grant) -> Grant:
    """The grant as it will be stored. Raises `Refused` or `Invalid`, saying what a key of that role needs.

    An operator grants to operators, an owner every other role. An owner's key
    that names no user writes as the owner who made it.
    """
    require(
        who,
        Permission.MANAGE_PLATFORM if grant.role is Role.OPERATOR else Permission.MANAGE_ACCESS,
    )
    check_storable("name", grant.name)
    check_length("name", grant.name, SHORT_TEXT)
    check_zone("expires_at", grant.expires_at)
    if grant.role is Role.MEMBER and grant.user_id is None:
        raise Invalid("A member's key is bound to a user: name one.", field="user_id")
    if grant.role is Role.AGENT and grant.agent_id is None:
        raise Invalid("An agent's key is bound to an agent: name one.", field="agent_id")
    if grant.role is not Role.AGENT and grant.agent_id is not None:
        raise Invalid("Only an agent's key names an agent: leave it out.", field="agent_id")
    if grant.role not in {Role.AGENT, Role.READ_ONLY} and grant.space_id is not None:
        raise Invalid(
            "Only an agent's or a read-only key is bound to a space: leave it out.",
            field="space_id",
        )
    if grant.role in {Role.READ_ONLY, Role.OPERATOR} and grant.user_id is not None:
        raise Invalid(
            f"A key with the role {grant.role} names no user: leave it out.", field="user_id"
        )
    if grant.role is Role.OWNER and grant.user_id is None:
        return grant.model_copy(update={"user_id": who.user_id})
    return grant
