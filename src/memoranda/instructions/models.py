"""The values of instructions: what a caller adds, what a run was told, and what the load meter says."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from memoranda.files.models import FileList
from memoranda.instructions.segments import Origin, SegmentName, State
from memoranda.words.tokens import EstimatorName

LONGEST_TEXT_BYTES: Final = 65_536
"""Bytes of UTF-8 that each text of a request, and what an agent's capabilities say, may have."""


class Value(BaseModel):
    """A value that never changes, and knows its fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class InstructionRequest(Value):
    """What the caller adds to what is saved. Without `capabilities`, those that are kept of the agent count.

    `query` is the task in plain words, by which memories are found.
    """

    query: str = ""
    capabilities: str | None = None
    scope_advanced_prompts: str = ""
    scope_context: str = ""
    output_contract: str = ""


class AgentInstructions(Value):
    """What is kept of an agent beside its files. `skills_cap` is None where the product's own holds."""

    agent_id: UUID
    capabilities: str
    skills_cap: int | None
    updated_at: datetime | None


class SkippedRange(Value):
    """What was skipped of a text: characters from `start` up to `end`, and the lines that they are in, from 1."""

    start: int
    end: int
    first_line: int
    last_line: int


class PieceReport(Value):
    """One of the files that share a segment: its part of the cap, and what is left of it."""

    name: str
    cap: int
    used: int
    included: int
    skipped_chars: int
    skipped: SkippedRange | None
    state: State


class SegmentReport(Value):
    """One segment. `used` is what its text costs before anything is cut, `included` what is left of it.

    `depends_on` says what it was made of: `saved` text, the `request`, the `query`, or the `time`,
    and so whether another run's may differ. `items` counts the memories, activities or runs that
    were measured, and is None for other segments. Where files share it, `files` are theirs, and
    `skipped` is None: each file has its own.
    """

    name: SegmentName
    label: str
    cap: int
    used: int
    included: int
    skipped_chars: int
    skipped: SkippedRange | None
    state: State
    depends_on: Origin
    items: int | None
    files: list[PieceReport]


class LoadedFile(Value):
    """Which revision of which file was loaded; `hash` is the SHA-256 of its body."""

    name: str
    of_agent: bool
    revision: int
    hash: str


FactsOutcome = Literal["found", "empty", "off", "timeout", "failed"]


class ContextLoad(Value):
    """What an instruction costs: counts and revisions, and no text.

    `total_tokens` is what is left of all segments, and `frame_tokens` what the fences around them
    cost, which stand outside of every cap. `facts` says how memories were recalled.
    """

    estimator: EstimatorName
    total_tokens: int
    total_cap: int
    frame_tokens: int
    segments: list[SegmentReport]
    files: list[LoadedFile]
    facts: FactsOutcome


class RunInstructions(Value):
    """What a stage of a run was told. `built` says whether this very call assembled it.

    `text` is None where it held what has been erased since, or was kept long enough; `load` stays.
    """

    run_id: UUID
    stage: int
    assembled_at: datetime
    built: bool
    text: str | None
    digest: str | None
    load: ContextLoad


class SegmentAgreement(Value):
    """Whether a segment measures as it did in the last run; None where it depends on more than saved text."""

    name: SegmentName
    agrees: bool | None
    then: int
    now: int
    changed_files: list[str]


class LastRun(Value):
    """How the last run of the agent compares: `agrees` where all of its saved segments measure alike now."""

    run_id: UUID
    assembled_at: datetime
    agrees: bool
    same_estimator: bool
    segments: list[SegmentAgreement]


class LoadReport(Value):
    """What an agent's next run would be told, by segments, without running anything.

    Memories are those that `query` finds. `last_run` is None before the first run.
    """

    agent_id: UUID | None
    query: str
    measured_at: datetime
    load: ContextLoad
    last_run: LastRun | None


class Stretch(Value):
    """A part of a file, in order: `given` as the agent receives it, or `skipped`, with its place in the file."""

    kind: Literal["given", "skipped"]
    text: str
    start: int
    end: int
    first_line: int
    last_line: int


class FileReport(Value):
    """How much of one file reaches an agent. `segment` is None for a file that is never loaded.

    `loaded` says whether every run is given it; what is measured of a file that is read on demand is
    what it would cost. `saved` is False for a body that was only tried: `hash` is then that body's, and
    `saved_hash` is what the file has, as a write expects it. `cap` to `state` are the file's own: its
    part of the cap where files share one. `given` is its text as an agent receives it, with the line
    that stands for what is skipped.
    """

    name: str
    title: str
    agent_id: UUID | None
    estimator: EstimatorName
    saved: bool
    loaded: bool
    revision: int
    hash: str
    saved_hash: str
    cap: int
    used: int
    included: int
    skipped_chars: int
    skipped: SkippedRange | None
    state: State
    segment: SegmentReport | None
    given: str
    preview: list[Stretch] | None
    measured_at: datetime


class FilesLoad(Value):
    """What the files of a list cost together: the segments that they are in, as every report has them.

    `total_cap` is what these segments may cost. `files` says which revisions were measured: an
    agent's own, and of an organization's those that are always loaded.
    """

    estimator: EstimatorName
    total_tokens: int
    total_cap: int
    segments: list[SegmentReport]
    files: list[LoadedFile]


class ListedFiles(FileList):
    """The files of an organization or an agent without their texts, and how much of them arrives."""

    load: FilesLoad


class Attachment(Value):
    """A file that rides along with a message: the very text that an agent's run receives of it."""

    kind: Literal["context_file"] = "context_file"
    name: str
    title: str
    agent_id: UUID | None
    revision: int
    hash: str
    text: str
    tokens: int
    skipped: SkippedRange | None


class AskAnAgent(Value):
    """A message that a chat can open with, unsent, and what rides along. `tool` is how an agent would write."""

    message: str
    attachment: Attachment
    tool: str
    arguments: Mapping[str, str]
    expected_hash: str
