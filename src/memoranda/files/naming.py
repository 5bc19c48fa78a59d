"""Which file a name means. Pure."""

from collections.abc import Iterable

from memoranda.files.errors import UnknownFile
from memoranda.files.models import AgentFile, WorkspaceFile


def workspace_name(name: str) -> WorkspaceFile:
    """The organization's file of that name. Raises `UnknownFile`, which repeats no name that is none."""
    try:
        return WorkspaceFile(name)
    except ValueError:
        hint = f" {name} is a file of each agent: name the agent." if name in set(AgentFile) else ""
        raise unknown_file(WorkspaceFile, hint) from None


def agent_file_name(name: str) -> AgentFile:
    """An agent's file of that name. Raises `UnknownFile`, likewise."""
    try:
        return AgentFile(name)
    except ValueError:
        known = name in set(WorkspaceFile)
        hint = f" {name} is the organization's: name no agent." if known else ""
        raise unknown_file(AgentFile, hint) from None


def unknown_file(known: Iterable[str], hint: str = "") -> UnknownFile:
    """The refusal of a name that is none of the `known` ones, with a `hint` where it is another kind of file's."""
    names = [str(each) for each in known]
    return UnknownFile(
        f"There is no context file of that name. The names are {', '.join(names)}.{hint}",
        files=names,
    )
