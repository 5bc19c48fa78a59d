"""Routes for conversations by their keys: a workflow, one of its generations, and an agent or none."""

from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from memoranda.conversations.errors import (
    ConversationLoadFailed,
    ConversationTooLarge,
    LaterGeneration,
    LateSave,
    OlderGeneration,
)
from memoranda.conversations.models import (
    Conversation,
    ConversationKey,
    LoadedConversation,
    Purged,
    WorkflowGeneration,
    WorkflowReset,
)
from memoranda.surfaces.http.conversations import ListToSave, MessagesToAppend, kept
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, holds, raises
from memoranda.surfaces.http.pages import LARGEST, Body, Number
from memoranda.surfaces.http.product import Product
from memoranda.words.errors import Conflict, NotFound, OverLimit, ReadOnly

routes = APIRouter(prefix="/v1/conversations", tags=["conversations"], route_class=Operation)


KEPT: Final = (
    *(NotFound, Conflict, LateSave, OlderGeneration, LaterGeneration),
    *(ConversationTooLarge, OverLimit, ReadOnly),
)
"""What keeps messages from being put under a key."""


class Keyed(Body):
    """The key of a conversation. `user_id` is whose it becomes, where there is none yet."""

    workflow_id: str
    generation: Number = Field(default=1, ge=1, le=LARGEST)
    agent_id: UUID | None = None

    @property
    def key(self) -> ConversationKey:
        """The key as the service takes it."""
        return ConversationKey(
            workflow_id=self.workflow_id, generation=self.generation, agent_id=self.agent_id
        )


class KeyedListToSave(ListToSave, Keyed):
    """The whole list of the conversation of a key, likewise."""

    user_id: UUID | None = None


class KeyedMessagesToAppend(MessagesToAppend, Keyed):
    """Messages for the end of the conversation of a key, likewise."""

    user_id: UUID | None = None


class WorkflowToEnd(Body):
    """A workflow, by your own id for it."""

    workflow_id: str


class Cleared(BaseModel):
    """The conversation that was cleared; null where the key had none."""

    model_config = ConfigDict(frozen=True)

    conversation: Conversation | None


@routes.get("/load")
@raises(
    *(NotFound, ConversationLoadFailed, ConversationTooLarge, OverLimit),
    *(OlderGeneration, LaterGeneration),
)
async def load_conversation_of_key(
    who: Caller,
    product: Product,
    *,
    workflow_id: str,
    generation: Annotated[int, Query(ge=1, le=LARGEST)] = 1,
    agent_id: UUID | None = None,
) -> LoadedConversation:
    """Load the conversation of a key; one that is not there yet has no messages, and that is no error."""
    key = ConversationKey(workflow_id=workflow_id, generation=generation, agent_id=agent_id)
    return await product.conversations.load(who, key)


@routes.put("/messages")
@raises(*KEPT)
@holds(lambda settings: settings.conversation_max_bytes)
async def save_conversation_of_key(
    body: KeyedListToSave, who: Caller, product: Product
) -> Conversation:
    """Save the whole list of a key's conversation, which is made where there is none."""
    return await product.conversations.save(
        who,
        body.key,
        kept(body.messages),
        fence=body.fence,
        expected_digest=body.expected_digest,
        user_id=body.user_id,
    )


@routes.post("/messages")
@raises(*KEPT)
@holds(lambda settings: settings.conversation_max_bytes)
async def append_messages_of_key(
    body: KeyedMessagesToAppend, who: Caller, product: Product
) -> Conversation:
    """Append messages to a key's conversation, which is made where there is none."""
    return await product.conversations.append(
        who,
        body.key,
        kept(body.messages),
        expected_length=body.expected_length,
        fence=body.fence,
        user_id=body.user_id,
    )


@routes.post("/clear")
@raises(NotFound, OlderGeneration, LaterGeneration, ReadOnly)
async def clear_conversation_of_key(body: Keyed, who: Caller, product: Product) -> Cleared:
    """Empty a key's conversation: what was loaded before is not saved any more."""
    return Cleared(conversation=await product.conversations.clear(who, body.key))


@routes.get("/generation")
@raises(OverLimit)
async def get_generation(who: Caller, product: Product, workflow_id: str) -> WorkflowGeneration:
    """Get which generation of a workflow goes on: older ones have ended, and later ones not begun."""
    return await product.conversations.resets.generation(who, workflow_id)


@routes.post("/reset")
@raises(ReadOnly)
async def reset_workflow(body: WorkflowToEnd, who: Caller, product: Product) -> WorkflowReset:
    """Begin a workflow's next generation: its conversations are cleared, and its spaces as they say."""
    return await product.conversations.resets.reset(who, body.workflow_id)


@routes.post("/purge")
@raises(ReadOnly)
async def purge_workflow(body: WorkflowToEnd, who: Caller, product: Product) -> Purged:
    """Delete all conversations of a workflow for good."""
    return await product.conversations.resets.purge_workflow(who, body.workflow_id)


@routes.delete("/{conversation_id}")
@raises(ReadOnly)
async def purge_conversation(conversation_id: UUID, who: Caller, product: Product) -> Purged:
    """Delete a conversation for good, with all that was compacted of it."""
    return await product.conversations.resets.purge(who, conversation_id)
