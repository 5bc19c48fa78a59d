"""What chats refuse: each refusal leaves everything as it was."""

from uuid import UUID

from memoranda.conversations.chats.models import Chat, ChatRun, ChatRunStatus
from memoranda.conversations.errors import OlderGeneration
from memoranda.words.errors import Conflict, Invalid, NotFound


class RunInProgress(Conflict):
    """A run of the chat is live: one at a time. `details` names it."""

    code = "run_in_progress"


class RevisionConflict(Conflict):
    """The chat has changed since the revision that is named. `details` carries the present one."""

    code = "revision_conflict"


class CannotRewind(Conflict):
    """An agent's conversation was compacted, cleared or written over since: it can't be what it was."""

    code = "cannot_rewind"


class BranchUnavailable(Conflict):
    """What the agents knew on that branch is no longer kept: the oldest branches go first."""

    code = "branch_unavailable"


class NotEditable(Conflict):
    """Only what a person said on the path that is shown can be edited, and only where something was said answered."""

    code = "not_editable"


class RunEnded(Conflict):
    """The run has ended: nothing more comes of it. `details` carries its status, and its answer's id if it has one."""

    code = "run_ended"


def unknown_chat(chat_id: UUID) -> NotFound:
    """The refusal of a chat that is not there, or not for this caller."""
    return NotFound(
        f"There is no chat {chat_id}. Make one, or list those that there are.", chat_id=str(chat_id)
    )


def unknown_chat_run(run_id: UUID) -> NotFound:
    """The refusal of a run that answers in no chat of this caller's."""
    return NotFound(
        f"There is no run {run_id} of a chat that this key may look into.", run_id=str(run_id)
    )


def unknown_message(message_id: UUID) -> NotFound:
    """The refusal of a message that the chat does not have."""
    return NotFound(
        f"The chat has no message {message_id}: read its thread.", message_id=str(message_id)
    )


def taken_workflow(workflow_id: str) -> Conflict:
    """The refusal of a second chat for a workflow, or of a first one where something was said already."""
    return Conflict(
        "The workflow has a chat or conversations already, and a chat begins with its workflow: "
        "name another, or none.",
        workflow_id=workflow_id,
    )


def sent_otherwise(message_id: UUID) -> Conflict:
    """The refusal of other words under the id of a message that was sent before."""
    return Conflict(
        "Another message was sent with this client_message_id: give each message an id of its own.",
        message_id=str(message_id),
    )


def in_progress(run: ChatRun) -> RunInProgress:
    """The refusal of what has to wait for that run."""
    stops = "" if run.status is ChatRunStatus.STOPPING else ", or stop it"
    return RunInProgress(
        f"The run {run.id} of this chat is {run.status.value}: wait until it has ended{stops}. Where whoever "
        "answered it is gone, end it with fail(run_id, reason), or with answer(run_id, content, stopped=True) "
        "for what it came to.",
        run_id=str(run.id),
        status=run.status.value,
    )


def moved_since(chat: Chat) -> RevisionConflict:
    """The refusal of what was meant for another revision."""
    return RevisionConflict(
        f"The chat is at revision {chat.revision} by now: read its thread, then try again.",
        revision=chat.revision,
    )


def ended_generation(chat: Chat, present: int) -> OlderGeneration:
    """The refusal of anything new in a chat whose workflow was reset."""
    return OlderGeneration(
        f"The chat's workflow was reset, and its agents know nothing of generation {chat.generation}: "
        "clear the chat to begin anew. What was said in it can still be read.",
        workflow_id=chat.workflow_id,
        generation=present,
    )


def cannot_rewind(agent_id: UUID | None) -> CannotRewind:
    """The refusal of a move that would have to take an agent back to what is no longer known."""
    return CannotRewind(
        "An agent's conversation was compacted, cleared or written over since this branch began, so it can't "
        "be taken back to that point: go on from the path that is shown.",
        agent_id=None if agent_id is None else str(agent_id),
    )


def branch_unavailable(message_id: UUID) -> BranchUnavailable:
    """The refusal of a switch to a branch of which the agents' part is no longer kept."""
    return BranchUnavailable(
        "What the agents knew on this branch is no longer kept: edit or regenerate instead.",
        message_id=str(message_id),
    )


def not_editable(message_id: UUID, *, answer: bool) -> NotEditable:
    """The refusal to edit what is an answer, wherever it is, or not shown."""
    why = (
        "An answer is not edited: regenerate makes another beside the latest one."
        if answer
        else "Only what is on the path that is shown can be edited: switch to its branch first."
    )
    return NotEditable(why, message_id=str(message_id))


def nothing_to_answer(chat: Chat) -> NotEditable:
    """The refusal to answer again where nothing was said."""
    return NotEditable("Nothing was said in this chat yet: send a message.", chat_id=str(chat.id))


def ended(run: ChatRun) -> RunEnded:
    """The refusal of anything that a run would do after its end."""
    return RunEnded(
        f"The run has ended, as {run.status.value}: one that has ended never changes.",
        run_id=str(run.id),
        status=run.status.value,
        answer_id=None if run.answer_id is None else str(run.answer_id),
    )


def history_left_out(place: int, length: int) -> Invalid:
    """The refusal of a turn that would take from its agent what it knew before."""
    return Invalid(
        f"turns.{place}.messages is the whole list, and it leaves out what prepare gave: {length} messages that are stored, "
        "and what was asked. Give the list of prepare's request with the answer behind it.",
        field=f"turns.{place}.messages",
        length=length,
    )


def not_now(run: ChatRun, advice: str) -> Conflict:
    """The refusal of what a run in this status can't do."""
    if not run.status.live:
        return ended(run)
    return Conflict(
        f"The run is {run.status.value}: {advice}", run_id=str(run.id), status=run.status.value
    )
