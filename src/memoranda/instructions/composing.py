"""How lists become the text of a segment, the newest or most important last. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from memoranda.runs.models import Activity, Run
from memoranda.state.definitions.models import Skill
from memoranda.words.text import neutral_line


class GrantedTool(NamedTuple):
    """A tool that the agent may call, and whether a person is asked each time."""

    name: str
    description: str
    asks: bool


def tools_text(file: str, granted: Sequence[GrantedTool]) -> str:
    """What the agent's file says of tools, then those that it may call."""
    lines = [
        f"- {tool.name}{' (a person is asked first)' if tool.asks else ''}: {neutral_line(tool.description)}"
        for tool in granted
    ]
    listed = "\n".join(["Tools that you may call:", *lines]) if lines else ""
    return "\n\n".join(part for part in (file, listed) if part)


def skills_text(skills: Sequence[Skill]) -> str:
    """The bodies of the skills, those of the highest priority last, since the beginning is cut first."""
    return "\n\n".join(
        f"## {neutral_line(skill.name)}\n\n{skill.body}" for skill in skills if skill.body
    )


def activity_text(activities: Sequence[Activity]) -> str:
    """What happened, the newest last: what, when, to which row, and how much of it."""
    return "\n".join(_happened(each) for each in reversed(activities))


def runs_text(runs: Sequence[Run]) -> str:
    """The earlier runs, the newest last: how each stands, and what it came to. Inputs are never told."""
    return "\n".join(_ran(each) for each in reversed(runs))


def _happened(activity: Activity) -> str:
    what = neutral_line(activity.type.replace("_", " "))
    where = f" ({activity.subject_id})" if activity.subject_id else ""
    return f"- {_when(activity.created_at)} {what}{where}{_counts(activity.metadata)}"


def _ran(run: Run) -> str:
    said = [run.status.value]
    if run.result is not None and run.result.summary:
        said.append(run.result.summary)
    if run.waiting_reason:
        said.append(f"waits for: {run.waiting_reason}")
    if run.failure_reason:
        said.append(f"failed because: {run.failure_reason}")
    return f"- {_when(run.created_at)} {neutral_line('; '.join(said))}"


def _when(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}Z"


def _counts(metadata: Mapping[str, object]) -> str:
    counts = [
        f"{neutral_line(name)} {value}"
        for name, value in sorted(metadata.items())
        if isinstance(value, int) and not isinstance(value, bool)
    ]
    return f": {', '.join(counts)}" if counts else ""
