"""Tools: what may be called, calls, and what people say of them."""

from collections.abc import Mapping, Sequence
from typing import Any

from memoranda.client.answers import Answered, Listing
from memoranda.client.call import Call, Id, given
from memoranda.tools.inbox.models import Waiting
from memoranda.tools.models import (
    Approval,
    ApprovalStatus,
    Decision,
    ResetPolicy,
    ToolCall,
    ToolOffer,
    ToolPolicy,
    ToolSpace,
)
from memoranda.words.page import Page


def list_tools() -> Call[Listing[ToolOffer]]:
    """List the tools that the caller may call, each with its schema and what its policy says."""
    return Call("GET", "/v1/tools", Listing[ToolOffer])


def list_tool_policies(*, cursor: str | None = None, limit: int = 50) -> Call[Page[ToolPolicy]]:
    """List what was said of agents' tools."""
    return Call(
        "GET", "/v1/tools/policies", Page[ToolPolicy], query=given(cursor=cursor, limit=limit)
    )


def set_tool_policy(agent: str, tool: str, decision: Decision) -> Call[ToolPolicy]:
    """Say what an agent may do with a tool from its next call on: allow, ask or deny."""
    return Call(
        "PUT",
        "/v1/tools/policies",
        ToolPolicy,
        body=given(agent=agent, tool=tool, decision=decision),
    )


def list_approvals(
    *, status: ApprovalStatus = ApprovalStatus.WAITING, cursor: str | None = None, limit: int = 50
) -> Call[Page[Approval]]:
    """List calls that wait for a person, or that one has decided, the newest first."""
    return Call(
        "GET",
        "/v1/tools/approvals",
        Page[Approval],
        query=given(status=status, cursor=cursor, limit=limit),
    )


def get_approval(approval_id: Id) -> Call[Approval]:
    """Get a call that waits or is decided."""
    return Call(
        "GET", "/v1/tools/approvals/{approval_id}", Approval, at={"approval_id": approval_id}
    )


def approve_call(approval_id: Id) -> Call[Approval]:
    """Let a waiting call be done now; the answer says whether it still could be."""
    return Call(
        "POST",
        "/v1/tools/approvals/{approval_id}/approve",
        Approval,
        at={"approval_id": approval_id},
    )


def deny_call(approval_id: Id) -> Call[Approval]:
    """Let a waiting call not be done."""
    return Call(
        "POST", "/v1/tools/approvals/{approval_id}/deny", Approval, at={"approval_id": approval_id}
    )


def list_tool_calls(
    *, run_id: Id | None = None, cursor: str | None = None, limit: int = 50
) -> Call[Page[ToolCall]]:
    """List the journal of calls, the newest first."""
    return Call(
        "GET",
        "/v1/tools/calls",
        Page[ToolCall],
        query=given(run_id=run_id, cursor=cursor, limit=limit),
    )


def list_spaces(*, cursor: str | None = None, limit: int = 50) -> Call[Page[ToolSpace]]:
    """List the nodes of workflows that call tools."""
    return Call("GET", "/v1/tools/spaces", Page[ToolSpace], query=given(cursor=cursor, limit=limit))


def publish_space(
    workflow_id: str,
    node_id: str,
    tools: Sequence[str],
    *,
    agent: str | None = None,
    reset_policy: ResetPolicy | None = None,
) -> Call[ToolSpace]:
    """Let a node of a workflow call tools; published again, it keeps its memories."""
    return Call(
        "PUT",
        "/v1/tools/spaces",
        ToolSpace,
        body=given(
            workflow_id=workflow_id,
            node_id=node_id,
            tools=tools,
            agent=agent,
            reset_policy=reset_policy,
        ),
    )


def withdraw_space(space_id: Id) -> Call[None]:
    """Take a space away: its keys open nothing from now on."""
    return Call("DELETE", "/v1/tools/spaces/{space_id}", type(None), at={"space_id": space_id})


def call_tool(
    tool: str,
    *,
    idempotency_key: str | None = None,
    arguments: Mapping[str, Any] | None = None,
    run_id: Id | None = None,
    conversation_id: Id | None = None,
) -> Call[Answered]:
    """Call a tool, once for each idempotency key."""
    return Call(
        "POST",
        "/v1/tools/{tool}",
        Answered,
        at={"tool": tool},
        body=given(arguments=arguments, run_id=run_id, conversation_id=conversation_id),
        headers=given(**{"idempotency-key": idempotency_key}),
        repeatable=idempotency_key is not None,
    )


def list_inbox(*, cursor: str | None = None, limit: int = 50) -> Call[Page[Waiting]]:
    """List what waits for a person: proposed memories, calls of tools, and changes of files."""
    return Call("GET", "/v1/inbox", Page[Waiting], query=given(cursor=cursor, limit=limit))
