"""Conversations by their id, and a search over what was said."""

from collections.abc import Sequence

from memoranda.client.call import Call, Id, given
from memoranda.conversations.finding.models import ConversationAnswer
from memoranda.conversations.models import (
    Conversation,
    LoadedConversation,
    Message,
    MessagePage,
    Purged,
)
from memoranda.words.page import Page


def search_conversations(
    query: str,
    *,
    limit: int = 8,
    user_id: Id | None = None,
    agent_id: Id | None = None,
    conversation_id: Id | None = None,
) -> Call[ConversationAnswer]:
    """Find the messages that answer a query, best first."""
    return Call(
        "POST",
        "/v1/conversations/search",
        ConversationAnswer,
        body=given(
            query=query,
            limit=limit,
            user_id=user_id,
            agent_id=agent_id,
            conversation_id=conversation_id,
        ),
        repeatable=True,
    )


def purge_conversation(conversation_id: Id) -> Call[Purged]:
    """Delete a conversation for good, with all that was compacted of it."""
    return Call(
        "DELETE",
        "/v1/conversations/{conversation_id}",
        Purged,
        at={"conversation_id": conversation_id},
    )


def get_conversation(conversation_id: Id) -> Call[Conversation]:
    """Get a conversation without its messages."""
    return Call(
        "GET",
        "/v1/conversations/{conversation_id}",
        Conversation,
        at={"conversation_id": conversation_id},
    )


def create_conversation(
    *,
    workflow_id: str | None = None,
    agent_id: Id | None = None,
    user_id: Id | None = None,
    generation: int = 1,
) -> Call[Conversation]:
    """Open a conversation."""
    return Call(
        "POST",
        "/v1/conversations",
        Conversation,
        body=given(
            workflow_id=workflow_id, agent_id=agent_id, user_id=user_id, generation=generation
        ),
    )


def list_conversations(
    *,
    workflow_id: str | None = None,
    user_id: Id | None = None,
    agent_id: Id | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Call[Page[Conversation]]:
    """List conversations, the newest first."""
    return Call(
        "GET",
        "/v1/conversations",
        Page[Conversation],
        query=given(
            workflow_id=workflow_id, user_id=user_id, agent_id=agent_id, cursor=cursor, limit=limit
        ),
    )


def load_conversation(conversation_id: Id) -> Call[LoadedConversation]:
    """Load the messages that a run begins from, and the fence that its save names."""
    return Call(
        "GET",
        "/v1/conversations/{conversation_id}/load",
        LoadedConversation,
        at={"conversation_id": conversation_id},
    )


def list_messages(conversation_id: Id, *, after: int = 0, limit: int = 100) -> Call[MessagePage]:
    """List messages in their order, from after a position, exactly as they are stored."""
    return Call(
        "GET",
        "/v1/conversations/{conversation_id}/messages",
        MessagePage,
        at={"conversation_id": conversation_id},
        query=given(after=after, limit=limit),
    )


def save_conversation(
    conversation_id: Id,
    messages: Sequence[Message],
    fence: int,
    *,
    expected_digest: str | None = None,
) -> Call[Conversation]:
    """Save the whole list; what differs from what is there is written."""
    return Call(
        "PUT",
        "/v1/conversations/{conversation_id}/messages",
        Conversation,
        at={"conversation_id": conversation_id},
        body=given(messages=messages, fence=fence, expected_digest=expected_digest),
    )


def append_messages(
    conversation_id: Id,
    messages: Sequence[Message],
    *,
    expected_length: int | None = None,
    fence: int | None = None,
) -> Call[Conversation]:
    """Append messages; with `expected_length`, only if nobody else did meanwhile."""
    return Call(
        "POST",
        "/v1/conversations/{conversation_id}/messages",
        Conversation,
        at={"conversation_id": conversation_id},
        body=given(messages=messages, expected_length=expected_length, fence=fence),
    )


def clear_conversation(conversation_id: Id) -> Call[Conversation]:
    """Empty a conversation: what was loaded before is not saved any more."""
    return Call(
        "POST",
        "/v1/conversations/{conversation_id}/clear",
        Conversation,
        at={"conversation_id": conversation_id},
    )
