"""The SQL of tool policies."""

from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, select

from memoranda.access.models import Principal, Role
from memoranda.storage import Row, Transaction, one_of, upsert
from memoranda.storage.tables import tool_policies
from memoranda.tools.models import Decision, Tool, ToolPolicy

p = tool_policies.c
BEGINNING: Final = UUID(int=0)
_POLICY: Final = select(*[p[name] for name in ToolPolicy.model_fields])

SET: Final = upsert(
    tool_policies, ["organization_id", "agent_id", "tool"], set_=["decision", "set_by", "set_at"]
)
UNSET: Final = delete(tool_policies).where(
    p.agent_id == bindparam("agent"), p.tool == bindparam("named")
)
DECISION: Final = select(p.decision).where(
    p.agent_id == bindparam("agent"), p.tool == bindparam("named")
)
AGENTS: Final = (
    select(p.agent_id.label("id"))
    .where(p.agent_id > bindparam("after"))
    .group_by(p.agent_id)
    .order_by(p.agent_id)
    .limit(bindparam("most"))
)
OF_AGENTS: Final = _POLICY.where(one_of(p.agent_id, "ids")).order_by(p.agent_id, p.tool)


def decision(tx: Transaction, who: Principal, tool: Tool) -> Decision:
    """What is said of a call of `tool` by `who`; a person, who has no agent, may make every one."""
    if who.role is not Role.AGENT:
        return Decision.ALLOW
    row = tx.one(DECISION, agent=who.agent_id, named=tool.name)
    return tool.default if row is None else Decision(row.decision)


def put(tx: Transaction, policy: ToolPolicy) -> None:
    """Let it be so from now on, whatever was said before."""
    tx.run(SET, **dict(policy))


def drop(tx: Transaction, agent_id: UUID, tool: str) -> bool:
    """Let the default be said again; whether something else was."""
    return tx.run(UNSET, agent=agent_id, named=tool) > 0


def agents_after(tx: Transaction, after: UUID | None, most: int) -> list[Row]:
    """The agents of which something is said, in the order of their ids."""
    return tx.all(AGENTS, after=after or BEGINNING, most=most)


def of_agents(tx: Transaction, agent_ids: list[UUID]) -> list[ToolPolicy]:
    """What is said of these agents, by agent and name of the tool."""
    rows = tx.all(OF_AGENTS, ids=agent_ids)
    return [ToolPolicy.model_validate(row._asdict()) for row in rows]
