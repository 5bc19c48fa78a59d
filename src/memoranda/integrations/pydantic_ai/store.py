"""Pydantic AI's conversation store over histories: a record and its entries, as the framework writes them."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from pydantic import TypeAdapter
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import (
    ConversationConflict,
    ConversationEntry,
    ConversationRecord,
    ConversationStore,
)
from pydantic_ai.messages import ModelMessagesTypeAdapter
from pydantic_ai.run import AgentRunResult
from pydantic_core import PydanticSerializationError

from memoranda.access.models import Principal
from memoranda.app import Memoranda
from memoranda.conversations.histories.errors import HistoryChanged
from memoranda.conversations.histories.models import History, HistoryEntry
from memoranda.conversations.histories.service import LONGEST_NAME, Histories
from memoranda.words.errors import Invalid
from memoranda.words.fitting import called
from memoranda.words.given import checked
from memoranda.words.inputs import check_storable, text_input

_RECORD: Final = TypeAdapter(ConversationRecord)


class MemorandaConversationStore(ConversationStore):
    """Keeps the conversations of one user, or of nobody, as `who` (the owner, where nobody is named).

    Another user's are not there for it, whatever their ids. `load`, `save`, `branch`, `fork`, `delete` and the
    rest are the framework's own; a message is stored through its `ModelMessagesTypeAdapter`, and comes back equal.
    To delete a conversation deletes its messages too, but for those that a fork goes on from. All are
    deleted with the user.
    """

    @checked
    def __init__(
        self, memoranda: Memoranda, who: Principal | None = None, *, user_id: UUID | None = None
    ) -> None:
        self._who = who or memoranda.owner
        self._user_id = user_id
        self._histories = Histories(
            memoranda.storage, max_bytes=memoranda.settings.conversation_max_bytes
        )

    async def save(
        self, conversation: Conversation | AgentRunResult[Any], *, scope: str | None = None
    ) -> list[ConversationEntry]:
        """The framework's own. Raises `Invalid` for what is neither a conversation nor a run's result."""
        _check("conversation", conversation, Conversation, AgentRunResult)
        return await super().save(conversation, scope=scope)

    @checked
    async def read_record(self, conversation_id: str) -> ConversationRecord | None:
        """The record of a conversation, if it is there."""
        check_storable("conversation_id", conversation_id)
        found = await self._histories.find(self._who, conversation_id, user_id=self._user_id)
        return None if found is None else _record(found)

    async def read_records(
        self, *, scope: str | None = None, limit: int | None = None
    ) -> Sequence[ConversationRecord]:
        """The records of a scope, or all, the last saved first."""
        found = await self._histories.page(
            self._who, user_id=self._user_id, scope=scope, limit=limit
        )
        return list(map(_record, found))

    async def write_record(
        self,
        record: ConversationRecord,
        *,
        new_entries: Sequence[ConversationEntry] = (),
        expected_revision: str | None,
    ) -> None:
        """Keep a record and what its history adds, in one transaction. Raises `ConversationConflict`."""
        _check("record", record, ConversationRecord)
        for place, entry in enumerate(new_entries):
            _check(f"new_entries.{place}", entry, ConversationEntry)
        try:
            await self._histories.write(
                self._who,
                _history(record),
                list(map(_kept, new_entries)),
                expected_revision=expected_revision,
                user_id=self._user_id,
            )
        except HistoryChanged as changed:
            raise ConversationConflict(record.conversation_id) from changed

    async def delete_record(self, conversation_id: str, *, expected_revision: str) -> None:
        """Delete a record, and the entries that no other one comes by. Raises `ConversationConflict`."""
        try:
            await self._histories.delete(
                self._who,
                conversation_id,
                expected_revision=expected_revision,
                user_id=self._user_id,
            )
        except HistoryChanged as changed:
            raise ConversationConflict(conversation_id) from changed

    async def read_entry(self, entry_id: str) -> ConversationEntry:
        """The entry of that id. Raises LookupError."""
        found = await self._histories.entry(self._who, entry_id, user_id=self._user_id)
        if found is None:
            raise LookupError(entry_id)
        return _entry(found)

    async def read_history(
        self, head_id: str | None, *, limit: int | None = None
    ) -> list[ConversationEntry]:
        """The entries up to `head_id`, in order, or the last `limit`. Raises LookupError."""
        if head_id is None:
            return []
        found = await self._histories.path(self._who, head_id, user_id=self._user_id, limit=limit)
        if found is None:
            raise LookupError(head_id)
        return list(map(_entry, found))


def _check(field: str, given: object, *kinds: type) -> None:
    """Raise `Invalid` for what is of none of the framework's kinds that belong there."""
    if not isinstance(given, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise Invalid(f"{field} must be {names} and is {called(given)}.", field=field)


def _record(history: History) -> ConversationRecord:
    return _RECORD.validate_json(history.record)


def _history(record: ConversationRecord) -> History:
    text_input("conversation_id", record.conversation_id, limit=LONGEST_NAME)
    tips = dict.fromkeys([record.head_id, *record.branches])
    return History(
        name=record.conversation_id,
        scope=record.scope,
        revision=record.revision,
        record=_written(_RECORD, record),
        tips=tuple(tip for tip in tips if tip is not None),
        updated_at=record.updated_at,
    )


def _kept(entry: ConversationEntry) -> HistoryEntry:
    # The framework's own adapter is one of lists.
    said = _written(ModelMessagesTypeAdapter, [entry.message])
    return HistoryEntry(name=entry.id, parent=entry.parent_id, content=said)


def _written(adapter: TypeAdapter[Any], given: Any) -> str:
    try:
        return adapter.dump_json(given).decode()
    except PydanticSerializationError as error:
        raise Invalid(
            f"This conversation can't be written as JSON, so nothing of it was kept: {error}. Give "
            "arguments, results and metadata that JSON knows, and whole characters.",
            field="messages",
        ) from error


def _entry(kept: HistoryEntry) -> ConversationEntry:
    [message] = ModelMessagesTypeAdapter.validate_json(kept.content)
    return ConversationEntry(id=kept.name, parent_id=kept.parent, message=message)
