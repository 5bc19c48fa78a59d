"""What is read of conversations within one transaction, and by whom; and where some texts are quoted."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Final
from uuid import UUID

from memoranda.conversations import store
from memoranda.conversations.errors import not_seen
from memoranda.conversations.models import (
    LAST_GENERATION,
    Conversation,
    MessagePage,
    StoredMessage,
)
from memoranda.storage import Storage, Transaction
from memoranda.words.errors import Invalid
from memoranda.words.quotes import Quotes
from memoranda.words.subject import ContextSubject

LOOKED_THROUGH: Final = 20
"""Conversations that one look for quotes goes through."""


def of_workflow(
    tx: Transaction,
    workflow_id: str,
    before: UUID | None,
    most: int,
    seen: Callable[[Conversation], bool],
) -> list[Conversation]:
    """Those of the workflow's conversations that are `seen`, after the one with that id, the newest generation first."""
    start = LAST_GENERATION, store.NEWEST
    if before is not None:
        last = store.find(tx, before)
        if last is None or not seen(last):
            raise Invalid(
                "The conversation that this list would go on after is gone: start again without a cursor.",
                field="cursor",
            )
        start = last.generation, last.id
    found: list[Conversation] = []
    # No page may end with one that is not seen: its id would be in the cursor.
    while len(found) < most:
        rows = store.of_workflow(tx, workflow_id, start, most)
        found += filter(seen, rows)
        if len(rows) < most:
            break
        start = rows[-1].generation, rows[-1].id
    return found[:most]


def messages(tx: Transaction, conversation_id: UUID, after: int, most: int) -> MessagePage:
    """Messages in their order, from after the position `after`, and where to go on after the last of them."""
    found = store.messages(tx, conversation_id, after, most + 1)
    items = found[:most]
    return MessagePage(
        items=items, next_after=items[-1].position if len(found) > len(items) else None
    )


def recent(
    tx: Transaction,
    subject: ContextSubject,
    conversation_id: UUID,
    limit: int,
    as_of: datetime | None,
) -> list[StoredMessage]:
    """The last messages, the newest first, of a conversation that the subject is part of."""
    _check_part(tx, subject, conversation_id)
    return store.latest(tx, conversation_id, limit, as_of)


def summary(
    tx: Transaction, subject: ContextSubject, conversation_id: UUID, as_of: datetime | None
) -> StoredMessage | None:
    """What stands for what was compacted, in a conversation that the subject is part of."""
    _check_part(tx, subject, conversation_id)
    return store.summary(tx, conversation_id, as_of)


async def quoting(
    storage: Storage, organization_id: UUID, texts: Iterable[str], but: UUID | None
) -> list[UUID]:
    """The conversations that keep one of these texts, the newest first; none of the user `but`."""
    quotes = Quotes(texts)
    found: list[UUID] = []
    before: UUID | None = None
    while quotes:
        # A few conversations at a time, so that no one view of the database is held for long.
        some, before = await storage.read(
            organization_id, store.quoting, quotes, before, LOOKED_THROUGH
        )
        found += [each.id for each in some if but is None or each.user_id != but]
        if before is None:
            break
    return found


def _check_part(tx: Transaction, subject: ContextSubject, conversation_id: UUID) -> None:
    found = store.find(tx, conversation_id)
    if found is None or not _part_of(found, subject):
        raise not_seen(conversation_id)


def _part_of(conversation: Conversation, subject: ContextSubject) -> bool:
    return conversation.user_id in {None, subject.user_id} and (
        subject.agent_id is None or conversation.agent_id in {None, subject.agent_id}
    )
