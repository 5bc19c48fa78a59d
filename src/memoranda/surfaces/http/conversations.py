"""Routes for conversations by their ids: what was said, loaded, saved, added to and cleared."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from memoranda.conversations.errors import (
    ConversationLoadFailed,
    ConversationTooLarge,
    LaterGeneration,
    LateSave,
    OlderGeneration,
)
from memoranda.conversations.models import (
    Conversation,
    LoadedConversation,
    Message,
    MessagePage,
)
from memoranda.conversations.service import MOST_LISTED
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, holds, raises
from memoranda.surfaces.http.pages import LARGEST, Body, Cursor, Flag, Number
from memoranda.surfaces.http.product import Product
from memoranda.words.errors import Conflict, Invalid, NotFound, OverLimit, ReadOnly
from memoranda.words.page import Page

routes = APIRouter(prefix="/v1", tags=["conversations"], route_class=Operation)

Most = Annotated[int, Query(ge=1, le=MOST_LISTED)]


class ConversationToOpen(Body):
    """A new conversation, and the workflow, agent and user that it belongs to."""

    workflow_id: str | None = None
    agent_id: UUID | None = None
    user_id: UUID | None = None
    generation: Number = Field(default=1, ge=1, le=LARGEST)


class MessageToKeep(Message):
    """A message as it is to be stored: its content and metadata come back exactly as they are."""

    pinned: Flag = False


class ListToSave(Body):
    """The whole list, and the `fence` that it was loaded at.

    With `expected_digest`, it is saved only over the very list that has this digest.
    """

    messages: list[MessageToKeep]
    fence: Number = Field(ge=0, le=LARGEST)
    expected_digest: str | None = None


class MessagesToAppend(Body):
    """Messages for the end, if the conversation still has `expected_length` of them and this `fence`."""

    messages: list[MessageToKeep]
    expected_length: Number | None = Field(default=None, ge=0, le=LARGEST)
    fence: Number | None = Field(default=None, ge=0, le=LARGEST)


@routes.post("/conversations", status_code=201)
@raises(NotFound, Conflict, OlderGeneration, LaterGeneration, ReadOnly)
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
@raises(OverLimit)
async def list_conversations(
    who: Caller,
    product: Product,
    *,
    workflow_id: Annotated[
        str | None, Query(description="Those of this workflow, its newest generation first.")
    ] = None,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
    cursor: Cursor = None,
    limit: Most = 50,
) -> Page[Conversation]:
    """List conversations, the newest first."""
    if workflow_id is None:
        return await product.conversations.page(
            who, user_id=user_id, agent_id=agent_id, limit=limit, cursor=cursor
        )
    if user_id is not None or agent_id is not None:
        raise Invalid(
            "List those of a workflow, or those of a user and agent, and not both.",
            field="workflow_id",
        )
    return await product.conversations.of_workflow(who, workflow_id, limit=limit, cursor=cursor)


@routes.get("/conversations/{conversation_id}")
async def get_conversation(conversation_id: UUID, who: Caller, product: Product) -> Conversation:
    """Get a conversation without its messages."""
    return await product.conversations.get(who, conversation_id)


@routes.get("/conversations/{conversation_id}/load")
@raises(ConversationLoadFailed, ConversationTooLarge, OverLimit, OlderGeneration)
async def load_conversation(
    conversation_id: UUID, who: Caller, product: Product
) -> LoadedConversation:
    """Load the messages that a run begins from, and the fence that its save names."""
    return await product.conversations.load(who, conversation_id)


@routes.get("/conversations/{conversation_id}/messages")
async def list_messages(
    conversation_id: UUID,
    who: Caller,
    product: Product,
    after: Annotated[
        int,
        Query(ge=0, le=LARGEST, description="The position to go on after: a page's next_after."),
    ] = 0,
    limit: Most = 100,
) -> MessagePage:
    """List messages in their order, from after a position, exactly as they are stored."""
    return await product.conversations.message_page(who, conversation_id, after=after, limit=limit)


@routes.put("/conversations/{conversation_id}/messages")
@raises(Conflict, LateSave, OlderGeneration, ConversationTooLarge, OverLimit, ReadOnly)
@holds(lambda settings: settings.conversation_max_bytes)
async def save_conversation(
    conversation_id: UUID, body: ListToSave, who: Caller, product: Product
) -> Conversation:
    """Save the whole list; what differs from what is there is written."""
    return await product.conversations.save(
        who,
        conversation_id,
        kept(body.messages),
        fence=body.fence,
        expected_digest=body.expected_digest,
    )


@routes.post("/conversations/{conversation_id}/messages")
@raises(Conflict, LateSave, OlderGeneration, ConversationTooLarge, OverLimit, ReadOnly)
@holds(lambda settings: settings.conversation_max_bytes)
async def append_messages(
    conversation_id: UUID, body: MessagesToAppend, who: Caller, product: Product
) -> Conversation:
    """Append messages; with `expected_length`, only if nobody else did meanwhile."""
    return await product.conversations.append(
        who,
        conversation_id,
        kept(body.messages),
        expected_length=body.expected_length,
        fence=body.fence,
    )


@routes.post("/conversations/{conversation_id}/clear")
@raises(OlderGeneration, ReadOnly)
async def clear_conversation(conversation_id: UUID, who: Caller, product: Product) -> Conversation:
    """Empty a conversation: what was loaded before is not saved any more."""
    cleared = await product.conversations.clear(who, conversation_id)
    # Only a key may have no conversation; an id that has none is refused.
    return cleared or await product.conversations.get(who, conversation_id)


def kept(messages: list[MessageToKeep]) -> list[Message]:
    """The messages as the service takes them."""
    return [Message(**dict(each)) for each in messages]
