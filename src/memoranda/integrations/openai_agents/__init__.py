"""The OpenAI Agents SDK: sessions, and branches of them, over an opened Memoranda."""

from importlib.util import find_spec

if find_spec("agents") is None:
    raise ModuleNotFoundError(
        "The OpenAI Agents SDK is not installed. Install it with: "
        'pip install "memoranda[openai-agents]", in a checkout: '
        "pip install '.[openai-agents]'",
        name="agents",
    )

from memoranda.integrations.openai_agents.session import MemorandaSession

__all__ = ["MemorandaSession"]
