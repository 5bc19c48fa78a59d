"""`memoranda conversations`: what was said, message by message."""

from typing import Annotated
from uuid import UUID

import typer

from memoranda.surfaces.cli.documents import parse_json
from memoranda.surfaces.cli.knowledge import more
from memoranda.surfaces.cli.options import Agent, Cursor, Limit, User
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, listed
from memoranda.surfaces.cli.verbs import verb

conversations = typer.Typer(help="Conversations: start one, append messages, read them.")

ConversationId = Annotated[UUID, typer.Argument(metavar="ID", help="The conversation's id.")]


@verb(conversations, "create")
async def create_conversation(
    at: Session,
    agent: Agent = None,
    user: User = None,
    workflow: Annotated[
        str | None,
        typer.Option("--workflow", help="What your own system calls it; the same again finds it."),
    ] = None,
    generation: Annotated[
        int, typer.Option("--generation", help="Which conversation of that workflow it is.")
    ] = 1,
) -> Answer:
    """Start a conversation."""
    made = await at.memoranda.conversations.create(
        at.who,
        workflow_id=workflow,
        agent_id=await at.agent_id(agent),
        user_id=await at.user_id(user),
        generation=generation,
    )
    return Answer(made, lambda: [card(dict(made))])
