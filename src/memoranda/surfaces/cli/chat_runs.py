"""`memoranda chats`, of its runs: what a host does with one, and what is told of it as it happens."""

import json
from typing import TYPE_CHECKING, Annotated, Any, Final
from uuid import UUID

import typer

from memoranda.surfaces.cli.documents import read_json
from memoranda.surfaces.cli.options import Agent, Cursor, Limit, User, id_of
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, listed, page_answer, when
from memoranda.surfaces.cli.verbs import verb
from memoranda.words.errors import Invalid

if TYPE_CHECKING:
    from memoranda.conversations.chats.models import Answered, ChatRun, Prepared

MOST_BYTES: Final = 20_000_000

RunId = Annotated[
    UUID,
    typer.Argument(metavar="RUN", parser=id_of("`memoranda chats show`"), help="The run's id."),
]
Reason = Annotated[str, typer.Argument(metavar="REASON", help="Why, in a sentence.")]


async def runs(
    at: Session,
    *,
    status: Annotated[
        str,
        typer.Option(
            "--status",
            metavar="queued|running|waiting|stopping|completed|stopped|failed",
            help="Those that stand so.",
        ),
    ] = "queued",
    user: User = None,
    agent: Agent = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List the runs of chats that stand so, the oldest first."""
    from memoranda.conversations.chats.models import ChatRunStatus
    from memoranda.words.inputs import choice_input

    page = await at.memoranda.chats.live.page(
        at.who,
        status=choice_input("status", status, ChatRunStatus),
        user_id=await at.user_id(user),
        agent_id=await at.agent_id(agent),
        limit=limit,
        cursor=cursor,
    )
    rows = [(each.id, each.chat_id, each.reason, each.created_at) for each in page.items]
    return page_answer(page, ("@run", "@chat", "~why", "when"), rows, "No run stands so.")


async def run(at: Session, run_id: RunId) -> Answer:
    """Show a run of a chat, and what it came to by now."""
    found = await at.memoranda.chats.live.snapshot(at.who, run_id)
    shown = {
        "run": found.run_id,
        "status": found.status,
        "reason": found.reason,
        "events": found.sequence,
        "answer": None if found.message is None else found.message.id,
    }
    rows = [(block["type"], _words(block)) for block in found.blocks]
    empty = "It has told nothing yet."
    return Answer(found, lambda: [card(shown), *listed(("block", "~what"), rows, empty=empty)])


async def pick_up(
    at: Session,
    run_id: RunId,
    *,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="HOST", help="The host: asked again by it, it is answered."),
    ] = None,
) -> Answer:
    """Take a run that waits to be picked up, so that nobody else does."""
    return _run(await at.memoranda.chats.pick_up(at.who, run_id, picked_up_by=by))


async def prepare(at: Session, run_id: RunId, *, agent: Agent = None) -> Answer:
    """Print what an agent of a run begins from: its conversation, what it is asked, and the notes for it."""
    prepared = await at.memoranda.chats.prepare(at.who, run_id, await at.agent_id(agent))
    return Answer(prepared, lambda: _prepared(prepared))


async def wait(at: Session, run_id: RunId, reason: Reason) -> Answer:
    """Let a run wait for somebody."""
    return _run(await at.memoranda.chats.wait(at.who, run_id, reason))


async def resume(at: Session, run_id: RunId) -> Answer:
    """Let a run that waits go on."""
    return _run(await at.memoranda.chats.resume(at.who, run_id))


async def answer(
    at: Session,
    run_id: RunId,
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="What the chat shows; leave it out with --file."),
    ] = None,
    *,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            metavar="FILE",
            help="A JSON object with content, and turns: each agent's whole list of messages, and fence; or -.",
        ),
    ] = None,
    stopped: Annotated[
        bool, typer.Option("--stopped", help="It was stopped, and went only so far.")
    ] = False,
) -> Answer:
    """End a run with its answer, and keep what its agents know by now."""
    from memoranda.conversations.chats.models import AgentTurn

    if (text is None) == (file is None):
        raise Invalid("Give the text of the answer, or --file with all of it.", field="text")
    said = {"content": text} if file is None else _object(read_json(file, most=MOST_BYTES))
    turns = _of(AgentTurn, said.get("turns", []), "turns")
    stopped = stopped or said.get("stopped") is True
    content: Any = said["content"]
    return _answered(
        await at.memoranda.chats.answer(at.who, run_id, content, turns, stopped=stopped)
    )


async def fail(at: Session, run_id: RunId, reason: Reason) -> Answer:
    """End a run without an answer."""
    return _answered(await at.memoranda.chats.fail(at.who, run_id, reason))


async def stop(at: Session, run_id: RunId) -> Answer:
    """Stop a run: at once where nothing picked it up, else as soon as its host hears of it."""
    return _run(await at.memoranda.chats.live.stop(at.who, run_id))


async def tell(
    at: Session,
    run_id: RunId,
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="A JSON list of events, or -.")
    ] = None,
    *,
    after: Annotated[
        int | None,
        typer.Option("--after", metavar="N", help="Only where that is the newest event."),
    ] = None,
) -> Answer:
    """Tell what happens in a run, or without a file that it lives; the answer says whether it is to stop."""
    from memoranda.conversations.chats.live.models import NewEvent

    said = [] if file is None else read_json(file, most=MOST_BYTES)
    events = _of(NewEvent, said, "events")
    heard = await at.memoranda.chats.live.emit(at.who, run_id, events, after=after)
    return Answer(heard, lambda: [card(dict(heard))])


async def events(
    at: Session,
    run_id: RunId,
    limit: Limit = 100,
    *,
    after: Annotated[int, typer.Option("--after", metavar="N", help="Begin after this one.")] = 0,
) -> Answer:
    """List what was told of a run, in its order."""
    found = await at.memoranda.chats.live.events(at.who, run_id, after=after, limit=limit)
    rows = [
        (each.sequence, when(each.created_at), each.type, _words(each.data)) for each in found.items
    ]
    gone = "Those events are gone; `memoranda chats run` shows what they came to."
    empty = "Nothing was told after that." if found.snapshot is None else gone
    return Answer(found, lambda: listed(("#number", "when", "type", "~what"), rows, empty=empty))


def register(chats: typer.Typer) -> None:
    """Put the commands beside those for chats."""
    verb(chats, "runs", reads=True)(runs)
    verb(chats, "run", reads=True)(run)
    verb(chats, "events", reads=True)(events)
    verb(chats, "pick-up")(pick_up)
    verb(chats, "prepare")(prepare)
    verb(chats, "wait")(wait)
    verb(chats, "resume")(resume)
    verb(chats, "tell", files=("file",))(tell)
    verb(chats, "answer", files=("file",))(answer)
    verb(chats, "fail")(fail)
    verb(chats, "stop")(stop)


def _object(said: object) -> dict[str, Any]:
    if not isinstance(said, dict):
        raise Invalid("This is no answer: write an object with content and turns.", field="file")
    for name in said:
        if name not in {"content", "turns", "stopped"}:
            raise Invalid(f"{name}: There is no such field; leave it out.", field=name)
    if "content" not in said:
        raise Invalid("content: This is missing; it has to be there.", field="content")
    if not isinstance(said.get("stopped", False), bool):
        raise Invalid("stopped: This must be true or false.", field="stopped")
    return said


def _of(kind: Any, said: object, field: str) -> list[Any]:
    from pydantic import TypeAdapter, ValidationError

    from memoranda.words.shape import misshapen

    try:
        return list(TypeAdapter(list[kind]).validate_python(said))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, (field, *first["loc"])))
        raise Invalid(f"{place}: {misshapen(first)}", field=place) from None


def _run(found: "ChatRun") -> Answer:
    return Answer(found, lambda: [card(dict(found))])


def _answered(done: "Answered") -> Answer:
    shown = {
        "run": done.run.id,
        "status": done.run.status,
        "reason": done.run.reason,
        "answer": None if done.answer is None else done.answer.id,
        "revision": done.chat.revision,
    }
    return Answer(done, lambda: [card(shown)])


def _prepared(prepared: "Prepared") -> Any:
    yield card({"run": prepared.run.id, "fence": prepared.loaded.fence})
    rows = [(each.role, _plain(each.content)) for each in prepared.request()]
    yield from listed(("role", "~message"), rows, empty="Nothing was said.")


def _words(data: "dict[str, Any]") -> str:
    said = data.get("text", data.get("thinking", data.get("content")))
    return _plain(data if said is None else said)


def _plain(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
