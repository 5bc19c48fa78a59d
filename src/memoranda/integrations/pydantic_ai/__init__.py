"""Pydantic AI: its conversations are kept here, each message once, with their branches and forks."""

from importlib.util import find_spec

if find_spec("pydantic_ai") is None:
    raise ModuleNotFoundError(
        'Pydantic AI is not installed. Install it with: pip install "memoranda[pydantic-ai]", '
        "in a checkout: pip install '.[pydantic-ai]'",
        name="pydantic_ai",
    )

from memoranda.integrations.pydantic_ai.store import MemorandaConversationStore

__all__ = ["MemorandaConversationStore"]
