"""Agno: an agent's run is given its brief and its tools, and is recorded with what it came to."""

try:
    import agno  # noqa: F401 - only whether it is there
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        'Agno is not installed. Install it with: pip install "memoranda[agno]"', name=missing.name
    ) from None

from memoranda.integrations.agno.runtime import AgnoRun, AgnoRuntime

__all__ = ["AgnoRun", "AgnoRuntime"]
