"""The verbs of runs: start one, log what it does, read what happened."""

from typing import Any, Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for, sees, subject_of
from memoranda.access.store import check_subject
from memoranda.runs import store
from memoranda.runs.models import Activity, LogLevel, Run, RunLog, RunStatus
from memoranda.storage import Storage, Transaction
from memoranda.words.cursor import read_cursor
from memoranda.words.errors import NotFound
from memoranda.words.ids import new_id
from memoranda.words.inputs import check_count, json_input, text_input
from memoranda.words.page import Page, cut_page
from memoranda.words.subject import ContextSubject

INPUT_BYTES: Final = 256 * 1024
LOG_BYTES: Final = 16 * 1024
MOST_LISTED: Final = 500
_ACTIVITIES: Final = "activities"


class Runs:
    """Runs of agents, the log of each, and the organization's activity."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

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
        return await self._storage.write(organization, _create, who, subject, parent_id, kept)

    async def get(self, who: Principal, run_id: UUID) -> Run:
        """The run. Raises `NotFound`."""
        organization = organization_for(who, Permission.READ_RUNS)
        return await self._storage.read(organization, _visible, who, run_id)

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
        _visible(tx, who, parent_id)
    run = Run(
        id=new_id(),
        agent_id=subject.agent_id,
        user_id=subject.user_id,
        trigger_id=subject.trigger_id,
        parent_id=parent_id,
        status=RunStatus.RUNNING,
        input=input,
        created_at=tx.now,
    )
    store.add_run(tx, run)
    store.record_activity(
        tx, "run_started", run.id, user_id=subject.user_id, agent_id=subject.agent_id
    )
    return run


def _visible(tx: Transaction, who: Principal, run_id: UUID) -> Run:
    """The run that `who` may know of; another is answered like one that is not there."""
    run = store.find_run(tx, run_id)
    if run is None or not sees(who, user_id=run.user_id, agent_id=run.agent_id):
        raise NotFound(f"There is no run {run_id}.", run_id=str(run_id))
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
    return store.add_log(tx, _visible(tx, who, run_id).id, level, step, metadata)


def _logs(
    tx: Transaction, who: Principal, run_id: UUID, after: UUID | None, limit: int
) -> list[RunLog]:
    return store.logs(tx, _visible(tx, who, run_id).id, after, limit)
