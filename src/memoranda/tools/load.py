"""The tools that tell a model how much of a file, or of all that it is told, arrives."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Final, TypeAlias
from uuid import UUID

from pydantic import Field

from memoranda.access.models import Principal, Role
from memoranda.files.models import AgentFile, WorkspaceFile
from memoranda.files.naming import unknown_file
from memoranda.tools.files.inputs import ARGUMENT_BYTES
from memoranda.tools.models import Answer, Course, Decision, Input, Tool
from memoranda.words.errors import Refused

FILE: Final = (
    "See how much of a file runs are given, and which lines are skipped because the file is too long. Give a "
    "body to measure that instead, before you write it: nothing of it is kept."
)
AGENT: Final = (
    "See what you are told at the beginning of a run, segment by segment: how much each may cost, what it "
    "costs, and what is skipped."
)


class GetFileLoad(Input):
    """A file, as it is or as it might be."""

    slug: Annotated[
        str,
        Field(
            description="about-you, organization, people, glossary, voice or roster; or one of your own: "
            "SOUL.md, AGENTS.md, NOTES.md, HEARTBEAT.md, TOOLS.md."
        ),
    ]
    body: Annotated[
        str | None,
        Field(description="What the file might say. Without it, what it says is measured."),
    ] = None


class GetContextLoad(Input):
    """A run that might begin."""

    query: Annotated[
        str, Field(description="The task, by which memories are found; may be empty.")
    ] = ""


class SkippedLines(Answer):
    """What is skipped of a text, in lines from 1 and in characters."""

    first_line: int
    last_line: int
    characters: int


class FileLoad(Answer):
    """How much of a file arrives, in tokens: it costs `used` of `cap`, and `included` is left of it.

    `state` is `under`, `near` (90 to 100 %) or `over`. `loaded` says whether every run is given the file.
    `saved_hash` is the hash of what is saved, also where a body was measured.
    """

    slug: str
    title: str
    measured: str
    loaded: bool
    segment: str | None
    state: str
    used: int
    cap: int
    included: int
    skipped: SkippedLines | None
    saved_hash: str


class SegmentLoad(Answer):
    """One segment, in tokens."""

    name: str
    state: str
    used: int
    cap: int
    included: int
    skipped_characters: int


class ContextLoads(Answer):
    """All segments of a run, in their order."""

    total: int
    cap: int
    segments: list[SegmentLoad]


MeasureFile: TypeAlias = Callable[[Principal, str, UUID | None, str | None], Awaitable[FileLoad]]
MeasureAgent: TypeAlias = Callable[[Principal, UUID, str], Awaitable[ContextLoads]]


def load_tools(measure_file: MeasureFile, measure_agent: MeasureAgent) -> list[Tool]:
    """`get_file_load`, and for agents `get_context_load`."""

    async def file(who: Principal, asked: GetFileLoad, _course: Course) -> FileLoad:
        own = who.role is Role.AGENT and asked.slug in set(AgentFile)
        if not own and asked.slug not in set(WorkspaceFile):
            raise unknown_file(WorkspaceFile)
        return await measure_file(who, asked.slug, who.agent_id if own else None, asked.body)

    async def agent(who: Principal, asked: GetContextLoad, _course: Course) -> ContextLoads:
        if who.agent_id is None:
            raise Refused(
                "Only an agent has instructions of its own. Ask for an agent's by its name."
            )
        return await measure_agent(who, who.agent_id, asked.query)

    return [
        Tool(
            name="get_file_load",
            description=FILE,
            input=GetFileLoad,
            answer=FileLoad,
            read=file,
            in_spaces=False,
            argument_bytes=ARGUMENT_BYTES,
        ),
        Tool(
            name="get_context_load",
            description=AGENT,
            input=GetContextLoad,
            answer=ContextLoads,
            read=agent,
            in_spaces=False,
            offered=_is_an_agents,
        ),
    ]


def _is_an_agents(who: Principal, _decision: Decision) -> bool:
    return who.role is Role.AGENT
