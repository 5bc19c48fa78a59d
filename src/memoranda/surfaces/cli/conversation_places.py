"""Which conversation a command means: by its id, or by the workflow, generation and agent that it belongs to."""

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from memoranda.surfaces.cli.options import id_of
from memoranda.surfaces.cli.session import Session
from memoranda.words.errors import Invalid

if TYPE_CHECKING:
    from memoranda.conversations.places import At

READ_ID = id_of("`memoranda conversations list`")

ConversationId = Annotated[
    UUID, typer.Argument(metavar="ID", parser=READ_ID, help="The conversation's id.")
]
MaybeId = Annotated[
    UUID | None,
    typer.Argument(
        metavar="[ID]", parser=READ_ID, help="The conversation's id; or name it with --workflow."
    ),
]
OfWorkflow = Annotated[
    str | None,
    typer.Option("--workflow", metavar="ID", help="The workflow's, by your own id for it."),
]
Generation = Annotated[
    int,
    typer.Option("--generation", metavar="N", min=1, help="Which of that workflow's, from 1."),
]


async def place(
    at: Session,
    conversation_id: UUID | None,
    workflow: str | None,
    generation: int,
    agent: str | None,
) -> "At":
    """The id or the key that was given. Raises `Invalid` unless it is one of both."""
    from memoranda.conversations.models import ConversationKey

    if (conversation_id is None) == (workflow is None):
        raise Invalid("Name the conversation by its ID, or with --workflow.", field="conversation")
    if workflow is None:
        if agent is not None:
            raise Invalid("--agent goes with --workflow: an ID says enough.", field="agent")
        return conversation_id or UUID(int=0)
    return ConversationKey(
        workflow_id=workflow, generation=generation, agent_id=await at.agent_id(agent)
    )
