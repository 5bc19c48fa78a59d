"""Routes for chats: their threads, what a person does in them, notes, and what is thought of answers."""

from typing import Annotated, ClassVar, Final
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from memoranda.conversations.chats.errors import (
    BranchUnavailable,
    CannotRewind,
    NotEditable,
    RevisionConflict,
    RunInProgress,
)
from memoranda.conversations.chats.feedback.models import Feedback, Rating
from memoranda.conversations.chats.models import Chat, Sent, Thread
from memoranda.conversations.chats.notes.models import Note
from memoranda.conversations.chats.notes.service import MOST_LISTED as MOST_NOTES
from memoranda.conversations.chats.service import MOST_LISTED
from memoranda.conversations.errors import OlderGeneration
from memoranda.conversations.models import Content
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.exchange import JsonLines, all_lines
from memoranda.surfaces.http.operation import Operation, holds, raises
from memoranda.surfaces.http.pages import LARGEST, Body, Cursor, Listing, Number
from memoranda.surfaces.http.product import Product
from memoranda.words.errors import Conflict, NotFound, OverLimit, ReadOnly
from memoranda.words.page import Page

routes = APIRouter(prefix="/v1/chats", tags=["chats"], route_class=Operation)

MOVED: Final = (RevisionConflict, RunInProgress, CannotRewind, NotEditable, OlderGeneration)
"""What keeps a person from moving in a chat."""
DOWNLOAD: Final = {
    "Cache-Control": "no-store",
    "Content-Disposition": 'attachment; filename="chat.jsonl"',
    "X-Accel-Buffering": "no",
}


class ChatLines(JsonLines):
    """The lines of a chat."""

    operation: ClassVar[str] = "export_chat"


class ChatToOpen(Body):
    """A new chat, for a user and the agent that answers, and the workflow that it stands for."""

    user_id: UUID | None = None
    agent_id: UUID | None = None
    workflow_id: str | None = None
    title: str | None = None


class MessageToSend(Body):
    """What a person says. Sent again under the same `client_message_id`, it is the first one that is answered."""

    content: Content
    client_message_id: str | None = None


class Moved(Body):
    """The revision of the chat that was seen: where it has changed since, nothing is done."""

    expected_revision: Number = Field(ge=0, le=LARGEST)


class EditedMessage(Moved):
    """What the message is to say instead; what it said stays beside it."""

    content: Content


class BranchToShow(Moved):
    """A message on the branch that is to be shown, down to the newest message of it."""

    message_id: UUID


class NoteToLeave(Body):
    """What happened since the last turn; a newer note takes the place of one that waits under its `key`."""

    key: str
    text: str


class FeedbackToGive(Body):
    """What is thought of an answer, and why."""

    rating: Rating
    comment: str | None = None


@routes.post("", status_code=201)
@raises(NotFound, Conflict, OlderGeneration, ReadOnly)
async def create_chat(body: ChatToOpen, who: Caller, product: Product) -> Chat:
    """Open a chat."""
    return await product.chats.create(
        who,
        user_id=body.user_id,
        agent_id=body.agent_id,
        workflow_id=body.workflow_id,
        title=body.title,
    )


@routes.get("")
@raises(OverLimit)
async def list_chats(
    who: Caller,
    product: Product,
    *,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
    workflow_id: Annotated[
        str | None, Query(description="The one that stands for this workflow of yours.")
    ] = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
) -> Page[Chat]:
    """List chats, the newest first."""
    return await product.chats.page(
        who,
        user_id=user_id,
        agent_id=agent_id,
        workflow_id=workflow_id,
        limit=limit,
        cursor=cursor,
    )


@routes.get("/{chat_id}")
async def get_chat(chat_id: UUID, who: Caller, product: Product) -> Chat:
    """Get a chat without its messages."""
    return await product.chats.get(who, chat_id)


@routes.get("/{chat_id}/thread")
async def get_thread(
    chat_id: UUID,
    who: Caller,
    product: Product,
    *,
    before: Annotated[
        UUID | None, Query(description="Those before this message of the path.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = MOST_LISTED,
) -> Thread:
    """Get what is shown of a chat: the last messages of the path, and the run that is live."""
    return await product.chats.thread(who, chat_id, before=before, limit=limit)


@routes.get("/{chat_id}/export", status_code=200, response_class=ChatLines)
async def export_chat(chat_id: UUID, who: Caller, product: Product) -> Response:
    """Export a chat as JSON Lines: messages on all branches, runs, feedback and notes; the last line is an `end`."""
    lines = product.chats.export(who, chat_id)
    # The first is awaited here, while an error can still be told as one.
    first = await anext(lines)
    return ChatLines(all_lines(first, lines), headers=DOWNLOAD)


@routes.post("/{chat_id}/messages", status_code=201)
@raises(Conflict, RunInProgress, OlderGeneration, OverLimit, ReadOnly)
@holds(lambda settings: settings.conversation_max_bytes)
async def send_message(chat_id: UUID, body: MessageToSend, who: Caller, product: Product) -> Sent:
    """Say something, and begin the run that is to answer it."""
    return await product.chats.send(
        who, chat_id, body.content, client_message_id=body.client_message_id
    )


@routes.post("/{chat_id}/messages/{message_id}/edit", status_code=201)
@raises(*MOVED, OverLimit, ReadOnly)
@holds(lambda settings: settings.conversation_max_bytes)
async def edit_message(
    chat_id: UUID, message_id: UUID, body: EditedMessage, who: Caller, product: Product
) -> Sent:
    """Say something else in the place of a message, and begin the run that is to answer it."""
    return await product.chats.edit(
        who, chat_id, message_id, body.content, expected_revision=body.expected_revision
    )


@routes.post("/{chat_id}/regenerate", status_code=201)
@raises(*MOVED, ReadOnly)
async def regenerate_answer(chat_id: UUID, body: Moved, who: Caller, product: Product) -> Sent:
    """Answer the latest message again, beside the answer that it has."""
    return await product.chats.regenerate(who, chat_id, expected_revision=body.expected_revision)


@routes.post("/{chat_id}/switch")
@raises(*MOVED, BranchUnavailable, ReadOnly)
async def switch_branch(chat_id: UUID, body: BranchToShow, who: Caller, product: Product) -> Thread:
    """Show another branch; what its agents knew comes back with it."""
    return await product.chats.switch(
        who, chat_id, body.message_id, expected_revision=body.expected_revision
    )


@routes.post("/{chat_id}/clear")
@raises(ReadOnly)
async def clear_chat(chat_id: UUID, who: Caller, product: Product) -> Chat:
    """Clear all that was said, its runs, notes and feedback, and what the agents knew of it."""
    return await product.chats.clear(who, chat_id)


@routes.delete("/{chat_id}", status_code=204)
@raises(ReadOnly)
async def delete_chat(chat_id: UUID, who: Caller, product: Product) -> Response:
    """Delete a chat for good, with all that was said in it."""
    await product.chats.delete(who, chat_id)
    return Response(status_code=204)


@routes.post("/{chat_id}/notes", status_code=201)
@raises(OverLimit, ReadOnly)
async def leave_note(chat_id: UUID, body: NoteToLeave, who: Caller, product: Product) -> Note:
    """Leave a note that the next run is told, ahead of what the user says."""
    return await product.chats.notes.add(who, chat_id, body.key, body.text)


@routes.get("/{chat_id}/notes")
async def list_notes(
    chat_id: UUID,
    who: Caller,
    product: Product,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MOST_NOTES)] = 50,
) -> Page[Note]:
    """List a chat's notes, the oldest first, those that were told too."""
    return await product.chats.notes.page(who, chat_id, limit=limit, cursor=cursor)


@routes.delete("/{chat_id}/notes", status_code=204)
@raises(OverLimit, ReadOnly)
async def take_note_back(
    chat_id: UUID,
    who: Caller,
    product: Product,
    key: Annotated[str, Query(description="The key of the note that waits.")],
) -> Response:
    """Take back a note that no run was told; where none waits under the key, nothing is done."""
    await product.chats.notes.take_back(who, chat_id, key)
    return Response(status_code=204)


@routes.put("/{chat_id}/messages/{message_id}/feedback")
@raises(OverLimit, ReadOnly)
async def give_feedback(
    chat_id: UUID, message_id: UUID, body: FeedbackToGive, who: Caller, product: Product
) -> Feedback:
    """Say what is thought of an answer; its agent is told by a note."""
    return await product.chats.feedback.give(
        who, chat_id, message_id, body.rating, comment=body.comment
    )


@routes.delete("/{chat_id}/messages/{message_id}/feedback", status_code=204)
@raises(ReadOnly)
async def take_feedback_back(
    chat_id: UUID, message_id: UUID, who: Caller, product: Product
) -> Response:
    """Take back what was thought of an answer; where nothing was, nothing is done."""
    await product.chats.feedback.take_back(who, chat_id, message_id)
    return Response(status_code=204)


@routes.get("/{chat_id}/feedback")
async def list_feedback(chat_id: UUID, who: Caller, product: Product) -> Listing[Feedback]:
    """List what is thought of a chat's answers."""
    return Listing(items=list(await product.chats.feedback.list(who, chat_id)))
