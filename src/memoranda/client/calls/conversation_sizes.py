"""What keeps long conversations small: compaction, pins, pressure and usage."""

from memoranda.client.answers import Listing
from memoranda.client.call import Call, Id, given
from memoranda.conversations.compaction.models import ArchivedMessage, Compaction, MaybeCompacted
from memoranda.conversations.pressure import Pressure
from memoranda.conversations.usage.models import RecordedUsage, Usage
from memoranda.conversations.wire.fidelity import RuntimeFidelity
from memoranda.words.page import Page


def list_fidelity() -> Call[Listing[RuntimeFidelity]]:
    """List what is kept of each runtime's conversations, and what nobody can claim of them."""
    return Call("GET", "/v1/conversations/fidelity", Listing[RuntimeFidelity])


def get_total_usage(
    *, workflow_id: str | None = None, user_id: Id | None = None, agent_id: Id | None = None
) -> Call[Usage]:
    """Get what calls used in all: of a workflow, of a user and agent, or of all that the caller sees."""
    return Call(
        "GET",
        "/v1/conversations/usage",
        Usage,
        query=given(workflow_id=workflow_id, user_id=user_id, agent_id=agent_id),
    )


def compact_conversation(
    conversation_id: Id, *, keep_turns: int = 1, provider: str | None = None
) -> Call[Compaction]:
    """Let a summary stand for earlier turns. An attempt that fails says why, and changes nothing."""
    return Call(
        "POST",
        "/v1/conversations/{conversation_id}/compact",
        Compaction,
        at={"conversation_id": conversation_id},
        body=given(keep_turns=keep_turns, provider=provider),
    )


def compact_conversation_if_due(
    conversation_id: Id,
    window: int,
    *,
    keep_turns: int = 1,
    provider: str | None = None,
    room: int = 0,
) -> Call[MaybeCompacted]:
    """Compact where the next request fills most of the window, or earlier turns the budget of bytes."""
    return Call(
        "POST",
        "/v1/conversations/{conversation_id}/compact-if-due",
        MaybeCompacted,
        at={"conversation_id": conversation_id},
        body=given(keep_turns=keep_turns, provider=provider, window=window, room=room),
    )


def list_compaction_attempts(
    conversation_id: Id, *, cursor: str | None = None, limit: int = 50
) -> Call[Page[Compaction]]:
    """List the attempts to compact a conversation, the newest first."""
    return Call(
        "GET",
        "/v1/conversations/{conversation_id}/compactions",
        Page[Compaction],
        at={"conversation_id": conversation_id},
        query=given(cursor=cursor, limit=limit),
    )


def get_conversation_history(
    conversation_id: Id, *, cursor: str | None = None, limit: int = 100
) -> Call[Page[ArchivedMessage]]:
    """List the messages that compactions put away, as they were said."""
    return Call(
        "GET",
        "/v1/conversations/{conversation_id}/history",
        Page[ArchivedMessage],
        at={"conversation_id": conversation_id},
        query=given(cursor=cursor, limit=limit),
    )


def get_pressure(conversation_id: Id, window: int, *, room: int = 0) -> Call[Pressure]:
    """Get how full a model's window will be with the next request."""
    return Call(
        "GET",
        "/v1/conversations/{conversation_id}/pressure",
        Pressure,
        at={"conversation_id": conversation_id},
        query=given(window=window, room=room),
    )


def pin_message(conversation_id: Id, position: int) -> Call[None]:
    """Let a message survive every compaction."""
    return Call(
        "PUT",
        "/v1/conversations/{conversation_id}/messages/{position}/pin",
        type(None),
        at={"conversation_id": conversation_id, "position": position},
    )


def unpin_message(conversation_id: Id, position: int) -> Call[None]:
    """Let a message be compacted as others are."""
    return Call(
        "DELETE",
        "/v1/conversations/{conversation_id}/messages/{position}/pin",
        type(None),
        at={"conversation_id": conversation_id, "position": position},
    )


def record_usage(
    conversation_id: Id,
    provider: str,
    model: str,
    *,
    input_tokens: int = 0,
    output_tokens: int = 0,
    cached_tokens: int = 0,
    cost_micros: int = 0,
    call_id: str | None = None,
) -> Call[RecordedUsage]:
    """Record what a call of a provider used."""
    return Call(
        "POST",
        "/v1/conversations/{conversation_id}/usage",
        RecordedUsage,
        at={"conversation_id": conversation_id},
        body=given(
            provider=provider,
            model=model,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cached_tokens=cached_tokens,
            cost_micros=cost_micros,
            call_id=call_id,
        ),
        repeatable=call_id is not None,
    )


def get_usage(conversation_id: Id) -> Call[Usage]:
    """Get what the calls of a conversation used in all."""
    return Call(
        "GET",
        "/v1/conversations/{conversation_id}/usage",
        Usage,
        at={"conversation_id": conversation_id},
    )
