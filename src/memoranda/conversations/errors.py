"""What conversations refuse: what is late, what is too large, and what could not be read."""

from uuid import UUID

from memoranda.words.errors import Conflict, NotFound, OverLimit, Unavailable


class LateSave(Conflict):
    """It was begun before the conversation was cleared or purged: nothing of it is kept."""

    code = "late_save"


class OlderGeneration(Conflict):
    """It is for a generation that ended with a reset. `details` names the one that goes on."""

    code = "older_generation"


class LaterGeneration(Conflict):
    """It is for a generation that has not begun: only a reset begins one. `details` names the one that goes on."""

    code = "later_generation"


class ConversationTooLarge(OverLimit):
    """The conversation holds, or would hold, more bytes than it may. `details` carries both numbers."""

    code = "conversation_too_large"


class ConversationLoadFailed(Unavailable):
    """The conversation could not be read. Don't go on as if it were empty: try again."""

    code = "conversation_load_failed"


def unknown_conversation(conversation_id: UUID) -> NotFound:
    """The refusal of a conversation that is not there, or not for this caller."""
    return NotFound(
        f"There is no conversation {conversation_id}. Make one, or list those that there are.",
        conversation_id=str(conversation_id),
    )


def not_seen(conversation_id: UUID | None) -> NotFound:
    """The same refusal, for a key too: whose conversation it has is not said."""
    if conversation_id is not None:
        return unknown_conversation(conversation_id)
    return NotFound(
        "The conversation of this workflow is not there for this caller: name another workflow, or session."
    )


def late_save(fence: int) -> LateSave:
    """The refusal of what names another fence than the present one."""
    return LateSave(
        "The conversation was cleared since this was loaded, and nothing of it was kept: "
        "load again, and begin from what is there.",
        fence=fence,
    )


def older_generation(workflow_id: str | None, generation: int, present: int) -> OlderGeneration:
    """The refusal of a generation that ended."""
    return OlderGeneration(
        f"Generation {generation} of this workflow ended with a reset, and nothing was kept: "
        f"go on with generation {present}.",
        workflow_id=workflow_id,
        generation=present,
    )


def check_generation(workflow_id: str, generation: int, present: int) -> None:
    """Raise `OlderGeneration` for one that ended, and `LaterGeneration` for one that has not begun."""
    if generation < present:
        raise older_generation(workflow_id, generation, present)
    if generation > present:
        raise LaterGeneration(
            f"Generation {generation} of this workflow has not begun, and nothing was kept: go on with "
            f"generation {present}, or reset the workflow to begin the next.",
            workflow_id=workflow_id,
            generation=present,
        )


def too_large(size: int, limit: int) -> ConversationTooLarge:
    """The refusal of that many bytes."""
    return ConversationTooLarge(
        f"The conversation has {size} bytes and may have {limit}: compact it, clear old results, "
        "or begin another.",
        bytes=size,
        limit=limit,
    )


def moved_on(conversation_id: UUID, length: int, digest: str) -> Conflict:
    """The refusal of what was meant for another list than is there by now."""
    return Conflict(
        f"The conversation went on meanwhile, and has {length} messages: "
        "read the ones that are new to you, then try again.",
        conversation_id=str(conversation_id),
        length=length,
        digest=digest,
    )


class NothingToCompact(Conflict):
    """There is nothing that a shorter summary could stand for: nothing was asked and nothing recorded."""

    code = "nothing_to_compact"
