"""Conversations, for scripts: make one, append what is said, read it back."""

from collections.abc import Callable, Sequence
from typing import Any, Final
from uuid import UUID

from memoranda import app
from memoranda.access.roles import organization_of
from memoranda.conversations.finding.models import ConversationAnswer
from memoranda.conversations.listeners import Listener
from memoranda.conversations.models import (
    Conversation,
    LoadedConversation,
    Message,
    MessagePage,
    Purged,
    StoredMessage,
    WorkflowGeneration,
    WorkflowReset,
)
from memoranda.conversations.places import At
from memoranda.sync.conversation_sizes import ConversationSizes
from memoranda.words.page import Page

PATIENCE_S: Final = 10.0
"""How long a search waits until what was said is read."""


class Conversations(ConversationSizes):
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
        place: At,
        messages: Sequence[Message],
        *,
        expected_length: int | None = None,
        fence: int | None = None,
        user_id: UUID | None = None,
    ) -> Conversation:
        """Add a turn, by id or by key; see `Conversations.append`."""
        return self._call(
            lambda at: at.conversations.append(
                at.owner,
                place,
                messages,
                expected_length=expected_length,
                fence=fence,
                user_id=user_id,
            )
        )

    def load(self, place: At) -> LoadedConversation:
        """What a run begins from, by id or by key; see `Conversations.load`."""
        return self._call(lambda at: at.conversations.load(at.owner, place))

    def save(
        self,
        place: At,
        messages: Sequence[Message],
        *,
        fence: int,
        expected_digest: str | None = None,
        user_id: UUID | None = None,
    ) -> Conversation:
        """Save a whole list over what was loaded; see `Conversations.save`."""
        return self._call(
            lambda at: at.conversations.save(
                at.owner,
                place,
                messages,
                fence=fence,
                expected_digest=expected_digest,
                user_id=user_id,
            )
        )

    def record(
        self, place: At, messages: Sequence[Message], *, fence: int, user_id: UUID | None = None
    ) -> Conversation | None:
        """`save`, which warns where it can't and goes on; see `Conversations.record`."""
        return self._call(
            lambda at: at.conversations.record(
                at.owner, place, messages, fence=fence, user_id=user_id
            )
        )

    def clear(self, place: At) -> Conversation | None:
        """Empty a conversation; see `Conversations.clear`."""
        return self._call(lambda at: at.conversations.clear(at.owner, place))

    def generation(self, workflow_id: str) -> WorkflowGeneration:
        """Which generation of a workflow goes on; see `Resets.generation`."""
        return self._call(lambda at: at.conversations.resets.generation(at.owner, workflow_id))

    def reset(self, workflow_id: str) -> WorkflowReset:
        """Begin a workflow's next generation; see `Resets.reset`."""
        return self._call(lambda at: at.conversations.resets.reset(at.owner, workflow_id))

    def purge(self, conversation_id: UUID) -> Purged:
        """Delete a conversation for good; see `Resets.purge`."""
        return self._call(lambda at: at.conversations.resets.purge(at.owner, conversation_id))

    def purge_workflow(self, workflow_id: str) -> Purged:
        """Delete a workflow's conversations for good; see `Resets.purge_workflow`."""
        return self._call(lambda at: at.conversations.resets.purge_workflow(at.owner, workflow_id))

    def get(self, conversation_id: UUID) -> Conversation:
        """A conversation without its messages; see `Conversations.get`."""
        return self._call(lambda at: at.conversations.get(at.owner, conversation_id))

    def messages(
        self, conversation_id: UUID, *, after: int = 0, limit: int = 100
    ) -> Sequence[StoredMessage]:
        """Messages in their order; see `Conversations.messages`."""
        return self.message_page(conversation_id, after=after, limit=limit).items

    def message_page(
        self, conversation_id: UUID, *, after: int = 0, limit: int = 100
    ) -> MessagePage:
        """The same, with the position to go on after; see `Conversations.message_page`."""
        return self._call(
            lambda at: at.conversations.message_page(
                at.owner, conversation_id, after=after, limit=limit
            )
        )

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Be told of every change that is committed here, until what it answers is called; see `Conversations.listen`.

        It is called on the product's own thread, which goes on once it returns: it may not call
        these verbs, and hands what takes time to a thread of its own.
        """

        async def begin(at: app.Memoranda) -> Callable[[], None]:
            return at.conversations.listen(listener)

        return self._call(begin)

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

    def of_workflow(
        self, workflow_id: str, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Conversation]:
        """A page of a workflow's, its newest generation first; see `Conversations.of_workflow`."""
        return self._call(
            lambda at: at.conversations.of_workflow(
                at.owner, workflow_id, limit=limit, cursor=cursor
            )
        )

    def search(
        self,
        query: str,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        conversation_id: UUID | None = None,
        limit: int = 8,
    ) -> ConversationAnswer:
        """The messages that answer a query; see `ConversationSearch.search`.

        What nobody's worker has read yet is read first.
        """
        return self._call(
            lambda at: _searched(
                at,
                query,
                user_id=user_id,
                agent_id=agent_id,
                conversation_id=conversation_id,
                limit=limit,
            )
        )


async def _searched(at: app.Memoranda, query: str, **asked: Any) -> ConversationAnswer:
    await at.conversation_search.catch_up(organization_of(at.owner), within_s=PATIENCE_S)
    return await at.conversation_search.search(at.owner, query, **asked)
