"""Two organizations with people and agents, for tests that need somebody to act."""

from dataclasses import dataclass

from memoranda.access.models import LOCAL_OPERATOR, Agent, Principal, Role, User
from memoranda.access.service import Access
from memoranda.storage import Storage


@dataclass(frozen=True)
class Tenant:
    """An organization: its owner, two members with their users, and two agents."""

    owner: Principal
    anna: User
    ben: User
    scout: Agent
    clerk: Agent

    def member(self, user: User) -> Principal:
        return Principal(
            organization_id=self.owner.organization_id, role=Role.MEMBER, user_id=user.id
        )

    def key_of(self, agent: Agent, user: User | None = None) -> Principal:
        return Principal(
            organization_id=self.owner.organization_id,
            role=Role.AGENT,
            agent_id=agent.id,
            user_id=user.id if user else None,
        )

    @property
    def reader(self) -> Principal:
        return Principal(organization_id=self.owner.organization_id, role=Role.READ_ONLY)


async def new_tenant(storage: Storage, name: str = "Acme") -> Tenant:
    access = Access(storage)
    made = await access.create_organization(LOCAL_OPERATOR, name)
    owner = Principal(organization_id=made.organization.id, role=Role.OWNER, user_id=made.owner.id)
    return Tenant(
        owner=owner,
        anna=await access.create_user(owner, "Anna"),
        ben=await access.create_user(owner, "Ben"),
        scout=await access.create_agent(owner, "scout"),
        clerk=await access.create_agent(owner, "clerk"),
    )
