"""The verbs of runs: start one, say what becomes of it, log what it does, read what happened."""

from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, organization_for, subject_of
from memoranda.access.store import check_subject
from memoranda.runs import store
from memoranda.runs.changes import change, started, told, visible
from memoranda.runs.models import Activity, LogLevel, Run, RunLog, RunResult, RunStatus
from memoranda.runs.result import LONGEST_REASON, Refs, result_input
from memoranda.storage import Storage, Transaction
from memoranda.words.cursor import read_cursor
from memoranda.words.given import checks_shapes
from memoranda.words.ids import new_id
from memoranda.words.inputs import check_count, json_input, text_input
from memoranda.words.page import Page, cut_page
from memoranda.words.subject import ContextSubject

INPUT_BYTES: Final = 256 * 1024
LOG_BYTES: Final = 16 * 1024
MOST_LISTED: Final = 500
_ACTIVITIES: Final = "activities"
_LISTING: Final = "runs"


def _nobody(_: UUID) -> None:
    """Listen to nothing."""


@checks_shapes
class Runs:
    """Runs of agents, the log of each, and the organization's activity.

    `changed` is called with the organization after each commit of a change. It only wakes
    somebody: it must neither block nor fail.
    """

    def __init__(self, storage: Storage, changed: Callable[[UUID], None] = _nobody) -> None:
        self._storage = storage
        self._changed = changed

    async def create(
        self,
        who: Principal,
        *,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        trigger_id: UUID | None = None,
        parent_id: UUID | None = None,
        input: object = None,
    ) -> Run:
        """Start a run for the subject, with any JSON of at most 256 KB as its input.

        Raises `NotFound` for a user, agent or parent that this organization does not
        have or the caller may not know of, `Invalid` or `OverLimit` for the input.
        """
        organization = organization_for(who, Permission.WRITE_RUNS)
        subject = subject_of(who, agent_id, user_id, trigger_id)
        kept = json_input("input", input, limit=INPUT_BYTES)
        run = await self._storage.write(organization, _create, who, subject, parent_id, kept)
        self._changed(organization)
        return run

    async def get(self, who: Principal, run_id: UUID) -> Run:
        """The run: whole where it is the caller's own to see, else as far as a brief may tell of it.

        So whatever run a brief cites can be looked up by whoever was given it. Raises `NotFound`.
        """
        organization = organization_for(who, Permission.READ_RUNS)
        return await self._storage.read(organization, told, who, run_id)

    async def own(self, who: Principal, run_id: UUID) -> Run:
        """The run, where the caller may look into all of it. Raises `NotFound` for any other."""
        organization = organization_for(who, Permission.READ_RUNS)
        return await self._storage.read(organization, visible, who, run_id)

    async def page(
        self,
        who: Principal,
        *,
        status: RunStatus | None = None,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        parent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Run]:
        """The runs that `who` may know of, the newest first, at most `limit` (1 to 500).

        Those of one status, agent, user or parent where it is named. Raises `Refused` for a
        user or agent that the caller may not act for, `Invalid` for another list's cursor.
        """
        organization = organization_for(who, Permission.READ_RUNS)
        check_count("limit", limit, most=MOST_LISTED)
        subject = subject_of(who, agent_id, user_id)
        found = await self._storage.read(
            organization,
            store.page,
            status=status,
            agent_id=subject.agent_id,
            user_id=subject.user_id,
            parent_id=parent_id,
            before=read_cursor(_LISTING, cursor),
            limit=limit + 1,
            alone=who.role is Role.AGENT,
        )
        return cut_page(_LISTING, found, limit)

    async def wait(self, who: Principal, run_id: UUID, reason: str) -> Run:
        """Let a running run wait, for what `reason` says in at most 1,000 characters.

        Raises, as every change of a run does, `NotFound`, and `Conflict`, which names the status
        that the run has, where it can't wait, or the chat that it answers in, which alone changes it.
        """
        reason = text_input("reason", reason, limit=LONGEST_REASON)
        return await self._change(who, run_id, RunStatus.WAITING, reason=reason)

    async def resume(self, who: Principal, run_id: UUID) -> Run:
        """Let a run that waits go on: its next stage begins. Raises as `wait` does."""
        return await self._change(who, run_id, RunStatus.RUNNING)

    async def complete(
        self, who: Principal, run_id: UUID, *, summary: str | None = None, refs: Refs = ()
    ) -> Run:
        """End a running run well, and say what it came to: in words (4,000 characters), and the rows (200).

        A row is named once, by kind and id alone. Raises as `wait` does, and `Invalid` for a
        ref that names no row.
        """
        result = result_input(summary, refs)
        return await self._change(who, run_id, RunStatus.COMPLETED, result=result)

    async def fail(self, who: Principal, run_id: UUID, reason: str) -> Run:
        """End a run that runs or waits as failed, and say why in at most 1,000 characters. Raises as `wait` does."""
        reason = text_input("reason", reason, limit=LONGEST_REASON)
        return await self._change(who, run_id, RunStatus.FAILED, reason=reason)

    async def cancel(self, who: Principal, run_id: UUID) -> Run:
        """End a run that runs or waits because nobody needs it any more. Raises as `wait` does.

        Runs that it started are runs of their own, and go on.
        """
        return await self._change(who, run_id, RunStatus.CANCELLED)

    async def _change(
        self,
        who: Principal,
        run_id: UUID,
        becomes: RunStatus,
        *,
        reason: str | None = None,
        result: RunResult | None = None,
    ) -> Run:
        organization = organization_for(who, Permission.WRITE_RUNS)
        run = await self._storage.write(
            organization, change, who, run_id, becomes, reason=reason, result=result
        )
        self._changed(organization)
        return run

    async def log(
        self,
        who: Principal,
        run_id: UUID,
        step: str,
        *,
        level: LogLevel = LogLevel.INFO,
        metadata: dict[str, Any] | None = None,
    ) -> RunLog:
        """Add a line to the run's log; `metadata` is ids and counts, at most 16 KB. Raises `NotFound`."""
        organization = organization_for(who, Permission.WRITE_RUNS)
        step = text_input("step", step)
        kept = json_input("metadata", metadata or {}, limit=LOG_BYTES)
        return await self._storage.write(
            organization, _log, who, run_id, level=level, step=step, metadata=kept
        )

    async def logs(
        self, who: Principal, run_id: UUID, *, limit: int = 100, cursor: str | None = None
    ) -> Page[RunLog]:
        """The run's log from its beginning, at most `limit` lines (1 to 500).

        Raises `NotFound`, and `Invalid` for a cursor that is not of this run's log.
        """
        organization = organization_for(who, Permission.READ_RUNS)
        check_count("limit", limit, most=MOST_LISTED)
        listing = f"log of {run_id}"
        after = read_cursor(listing, cursor)
        found = await self._storage.read(organization, _logs, who, run_id, after, limit + 1)
        return cut_page(listing, found, limit)

    async def activities(
        self, who: Principal, *, limit: int = 50, cursor: str | None = None
    ) -> Page[Activity]:
        """What happened in the organization, the newest first, at most `limit` (1 to 500).

        Raises `Invalid` for a cursor that is not this list's.
        """
        organization = organization_for(who, Permission.READ_ACTIVITY)
        check_count("limit", limit, most=MOST_LISTED)
        before = read_cursor(_ACTIVITIES, cursor)
        found = await self._storage.read(organization, store.activities_before, before, limit + 1)
        return cut_page(_ACTIVITIES, found, limit)


def _create(
    tx: Transaction,
    who: Principal,
    subject: ContextSubject,
    parent_id: UUID | None,
    input: object,
) -> Run:
    check_subject(tx, user_id=subject.user_id, agent_id=subject.agent_id)
    if parent_id is not None:
        visible(tx, who, parent_id)
    run = Run(
        id=new_id(),
        agent_id=subject.agent_id,
        user_id=subject.user_id,
        trigger_id=subject.trigger_id,
        parent_id=parent_id,
        status=RunStatus.RUNNING,
        input=input,
        created_at=tx.now,
        updated_at=tx.now,
    )
    started(tx, run)
    return run


def _log(
    tx: Transaction,
    who: Principal,
    run_id: UUID,
    *,
    level: LogLevel,
    step: str,
    metadata: dict[str, Any],
) -> RunLog:
    return store.add_log(tx, visible(tx, who, run_id).id, level, step, metadata)


def _logs(
    tx: Transaction, who: Principal, run_id: UUID, after: UUID | None, limit: int
) -> list[RunLog]:
    return store.logs(tx, visible(tx, who, run_id).id, after, limit)
