"""LangGraph: a store and a checkpointer for graphs, over an opened Memoranda."""

from importlib.util import find_spec

if find_spec("langgraph") is None:
    raise ModuleNotFoundError(
        'LangGraph is not installed. Install it with: pip install "memoranda[langgraph]", '
        "in a checkout: pip install '.[langgraph]'",
        name="langgraph",
    )

from memoranda.integrations.langgraph.saver import MemorandaSaver
from memoranda.integrations.langgraph.store import MemorandaStore

__all__ = ["MemorandaSaver", "MemorandaStore"]
