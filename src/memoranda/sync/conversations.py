"""Conversations, for scripts: make one, append what is said, read it back."""

from collections.abc import Sequence
from uuid import UUID

from memoranda.conversations.models import Conversation, Message, StoredMessage
from memoranda.sync.opened import Room
from memoranda.words.page import Page


class Conversations(Room):
    """What was said; each verb is that of `Conversations`."""

    def create(
        self,
        *,
        workflow_id: str | None = None,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        generation: int = 1,
    ) -> Conversation:
        """Make an empty conversation; see `Conversations.create`."""
        return self._call(
            lambda at: at.conversations.create(
                at.owner,
                workflow_id=workflow_id,
                agent_id=agent_id,
                user_id=user_id,
                generation=generation,
            )
        )

    def append(
        self,
        conversation_id: UUID,
        messages: Sequence[Message],
        *,
        expected_length: int | None = None,
    ) -> Conversation:
        """Add a turn; see `Conversations.append`."""
        return self._call(
            lambda at: at.conversations.append(
                at.owner, conversation_id, messages, expected_length=expected_length
            )
        )

    def get(self, conversation_id: UUID) -> Conversation:
        """A conversation without its messages; see `Conversations.get`."""
        return self._call(lambda at: at.conversations.get(at.owner, conversation_id))

    def messages(
        self, conversation_id: UUID, *, after: int = 0, limit: int = 100
    ) -> Sequence[StoredMessage]:
        """Messages in their order; see `Conversations.messages`."""
        return self._call(
            lambda at: at.conversations.messages(
                at.owner, conversation_id, after=after, limit=limit
            )
        )

    def list(
        self,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Conversation]:
        """A page of conversations, the newest first; see `Conversations.page`."""
        return self._call(
            lambda at: at.conversations.page(
                at.owner, user_id=user_id, agent_id=agent_id, limit=limit, cursor=cursor
            )
        )
