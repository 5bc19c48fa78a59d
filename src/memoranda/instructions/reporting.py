"""What measurements say to people: reports, ranges in characters and lines, and agreement. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from memoranda.files.models import AgentFile
from memoranda.instructions.cutting import Cut
from memoranda.instructions.measuring import (
    PieceMeasurement,
    SegmentMeasurement,
    state_of,
    totals,
)
from memoranda.instructions.models import (
    ContextLoad,
    FactsOutcome,
    LoadedFile,
    PieceReport,
    SegmentAgreement,
    SegmentReport,
    SkippedRange,
    Stretch,
)
from memoranda.instructions.rendering import frame_tokens
from memoranda.instructions.segments import Origin, SegmentName
from memoranda.words.estimators import ESTIMATORS, EstimatorName
from memoranda.words.text import neutralize

SEGMENT_OF: Final[Mapping[str, SegmentName]] = {
    AgentFile.IDENTITY: SegmentName.IDENTITY,
    AgentFile.ROLE: SegmentName.ROLE,
    AgentFile.NOTES: SegmentName.NOTES,
    AgentFile.OPERATING_LOOP: SegmentName.OPERATING_LOOP,
    AgentFile.TOOLS: SegmentName.TOOLS,
}
"""Which segment an agent's file is in. The manifest is in none."""
_LISTED: Final = frozenset({Origin.QUERY, Origin.TIME})
_FILES_OF: Final = {segment: str(name) for name, segment in SEGMENT_OF.items()}


def load_of(
    measured: Sequence[SegmentMeasurement],
    *,
    estimator: EstimatorName,
    skills_cap: int | None,
    files: Sequence[LoadedFile],
    facts: FactsOutcome,
) -> ContextLoad:
    """The account of what was measured: what a run records, and what a report tells."""
    total, most = totals(measured, skills_cap)
    return ContextLoad(
        estimator=estimator,
        total_tokens=total,
        total_cap=most,
        frame_tokens=frame_tokens(measured, ESTIMATORS[estimator]),
        segments=[segment_report(each) for each in measured],
        files=list(files),
        facts=facts,
    )


def segment_report(measured: SegmentMeasurement) -> SegmentReport:
    """One segment as it is told."""
    segment, shared = measured.segment, measured.segment.name is SegmentName.WORKSPACE_CONTEXT
    return SegmentReport(
        name=segment.name,
        label=segment.label,
        cap=measured.cap,
        used=measured.used,
        included=measured.included,
        skipped_chars=measured.skipped_chars,
        skipped=None if shared else skipped_range(measured.pieces[0].cut),
        state=measured.state,
        depends_on=segment.origin,
        items=_items(measured) if segment.origin in _LISTED else None,
        files=[piece_report(piece) for piece in measured.pieces] if shared else [],
    )


def _items(measured: SegmentMeasurement) -> int:
    """Facts and feeds are written one on each line."""
    return sum(
        len(piece.cut.before.split("\n")) if piece.cut.before else 0 for piece in measured.pieces
    )


def piece_report(piece: PieceMeasurement) -> PieceReport:
    """One of the files that share a segment."""
    return PieceReport(
        name=piece.name,
        cap=piece.cap,
        used=piece.used,
        included=piece.included,
        skipped_chars=len(piece.cut.skipped),
        skipped=skipped_range(piece.cut),
        state=state_of(piece.used, piece.cap),
    )


def skipped_range(cut: Cut) -> SkippedRange | None:
    """The characters that were skipped and the lines that they are in; None where nothing was."""
    if cut.start == cut.end:
        return None
    first, last = _lines(cut.before, cut.start, cut.end)
    return SkippedRange(start=cut.start, end=cut.end, first_line=first, last_line=last)


def within_file(skipped: SkippedRange | None, file: str) -> SkippedRange | None:
    """The part of a range that is in the file with which a text begins; None where there is none."""
    if skipped is None or skipped.start >= len(file):
        return None
    end = min(skipped.end, len(file))
    first, last = _lines(file, skipped.start, end)
    return SkippedRange(start=skipped.start, end=end, first_line=first, last_line=last)


def preview(file: str, skipped: SkippedRange | None) -> list[Stretch]:
    """The file in stretches: what an agent is given of it, as it is given, and the block that is skipped."""
    start, end = (skipped.start, skipped.end) if skipped else (len(file), len(file))
    stretches = []
    for begins, ends in ((0, start), (start, end), (end, len(file))):
        if begins == ends:
            continue
        is_skipped = skipped is not None and begins == start
        first, last = _lines(file, begins, ends)
        text = file[begins:ends]
        stretches.append(
            Stretch(
                kind="skipped" if is_skipped else "given",
                text=text if is_skipped else neutralize(text),
                start=begins,
                end=ends,
                first_line=first,
                last_line=last,
            )
        )
    return stretches


def agreement(then: ContextLoad, now: ContextLoad) -> list[SegmentAgreement]:
    """How the segments of a run compare with those of a report."""
    before = {each.name: each for each in then.segments}
    changed = _changed_files(then.files, now.files)
    return [
        _agreement(before[each.name], each, changed) for each in now.segments if each.name in before
    ]


def _agreement(then: SegmentReport, now: SegmentReport, changed: set[str]) -> SegmentAgreement:
    same = then == now
    own = (
        [file.name for file in (*now.files, *then.files)]
        if now.name is SegmentName.WORKSPACE_CONTEXT
        else [_FILES_OF[now.name]]
        if now.name in _FILES_OF
        else []
    )
    moved = sorted(changed.intersection(own))
    saved = now.depends_on is Origin.SAVED
    return SegmentAgreement(
        name=now.name,
        agrees=(same and not moved) if saved else None,
        then=then.included,
        now=now.included,
        changed_files=moved,
    )


def _changed_files(then: Sequence[LoadedFile], now: Sequence[LoadedFile]) -> set[str]:
    before = {(file.of_agent, file.name): file.hash for file in then}
    after = {(file.of_agent, file.name): file.hash for file in now}
    places = before.keys() | after.keys()
    return {
        name
        for of_agent, name in places
        if before.get((of_agent, name)) != after.get((of_agent, name))
    }


def _lines(text: str, start: int, end: int) -> tuple[int, int]:
    first = text.count("\n", 0, start) + 1
    return first, first + text.count("\n", start, max(end - 1, start))
