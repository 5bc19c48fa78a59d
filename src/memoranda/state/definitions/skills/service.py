"""The verbs of an agent's skills: bind them, say which come first, take them away."""

from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for, subject_of
from memoranda.access.store import find_agent, no_agent
from memoranda.runs.store import record_activity
from memoranda.state.definitions.models import HIGHEST_PRIORITY, MOST_SKILLS, BoundSkill
from memoranda.state.definitions.skills import store
from memoranda.storage import Storage, Transaction
from memoranda.words.errors import Invalid, NotFound, OverLimit
from memoranda.words.given import checks_shapes


@checks_shapes
class AgentSkills:
    """Which skills an agent is given. `agent` is an id, a slug or an external id."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def bind(
        self, who: Principal, agent: UUID | str, definition_id: UUID, *, priority: int = 0
    ) -> list[BoundSkill]:
        """Give the agent a skill from its next run on, once it is published; all that it has then. For owners.

        Where not all skills have room, those of the higher priority (0 to 1,000) are cut later. Who
        is bound already only gets the priority. Raises `NotFound` for an unknown agent or skill,
        `Invalid` for the priority, and `OverLimit` beyond 50 skills.
        """
        organization = organization_for(who, Permission.WRITE_STATE)
        if not 0 <= priority <= HIGHEST_PRIORITY:
            raise Invalid(
                f"priority is {priority} and must be between 0 and {HIGHEST_PRIORITY}.",
                field="priority",
            )
        return await self._storage.write(organization, _bind, who, agent, definition_id, priority)

    async def unbind(
        self, who: Principal, agent: UUID | str, definition_id: UUID
    ) -> list[BoundSkill]:
        """Take the skill away from the agent; those that it still has. For owners. Raises `NotFound`."""
        organization = organization_for(who, Permission.WRITE_STATE)
        return await self._storage.write(organization, _unbind, who, agent, definition_id)

    async def bound(self, who: Principal, agent: UUID | str) -> list[BoundSkill]:
        """The agent's skills, the highest priority first. Raises `NotFound`, and `Refused` for another agent's key."""
        organization = organization_for(who, Permission.READ_STATE)
        return await self._storage.read(organization, _bound, who, agent)


def _agent_id(tx: Transaction, agent: UUID | str) -> UUID:
    found = find_agent(tx, agent)
    if found is None:
        raise no_agent(agent)
    return found.id


def _bind(
    tx: Transaction, who: Principal, agent: UUID | str, definition_id: UUID, priority: int
) -> list[BoundSkill]:
    agent_id = _agent_id(tx, agent)
    tx.lock(f"skills of {agent_id}")
    if not store.is_skill(tx, definition_id):
        raise NotFound(
            f"There is no skill {definition_id}. `memoranda definitions list --kind skill` shows those there are.",
            definition=str(definition_id),
        )
    if store.others(tx, agent_id, definition_id) >= MOST_SKILLS:
        raise OverLimit(
            f"An agent may have {MOST_SKILLS} skills: take one away first.",
            field="definition_id",
            limit=MOST_SKILLS,
        )
    store.bind(tx, agent_id, definition_id, priority)
    _record(tx, "skill_bound", who, agent_id, definition_id)
    return store.bound(tx, agent_id)


def _unbind(
    tx: Transaction, who: Principal, agent: UUID | str, definition_id: UUID
) -> list[BoundSkill]:
    agent_id = _agent_id(tx, agent)
    if not store.unbind(tx, agent_id, definition_id):
        raise NotFound(
            f"The agent does not have the skill {definition_id}.", definition=str(definition_id)
        )
    _record(tx, "skill_unbound", who, agent_id, definition_id)
    return store.bound(tx, agent_id)


def _bound(tx: Transaction, who: Principal, agent: UUID | str) -> list[BoundSkill]:
    agent_id = _agent_id(tx, agent)
    subject_of(who, agent_id, who.user_id)
    return store.bound(tx, agent_id)


def _record(
    tx: Transaction, what: str, who: Principal, agent_id: UUID, definition_id: UUID
) -> None:
    record_activity(tx, what, subject_id=definition_id, user_id=who.user_id, agent_id=agent_id)
