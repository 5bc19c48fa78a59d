"""The runs of chats: what their hosts do, and what is told of them as it happens."""

from collections.abc import Mapping, Sequence
from typing import Any

from memoranda.client.call import Call, Id, given
from memoranda.conversations.chats.live.models import Heard, NewEvent, RunEvents, RunSnapshot
from memoranda.conversations.chats.models import (
    AgentTurn,
    Answered,
    ChatRun,
    ChatRunStatus,
    Prepared,
)
from memoranda.words.page import Page


def list_chat_runs(
    *,
    status: ChatRunStatus = ChatRunStatus.QUEUED,
    user_id: Id | None = None,
    agent_id: Id | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Call[Page[ChatRun]]:
    """List the runs of chats that stand so, the oldest first: those that wait to be picked up, where no status is named."""
    return Call(
        "GET",
        "/v1/chat-runs",
        Page[ChatRun],
        query=given(status=status, user_id=user_id, agent_id=agent_id, cursor=cursor, limit=limit),
    )


def get_chat_run(run_id: Id) -> Call[ChatRun]:
    """Get a run of a chat."""
    return Call("GET", "/v1/chat-runs/{run_id}", ChatRun, at={"run_id": run_id})


def pick_up_chat_run(run_id: Id, *, picked_up_by: str | None = None) -> Call[ChatRun]:
    """Take a run that waits to be picked up, so that nobody else does."""
    return Call(
        "POST",
        "/v1/chat-runs/{run_id}/pick-up",
        ChatRun,
        at={"run_id": run_id},
        query=given(picked_up_by=picked_up_by),
        repeatable=picked_up_by is not None,
    )


def prepare_agent(run_id: Id, agent_id: Id | None = None) -> Call[Prepared]:
    """Get what an agent of the run begins from: its conversation, what it is asked, and the notes for it."""
    return Call(
        "POST",
        "/v1/chat-runs/{run_id}/prepare",
        Prepared,
        at={"run_id": run_id},
        body=given(agent_id=agent_id),
    )


def wait_chat_run(run_id: Id, reason: str) -> Call[ChatRun]:
    """Let a run wait for somebody."""
    return Call(
        "POST",
        "/v1/chat-runs/{run_id}/wait",
        ChatRun,
        at={"run_id": run_id},
        body=given(reason=reason),
    )


def resume_chat_run(run_id: Id) -> Call[ChatRun]:
    """Let a run that waits go on."""
    return Call("POST", "/v1/chat-runs/{run_id}/resume", ChatRun, at={"run_id": run_id})


def answer_chat_run(
    run_id: Id,
    content: str | Sequence[Mapping[str, Any]],
    turns: Sequence[AgentTurn | Mapping[str, Any]] = (),
    *,
    stopped: bool = False,
) -> Call[Answered]:
    """End a run with its answer, and keep what its agents know by now: all of it or nothing."""
    return Call(
        "POST",
        "/v1/chat-runs/{run_id}/answer",
        Answered,
        at={"run_id": run_id},
        body=given(content=content, turns=turns, stopped=stopped),
    )


def fail_chat_run(run_id: Id, reason: str) -> Call[Answered]:
    """End a run without an answer."""
    return Call(
        "POST",
        "/v1/chat-runs/{run_id}/fail",
        Answered,
        at={"run_id": run_id},
        body=given(reason=reason),
    )


def stop_chat_run(run_id: Id) -> Call[ChatRun]:
    """Stop a run: one that nothing picked up ends at once, and another as soon as its host hears of it."""
    return Call("POST", "/v1/chat-runs/{run_id}/stop", ChatRun, at={"run_id": run_id})


def tell_chat_run(
    run_id: Id,
    events: Sequence[NewEvent | Mapping[str, Any]] = (),
    *,
    after: int | None = None,
) -> Call[Heard]:
    """Tell what happens in a run, or that it lives; the answer says whether it is to stop."""
    return Call(
        "POST",
        "/v1/chat-runs/{run_id}/events",
        Heard,
        at={"run_id": run_id},
        body=given(events=events, after=after),
        repeatable=after is not None,
    )


def list_chat_run_events(run_id: Id, *, after: int = 0, limit: int = 100) -> Call[RunEvents]:
    """List a run's events in their order; where some are gone, behind the state that they came to."""
    return Call(
        "GET",
        "/v1/chat-runs/{run_id}/events",
        RunEvents,
        at={"run_id": run_id},
        query=given(after=after, limit=limit),
    )


def get_chat_run_snapshot(run_id: Id) -> Call[RunSnapshot]:
    """Get what a run came to by now, to go on from with the events after its `sequence`."""
    return Call("GET", "/v1/chat-runs/{run_id}/snapshot", RunSnapshot, at={"run_id": run_id})


def follow_chat_run(
    run_id: Id, *, after: int | None = None, last_event_id: int | None = None
) -> Call[str]:
    """Tell what happens in a run as it happens, as server-sent events, until it has ended.

    The `id` of an event is its number. Without a number to begin after, and where what came after it is gone, the
    first is a `snapshot` to go on from. The last one is an `end`. A program says where it was with `after`;
    `last_event_id` is the header of browsers, and goes before it.
    """
    return Call(
        "GET",
        "/v1/chat-runs/{run_id}/stream",
        str,
        at={"run_id": run_id},
        query=given(after=after),
        headers=given(**{"Last-Event-ID": last_event_id}),
    )
