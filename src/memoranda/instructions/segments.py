"""The segments of an instruction, in the order in which a model reads them, and what each may cost. Pure."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple


class SegmentName(StrEnum):
    """The segments by their names, in their order."""

    IDENTITY = "identity"
    ROLE = "role"
    NOTES = "notes"
    CAPABILITIES = "capabilities"
    OPERATING_LOOP = "operating-loop"
    WORKSPACE_CONTEXT = "workspace-context"
    MEMORY_FACTS = "memory-facts"
    TOOLS = "tools"
    SKILLS = "skills"
    SCOPE_ADVANCED_PROMPTS = "scope-advanced-prompts"
    SCOPE_CONTEXT = "scope-context"
    RECENT_ACTIVITY = "recent-activity"
    RECENT_RUNS = "recent-runs"
    OUTPUT_CONTRACT = "output-contract"


class Rule(StrEnum):
    """What is left of a text that is too long: its two ends, its newest end, or its first whole facts."""

    MIDDLE = "middle"
    NEWEST = "newest"
    WHOLE_FACTS = "whole_facts"


class Origin(StrEnum):
    """Where a segment comes from, and so when it may change: saved text, the call's own, its query, the time."""

    SAVED = "saved"
    REQUEST = "request"
    QUERY = "query"
    TIME = "time"


class State(StrEnum):
    """How a text stands to its cap before anything is cut: under 90 % of it, near it, or over it."""

    UNDER = "under"
    NEAR = "near"
    OVER = "over"


class Segment(NamedTuple):
    """A segment: its name, what people call it, its cap in tokens, its rule, and where it comes from.

    `quoted` segments tell of what others wrote or did, and are said to be data.
    """

    name: SegmentName
    label: str
    cap: int
    rule: Rule
    origin: Origin
    quoted: bool = False


_N, _R, _O = SegmentName, Rule, Origin

SEGMENTS: Final = (
    Segment(_N.IDENTITY, "Identity", 1_200, _R.MIDDLE, _O.SAVED),
    Segment(_N.ROLE, "Role", 1_200, _R.MIDDLE, _O.SAVED),
    Segment(_N.NOTES, "Notes", 1_500, _R.MIDDLE, _O.SAVED),
    Segment(_N.CAPABILITIES, "Capabilities", 400, _R.MIDDLE, _O.REQUEST),
    Segment(_N.OPERATING_LOOP, "Operating loop", 800, _R.MIDDLE, _O.SAVED),
    Segment(_N.WORKSPACE_CONTEXT, "Workspace context", 1_500, _R.MIDDLE, _O.SAVED),
    Segment(_N.MEMORY_FACTS, "Memory facts", 1_200, _R.WHOLE_FACTS, _O.QUERY, quoted=True),
    Segment(_N.TOOLS, "Tools", 1_500, _R.NEWEST, _O.SAVED),
    Segment(_N.SKILLS, "Skills", 4_000, _R.NEWEST, _O.SAVED),
    Segment(_N.SCOPE_ADVANCED_PROMPTS, "Scope prompts", 600, _R.MIDDLE, _O.REQUEST),
    Segment(_N.SCOPE_CONTEXT, "Scope context", 800, _R.NEWEST, _O.REQUEST, quoted=True),
    Segment(_N.RECENT_ACTIVITY, "Recent activity", 1_200, _R.NEWEST, _O.TIME, quoted=True),
    Segment(_N.RECENT_RUNS, "Recent runs", 800, _R.NEWEST, _O.TIME, quoted=True),
    Segment(_N.OUTPUT_CONTRACT, "Output contract", 150, _R.MIDDLE, _O.REQUEST),
)
BY_NAME: Final[Mapping[SegmentName, Segment]] = {each.name: each for each in SEGMENTS}

TOTAL_CAP: Final = 17_000
"""Tokens of all segments together. It is above the sum of their caps, so that one of those always binds first."""
SLACK: Final = TOTAL_CAP - sum(each.cap for each in SEGMENTS)
MOST_SKILLS_TOKENS: Final = 8_000
"""The highest cap that an agent may have of its own for its skills; 0 leaves them out."""


def cap_of(segment: Segment, skills_cap: int | None = None) -> int:
    """What the segment may cost for an agent with this cap of its own for skills, if it has one."""
    own = segment.name is SegmentName.SKILLS and skills_cap is not None
    return skills_cap if own and skills_cap is not None else segment.cap


def total_cap(skills_cap: int | None = None) -> int:
    """What all segments may cost together: 17,000, raised where the caps would come to more."""
    return max(TOTAL_CAP, sum(cap_of(each, skills_cap) for each in SEGMENTS) + SLACK)
