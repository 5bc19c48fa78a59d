"""Two organizations on a database, each with people and keys, for clients that come from outside."""

from dataclasses import dataclass
from typing import Any

from memoranda.access.models import LOCAL_OPERATOR, Agent, Principal, Role, User
from memoranda.access.service import Access
from memoranda.memories.service import Memories
from memoranda.storage import Storage


@dataclass(frozen=True)
class Tenant:
    """An organization, its two people and its agent, and a key of each."""

    owner: Principal
    anna: User
    ben: User
    scout: Agent
    keys: dict[str, str]


@dataclass(frozen=True)
class Two:
    """Two organizations that have nothing to do with each other, and what was remembered in both."""

    url: str
    acme: Tenant
    zeta: Tenant
    memories: dict[str, str]
    """The ids of memories, by the word that is in them alone."""


async def two_organizations(url: str) -> Two:
    """Make both organizations, and what they remember."""
    storage = await Storage.open(url)
    try:
        acme, zeta = [await _tenant(storage, name) for name in ("Acme", "Zeta")]
        memories = Memories(storage)
        kept = {}
        for tenant, word, bound in (
            (acme, "everyone", {}),
            (acme, "annas", {"user_id": acme.anna.id}),
            (acme, "bens", {"user_id": acme.ben.id}),
            (acme, "scouts", {"agent_id": acme.scout.id}),
            (acme, "123", {"user_id": acme.ben.id}),
            (zeta, "zetas", {}),
            (zeta, "zetanna", {"user_id": zeta.anna.id}),
        ):
            memory = await memories.remember(tenant.owner, f"The word is {word}.", **bound)
            kept[word] = str(memory.id)
        return Two(url, acme, zeta, kept)
    finally:
        await storage.close()


async def _tenant(storage: Storage, name: str) -> Tenant:
    access = Access(storage)
    made = await access.create_organization(LOCAL_OPERATOR, name)
    owner = Principal(organization_id=made.organization.id, role=Role.OWNER, user_id=made.owner.id)
    anna, ben = [await access.create_user(owner, person) for person in ("Anna", "Ben")]
    scout = await access.create_agent(owner, "scout")

    async def key(role: Role, **bound: Any) -> str:
        return (await access.create_key(owner, role, **bound)).key

    keys = {
        "owner": made.key.key,
        "anna": await key(Role.MEMBER, user_id=anna.id),
        "ben": await key(Role.MEMBER, user_id=ben.id),
        "scout": await key(Role.AGENT, agent_id=scout.id),
        "reader": await key(Role.READ_ONLY),
    }
    return Tenant(owner, anna, ben, scout, keys)
