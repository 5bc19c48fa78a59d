"""The SQL of usage: rows are added and never changed, and totals are made of them."""

from typing import Any
from uuid import UUID

from sqlalchemy import Select, bindparam, func, select

from memoranda.conversations.models import Conversation
from memoranda.conversations.usage.models import CallUsage, RecordedUsage, UsageKind, UsageTotal
from memoranda.storage import Transaction, insert_or_ignore
from memoranda.storage.tables import conversation_usage
from memoranda.words.ids import new_id

u = conversation_usage.c
_COLUMNS = tuple(u[name] for name in RecordedUsage.model_fields)
COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "cost_micros")
INSERT = insert_or_ignore(conversation_usage)
BY_CALL = select(*_COLUMNS).where(
    u.conversation_id == bindparam("conversation"), u.call_id == bindparam("call")
)
_TOTALS = (
    select(
        u.kind,
        u.provider,
        u.model,
        func.count().label("calls"),
        *(func.sum(u[name]).label(name) for name in COUNTS),
    )
    .group_by(u.kind, u.provider, u.model)
    .order_by(u.kind, u.provider, u.model)
)
OF_CONVERSATION = _TOTALS.where(u.conversation_id == bindparam("conversation"))
OF_ALL = _TOTALS
OF_WORKFLOW = _TOTALS.where(u.workflow_id == bindparam("workflow"))
OF_USER = _TOTALS.where(u.user_id == bindparam("user"))
OF_AGENT = _TOTALS.where(u.agent_id == bindparam("agent"))
OF_BOTH = OF_USER.where(u.agent_id == bindparam("agent"))
OF_AGENT_ALONE = OF_AGENT.where(u.user_id.is_(None))


def record(
    tx: Transaction, conversation: Conversation, usage: CallUsage, kind: UsageKind
) -> RecordedUsage:
    """Add what a call used; one that was recorded under its id before is answered as it is there."""
    recorded = RecordedUsage(
        **dict(usage),
        id=new_id(),
        kind=kind,
        conversation_id=conversation.id,
        created_at=tx.now,
    )
    of = {
        "workflow_id": conversation.workflow_id,
        "agent_id": conversation.agent_id,
        "user_id": conversation.user_id,
    }
    if tx.run(INSERT, **dict(recorded), **of):
        return recorded
    row = tx.one(BY_CALL, conversation=conversation.id, call=usage.call_id)
    if row is None:
        raise AssertionError("only a row of the same call is in the way")
    return RecordedUsage.model_validate(row._asdict())


def of_conversation(tx: Transaction, conversation_id: UUID) -> list[UsageTotal]:
    """Totals of one conversation."""
    return _totals(tx, OF_CONVERSATION, conversation=conversation_id)


def of_workflow(tx: Transaction, workflow_id: str) -> list[UsageTotal]:
    """Totals of all generations of a workflow."""
    return _totals(tx, OF_WORKFLOW, workflow=workflow_id)


def of_subject(
    tx: Transaction, user_id: UUID | None, agent_id: UUID | None, *, alone: bool
) -> list[UsageTotal]:
    """Totals of the user and agent that are named; `alone`: of the agent for no user."""
    if user_id is None:
        statement = OF_AGENT_ALONE if alone else OF_AGENT if agent_id else OF_ALL
    else:
        statement = OF_BOTH if agent_id else OF_USER
    return _totals(tx, statement, user=user_id, agent=agent_id)


def _totals(tx: Transaction, statement: Select[Any], **asked: Any) -> list[UsageTotal]:
    # A database may add up to a number of another kind.
    return [
        UsageTotal.model_validate(
            row._asdict() | {name: int(getattr(row, name)) for name in COUNTS}
        )
        for row in tx.all(statement, **asked)
    ]
