"""`memoranda tools`: what may be called, a call, and what people say of agents' calls."""

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal
from uuid import UUID

import typer
from rich.text import Text

from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.approval_rows import lines
from memoranda.surfaces.cli.conversation_search import hear
from memoranda.surfaces.cli.finding import catch_up
from memoranda.surfaces.cli.inbox import told_where
from memoranda.surfaces.cli.names import whose
from memoranda.surfaces.cli.options import Agent, Conversation, Cursor, Limit, Run, User, id_of
from memoranda.surfaces.cli.output import Answer, listing
from memoranda.surfaces.cli.session import Session
from memoranda.surfaces.cli.tables import card, entry, listed, page_answer, when
from memoranda.surfaces.cli.verbs import room, verb
from memoranda.words.errors import Invalid, Refused
from memoranda.words.text import clean

if TYPE_CHECKING:
    from memoranda.tools.models import Approval

ToolName = Annotated[str, typer.Argument(metavar="TOOL", help="A tool's name.")]
AgentName = Annotated[
    str, typer.Argument(metavar="AGENT", help="An agent, by slug, id or external id.")
]
ApprovalId = Annotated[
    UUID,
    typer.Argument(
        metavar="ID", parser=id_of("`memoranda tools approvals`"), help="The approval's id."
    ),
]
SpaceId = Annotated[
    UUID,
    typer.Argument(metavar="ID", parser=id_of("`memoranda tools spaces`"), help="The space's id."),
]
Said = Literal["allow", "ask", "deny", "default"]
Status = Literal["waiting", "approved", "denied", "failed"]
ResetPolicy = Literal["keep", "clear"]


async def tools(at: Session, *, agent: Agent = None) -> Answer:
    """List the tools, and what an agent may do with each; call them, and decide what agents ask for."""
    if agent is None:
        offers = await at.memoranda.tools.offers(at.who)
        rows = [(each.name, each.effect, each.decision, each.description) for each in offers]
        columns = ("tool", "it", "you", "~what it is for")
        return Answer(listing(offers), lambda: listed(columns, rows, empty="There is no tool."))
    policies = await at.memoranda.tools.policies.of(at.who, agent)
    said = [(each.tool, each.decision, each.set_at or "default") for each in policies]
    told = ("tool", "the agent", "since")
    return Answer(listing(policies), lambda: listed(told, said, empty="There is no tool."))


async def call(
    at: Session,
    tool: ToolName,
    arguments: Annotated[
        str | None,
        typer.Argument(metavar="JSON", help="The arguments as a JSON object; none without it."),
    ] = None,
    *,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="KEY", help="The same call under the same key is done once."),
    ] = None,
    agent: Agent = None,
    user: User = None,
    run: Run = None,
    conversation: Conversation = None,
) -> Answer:
    """Call a tool, as the agent that you name or as the owner, and print what a model would be answered."""
    from memoranda.tools.models import Course

    if tool == "recall":
        await catch_up(at)
    if tool == "search_conversations":
        await hear(at)

    who = await at.acting_as(agent, user)
    try:
        invoked = await at.memoranda.tools.invoke(
            who, tool, _parsed(arguments or "{}"), key=key, course=Course(run, conversation)
        )
    except Refused as refused:
        if agent is not None:
            refused.message += " Without --agent, it is the owner's call."
        raise
    answered = clean(json.dumps(invoked.answer, ensure_ascii=False, indent=2))
    return Answer(invoked.answer, lambda: [Text(answered)])


async def policy(
    at: Session,
    agent: AgentName,
    tool: ToolName,
    decision: Annotated[
        Said,
        typer.Argument(
            metavar="allow|ask|deny|default",
            help="Done at once, put before a person, or refused; default takes it back.",
        ),
    ],
) -> Answer:
    """Say what an agent may do with a tool, from its next call on."""
    from memoranda.tools.models import Decision

    policies = at.memoranda.tools.policies
    said = await (
        policies.unset(at.who, agent, tool)
        if decision == "default"
        else policies.set(at.who, agent, tool, Decision(decision))
    )
    return Answer(said, lambda: [card({"agent": agent, "tool": said.tool, "may": said.decision})])


async def approvals(
    at: Session,
    *,
    status: Annotated[
        Status,
        typer.Option("--status", metavar="waiting|approved|denied|failed", help="Which ones."),
    ] = "waiting",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Answer:
    """List the calls that wait for a person, or that one has decided."""
    from memoranda.tools.models import ApprovalStatus

    page = await at.memoranda.tools.approvals.page(
        at.who, status=ApprovalStatus(status), limit=limit, cursor=cursor
    )
    askers = await whose(at, page.items, nobody="nobody")
    rows = [
        (_drawn(each), each.tool, asker, each.decided_at or each.created_at)
        for each, asker in zip(page.items, askers, strict=True)
    ]
    waits = status == "waiting"
    empty = "No call waits for anybody." if waits else f"None is {status}."
    columns = ("@memory" if waits else "@what became of it", "tool", "~asked by")
    return page_answer(page, (*columns, "since" if waits else "decided"), rows, empty)


async def approve(at: Session, approval_id: ApprovalId) -> Answer:
    """Let a waiting call be done now."""
    async with told_where(at, approval_id):
        decided = await at.memoranda.tools.approvals.approve(at.who, approval_id)
    exit_code = exits.UNSUCCESSFUL if decided.status == "failed" else exits.DONE
    return Answer(decided, lambda: [_decided(decided)], exit_code)


async def deny(at: Session, approval_id: ApprovalId) -> Answer:
    """Let a waiting call not be done."""
    async with told_where(at, approval_id):
        decided = await at.memoranda.tools.approvals.deny(at.who, approval_id)
    return Answer(decided, lambda: [_decided(decided)])


async def calls(
    at: Session, *, run: Run = None, limit: Limit = 50, cursor: Cursor = None
) -> Answer:
    """List the journal of calls, the newest first."""
    page = await at.memoranda.tools.journal.page(at.who, run_id=run, limit=limit, cursor=cursor)
    callers = await whose(at, page.items, nobody="an owner")
    rows = [
        (when(each.created_at), each.tool, each.code or each.outcome, caller, each.milliseconds)
        for each, caller in zip(page.items, callers, strict=True)
    ]
    columns = ("when", "tool", "outcome", "~by", "#ms")
    return page_answer(page, columns, rows, "No tool was called yet.")


async def spaces(at: Session, *, limit: Limit = 50, cursor: Cursor = None) -> Answer:
    """List the nodes of workflows that call tools."""
    page = await at.memoranda.tools.spaces.page(at.who, limit=limit, cursor=cursor)
    rows = [
        (entry(f"{each.workflow_id} {each.node_id}", each.id), ", ".join(each.tools))
        for each in page.items
    ]
    empty = (
        "There is no space yet. Publish one with: memoranda tools publish WORKFLOW NODE --tool TOOL"
    )
    return page_answer(page, ("@workflow and node", "~tools"), rows, empty)


async def publish(
    at: Session,
    workflow: Annotated[str, typer.Argument(metavar="WORKFLOW", help="The workflow's own id.")],
    node: Annotated[str, typer.Argument(metavar="NODE", help="The node's own id.")],
    *,
    tool: Annotated[
        list[str],
        typer.Option("--tool", metavar="TOOL", help="A tool that it calls; give it once for each."),
    ],
    agent: Agent = None,
    reset: Annotated[
        ResetPolicy | None,
        typer.Option(
            "--on-reset",
            metavar="keep|clear",
            help="What becomes of its memories when the workflow is reset; they are kept at first.",
        ),
    ] = None,
) -> Answer:
    """Let a node of a workflow call tools. Its memories are its own."""
    space = await at.memoranda.tools.spaces.publish(
        at.who,
        workflow,
        node,
        agent_id=await at.agent_id(agent),
        tools=tool,
        reset_policy=reset,
    )
    return Answer(space, lambda: [card({"space": space.id, "tools": ", ".join(space.tools)})])


async def withdraw(at: Session, space_id: SpaceId) -> Answer:
    """Take a space away: its keys open nothing from now on."""
    space = await at.memoranda.tools.spaces.withdraw(at.who, space_id)
    return Answer(space, lambda: [card({"withdrawn": space.id})])


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        raise Invalid(
            'The arguments are no JSON: write an object such as {"query": "Ghent"}.',
            field="arguments",
        ) from None


def _drawn(approval: "Approval") -> Text:
    first, *more = lines(approval)
    about = None if approval.answer is None else approval.memory_id
    return entry(first, approval.id, *more, about and f"memory {about}")


def _decided(approval: "Approval") -> Text:
    """What was decided, and what came of it."""
    return card(
        {
            approval.status: approval.id,
            "tool": approval.tool,
            "memory": approval.memory_id,
            "what came of it": lines(approval)[0],
        }
    )


def register(app: typer.Typer) -> None:
    """Add the group of tools to the root."""
    made = room(app, "tools", tools)
    verb(made, "call")(call)
    verb(made, "policy")(policy)
    verb(made, "approvals", reads=True)(approvals)
    verb(made, "approve")(approve)
    verb(made, "deny")(deny)
    verb(made, "calls", reads=True)(calls)
    verb(made, "spaces", reads=True)(spaces)
    verb(made, "publish")(publish)
    verb(made, "withdraw")(withdraw)
