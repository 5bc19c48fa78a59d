"""`memoranda load`: how much of a file, or of all that an agent is told, arrives, and what is skipped."""

from typing import TYPE_CHECKING, Annotated, Any, Final
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli.documents import read_text
from memoranda.surfaces.cli.options import User, id_of
from memoranda.surfaces.cli.output import Answer
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, counted, table
from memoranda.surfaces.cli.verbs import group, verb
from memoranda.words.errors import Invalid
from memoranda.words.text import neutralize

if TYPE_CHECKING:
    from memoranda.instructions.models import (
        FileReport,
        LastRun,
        LoadReport,
        RunInstructions,
        SegmentReport,
        SkippedRange,
        Stretch,
    )

load = group("How much of what agents are told arrives: reports of agents, files and runs.")

WIDTH: Final = 10
"""Cells of a bar; a text that is over its cap fills them all."""
COLORS: Final = {"under": "green", "near": "yellow", "over": "bold red"}
WORDS: Final = {"under": "under", "near": "near the cap", "over": "over the cap"}
DEPENDS: Final = {"saved": "", "request": "request", "query": "query", "time": "time"}
MOST_BYTES: Final = 1_000_000

FileName = Annotated[
    str, typer.Argument(metavar="FILE", help="The file's name, such as voice or SOUL.md.")
]
OfAgent = Annotated[
    str | None,
    typer.Option("--agent", metavar="AGENT", help="Of this agent; else the organization's file."),
]
RunId = Annotated[
    UUID,
    typer.Argument(metavar="RUN", parser=id_of("`memoranda runs list`"), help="The run's id."),
]


@verb(load, "agent", reads=True)
async def load_of_agent(
    at: Session,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="An id, slug or external id.")],
    *,
    query: Annotated[
        str, typer.Option("--query", metavar="TEXT", help="The task by which memories are found.")
    ] = "",
    user: User = None,
) -> Answer:
    """Show all fourteen segments of an agent's next run, and whether its last run agrees."""
    from memoranda.instructions.models import InstructionRequest

    report = await at.memoranda.load_meter.agent(
        at.who, agent, InstructionRequest(query=query), user_id=await at.user_id(user)
    )
    return Answer(report, lambda: _agent(report))


@verb(load, "file", reads=True)
async def load_of_file(
    at: Session,
    name: FileName,
    *,
    agent: OfAgent = None,
    body: Annotated[
        str | None,
        typer.Option(
            "--body", metavar="PATH", help="Measure this text and not the saved one; - for stdin."
        ),
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Show the file too, with the skipped block marked.")
    ] = False,
) -> Answer:
    """Show how much of a file reaches agents, and which lines are skipped."""
    report = await at.memoranda.load_meter.file(
        at.who,
        name,
        agent=agent,
        body=None if body is None else read_text(body, most=MOST_BYTES),
        with_preview=preview,
    )
    return Answer(report, lambda: _file(report))


@verb(load, "run", reads=True)
async def load_of_run(
    at: Session,
    run_id: RunId,
    *,
    text: Annotated[
        bool, typer.Option("--text", help="Show the text too that the run was told.")
    ] = False,
) -> Answer:
    """Show what a run was told: its segments, and which revisions of files that was."""
    told = await at.memoranda.instructions.get(at.who, run_id)
    return Answer(told, lambda: _run(told, text=text))


@verb(load, "assemble")
async def assemble(
    at: Session,
    run_id: RunId,
    *,
    query: Annotated[
        str, typer.Option("--query", metavar="TEXT", help="The task by which memories are found.")
    ] = "",
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Replace what the run was told before.")
    ] = False,
) -> Answer:
    """Assemble what a run is told, keep it beside the run, and print it; what it was told before is printed again."""
    from memoranda.instructions.models import InstructionRequest

    told = await at.memoranda.instructions.assemble(
        at.who, run_id, InstructionRequest(query=query), refresh=refresh
    )
    unused = "--query was not used. " if query and not told.built else ""
    note = "" if told.built else f"It was told this before. {unused}To assemble it anew: --refresh"
    return Answer(told, lambda: _run(told, text=True, note=note))


@verb(load, "ask", reads=True)
async def ask(at: Session, name: FileName, *, agent: OfAgent = None) -> Answer:
    """Print a message that asks an agent to update a file, and the text that rides along."""
    asked = await at.memoranda.load_meter.ask(at.who, name, agent=agent)
    head = {"message": asked.message, "tool": asked.tool, "tokens": asked.attachment.tokens}
    return Answer(asked, lambda: [card(head), Text(""), _lines(asked.attachment.text)])


@verb(load, "capabilities")
async def capabilities(
    at: Session,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="An id, slug or external id.")],
    *,
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="What the agent can do.")
    ] = None,
    skills_cap: Annotated[
        str | None,
        typer.Option(
            "--skills-cap",
            metavar="TOKENS",
            help="What its skills may cost, 0 to 8000; or default.",
        ),
    ] = None,
) -> Answer:
    """Show what is kept of an agent beside its files, or change what is named."""
    kept = await at.memoranda.instructions.of_agent(at.who, agent)
    if text is not None or skills_cap is not None:
        kept = await at.memoranda.instructions.set_of_agent(
            at.who,
            agent,
            capabilities=kept.capabilities if text is None else text,
            skills_cap=kept.skills_cap if skills_cap is None else _cap(skills_cap),
        )
    head = {
        "agent": kept.agent_id,
        "capabilities": kept.capabilities,
        "skills cap": "the product's own" if kept.skills_cap is None else kept.skills_cap,
    }
    return Answer(kept, lambda: [card(head)])


@verb(load, "skills", reads=True)
async def skills(
    at: Session,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="An id, slug or external id.")],
) -> Answer:
    """List the skills that an agent is bound to."""
    return _skills(await at.memoranda.skills.bound(at.who, agent))


DefinitionId = Annotated[
    UUID,
    typer.Argument(
        metavar="SKILL", parser=id_of("`memoranda definitions list`"), help="The skill's id."
    ),
]


@verb(load, "bind")
async def bind(
    at: Session,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="An id, slug or external id.")],
    skill: DefinitionId,
    *,
    priority: Annotated[
        int, typer.Option("--priority", metavar="N", help="The higher, the later it is cut.")
    ] = 0,
) -> Answer:
    """Bind an agent to a skill, or say its priority anew."""
    return _skills(await at.memoranda.skills.bind(at.who, agent, skill, priority=priority))


@verb(load, "unbind")
async def unbind(
    at: Session,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="An id, slug or external id.")],
    skill: DefinitionId,
) -> Answer:
    """Take a skill away from an agent."""
    return _skills(await at.memoranda.skills.unbind(at.who, agent, skill))


def bar(used: int, cap: int, state: str) -> Text:
    """How full a cap is: cells, colored by the state, which stands beside it in words too."""
    share = min(used / cap, 1.0) if cap else float(used > 0)
    filled = max(round(share * WIDTH), 1) if used else 0
    drawn = Text("█" * filled, style=COLORS[state])
    return drawn.append("░" * (WIDTH - filled), style="dim")


def _cap(written: str) -> int | None:
    if written == "default":
        return None
    try:
        return int(written)
    except ValueError:
        raise Invalid(
            "--skills-cap is a number of tokens from 0 to 8000, or the word default.",
            field="skills_cap",
        ) from None


def _skills(bound: Any) -> Answer:
    rows = [
        (each.name, each.slug, each.definition_id, each.priority, "" if each.published else "no")
        for each in bound
    ]
    columns = ("~skill", "slug", "id", "#priority", "published")
    empty = "The agent is bound to no skill. Bind one with: memoranda load bind AGENT SKILL"
    return Answer({"items": bound}, lambda: [table(columns, rows) if rows else Text(empty)])


def _agent(report: "LoadReport") -> "list[Any]":
    load = report.load
    return [
        _segments(load.segments),
        Text(
            f"{load.total_tokens} of {load.total_cap} tokens, and {load.frame_tokens} for the fences, "
            f"by the estimator {load.estimator}."
        ),
        _agreement(report.last_run),
    ]


def _run(told: "RunInstructions", *, text: bool, note: str = "") -> "list[Any]":
    head = {
        "run": told.run_id,
        "stage": told.stage,
        "assembled": told.assembled_at.strftime("%Y-%m-%d %H:%M:%SZ"),
        "note": note,
        "tokens": f"{told.load.total_tokens} of {told.load.total_cap}",
        "files": ", ".join(f"{file.name} at {file.revision}" for file in told.load.files),
    }
    drawn: list[Any] = [card(head), _segments(told.load.segments)]
    if text:
        drawn.append(_lines(told.text or "The text is kept no longer."))
    return drawn


def _segments(segments: "list[SegmentReport]") -> Any:
    rows = []
    for each in segments:
        rows.append((each.label, *_measured(each), DEPENDS[each.depends_on]))
        rows += [(f"└ {file.name}", *_measured(file), "") for file in each.files]
    columns = ("segment", "load", "state", "#used", "#cap", "#arrives", "~skipped", "depends on")
    return table(columns, rows)


def _measured(each: Any) -> tuple[object, ...]:
    state = Text(WORDS[each.state], style=COLORS[each.state])
    skipped = skipped_words(each.skipped, each.skipped_chars)
    return (
        bar(each.used, each.cap, each.state),
        state,
        each.used,
        each.cap,
        each.included,
        skipped,
    )


def skipped_words(skipped: "SkippedRange | None", characters: int) -> str:
    """What is skipped, in characters and in lines."""
    if not characters:
        return ""
    said = counted(characters, "character", "characters")
    if skipped is None:
        return said
    if skipped.first_line == skipped.last_line:
        return f"{said}, in line {skipped.first_line}"
    return f"{said}, lines {skipped.first_line} to {skipped.last_line}"


def _agreement(last: "LastRun | None") -> Text:
    if last is None:
        return Text("No run of this agent was told anything yet.")
    if last.agrees:
        return Text(f"The last run, {last.run_id}, agrees in all that is saved.")
    differs = [
        f"{each.name} ({each.then} then, {each.now} now"
        + (f"; changed since: {', '.join(each.changed_files)})" if each.changed_files else ")")
        for each in last.segments
        if each.agrees is False
    ]
    return Text(f"The last run, {last.run_id}, differs in: {'; '.join(differs)}.")


def _file(report: "FileReport") -> "list[Any]":
    head: dict[str, Any] = {
        "file": f"{report.title} ({report.name})",
        "text": "saved" if report.saved else "not saved",
        "revision": report.revision,
        "hash": report.saved_hash,
        "hash of this text": "" if report.saved else report.hash,
        "load": _loaded(report),
    }
    if report.segment is None:
        return [card(head)]
    head |= {
        "used": f"{report.used} of {report.cap} tokens",
        "arrives": report.included,
        "state": Text.assemble(
            bar(report.used, report.cap, report.state),
            " ",
            (WORDS[report.state], COLORS[report.state]),
        ),
        "skipped": skipped_words(report.skipped, report.skipped_chars),
        "estimator": report.estimator,
    }
    return [card(head), *([] if report.preview is None else [Text(""), _preview(report.preview)])]


def _loaded(report: "FileReport") -> str:
    if report.segment is None:
        return "never: it is in no segment"
    if not report.loaded:
        return f"on demand; as if loaded in: {report.segment.label}"
    return f"every run, in: {report.segment.label}"


def _preview(stretches: "list[Stretch]") -> Text:
    drawn = Text()
    for each in stretches:
        if each.kind == "given":
            drawn.append_text(_lines(each.text))
            continue
        where = f"lines {each.first_line} to {each.last_line}, {each.end - each.start} characters"
        drawn.append(f"\n──── skipped: {where} ────\n", style="bold red")
        drawn.append_text(_lines(neutralize(each.text), style="dim strike"))
        drawn.append("\n──── end of what is skipped ────\n", style="bold red")
    return drawn


def _lines(neutral: str, *, style: str = "") -> Text:
    """Text with its lines, that was neutralized already: nothing in it can move the cursor."""
    lines = neutral.replace("\r", "").split("\n")
    return Text("\n").join(Text(line, style=style) for line in lines)
