"""Organizations, users, agents and keys."""

from datetime import datetime

from memoranda.access.models import Agent, Key, NewKey, NewOrganization, Organization, Role, User
from memoranda.client.call import Call, Id, given
from memoranda.words.page import Page


def create_organization(name: str, *, external_id: str | None = None) -> Call[NewOrganization]:
    """Make an organization, its owner and the owner's first key. The operator's alone."""
    return Call(
        "POST", "/v1/organizations", NewOrganization, body=given(name=name, external_id=external_id)
    )


def list_organizations(*, cursor: str | None = None, limit: int = 100) -> Call[Page[Organization]]:
    """List organizations, the oldest first. The operator's alone."""
    return Call(
        "GET", "/v1/organizations", Page[Organization], query=given(cursor=cursor, limit=limit)
    )


def create_user(name: str, *, external_id: str | None = None) -> Call[User]:
    """Make a user of the caller's organization."""
    return Call("POST", "/v1/users", User, body=given(name=name, external_id=external_id))


def list_users(*, cursor: str | None = None, limit: int = 100) -> Call[Page[User]]:
    """List the organization's users, the oldest first."""
    return Call("GET", "/v1/users", Page[User], query=given(cursor=cursor, limit=limit))


def get_user(user: Id) -> Call[User]:
    """Get a user by id or external id."""
    return Call("GET", "/v1/users/{user}", User, at={"user": user})


def create_agent(
    slug: str, *, name: str | None = None, external_id: str | None = None
) -> Call[Agent]:
    """Make an agent of the caller's organization."""
    return Call(
        "POST", "/v1/agents", Agent, body=given(slug=slug, name=name, external_id=external_id)
    )


def list_agents(*, cursor: str | None = None, limit: int = 100) -> Call[Page[Agent]]:
    """List the organization's agents, the oldest first."""
    return Call("GET", "/v1/agents", Page[Agent], query=given(cursor=cursor, limit=limit))


def get_agent(agent: Id) -> Call[Agent]:
    """Get an agent by id, slug or external id."""
    return Call("GET", "/v1/agents/{agent}", Agent, at={"agent": agent})


def create_key(
    role: Role,
    *,
    name: str = "",
    user_id: Id | None = None,
    agent_id: Id | None = None,
    expires_at: datetime | None = None,
) -> Call[NewKey]:
    """Make a key. The answer shows it, this once."""
    return Call(
        "POST",
        "/v1/keys",
        NewKey,
        body=given(role=role, name=name, user_id=user_id, agent_id=agent_id, expires_at=expires_at),
    )


def list_keys(*, cursor: str | None = None, limit: int = 100) -> Call[Page[Key]]:
    """List the organization's keys without their secrets, the oldest first."""
    return Call("GET", "/v1/keys", Page[Key], query=given(cursor=cursor, limit=limit))


def revoke_key(key_id: Id) -> Call[Key]:
    """Revoke a key; it opens nothing from then on."""
    return Call("POST", "/v1/keys/{key_id}/revoke", Key, at={"key_id": key_id})
