"""The verbs of feedback: say what one thinks of an answer, take it back, read what was said."""

from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for
from memoranda.conversations.chats import store as chats
from memoranda.conversations.chats.errors import unknown_message
from memoranda.conversations.chats.feedback import store
from memoranda.conversations.chats.feedback.models import Feedback, Rating
from memoranda.conversations.chats.feedback.wording import told
from memoranda.conversations.chats.keys import key_of
from memoranda.conversations.chats.models import Chat, ChatMessage
from memoranda.conversations.chats.notes import store as notes
from memoranda.conversations.chats.seeing import held_chat, seen_chat
from memoranda.storage import Storage, Transaction
from memoranda.words.errors import Invalid
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import choice_input, optional_text_input

LONGEST_COMMENT: Final = 2_000
"""Characters that a comment may have."""
MOST_LISTED: Final = 10_000


@checks_shapes
class ChatFeedback:
    """What users think of answers. The agent is told by a note, ahead of what the user says next."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def give(
        self,
        who: Principal,
        chat_id: UUID,
        message_id: UUID,
        rating: Rating,
        *,
        comment: str | None = None,
    ) -> Feedback:
        """Say that the answer was good (`up`) or not (`down`), and why in at most 2,000 characters.

        It takes the place of what the same user said of it before, and leaves a note, which waits while the answer is
        not on the path that is shown; of notes about ratings the newest 50 wait, and each rating is kept. It is said by the caller's own user, and by the chat's where the
        caller has none. Raises `NotFound`, and `Invalid` for a message that is no answer.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        rating = choice_input("rating", rating, Rating)
        comment = optional_text_input("comment", comment, limit=LONGEST_COMMENT)
        return await self._storage.write(
            organization, _give, who, chat_id, message_id, rating=rating, comment=comment
        )

    async def take_back(self, who: Principal, chat_id: UUID, message_id: UUID) -> bool:
        """Think nothing of the answer any more, and tell nobody what waits to be told; whether something was said.

        Raises as `give` does.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        return await self._storage.write(organization, _take_back, who, chat_id, message_id)

    async def list(self, who: Principal, chat_id: UUID) -> list[Feedback]:
        """All that is thought of the chat's answers. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        return await self._storage.read(organization, _list, who, chat_id)


def _give(
    tx: Transaction,
    who: Principal,
    chat_id: UUID,
    message_id: UUID,
    *,
    rating: Rating,
    comment: str | None,
) -> Feedback:
    chat = held_chat(tx, who, chat_id)
    answer = _answer(tx, chat, message_id)
    by = _by(who, chat)
    given = store.put(tx, chat.id, answer.id, by, rating=rating, comment=comment)
    line = told(answer, rating, comment, own=by == chat.user_id)
    notes.add(tx, chat.id, key_of(answer.id, by), line)
    return given


def _take_back(tx: Transaction, who: Principal, chat_id: UUID, message_id: UUID) -> bool:
    chat = held_chat(tx, who, chat_id)
    answer = _answer(tx, chat, message_id)
    by = _by(who, chat)
    notes.take_back(tx, chat.id, key_of(answer.id, by))
    return store.remove(tx, answer.id, by)


def _list(tx: Transaction, who: Principal, chat_id: UUID) -> list[Feedback]:
    return store.of_chat(tx, seen_chat(tx, who, chat_id).id, MOST_LISTED)


def _answer(tx: Transaction, chat: Chat, message_id: UUID) -> ChatMessage:
    found = chats.message(tx, chat.id, message_id)
    if found is None:
        raise unknown_message(message_id)
    if found.role != "assistant":
        raise Invalid("Only an answer can be rated: name an answer.", field="message_id")
    return found


def _by(who: Principal, chat: Chat) -> UUID:
    return who.user_id or chat.user_id
