"""`memoranda conversations`: what was said, message by message."""

import json
from typing import TYPE_CHECKING, Annotated, Final
from uuid import UUID

import typer

from memoranda.surfaces.cli.documents import read_json
from memoranda.surfaces.cli.names import whose
from memoranda.surfaces.cli.options import Agent, Cursor, Limit, User, id_of
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, entry, listed, page_answer
from memoranda.surfaces.cli.verbs import group, verb
from memoranda.words.errors import Invalid
from memoranda.words.shape import misshapen

if TYPE_CHECKING:
    from memoranda.conversations.models import Message

conversations = group("Conversations: start one, append messages, read them.")

MOST_BYTES: Final = 20_000_000

ConversationId = Annotated[
    UUID,
    typer.Argument(
        metavar="ID",
        parser=id_of("`memoranda conversations list`"),
        help="The conversation's id.",
    ),
]


@verb(conversations, "create")
async def create_conversation(
    at: Session,
    *,
    agent: Agent = None,
    user: User = None,
    workflow: Annotated[
        str | None,
        typer.Option("--workflow", metavar="ID", help="What your own system calls it."),
    ] = None,
    generation: Annotated[
        int,
        typer.Option("--generation", metavar="N", help="Which of that workflow's it is, from 1."),
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


@verb(conversations, "append")
async def append_messages(
    at: Session,
    conversation_id: ConversationId,
    text: Annotated[
        str | None, typer.Argument(metavar="TEXT", help="What was said; leave it out with --file.")
    ] = None,
    *,
    role: Annotated[
        str,
        typer.Option(
            "--role",
            metavar="system|developer|user|assistant|tool",
            help="Who said it.",
        ),
    ] = "user",
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="A JSON list of messages, each with role and content, or - for standard input.",
        ),
    ] = None,
    expected_length: Annotated[
        int | None,
        typer.Option(
            "--expected-length",
            metavar="N",
            help="Append only if the conversation has this many messages before.",
        ),
    ] = None,
) -> Answer:
    """Append one message, or all of a file's, at once."""
    if (text is None) == (file is None):
        raise Invalid("Give the text of one message, or --file with many.", field="text")
    said = [{"role": role, "content": text}] if file is None else read_json(file, most=MOST_BYTES)
    longer = await at.memoranda.conversations.append(
        at.who, conversation_id, _messages(said), expected_length=expected_length
    )
    return Answer(longer, lambda: [card({"conversation": longer.id, "messages": longer.length})])


@verb(conversations, "show", reads=True)
async def show_conversation(
    at: Session,
    conversation_id: ConversationId,
    limit: Limit = 100,
    after: Annotated[
        int, typer.Option("--after", metavar="POSITION", help="Begin after this position.")
    ] = 0,
) -> Answer:
    """Show a conversation and its messages, in their order."""
    service = at.memoranda.conversations
    found = await service.get(at.who, conversation_id)
    messages = await service.messages(at.who, conversation_id, after=after, limit=limit)
    rows = [(each.position, each.role, _plain(each.content)) for each in messages]
    head = {"conversation": found.id, "workflow": found.workflow_id, "messages": found.length}
    return Answer(
        {"conversation": found, "messages": messages},
        lambda: [
            card(head),
            *listed(("#position", "role", "~message"), rows, empty="Nothing was said."),
        ],
    )


@verb(conversations, "list", reads=True)
async def list_conversations(at: Session, limit: Limit = 50, cursor: Cursor = None) -> Answer:
    """List conversations, newest first."""
    page = await at.memoranda.conversations.page(at.who, limit=limit, cursor=cursor)
    holders = await whose(at, page.items)
    rows = [
        (entry(each.workflow_id, each.id), holder, each.length, each.updated_at)
        for each, holder in zip(page.items, holders, strict=True)
    ]
    columns = ("@conversation", "~of", "#messages", "when")
    empty = "There is no conversation yet. Start one with: memoranda conversations create"
    return page_answer(page, columns, rows, empty)


def _messages(said: object) -> "list[Message]":
    from pydantic import TypeAdapter, ValidationError

    from memoranda.conversations.models import Message

    try:
        return TypeAdapter(list[Message]).validate_python(said)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the list"
        raise Invalid(
            f"These are no messages: {place}: {misshapen(first)} A message has a role and content.",
            field=place,
        ) from None


def _plain(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
