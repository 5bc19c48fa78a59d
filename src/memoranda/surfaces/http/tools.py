"""Routes for tools: what may be called, a call, and what people say of agents' calls."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Query, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from memoranda.access.rates.service import Rate, TooManyRequests
from memoranda.files.errors import FileChanged, FileProposalsFull, FileTooLarge, UnknownFile
from memoranda.memories.errors import MemoriesFull, StaleVersion
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import Body, Cursor, Listing
from memoranda.surfaces.http.product import Product
from memoranda.surfaces.http.rates import counted
from memoranda.tools.errors import (
    ApprovalsFull,
    KeyReused,
    NotInSpaces,
    ToolDenied,
    TooManyToolCalls,
    UnknownTool,
    WriterNeedsAgent,
)
from memoranda.tools.models import (
    Approval,
    ApprovalStatus,
    Course,
    Decision,
    ResetPolicy,
    ToolCall,
    ToolOffer,
    ToolPolicy,
    ToolSpace,
)
from memoranda.words.errors import (
    Conflict,
    DuplicateMemory,
    Erased,
    NotFound,
    ReadOnly,
    SecretFound,
)
from memoranda.words.page import Page

routes = APIRouter(prefix="/v1/tools", tags=["tools"], route_class=Operation)

MOST_LISTED = 200
ARGUMENTS = (
    'What the tool is given goes under arguments: send {"arguments": {…}}, as POST '
    '/v1/tools/remember takes {"arguments": {"content": "Tea at four."}}.'
)
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED)]
IdempotencyKey = Annotated[
    str | None,
    Header(
        description="The same call under the same key changes nothing and is answered as before."
    ),
]


class Called(Body):
    """The arguments of a call, as the tool's schema has them, and in which run it is made."""

    arguments: dict[str, Any] = Field(default_factory=dict)
    run_id: UUID | None = None
    conversation_id: UUID | None = None

    @model_validator(mode="before")
    @classmethod
    def _check_place(cls, said: object) -> object:
        """Tell whoever sends a tool's arguments as the body itself where they belong."""
        known = cls.model_fields.keys()
        if isinstance(said, dict) and "arguments" not in said and said.keys() - known:
            raise ValueError(ARGUMENTS)
        return said


class Answered(BaseModel):
    """What a tool answered, in the shape that its schema has.

    `replayed` says that this very call was answered before, under its key, and nothing was done again.
    """

    model_config = ConfigDict(frozen=True)

    tool: str
    answer: dict[str, Any]
    replayed: bool


class Said(Body):
    """What an agent, by its id or slug, may do with a tool."""

    agent: str
    tool: str
    decision: Decision


class Published(Body):
    """A node of a workflow, the tools that it calls, and its agent, by id or slug.

    `reset_policy` says what becomes of its memories where the workflow is reset; null leaves it as it is.
    """

    workflow_id: str
    node_id: str
    tools: list[str]
    agent: str | None = None
    reset_policy: ResetPolicy | None = None


@routes.get("")
@counted(Rate.LISTS)
async def list_tools(who: Caller, product: Product) -> Listing[ToolOffer]:
    """List the tools that the caller may call, each with its schema and what its policy says."""
    return Listing(items=await product.tools.offers(who))


@routes.get("/policies")
@counted(Rate.LISTS)
async def list_tool_policies(
    who: Caller, product: Product, *, cursor: Cursor = None, limit: Limit = 50
) -> Page[ToolPolicy]:
    """List what was said of agents' tools."""
    return await product.tools.policies.page(who, limit=limit, cursor=cursor)


@routes.put("/policies")
@raises(NotFound, UnknownTool, ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def set_tool_policy(body: Said, who: Caller, product: Product) -> ToolPolicy:
    """Say what an agent may do with a tool from its next call on: allow, ask or deny."""
    return await product.tools.policies.set(who, body.agent, body.tool, body.decision)


@routes.get("/approvals")
@counted(Rate.LISTS)
async def list_approvals(
    who: Caller,
    product: Product,
    *,
    status: ApprovalStatus = ApprovalStatus.WAITING,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[Approval]:
    """List calls that wait for a person, or that one has decided, the newest first."""
    return await product.tools.approvals.page(who, status=status, limit=limit, cursor=cursor)


@routes.get("/approvals/{approval_id}")
@counted(Rate.LISTS)
async def get_approval(approval_id: UUID, who: Caller, product: Product) -> Approval:
    """Get a call that waits or is decided."""
    return await product.tools.approvals.get(who, approval_id)


@routes.post("/approvals/{approval_id}/approve")
@raises(Conflict, ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def approve_call(approval_id: UUID, who: Caller, product: Product) -> Approval:
    """Let a waiting call be done now; the answer says whether it still could be."""
    return await product.tools.approvals.approve(who, approval_id)


@routes.post("/approvals/{approval_id}/deny")
@raises(Conflict, ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def deny_call(approval_id: UUID, who: Caller, product: Product) -> Approval:
    """Let a waiting call not be done."""
    return await product.tools.approvals.deny(who, approval_id)


@routes.get("/calls")
@counted(Rate.LISTS)
async def list_tool_calls(
    who: Caller,
    product: Product,
    *,
    run_id: UUID | None = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[ToolCall]:
    """List the journal of calls, the newest first."""
    return await product.tools.journal.page(who, run_id=run_id, limit=limit, cursor=cursor)


@routes.get("/spaces")
@counted(Rate.LISTS)
async def list_spaces(
    who: Caller, product: Product, *, cursor: Cursor = None, limit: Limit = 50
) -> Page[ToolSpace]:
    """List the nodes of workflows that call tools."""
    return await product.tools.spaces.page(who, limit=limit, cursor=cursor)


@routes.put("/spaces")
@raises(NotFound, UnknownTool, WriterNeedsAgent, NotInSpaces, ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def publish_space(body: Published, who: Caller, product: Product) -> ToolSpace:
    """Let a node of a workflow call tools; published again, it keeps its memories."""
    agent_id = None if body.agent is None else (await product.access.agent(who, body.agent)).id
    return await product.tools.spaces.publish(
        who,
        body.workflow_id,
        body.node_id,
        agent_id=agent_id,
        tools=body.tools,
        reset_policy=body.reset_policy,
    )


@routes.delete("/spaces/{space_id}", status_code=204)
@raises(ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def withdraw_space(space_id: UUID, who: Caller, product: Product) -> Response:
    """Take a space away: its keys open nothing from now on."""
    await product.tools.spaces.withdraw(who, space_id)
    return Response(status_code=204)


@routes.post("/{tool}")
@raises(
    UnknownTool,
    ToolDenied,
    WriterNeedsAgent,
    KeyReused,
    Conflict,
    DuplicateMemory,
    StaleVersion,
    MemoriesFull,
    Erased,
    TooManyToolCalls,
    ApprovalsFull,
    UnknownFile,
    FileChanged,
    FileTooLarge,
    FileProposalsFull,
    SecretFound,
    TooManyRequests,
    ReadOnly,
)
@counted(None)
async def call_tool(
    tool: str,
    body: Called,
    who: Caller,
    product: Product,
    idempotency_key: IdempotencyKey = None,
) -> Answered:
    """Call a tool, once for each idempotency key."""
    await product.rates.count(who, product.tools.rate_of(tool))
    answer, replayed = await product.tools.invoke(
        who,
        tool,
        body.arguments,
        key=idempotency_key,
        course=Course(body.run_id, body.conversation_id),
    )
    return Answered(tool=tool, answer=answer, replayed=replayed)
