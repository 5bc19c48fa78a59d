"""Which file a name means. Pure."""

from collections.abc import Iterable

from memoranda.files.errors import UnknownFile
from memoranda.files.models import AgentFile, WorkspaceFile


def workspace_name(name: str) -> WorkspaceFile:
    """The organization's file of that name. Raises `UnknownFile`, which does not repeat the name."""
    try:
        return WorkspaceFile(name)
    except ValueError:
        raise unknown_file(WorkspaceFile) from None


def agent_file_name(name: str) -> AgentFile:
    """An agent's file of that name. Raises `UnknownFile`, likewise."""
    try:
        return AgentFile(name)
    except ValueError:
        raise unknown_file(AgentFile) from None


def unknown_file(known: Iterable[str]) -> UnknownFile:
    """The refusal of a name that is none of the `known` ones."""
    names = [str(each) for each in known]
    return UnknownFile(
        f"There is no context file of that name. The names are {', '.join(names)}.", files=names
    )
