"""`memoranda chats`: a tree of messages, what a person does in it, notes, and what is thought of answers."""

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli.documents import STANDARD_INPUT
from memoranda.surfaces.cli.exchange import whole_file, written
from memoranda.surfaces.cli.names import whose
from memoranda.surfaces.cli.options import Agent, Cursor, Limit, User, id_of
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, counted, entry, listed, page_answer
from memoranda.surfaces.cli.verbs import group, verb

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memoranda.conversations.chats.models import Sent, Thread

chats = group("Chats: say, edit, answer again, switch and stop, with agents that follow.")

ChatId = Annotated[
    UUID, typer.Argument(metavar="CHAT", parser=id_of("`memoranda chats list`"), help="Its id.")
]
MessageId = Annotated[
    UUID,
    typer.Argument(
        metavar="MESSAGE", parser=id_of("`memoranda chats show`"), help="The message's id."
    ),
]
Says = Annotated[str, typer.Argument(metavar="TEXT", help="What is said.")]
Revision = Annotated[
    int,
    typer.Option("--revision", metavar="N", help="The chat's, as `show` tells it: no other one."),
]


@verb(chats, "create")
async def create_chat(
    at: Session,
    *,
    user: User = None,
    agent: Agent = None,
    workflow: Annotated[
        str | None,
        typer.Option("--workflow", metavar="ID", help="What it stands for in your own system."),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="What it is called.")
    ] = None,
) -> Answer:
    """Open a chat."""
    made = await at.memoranda.chats.create(
        at.who,
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        workflow_id=workflow,
        title=title,
    )
    return Answer(made, lambda: [card(dict(made))])


@verb(chats, "list", reads=True)
async def list_chats(
    at: Session,
    *,
    user: User = None,
    agent: Agent = None,
    workflow: Annotated[
        str | None,
        typer.Option("--workflow", metavar="ID", help="The one that stands for this, your own id."),
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List chats, the newest first."""
    page = await at.memoranda.chats.page(
        at.who,
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        workflow_id=workflow,
        limit=limit,
        cursor=cursor,
    )
    holders = await whose(at, page.items)
    rows = [
        (entry(each.title or each.workflow_id, each.id), holder, each.revision, each.updated_at)
        for each, holder in zip(page.items, holders, strict=True)
    ]
    empty = "There is no chat yet. Open one with: memoranda chats create"
    return page_answer(page, ("@chat", "~of", "#revision", "when"), rows, empty)


@verb(chats, "show", reads=True)
async def show_chat(
    at: Session,
    chat_id: ChatId,
    limit: Limit = 100,
    *,
    before: Annotated[
        UUID | None,
        typer.Option(
            "--before",
            metavar="MESSAGE",
            parser=id_of("`memoranda chats show`"),
            help="Those before this one.",
        ),
    ] = None,
) -> Answer:
    """Show a chat: the last messages of its path, which of their versions they are, and its live run."""
    thread = await at.memoranda.chats.thread(at.who, chat_id, before=before, limit=limit)
    return Answer(thread, lambda: _thread(thread))


@verb(chats, "export", reads=True)
async def export_chat(
    at: Session,
    chat_id: ChatId,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="Where to; standard output without it."),
    ] = None,
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file where there is one.")
    ] = False,
) -> Answer:
    """Write a chat down as JSON Lines: messages on all branches, runs, feedback and notes."""
    lines = at.memoranda.chats.export(at.who, chat_id)
    if file is None or file == STANDARD_INPUT:
        sys.stdout.flush()
        await written(lines, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return Answer(None, list)
    with whole_file(file, replace=force) as target:
        count = await written(lines, target)
    shown = {"exported": counted(count, "line", "lines"), "file": file}
    return Answer({"file": file, "lines": count}, lambda: [card(shown)])


@verb(chats, "send")
async def send_message(
    at: Session,
    chat_id: ChatId,
    text: Says,
    *,
    client_id: Annotated[
        str | None,
        typer.Option("--client-id", metavar="ID", help="Your own id: sent again, it is sent once."),
    ] = None,
) -> Answer:
    """Say something; the run that is to answer it waits to be picked up."""
    return _sent(await at.memoranda.chats.send(at.who, chat_id, text, client_message_id=client_id))


@verb(chats, "edit")
async def edit_message(
    at: Session, chat_id: ChatId, message_id: MessageId, text: Says, *, revision: Revision
) -> Answer:
    """Say something else in the place of a message; what it said stays beside it."""
    return _sent(
        await at.memoranda.chats.edit(at.who, chat_id, message_id, text, expected_revision=revision)
    )


@verb(chats, "regenerate")
async def regenerate_answer(at: Session, chat_id: ChatId, *, revision: Revision) -> Answer:
    """Let the latest message be answered again, beside the answer that it has."""
    return _sent(await at.memoranda.chats.regenerate(at.who, chat_id, expected_revision=revision))


@verb(chats, "switch")
async def switch_branch(
    at: Session, chat_id: ChatId, message_id: MessageId, *, revision: Revision
) -> Answer:
    """Show the branch that a message is on."""
    thread = await at.memoranda.chats.switch(
        at.who, chat_id, message_id, expected_revision=revision
    )
    return Answer(thread, lambda: _thread(thread))


@verb(chats, "clear")
async def clear_chat(at: Session, chat_id: ChatId) -> Answer:
    """Clear all that was said in a chat, and what its agents know of it; memories stay."""
    cleared = await at.memoranda.chats.clear(at.who, chat_id)
    return Answer(cleared, lambda: [card({"cleared": cleared.id, "revision": cleared.revision})])


@verb(chats, "delete")
async def delete_chat(at: Session, chat_id: ChatId) -> Answer:
    """Delete a chat for good, with all that was said in it."""
    await at.memoranda.chats.delete(at.who, chat_id)
    return Answer(None, lambda: [Text("The chat is deleted.")])


@verb(chats, "note")
async def leave_note(
    at: Session,
    chat_id: ChatId,
    key: Annotated[str, typer.Argument(metavar="KEY", help="What it is about.")],
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="What happened; without it, the note is taken back."),
    ] = None,
) -> Answer:
    """Leave a note that the next run is told, in the place of one that waits under its key; or take that back."""
    if text is None:
        taken = await at.memoranda.chats.notes.take_back(at.who, chat_id, key)
        said = "It is taken back." if taken else "No note waits under this key."
        return Answer({"taken_back": taken}, lambda: [Text(said)])
    made = await at.memoranda.chats.notes.add(at.who, chat_id, key, text)
    return Answer(made, lambda: [card({"note": made.key, "line": made.line})])


@verb(chats, "notes", reads=True)
async def list_notes(
    at: Session, chat_id: ChatId, limit: Limit = 50, cursor: Cursor = None
) -> Answer:
    """List a chat's notes, the oldest first, and whether each was told."""
    page = await at.memoranda.chats.notes.page(at.who, chat_id, limit=limit, cursor=cursor)
    rows = [
        (each.key, each.line, "told" if each.told_at else "given" if each.claimed_by else "waits")
        for each in page.items
    ]
    return page_answer(page, ("key", "~line", "stands"), rows, "There is no note.")


@verb(chats, "rate")
async def rate_answer(
    at: Session,
    chat_id: ChatId,
    message_id: MessageId,
    rating: Annotated[
        str, typer.Argument(metavar="up|down|none", help="Good, not good, or nothing.")
    ],
    *,
    comment: Annotated[str | None, typer.Option("--comment", metavar="TEXT", help="Why.")] = None,
) -> Answer:
    """Say what is thought of an answer, which its agent is told by a note; or take that back."""
    from memoranda.conversations.chats.feedback.models import Rating
    from memoranda.words.inputs import choice_input

    service = at.memoranda.chats.feedback
    if rating == "none":
        taken = await service.take_back(at.who, chat_id, message_id)
        said = "It is taken back." if taken else "Nothing was thought of it."
        return Answer({"taken_back": taken}, lambda: [Text(said)])
    given = await service.give(
        at.who, chat_id, message_id, choice_input("rating", rating, Rating), comment=comment
    )
    return Answer(given, lambda: [card(dict(given))])


@verb(chats, "ratings", reads=True)
async def list_feedback(at: Session, chat_id: ChatId) -> Answer:
    """List what is thought of a chat's answers."""
    found = await at.memoranda.chats.feedback.list(at.who, chat_id)
    rows = [(each.message_id, each.rating, each.comment, each.updated_at) for each in found]
    columns = ("@message", "rating", "~comment", "when")
    return Answer(
        {"items": found}, lambda: listed(columns, rows, empty="Nobody said what they think.")
    )


def _sent(sent: "Sent") -> Answer:
    shown = {
        "message": sent.message.id,
        "run": sent.run.id,
        "status": sent.run.status,
        "revision": sent.chat.revision,
    }
    return Answer(sent, lambda: [card(shown)])


def _thread(thread: "Thread") -> "Iterable[Any]":
    run = thread.run
    head = {
        "chat": thread.chat.id,
        "title": thread.chat.title,
        "revision": thread.chat.revision,
        "run": None if run is None else f"{run.id} is {run.status}",
        "ended": _ended(thread),
    }
    yield card(head)
    rows = [
        (
            entry(_plain(each.content), each.id),
            each.role,
            f"{each.version} of {len(each.versions)}" if len(each.versions) > 1 else "",
            "" if each.state == "complete" else each.state,
        )
        for each in thread.messages
    ]
    yield from listed(("~message", "role", "version", ""), rows, empty="Nothing was said.")


def _ended(thread: "Thread") -> str | None:
    """Why what is shown last is no whole answer."""
    run = thread.last_run
    if run is None or run.status not in {"failed", "stopped"}:
        return None
    why = "" if run.reason is None else f": {run.reason}"
    return f"the last run {run.status}{why}"


def _plain(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
