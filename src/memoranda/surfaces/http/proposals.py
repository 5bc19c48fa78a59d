"""Routes for proposals: propose, list, accept, discard, restore, and tidy up."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from fastapi import Body as FromBody

from memoranda.access.rates.service import Rate
from memoranda.access.roles import ToolPolicyRequired
from memoranda.memories.errors import MemoriesFull, NotRestorable, StaleVersion
from memoranda.memories.models import Memory, Proposal, ProposalStatus, Proposed
from memoranda.memories.service import MOST_LISTED
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.memories import Said
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import Body, Cursor, Listing
from memoranda.surfaces.http.product import Product
from memoranda.surfaces.http.rates import counted
from memoranda.words.errors import Conflict, DuplicateMemory, NotFound, ReadOnly, SecretFound
from memoranda.words.page import Page

routes = APIRouter(prefix="/v1", tags=["proposals"], route_class=Operation)


class Acceptance(Body):
    """What the memory is to say, where that is not what was proposed."""

    text: str | None = None


@routes.post("/memories/proposals", status_code=202)
@raises(NotFound, SecretFound, ReadOnly)
@counted(Rate.MEMORY_WRITES)
async def propose(body: Said, who: Caller, product: Product) -> Proposed:
    """Propose to remember a text: it waits until a person accepts it."""
    return await product.proposals.propose(who, **dict(body))


@routes.get("/memories/proposals")
@counted(Rate.LISTS)
async def list_proposals(
    who: Caller,
    product: Product,
    *,
    status: ProposalStatus = ProposalStatus.WAITING,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
) -> Page[Proposal]:
    """List proposals, the newest first."""
    return await product.proposals.page(who, status=status, limit=limit, cursor=cursor)


@routes.get("/memories/proposals/{proposal_id}")
@counted(Rate.LISTS)
async def get_proposal(proposal_id: UUID, who: Caller, product: Product) -> Proposal:
    """Get a proposal, whatever became of it."""
    return await product.proposals.get(who, proposal_id)


@routes.post("/memories/proposals/{proposal_id}/accept")
@raises(
    *(Conflict, DuplicateMemory, MemoriesFull, StaleVersion, SecretFound),
    *(ReadOnly, ToolPolicyRequired),
)
@counted(Rate.MEMORY_WRITES)
async def accept_proposal(
    proposal_id: UUID,
    body: Annotated[Acceptance, FromBody(default_factory=Acceptance)],
    who: Caller,
    product: Product,
) -> Memory:
    """Let a proposal become a memory, as it was proposed or with another text."""
    return await product.proposals.accept(who, proposal_id, text=body.text)


@routes.post("/memories/proposals/{proposal_id}/discard", status_code=204)
@raises(Conflict, ReadOnly, ToolPolicyRequired)
@counted(Rate.MEMORY_WRITES)
async def discard_proposal(proposal_id: UUID, who: Caller, product: Product) -> Response:
    """Discard a proposal; for 30 days it may be restored."""
    await product.proposals.discard(who, proposal_id)
    return Response(status_code=204)


@routes.post("/memories/proposals/{proposal_id}/restore")
@raises(
    *(Conflict, DuplicateMemory, MemoriesFull, NotRestorable, SecretFound),
    *(ReadOnly, ToolPolicyRequired),
)
@counted(Rate.MEMORY_WRITES)
async def restore_proposal(proposal_id: UUID, who: Caller, product: Product) -> Memory:
    """Let a proposal that was discarded within 30 days become a memory after all."""
    return await product.proposals.restore(who, proposal_id)


@routes.post("/memories/tidy-up")
@raises(ReadOnly, ToolPolicyRequired)
@counted(Rate.MEMORY_WRITES)
async def tidy_up(who: Caller, product: Product) -> Listing[Proposal]:
    """Propose to merge memories that say the same; nothing is merged before a person accepts it."""
    return Listing(items=await product.proposals.tidy_up(who))
