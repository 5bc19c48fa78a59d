"""The SQL of access: organizations, users, agents and keys."""

from typing import Any, TypeVar
from uuid import UUID

from pydantic import BaseModel
from sqlalchemy import Select, bindparam, insert, or_, select, update

from memoranda.access.grants import Grant
from memoranda.access.models import Agent, Key, Organization, Principal, Role, Space, User
from memoranda.storage import PLATFORM, Row, Transaction
from memoranda.storage.tables import (
    agents,
    api_keys,
    key_spaces,
    organizations,
    tool_spaces,
    users,
)
from memoranda.words.errors import Invalid, NotFound
from memoranda.words.ids import new_id

V = TypeVar("V", bound=BaseModel)
BEGINNING = UUID(int=0)

_ORGANIZATION = select(*[organizations.c[name] for name in Organization.model_fields])
_USER = select(*[users.c[name] for name in User.model_fields])
_AGENT = select(*[agents.c[name] for name in Agent.model_fields])
_KEY_FIELDS = [api_keys.c[name] for name in Key.model_fields if name != "space_id"]

INSERT_ORGANIZATION = insert(organizations)
ORGANIZATION = _ORGANIZATION
DEFAULT_ORGANIZATION = _ORGANIZATION.where(organizations.c.is_default)
ORGANIZATIONS = (
    _ORGANIZATION.where(organizations.c.id > bindparam("after"))
    .order_by(organizations.c.id)
    .limit(bindparam("most"))
)

INSERT_USER = insert(users)
USER = _USER.where(users.c.id == bindparam("user"))
USER_CALLED = _USER.where(users.c.external_id == bindparam("called"))
USERS = _USER.where(users.c.id > bindparam("after")).order_by(users.c.id).limit(bindparam("most"))

INSERT_AGENT = insert(agents)
AGENT = _AGENT.where(agents.c.id == bindparam("agent"))
# A slug is our own name for an agent, so it goes before what a host calls another one.
AGENT_CALLED = _AGENT.where(
    or_(agents.c.slug == bindparam("called"), agents.c.external_id == bindparam("called"))
).order_by((agents.c.slug == bindparam("called")).desc())
AGENTS = (
    _AGENT.where(agents.c.id > bindparam("after")).order_by(agents.c.id).limit(bindparam("most"))
)

INSERT_KEY = insert(api_keys)
BIND_KEY = insert(key_spaces)
# Held until the commit, so that nobody gives the space to another agent before the key is bound to it.
SPACE = (
    select(tool_spaces.c.agent_id).where(tool_spaces.c.id == bindparam("space")).with_for_update()
)
KEYS_OF_SPACE = (
    select(api_keys.c.id, api_keys.c.agent_id)
    .select_from(api_keys.join(key_spaces, key_spaces.c.key_id == api_keys.c.id))
    .where(key_spaces.c.space_id == bindparam("space"))
)


# The operators' keys are the platform's, which has no spaces.
OPERATORS_KEYS = select(*_KEY_FIELDS)
_BOUND = api_keys.outerjoin(key_spaces, key_spaces.c.key_id == api_keys.c.id)
KEYS = select(*_KEY_FIELDS, key_spaces.c.space_id).select_from(_BOUND)
_IN_SPACE = _BOUND.outerjoin(tool_spaces, tool_spaces.c.id == key_spaces.c.space_id)
HOLDERS = select(
    *_KEY_FIELDS,
    key_spaces.c.space_id,
    tool_spaces.c.space.label("space_name"),
    tool_spaces.c.agent_id.label("space_agent_id"),
    tool_spaces.c.tools.label("space_tools"),
).select_from(_IN_SPACE)


def _by_id(keys: Select[Any]) -> Select[Any]:
    return keys.where(api_keys.c.id == bindparam("key"))


def _by_digest(keys: Select[Any]) -> Select[Any]:
    return keys.where(api_keys.c.secret_hash == bindparam("digest"))


def _after(keys: Select[Any]) -> Select[Any]:
    after = keys.where(api_keys.c.id > bindparam("after"))
    return after.order_by(api_keys.c.id).limit(bindparam("most"))


# By whether it is the platform that is read.
KEY = {True: _by_id(OPERATORS_KEYS), False: _by_id(KEYS)}
KEYS_AFTER = {True: _after(OPERATORS_KEYS), False: _after(KEYS)}
HOLDER = {True: _by_digest(OPERATORS_KEYS), False: _by_digest(HOLDERS)}
REVOKE_KEY = (
    update(api_keys)
    .where(api_keys.c.id == bindparam("key"), api_keys.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("now"))
)


def add_organization(
    tx: Transaction, name: str, external_id: str | None = None, *, is_default: bool = False
) -> tuple[Organization, User]:
    """Make the organization whose id is the transaction's scope, and the user that owns it."""
    scope = tx.scope
    if not isinstance(scope, UUID):
        raise TypeError("An organization is made in its own scope.")
    organization = Organization(
        id=scope,
        name=name,
        external_id=external_id,
        owner_id=new_id(),
        is_default=is_default,
        created_at=tx.now,
    )
    owner = User(id=organization.owner_id, name="Owner", external_id=None, created_at=tx.now)
    tx.run(INSERT_ORGANIZATION, **dict(organization))
    tx.run(INSERT_USER, **dict(owner))
    return organization, owner


def found_organization(
    tx: Transaction, name: str, external_id: str | None, digest: str
) -> tuple[Organization, User, Key]:
    """`add_organization`, with the owner's first key; all of it or nothing."""
    organization, owner = add_organization(tx, name, external_id)
    grant = Grant(role=Role.OWNER, name="First key", user_id=owner.id)
    return organization, owner, add_key(tx, grant, digest)


def default_organization(tx: Transaction) -> Organization | None:
    """The organization of the embedded product, once it was made; in the platform's scope."""
    return _value(Organization, tx.one(DEFAULT_ORGANIZATION))


def own_organization(tx: Transaction) -> Organization:
    """The organization that the transaction is held to. Raises `NotFound` when there is none."""
    found = _value(Organization, tx.one(ORGANIZATION))
    if found is None:
        raise NotFound("This organization does not exist.")
    return found


def organizations_after(tx: Transaction, after: UUID | None, limit: int) -> list[Organization]:
    """Organizations in the order of their making; in the platform's scope all of them."""
    return _values(Organization, tx.all(ORGANIZATIONS, after=after or BEGINNING, most=limit))


def add_user(tx: Transaction, name: str, external_id: str | None) -> User:
    """Make a user."""
    user = User(id=new_id(), name=name, external_id=external_id, created_at=tx.now)
    tx.run(INSERT_USER, **dict(user))
    return user


def user_by_id(tx: Transaction, user_id: UUID) -> User | None:
    """The user, if the organization has it."""
    return _value(User, tx.one(USER, user=user_id))


def find_user(tx: Transaction, name: UUID | str) -> User | None:
    """The user with this id, or else the one that the host calls so."""
    found = user_by_id(tx, key) if (key := _as_id(name)) is not None else None
    return found or _value(User, tx.one(USER_CALLED, called=str(name)))


def users_after(tx: Transaction, after: UUID | None, limit: int) -> list[User]:
    """Users in the order of their making."""
    return _values(User, tx.all(USERS, after=after or BEGINNING, most=limit))


def add_agent(tx: Transaction, slug: str, name: str, external_id: str | None) -> Agent:
    """Make an agent."""
    agent = Agent(id=new_id(), slug=slug, name=name, external_id=external_id, created_at=tx.now)
    tx.run(INSERT_AGENT, **dict(agent))
    return agent


def agent_by_id(tx: Transaction, agent_id: UUID) -> Agent | None:
    """The agent, if the organization has it."""
    return _value(Agent, tx.one(AGENT, agent=agent_id))


def find_agent(tx: Transaction, name: UUID | str) -> Agent | None:
    """The agent with this id, or else with this slug, or else the one that the host calls so."""
    found = agent_by_id(tx, key) if (key := _as_id(name)) is not None else None
    return found or _value(Agent, tx.one(AGENT_CALLED, called=str(name)))


def agents_after(tx: Transaction, after: UUID | None, limit: int) -> list[Agent]:
    """Agents in the order of their making."""
    return _values(Agent, tx.all(AGENTS, after=after or BEGINNING, most=limit))


def check_subject(tx: Transaction, *, user_id: UUID | None, agent_id: UUID | None) -> None:
    """Raise `NotFound` unless the organization has the user and the agent that are named.

    A write that stores either id calls this first: a foreign key alone would
    take another organization's.
    """
    if user_id is not None and tx.one(USER, user=user_id) is None:
        raise no_user(user_id)
    if agent_id is not None and tx.one(AGENT, agent=agent_id) is None:
        raise no_agent(agent_id)


def no_user(name: object) -> NotFound:
    """The refusal of a user that is not there, or not for this caller."""
    return NotFound(
        f"This organization has no user {str(name)!r}. "
        "An owner makes one with: memoranda users create NAME --external-id ID.",
        user=str(name),
    )


def no_agent(name: object) -> NotFound:
    """The refusal of an agent that is not there."""
    return NotFound(
        f"This organization has no agent {str(name)!r}. "
        "An owner makes one with: memoranda agents create SLUG.",
        agent=str(name),
    )


def add_key(tx: Transaction, grant: Grant, digest: str) -> Key:
    """Make a key, known by its digest alone.

    Raises `NotFound` for a user, agent or space of nobody here, `Invalid` for a space of another agent.
    """
    if grant.expires_at is not None and grant.expires_at <= tx.now:
        raise Invalid("expires_at is not in the future: give a later time.", field="expires_at")
    if isinstance(tx.scope, UUID):
        check_subject(tx, user_id=grant.user_id, agent_id=grant.agent_id)
    if grant.space_id is not None:
        _check_space(tx, grant.space_id, grant)
    key_id = new_id()
    columns = grant.model_dump(exclude={"space_id"})
    tx.run(INSERT_KEY, id=key_id, **columns, secret_hash=digest, created_at=tx.now)
    if grant.space_id is not None:
        tx.run(BIND_KEY, key_id=key_id, space_id=grant.space_id)
    organization_id = tx.scope if isinstance(tx.scope, UUID) else None
    return Key(
        id=key_id,
        organization_id=organization_id,
        created_at=tx.now,
        revoked_at=None,
        **dict(grant),
    )


def _check_space(tx: Transaction, space_id: UUID, grant: Grant) -> None:
    space = tx.one(SPACE, space=space_id)
    if space is None:
        raise NotFound(
            f"This organization has no space {space_id}. "
            "An owner publishes one with: memoranda tools publish.",
            space=str(space_id),
        )
    if grant.agent_id != space.agent_id:
        raise Invalid(
            "A key that is bound to a space is its agent's, or a read-only one where it has none.",
            field="agent_id",
        )


def holder(tx: Transaction, digest: str) -> Principal | None:
    """On whose behalf the scope's key with this digest speaks, unless it has expired or was revoked."""
    found = tx.one(HOLDER[tx.scope is PLATFORM], digest=digest)
    if found is None or found.revoked_at is not None:
        return None
    if found.expires_at is not None and found.expires_at <= tx.now:
        return None
    return Principal(
        organization_id=found.organization_id,
        role=found.role,
        user_id=found.user_id,
        agent_id=found.agent_id,
        key_id=found.id,
        space=None if tx.scope is PLATFORM else _space_of(found),
    )


def _space_of(found: Row) -> Space | None:
    if found.space_id is None:
        return None
    return Space(
        id=found.space_id,
        name=found.space_name,
        agent_id=found.space_agent_id,
        tools=tuple(found.space_tools),
    )


def keys_after(tx: Transaction, after: UUID | None, limit: int) -> list[Key]:
    """Keys in the order of their making, revoked and expired ones too."""
    keys = KEYS_AFTER[tx.scope is PLATFORM]
    return _values(Key, tx.all(keys, after=after or BEGINNING, most=limit))


def revoke_key(tx: Transaction, key_id: UUID) -> Key:
    """Refuse the key from now on; one that was revoked before keeps its time. Raises `NotFound`."""
    tx.run(REVOKE_KEY, key=key_id, now=tx.now)
    found = _value(Key, tx.one(KEY[tx.scope is PLATFORM], key=key_id))
    if found is None:
        raise NotFound(f"There is no key {key_id}. List them with: memoranda keys list.")
    return found


def revoke_keys_of_space(tx: Transaction, space_id: UUID) -> None:
    """Refuse every key that is bound to the space from now on."""
    for row in tx.all(KEYS_OF_SPACE, space=space_id):
        tx.run(REVOKE_KEY, key=row.id, now=tx.now)


def revoke_strangers(tx: Transaction, space_id: UUID, agent_id: UUID | None) -> None:
    """Refuse those keys of the space that are not this agent's; None is that of a space without one."""
    for row in tx.all(KEYS_OF_SPACE, space=space_id):
        if row.agent_id != agent_id:
            tx.run(REVOKE_KEY, key=row.id, now=tx.now)


def _value(model: type[V], row: Row | None) -> V | None:
    return None if row is None else model.model_validate(row._asdict())


def _values(model: type[V], rows: list[Row]) -> list[V]:
    return [model.model_validate(row._asdict()) for row in rows]


def _as_id(name: UUID | str) -> UUID | None:
    if isinstance(name, UUID):
        return name
    try:
        return UUID(name)
    except ValueError:
        return None
