"""Routes for conversations and their messages."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from memoranda.conversations.models import Conversation, Message, StoredMessage
from memoranda.conversations.service import MOST_LISTED
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, raises
from memoranda.surfaces.http.pages import LARGEST, Body, Cursor, Listing, Number
from memoranda.surfaces.http.product import Product
from memoranda.words.errors import Conflict, NotFound, ReadOnly
from memoranda.words.page import Page

routes = APIRouter(prefix="/v1", tags=["conversations"], route_class=Operation)


class ConversationToOpen(Body):
    """A new conversation, and the workflow, agent and user that it belongs to."""

    workflow_id: str | None = None
    agent_id: UUID | None = None
    user_id: UUID | None = None
    generation: Number = Field(default=1, ge=1, le=LARGEST)


class MessagesToAppend(Body):
    """Messages for the end, if the conversation still has `expected_length` of them."""

    messages: list[Message]
    expected_length: Number | None = Field(default=None, ge=0, le=LARGEST)


@routes.post("/conversations", status_code=201)
@raises(NotFound, Conflict, ReadOnly)
async def create_conversation(
    body: ConversationToOpen, who: Caller, product: Product
) -> Conversation:
    """Open a conversation."""
    return await product.conversations.create(
        who,
        workflow_id=body.workflow_id,
        agent_id=body.agent_id,
        user_id=body.user_id,
        generation=body.generation,
    )


@routes.get("/conversations")
async def list_conversations(
    who: Caller,
    product: Product,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
) -> Page[Conversation]:
    """List conversations, the newest first."""
    return await product.conversations.page(who, limit=limit, cursor=cursor)


@routes.get("/conversations/{conversation_id}")
async def get_conversation(conversation_id: UUID, who: Caller, product: Product) -> Conversation:
    """Get a conversation without its messages."""
    return await product.conversations.get(who, conversation_id)


@routes.post("/conversations/{conversation_id}/messages")
@raises(Conflict, ReadOnly)
async def append_messages(
    conversation_id: UUID, body: MessagesToAppend, who: Caller, product: Product
) -> Conversation:
    """Append messages; with `expected_length`, only if nobody else did meanwhile."""
    return await product.conversations.append(
        who, conversation_id, body.messages, expected_length=body.expected_length
    )


@routes.get("/conversations/{conversation_id}/messages")
async def list_messages(
    conversation_id: UUID,
    who: Caller,
    product: Product,
    after: Annotated[int, Query(ge=0, le=LARGEST, description="The position to go on after.")] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 100,
) -> Listing[StoredMessage]:
    """List messages in their order, from after a position."""
    messages = await product.conversations.messages(who, conversation_id, after=after, limit=limit)
    return Listing(items=list(messages))
