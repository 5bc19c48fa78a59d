"""Routes for how large conversations are: compaction, what was compacted, pins, pressure and usage."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Response
from fastapi import Body as FromBody
from pydantic import Field

from memoranda.conversations.compaction.models import (
    ArchivedMessage,
    Compaction,
    MaybeCompacted,
)
from memoranda.conversations.errors import NothingToCompact
from memoranda.conversations.pressure import Pressure
from memoranda.conversations.service import MOST_LISTED
from memoranda.conversations.usage.models import MOST, CallUsage, RecordedUsage, Usage
from memoranda.conversations.wire.fidelity import FIDELITY, RuntimeFidelity
from memoranda.surfaces.http.conversations import Most
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import LARGEST, Body, Cursor, Listing, Number
from memoranda.surfaces.http.product import Product
from memoranda.words.errors import Invalid, OverLimit, ReadOnly
from memoranda.words.page import Page

routes = APIRouter(prefix="/v1/conversations", tags=["conversations"], route_class=Operation)

Amount = Annotated[Number, Field(ge=0, le=MOST)]
Window = Annotated[int, Query(ge=1, le=LARGEST, description="The model's window, in tokens.")]
Room = Annotated[int, Query(ge=0, le=LARGEST, description="Tokens that the answer may have.")]


class CompactionToMake(Body):
    """How much of the end stays as it is, and whose next request has to be valid."""

    keep_turns: Number = Field(default=1, ge=1, le=MOST_LISTED)
    provider: str | None = None


class CompactionIfDue(CompactionToMake):
    """The same, where the next request would fill most of the model's window."""

    window: Number = Field(ge=1, le=LARGEST)
    room: Number = Field(default=0, ge=0, le=LARGEST)


class UsageToRecord(Body):
    """What one call of a provider used; two records with one `call_id` are one call."""

    provider: str
    model: str
    input_tokens: Amount = 0
    output_tokens: Amount = 0
    cached_tokens: Amount = 0
    cost_micros: Amount = 0
    call_id: str | None = None


@routes.get("/fidelity")
async def list_fidelity(_: Caller) -> Listing[RuntimeFidelity]:
    """List what is kept of each runtime's conversations, and what nobody can claim of them."""
    return Listing(items=list(FIDELITY))


@routes.get("/usage")
@raises(OverLimit)
async def get_total_usage(
    who: Caller,
    product: Product,
    *,
    workflow_id: str | None = None,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
) -> Usage:
    """Get what calls used in all: of a workflow, of a user and agent, or of all that the caller sees."""
    usage = product.conversations.usage
    if workflow_id is None:
        return await usage.total(who, user_id=user_id, agent_id=agent_id)
    if user_id is not None or agent_id is not None:
        raise Invalid(
            "Ask for a workflow's usage, or for that of a user and agent, and not for both.",
            field="workflow_id",
        )
    return await usage.of_workflow(who, workflow_id)


@routes.post("/{conversation_id}/compact")
@raises(NothingToCompact, ReadOnly)
async def compact_conversation(
    conversation_id: UUID,
    body: Annotated[CompactionToMake, FromBody(default_factory=CompactionToMake)],
    who: Caller,
    product: Product,
) -> Compaction:
    """Let a summary stand for earlier turns. An attempt that fails says why, and changes nothing."""
    return await product.conversations.compactions.compact(
        who, conversation_id, keep_turns=body.keep_turns, provider=body.provider
    )


@routes.post("/{conversation_id}/compact-if-due")
@raises(ReadOnly)
async def compact_conversation_if_due(
    conversation_id: UUID, body: CompactionIfDue, who: Caller, product: Product
) -> MaybeCompacted:
    """Compact where the next request fills most of the window, or earlier turns the budget of bytes."""
    return await product.conversations.compactions.compact_if_due(
        who, conversation_id, **dict(body)
    )


@routes.get("/{conversation_id}/compactions")
async def list_compaction_attempts(
    conversation_id: UUID, who: Caller, product: Product, *, cursor: Cursor = None, limit: Most = 50
) -> Page[Compaction]:
    """List the attempts to compact a conversation, the newest first."""
    return await product.conversations.compactions.attempts(
        who, conversation_id, limit=limit, cursor=cursor
    )


@routes.get("/{conversation_id}/history")
async def get_conversation_history(
    conversation_id: UUID,
    who: Caller,
    product: Product,
    *,
    cursor: Cursor = None,
    limit: Most = 100,
) -> Page[ArchivedMessage]:
    """List the messages that compactions put away, as they were said."""
    return await product.conversations.compactions.history(
        who, conversation_id, limit=limit, cursor=cursor
    )


@routes.get("/{conversation_id}/pressure")
async def get_pressure(
    conversation_id: UUID, who: Caller, product: Product, *, window: Window, room: Room = 0
) -> Pressure:
    """Get how full a model's window will be with the next request."""
    return await product.conversations.compactions.pressure(
        who, conversation_id, window=window, room=room
    )


@routes.put("/{conversation_id}/messages/{position}/pin", status_code=204)
@raises(ReadOnly)
async def pin_message(
    conversation_id: UUID, position: int, who: Caller, product: Product
) -> Response:
    """Let a message survive every compaction."""
    await product.conversations.compactions.pin(who, conversation_id, position)
    return Response(status_code=204)


@routes.delete("/{conversation_id}/messages/{position}/pin", status_code=204)
@raises(ReadOnly)
async def unpin_message(
    conversation_id: UUID, position: int, who: Caller, product: Product
) -> Response:
    """Let a message be compacted as others are."""
    await product.conversations.compactions.unpin(who, conversation_id, position)
    return Response(status_code=204)


@routes.post("/{conversation_id}/usage", status_code=201)
@raises(ReadOnly)
async def record_usage(
    conversation_id: UUID, body: UsageToRecord, who: Caller, product: Product
) -> RecordedUsage:
    """Record what a call of a provider used."""
    return await product.conversations.usage.record(who, conversation_id, CallUsage(**dict(body)))


@routes.get("/{conversation_id}/usage")
async def get_usage(conversation_id: UUID, who: Caller, product: Product) -> Usage:
    """Get what the calls of a conversation used in all."""
    return await product.conversations.usage.of(who, conversation_id)
