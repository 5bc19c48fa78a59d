"""The verbs of usage: record what a call used, and read what all of them used together."""

from collections.abc import Sequence
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, organization_for, sees, subject_of
from memoranda.conversations import store as conversations
from memoranda.conversations.errors import not_seen
from memoranda.conversations.models import Conversation
from memoranda.conversations.usage import store
from memoranda.conversations.usage.models import (
    CallUsage,
    RecordedUsage,
    Usage,
    UsageTotal,
    checked_usage,
)
from memoranda.storage import Storage, Transaction
from memoranda.words.given import checks_shapes
from memoranda.words.inputs import text_input


@checks_shapes
class UsageLedger:
    """What conversations used and cost over their lives. How full a window is, `pressure` says."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    async def record(
        self, who: Principal, conversation_id: UUID, usage: CallUsage
    ) -> RecordedUsage:
        """Add what one call of a provider used; a `call_id` that is known already adds nothing.

        It stays when the conversation is cleared, reset or purged. Raises `NotFound`.
        """
        organization = organization_for(who, Permission.WRITE_CONVERSATIONS)
        checked = checked_usage(usage)
        return await self._storage.write(organization, _record, who, conversation_id, checked)

    async def of(self, who: Principal, conversation_id: UUID) -> Usage:
        """Totals of the conversation's calls and compactions. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        return await self._storage.read(organization, _of, who, conversation_id)

    async def of_workflow(self, who: Principal, workflow_id: str) -> Usage:
        """Totals of all generations of a workflow, those that were cleared or purged too. For an owner."""
        organization = organization_for(who, Permission.READ_ACTIVITY)
        workflow_id = text_input("workflow_id", workflow_id)
        return _usage(await self._storage.read(organization, store.of_workflow, workflow_id))

    async def total(
        self, who: Principal, *, user_id: UUID | None = None, agent_id: UUID | None = None
    ) -> Usage:
        """Totals of the user and agent named; of all that the caller sees, without."""
        organization = organization_for(who, Permission.READ_CONVERSATIONS)
        subject = subject_of(who, agent_id, user_id)
        return _usage(
            await self._storage.read(
                organization,
                store.of_subject,
                subject.user_id,
                subject.agent_id,
                alone=who.role is Role.AGENT,
            )
        )


def _record(
    tx: Transaction, who: Principal, conversation_id: UUID, usage: CallUsage
) -> RecordedUsage:
    return store.record(tx, _seen(tx, who, conversation_id), usage, "call")


def _of(tx: Transaction, who: Principal, conversation_id: UUID) -> Usage:
    return _usage(store.of_conversation(tx, _seen(tx, who, conversation_id).id))


def _seen(tx: Transaction, who: Principal, conversation_id: UUID) -> Conversation:
    found = conversations.find(tx, conversation_id)
    if found is None or not sees(who, user_id=found.user_id, agent_id=found.agent_id):
        raise not_seen(conversation_id)
    return found


def _usage(totals: Sequence[UsageTotal]) -> Usage:
    return Usage(
        calls=sum(each.calls for each in totals),
        input_tokens=sum(each.input_tokens for each in totals),
        output_tokens=sum(each.output_tokens for each in totals),
        cached_tokens=sum(each.cached_tokens for each in totals),
        cost_micros=sum(each.cost_micros for each in totals),
        totals=list(totals),
    )
