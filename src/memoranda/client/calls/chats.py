"""Chats: their threads, what a person does in them, notes, and what is thought of answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from memoranda.client.answers import Listing
from memoranda.client.call import Call, Id, given
from memoranda.conversations.chats.feedback.models import Feedback, Rating
from memoranda.conversations.chats.models import Chat, Sent, Thread
from memoranda.conversations.chats.notes.models import Note
from memoranda.words.page import Page


def create_chat(
    *,
    user_id: Id | None = None,
    agent_id: Id | None = None,
    workflow_id: str | None = None,
    title: str | None = None,
) -> Call[Chat]:
    """Open a chat."""
    return Call(
        "POST",
        "/v1/chats",
        Chat,
        body=given(user_id=user_id, agent_id=agent_id, workflow_id=workflow_id, title=title),
    )


def list_chats(
    *,
    user_id: Id | None = None,
    agent_id: Id | None = None,
    workflow_id: str | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Call[Page[Chat]]:
    """List chats, the newest first."""
    return Call(
        "GET",
        "/v1/chats",
        Page[Chat],
        query=given(
            user_id=user_id,
            agent_id=agent_id,
            workflow_id=workflow_id,
            cursor=cursor,
            limit=limit,
        ),
    )


def get_chat(chat_id: Id) -> Call[Chat]:
    """Get a chat without its messages."""
    return Call("GET", "/v1/chats/{chat_id}", Chat, at={"chat_id": chat_id})


def export_chat(chat_id: Id) -> Call[str]:
    """Export a chat as JSON Lines: messages on all branches, runs, feedback and notes; the last line is an `end`."""
    return Call("GET", "/v1/chats/{chat_id}/export", str, at={"chat_id": chat_id})


def delete_chat(chat_id: Id) -> Call[None]:
    """Delete a chat for good, with all that was said in it."""
    return Call("DELETE", "/v1/chats/{chat_id}", type(None), at={"chat_id": chat_id})


def get_thread(chat_id: Id, *, before: Id | None = None, limit: int = 1000) -> Call[Thread]:
    """Get what is shown of a chat: the last messages of the path, and the run that is live."""
    return Call(
        "GET",
        "/v1/chats/{chat_id}/thread",
        Thread,
        at={"chat_id": chat_id},
        query=given(before=before, limit=limit),
    )


def send_message(
    chat_id: Id, content: str | Sequence[Mapping[str, Any]], *, client_message_id: str | None = None
) -> Call[Sent]:
    """Say something, and begin the run that is to answer it."""
    return Call(
        "POST",
        "/v1/chats/{chat_id}/messages",
        Sent,
        at={"chat_id": chat_id},
        body=given(content=content, client_message_id=client_message_id),
        repeatable=client_message_id is not None,
    )


def edit_message(
    chat_id: Id,
    message_id: Id,
    content: str | Sequence[Mapping[str, Any]],
    *,
    expected_revision: int,
) -> Call[Sent]:
    """Say something else in the place of a message, and begin the run that is to answer it."""
    return Call(
        "POST",
        "/v1/chats/{chat_id}/messages/{message_id}/edit",
        Sent,
        at={"chat_id": chat_id, "message_id": message_id},
        body=given(expected_revision=expected_revision, content=content),
    )


def regenerate_answer(chat_id: Id, *, expected_revision: int) -> Call[Sent]:
    """Answer the latest message again, beside the answer that it has."""
    return Call(
        "POST",
        "/v1/chats/{chat_id}/regenerate",
        Sent,
        at={"chat_id": chat_id},
        body=given(expected_revision=expected_revision),
    )


def switch_branch(chat_id: Id, message_id: Id, *, expected_revision: int) -> Call[Thread]:
    """Show another branch; what its agents knew comes back with it."""
    return Call(
        "POST",
        "/v1/chats/{chat_id}/switch",
        Thread,
        at={"chat_id": chat_id},
        body=given(expected_revision=expected_revision, message_id=message_id),
    )


def clear_chat(chat_id: Id) -> Call[Chat]:
    """Clear all that was said, its runs, notes and feedback, and what the agents knew of it."""
    return Call("POST", "/v1/chats/{chat_id}/clear", Chat, at={"chat_id": chat_id})


def leave_note(chat_id: Id, key: str, text: str) -> Call[Note]:
    """Leave a note that the next run is told, ahead of what the user says."""
    return Call(
        "POST",
        "/v1/chats/{chat_id}/notes",
        Note,
        at={"chat_id": chat_id},
        body=given(key=key, text=text),
    )


def list_notes(chat_id: Id, *, cursor: str | None = None, limit: int = 50) -> Call[Page[Note]]:
    """List a chat's notes, the oldest first, those that were told too."""
    return Call(
        "GET",
        "/v1/chats/{chat_id}/notes",
        Page[Note],
        at={"chat_id": chat_id},
        query=given(cursor=cursor, limit=limit),
    )


def take_note_back(chat_id: Id, key: str) -> Call[None]:
    """Take back a note that no run was told; where none waits under the key, nothing is done."""
    return Call(
        "DELETE",
        "/v1/chats/{chat_id}/notes",
        type(None),
        at={"chat_id": chat_id},
        query=given(key=key),
    )


def give_feedback(
    chat_id: Id, message_id: Id, rating: Rating, *, comment: str | None = None
) -> Call[Feedback]:
    """Say what is thought of an answer; its agent is told by a note."""
    return Call(
        "PUT",
        "/v1/chats/{chat_id}/messages/{message_id}/feedback",
        Feedback,
        at={"chat_id": chat_id, "message_id": message_id},
        body=given(rating=rating, comment=comment),
    )


def take_feedback_back(chat_id: Id, message_id: Id) -> Call[None]:
    """Take back what was thought of an answer; where nothing was, nothing is done."""
    return Call(
        "DELETE",
        "/v1/chats/{chat_id}/messages/{message_id}/feedback",
        type(None),
        at={"chat_id": chat_id, "message_id": message_id},
    )


def list_feedback(chat_id: Id) -> Call[Listing[Feedback]]:
    """List what is thought of a chat's answers."""
    return Call("GET", "/v1/chats/{chat_id}/feedback", Listing[Feedback], at={"chat_id": chat_id})
