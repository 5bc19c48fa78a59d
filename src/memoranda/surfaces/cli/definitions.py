"""`memoranda definitions`: what agents, workflows and skills are for, and who may see that."""

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal
from uuid import UUID

import typer

from memoranda.surfaces.cli.documents import read_json, read_text
from memoranda.surfaces.cli.fields import fields_of, read_as, version_in
from memoranda.surfaces.cli.options import Agent, Cursor, Limit, id_of
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, counted, entry, page_answer, table
from memoranda.surfaces.cli.verbs import group, verb

if TYPE_CHECKING:
    from memoranda.state.definitions.models import Definition, Viewers

definitions = group("What agents, workflows and skills are for: write, publish and list that.")

MOST_BYTES: Final = 2_000_000
SHOWN: Final = frozenset({"id", "kind", "slug", "created_at", "updated_at", "published_at"})
"""What `show --json` prints beside what may be changed."""

Kind = Literal["agent", "workflow", "skill"]
DefinitionId = Annotated[
    UUID,
    typer.Argument(
        metavar="ID", parser=id_of("`memoranda definitions list`"), help="The definition's id."
    ),
]


@verb(definitions, "list", reads=True)
async def list_definitions(
    at: Session,
    *,
    kind: Annotated[
        Kind | None,
        typer.Option("--kind", metavar="agent|workflow|skill", help="Those of one kind alone."),
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List definitions, newest first."""
    from memoranda.state.definitions.models import DefinitionKind

    page = await at.memoranda.definitions.page(
        at.who, kind=None if kind is None else DefinitionKind(kind), limit=limit, cursor=cursor
    )
    rows = [
        (entry(each.name, each.id, each.summary), each.kind, each.slug, _whether(each))
        for each in page.items
    ]
    empty = "There is no definition yet. Make one with: memoranda definitions create KIND SLUG"
    return page_answer(page, ("@definition", "kind", "slug", "published"), rows, empty)


@verb(definitions, "show", reads=True)
async def show(at: Session, definition_id: DefinitionId) -> Answer:
    """Show a definition and its nodes."""
    return _shown(await at.memoranda.definitions.get(at.who, definition_id))


@verb(definitions, "create", files=("body", "nodes"))
async def create(
    at: Session,
    kind: Annotated[Kind, typer.Argument(metavar="agent|workflow|skill", help="What is defined.")],
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="Its name in addresses.")],
    *,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Its name; the slug without it.")
    ] = None,
    summary: Annotated[
        str, typer.Option("--summary", metavar="TEXT", help="What it is for, in a sentence or two.")
    ] = "",
    body: Annotated[
        str | None,
        typer.Option(
            "--body", metavar="FILE", help="A skill's own text: a file, or - for standard input."
        ),
    ] = None,
    agent: Agent = None,
    nodes: Annotated[
        str | None,
        typer.Option(
            "--nodes",
            metavar="FILE",
            help="A workflow's nodes: a JSON list of objects with id, tools and perhaps agent.",
        ),
    ] = None,
    for_user: Annotated[
        list[str] | None,
        typer.Option("--for-user", metavar="USER", help="Only for this user; may be repeated."),
    ] = None,
    for_agent: Annotated[
        list[str] | None,
        typer.Option("--for-agent", metavar="AGENT", help="Only for this agent; may be repeated."),
    ] = None,
) -> Answer:
    """Make a definition. No run is told of it before it is published."""
    from memoranda.state.definitions.models import DefinitionKind, DefinitionText

    said: dict[str, Any] = {"name": name or slug, "summary": summary}
    said["agent_id"] = await at.agent_id(agent)
    if body is not None:
        said["body"] = read_text(body, most=MOST_BYTES)
    if nodes is not None:
        said["nodes"] = read_json(nodes, most=MOST_BYTES)
    if for_user or for_agent:
        said["viewers"] = await _viewers(at, for_user or [], for_agent or [])
    text = read_as(DefinitionText, said, nodes or "The definition")
    return _shown(await at.memoranda.definitions.create(at.who, DefinitionKind(kind), slug, text))


@verb(definitions, "update", files=("file",))
async def update(
    at: Session,
    definition_id: DefinitionId,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A JSON file, or - for standard input.")
    ],
) -> Answer:
    """Say all of a definition anew from a JSON file, such as `show --json` prints.

    Where the file states the version that it was read at, nothing is written over what is newer.
    """
    from memoranda.state.definitions.models import DefinitionText

    fields = fields_of(read_json(file, most=MOST_BYTES), file, shown=SHOWN)
    version = version_in(fields, file)
    text = read_as(DefinitionText, fields, file)
    if version is None:
        version = (await at.memoranda.definitions.get(at.who, definition_id)).version
    return _shown(await at.memoranda.definitions.update(at.who, definition_id, text, version))


@verb(definitions, "publish")
async def publish(at: Session, definition_id: DefinitionId) -> Answer:
    """Let runs be told of a definition from now on."""
    return _shown(await at.memoranda.definitions.publish(at.who, definition_id))


@verb(definitions, "unpublish")
async def unpublish(at: Session, definition_id: DefinitionId) -> Answer:
    """Tell runs of a definition no more."""
    return _shown(await at.memoranda.definitions.unpublish(at.who, definition_id))


@verb(definitions, "remove")
async def remove(at: Session, definition_id: DefinitionId) -> Answer:
    """Take a definition away."""
    await at.memoranda.definitions.remove(at.who, definition_id)
    return Answer(
        {"id": definition_id, "removed": True}, lambda: [card({"removed": definition_id})]
    )


async def _viewers(at: Session, users: list[str], agents: list[str]) -> "Viewers":
    from memoranda.state.definitions.models import Viewers

    access = at.memoranda.access
    return Viewers(
        user_ids=[(await access.user(at.who, each)).id for each in users],
        agent_ids=[(await access.agent(at.who, each)).id for each in agents],
    )


def _whether(definition: "Definition") -> object:
    return definition.published_at or "no"


def _shown(definition: "Definition") -> Answer:
    viewers = definition.viewers
    head = {
        "definition": definition.id,
        "kind": definition.kind,
        "slug": definition.slug,
        "name": definition.name,
        "summary": definition.summary,
        "body": counted(len(definition.body), "character", "characters") if definition.body else "",
        "agent": definition.agent_id,
        "for": "everybody"
        if viewers is None
        else ", ".join(str(each) for each in (*viewers.user_ids, *viewers.agent_ids)) or "nobody",
        "published": _whether(definition),
        "version": definition.version,
    }
    nodes = [(node.id, node.agent, ", ".join(node.tools)) for node in definition.nodes]
    columns = ("node", "agent", "~tools")
    return Answer(definition, lambda: [card(head), *([table(columns, nodes)] if nodes else [])])
