"""All tools that there are, each under its own name, in one order that never changes."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from memoranda.access.models import Principal
from memoranda.tools.errors import unknown_tool
from memoranda.tools.models import Effect, Tool, Written

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
WHOSE: Final = frozenset(
    {
        *("organization", "organization_id", "user", "user_id", "agent", "agent_id"),
        *("space", "space_id", "trigger", "trigger_id", "workflow_id", "node_id"),
    }
)
"""What no argument may be called: whose memories a call is about is known from its caller alone."""


class ToolRegistry:
    """The tools by their names, in the order in which they were given.

    Raises ValueError for two of one name, and for a tool that no call could be made of.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            _check(tool)
            if tool.name in self._tools:
                raise ValueError(f"Two tools are called {tool.name}.")
            self._tools[tool.name] = tool

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def find(self, name: object) -> Tool | None:
        """The tool of that name, if there is one."""
        return self._tools.get(name) if isinstance(name, str) else None

    def tool(self, name: str) -> Tool:
        """The tool of that name. Raises `UnknownTool`."""
        found = self.find(name)
        if found is None:
            raise unknown_tool(self._tools)
        return found

    def within_reach(self, who: Principal) -> list[Tool]:
        """The tools that this caller can know of: in a space, that space's alone."""
        if who.space is None:
            return list(self)
        return [tool for tool in self if tool.in_spaces and tool.name in who.space.tools]

    def tool_for(self, who: Principal, name: object) -> Tool:
        """`tool`, where one that is not this caller's is answered like one that is not there."""
        found = self.find(name)
        reachable = self.within_reach(who)
        if found is None or found not in reachable:
            raise unknown_tool(tool.name for tool in reachable)
        return found


@cache
def schemas(tool: Tool) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a tool takes and what it answers, as JSON Schemas; made when first asked for."""
    return (
        tool.input.model_json_schema(),
        tool.answer.model_json_schema(mode="serialization"),
    )


def _check(tool: Tool) -> None:
    if not _NAME.fullmatch(tool.name):
        raise ValueError(f"{tool.name!r} can't be the name of a tool.")
    if (tool.read is None) is (tool.write is None):
        raise ValueError(f"{tool.name} has to read or to write, and not both.")
    if tool.effect is Effect.READS and tool.ask is not None:
        raise ValueError(f"{tool.name} changes nothing, so there is nothing to ask about.")
    if tool.effect is Effect.WRITES and not issubclass(tool.answer, Written):
        raise ValueError(f"{tool.name} changes something, so what it answers is what was written.")
    if named := WHOSE & tool.input.model_fields.keys():
        raise ValueError(f"{tool.name} may not ask for {', '.join(sorted(named))}.")
