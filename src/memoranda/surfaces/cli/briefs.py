"""`memoranda brief` and `memoranda policies`: what a run may know, and under which budgets."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from memoranda.surfaces.cli.documents import read_json
from memoranda.surfaces.cli.options import Agent, Conversation, Run, Trigger, User, row_of, time_of
from memoranda.surfaces.cli.output import Answer, listing
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.state import missing_kind
from memoranda.surfaces.cli.tables import card, listed, table, when
from memoranda.surfaces.cli.verbs import group, verb
from memoranda.words.errors import Invalid

if TYPE_CHECKING:
    from rich.console import RenderableType

    from memoranda.briefs.models import ContextBrief, ContextPolicy, ExplainEntry
    from memoranda.words.ref import ResourceRef

policies = group("Context policies: which sources feed a brief, under which budgets.")

MOST_POLICY_BYTES: Final = 1_000_000
DEFAULT_POLICY: Final = "default"

WHY: Final = {
    "kept": "kept",
    "lost_subject_key": "another item states the same fact",
    "over_source_budget": "its source's budget was spent",
    "over_total_budget": "the whole budget was spent",
    "unknown_source": "the policy enables no such source",
}
FAILURES: Final = {
    "timeout": "did not answer in time",
    "error": "failed",
    "missing": "has no reader here",
    "foreign_item": "named another source",
    "present_only": "can't look back",
    "gone": "has lost some of what it knew then",
}

Entities = Annotated[
    list[str] | None,
    typer.Option("--entity", metavar="KIND:ID", help="A row that it is about; may be repeated."),
]
PolicyName = Annotated[str, typer.Argument(metavar="NAME", help="The policy's name.")]


async def brief(
    at: Session,
    question: Annotated[
        str | None, typer.Argument(metavar="QUERY", help="What the run is about, in words.")
    ] = None,
    *,
    query: Annotated[
        str | None,
        typer.Option("--query", "-q", metavar="QUERY", help="The same, said as an option."),
    ] = None,
    agent: Agent = None,
    user: User = None,
    trigger: Trigger = None,
    budget: Annotated[
        int | None,
        typer.Option("--budget", metavar="TOTAL", help="Tokens for the whole brief."),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option("--policy", metavar="NAME", help="A published policy; `default` without it."),
    ] = None,
    entity: Entities = None,
    conversation: Conversation = None,
    run: Run = None,
    as_of: Annotated[
        datetime | None,
        typer.Option(
            "--as-of",
            metavar="TIME",
            parser=time_of,
            help="As of a past time; says which sources can tell of it.",
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say of every item that was offered what became of it."),
    ] = False,
) -> Answer:
    """Build a brief: the text, what each source spent, what was dropped and why."""
    entities = [row_of("entity", each) for each in entity or ()]
    built = await at.memoranda.briefs.build(
        at.who,
        _asked(question, query),
        agent_id=await at.agent_id(agent),
        user_id=await at.user_id(user),
        trigger_id=trigger,
        entities=entities,
        policy_name=policy,
        budget=budget,
        run_id=run,
        conversation=conversation,
        as_of=as_of,
        explain=explain or not at.choices.as_json,
    )
    if at.choices.as_json:
        return Answer(built, list)
    used = (await at.memoranda.briefs.policy(at.who, policy or DEFAULT_POLICY)).policy
    notes = await _undeclared(at, entities)
    return Answer(built, lambda: [*drawn(built, used, budget, everything=explain), *notes])


async def _undeclared(at: Session, entities: "Sequence[ResourceRef]") -> list[Text]:
    """What to know of rows whose kind nobody declared: nothing of them can be told."""
    state = at.memoranda.state
    kinds = dict.fromkeys(each.kind for each in entities if not state.knows(each.kind))
    return [Text(await missing_kind(at, kind), style="dim") for kind in kinds]


def _unavailable(brief: "ContextBrief") -> Iterator[str]:
    """Who did not answer, and of a past time who can't tell of it."""
    if brief.as_of is not None:
        yield f"As of {when(brief.as_of)} UTC."
    for name in brief.failed_sources:
        reason = brief.failure_reasons.get(name)
        note = f" {brief.times[name].note}" if name in brief.times else ""
        yield f"{name} {FAILURES[reason] if reason else 'did not answer'}.{note}"
    for name, time in brief.times.items():
        if time.speaks_for is not None and time.note:
            yield f"{name}: {time.note}"


def _asked(question: str | None, query: str | None) -> str:
    if question is not None and query is not None:
        raise typer.BadParameter("Say what the run is about once: as QUERY or with --query.")
    asked = query if question is None else question
    if asked is None:
        raise typer.BadParameter("Say what the run is about: memoranda brief QUERY.")
    return asked


def drawn(
    brief: "ContextBrief", policy: "ContextPolicy", budget: int | None, *, everything: bool
) -> "Iterator[RenderableType]":
    """The brief as a person reads it: the text, the budgets, what was dropped and why."""
    yield Text(brief.text or "Nothing is known that fits.")
    yield Text("")
    yield _spending(brief, policy, budget)
    yield from map(Text, _unavailable(brief))
    entries = brief.explain or []
    shown = [each for each in entries if everything or each.outcome != "kept"]
    if shown:
        title = "What became of each item" if everything else "Dropped, and why"
        columns = ("source", "~item", "#tokens", "~outcome")
        rows = [
            (each.source, each.title or each.excerpt, each.tokens, _outcome(each)) for each in shown
        ]
        yield table(columns, rows, title=title)
    elif entries:
        yield Text("Nothing was dropped.")


def rows_of(brief: "ContextBrief") -> "RenderableType":
    """What became of each item, by its row alone: for a brief whose words are no longer kept."""
    rows = [
        (
            each.source,
            "" if each.ref is None else f"{each.ref.kind}:{each.ref.id}",
            each.tokens,
            WHY[each.outcome],
        )
        for each in brief.explain or []
    ]
    return table(("source", "~row", "#tokens", "~outcome"), rows, title="What became of each item")


@verb(policies, "publish", files=("file",))
async def publish_policy(
    at: Session,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="The policy as JSON, alone or as `policies show` prints it, or - for standard input.",
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            "--name",
            metavar="NAME",
            help="Its name; without it the one that it was shown with, or the file's without its ending.",
        ),
    ] = None,
) -> Answer:
    """Publish the next version of a policy; every reason against it is told at its own path."""
    from memoranda.briefs.policies import unwrapped

    shown_name, policy = unwrapped(read_json(file, most=MOST_POLICY_BYTES))
    if not isinstance(policy, dict):
        raise Invalid(f"{file} holds no policy: a policy is one JSON object.", file=file)
    made = await at.memoranda.briefs.publish(at.who, name or shown_name or _stem(file), policy)
    return Answer(made, lambda: [card({"published": made.name, "version": made.version})])


@verb(policies, "list", reads=True)
async def list_policies(at: Session) -> Answer:
    """List the product's own policies and the newest version of each published one."""
    found = await at.memoranda.briefs.policies(at.who)
    rows = [
        (
            each.name,
            each.version or "built in",
            each.policy.total_token_budget,
            ", ".join(each.policy.enabled()),
        )
        for each in found
    ]
    columns = ("~name", "version", "#tokens", "~sources")
    return Answer(listing(found), lambda: listed(columns, rows, empty="There is no policy."))


@verb(policies, "show", reads=True)
async def show_policy(
    at: Session,
    name: PolicyName,
    version: Annotated[
        int | None, typer.Option("--version", metavar="N", help="A version; the newest without it.")
    ] = None,
) -> Answer:
    """Show one policy's sources and budgets."""
    found = await at.memoranda.briefs.policy(at.who, name, version)
    rows = [
        (
            each.name,
            "yes" if each.enabled else "no",
            "yes" if each.required else "",
            each.token_budget,
            each.limit,
            ", ".join(f"{name}={json.dumps(value)}" for name, value in each.options.items()),
        )
        for each in found.policy.sources
    ]
    columns = ("source", "enabled", "required", "#tokens", "#limit", "~options")
    head = {
        "policy": found.name,
        "version": found.version or "built in",
        "tokens": found.policy.total_token_budget,
        "page order": ", ".join(found.policy.page_order),
    }
    return Answer(found, lambda: [card(head), table(columns, rows)])


def _spending(
    brief: "ContextBrief", policy: "ContextPolicy", budget: int | None
) -> "RenderableType":
    kept = [each.source for each in brief.explain or [] if each.outcome == "kept"]
    rows: list[tuple[object, ...]] = [
        (
            name,
            kept.count(name),
            brief.dropped.get(name, 0),
            brief.per_source_tokens.get(name, 0),
            spec.token_budget,
        )
        for name, spec in policy.enabled().items()
    ]
    total = policy.total_token_budget if budget is None else budget
    rows.append(("all", len(kept), sum(brief.dropped.values()), brief.tokens, total))
    columns = ("source", "#kept", "#dropped", "#tokens", "#budget")
    return table(columns, rows, title="Budget")


def _outcome(entry: "ExplainEntry") -> str:
    if entry.lost_to is None:
        return WHY[entry.outcome]
    winner = entry.lost_to.title or entry.lost_to.excerpt
    return f"{WHY[entry.outcome]}: {winner} ({entry.lost_to.source})"


def _stem(file: str) -> str:
    from pathlib import PurePath

    return PurePath(file).stem
