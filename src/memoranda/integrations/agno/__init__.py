"""Agno: an agent's run is given its brief and its tools, and is recorded with what it came to."""

from importlib.util import find_spec

if find_spec("agno") is None:
    raise ModuleNotFoundError(
        'Agno is not installed. Install it with: pip install "memoranda[agno]", '
        "in a checkout: pip install '.[agno]'",
        name="agno",
    )

from memoranda.integrations.agno.runtime import AgnoRun, AgnoRuntime

__all__ = ["AgnoRun", "AgnoRuntime"]
