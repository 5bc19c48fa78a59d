"""Which tools a node of a workflow may call: those that there are, and none that writes without an agent."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from memoranda.tools.errors import NotInSpaces, WriterNeedsAgent
from memoranda.tools.models import Effect, Tool
from memoranda.tools.registry import ToolRegistry


def check_writers(what: str, tools: Iterable[Tool], agent: object, **details: Any) -> None:
    """Raise `WriterNeedsAgent`, with the details, where one of the tools writes and no agent is named."""
    writers = [tool.name for tool in tools if tool.effect is Effect.WRITES]
    if writers and agent is None:
        raise WriterNeedsAgent(
            f"A {what} that writes needs an agent ({', '.join(writers)}): name one, or leave these tools out.",
            **details,
            tools=writers,
        )


def check_spaces(tools: Iterable[Tool], **details: Any) -> None:
    """Raise `NotInSpaces`, with the details, where one of the tools can't work in a space."""
    others = [tool.name for tool in tools if not tool.in_spaces]
    if others:
        raise NotInSpaces(
            f"No space can call {', '.join(others)}, which needs what a space has not: leave it out, and "
            "let an agent's own key call it.",
            **details,
            tools=others,
        )


def node_check(registry: ToolRegistry) -> Callable[[str, Sequence[str], str | None], None]:
    """A check of a node by its id, its tools and its agent. It raises `UnknownTool` and `WriterNeedsAgent`."""

    def check(node_id: str, tools: Sequence[str], agent: str | None) -> None:
        known = [registry.tool(name) for name in tools]
        check_writers("node", known, agent, field="nodes", node=node_id)

    return check
