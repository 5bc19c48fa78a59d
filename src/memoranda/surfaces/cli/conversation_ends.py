"""`memoranda conversations generation`, `reset` and `purge`: what begins a workflow anew, and what deletes for good."""

from typing import Annotated
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli.conversation_places import MaybeId, OfWorkflow
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, counted
from memoranda.surfaces.cli.verbs import verb
from memoranda.words.errors import Invalid


async def generation(
    at: Session,
    workflow: Annotated[str, typer.Argument(metavar="WORKFLOW", help="The workflow's own id.")],
) -> Answer:
    """Say which generation of a workflow goes on: older ones have ended, and later ones not begun."""
    found = await at.memoranda.conversations.resets.generation(at.who, workflow)
    return Answer(found, lambda: [card(dict(found))])


async def reset(
    at: Session,
    workflow: Annotated[str, typer.Argument(metavar="WORKFLOW", help="The workflow's own id.")],
) -> Answer:
    """Begin a workflow's next generation: its conversations are cleared, and its spaces as they say."""
    done = await at.memoranda.conversations.resets.reset(at.who, workflow)
    shown = {
        "workflow": done.workflow_id,
        "generation": done.generation,
        "cleared": counted(done.conversations, "conversation", "conversations"),
        "spaces cleared": ", ".join(done.spaces_cleared),
        "memories forgotten": done.memories_forgotten or None,
    }
    return Answer(done, lambda: [card(shown)])


async def purge(
    at: Session, conversation_id: MaybeId = None, *, workflow: OfWorkflow = None
) -> Answer:
    """Delete a conversation, or all of a workflow's, at once and for good."""
    resets = at.memoranda.conversations.resets
    if (conversation_id is None) == (workflow is None):
        raise Invalid("Name the conversation by its ID, or with --workflow.", field="conversation")
    if workflow is None:
        done = await resets.purge(at.who, conversation_id or UUID(int=0))
    else:
        done = await resets.purge_workflow(at.who, workflow)
    lines = [f"Deleted: {counted(done.conversations, 'conversation', 'conversations')}."]
    if not done.scrubbed:
        lines.append("The last traces leave the database's files as soon as no reader holds them.")
    return Answer(done, lambda: [Text(line) for line in lines])


def register(conversations: typer.Typer) -> None:
    """Put the commands beside those for what was said."""
    verb(conversations, "generation", reads=True)(generation)
    verb(conversations, "reset")(reset)
    verb(conversations, "purge")(purge)
