"""The verbs of tool policies: set, unset, and what is said of an agent."""

from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for
from memoranda.access.store import find_agent, no_agent
from memoranda.runs.store import record_activity
from memoranda.storage import Row, Storage, Transaction
from memoranda.tools.models import Decision, Effect, Tool, ToolPolicy
from memoranda.tools.policies import store
from memoranda.tools.registry import ToolRegistry
from memoranda.words.cursor import read_cursor
from memoranda.words.errors import Invalid
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import check_count, check_storable, choice_input
from memoranda.words.page import Page, cut_page

MOST_LISTED: Final = 200
ACTIVITY: Final = "tool_policy_set"


@checks_shapes
class ToolPolicies:
    """What each agent may do with each tool. Where nothing is said, it reads, and its writes are asked about.

    An agent is named by its id, its slug or what the host calls it.
    """

    def __init__(self, storage: Storage, registry: ToolRegistry) -> None:
        self._storage = storage
        self._registry = registry

    async def set(
        self, who: Principal, agent: UUID | str, tool: str, decision: Decision
    ) -> ToolPolicy:
        """Say what the agent may do with the tool from the next call on. For owners.

        Raises `NotFound` for an unknown agent or tool, and `Invalid` for `ask` of a tool that
        only reads: an answer that waits for a person would be of no use.
        """
        organization = organization_for(who, Permission.MANAGE_TOOLS)
        known, said = self._registry.tool(tool), choice_input("decision", decision, Decision)
        if said is Decision.ASK and known.effect is Effect.READS:
            raise Invalid(
                f"The tool {known.name} changes nothing, so there is nothing to ask about: allow or deny it.",
                field="decision",
            )
        return await self._storage.write(organization, _set, who, _named(agent), known, said)

    async def unset(self, who: Principal, agent: UUID | str, tool: str) -> ToolPolicy:
        """Let the default be said again of the agent and the tool, and answer it. Raises as `set` does."""
        organization = organization_for(who, Permission.MANAGE_TOOLS)
        known = self._registry.tool(tool)
        return await self._storage.write(organization, _unset, who, _named(agent), known)

    async def of(self, who: Principal, agent: UUID | str) -> list[ToolPolicy]:
        """What the agent may do with every tool that there is, defaults too. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_TOOLS)
        tools = list(self._registry)
        return await self._storage.read(organization, _of, _named(agent), tools)

    async def page(
        self, who: Principal, *, limit: int = 50, cursor: str | None = None
    ) -> Page[ToolPolicy]:
        """All that was set, agent by agent, for at most `limit` agents (1 to 200) at once.

        Defaults are no part of it. Raises `Invalid` for a cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_TOOLS)
        check_count("limit", limit, most=MOST_LISTED)
        after = read_cursor("tool policies", cursor)
        agents, policies = await self._storage.read(organization, _some, after, limit)
        cut: Page[Row] = cut_page("tool policies", agents, limit)
        return Page(items=policies, next_cursor=cut.next_cursor)


def _set(
    tx: Transaction, who: Principal, agent: UUID | str, tool: Tool, decision: Decision
) -> ToolPolicy:
    policy = ToolPolicy(
        agent_id=_agent(tx, agent),
        tool=tool.name,
        decision=decision,
        set_by=who.user_id,
        set_at=tx.now,
    )
    store.put(tx, policy)
    _record(tx, who, policy)
    return policy


def _unset(tx: Transaction, who: Principal, agent: UUID | str, tool: Tool) -> ToolPolicy:
    default = _default(_agent(tx, agent), tool)
    if store.drop(tx, default.agent_id, tool.name):
        _record(tx, who, default)
    return default


def _of(tx: Transaction, agent: UUID | str, tools: list[Tool]) -> list[ToolPolicy]:
    agent_id = _agent(tx, agent)
    said = {each.tool: each for each in store.of_agents(tx, [agent_id])}
    return [said.get(tool.name) or _default(agent_id, tool) for tool in tools]


def _some(tx: Transaction, after: UUID | None, limit: int) -> tuple[list[Row], list[ToolPolicy]]:
    """The agents that follow, one more than asked for, and what is said of those asked for."""
    agents = store.agents_after(tx, after, limit + 1)
    return agents, store.of_agents(tx, [row.id for row in agents[:limit]])


def _default(agent_id: UUID, tool: Tool) -> ToolPolicy:
    return ToolPolicy(
        agent_id=agent_id,
        tool=tool.name,
        decision=tool.default,
        set_by=None,
        set_at=None,
    )


def _record(tx: Transaction, who: Principal, policy: ToolPolicy) -> None:
    record_activity(
        tx,
        ACTIVITY,
        subject_id=policy.agent_id,
        user_id=who.user_id,
        tool=policy.tool,
        decision=policy.decision,
        default=policy.set_at is None,
    )


def _agent(tx: Transaction, agent: UUID | str) -> UUID:
    found = find_agent(tx, agent)
    if found is None:
        raise no_agent(agent)
    return found.id


def _named(agent: UUID | str) -> UUID | str:
    check_storable("agent", str(agent))
    return agent
