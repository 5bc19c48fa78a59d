"""The tools as an owner is offered them, told without a database."""

from typing import Any, Final
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.files.service import Files
from memoranda.knowledge.service import Knowledge
from memoranda.memories.service import Memories
from memoranda.memories.ways import DEFAULT_WAYS
from memoranda.toolbox import toolbox
from memoranda.tools.models import Decision, Tool, ToolOffer
from memoranda.tools.registry import schemas

NOTHING: Final[Any] = None
"""What tools that are only described stand on."""
OWNER: Final = Principal(organization_id=UUID(int=0), role=Role.OWNER)
"""Whose tools are told: any owner's."""


def catalog() -> list[ToolOffer]:
    """Every tool that an owner is offered, who may call it whatever anybody has set."""
    memories, knowledge = Memories(NOTHING), Knowledge(NOTHING, max_bytes=0)
    tools = toolbox(
        memories,
        DEFAULT_WAYS,
        knowledge,
        NOTHING,
        Files(NOTHING),
        said=NOTHING,
        meter=NOTHING,
        chars=0,
    )
    return [_offered(tool) for tool in tools if tool.offered(OWNER, Decision.ALLOW)]


def _offered(tool: Tool) -> ToolOffer:
    takes, answers = schemas(tool)
    return ToolOffer(
        name=tool.name,
        description=tool.description,
        effect=tool.effect,
        decision=Decision.ALLOW,
        input_schema=takes,
        answer_schema=answers,
    )
