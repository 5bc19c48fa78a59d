"""The verbs of conversations: make one, append a turn, read it back."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, organization_for, sees, subject_of
from memoranda.access.store import check_subject
from memoranda.conversations import store
from memoranda.conversations.content import check_content, written
from memoranda.conversations.models import (
    Conversation,
    Message,
    StoredMessage,
)
from memoranda.storage import ConstraintViolated, Storage, Transaction
from memoranda.words.cursor import read_cursor
from memoranda.words.errors import Conflict, Invalid, OverLimit
from memoranda.words.ids import new_id
from memoranda.words.inputs import check_count, optional_text_input
from memoranda.words.page import Page, cut_page
from memoranda.words.quotes import Quotes
from memoranda.words.subject import ContextSubject

MOST_APPENDED: Final = 1_000
"""Messages that one append may bring."""
LARGEST_APPEND: Final = 8_000_000
"""Bytes of content that one append may bring, as JSON in UTF-8."""
MOST_LISTED: Final = 1_000
LOOKED_THROUGH: Final = 20
"""Conversations that one look for quotes goes through."""
LAST_GENERATION: Final = 2**31 - 1
_LISTING: Final = "conversations"
_KEYS: Final = {"one_conversation_per_key", "one_conversation_per_key_without_agent"}


class Conversations:
    """What was said, kept exactly: an ordered list of messages per conversation."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def create(
        self,
        who: Principal,
        *,
        workflow_id: str | None = None,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        generation: int = 1,
    ) -> Conversation:
        """Make an empty conversation for the user and agent named.

        A workflow has one per generation and agent: raises `Conflict`, naming it, where
        it is there. `NotFound` for an unknown user or agent.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        subject = subject_of(who, agent_id, user_id)
        workflow_id = optional_text_input("workflow_id", workflow_id)
        check_count("generation", generation, most=LAST_GENERATION)
        try:
            return await self._storage.write(
                organization, _create, subject, workflow_id, generation
            )
        except ConstraintViolated as broken:
            if broken.name in _KEYS and workflow_id is not None:
                raise await self._taken(who, subject, workflow_id, generation) from None
            # The usual reason is a user or agent that the organization does not have.
            await self._storage.read(
                organization, check_subject, user_id=subject.user_id, agent_id=subject.agent_id
            )
            raise

    async def append(
        self,
        who: Principal,
        conversation_id: UUID,
        messages: Sequence[Message],
        *,
        expected_length: int | None = None,
    ) -> Conversation:
        """Add a turn (1 to 1,000 messages, 8 MB) after the last message; all of it or nothing.

        The cost is the turn's, however long the conversation. With `expected_length`
        it is added only where the conversation has that many messages: otherwise raises
        `Conflict`, whose details carry the present `length`. `NotFound` for a
        conversation that is not there or not the caller's.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        turn = _turn(messages)
        if expected_length is not None and expected_length < 0:
            raise Invalid(
                "expected_length counts messages: it is 0 or more.", field="expected_length"
            )
        return await self._storage.write(
            organization,
            store.append,
            conversation_id,
            turn,
            expected_length,
            lambda found: _sees(who, found),
        )

    async def get(self, who: Principal, conversation_id: UUID) -> Conversation:
        """The conversation without its messages. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        found = await self._storage.read(organization, store.find, conversation_id)
        if found is None or not _sees(who, found):
            raise store.unknown_conversation(conversation_id)
        return found

    async def page(
        self,
        who: Principal,
        *,
        user_id: UUID | None = None,
        agent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Conversation]:
        """Conversations of the user and agent named (all that the caller sees, without), the newest first.

        `limit` is 1 to 1,000. Raises `Invalid` for a cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        check_count("limit", limit, most=MOST_LISTED)
        before = read_cursor(_LISTING, cursor)
        subject = subject_of(who, agent_id, user_id)
        found = await self._storage.read(
            organization,
            store.page,
            subject.user_id,
            subject.agent_id,
            before,
            limit + 1,
            alone=who.role is Role.AGENT,
        )
        return cut_page(_LISTING, found, limit)

    async def messages(
        self, who: Principal, conversation_id: UUID, *, after: int = 0, limit: int = 100
    ) -> list[StoredMessage]:
        """Messages in their order from after the position `after`, at most `limit` (1 to 1,000)."""
        check_count("limit", limit, most=MOST_LISTED)
        if not 0 <= after <= LAST_GENERATION:
            raise Invalid(
                "after is the position of a message, or 0 for the beginning.", field="after"
            )
        found = await self.get(who, conversation_id)
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        return await self._storage.read(organization, store.messages, found.id, after, limit)

    async def recent(
        self,
        subject: ContextSubject,
        conversation_id: UUID,
        limit: int,
        *,
        as_of: datetime | None = None,
    ) -> list[StoredMessage]:
        """The last messages of a conversation that `subject` is part of, the newest first; 0 reads nothing.

        With `as_of`, those that were the last at that time: messages are only ever added. Raises `NotFound` for a conversation of another user or agent, as for none at all.
        """
        if limit < 0:
            raise Invalid(f"limit is {limit} and must not be negative.", field="limit")
        if limit == 0:
            return []
        return await self._storage.read(
            subject.organization_id, _recent, subject, conversation_id, limit, as_of
        )

    async def quoting(self, organization_id: UUID, texts: Iterable[str]) -> list[UUID]:
        """The organization's conversations that hold one of these texts, the newest first.

        Case and whitespace make no difference. For whoever has the right to see them all, and
        to decide what becomes of them: nothing is changed here.
        """
        quotes = Quotes(texts)
        quoting: list[UUID] = []
        before: UUID | None = None
        while quotes:
            # A few conversations at a time, so that no one view of the database is held for long.
            found, before = await self._storage.read(
                organization_id, store.quoting, quotes, before, LOOKED_THROUGH
            )
            quoting += found
            if before is None:
                break
        return quoting

    async def _taken(
        self, who: Principal, subject: ContextSubject, workflow_id: str, generation: int
    ) -> Conflict:
        found = await self._storage.read(
            subject.organization_id, store.under_key, workflow_id, generation, subject.agent_id
        )
        details = {"conversation_id": str(found.id)} if found and _sees(who, found) else {}
        return Conflict(
            "This workflow's generation has a conversation with this agent already: "
            "append to it, or begin another generation.",
            **details,
        )


def _create(
    tx: Transaction, subject: ContextSubject, workflow_id: str | None, generation: int
) -> Conversation:
    return store.create(
        tx,
        Conversation(
            id=new_id(),
            workflow_id=workflow_id,
            generation=generation,
            agent_id=subject.agent_id,
            user_id=subject.user_id,
            length=0,
            created_at=tx.now,
            updated_at=tx.now,
        ),
    )


def _recent(
    tx: Transaction,
    subject: ContextSubject,
    conversation_id: UUID,
    limit: int,
    as_of: datetime | None,
) -> list[StoredMessage]:
    found = store.find(tx, conversation_id)
    if found is None or not _part_of(found, subject):
        raise store.unknown_conversation(conversation_id)
    return store.latest(tx, conversation_id, limit, as_of)


def _part_of(conversation: Conversation, subject: ContextSubject) -> bool:
    return conversation.user_id in {None, subject.user_id} and (
        subject.agent_id is None or conversation.agent_id in {None, subject.agent_id}
    )


def _sees(who: Principal, conversation: Conversation) -> bool:
    return sees(who, user_id=conversation.user_id, agent_id=conversation.agent_id)


def _turn(messages: Sequence[Message]) -> list[tuple[str, str]]:
    check_count("messages", len(messages), most=MOST_APPENDED)
    for place, message in enumerate(messages):
        check_content(f"messages.{place}.content", message.content)
    turn: list[tuple[str, str]] = [(message.role, written(message.content)) for message in messages]
    size = sum(len(content.encode()) for _, content in turn)
    if size > LARGEST_APPEND:
        raise OverLimit(
            f"messages has {size} bytes and may have {LARGEST_APPEND}: append less at a time.",
            field="messages",
            limit=LARGEST_APPEND,
        )
    return turn
