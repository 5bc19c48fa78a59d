"""What a session's items come to, turn by turn: of which kinds they are, and which tools were called. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

CALLS: Final = frozenset(
    {
        *("apply_patch_call", "code_interpreter_call", "computer_call", "custom_tool_call"),
        *("file_search_call", "function_call", "mcp_approval_request", "mcp_call", "shell_call"),
        *("tool_call", "tool_search_call", "web_search_call"),
    }
)
"""Kinds of items that call a tool."""
SEARCH: Final = "tool_search"
NAMELESS: Final = frozenset(
    {
        *("apply_patch_call", "code_interpreter_call", "computer_call", "file_search_call"),
        *("shell_call", "web_search_call"),
    }
)
"""Kinds of calls that are named by what they are."""


class Said(NamedTuple):
    """An item's kind, the tool that it names if it does, and in which turn of the user's it stands; 0 is before the first."""

    kind: str
    tool: str | None
    turn: int


def outline(items: Iterable[tuple[Mapping[str, Any], bool]]) -> list[Said]:
    """Each item by its kind, tool and turn; with each comes whether a turn begins with it."""
    turn = 0
    found: list[Said] = []
    for item, begins in items:
        turn += begins
        found.append(Said(_kind(item), _tool(item), turn))
    return found


def used(said: Iterable[Said]) -> list[tuple[str, int, int]]:
    """How often each tool was called in each turn: its name, how often, and the turn, in the order of turns.

    A search for tools that was answered and whose call is not there counts as one.
    """
    known = list(said)
    calls = Counter((each.turn, each.tool) for each in known if each.kind in CALLS and each.tool)
    answered = Counter(
        (each.turn, each.tool) for each in known if each.kind == f"{SEARCH}_output" and each.tool
    )
    searched = {(each.turn, each.tool) for each in known if each.kind == f"{SEARCH}_call"}
    calls.update({key: times for key, times in answered.items() if key not in searched})
    rows = [(str(tool), times, turn) for (turn, tool), times in calls.items()]
    return sorted(rows, key=lambda row: (row[2], row[0]))


def _kind(item: Mapping[str, Any]) -> str:
    role = item.get("role")
    return str(role) if role in {"user", "assistant"} else str(item.get("type") or "other")


def _tool(item: Mapping[str, Any]) -> str | None:
    kind, name = item.get("type"), item.get("name")
    if kind in {f"{SEARCH}_call", f"{SEARCH}_output"}:
        return SEARCH
    if kind in NAMELESS:
        return str(kind)
    within = item.get("server_label" if str(kind).startswith("mcp_") else "namespace")
    if name is None:
        return str(within) if within and str(kind).startswith("mcp_") else None
    # A tool that has no namespace of its own is given its name as one.
    return str(name) if not within or within == name else f"{within}.{name}"
