"""`memoranda organizations`, `users`, `agents` and `keys`."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli.names import whose
from memoranda.surfaces.cli.options import Agent, Cursor, Limit, User, id_of, time_of
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, entry, page_answer
from memoranda.surfaces.cli.verbs import group, verb

organizations = group("The tenants of this database: make and list them.")
users = group("The people of the organization: make and list them.")
agents = group("The agents of the organization: make and list them.")
keys = group("The keys that open the organization over HTTP: make, list, revoke.")

ExternalId = Annotated[
    str | None,
    typer.Option("--external-id", metavar="ID", help="What your own system calls it; unique."),
]
Role = Literal["owner", "member", "agent", "read_only", "operator"]
Name = Annotated[str, typer.Argument(metavar="NAME", help="A name for people.")]
KeyId = Annotated[
    UUID,
    typer.Argument(metavar="ID", parser=id_of("`memoranda keys list`"), help="The key's id."),
]
OperatorsKeys = Annotated[
    bool, typer.Option("--operator", help="The operators' keys, which open no organization.")
]


@verb(organizations, "create")
async def create_organization(at: Session, name: Name, external_id: ExternalId = None) -> Answer:
    """Make an organization with its owner and the owner's first key, which is shown this once."""
    from memoranda.access.models import LOCAL_OPERATOR

    made = await at.memoranda.access.create_organization(
        LOCAL_OPERATOR, name, external_id=external_id
    )
    return Answer(
        made,
        lambda: [
            card({"organization": made.organization.id, "name": made.organization.name}),
            card({"owner": made.owner.id, "key": made.key.key}),
            Text("Keep the key: it can't be shown again."),
        ],
    )


@verb(organizations, "list", reads=True)
async def list_organizations(at: Session, limit: Limit = 100, cursor: Cursor = None) -> Answer:
    """List the organizations of this database."""
    from memoranda.access.models import LOCAL_OPERATOR

    page = await at.memoranda.access.organizations(LOCAL_OPERATOR, limit=limit, cursor=cursor)
    rows = [
        (
            entry(each.name, each.id),
            each.external_id,
            "yes" if each.is_default else "",
            each.created_at,
        )
        for each in page.items
    ]
    columns = ("@organization", "~external id", "default", "created")
    return page_answer(page, columns, rows, "There is no organization yet.")


@verb(users, "create")
async def create_user(at: Session, name: Name, external_id: ExternalId = None) -> Answer:
    """Make a user, whom --user then names by id or external id."""
    made = await at.memoranda.access.create_user(at.who, name, external_id=external_id)
    shown = {"user": made.id, "name": made.name, "external id": made.external_id}
    return Answer(made, lambda: [card(shown)])


@verb(users, "list", reads=True)
async def list_users(at: Session, limit: Limit = 100, cursor: Cursor = None) -> Answer:
    """List the users of the organization."""
    page = await at.memoranda.access.users(at.who, limit=limit, cursor=cursor)
    rows = [(entry(each.name, each.id), each.external_id, each.created_at) for each in page.items]
    columns = ("@user", "~external id", "created")
    return page_answer(page, columns, rows, "There is no user yet.")


@verb(agents, "create")
async def create_agent(
    at: Session,
    slug: Annotated[
        str, typer.Argument(metavar="SLUG", help="A short name for commands and addresses.")
    ],
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="A name for people; the slug without it."),
    ] = None,
    external_id: ExternalId = None,
) -> Answer:
    """Make an agent, which --agent then names by slug, id or external id."""
    made = await at.memoranda.access.create_agent(at.who, slug, name=name, external_id=external_id)
    shown = {
        "agent": made.id,
        "slug": made.slug,
        "name": made.name,
        "external id": made.external_id,
    }
    return Answer(made, lambda: [card(shown)])


@verb(agents, "list", reads=True)
async def list_agents(at: Session, limit: Limit = 100, cursor: Cursor = None) -> Answer:
    """List the agents of the organization."""
    page = await at.memoranda.access.agents(at.who, limit=limit, cursor=cursor)
    rows = [
        (
            entry(each.slug, each.id, None if each.name == each.slug else each.name),
            each.external_id,
            each.created_at,
        )
        for each in page.items
    ]
    columns = ("@agent", "~external id", "created")
    empty = "There is no agent yet. Make one with: memoranda agents create SLUG"
    return page_answer(page, columns, rows, empty)


@verb(keys, "create")
async def create_key(
    at: Session,
    *,
    role: Annotated[
        Role,
        typer.Option(
            "--role",
            metavar="owner|member|agent|read_only|operator",
            help="What the key is for. A member's needs --user, an agent's --agent; "
            "an operator's opens no organization.",
        ),
    ],
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="What you will know the key by.")
    ] = "",
    user: User = None,
    agent: Agent = None,
    space: Annotated[
        UUID | None,
        typer.Option(
            "--space",
            metavar="ID",
            parser=id_of("`memoranda tools spaces`"),
            help="The key calls the tools of this space and does nothing else.",
        ),
    ] = None,
    expires_at: Annotated[
        datetime | None,
        typer.Option(
            "--expires-at",
            metavar="TIME",
            parser=time_of,
            help="The key ends at this time, such as 2027-01-31 or 2027-01-31T09:00Z.",
        ),
    ] = None,
) -> Answer:
    """Make a key. It is shown this once and kept only as a digest."""
    from memoranda.access.models import LOCAL_OPERATOR
    from memoranda.access.models import Role as KeyRole

    made = await at.memoranda.access.create_key(
        LOCAL_OPERATOR if role == "operator" else at.who,
        KeyRole(role),
        name=name,
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        space_id=space,
        expires_at=expires_at,
    )
    kept = "Keep the key: it can't be shown again."
    if role == "operator":
        kept += " Operators' keys are listed and revoked with --operator."
    return Answer(
        made,
        lambda: [
            card({"key": made.key, "role": made.role, "id": made.id, "space": made.space_id}),
            Text(kept),
        ],
    )


@verb(keys, "list", reads=True)
async def list_keys(
    at: Session, limit: Limit = 100, cursor: Cursor = None, operator: OperatorsKeys = False
) -> Answer:
    """List the keys of the organization, or the operators', without their secrets."""
    page = await at.memoranda.access.keys(at.whose(platform=operator), limit=limit, cursor=cursor)
    holders = await whose(at, page.items)
    rows = [
        (entry(each.name, each.id), each.role, holder, each.expires_at, each.revoked_at)
        for each, holder in zip(page.items, holders, strict=True)
    ]
    columns = ("@key", "role", "~of", "expires", "revoked")
    empty = "There is no key yet. Make one with: memoranda keys create --role "
    return page_answer(page, columns, rows, empty + ("operator" if operator else "owner"))


@verb(keys, "revoke")
async def revoke_key(at: Session, key_id: KeyId, operator: OperatorsKeys = False) -> Answer:
    """End a key at once and for good."""
    revoked = await at.memoranda.access.revoke_key(at.whose(platform=operator), key_id)
    return Answer(revoked, lambda: [card({"revoked": revoked.id, "role": revoked.role})])
