"""The verbs of instructions: assemble what a run is told, keep it beside the run, say what an agent adds."""

import asyncio
import hashlib
from collections.abc import Callable
from datetime import timedelta
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.access.roles import Permission, organization_for, subject_of
from memoranda.access.store import find_agent, no_agent
from memoranda.files.body import body_input
from memoranda.instructions import store
from memoranda.instructions.asked import request_input, skills_cap_input
from memoranda.instructions.gathering import Gathered, Gathering, Granted, nothing_granted
from memoranda.instructions.measuring import measure_segments
from memoranda.instructions.models import (
    AgentInstructions,
    ContextLoad,
    InstructionRequest,
    RunInstructions,
)
from memoranda.instructions.rendering import render
from memoranda.instructions.reporting import load_of
from memoranda.instructions.store import Kept, Told
from memoranda.memories.service import Memories
from memoranda.runs.changes import visible
from memoranda.runs.models import LogLevel, Run
from memoranda.runs.store import add_log, record_activity
from memoranda.storage import Storage, Transaction
from memoranda.words.errors import Conflict, Invalid, NotFound, StorageBusy
from memoranda.words.estimators import ESTIMATORS, EstimatorName
from memoranda.words.given import checks_shapes

STEP: Final = "context-budget"
EXCEEDED: Final = "context_budget_exceeded"
TRIES: Final = 3
PRUNED_AT_ONCE: Final = 200
KEPT_FOR: Final = timedelta(days=90)


def _nobody(_: UUID) -> None:
    """Listen to nothing."""


@checks_shapes
class Instructions:
    """What a run is told before it begins: fourteen segments, each within its own budget.

    `granted` says which tools an agent may call. Texts of runs that are over stay for `kept`.
    `changed` is called with the organization after the commit of each change.
    """

    def __init__(
        self,
        storage: Storage,
        memories: Memories,
        granted: Granted = nothing_granted,
        *,
        estimator: EstimatorName = "bytes",
        kept: timedelta = KEPT_FOR,
        changed: Callable[[UUID], None] = _nobody,
    ) -> None:
        self._storage = storage
        self._estimator: EstimatorName = estimator
        self._kept = kept
        self._changed = changed
        self.gathering = Gathering(storage, memories, granted, ESTIMATORS[estimator])

    async def assemble(
        self,
        who: Principal,
        run_id: UUID,
        request: InstructionRequest | None = None,
        *,
        refresh: bool = False,
    ) -> RunInstructions:
        """What the run is told, for the subject that it was started for; it is kept beside the run.

        A run keeps what it was told first, also in later stages and whatever is written meanwhile,
        until `refresh` assembles it anew for the present stage. Each segment that was cut is a
        warning in the run's log. Raises `NotFound`, `Conflict` for a run that has ended and was told
        nothing, `Invalid` and `OverLimit` with the field.
        """
        organization = organization_for(who, Permission.WRITE_RUNS)
        request = request_input(request or InstructionRequest())
        run = await self._storage.read(organization, visible, who, run_id)
        subject = subject_of(who, run.agent_id, run.user_id, run.trigger_id)
        there = await self._storage.read(organization, store.latest, run_id, run.stage)
        if there is not None and there.text is not None and not refresh:
            return _shown(there, built=False)
        if run.status.ended:
            raise Conflict(
                f"The run is {run.status} and is told nothing any more. Start another.",
                status=run.status.value,
                run_id=str(run_id),
            )
        for _ in range(TRIES):
            gathered = await self.gathering.gather(who, subject, request, run_id=run_id)
            told = await asyncio.to_thread(self._told, gathered)
            kept = await self._storage.write(organization, _keep, who, run, told, replace=refresh)
            if kept is not None:
                self._changed(organization)
                return _shown(kept[0], built=kept[1])
        raise StorageBusy(
            "What the run would be told was being erased. Nothing was kept: try again."
        )

    async def get(
        self, who: Principal, run_id: UUID, *, stage: int | None = None
    ) -> RunInstructions:
        """What a stage of the run was told (its present one where none is named), and what that cost.

        The text is None where it held what has been erased since, or was kept long enough; the
        account stays. Raises `NotFound` where it was told nothing.
        """
        organization = organization_for(who, Permission.READ_RUNS)
        run = await self._storage.read(organization, visible, who, run_id)
        if stage is not None and not 0 <= stage <= run.stage:
            raise Invalid(
                f"The run is in its stage {run.stage}: stage is a number from 0 to that.",
                field="stage",
            )
        upto = run.stage if stage is None else stage
        kept = await self._storage.read(organization, store.latest, run_id, upto)
        if kept is None:
            raise NotFound(
                f"The run {run_id} was told nothing at that stage: assemble its instructions first.",
                run_id=str(run_id),
            )
        return _shown(kept, built=False)

    async def of_agent(self, who: Principal, agent: UUID | str) -> AgentInstructions:
        """What is kept of an agent beside its files. Raises `NotFound`, and `Refused` for another agent's key."""
        organization = organization_for(who, Permission.READ_FILES)
        return await self._storage.read(organization, _of_agent, who, agent)

    async def set_of_agent(
        self, who: Principal, agent: UUID | str, *, capabilities: str, skills_cap: int | None
    ) -> AgentInstructions:
        """Say all of that anew: from the next run on. For owners.

        `skills_cap` is what the agent's skills may cost, 0 to 8,000 tokens, or None for the
        product's own. Raises `NotFound`, `Invalid`, `OverLimit`, and `SecretFound` as a file does.
        """
        organization = organization_for(who, Permission.WRITE_FILES)
        said = body_input(capabilities, field="capabilities").text
        cap = skills_cap_input(skills_cap)
        made = await self._storage.write(organization, _set_of_agent, who, agent, said, cap)
        self._changed(organization)
        return made

    async def prune(self, organization_id: UUID) -> int:
        """Take some of the texts that were kept long enough; how many. The accounts stay."""
        return await self._storage.write(organization_id, _prune, self._kept)

    def _told(self, gathered: Gathered) -> Told:
        measured = measure_segments(gathered.inputs, ESTIMATORS[self._estimator])
        text = render(measured)
        load = load_of(
            measured,
            estimator=self._estimator,
            skills_cap=gathered.inputs.skills_cap,
            files=gathered.files,
            facts=gathered.facts.outcome,
        )
        digest = hashlib.sha256(text.encode()).hexdigest()
        return Told(text, digest, load, gathered.facts.memory_ids)


def _shown(kept: Kept, *, built: bool) -> RunInstructions:
    return RunInstructions(
        run_id=kept.run_id,
        stage=kept.stage,
        assembled_at=kept.assembled_at,
        built=built,
        text=kept.text,
        digest=kept.digest,
        load=kept.load,
    )


def _keep(
    tx: Transaction, who: Principal, run: Run, told: Told, *, replace: bool
) -> tuple[Kept, bool] | None:
    held = visible(tx, who, run.id)
    kept = store.keep(tx, run.id, held.stage, told, agent_id=run.agent_id, replace=replace)
    if kept is not None and kept[1]:
        _tell_cuts(tx, run, told.load)
    return kept


def _tell_cuts(tx: Transaction, run: Run, load: ContextLoad) -> None:
    """One warning for each segment that was cut, and one activity for all of them: counts alone."""
    cut = [each for each in load.segments if each.skipped_chars]
    for each in cut:
        said = {
            "segment": each.name.value,
            "cap_tokens": each.cap,
            "original_tokens": each.used,
            "truncated_tokens": each.included,
            "skipped_chars": each.skipped_chars,
        }
        add_log(tx, run.id, LogLevel.WARNING, STEP, said)
    if cut:
        over = sum(each.used - each.cap for each in cut)
        record_activity(
            tx, EXCEEDED, run.id, run.user_id, run.agent_id, segments=len(cut), over_tokens=over
        )


def known_agent(tx: Transaction, who: Principal, agent: UUID | str) -> UUID:
    """The agent's id. Raises `NotFound`, and `Refused` for a key that acts for another agent."""
    found = find_agent(tx, agent)
    if found is None:
        raise no_agent(agent)
    return subject_of(who, found.id, who.user_id).agent_id or found.id


def _of_agent(tx: Transaction, who: Principal, agent: UUID | str) -> AgentInstructions:
    return store.of_agent(tx, known_agent(tx, who, agent))


def _set_of_agent(
    tx: Transaction, who: Principal, agent: UUID | str, capabilities: str, skills_cap: int | None
) -> AgentInstructions:
    agent_id = known_agent(tx, who, agent)
    made = store.set_of_agent(tx, agent_id, capabilities, skills_cap)
    record_activity(
        tx, "agent_instructions_changed", agent_id, user_id=who.user_id, agent_id=agent_id
    )
    return made


def _prune(tx: Transaction, kept: timedelta) -> int:
    return store.prune(tx, tx.now - kept, PRUNED_AT_ONCE)
