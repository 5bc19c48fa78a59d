"""Which tools a node of a workflow may call: those that there are, and none that writes without an agent."""

from collections.abc import Callable, Sequence

from memoranda.tools.errors import WriterNeedsAgent
from memoranda.tools.models import Effect
from memoranda.tools.registry import ToolRegistry


def node_check(registry: ToolRegistry) -> Callable[[str, Sequence[str], str | None], None]:
    """A check of a node by its id, its tools and its agent. It raises `UnknownTool` and `WriterNeedsAgent`."""

    def check(node_id: str, tools: Sequence[str], agent: str | None) -> None:
        known = [registry.tool(name) for name in tools]
        writers = [tool.name for tool in known if tool.effect is Effect.WRITES]
        if writers and agent is None:
            raise WriterNeedsAgent(
                f"A node that writes needs an agent ({', '.join(writers)}): name one, or leave these tools out.",
                field="nodes",
                node=node_id,
                tools=writers,
            )

    return check
