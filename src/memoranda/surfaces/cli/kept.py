"""`memoranda kept`, `histories` and `sessions`: what agent frameworks keep in forms of their own."""

import sys
from typing import Annotated, Any
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli.conversation_places import Generation
from memoranda.surfaces.cli.documents import STANDARD_INPUT
from memoranda.surfaces.cli.exchange import whole_file, written
from memoranda.surfaces.cli.graphs import purged
from memoranda.surfaces.cli.names import whose
from memoranda.surfaces.cli.options import Agent, Cursor, Limit, User, id_of
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, counted, entry, listed, page_answer
from memoranda.surfaces.cli.verbs import group, room, verb

histories = group("Histories that agent frameworks keep: what was said, on all branches.")
sessions = group("Sessions that agent frameworks keep: events, and state.")

HistoryId = Annotated[
    UUID,
    typer.Argument(
        metavar="ID", parser=id_of("`memoranda histories list`"), help="The history's id."
    ),
]
SessionId = Annotated[
    UUID,
    typer.Argument(
        metavar="ID", parser=id_of("`memoranda sessions list`"), help="The session's id."
    ),
]


async def counts(at: Session, *, user: User = None) -> Answer:
    """Say how much agent frameworks keep here, of all or of one user."""
    found = await at.memoranda.kept.counts(at.who, user_id=await at.user_id(user))
    shown = {name.replace("_", " "): count for name, count in dict(found).items()}
    return Answer(found, lambda: [card(shown)])


async def export(
    at: Session,
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="Where to; standard output without it."),
    ] = None,
    *,
    user: User = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file where there is one.")
    ] = False,
) -> Answer:
    """Write down all that agent frameworks keep here, of all or of one user, as JSON Lines."""
    lines = at.memoranda.kept.export(at.who, user_id=await at.user_id(user))
    if file is None or file == STANDARD_INPUT:
        sys.stdout.flush()
        await written(lines, sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return Answer(None, list)
    with whole_file(file, replace=force) as target:
        count = await written(lines, target)
    shown = {"exported": counted(count, "line", "lines"), "file": file}
    return Answer({"file": file, "lines": count}, lambda: [card(shown)])


@verb(histories, "list", reads=True)
async def list_histories(
    at: Session,
    *,
    user: User = None,
    scope: Annotated[
        str | None, typer.Option("--scope", metavar="TEXT", help="By what the host lists them.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List histories, newest first."""
    page = await at.memoranda.kept.histories.page(
        at.who, user_id=await at.user_id(user), scope=scope, limit=limit, cursor=cursor
    )
    holders = await _users(at, page.items)
    rows = [
        (entry(each.name, each.id), holder, each.scope or "", each.updated_at)
        for each, holder in zip(page.items, holders, strict=True)
    ]
    columns = ("@history", "~of", "~scope", "when")
    return page_answer(page, columns, rows, "No framework keeps a history here.")


@verb(histories, "show", reads=True)
async def show_history(
    at: Session, history_id: HistoryId, limit: Limit = 100, cursor: Cursor = None
) -> Answer:
    """Show a history and what was said in it, on all of its branches."""
    service = at.memoranda.kept.histories
    found = await service.get(at.who, history_id)
    page = await service.entries(at.who, history_id, limit=limit, cursor=cursor)
    value = {"history": found, "entries": page.items, "next_cursor": page.next_cursor}
    head = found.model_dump(exclude={"record"}) | {"tips": ", ".join(found.tips)}
    rows = [(each.name, each.parent or "", each.content) for each in page.items]
    drawn = [card(head), *listed(("~entry", "~after", "~content"), rows, empty="Nothing was said.")]
    if page.next_cursor is not None:
        drawn.append(Text(f"There are more: add --cursor {page.next_cursor}"))
    return Answer(value, lambda: drawn)


@verb(histories, "purge")
async def purge_history(at: Session, history_id: HistoryId) -> Answer:
    """Delete a history with the entries that no other one comes by, at once and for good."""
    return purged(await at.memoranda.kept.histories.purge(at.who, history_id))


@verb(sessions, "list", reads=True)
async def list_sessions(
    at: Session,
    *,
    application: Annotated[
        str | None, typer.Option("--application", metavar="NAME", help="Those of this one.")
    ] = None,
    user: User = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List sessions, newest first."""
    page = await at.memoranda.kept.sessions.page(
        at.who,
        application=application,
        user_id=await at.user_id(user),
        limit=limit,
        cursor=cursor,
    )
    holders = await _users(at, page.items)
    rows = [
        (entry(each.name, each.id), each.application, holder, each.events, each.bytes)
        for each, holder in zip(page.items, holders, strict=True)
    ]
    columns = ("@session", "~application", "~of", "#events", "#bytes")
    return page_answer(page, columns, rows, "No framework keeps a session here.")


@verb(sessions, "show", reads=True)
async def show_session(
    at: Session,
    session_id: SessionId,
    limit: Limit = 100,
    after: Annotated[
        int, typer.Option("--after", metavar="POSITION", help="Begin after this position.")
    ] = 0,
) -> Answer:
    """Show a session with its state, and its events in their order."""
    service = at.memoranda.kept.sessions
    found = await service.get(at.who, session_id)
    page = await service.events(at.who, session_id, after=after, limit=limit)
    value = {"session": found, "events": page.items, "next_after": page.next_after}
    rows = [(each.position, each.name, each.content) for each in page.items]
    drawn = [
        card(dict(found)),
        *listed(("#position", "~event", "~content"), rows, empty="Nothing happened."),
    ]
    if page.next_after is not None:
        drawn.append(Text(f"There are more: add --after {page.next_after}"))
    return Answer(value, lambda: drawn)


@verb(sessions, "purge")
async def purge_session(at: Session, session_id: SessionId) -> Answer:
    """Delete a session with its events, at once and for good; what its person keeps across sessions stays."""
    return purged(await at.memoranda.kept.sessions.purge(at.who, session_id))


@verb(sessions, "states", reads=True)
async def list_states(
    at: Session, *, user: User = None, limit: Limit = 10, cursor: Cursor = None
) -> Answer:
    """List what outlives sessions: of applications' people, and of applications."""
    page = await at.memoranda.kept.sessions.states(
        at.who, user_id=await at.user_id(user), limit=limit, cursor=cursor
    )
    rows = [
        (each.application, each.person or "everybody", each.state, each.updated_at)
        for each in page.items
    ]
    columns = ("~application", "~person", "~state", "when")
    return page_answer(page, columns, rows, "Nothing outlives sessions here.")


@verb(sessions, "purge-state")
async def purge_state(
    at: Session,
    application: Annotated[str, typer.Argument(metavar="APPLICATION", help="Whose state.")],
    person: Annotated[
        str,
        typer.Argument(
            metavar="[PERSON]", help="What it calls its user; the application's own without it."
        ),
    ] = "",
) -> Answer:
    """Delete what a person, or an application, keeps across sessions, at once and for good."""
    return purged(await at.memoranda.kept.sessions.purge_state(at.who, application, person))


async def list_branches(
    at: Session,
    *,
    workflow: Annotated[
        str | None, typer.Option("--workflow", metavar="ID", help="Those of this workflow.")
    ] = None,
    user: User = None,
    agent: Agent = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List branches of conversations, newest first; `show` and `purge` take their ids."""
    page = await at.memoranda.conversations.branches.page(
        at.who,
        workflow_id=workflow,
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        limit=limit,
        cursor=cursor,
    )
    holders = await whose(at, page.items)
    rows = [
        (entry(each.name, each.id), each.workflow_id, each.generation, holder, each.messages)
        for each, holder in zip(page.items, holders, strict=True)
    ]
    columns = ("@branch", "~workflow", "#generation", "~of", "#messages")
    return page_answer(page, columns, rows, "No conversation was branched.")


async def purge_branch(
    at: Session,
    workflow: Annotated[str, typer.Argument(metavar="WORKFLOW", help="The workflow's own id.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The branch's.")],
    *,
    generation: Generation = 1,
    agent: Agent = None,
) -> Answer:
    """Delete a branch with what was said on it alone, at once and for good. Its name stays given."""
    from memoranda.conversations.models import ConversationKey

    key = ConversationKey(
        workflow_id=workflow, generation=generation, agent_id=await at.agent_id(agent)
    )
    return purged(await at.memoranda.conversations.branches.purge(at.who, key, name))


def register(app: typer.Typer, conversations: typer.Typer) -> None:
    """Put the rooms on the root, and branches beside the commands for conversations."""
    kept = room(app, "kept", counts)
    verb(kept, "export", reads=True)(export)
    app.add_typer(histories, name="histories")
    app.add_typer(sessions, name="sessions")
    verb(conversations, "branches", reads=True)(list_branches)
    verb(conversations, "purge-branch")(purge_branch)


class _Users:
    """A row that names a user and no agent."""

    def __init__(self, user_id: UUID | None) -> None:
        self.user_id = user_id
        self.agent_id: UUID | None = None


async def _users(at: Session, rows: list[Any]) -> list[str]:
    return await whose(at, [_Users(each.user_id) for each in rows], nobody="the organization")
