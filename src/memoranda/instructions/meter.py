"""The load meter: how much of what is saved, or only tried, would reach an agent. Nothing runs for it."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import Permission, organization_for, subject_of
from memoranda.files.body import hash_of
from memoranda.files.models import AgentFile, ContextFile, FilesView, LoadMode, WorkspaceFile
from memoranda.files.service import Files
from memoranda.instructions import store
from memoranda.instructions.asked import request_input, tried_body
from memoranda.instructions.composing import GrantedTool, tools_text
from memoranda.instructions.gathering import Gathered, Gathering, Saved, inputs_of, loaded
from memoranda.instructions.measuring import (
    Inputs,
    Piece,
    PieceMeasurement,
    SegmentMeasurement,
    measure_segment,
    measure_segments,
    state_of,
)
from memoranda.instructions.models import (
    AskAnAgent,
    Attachment,
    ContextLoad,
    FileReport,
    FilesLoad,
    InstructionRequest,
    LastRun,
    ListedFiles,
    LoadReport,
    SegmentAgreement,
)
from memoranda.instructions.reporting import (
    SEGMENT_OF,
    agreement,
    load_of,
    preview,
    segment_report,
    skipped_range,
    within_file,
)
from memoranda.instructions.segments import SegmentName
from memoranda.instructions.service import known_agent
from memoranda.instructions.store import Kept
from memoranda.storage import Storage
from memoranda.words.clock import Clock, system_clock
from memoranda.words.estimators import ESTIMATORS, EstimatorName
from memoranda.words.given import checks_shapes
from memoranda.words.subject import ContextSubject

_ORDER: Final = [name.value for name in WorkspaceFile]


@checks_shapes
class LoadMeter:
    """Reports of what a file, or an agent, would cost and have skipped, by the measure that runs use."""

    def __init__(
        self,
        storage: Storage,
        files: Files,
        gathering: Gathering,
        *,
        estimator: EstimatorName = "bytes",
        clock: Clock = system_clock,
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._files = files
        self._gathering = gathering
        self._estimator: EstimatorName = estimator

    async def agent(
        self,
        who: Principal,
        agent: UUID | str,
        request: InstructionRequest | None = None,
        *,
        user_id: UUID | None = None,
    ) -> LoadReport:
        """All fourteen segments of the agent's next run, for that user or for none, and how its last run compares.

        Memories are those that the request's query would find, and nothing is counted as used.
        Raises `NotFound`, `Refused` for another agent's key, `Invalid` and `OverLimit`.
        """
        organization = organization_for(who, Permission.READ_FILES)
        request = request_input(request or InstructionRequest())
        agent_id = await self._storage.read(organization, known_agent, who, agent)
        subject = subject_of(who, agent_id, user_id if user_id is not None else _own(who))
        gathered = await self._gathering.gather(who, subject, request, looks_only=True)
        load = await asyncio.to_thread(self._load, gathered)
        last = await self._storage.read(
            organization, store.last_of_agent, agent_id, subject.user_id
        )
        return LoadReport(
            agent_id=agent_id,
            query=request.query,
            measured_at=self._clock(),
            load=load,
            last_run=None if last is None else _compared(last, load),
        )

    async def file(
        self,
        who: Principal,
        name: str,
        *,
        agent: UUID | str | None = None,
        body: str | None = None,
        with_preview: bool = False,
    ) -> FileReport:
        """How much of a file reaches an agent: as it is saved, or with a `body` that is only tried.

        Nothing is written for it. Raises what reading the file does, and `Invalid` and
        `FileTooLarge` for the body.
        """
        file = await self._files.get(who, name, agent=agent)
        text = file.body if body is None else tried_body(body)
        organization = organization_for(who, Permission.READ_FILES)
        subject = ContextSubject(
            organization_id=organization, agent_id=file.agent_id, user_id=_own(who)
        )
        saved = await self._gathering.saved(subject)
        tools = await self._gathering.tools(subject) if file.name == AgentFile.TOOLS else ()
        measured = await asyncio.to_thread(self._measured, file, text, saved, tools)
        return self._report(file, text, measured, saved=body is None, with_preview=with_preview)

    async def files(self, who: Principal, *, agent: UUID | str | None = None) -> ListedFiles:
        """An organization's files, or an agent's, as `Files.listed` has them, and what they cost together.

        One report for all of them. Raises what listing them does.
        """
        listed = await self._files.listed(who, agent=agent)
        subject = ContextSubject(
            organization_id=organization_for(who, Permission.READ_FILES),
            agent_id=listed.items[0].agent_id,
            user_id=_own(who),
        )
        view = await self._files.view(subject)
        tools = await self._gathering.tools(subject)
        load = await asyncio.to_thread(self._files_load, view, tools)
        return ListedFiles(**dict(listed), load=load)

    async def ask(
        self, who: Principal, name: str, *, agent: UUID | str | None = None
    ) -> AskAnAgent:
        """A message that asks an agent to update the file, to be sent by a person, and what rides along.

        What rides along is the very text that a run receives of it. Raises what reading the file does.
        """
        file = await self._files.get(who, name, agent=agent)
        report = await self.file(who, name, agent=agent)
        attachment = Attachment(
            name=file.name,
            title=file.title,
            agent_id=file.agent_id,
            revision=report.revision,
            hash=report.hash,
            text=report.given,
            tokens=report.included,
            skipped=report.skipped,
        )
        own, notes = file.agent_id is not None, file.name == AgentFile.NOTES
        whose = "your file" if own else "the workspace file"
        return AskAnAgent(
            message=f"Please update {whose} “{file.title}” ({file.name}). What should change: ",
            attachment=attachment,
            tool="update_notes" if notes else "update_context_file",
            arguments={} if notes else {"slug": file.name},
            expected_hash=file.hash,
        )

    def _load(self, gathered: Gathered) -> ContextLoad:
        return load_of(
            measure_segments(gathered.inputs, ESTIMATORS[self._estimator]),
            estimator=self._estimator,
            skills_cap=gathered.inputs.skills_cap,
            files=gathered.files,
            facts=gathered.facts.outcome,
        )

    def _files_load(self, view: FilesView, tools: Sequence[GrantedTool]) -> FilesLoad:
        inputs = inputs_of(Saved(view, None, (), (), ()), InstructionRequest(), (), tools)
        names = SEGMENT_OF.values() if view.agent else (SegmentName.WORKSPACE_CONTEXT,)
        measured = [measure_segment(name, inputs, ESTIMATORS[self._estimator]) for name in names]
        return FilesLoad(
            estimator=self._estimator,
            total_tokens=sum(each.included for each in measured),
            total_cap=sum(each.cap for each in measured),
            segments=[segment_report(each) for each in measured],
            files=[each for each in loaded(view) if each.of_agent == bool(view.agent)],
        )

    def _measured(
        self, file: ContextFile, text: str, saved: Saved, tools: Sequence[GrantedTool]
    ) -> SegmentMeasurement | None:
        name = segment_of(file)
        if name is None:
            return None
        inputs = inputs_of(saved, InstructionRequest(), (), ())
        if name is SegmentName.WORKSPACE_CONTEXT:
            inputs = replace(inputs, workspace=with_file(inputs.workspace, file.name, text))
        elif name is SegmentName.TOOLS:
            inputs = Inputs({name: tools_text(text, tools)})
        else:
            inputs = Inputs({name: text})
        return measure_segment(name, inputs, ESTIMATORS[self._estimator])

    def _report(
        self,
        file: ContextFile,
        text: str,
        measured: SegmentMeasurement | None,
        *,
        saved: bool,
        with_preview: bool,
    ) -> FileReport:
        piece = None if measured is None else _piece_of(measured, file)
        skipped = None if piece is None else within_file(skipped_range(piece.cut), text)
        used = ESTIMATORS[self._estimator](text) if piece is None else piece.used
        cap = 0 if piece is None else piece.cap
        return FileReport(
            name=file.name,
            title=file.title,
            agent_id=file.agent_id,
            estimator=self._estimator,
            saved=saved,
            loaded=measured is not None and file.load_mode is not LoadMode.ON_DEMAND,
            revision=file.revision,
            hash=file.hash if saved else hash_of(text),
            saved_hash=file.hash,
            cap=cap,
            used=used,
            included=0 if piece is None else piece.included,
            skipped_chars=0 if skipped is None else skipped.end - skipped.start,
            skipped=skipped,
            state=state_of(used, cap) if piece else state_of(0, 0),
            segment=None if measured is None else segment_report(measured),
            given="" if piece is None else piece.neutral,
            preview=preview(text, skipped) if with_preview and piece is not None else None,
            measured_at=self._clock(),
        )


def segment_of(file: ContextFile) -> SegmentName | None:
    """The segment that a file is in, if it is in one."""
    return SegmentName.WORKSPACE_CONTEXT if file.agent_id is None else SEGMENT_OF.get(file.name)


def with_file(pieces: Sequence[Piece], name: str, text: str) -> list[Piece]:
    """The files that share a segment, with this text of that one, which is added where it is not among them."""
    others = [piece for piece in pieces if piece.name != name]
    return sorted([*others, Piece(name, text)], key=lambda piece: _ORDER.index(piece.name))


def _piece_of(measured: SegmentMeasurement, file: ContextFile) -> PieceMeasurement:
    if measured.segment.name is not SegmentName.WORKSPACE_CONTEXT:
        return measured.pieces[0]
    return next(piece for piece in measured.pieces if piece.name == file.name)


def _own(who: Principal) -> UUID | None:
    return who.user_id if who.role in {Role.MEMBER, Role.AGENT} else None


def _compared(last: Kept, now: ContextLoad) -> LastRun:
    segments: list[SegmentAgreement] = agreement(last.load, now)
    return LastRun(
        run_id=last.run_id,
        assembled_at=last.assembled_at,
        agrees=all(each.agrees is not False for each in segments),
        same_estimator=last.load.estimator == now.estimator,
        segments=segments,
    )
