"""The verbs of access: who a key speaks for, and the making of organizations, users, agents and keys."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Final
from uuid import UUID

from memoranda.access import keys, store
from memoranda.access.conflicts import naming
from memoranda.access.grants import Grant, checked
from memoranda.access.models import (
    Agent,
    Key,
    NewKey,
    NewOrganization,
    Organization,
    Principal,
    Role,
    User,
)
from memoranda.access.roles import Permission, organization_for, organization_of, require, sees_user
from memoranda.storage import PLATFORM, ConstraintViolated, Scope, Storage, Transaction
from memoranda.words.cursor import read_cursor
from memoranda.words.errors import Invalid, Unauthenticated
from memoranda.words.given import checks_shapes
from memoranda.words.ids import new_id
from memoranda.words.inputs import check_count, check_storable, optional_text_input, text_input
from memoranda.words.page import Page, Row, cut_page

MOST_LISTED: Final = 500
_SLUG: Final = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")


@checks_shapes
class Access:
    """Organizations, their users and agents, and the keys that open them.

    What lists them comes in pages, and raises `Invalid` for a cursor of another list.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def authenticate(self, key: str) -> Principal:
        """On whose behalf `key` speaks.

        Raises `Unauthenticated`, in the same words whether the key is malformed,
        unknown, of another organization, expired or revoked.
        """
        scope = keys.scope_of(key)
        found = (
            None
            if scope is None
            else await self._storage.read(scope, store.holder, keys.digest(key))
        )
        if found is None:
            raise Unauthenticated(
                "This key opens nothing: it is unknown, expired or revoked. "
                "Make another with: memoranda keys create."
            )
        return found

    async def ensure_default(self) -> Principal:
        """The owner of the default organization, which is made when it is not there yet.

        However many processes ask at once, one organization is made.
        """
        found = await self._storage.read(PLATFORM, store.default_organization)
        if found is None:
            found = await self._make_default()
        return Principal(organization_id=found.id, role=Role.OWNER, user_id=found.owner_id)

    async def _make_default(self) -> Organization:
        try:
            made, _ = await self._storage.write(
                new_id(), store.add_organization, "Default", is_default=True
            )
        except ConstraintViolated:
            # Somebody was first, and has committed: only then is ours refused.
            found = await self._storage.read(PLATFORM, store.default_organization)
            if found is None:
                raise
            return found
        return made

    async def create_organization(
        self, who: Principal, name: str, external_id: str | None = None
    ) -> NewOrganization:
        """Make an organization with its owner and the owner's first key. The operator's alone.

        Raises `Conflict` when the external id is in use.
        """
        require(who, Permission.MANAGE_PLATFORM)
        name = text_input("name", name)
        external_id = optional_text_input("external_id", external_id)
        scope = new_id()
        secret = keys.mint(scope)
        with naming(external_id=external_id):
            organization, owner, key = await self._storage.write(
                scope, store.found_organization, name, external_id, keys.digest(secret)
            )
        return NewOrganization(
            organization=organization, owner=owner, key=NewKey(**dict(key), key=secret)
        )

    async def organizations(
        self, who: Principal, *, limit: int = 100, cursor: str | None = None
    ) -> Page[Organization]:
        """All organizations in the order of their making, at most `limit` (1 to 500). The operator's alone."""
        require(who, Permission.MANAGE_PLATFORM)
        return await self._page(PLATFORM, "organizations", store.organizations_after, limit, cursor)

    async def organization(self, who: Principal) -> Organization:
        """The caller's own organization."""
        return await self._storage.read(organization_of(who), store.own_organization)

    async def create_user(self, who: Principal, name: str, external_id: str | None = None) -> User:
        """Make a user. Raises `Conflict` when the external id is in use in this organization."""
        organization = organization_for(who, Permission.MANAGE_ACCESS)
        name = text_input("name", name)
        external_id = optional_text_input("external_id", external_id)
        with naming(external_id=external_id):
            return await self._storage.write(organization, store.add_user, name, external_id)

    async def users(
        self, who: Principal, *, limit: int = 100, cursor: str | None = None
    ) -> Page[User]:
        """The organization's users in the order of their making, at most `limit` (1 to 500)."""
        organization = organization_for(who, Permission.READ_USERS)
        return await self._page(organization, "users", store.users_after, limit, cursor)

    async def user(self, who: Principal, name: UUID | str) -> User:
        """The user with this id or external id.

        Raises `NotFound`, also for any user but its own when the key is bound to one.
        """
        check_storable("user", str(name))
        found = await self._storage.read(organization_of(who), store.find_user, name)
        if found is None or not sees_user(who, found.id):
            raise store.no_user(name)
        return found

    async def create_agent(
        self, who: Principal, slug: str, name: str | None = None, external_id: str | None = None
    ) -> Agent:
        """Make an agent; without a name it is called by its slug.

        A slug has 1 to 64 of a-z, 0-9, `-` and `_`, with neither of the last two at
        an end. Raises `Conflict` when the slug or external id is in use in this organization.
        """
        organization = organization_for(who, Permission.MANAGE_ACCESS)
        if not _SLUG.fullmatch(slug):
            raise Invalid(
                "A slug has 1 to 64 of the characters a-z, 0-9, - and _, and begins and ends with one of a-z and 0-9.",
                field="slug",
            )
        name = optional_text_input("name", name) or slug
        external_id = optional_text_input("external_id", external_id)
        with naming(slug=slug, external_id=external_id):
            return await self._storage.write(organization, store.add_agent, slug, name, external_id)

    async def agents(
        self, who: Principal, *, limit: int = 100, cursor: str | None = None
    ) -> Page[Agent]:
        """The organization's agents in the order of their making, at most `limit` (1 to 500)."""
        organization = organization_for(who, Permission.READ_AGENTS)
        return await self._page(organization, "agents", store.agents_after, limit, cursor)

    async def agent(self, who: Principal, name: UUID | str) -> Agent:
        """The agent with this id, slug or external id. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_AGENTS)
        check_storable("agent", str(name))
        found = await self._storage.read(organization, store.find_agent, name)
        if found is None:
            raise store.no_agent(name)
        return found

    async def create_key(
        self,
        who: Principal,
        role: Role,
        name: str = "",
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        space_id: UUID | None = None,
        expires_at: datetime | None = None,
    ) -> NewKey:
        """Make a key and return it, this once: only its digest is kept.

        A member's key names its user, an agent's its agent and perhaps the user that
        it runs for. One with a space calls the tools of that space and does nothing else: it
        is an agent's, or a read-only one where the space has no agent. Raises `Refused`,
        `Invalid`, or `NotFound` for a user, agent or space that this organization does not have.
        """
        grant = Grant(
            role=role,
            name=name,
            user_id=user_id,
            agent_id=agent_id,
            space_id=space_id,
            expires_at=expires_at,
        )
        grant = checked(who, grant)
        scope = _scope_of(who)
        secret = keys.mint(scope)
        key = await self._storage.write(scope, store.add_key, grant, keys.digest(secret))
        return NewKey(**dict(key), key=secret)

    async def keys(
        self, who: Principal, *, limit: int = 100, cursor: str | None = None
    ) -> Page[Key]:
        """The organization's or the operators' keys without their secrets, at most `limit` (1 to 500)."""
        _require_keys(who, Permission.READ_KEYS)
        return await self._page(_scope_of(who), "keys", store.keys_after, limit, cursor)

    async def revoke_key(self, who: Principal, key_id: UUID) -> Key:
        """Refuse the key from now on, again and again without harm. Raises `NotFound`."""
        _require_keys(who, Permission.MANAGE_ACCESS)
        return await self._storage.write(_scope_of(who), store.revoke_key, key_id)

    async def _page(
        self,
        scope: Scope,
        listing: str,
        rows_after: Callable[[Transaction, UUID | None, int], list[Row]],
        limit: int,
        cursor: str | None,
    ) -> "Page[Row]":  # quoted: a model can't check the bound of Row
        check_count("limit", limit, most=MOST_LISTED)
        after = read_cursor(listing, cursor)
        found = await self._storage.read(scope, rows_after, after, limit + 1)
        return cut_page(listing, found, limit)


def _scope_of(who: Principal) -> Scope:
    return PLATFORM if who.organization_id is None else who.organization_id


def _require_keys(who: Principal, permission: Permission) -> None:
    require(who, Permission.MANAGE_PLATFORM if who.role is Role.OPERATOR else permission)
