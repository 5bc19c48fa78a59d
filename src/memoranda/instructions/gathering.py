"""What instructions are made of, read for a subject: saved text, memories, feeds and granted tools."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.files.models import FilesView, FileView
from memoranda.files.view import view
from memoranda.instructions import store
from memoranda.instructions.composing import (
    GrantedTool,
    activity_text,
    runs_text,
    skills_text,
    tools_text,
)
from memoranda.instructions.measuring import Inputs, Piece, measure_segment
from memoranda.instructions.models import (
    AgentInstructions,
    FactsOutcome,
    InstructionRequest,
    LoadedFile,
)
from memoranda.instructions.reporting import SEGMENT_OF
from memoranda.instructions.segments import SegmentName
from memoranda.memories.finding.block import fact_line, write_block
from memoranda.memories.finding.recall import Kept, Offered
from memoranda.memories.service import Memories
from memoranda.runs.models import Activity, Run
from memoranda.runs.store import activities_of_agent
from memoranda.runs.store import page as run_page
from memoranda.state.definitions.models import Skill
from memoranda.state.definitions.skills.store import given
from memoranda.storage import Storage, Transaction
from memoranda.words.given import checks_shapes
from memoranda.words.subject import ContextSubject
from memoranda.words.tokens import Estimator

ACTIVITIES: Final = 20
RUNS: Final = 5

Granted: TypeAlias = Callable[[Principal], Awaitable[Sequence[GrantedTool]]]


async def nothing_granted(_: Principal) -> Sequence[GrantedTool]:
    """No tool at all."""
    return ()


class Saved(NamedTuple):
    """What is saved, and what happened lately, as one transaction reads it."""

    files: FilesView
    own: AgentInstructions | None
    skills: Sequence[Skill]
    activities: Sequence[Activity]
    runs: Sequence[Run]


class Facts(NamedTuple):
    """The memories that may be given, a line each, and of which memories those are that were."""

    lines: Sequence[str]
    outcome: FactsOutcome
    memory_ids: Sequence[UUID] = ()


class Gathered(NamedTuple):
    """All that is measured, and what a record says of where it came from."""

    inputs: Inputs
    files: Sequence[LoadedFile]
    facts: Facts


@checks_shapes
class Gathering:
    """Reads what a subject's instructions are made of; whoever calls has asked who may."""

    def __init__(
        self, storage: Storage, memories: Memories, granted: Granted, estimator: Estimator
    ) -> None:
        self._storage = storage
        self._memories = memories
        self._granted = granted
        self._estimator = estimator

    async def gather(
        self,
        who: Principal,
        subject: ContextSubject,
        request: InstructionRequest,
        *,
        run_id: UUID | None = None,
        looks_only: bool = False,
    ) -> Gathered:
        """Everything, in its own order. A recall that fails leaves the memories out and says so."""
        saved = await self.saved(subject, run_id)
        tools = await self.tools(subject)
        facts = await self._facts(who, subject, request, saved.own, run_id, looks_only=looks_only)
        return Gathered(inputs_of(saved, request, facts.lines, tools), loaded(saved.files), facts)

    async def saved(self, subject: ContextSubject, but: UUID | None = None) -> Saved:
        """What is saved, beside the run `but`."""
        return await self._storage.read(subject.organization_id, _saved, subject, but)

    async def tools(self, subject: ContextSubject) -> Sequence[GrantedTool]:
        """The tools that the subject's agent may call; without an agent, none."""
        if subject.agent_id is None:
            return ()
        agent = Principal(
            organization_id=subject.organization_id,
            role=Role.AGENT,
            agent_id=subject.agent_id,
            user_id=subject.user_id,
        )
        return await self._granted(agent)

    async def _facts(
        self,
        who: Principal,
        subject: ContextSubject,
        request: InstructionRequest,
        own: AgentInstructions | None,
        run_id: UUID | None,
        *,
        looks_only: bool,
    ) -> Facts:
        lines: list[str] = []
        skills_cap = own.skills_cap if own else None

        def keeping(pinned: Sequence[Offered], found: Sequence[Offered]) -> Kept:
            every = [*pinned, *found]
            lines[:] = [fact_line(each.memory) for each in every]
            inputs = Inputs(facts=lines, skills_cap=skills_cap)
            measured = measure_segment(SegmentName.MEMORY_FACTS, inputs, self._estimator)
            kept = _kept(every, lines, measured.pieces[0].cut.text)
            block = write_block([each.memory for each in kept])
            return Kept(block, kept, measured.included, len(every) - len(kept))

        recall = await self._memories.recall_for(
            who,
            request.query,
            keeping,
            agent_id=subject.agent_id,
            user_id=subject.user_id,
            run_id=run_id,
            looks_only=looks_only,
        )
        if recall.outcome not in {"found", "empty"}:
            return Facts((), recall.outcome)
        return Facts(lines, recall.outcome, [each.id for each in recall.memories])


def inputs_of(
    saved: Saved,
    request: InstructionRequest,
    facts: Sequence[str],
    tools: Sequence[GrantedTool],
) -> Inputs:
    """The texts of all segments."""
    own = saved.own
    kept = own.capabilities if own else ""
    texts: Mapping[SegmentName, str] = {
        **{
            SEGMENT_OF[file.name]: file.body
            for file in saved.files.agent
            if file.name in SEGMENT_OF
        },
        SegmentName.CAPABILITIES: kept if request.capabilities is None else request.capabilities,
        SegmentName.SKILLS: skills_text(saved.skills),
        SegmentName.SCOPE_ADVANCED_PROMPTS: request.scope_advanced_prompts,
        SegmentName.SCOPE_CONTEXT: request.scope_context,
        SegmentName.RECENT_ACTIVITY: activity_text(saved.activities),
        SegmentName.RECENT_RUNS: runs_text(saved.runs),
        SegmentName.OUTPUT_CONTRACT: request.output_contract,
    }
    tools_file = texts.get(SegmentName.TOOLS, "")
    return Inputs(
        texts={**texts, SegmentName.TOOLS: tools_text(tools_file, tools)},
        workspace=[Piece(file.name, file.body) for file in saved.files.always_loaded],
        facts=list(facts),
        skills_cap=own.skills_cap if own else None,
    )


def loaded(files: FilesView) -> list[LoadedFile]:
    """Which revisions are loaded: of the files that are always loaded, and of the agent's own."""
    agent = [file for file in files.agent if file.name in SEGMENT_OF]
    return [
        *(_loaded(file, of_agent=False) for file in files.always_loaded),
        *(_loaded(file, of_agent=True) for file in agent),
    ]


def _loaded(file: FileView, *, of_agent: bool) -> LoadedFile:
    return LoadedFile(name=file.name, of_agent=of_agent, revision=file.revision, hash=file.hash)


def _kept(every: Sequence[Offered], lines: Sequence[str], left: str) -> list[Offered]:
    """The offers whose lines are left; of two that read alike, as many as are left."""
    there = Counter(left.split("\n"))
    kept = []
    for offer, line in zip(every, lines, strict=True):
        if there[line] > 0:
            there[line] -= 1
            kept.append(offer)
    return kept


def _saved(tx: Transaction, subject: ContextSubject, but: UUID | None) -> Saved:
    agent_id, user_id = subject.agent_id, subject.user_id
    if agent_id is None:
        return Saved(view(tx, None), None, (), (), ())
    runs = run_page(
        tx,
        status=None,
        agent_id=agent_id,
        user_id=user_id,
        parent_id=None,
        before=None,
        limit=RUNS + 1,
        alone=user_id is None,
    )
    return Saved(
        view(tx, agent_id),
        store.of_agent(tx, agent_id),
        given(tx, agent_id),
        activities_of_agent(tx, agent_id, user_id, ACTIVITIES),
        [run for run in runs if run.id != but][:RUNS],
    )
