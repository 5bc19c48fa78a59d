"""How large conversations are and what they cost, for scripts."""

from uuid import UUID

from memoranda.conversations.compaction.models import ArchivedMessage, Compaction, MaybeCompacted
from memoranda.conversations.pressure import Pressure
from memoranda.conversations.usage.models import CallUsage, RecordedUsage, Usage
from memoranda.conversations.wire.fidelity import FIDELITY, RuntimeFidelity
from memoranda.sync.opened import Room
from memoranda.words.page import Page


class ConversationSizes(Room):
    """Compactions, what they put away, and usage; each verb is that of `Compactions` or `UsageLedger`."""

    def compact(
        self, conversation_id: UUID, *, keep_turns: int = 1, provider: str | None = None
    ) -> Compaction:
        """Let a summary stand for earlier turns; see `Compactions.compact`."""
        return self._call(
            lambda at: at.conversations.compactions.compact(
                at.owner, conversation_id, keep_turns=keep_turns, provider=provider
            )
        )

    def compact_if_due(
        self,
        conversation_id: UUID,
        *,
        window: int,
        room: int = 0,
        keep_turns: int = 1,
        provider: str | None = None,
    ) -> MaybeCompacted:
        """The same where it is time; see `Compactions.compact_if_due`."""
        return self._call(
            lambda at: at.conversations.compactions.compact_if_due(
                at.owner,
                conversation_id,
                window=window,
                room=room,
                keep_turns=keep_turns,
                provider=provider,
            )
        )

    def pressure(self, conversation_id: UUID, *, window: int, room: int = 0) -> Pressure:
        """How full a model's window will be; see `Compactions.pressure`."""
        return self._call(
            lambda at: at.conversations.compactions.pressure(
                at.owner, conversation_id, window=window, room=room
            )
        )

    def attempts(
        self, conversation_id: UUID, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Compaction]:
        """A page of the attempts to compact, the newest first; see `Compactions.attempts`."""
        return self._call(
            lambda at: at.conversations.compactions.attempts(
                at.owner, conversation_id, limit=limit, cursor=cursor
            )
        )

    def history(
        self, conversation_id: UUID, *, limit: int = 100, cursor: str | None = None
    ) -> Page[ArchivedMessage]:
        """A page of what compactions put away, in its order; see `Compactions.history`."""
        return self._call(
            lambda at: at.conversations.compactions.history(
                at.owner, conversation_id, limit=limit, cursor=cursor
            )
        )

    def pin(self, conversation_id: UUID, position: int) -> None:
        """Let a message survive every compaction; see `Compactions.pin`."""
        self._call(lambda at: at.conversations.compactions.pin(at.owner, conversation_id, position))

    def unpin(self, conversation_id: UUID, position: int) -> None:
        """Let a message be compacted as others are; see `Compactions.unpin`."""
        self._call(
            lambda at: at.conversations.compactions.unpin(at.owner, conversation_id, position)
        )

    def record_usage(self, conversation_id: UUID, usage: CallUsage) -> RecordedUsage:
        """Record what a call used; see `UsageLedger.record`."""
        return self._call(
            lambda at: at.conversations.usage.record(at.owner, conversation_id, usage)
        )

    def usage(self, conversation_id: UUID) -> Usage:
        """What the calls of a conversation used in all; see `UsageLedger.of`."""
        return self._call(lambda at: at.conversations.usage.of(at.owner, conversation_id))

    def usage_of_workflow(self, workflow_id: str) -> Usage:
        """What those of a workflow used; see `UsageLedger.of_workflow`."""
        return self._call(lambda at: at.conversations.usage.of_workflow(at.owner, workflow_id))

    def total_usage(self, *, user_id: UUID | None = None, agent_id: UUID | None = None) -> Usage:
        """What those of a user and agent used, or all; see `UsageLedger.total`."""
        return self._call(
            lambda at: at.conversations.usage.total(at.owner, user_id=user_id, agent_id=agent_id)
        )

    def fidelity(self) -> tuple[RuntimeFidelity, ...]:
        """What is kept of each runtime's conversations, and what nobody can claim of them."""
        return FIDELITY
