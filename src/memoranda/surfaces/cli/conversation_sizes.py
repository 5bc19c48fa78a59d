"""`memoranda conversations compact` and the like: how large conversations are, and what they cost."""

from typing import TYPE_CHECKING, Annotated, Final
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.conversation_places import ConversationId, OfWorkflow
from memoranda.surfaces.cli.options import Agent, Cursor, Limit, User, id_of
from memoranda.surfaces.cli.output import Answer, listing
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, counted, listed, page_answer, table, when
from memoranda.surfaces.cli.verbs import verb
from memoranda.words.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import BaseModel
    from rich.console import RenderableType

    from memoranda.conversations.compaction.models import Compaction
    from memoranda.conversations.usage.models import Usage

_DUE: Final = {
    "window": "The next request fills the window, or most of it",
    "bytes": "Earlier turns keep the conversation over its budget of bytes",
}
Position = Annotated[
    int,
    typer.Argument(metavar="POSITION", min=1, help="The message's position, as `show` tells it."),
]
KeepTurns = Annotated[
    int, typer.Option("--keep-turns", metavar="N", help="How many of the last turns stay.")
]
Provider = Annotated[
    str | None,
    typer.Option(
        "--provider",
        metavar="NAME",
        help="Whose next request has to be valid; that of the last answer without it.",
    ),
]
MaybeOne = Annotated[
    UUID | None,
    typer.Argument(
        metavar="[ID]",
        parser=id_of("`memoranda conversations list`"),
        help="One conversation's; without it, of all that are meant.",
    ),
]


async def compact(
    at: Session,
    conversation_id: ConversationId,
    *,
    keep_turns: KeepTurns = 1,
    provider: Provider = None,
    window: Annotated[
        int | None,
        typer.Option(
            "--window", metavar="N", help="Only where the next request fills most of this window."
        ),
    ] = None,
    room: Annotated[
        int, typer.Option("--room", metavar="N", help="With --window: tokens for the answer.")
    ] = 0,
) -> Answer:
    """Let a summary stand for earlier turns. Exit code 10 when it is due, or tried, and nothing was changed."""
    service = at.memoranda.conversations.compactions
    if window is None:
        made = await service.compact(
            at.who, conversation_id, keep_turns=keep_turns, provider=provider
        )
        return _attempted(made, made)
    found = await service.compact_if_due(
        at.who,
        conversation_id,
        window=window,
        room=room,
        keep_turns=keep_turns,
        provider=provider,
    )
    if found.compaction is not None:
        return _attempted(found, found.compaction)
    if found.due is None:
        return Answer(found, lambda: [Text("Nothing is due: there is room left.")])
    lines = [Text(f"{_DUE[found.due]}, and nothing can be compacted."), Text(found.reason or "")]
    return Answer(found, lambda: lines, exits.UNSUCCESSFUL)


def _attempted(value: "BaseModel", made: "Compaction") -> Answer:
    done = made.status == "activated"
    return Answer(value, lambda: [card(_told(made))], exits.DONE if done else exits.UNSUCCESSFUL)


def _told(made: "Compaction") -> dict[str, object]:
    return {
        "compaction": made.id,
        "status": made.status,
        "why not": made.reason,
        "put away": counted(made.messages, "message", "messages"),
        "tokens": f"{made.tokens_before} -> {made.tokens_after}",
    }


async def attempts(
    at: Session, conversation_id: ConversationId, limit: Limit = 50, cursor: Cursor = None
) -> Answer:
    """List the attempts to compact a conversation, newest first."""
    page = await at.memoranda.conversations.compactions.attempts(
        at.who, conversation_id, limit=limit, cursor=cursor
    )
    rows = [
        (
            *(when(each.created_at), each.status, each.cause, each.messages),
            *(f"{each.tokens_before} -> {each.tokens_after}", each.reason),
        )
        for each in page.items
    ]
    columns = ("when", "status", "cause", "#messages", "tokens", "~why not")
    return page_answer(page, columns, rows, "Nobody tried to compact it yet.")


async def history(
    at: Session, conversation_id: ConversationId, limit: Limit = 100, cursor: Cursor = None
) -> Answer:
    """Show the messages that compactions put away, as they were said."""
    from memoranda.conversations.said import words_of

    page = await at.memoranda.conversations.compactions.history(
        at.who, conversation_id, limit=limit, cursor=cursor
    )
    rows = [(each.position, each.role, words_of(each.content)) for each in page.items]
    return page_answer(page, ("#position", "role", "~message"), rows, "Nothing was put away.")


async def pressure(
    at: Session,
    conversation_id: ConversationId,
    *,
    window: Annotated[
        int, typer.Option("--window", metavar="N", help="The model's window, in tokens.")
    ],
    room: Annotated[
        int, typer.Option("--room", metavar="N", help="Tokens that the answer may have.")
    ] = 0,
) -> Answer:
    """Say how full a model's window will be with the next request."""
    found = await at.memoranda.conversations.compactions.pressure(
        at.who, conversation_id, window=window, room=room
    )
    shown = {
        "input": found.input_tokens,
        "room": found.room,
        "window": found.window,
        "full": f"{found.share:.0%}",
    }
    return Answer(found, lambda: [card(shown)])


async def pin(at: Session, conversation_id: ConversationId, position: Position) -> Answer:
    """Let a message survive every compaction."""
    await at.memoranda.conversations.compactions.pin(at.who, conversation_id, position)
    return _pinned(conversation_id, position, pinned=True)


async def unpin(at: Session, conversation_id: ConversationId, position: Position) -> Answer:
    """Let a message be compacted as others are."""
    await at.memoranda.conversations.compactions.unpin(at.who, conversation_id, position)
    return _pinned(conversation_id, position, pinned=False)


def _pinned(conversation_id: UUID, position: int, *, pinned: bool) -> Answer:
    value = {"conversation": conversation_id, "position": position, "pinned": pinned}
    return Answer(value, lambda: [card({"message": position, "pinned": "yes" if pinned else "no"})])


async def usage(
    at: Session,
    conversation_id: MaybeOne = None,
    *,
    workflow: OfWorkflow = None,
    user: User = None,
    agent: Agent = None,
) -> Answer:
    """Show what calls used in all: of a conversation, a workflow, a user and agent, or everything."""
    service = at.memoranda.conversations.usage
    named = [
        conversation_id is not None,
        workflow is not None,
        user is not None or agent is not None,
    ]
    if sum(named) > 1:
        raise Invalid("Give an ID, --workflow, or --user and --agent: one of them.", field="usage")
    if conversation_id is not None:
        found = await service.of(at.who, conversation_id)
    elif workflow is not None:
        found = await service.of_workflow(at.who, workflow)
    else:
        found = await service.total(
            at.who, user_id=await at.user_id(user), agent_id=await at.agent_id(agent)
        )
    return Answer(found, lambda: _used(found))


def _used(usage: "Usage") -> "Iterable[RenderableType]":
    rows = [
        (
            *(each.kind, each.provider, each.model, each.calls, each.input_tokens),
            *(each.cached_tokens, each.output_tokens, f"{each.cost_micros / 1_000_000:.6f}"),
        )
        for each in usage.totals
    ]
    columns = ("for", "provider", "model", "#calls", "#input", "#cached", "#output", "#cost")
    yield from listed(columns, rows, empty="No call was recorded yet.")


async def record_usage(
    at: Session,
    conversation_id: ConversationId,
    *,
    provider: Annotated[str, typer.Option("--provider", metavar="NAME", help="Who was called.")],
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="Which model.")],
    input_tokens: Annotated[
        int, typer.Option("--input", metavar="N", help="Tokens of the request.")
    ] = 0,
    output_tokens: Annotated[
        int, typer.Option("--output", metavar="N", help="Tokens of the answer.")
    ] = 0,
    cached_tokens: Annotated[
        int, typer.Option("--cached", metavar="N", help="Of the request, those from a cache.")
    ] = 0,
    cost_micros: Annotated[
        int, typer.Option("--cost-micros", metavar="N", help="Its price, in millionths.")
    ] = 0,
    call_id: Annotated[
        str | None,
        typer.Option("--call", metavar="ID", help="The call's id: recorded twice, it counts once."),
    ] = None,
) -> Answer:
    """Record what a call of a provider used."""
    from memoranda.conversations.usage.models import CallUsage
    from memoranda.surfaces.cli.fields import read_as

    said = {
        "provider": provider,
        "model": model,
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cached_tokens": cached_tokens,
        "cost_micros": cost_micros,
        "call_id": call_id,
    }
    used = read_as(CallUsage, said, "The usage")
    made = await at.memoranda.conversations.usage.record(at.who, conversation_id, used)
    return Answer(made, lambda: [card({"recorded": made.id})])


async def fidelity(_: Session) -> Answer:
    """List what is kept of each runtime's conversations, and what nobody can claim of them."""
    from memoranda.conversations.wire.fidelity import FIDELITY

    rows = [
        (
            each.name,
            each.fidelity.replace("_", " "),
            "; ".join(each.kept),
            "; ".join(each.not_claimed),
        )
        for each in FIDELITY
    ]
    columns = ("runtime", "fidelity", "~kept", "~not claimed")
    return Answer(listing(FIDELITY), lambda: [table(columns, rows)])


def register(conversations: typer.Typer) -> None:
    """Put these commands beside those for what was said."""
    verb(conversations, "compact")(compact)
    verb(conversations, "attempts", reads=True)(attempts)
    verb(conversations, "history", reads=True)(history)
    verb(conversations, "pressure", reads=True)(pressure)
    verb(conversations, "pin")(pin)
    verb(conversations, "unpin")(unpin)
    verb(conversations, "usage", reads=True)(usage)
    verb(conversations, "record-usage")(record_usage)
    verb(conversations, "fidelity")(fidelity)
