"""Runs, their briefs and logs, and what happened."""

from collections.abc import Mapping, Sequence
from typing import Any

from memoranda.briefs.blocks.models import RunBlock
from memoranda.client.call import Call, Id, Policy, given
from memoranda.runs.models import Activity, LogLevel, Run, RunLog, RunStatus
from memoranda.words.page import Page


def create_run(
    *,
    agent_id: Id | None = None,
    user_id: Id | None = None,
    trigger_id: Id | None = None,
    parent_id: Id | None = None,
    input: Any = None,
) -> Call[Run]:
    """Start a run."""
    return Call(
        "POST",
        "/v1/runs",
        Run,
        body=given(
            agent_id=agent_id,
            user_id=user_id,
            trigger_id=trigger_id,
            parent_id=parent_id,
            input=input,
        ),
    )


def list_runs(
    *,
    status: RunStatus | None = None,
    agent_id: Id | None = None,
    user_id: Id | None = None,
    parent_id: Id | None = None,
    cursor: str | None = None,
    limit: int = 50,
) -> Call[Page[Run]]:
    """List runs, the newest first."""
    return Call(
        "GET",
        "/v1/runs",
        Page[Run],
        query=given(
            status=status,
            agent_id=agent_id,
            user_id=user_id,
            parent_id=parent_id,
            cursor=cursor,
            limit=limit,
        ),
    )


def get_run(run_id: Id) -> Call[Run]:
    """Get a run: whole, or as far as a brief may tell of it where it is another's."""
    return Call("GET", "/v1/runs/{run_id}", Run, at={"run_id": run_id})


def wait_run(run_id: Id, reason: str) -> Call[Run]:
    """Let a running run wait."""
    return Call(
        "POST", "/v1/runs/{run_id}/wait", Run, at={"run_id": run_id}, body=given(reason=reason)
    )


def resume_run(run_id: Id) -> Call[Run]:
    """Let a run that waits go on, in its next stage."""
    return Call("POST", "/v1/runs/{run_id}/resume", Run, at={"run_id": run_id})


def complete_run(run_id: Id, *, summary: str | None = None, refs: Sequence[Any] = ()) -> Call[Run]:
    """End a running run well, with what it came to."""
    return Call(
        "POST",
        "/v1/runs/{run_id}/complete",
        Run,
        at={"run_id": run_id},
        body=given(summary=summary, refs=refs),
    )


def fail_run(run_id: Id, reason: str) -> Call[Run]:
    """End a run as failed."""
    return Call(
        "POST", "/v1/runs/{run_id}/fail", Run, at={"run_id": run_id}, body=given(reason=reason)
    )


def cancel_run(run_id: Id) -> Call[Run]:
    """End a run that nobody needs any more."""
    return Call("POST", "/v1/runs/{run_id}/cancel", Run, at={"run_id": run_id})


def build_run_block(
    run_id: Id,
    query: str,
    *,
    stage: int | None = None,
    refresh: bool | None = None,
    entities: Sequence[Any] = (),
    policy: Policy | None = None,
    policy_name: str | None = None,
    conversation: Id | None = None,
    budget: int | None = None,
    explain: bool = False,
) -> Call[RunBlock]:
    """Get the block for a run's stage: built where it is due, else the one that is kept."""
    return Call(
        "POST",
        "/v1/runs/{run_id}/brief",
        RunBlock,
        at={"run_id": run_id},
        body=given(
            query=query,
            stage=stage,
            refresh=refresh,
            entities=entities,
            policy=policy,
            policy_name=policy_name,
            conversation=conversation,
            budget=budget,
            explain=explain,
        ),
    )


def get_run_block(run_id: Id, *, stage: int | None = None, explain: bool = False) -> Call[RunBlock]:
    """Get the block that a run's stage was given, as it was kept."""
    return Call(
        "GET",
        "/v1/runs/{run_id}/block",
        RunBlock,
        at={"run_id": run_id},
        query=given(stage=stage, explain=explain),
    )


def log_run(
    run_id: Id,
    step: str,
    *,
    level: LogLevel = LogLevel.INFO,
    metadata: Mapping[str, Any] | None = None,
) -> Call[RunLog]:
    """Add a line to a run's log."""
    return Call(
        "POST",
        "/v1/runs/{run_id}/logs",
        RunLog,
        at={"run_id": run_id},
        body=given(step=step, level=level, metadata=metadata),
    )


def list_run_logs(run_id: Id, *, cursor: str | None = None, limit: int = 100) -> Call[Page[RunLog]]:
    """List a run's log from its beginning."""
    return Call(
        "GET",
        "/v1/runs/{run_id}/logs",
        Page[RunLog],
        at={"run_id": run_id},
        query=given(cursor=cursor, limit=limit),
    )


def list_activities(*, cursor: str | None = None, limit: int = 50) -> Call[Page[Activity]]:
    """List what happened in the organization, the newest first."""
    return Call("GET", "/v1/activities", Page[Activity], query=given(cursor=cursor, limit=limit))
