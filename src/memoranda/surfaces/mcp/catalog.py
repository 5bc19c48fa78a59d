"""The tools as an owner is offered them, told without a database."""

from typing import Any, Final

from memoranda.knowledge.service import Knowledge
from memoranda.memories.service import Memories
from memoranda.memories.ways import DEFAULT_WAYS
from memoranda.toolbox import toolbox
from memoranda.tools.models import Decision, Tool, ToolOffer
from memoranda.tools.registry import schemas

NOTHING: Final[Any] = None
"""What tools that are only described stand on."""


def catalog() -> list[ToolOffer]:
    """Every tool; an owner may call all of them, whatever anybody has set."""
    tools = toolbox(
        Memories(NOTHING), DEFAULT_WAYS, Knowledge(NOTHING, max_bytes=0), NOTHING, chars=0
    )
    return [_offered(tool) for tool in tools]


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
