"""Decides what an agent's run may know, keeps what it should remember, and shows what reaches the model."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memoranda.app import Memoranda
    from memoranda.briefs.models import (
        ContextBrief,
        ContextItem,
        ContextKind,
        ContextPolicy,
        ContextRequest,
        ContextSourceSpec,
    )
    from memoranda.words.errors import MemorandaError
    from memoranda.words.ref import ResourceRef
    from memoranda.words.subject import ContextSubject

__all__ = [
    "ContextBrief",
    "ContextItem",
    "ContextKind",
    "ContextPolicy",
    "ContextRequest",
    "ContextSourceSpec",
    "ContextSubject",
    "Memoranda",
    "MemorandaError",
    "ResourceRef",
    "__version__",
]

__version__ = "0.1.0"

# Loaded when first asked for: whoever needs one part, such as a command's help, does not wait for all.
_HOMES = {
    "Memoranda": "memoranda.app",
    "MemorandaError": "memoranda.words.errors",
    "ResourceRef": "memoranda.words.ref",
    "ContextSubject": "memoranda.words.subject",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'memoranda' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "memoranda.briefs.models")), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
