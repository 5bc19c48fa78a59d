"""Which conversation a caller means: its key, narrowed to what the caller may name, or its id. Pure."""

from typing import TypeAlias
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import sees, subject_of
from memoranda.conversations.models import Conversation, ConversationKey
from memoranda.conversations.writing import Place
from memoranda.words.inputs import text_input

At: TypeAlias = ConversationKey | UUID
"""A conversation by its key or by its id."""


def place_of(who: Principal, at: At, user_id: UUID | None = None) -> Place:
    """The place that is meant; where a key has no conversation yet, it becomes the user's that is named.

    Raises `Refused` for an agent or user that the caller may not act for, and `Invalid`.
    """

    def seen(conversation: Conversation) -> bool:
        return sees(who, user_id=conversation.user_id, agent_id=conversation.agent_id)

    if isinstance(at, UUID):
        return Place(None, at, subject_of(who), seen)
    subject = subject_of(who, at.agent_id, user_id)
    key = at.model_copy(
        update={
            "workflow_id": text_input("workflow_id", at.workflow_id),
            "agent_id": subject.agent_id,
        }
    )
    return Place(key, None, subject, seen)
