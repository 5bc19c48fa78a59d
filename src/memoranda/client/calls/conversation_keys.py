"""Conversations by their workflow, generation and agent, and whole workflows."""

from collections.abc import Sequence

from memoranda.client.answers import Cleared
from memoranda.client.call import Call, Id, given
from memoranda.conversations.models import (
    Conversation,
    LoadedConversation,
    Message,
    Purged,
    WorkflowGeneration,
    WorkflowReset,
)


def load_conversation_of_key(
    workflow_id: str, *, generation: int = 1, agent_id: Id | None = None
) -> Call[LoadedConversation]:
    """Load the conversation of a key; one that is not there yet has no messages, and that is no error."""
    return Call(
        "GET",
        "/v1/conversations/load",
        LoadedConversation,
        query=given(workflow_id=workflow_id, generation=generation, agent_id=agent_id),
    )


def save_conversation_of_key(
    workflow_id: str,
    messages: Sequence[Message],
    fence: int,
    *,
    generation: int = 1,
    agent_id: Id | None = None,
    expected_digest: str | None = None,
    user_id: Id | None = None,
) -> Call[Conversation]:
    """Save the whole list of a key's conversation, which is made where there is none."""
    return Call(
        "PUT",
        "/v1/conversations/messages",
        Conversation,
        body=given(
            workflow_id=workflow_id,
            generation=generation,
            agent_id=agent_id,
            messages=messages,
            fence=fence,
            expected_digest=expected_digest,
            user_id=user_id,
        ),
    )


def append_messages_of_key(
    workflow_id: str,
    messages: Sequence[Message],
    *,
    generation: int = 1,
    agent_id: Id | None = None,
    expected_length: int | None = None,
    fence: int | None = None,
    user_id: Id | None = None,
) -> Call[Conversation]:
    """Append messages to a key's conversation, which is made where there is none."""
    return Call(
        "POST",
        "/v1/conversations/messages",
        Conversation,
        body=given(
            workflow_id=workflow_id,
            generation=generation,
            agent_id=agent_id,
            messages=messages,
            expected_length=expected_length,
            fence=fence,
            user_id=user_id,
        ),
    )


def clear_conversation_of_key(
    workflow_id: str, *, generation: int = 1, agent_id: Id | None = None
) -> Call[Cleared]:
    """Empty a key's conversation: what was loaded before is not saved any more."""
    return Call(
        "POST",
        "/v1/conversations/clear",
        Cleared,
        body=given(workflow_id=workflow_id, generation=generation, agent_id=agent_id),
    )


def get_generation(workflow_id: str) -> Call[WorkflowGeneration]:
    """Get which generation of a workflow goes on: older ones have ended, and later ones not begun."""
    return Call(
        "GET",
        "/v1/conversations/generation",
        WorkflowGeneration,
        query=given(workflow_id=workflow_id),
    )


def reset_workflow(workflow_id: str) -> Call[WorkflowReset]:
    """Begin a workflow's next generation: its conversations are cleared, and its spaces as they say."""
    return Call(
        "POST", "/v1/conversations/reset", WorkflowReset, body=given(workflow_id=workflow_id)
    )


def purge_workflow(workflow_id: str) -> Call[Purged]:
    """Delete all conversations of a workflow for good."""
    return Call("POST", "/v1/conversations/purge", Purged, body=given(workflow_id=workflow_id))
