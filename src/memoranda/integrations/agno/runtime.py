"""Runs of Agno's agents: each has one brief, the tools, and a record of what became of it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, NamedTuple
from uuid import UUID

import anyio
from agno.agent import Agent
from agno.run import RunContext
from agno.run.agent import RunOutput
from agno.run.base import RunStatus as Stood
from agno.utils.agent import aexecute_instructions

from memoranda.access.models import Principal, Role
from memoranda.access.roles import subject_of
from memoranda.app import Memoranda
from memoranda.briefs.blocks.models import RunBlock
from memoranda.briefs.policies import FRONT_DOOR_NAME
from memoranda.integrations.agno.functions import Calls
from memoranda.integrations.agno.window import (
    CONVERSATIONAL,
    NOTHING,
    check_own_texts,
    check_window,
    fenced,
    replace_brief,
)
from memoranda.runs.models import Run, RunStatus
from memoranda.runs.result import LONGEST_REASON, LONGEST_SUMMARY, MOST_REFS, Refs
from memoranda.words.errors import Conflict, Invalid, MemorandaError, NotFound
from memoranda.words.fitting import called
from memoranda.words.given import checked
from memoranda.words.ref import ResourceRef
from memoranda.words.text import clean

RUN: Final = "memoranda_run_id"
"""Under which name of its metadata a run of Agno names its record."""
VARIABLE: Final = "memoranda_brief"
"""The variable of the run's context that the brief is written into the system message by."""


class AgnoRun(NamedTuple):
    """A run as it stands: its record, the block that its stage was given, and what Agno answered."""

    run: Run
    block: RunBlock
    output: RunOutput

    @property
    def waits(self) -> bool:
        """Whether it has to be resumed, once somebody has decided."""
        return self.run.status is RunStatus.WAITING


class AgnoRuntime:
    """Runs agents for subjects, as `who` (the owner, where nobody is named) and under its rights.

    A run that names an agent calls its tools as that agent, whose policy decides what a person is
    asked. Agno's own database, if the agent has one, keeps Agno's sessions; the brief is no part of it.
    """

    @checked
    def __init__(
        self, memoranda: Memoranda, who: Principal | None = None, *, policy_name: str | None = None
    ) -> None:
        self._memoranda = memoranda
        self._who = who or memoranda.owner
        self._policy_name = policy_name

    @checked
    async def run(
        self,
        agent: Agent,
        query: str,
        *,
        agent_id: UUID | None = None,
        user_id: UUID | None = None,
        trigger_id: UUID | None = None,
        parent_id: UUID | None = None,
        refs: Sequence[ResourceRef] = (),
        conversation: UUID | None = None,
        **options: Any,
    ) -> AgnoRun:
        """Start a run, build its block, and let the agent work until it ends or waits for a person.

        `refs` are the rows that it is about; `options` go to `Agent.arun`, such as `session_id`.
        The run is completed with the agent's words as its summary and the rows that they
        cite as its refs, and failed or cancelled as Agno says; one that somebody else ended meanwhile stays as
        they left it. Raises `Invalid` for an agent that takes
        no instructions, `NotFound` for a policy that is not there, and what `Runs.create` and `Briefs.for_run` do.
        """
        _check(agent)
        if options.pop("stream", None):
            raise Invalid(
                "Runs are not streamed: leave stream=True out, or give the text of `briefs.for_run` to the "
                "agent as instructions.",
                field="stream",
            )
        await self._check_policy(agent_id)
        given: dict[str, Any] = {"query": query, "refs": [ref.model_dump() for ref in refs]}
        given |= {} if conversation is None else {"conversation": str(conversation)}
        run = await self._memoranda.runs.create(
            self._who,
            agent_id=agent_id,
            user_id=user_id,
            trigger_id=trigger_id,
            parent_id=parent_id,
            input=given,
        )
        if run.user_id is not None:
            options.setdefault("user_id", str(run.user_id))
        options["metadata"] = {**(options.get("metadata") or {}), RUN: str(run.id)}
        async with self._failing(run):
            block = await self._block(run)
            calls = self._calls(run)
            briefed = await _briefed(agent, block, calls)
            output = await briefed.arun(query, stream=False, **options)
            return await self._settle(run, block, briefed, calls, output)

    @checked
    async def resume(self, agent: Agent, output: RunOutput, *, again: bool = False) -> AgnoRun:
        """Go on with a run that waited, which begins its next stage: what was decided is told to the model.

        Its policy says whether it is built another brief, which then stands in the place of the
        one before. `output` is what `run` answered, or what Agno's database kept of it; requirements
        of other tools are to be resolved on it before. `again` lets a run go on whose process died
        while it did. Raises `Conflict` where somebody has still to decide, or the run doesn't wait.
        """
        _check(agent)
        if not isinstance(output, RunOutput):
            raise Invalid(
                "output must be what `AgnoRuntime.run` answered as its `output`, or what Agno's database kept "
                f"of it, and is {called(output)}.",
                field="output",
            )
        check_window(output.messages or [])
        run = await self._memoranda.runs.own(self._who, _run_of(output))
        calls = self._calls(run)
        open_calls = await self._open(calls, output)
        if open_calls:
            raise Conflict(
                f"This run still waits: {open_calls}. Decide that, then resume it.",
                run_id=str(run.id),
            )
        if not (again and run.status is RunStatus.RUNNING):
            run = await self._memoranda.runs.resume(self._who, run.id)
        async with self._failing(run):
            block = await self._block(run)
            replace_brief(output.messages or [], block.brief.text)
            briefed = await _briefed(agent, block, calls)
            output = await _go_on(briefed, output)
            return await self._settle(run, block, briefed, calls, output)

    async def _check_policy(self, agent_id: UUID | None) -> None:
        """Raise `NotFound` and `Invalid` for a policy that no brief of the run could be built by."""
        name = self._policy_name
        if name is None:
            return
        if name == FRONT_DOOR_NAME and (agent_id or self._who.agent_id) is not None:
            raise Invalid(
                f"The policy {name} is for a turn before any agent runs, so no run of an agent has it: name "
                "another one, or leave the agent out.",
                field="policy_name",
            )
        try:
            await self._memoranda.briefs.policy(self._who, name)
        except NotFound as missing:
            raise NotFound(
                f"There is no policy {name!r}, so no run was begun: list the policies to see which there are.",
                field="policy_name",
            ) from missing

    async def _block(self, run: Run) -> RunBlock:
        given = run.input if isinstance(run.input, dict) else {}
        conversation = given.get("conversation")
        return await self._memoranda.briefs.for_run(
            self._who,
            run.id,
            str(given.get("query", "")),
            policy_name=self._policy_name,
            conversation=None if conversation is None else UUID(conversation),
        )

    def _calls(self, run: Run) -> Calls:
        return Calls(self._memoranda, _acting(self._who, run), run)

    async def _open(self, calls: Calls, output: RunOutput) -> str:
        """What somebody has still to decide, in words; "" where nothing is left."""
        waiting = await calls.answer(output.tools or [])
        results = {tool.tool_call_id: tool.result for tool in output.tools or []}
        said = [f"approval {each}" for each in waiting.values()]
        for each in output.requirements or []:
            tool = each.tool_execution
            result = None if tool is None else results.get(tool.tool_call_id)
            if each.needs_external_execution and result is not None:
                each.set_external_execution_result(result)
            if tool is not None and not each.is_resolved() and tool.tool_call_id not in waiting:
                said.append(f"Agno's requirement for {tool.tool_name}")
        return ", ".join(said)

    async def _settle(
        self, run: Run, block: RunBlock, briefed: Agent, calls: Calls, output: RunOutput
    ) -> AgnoRun:
        """Record what has become of the run; a pause that nobody has to decide ends at once."""
        runs, who = self._memoranda.runs, self._who
        ids = {"agno_run_id": output.run_id, "agno_session_id": output.session_id}
        await runs.log(who, run.id, "agno", metadata={**ids, "status": output.status.value})
        while output.status is Stood.paused:
            if said := await self._open(calls, output):
                with suppress(Conflict):  # somebody else has ended it
                    await runs.wait(who, run.id, f"Waits for {said}."[:LONGEST_REASON])
                return AgnoRun(await runs.own(who, run.id), block, output)
            output = await _go_on(briefed, output)
        with suppress(Conflict):  # somebody else has ended it
            await self._end(run, block, output)
        return AgnoRun(await runs.own(who, run.id), block, output)

    async def _end(self, run: Run, block: RunBlock, output: RunOutput) -> None:
        runs, who = self._memoranda.runs, self._who
        if output.status is Stood.completed:
            words = "" if output.content is None else clean(str(output.content))
            refs: Refs = [ref for ref in block.brief.items if f"[{ref.kind}:{ref.id}]" in words]
            summary = words[:LONGEST_SUMMARY].strip() or None
            await runs.complete(who, run.id, summary=summary, refs=refs[:MOST_REFS])
        elif output.status is Stood.cancelled:
            await runs.cancel(who, run.id)
        else:
            await runs.fail(who, run.id, _reason(output))

    @asynccontextmanager
    async def _failing(self, run: Run) -> AsyncIterator[None]:
        """Let no run stay open that nobody works on any more."""
        runs = self._memoranda.runs
        try:
            yield
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True), suppress(Conflict):
                await runs.cancel(self._who, run.id)
            raise
        except Exception as error:
            # Of a foreign error its type alone: its message may quote what people wrote.
            said = error.message if isinstance(error, MemorandaError) else ""
            reason = said or f"The agent's run broke: {type(error).__name__}."
            with suppress(Conflict):  # somebody else has ended it
                await runs.fail(self._who, run.id, reason[:LONGEST_REASON])
            raise


def _check(agent: Agent) -> None:
    """Refuse an agent that would run without its brief, or with all earlier ones, and nobody would see it."""
    if not isinstance(agent, Agent):
        raise Invalid(f"agent must be an agent of Agno's and is {called(agent)}.", field="agent")
    if agent.system_message is not None:
        raise Invalid(
            "This agent has a system message of its own, in which Agno puts no instructions, and so no "
            "brief: give it instructions instead.",
            field="agent",
        )
    if not agent.build_context:
        raise Invalid(
            "This agent has build_context=False, so that Agno gives it no instructions, and so no brief: "
            "leave that out.",
            field="agent",
        )
    if agent.system_message_role in CONVERSATIONAL:
        raise Invalid(
            f"This agent's system message has the role {agent.system_message_role!r}, so that Agno "
            "keeps each one in its history: give it a role of its own, such as 'system'.",
            field="agent",
        )
    own = (agent.description, agent.role, agent.expected_output, agent.additional_context)
    check_own_texts(own)
    if agent.tools is not None and not isinstance(agent.tools, Sequence):
        raise Invalid(
            "This agent's tools are made by a function: list them instead.", field="agent"
        )


async def _briefed(agent: Agent, block: RunBlock, calls: Calls) -> Agent:
    """A copy of the agent for this run: it begins with the brief, and has the tools."""
    own = agent.instructions
    check_own_texts([own] if isinstance(own, str) else own if isinstance(own, list) else [])
    text = block.brief.text

    async def instructions(run_context: RunContext, session_state: dict[str, Any]) -> list[str]:
        said: Any = own
        if callable(own):
            said = await aexecute_instructions(
                own, agent=agent, session_state=session_state, run_context=run_context
            )
        rest = [said] if isinstance(said, str) else list(said or [])
        check_own_texts(rest)
        if not agent.resolve_in_context:
            return [fenced(text), *rest]
        # Agno fills in variables: as the value of one, the brief stays as it is, to the byte.
        run_context.metadata = {**(run_context.metadata or {}), VARIABLE: text or NOTHING}
        return [fenced(f"{{{VARIABLE}}}"), *rest]

    given = agent.tools if isinstance(agent.tools, Sequence) else []
    tools = [*given, *await calls.functions()]
    return agent.deep_copy(update={"instructions": instructions, "tools": tools})


async def _go_on(briefed: Agent, output: RunOutput) -> RunOutput:
    return await briefed.acontinue_run(
        run_response=output, requirements=output.requirements, stream=False
    )


def _acting(who: Principal, run: Run) -> Principal:
    """As whom the run calls tools: its agent, where it has one, for its user."""
    if who.role is Role.AGENT or run.agent_id is None:
        return who
    subject = subject_of(who, run.agent_id, run.user_id)
    return Principal(
        organization_id=subject.organization_id,
        role=Role.AGENT,
        agent_id=subject.agent_id,
        user_id=subject.user_id,
    )


def _run_of(output: RunOutput) -> UUID:
    try:
        return UUID((output.metadata or {})[RUN])
    except (KeyError, ValueError):
        raise Invalid(
            "This is no run that AgnoRuntime.run began: its metadata names no record.",
            field="output",
        ) from None


def _reason(output: RunOutput) -> str:
    said = "" if output.content is None else clean(str(output.content)).strip()
    return (said or "The agent's run broke.")[:LONGEST_REASON]
