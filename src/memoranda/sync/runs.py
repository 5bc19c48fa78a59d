"""Runs, for scripts: report what an agent does, and get the block of text that it is given."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from memoranda.briefs.blocks.models import RunBlock
from memoranda.briefs.models import ContextPolicy
from memoranda.runs.models import LogLevel, Run, RunLog, RunStatus
from memoranda.runs.result import Refs
from memoranda.sync.opened import Room
from memoranda.words.page import Page


class Runs(Room):
    """Runs and their blocks; each verb is that of `Runs`, and those of blocks are of `Briefs`."""

    def create(
        self,
        *,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        trigger_id: UUID | None = None,
        parent_id: UUID | None = None,
        input: object = None,
    ) -> Run:
        """Start a run; see `Runs.create`."""
        return self._call(
            lambda at: at.runs.create(
                at.owner,
                agent_id=agent_id,
                user_id=user_id,
                trigger_id=trigger_id,
                parent_id=parent_id,
                input=input,
            )
        )

    def get(self, run_id: UUID) -> Run:
        """A run; see `Runs.get`."""
        return self._call(lambda at: at.runs.get(at.owner, run_id))

    def list(
        self,
        *,
        status: RunStatus | None = None,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        parent_id: UUID | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[Run]:
        """A page of runs, the newest first; see `Runs.page`."""
        return self._call(
            lambda at: at.runs.page(
                at.owner,
                status=status,
                agent_id=agent_id,
                user_id=user_id,
                parent_id=parent_id,
                limit=limit,
                cursor=cursor,
            )
        )

    def wait(self, run_id: UUID, reason: str) -> Run:
        """Let a run wait; see `Runs.wait`."""
        return self._call(lambda at: at.runs.wait(at.owner, run_id, reason))

    def resume(self, run_id: UUID) -> Run:
        """Let a run that waits go on, in its next stage; see `Runs.resume`."""
        return self._call(lambda at: at.runs.resume(at.owner, run_id))

    def complete(self, run_id: UUID, *, summary: str | None = None, refs: Refs = ()) -> Run:
        """End a run well, with what it came to; see `Runs.complete`."""
        return self._call(lambda at: at.runs.complete(at.owner, run_id, summary=summary, refs=refs))

    def fail(self, run_id: UUID, reason: str) -> Run:
        """End a run as failed; see `Runs.fail`."""
        return self._call(lambda at: at.runs.fail(at.owner, run_id, reason))

    def cancel(self, run_id: UUID) -> Run:
        """End a run that nobody needs any more; see `Runs.cancel`."""
        return self._call(lambda at: at.runs.cancel(at.owner, run_id))

    def log(
        self,
        run_id: UUID,
        step: str,
        *,
        level: LogLevel = LogLevel.INFO,
        metadata: dict[str, Any] | None = None,
    ) -> RunLog:
        """Add a line to a run's log; see `Runs.log`."""
        return self._call(
            lambda at: at.runs.log(at.owner, run_id, step, level=level, metadata=metadata)
        )

    def logs(self, run_id: UUID, *, limit: int = 100, cursor: str | None = None) -> Page[RunLog]:
        """A page of a run's log, from its beginning; see `Runs.logs`."""
        return self._call(lambda at: at.runs.logs(at.owner, run_id, limit=limit, cursor=cursor))

    def brief(
        self,
        run_id: UUID,
        query: str,
        *,
        stage: int | None = None,
        refresh: bool | None = None,
        entities: object = (),
        policy: ContextPolicy | Mapping[str, Any] | None = None,
        policy_name: str | None = None,
        budget: int | None = None,
        conversation: UUID | None = None,
        explain: bool = False,
    ) -> RunBlock:
        """The block for a run's stage: built where it is due, else the one that is kept; see `Briefs.for_run`."""
        return self._call(
            lambda at: at.briefs.for_run(
                at.owner,
                run_id,
                query,
                stage=stage,
                refresh=refresh,
                entities=entities,
                policy=policy,
                policy_name=policy_name,
                budget=budget,
                conversation=conversation,
                explain=explain,
            )
        )

    def block(self, run_id: UUID, *, stage: int | None = None, explain: bool = False) -> RunBlock:
        """The block that a stage was given, as it was kept, and with `explain` why; see `Briefs.block`."""
        return self._call(
            lambda at: at.briefs.block(at.owner, run_id, stage=stage, explain=explain)
        )
