"""Anthropic's memory tool: its file commands over an agent's memories and the context files."""

from importlib.util import find_spec

if find_spec("anthropic") is None:
    raise ModuleNotFoundError(
        'Anthropic\'s SDK is not installed. Install it with: pip install "memoranda[anthropic]", '
        "in a checkout: pip install '.[anthropic]'",
        name="anthropic",
    )

from memoranda.integrations.anthropic.tool import AsyncMemoryTool, MemoryTool

__all__ = ["AsyncMemoryTool", "MemoryTool"]
