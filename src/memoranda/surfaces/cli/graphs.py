"""`memoranda graphs`: what a host's graphs keep, to see and to delete for good."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any, Final
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli.names import whose
from memoranda.surfaces.cli.options import Agent, Cursor, Limit, User, id_of
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, counted, entry, listed, page_answer
from memoranda.surfaces.cli.verbs import group, verb
from memoranda.words.errors import Invalid

if TYPE_CHECKING:
    from memoranda.graphs.threads.models import ShownCheckpoint
    from memoranda.words.purged import RowsPurged

graphs = group("What a host's graphs keep: threads with their checkpoints, and items.")

SHOWN_CHARS: Final = 2_000
"""Characters of a part that a person is shown; a script has all of it."""
Thread = Annotated[str, typer.Argument(metavar="THREAD", help="The host's own id of the thread.")]
READ_ITEM = id_of("`memoranda graphs items`")
Namespace = Annotated[
    str,
    typer.Option(
        "--namespace", metavar="A.B", help="The labels of a namespace, with periods between them."
    ),
]


@verb(graphs, "threads", reads=True)
async def list_threads(
    at: Session,
    *,
    user: User = None,
    agent: Agent = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List threads, and for whom each is kept."""
    page = await at.memoranda.graphs.threads.page(
        at.who,
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        limit=limit,
        cursor=cursor,
    )
    holders = await whose(at, page.items, nobody="the organization")
    rows = [
        (each.thread_id, holder, each.checkpoints, each.bytes, each.last_at)
        for each, holder in zip(page.items, holders, strict=True)
    ]
    columns = ("~thread", "~of", "#checkpoints", "#bytes", "last")
    return page_answer(page, columns, rows, "No graph keeps a thread here.")


@verb(graphs, "checkpoints", reads=True)
async def list_checkpoints(
    at: Session,
    thread: Thread,
    *,
    user: User = None,
    agent: Agent = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List the checkpoints of a thread of exactly this user and agent, the last first."""
    page = await at.memoranda.graphs.threads.checkpoints(
        at.who,
        thread,
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        limit=limit,
        cursor=cursor,
    )
    rows = [
        (each.checkpoint_id, each.namespace, each.channels, each.bytes, each.created_at)
        for each in page.items
    ]
    columns = ("~checkpoint", "~namespace", "#channels", "#bytes", "when")
    return page_answer(page, columns, rows, "The thread has no checkpoint yet.")


@verb(graphs, "show", reads=True)
async def show_checkpoint(
    at: Session,
    thread: Thread,
    *,
    namespace: Annotated[
        str, typer.Option("--namespace", metavar="NAME", help="The checkpoint's own namespace.")
    ] = "",
    checkpoint: Annotated[
        str | None,
        typer.Option("--checkpoint", metavar="ID", help="Which one; the latest without it."),
    ] = None,
    user: User = None,
    agent: Agent = None,
    after: Annotated[
        int, typer.Option("--after", metavar="BYTE", help="Go on from this byte.")
    ] = 0,
) -> Answer:
    """Show what a checkpoint is made of: up to 1 MB, as far as it can be read, and where it goes on."""
    from memoranda.graphs.checkpoints.models import At

    shown = await at.memoranda.graphs.threads.checkpoint(
        at.who,
        At(thread, namespace, checkpoint),
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        after=after,
    )
    return Answer(shown, lambda: _drawn(shown))


@verb(graphs, "purge-thread")
async def purge_thread(
    at: Session, thread: Thread, *, user: User = None, agent: Agent = None
) -> Answer:
    """Delete a thread of exactly this user and agent, with its checkpoints, at once and for good."""
    done = await at.memoranda.graphs.threads.purge(
        at.who, thread, user_id=await at.user_id(user), agent_id=await at.agent_id(agent)
    )
    return purged(done)


@verb(graphs, "namespaces", reads=True)
async def list_namespaces(
    at: Session,
    *,
    user: User = None,
    agent: Agent = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List the namespaces that hold items, and for whom each is kept."""
    page = await at.memoranda.graphs.namespaces.page(
        at.who,
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        limit=limit,
        cursor=cursor,
    )
    holders = await whose(at, page.items, nobody="the organization")
    rows = [
        (".".join(each.namespace), holder, each.items, each.bytes, each.updated_at)
        for each, holder in zip(page.items, holders, strict=True)
    ]
    columns = ("~namespace", "~of", "#items", "#bytes", "last")
    return page_answer(page, columns, rows, "No graph keeps an item here.")


@verb(graphs, "items", reads=True)
async def list_items(
    at: Session,
    *,
    namespace: Namespace = "",
    user: User = None,
    agent: Agent = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List items, the newest first: all, or those below a namespace."""
    from memoranda.graphs.items.matching import labels_in

    page = await at.memoranda.graphs.namespaces.items(
        at.who,
        labels_in(namespace),
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        limit=limit,
        cursor=cursor,
    )
    holders = await whose(at, page.items, nobody="the organization")
    rows = [
        (entry(each.key, each.id), ".".join(each.namespace), holder, each.bytes, each.updated_at)
        for each, holder in zip(page.items, holders, strict=True)
    ]
    columns = ("@item", "~namespace", "~of", "#bytes", "when")
    return page_answer(page, columns, rows, "There is no item.")


@verb(graphs, "item", reads=True)
async def show_item(
    at: Session,
    item_id: Annotated[UUID, typer.Argument(metavar="ID", parser=READ_ITEM, help="The item's id.")],
) -> Answer:
    """Show an item with its value."""
    shown = await at.memoranda.graphs.namespaces.item(at.who, item_id)
    fields = dict(shown) | {"namespace": ".".join(shown.namespace)}
    return Answer(shown, lambda: [card(fields)])


@verb(graphs, "purge-items")
async def purge_items(
    at: Session,
    item_id: Annotated[
        UUID | None,
        typer.Argument(metavar="[ID]", parser=READ_ITEM, help="One item; or --namespace."),
    ] = None,
    *,
    namespace: Namespace = "",
    user: User = None,
    agent: Agent = None,
) -> Answer:
    """Delete an item, or all below a namespace of exactly this user and agent, at once and for good."""
    from memoranda.graphs.items.matching import labels_in

    service = at.memoranda.graphs.namespaces
    if (item_id is None) == (not namespace):
        raise Invalid("Name one item by its ID, or many with --namespace.", field="namespace")
    if item_id is not None:
        if user is not None or agent is not None:
            raise Invalid(
                "--user and --agent go with --namespace: an ID says enough.", field="user"
            )
        return purged(await service.purge_item(at.who, item_id))
    done = await service.purge(
        at.who,
        labels_in(namespace),
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
    )
    return purged(done)


def purged(done: "RowsPurged") -> Answer:
    """What a purge answers."""
    lines = [f"Deleted: {counted(done.rows, 'row', 'rows')}."]
    if not done.scrubbed:
        lines.append("The last traces leave the database's files as soon as no reader holds them.")
    return Answer(done, lambda: [Text(line) for line in lines])


def _drawn(shown: "ShownCheckpoint") -> "Iterable[Any]":
    head = shown.model_dump(exclude={"parts", "next_after"})
    yield card(head)
    rows = [(each.name, each.format, each.bytes, _cut(each.text)) for each in shown.parts]
    yield from listed(("~part", "format", "#bytes", "~text"), rows, empty="Nothing follows.")
    if shown.next_after is not None:
        yield Text(f"There is more: add --after {shown.next_after}")


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}… (--json shows all)"
