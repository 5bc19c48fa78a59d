"""The values of access: who is there, what opens a door, and on whose behalf a call is made."""

from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field


class Role(StrEnum):
    """What a key is for. `access.roles` says what each may do."""

    OWNER = "owner"
    MEMBER = "member"
    AGENT = "agent"
    READ_ONLY = "read_only"
    OPERATOR = "operator"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Space(_Value):
    """The node of a workflow that a key is bound to: what its memories carry, and the tools it calls."""

    id: UUID
    name: str
    agent_id: UUID | None
    tools: tuple[str, ...]


class Principal(_Value):
    """On whose behalf a call is made; every verb takes one first.

    `organization_id` is None for the operator alone. `user_id` and `agent_id`
    bind a member's and an agent's calls; for an owner, `user_id` only says who writes.
    With a `space`, it calls the tools of that space and knows the memories of that space alone.
    """

    organization_id: UUID | None
    role: Role
    user_id: UUID | None = None
    agent_id: UUID | None = None
    key_id: UUID | None = None
    space: Space | None = None


LOCAL_OPERATOR: Final = Principal(organization_id=None, role=Role.OPERATOR)
"""Whoever opened the database itself, and so needs no key to be its operator."""


class Organization(_Value):
    """One tenant. `owner_id` is the user that it was made with."""

    id: UUID
    name: str
    external_id: str | None
    owner_id: UUID
    is_default: bool
    created_at: datetime


class User(_Value):
    """A person of an organization; `external_id` is what the host calls it."""

    id: UUID
    name: str
    external_id: str | None
    created_at: datetime


class Agent(_Value):
    """An agent of an organization; `slug` is its name in commands and addresses."""

    id: UUID
    slug: str
    name: str
    external_id: str | None
    created_at: datetime


class Key(_Value):
    """A credential without its secret, which nobody can read again."""

    id: UUID
    organization_id: UUID | None
    name: str
    role: Role
    user_id: UUID | None
    agent_id: UUID | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    space_id: UUID | None = None


class NewKey(Key):
    """A key just made: `key` holds the credential, this once."""

    key: str = Field(repr=False)


class NewOrganization(_Value):
    """An organization just made, its owner, and the owner's first key."""

    organization: Organization
    owner: User
    key: NewKey
