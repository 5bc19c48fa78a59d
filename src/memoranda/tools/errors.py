"""What only tools can refuse."""

from collections.abc import Iterable

from memoranda.words.errors import (
    Conflict,
    Invalid,
    NotFound,
    OverLimit,
    Refused,
    Unavailable,
)


class UnknownTool(NotFound):
    """There is no tool of that name for this caller. `details` names those that there are."""

    code = "unknown_tool"


class ToolDenied(Refused):
    """A policy says that this agent may not call this tool, or a person has decided so."""

    code = "tool_denied"


class WriterNeedsAgent(Invalid):
    """A space without an agent has no tools that change anything: there is nobody to answer for it."""

    code = "writer_needs_an_agent"


class NotInSpaces(Invalid):
    """A tool needs more than a space has, so that no space may be published with it. `details` names it."""

    code = "not_in_spaces"


class KeyReused(Conflict):
    """The same caller has used this idempotency key for another call."""

    code = "idempotency_key_reused"


class TooManyToolCalls(OverLimit):
    """A run has called a tool as often as a run may. `details` carries the limit."""

    code = "too_many_tool_calls"


class ApprovalsFull(OverLimit):
    """As many calls wait for a person as may. `details` carries the limit."""

    code = "approvals_full"
    retryable = True


class ToolFailed(Unavailable):
    """A tool broke in a way that nobody foresaw, which a log says more of. Nothing was changed."""

    code = "tool_failed"
    retryable = False


def unknown_tool(offered: Iterable[str]) -> UnknownTool:
    """The refusal of a name that is no tool, or none of this caller's. It does not repeat the name."""
    names = list(offered)
    known = f"The tools are: {', '.join(names)}." if names else "There are no tools here."
    return UnknownTool(f"There is no tool of that name. {known}", tools=names)
