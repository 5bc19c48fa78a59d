"""Routes for the runs of chats: what their hosts do, and what is told of them as it happens."""

from collections.abc import AsyncGenerator
from typing import Annotated, Final
from uuid import UUID

from fastapi import APIRouter, Header, Query, Request
from pydantic import Field
from starlette.responses import Response

from memoranda.conversations.chats.errors import RunEnded
from memoranda.conversations.chats.following.service import MOST_LISTED, Told
from memoranda.conversations.chats.live.models import (
    MOST_AT_ONCE,
    Heard,
    NewEvent,
    RunEnd,
    RunEvent,
    RunEvents,
    RunSnapshot,
)
from memoranda.conversations.chats.models import (
    AgentTurn,
    Answered,
    ChatRun,
    ChatRunStatus,
    Prepared,
)
from memoranda.conversations.errors import (
    ConversationLoadFailed,
    ConversationTooLarge,
    LateSave,
    OlderGeneration,
)
from memoranda.conversations.models import Content
from memoranda.surfaces.http.conversations import MessageToKeep, kept
from memoranda.surfaces.http.credentials import Caller
from memoranda.surfaces.http.operation import Operation, holds, log_defect, raises
from memoranda.surfaces.http.pages import LARGEST, Body, Cursor, Flag, Number
from memoranda.surfaces.http.product import Product
from memoranda.surfaces.http.streams import RETRY_MS, EventStream, still_in
from memoranda.words.errors import Conflict, MemorandaError, NotFound, OverLimit, ReadOnly
from memoranda.words.page import Page

routes = APIRouter(prefix="/v1/chat-runs", tags=["chats"], route_class=Operation)


class AgentToPrepare(Body):
    """The agent of the run that is to begin; none where the run has one without a name."""

    agent_id: UUID | None = None


NO_AGENT_NAMED: Final = AgentToPrepare()


class WhyItWaits(Body):
    """What a run waits for."""

    reason: str


class WhyItFailed(Body):
    """Why a run failed."""

    reason: str


class TurnToKeep(Body):
    """What an agent's conversation is to be: all of the list that was sent, with its answer, at the `fence` it was prepared at.

    With `expected_digest`, the `digest` of what was loaded, it is saved only over that list.
    """

    agent_id: UUID | None = None
    messages: list[MessageToKeep]
    fence: Number = Field(ge=0, le=LARGEST)
    expected_digest: str | None = None


class AnswerToKeep(Body):
    """What the chat shows as the answer, and the conversation of each agent that took part.

    A `stopped` one is kept as far as it went, and calls that were not begun are answered as not run.
    """

    content: Content
    turns: list[TurnToKeep] = Field(default=[])
    stopped: Flag = False


class EventsToTell(Body):
    """What happened in a run, and after which of its events: what was told already is not told again."""

    events: list[NewEvent] = Field(default=[], max_length=MOST_AT_ONCE)
    after: Number | None = Field(default=None, ge=0, le=LARGEST)


@routes.get("")
async def list_chat_runs(
    who: Caller,
    product: Product,
    *,
    status: ChatRunStatus = ChatRunStatus.QUEUED,
    user_id: UUID | None = None,
    agent_id: UUID | None = None,
    cursor: Cursor = None,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 50,
) -> Page[ChatRun]:
    """List the runs of chats that stand so, the oldest first: those that wait to be picked up, where no status is named."""
    return await product.chats.live.page(
        who, status=status, user_id=user_id, agent_id=agent_id, limit=limit, cursor=cursor
    )


@routes.get("/{run_id}")
async def get_chat_run(run_id: UUID, who: Caller, product: Product) -> ChatRun:
    """Get a run of a chat."""
    return await product.chats.run(who, run_id)


@routes.post("/{run_id}/pick-up")
@raises(Conflict, RunEnded, OlderGeneration, OverLimit, ReadOnly)
async def pick_up_chat_run(
    run_id: UUID,
    who: Caller,
    product: Product,
    picked_up_by: Annotated[
        str | None,
        Query(description="What the host calls itself: asked again by the same, it is answered."),
    ] = None,
) -> ChatRun:
    """Take a run that waits to be picked up, so that nobody else does."""
    return await product.chats.pick_up(who, run_id, picked_up_by=picked_up_by)


@routes.post("/{run_id}/prepare")
@raises(
    *(NotFound, Conflict, RunEnded, OlderGeneration, ConversationLoadFailed),
    *(ConversationTooLarge, ReadOnly),
)
async def prepare_agent(
    run_id: UUID, who: Caller, product: Product, body: AgentToPrepare = NO_AGENT_NAMED
) -> Prepared:
    """Get what an agent of the run begins from: its conversation, what it is asked, and the notes for it."""
    return await product.chats.prepare(who, run_id, body.agent_id)


@routes.post("/{run_id}/wait")
@raises(Conflict, RunEnded, ReadOnly)
async def wait_chat_run(run_id: UUID, body: WhyItWaits, who: Caller, product: Product) -> ChatRun:
    """Let a run wait for somebody."""
    return await product.chats.wait(who, run_id, body.reason)


@routes.post("/{run_id}/resume")
@raises(Conflict, RunEnded, ReadOnly)
async def resume_chat_run(run_id: UUID, who: Caller, product: Product) -> ChatRun:
    """Let a run that waits go on."""
    return await product.chats.resume(who, run_id)


@routes.post("/{run_id}/answer")
@raises(
    *(NotFound, Conflict, RunEnded, LateSave, OlderGeneration),
    *(ConversationTooLarge, OverLimit, ReadOnly),
)
@holds(lambda settings: settings.conversation_max_bytes)
async def answer_chat_run(
    run_id: UUID, body: AnswerToKeep, who: Caller, product: Product
) -> Answered:
    """End a run with its answer, and keep what its agents know by now: all of it or nothing."""
    turns = [
        AgentTurn(
            agent_id=turn.agent_id,
            messages=kept(turn.messages),
            fence=turn.fence,
            expected_digest=turn.expected_digest,
        )
        for turn in body.turns
    ]
    return await product.chats.answer(who, run_id, body.content, turns, stopped=body.stopped)


@routes.post("/{run_id}/fail")
@raises(Conflict, RunEnded, ReadOnly)
async def fail_chat_run(run_id: UUID, body: WhyItFailed, who: Caller, product: Product) -> Answered:
    """End a run without an answer."""
    return await product.chats.fail(who, run_id, body.reason)


@routes.post("/{run_id}/stop")
@raises(ReadOnly)
async def stop_chat_run(run_id: UUID, who: Caller, product: Product) -> ChatRun:
    """Stop a run: one that nothing picked up ends at once, and another as soon as its host hears of it."""
    return await product.chats.live.stop(who, run_id)


@routes.post("/{run_id}/events")
@raises(Conflict, RunEnded, OverLimit, ReadOnly)
@holds(lambda settings: settings.conversation_max_bytes)
async def tell_chat_run(run_id: UUID, body: EventsToTell, who: Caller, product: Product) -> Heard:
    """Tell what happens in a run, or that it lives; the answer says whether it is to stop."""
    return await product.chats.live.emit(who, run_id, body.events, after=body.after)


@routes.get("/{run_id}/events")
async def list_chat_run_events(
    run_id: UUID,
    who: Caller,
    product: Product,
    after: Annotated[int, Query(ge=0, le=LARGEST, description="The number to go on after.")] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 100,
) -> RunEvents:
    """List a run's events in their order; where some are gone, behind the state that they came to."""
    return await product.chats.live.events(who, run_id, after=after, limit=limit)


@routes.get("/{run_id}/snapshot")
async def get_chat_run_snapshot(run_id: UUID, who: Caller, product: Product) -> RunSnapshot:
    """Get what a run came to by now, to go on from with the events after its `sequence`."""
    return await product.chats.live.snapshot(who, run_id)


@routes.get("/{run_id}/stream", status_code=200, response_class=EventStream)
async def follow_chat_run(
    request: Request,
    run_id: UUID,
    who: Caller,
    product: Product,
    *,
    after: Annotated[
        int | None,
        Query(ge=0, le=LARGEST, description="Begin after this number, and not with a snapshot."),
    ] = None,
    last_event_id: Annotated[
        int | None,
        Header(
            alias="Last-Event-ID",
            ge=0,
            le=LARGEST,
            description="Where a client that comes back had been; goes before `after`.",
        ),
    ] = None,
) -> Response:
    """Tell what happens in a run as it happens, as server-sent events, until it has ended.

    The `id` of an event is its number. Without a number to begin after, and where what came after it is gone, the
    first is a `snapshot` to go on from. The last one is an `end`.
    """
    await product.chats.run(who, run_id)  # while an error can still be told as one
    place = after if last_event_id is None else last_event_id
    told = product.chats.live.follow(who, run_id, place)
    return EventStream(_lines(request, told), told)


async def _lines(request: Request, told: AsyncGenerator[Told, None]) -> AsyncGenerator[str, None]:
    """What is told, as the lines that are sent, until the run has ended or the caller's key opens nothing any more."""
    try:
        yield f"retry: {RETRY_MS}\n\n"
        async for each in told:
            if each is not None:
                yield _written(each)
            elif await still_in(request):
                yield ": still here\n\n"
            else:
                return
    except MemorandaError:
        return  # its chat is gone, or the database is away: whoever comes back is told
    except Exception as error:  # noqa: BLE001 - a defect must not tell the caller what it is
        log_defect(error, "follow_chat_run")


def _written(each: RunEvent | RunSnapshot | RunEnd) -> str:
    """One message; the end has no id, so that whoever comes back after it hears of it again."""
    data = each.model_dump_json()
    match each:
        case RunEvent():
            return f"id: {each.sequence}\nevent: {each.type}\ndata: {data}\n\n"
        case RunSnapshot():
            return f"id: {each.sequence}\nevent: snapshot\ndata: {data}\n\n"
        case RunEnd():
            return f"event: end\ndata: {data}\n\n"
