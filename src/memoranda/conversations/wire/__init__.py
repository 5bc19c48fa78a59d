"""Messages in one form for every provider, and the way into and out of each provider's own. Pure."""

from memoranda.conversations.wire import (
    anthropic,
    gemini,
    openai_chat,
    openai_responses,
    requests,
    streams,
    valid,
    verification,
)

__all__ = [
    "anthropic",
    "gemini",
    "openai_chat",
    "openai_responses",
    "requests",
    "streams",
    "valid",
    "verification",
]
