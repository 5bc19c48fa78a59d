"""Routes for organizations, users, agents and keys."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from memoranda.access.models import (
    Agent,
    Key,
    NewKey,
    NewOrganization,
    Organization,
    Role,
    User,
)
from memoranda.access.service import MOST_LISTED
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import Body, Cursor, Moment
from memoranda.surfaces.http.product import Product
from memoranda.words.errors import Conflict, NotFound, OverLimit, ReadOnly
from memoranda.words.page import Page

routes = APIRouter(prefix="/v1", tags=["access"], route_class=Operation)

Limit = Annotated[int, Query(ge=1, le=MOST_LISTED)]


class OrganizationToMake(Body):
    """A new tenant."""

    name: str
    external_id: str | None = None


class UserToMake(Body):
    """A new person; `external_id` is what the host calls it."""

    name: str
    external_id: str | None = None


class AgentToMake(Body):
    """A new agent; without a name it is called by its slug."""

    slug: str
    name: str | None = None
    external_id: str | None = None


class KeyToMake(Body):
    """A new key. A member's names its user, an agent's its agent and perhaps a user."""

    role: Role
    name: str = ""
    user_id: UUID | None = None
    agent_id: UUID | None = None
    expires_at: Moment | None = None


@routes.post("/organizations", status_code=201)
@raises(Conflict, ReadOnly)
async def create_organization(
    body: OrganizationToMake, who: Caller, product: Product
) -> NewOrganization:
    """Make an organization, its owner and the owner's first key. The operator's alone."""
    return await product.access.create_organization(who, body.name, body.external_id)


@routes.get("/organizations")
@raises(ReadOnly)
async def list_organizations(
    who: Caller, product: Product, cursor: Cursor = None, limit: Limit = 100
) -> Page[Organization]:
    """List organizations, the oldest first. The operator's alone."""
    return await product.access.organizations(who, limit=limit, cursor=cursor)


@routes.post("/users", status_code=201)
@raises(Conflict, ReadOnly)
async def create_user(body: UserToMake, who: Caller, product: Product) -> User:
    """Make a user of the caller's organization."""
    return await product.access.create_user(who, body.name, body.external_id)


@routes.get("/users")
async def list_users(
    who: Caller, product: Product, cursor: Cursor = None, limit: Limit = 100
) -> Page[User]:
    """List the organization's users, the oldest first."""
    return await product.access.users(who, limit=limit, cursor=cursor)


@routes.get("/users/{user}")
async def get_user(user: str, who: Caller, product: Product) -> User:
    """Get a user by id or external id."""
    return await product.access.user(who, user)


@routes.post("/agents", status_code=201)
@raises(Conflict, ReadOnly)
async def create_agent(body: AgentToMake, who: Caller, product: Product) -> Agent:
    """Make an agent of the caller's organization."""
    return await product.access.create_agent(who, body.slug, body.name, body.external_id)


@routes.get("/agents")
async def list_agents(
    who: Caller, product: Product, cursor: Cursor = None, limit: Limit = 100
) -> Page[Agent]:
    """List the organization's agents, the oldest first."""
    return await product.access.agents(who, limit=limit, cursor=cursor)


@routes.get("/agents/{agent}")
async def get_agent(agent: str, who: Caller, product: Product) -> Agent:
    """Get an agent by id, slug or external id."""
    return await product.access.agent(who, agent)


@routes.post("/keys", status_code=201)
@raises(NotFound, ReadOnly, OverLimit)
async def create_key(body: KeyToMake, who: Caller, product: Product) -> NewKey:
    """Make a key. The answer shows it, this once."""
    return await product.access.create_key(
        who,
        body.role,
        body.name,
        user_id=body.user_id,
        agent_id=body.agent_id,
        expires_at=body.expires_at,
    )


@routes.get("/keys")
async def list_keys(
    who: Caller, product: Product, cursor: Cursor = None, limit: Limit = 100
) -> Page[Key]:
    """List the organization's keys without their secrets, the oldest first."""
    return await product.access.keys(who, limit=limit, cursor=cursor)


@routes.post("/keys/{key_id}/revoke")
@raises(ReadOnly)
async def revoke_key(key_id: UUID, who: Caller, product: Product) -> Key:
    """Revoke a key; it opens nothing from then on."""
    return await product.access.revoke_key(who, key_id)
