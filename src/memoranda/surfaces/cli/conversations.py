"""`memoranda conversations`: what was said, message by message."""

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli.conversation_places import (
    READ_ID,
    ConversationId,
    Generation,
    MaybeId,
    OfWorkflow,
    place,
)
from memoranda.surfaces.cli.documents import read_json
from memoranda.surfaces.cli.names import whose
from memoranda.surfaces.cli.options import Agent, Cursor, Limit, User
from memoranda.surfaces.cli.output import Answer, console_for
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, entry, listed, page_answer
from memoranda.surfaces.cli.verbs import group, verb
from memoranda.words.errors import Invalid
from memoranda.words.shape import misshapen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memoranda.conversations.models import LoadedConversation, Message, MessagePage

conversations = group("Conversations: what was said, kept exactly, and bounded.")

MOST_BYTES: Final = 20_000_000
_MORE: Final = "There are more: add --after {}"


@verb(conversations, "create")
async def create_conversation(
    at: Session,
    *,
    agent: Agent = None,
    user: User = None,
    workflow: OfWorkflow = None,
    generation: Generation = 1,
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


@verb(conversations, "append", files=("file",))
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
    fence: Annotated[
        int | None,
        typer.Option("--fence", metavar="N", help="Append only if it was not cleared since."),
    ] = None,
) -> Answer:
    """Append one message, or all of a file's, at once."""
    if (text is None) == (file is None):
        raise Invalid("Give the text of one message, or --file with many.", field="text")
    said = [{"role": role, "content": text}] if file is None else read_json(file, most=MOST_BYTES)
    longer = await at.memoranda.conversations.append(
        at.who, conversation_id, _messages(said), expected_length=expected_length, fence=fence
    )
    return Answer(longer, lambda: [card({"conversation": longer.id, "messages": longer.length})])


@verb(conversations, "load", reads=True)
async def load_conversation(
    at: Session,
    conversation_id: MaybeId = None,
    *,
    workflow: OfWorkflow = None,
    generation: Generation = 1,
    agent: Agent = None,
) -> Answer:
    """Load what a run begins from: messages ready to be sent, and the fence that `save` names."""
    meant = await place(at, conversation_id, workflow, generation, agent)
    loaded = await at.memoranda.conversations.load(at.who, meant)
    return Answer(loaded, lambda: _loaded(loaded))


@verb(conversations, "save", files=("file",))
async def save_conversation(
    at: Session,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="What `load --json` prints, with its messages as they are to be; or - for standard input.",
        ),
    ],
    *,
    conversation: Annotated[
        UUID | None,
        typer.Option(
            "--conversation", metavar="ID", parser=READ_ID, help="Which one; or --workflow."
        ),
    ] = None,
    workflow: OfWorkflow = None,
    generation: Generation = 1,
    agent: Agent = None,
    user: User = None,
    fence: Annotated[
        int | None,
        typer.Option("--fence", metavar="N", help="The fence, where the file is a list alone."),
    ] = None,
) -> Answer:
    """Save a whole list of messages over what was loaded; where that was changed or cleared since, it is refused."""
    meant = await place(at, conversation, workflow, generation, agent)
    said = _list_in(read_json(file, most=MOST_BYTES), file)
    at_fence = said.fence if fence is None else fence
    if at_fence is None:
        raise Invalid("Name the --fence that the list was loaded at.", field="fence")
    saved = await at.memoranda.conversations.save(
        at.who,
        meant,
        _messages(said.messages),
        fence=at_fence,
        expected_digest=said.digest,
        user_id=await at.user_id(user),
    )
    shown = {"conversation": saved.id, "messages": saved.length, "fence": saved.fence}
    return Answer(saved, lambda: [card(shown)])


@verb(conversations, "clear")
async def clear_conversation(
    at: Session,
    conversation_id: MaybeId = None,
    *,
    workflow: OfWorkflow = None,
    generation: Generation = 1,
    agent: Agent = None,
) -> Answer:
    """Empty a conversation. What was loaded before is not saved any more; memories stay."""
    meant = await place(at, conversation_id, workflow, generation, agent)
    cleared = await at.memoranda.conversations.clear(at.who, meant)
    if cleared is None:
        return Answer(None, lambda: [Text("This key has no conversation yet.")])
    return Answer(cleared, lambda: [card({"cleared": cleared.id, "fence": cleared.fence})])


@verb(conversations, "show", reads=True)
async def show_conversation(
    at: Session,
    conversation_id: ConversationId,
    limit: Limit = 100,
    after: Annotated[
        int, typer.Option("--after", metavar="POSITION", help="Begin after this position.")
    ] = 0,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Print each message as one line of JSON, as it is stored."),
    ] = False,
) -> Answer:
    """Show a conversation and its messages, in their order."""
    service = at.memoranda.conversations
    found = await service.get(at.who, conversation_id)
    page = await service.message_page(at.who, conversation_id, after=after, limit=limit)
    if raw and not at.choices.as_json:
        return Answer(None, lambda: _raw(page))
    head = {
        "conversation": found.id,
        "workflow": found.workflow_id,
        "generation": found.generation if found.workflow_id else None,
        "messages": found.length,
        "bytes": found.bytes,
    }
    value = {"conversation": found, "messages": page.items, "next_after": page.next_after}
    return Answer(value, lambda: _drawn(head, page))


@verb(conversations, "list", reads=True)
async def list_conversations(
    at: Session,
    *,
    workflow: OfWorkflow = None,
    user: User = None,
    agent: Agent = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List conversations, newest first; of a workflow, its newest generation first."""
    service = at.memoranda.conversations
    if workflow is None:
        page = await service.page(
            at.who,
            user_id=await at.user_id(user),
            agent_id=await at.agent_id(agent),
            limit=limit,
            cursor=cursor,
        )
    elif user is not None or agent is not None:
        raise Invalid("Give --workflow, or --user and --agent, and not both.", field="workflow")
    else:
        page = await service.of_workflow(at.who, workflow, limit=limit, cursor=cursor)
    holders = await whose(at, page.items)
    rows = [
        (entry(each.workflow_id, each.id), each.generation, holder, each.length, each.updated_at)
        for each, holder in zip(page.items, holders, strict=True)
    ]
    columns = ("@conversation", "#generation", "~of", "#messages", "when")
    empty = "There is no conversation yet. Start one with: memoranda conversations create"
    return page_answer(page, columns, rows, empty)


class _Loaded(NamedTuple):
    """The messages that a file states, and what they were loaded from where it is what `load` answers."""

    messages: object
    fence: int | None = None
    digest: str | None = None


def _list_in(said: object, file: str) -> _Loaded:
    """What `load` answers, or a list alone."""
    if not isinstance(said, dict):
        return _Loaded(said)
    fence = said.get("fence")
    if "messages" not in said or not isinstance(fence, int) or isinstance(fence, bool):
        raise Invalid(
            f"{file} states no messages and fence, as `memoranda conversations load --json` prints them.",
            file=file,
        )
    digest = said.get("digest")
    return _Loaded(said["messages"], fence, digest if isinstance(digest, str) else None)


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


def _loaded(loaded: "LoadedConversation") -> "Iterable[Any]":
    found = loaded.conversation
    head = {
        "conversation": found.id if found else "not there yet",
        "messages": len(loaded.messages),
        "fence": loaded.fence,
    }
    yield card(head)
    rows = [(each.role, _plain(each.content)) for each in loaded.messages]
    yield from listed(("role", "~message"), rows, empty="Nothing was said.")


def _drawn(head: "Mapping[str, object]", page: "MessagePage") -> "Iterable[Any]":
    yield card(head)
    rows = [
        (each.position, each.role, "pinned" if each.pinned else "", _plain(each.content))
        for each in page.items
    ]
    columns = ("#position", "role", "", "~message")
    yield from listed(columns, rows, empty="Nothing was said.")
    if page.next_after is not None:
        yield Text(_MORE.format(page.next_after))


def _raw(page: "MessagePage") -> "Iterable[Text]":
    """Every message to the last key, in letters that no terminal obeys; that there are more is said beside them."""
    for each in page.items:
        stored = each.model_dump(mode="json")
        yield Text(json.dumps(stored))
    if page.next_after is not None:
        sys.stdout.flush()
        console_for(sys.stderr).print(Text(_MORE.format(page.next_after)), soft_wrap=True)


def _plain(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
