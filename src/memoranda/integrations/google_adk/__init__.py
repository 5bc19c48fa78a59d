"""Google's Agent Development Kit: its sessions are kept here, and its memory is what is remembered and was said here."""

from importlib.util import find_spec

if find_spec("google") is None or find_spec("google.adk") is None:
    raise ModuleNotFoundError(
        'Google\'s ADK is not installed. Install it with: pip install "memoranda[google-adk]", '
        "in a checkout: pip install '.[google-adk]'",
        name="google.adk",
    )

from memoranda.integrations.google_adk.memory import MemorandaMemoryService
from memoranda.integrations.google_adk.sessions import MemorandaSessionService

__all__ = ["MemorandaMemoryService", "MemorandaSessionService"]
