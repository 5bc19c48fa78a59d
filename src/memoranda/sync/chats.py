"""Chats, for scripts: say something, edit, answer again, switch; notes, and what is thought of answers."""

import builtins
from collections.abc import AsyncIterator, Iterator
from functools import partial
from uuid import UUID

from memoranda import app
from memoranda.conversations.chats.feedback.models import Feedback, Rating
from memoranda.conversations.chats.models import Chat, Sent, Thread
from memoranda.conversations.chats.notes.models import Note
from memoranda.conversations.models import Content
from memoranda.sync.chat_runs import ChatRuns
from memoranda.words.page import Page


class Chats(ChatRuns):
    """Chats and their runs; each verb is that of `Chats`, of its `notes` or of its `feedback`."""

    def create(
        self,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        workflow_id: str | None = None,
        title: str | None = None,
    ) -> Chat:
        """Open a chat; see `Chats.create`."""
        return self._call(
            lambda at: at.chats.create(
                at.owner, user_id=user_id, agent_id=agent_id, workflow_id=workflow_id, title=title
            )
        )

    def get(self, chat_id: UUID) -> Chat:
        """A chat without its messages; see `Chats.get`."""
        return self._call(lambda at: at.chats.get(at.owner, chat_id))

    def list(
        self,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        workflow_id: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Chat]:
        """A page of chats, the newest first; see `Chats.page`."""
        return self._call(
            lambda at: at.chats.page(
                at.owner,
                user_id=user_id,
                agent_id=agent_id,
                workflow_id=workflow_id,
                limit=limit,
                cursor=cursor,
            )
        )

    def thread(self, chat_id: UUID, *, before: UUID | None = None, limit: int = 1_000) -> Thread:
        """What is shown of a chat; see `Chats.thread`."""
        return self._call(lambda at: at.chats.thread(at.owner, chat_id, before=before, limit=limit))

    def export(self, chat_id: UUID) -> Iterator[str]:
        """A chat with all of its branches, line by line; see `Chats.export`."""
        lines = self._call(partial(_export, chat_id=chat_id))
        while (line := self._call(lambda _: anext(lines, None))) is not None:
            yield line

    def send(
        self, chat_id: UUID, content: Content, *, client_message_id: str | None = None
    ) -> Sent:
        """Say something; see `Chats.send`."""
        return self._call(
            lambda at: at.chats.send(
                at.owner, chat_id, content, client_message_id=client_message_id
            )
        )

    def edit(
        self, chat_id: UUID, message_id: UUID, content: Content, *, expected_revision: int
    ) -> Sent:
        """Say something else in the place of a message; see `Chats.edit`."""
        return self._call(
            lambda at: at.chats.edit(
                at.owner, chat_id, message_id, content, expected_revision=expected_revision
            )
        )

    def regenerate(self, chat_id: UUID, *, expected_revision: int) -> Sent:
        """Let the latest message be answered again; see `Chats.regenerate`."""
        return self._call(
            lambda at: at.chats.regenerate(at.owner, chat_id, expected_revision=expected_revision)
        )

    def switch(self, chat_id: UUID, message_id: UUID, *, expected_revision: int) -> Thread:
        """Show another branch; see `Chats.switch`."""
        return self._call(
            lambda at: at.chats.switch(
                at.owner, chat_id, message_id, expected_revision=expected_revision
            )
        )

    def clear(self, chat_id: UUID) -> Chat:
        """Clear all that was said; see `Chats.clear`."""
        return self._call(lambda at: at.chats.clear(at.owner, chat_id))

    def delete(self, chat_id: UUID) -> None:
        """Delete a chat for good; see `Chats.delete`."""
        return self._call(lambda at: at.chats.delete(at.owner, chat_id))

    def note(self, chat_id: UUID, key: str, text: str) -> Note:
        """Leave a note that the next run is told; see `ChatNotes.add`."""
        return self._call(lambda at: at.chats.notes.add(at.owner, chat_id, key, text))

    def take_note_back(self, chat_id: UUID, key: str) -> bool:
        """Take back a note that waits; see `ChatNotes.take_back`."""
        return self._call(lambda at: at.chats.notes.take_back(at.owner, chat_id, key))

    def notes(self, chat_id: UUID, *, limit: int = 50, cursor: str | None = None) -> Page[Note]:
        """A page of a chat's notes; see `ChatNotes.page`."""
        return self._call(
            lambda at: at.chats.notes.page(at.owner, chat_id, limit=limit, cursor=cursor)
        )

    def rate(
        self, chat_id: UUID, message_id: UUID, rating: Rating, *, comment: str | None = None
    ) -> Feedback:
        """Say what is thought of an answer; see `ChatFeedback.give`."""
        return self._call(
            lambda at: at.chats.feedback.give(
                at.owner, chat_id, message_id, rating, comment=comment
            )
        )

    def take_rating_back(self, chat_id: UUID, message_id: UUID) -> bool:
        """Take back what was thought of an answer; see `ChatFeedback.take_back`."""
        return self._call(lambda at: at.chats.feedback.take_back(at.owner, chat_id, message_id))

    def ratings(self, chat_id: UUID) -> builtins.list[Feedback]:
        """What is thought of a chat's answers; see `ChatFeedback.list`."""
        return self._call(lambda at: at.chats.feedback.list(at.owner, chat_id))


async def _export(at: app.Memoranda, *, chat_id: UUID) -> AsyncIterator[str]:
    return at.chats.export(at.owner, chat_id)
