"""Messages in one form for every provider, and the way into and out of each provider's own. Pure."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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


# Loaded when first asked for: a client of the server needs blocks, and no converter.
def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
