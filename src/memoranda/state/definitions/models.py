"""The values of definitions: what is written of an agent, a workflow or a skill, and who sees it."""

from collections.abc import Callable, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias
from uuid import UUID

from pydantic import BaseModel, ConfigDict

LONGEST_SUMMARY: Final = 1_000
LONGEST_NODE_ID: Final = 120
MOST_BODY_BYTES: Final = 65_536
"""Bytes of UTF-8 that a skill's own text may have."""
HIGHEST_PRIORITY: Final = 1_000
MOST_SKILLS: Final = 50
"""Skills that an agent may be bound to."""
MOST_NODES: Final = 200
MOST_TOOLS: Final = 100
MOST_VIEWERS: Final = 500

REF_KIND: Final = "definition"
"""The kind of every ref to a definition."""


class DefinitionKind(StrEnum):
    """What is defined."""

    AGENT = "agent"
    WORKFLOW = "workflow"
    SKILL = "skill"


class Visibility(StrEnum):
    """Whom a published definition is for: everybody of the organization, or those who are named."""

    ORGANIZATION = "organization"
    VIEWERS = "viewers"


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Node(_Value):
    """A step of a workflow: which tools it may call, and in whose name, by an agent's slug."""

    id: str
    agent: str | None = None
    tools: list[str] = []


class Viewers(_Value):
    """The users and agents that see a definition which is not for everybody."""

    user_ids: list[UUID] = []
    agent_ids: list[UUID] = []


class DefinitionText(_Value):
    """What an owner says of a definition. Only a workflow has nodes, and only an agent's names an agent.

    Only a skill has a `body`: the text that agents which are bound to it are given.

    Without `viewers`, everybody of the organization sees it once it is published.
    """

    name: str
    summary: str = ""
    body: str = ""
    agent_id: UUID | None = None
    nodes: list[Node] = []
    viewers: Viewers | None = None


class Definition(DefinitionText):
    """A definition as it stands. It is told to runs while it has a time of publishing."""

    id: UUID
    kind: DefinitionKind
    slug: str
    version: int
    created_at: datetime
    updated_at: datetime
    published_at: datetime | None


class DefinitionSummary(_Value):
    """What a run is told of a published definition. It never holds instructions."""

    id: UUID
    kind: DefinitionKind
    name: str
    summary: str


class BoundSkill(_Value):
    """A skill that an agent is bound to. A higher priority is cut later; it is given while it is published."""

    definition_id: UUID
    slug: str
    name: str
    priority: int
    published: bool
    bound_at: datetime


class Skill(_Value):
    """A skill as an agent is given it."""

    definition_id: UUID
    name: str
    body: str
    priority: int


CheckTools: TypeAlias = Callable[[str, Sequence[str], str | None], None]
"""Given a node's id, its tools and its agent, if any: raises where it may not call them so."""
