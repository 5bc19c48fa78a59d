"""The SQL of skills that agents are bound to."""

from typing import Final
from uuid import UUID

from sqlalchemy import bindparam, delete, func, select

from memoranda.state.definitions.models import BoundSkill, DefinitionKind, Skill
from memoranda.storage import Transaction, upsert
from memoranda.storage.tables import agent_skills, definitions

b, d = agent_skills.c, definitions.c

BIND: Final = upsert(
    agent_skills, ["organization_id", "agent_id", "definition_id"], set_=["priority"]
)
UNBIND: Final = delete(agent_skills).where(
    b.agent_id == bindparam("agent"), b.definition_id == bindparam("skill")
)
BOUND: Final = (
    select(b.definition_id, d.slug, d.name, b.priority, d.published_at, b.bound_at)
    .select_from(agent_skills.join(definitions, d.id == b.definition_id))
    .where(b.agent_id == bindparam("agent"))
    .order_by(b.priority.desc(), d.folded_name, d.id)
)
GIVEN: Final = (
    select(b.definition_id, d.name, d.body, b.priority)
    .select_from(agent_skills.join(definitions, d.id == b.definition_id))
    .where(b.agent_id == bindparam("agent"), d.published_at.is_not(None))
    .order_by(b.priority, d.folded_name.desc(), d.id.desc())
)
COUNT: Final = select(func.count().label("number")).where(
    b.agent_id == bindparam("agent"), b.definition_id != bindparam("but")
)
SKILL: Final = select(d.id).where(d.id == bindparam("skill"), d.kind == DefinitionKind.SKILL.value)


def is_skill(tx: Transaction, definition_id: UUID) -> bool:
    """Whether the organization has a skill of that id."""
    return tx.one(SKILL, skill=definition_id) is not None


def others(tx: Transaction, agent_id: UUID, definition_id: UUID) -> int:
    """How many other skills the agent is bound to."""
    row = tx.one(COUNT, agent=agent_id, but=definition_id)
    return 0 if row is None else int(row.number)


def bind(tx: Transaction, agent_id: UUID, definition_id: UUID, priority: int) -> None:
    """Bind the agent to the skill, or say its priority anew."""
    tx.run(BIND, agent_id=agent_id, definition_id=definition_id, priority=priority, bound_at=tx.now)


def unbind(tx: Transaction, agent_id: UUID, definition_id: UUID) -> bool:
    """Take the binding away, and say whether there was one."""
    return tx.run(UNBIND, agent=agent_id, skill=definition_id) > 0


def bound(tx: Transaction, agent_id: UUID) -> list[BoundSkill]:
    """The skills that the agent is bound to, the highest priority first, then by name."""
    return [
        BoundSkill(
            definition_id=row.definition_id,
            slug=row.slug,
            name=row.name,
            priority=row.priority,
            published=row.published_at is not None,
            bound_at=row.bound_at,
        )
        for row in tx.all(BOUND, agent=agent_id)
    ]


def given(tx: Transaction, agent_id: UUID) -> list[Skill]:
    """The published skills that the agent is given, in that order backwards: the last is cut last."""
    return [Skill.model_validate(row._asdict()) for row in tx.all(GIVEN, agent=agent_id)]
