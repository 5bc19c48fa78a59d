"""Memoranda's tools as functions of Agno: each call goes through the one invoker, in the course of its run."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agno.models.response import ToolExecution
from agno.tools.function import Function, FunctionCall

from memoranda.access.models import Principal
from memoranda.app import Memoranda
from memoranda.runs.models import Run
from memoranda.tools.models import Course, Decision, Effect, Outcome, ToolOffer, ToolResult

BUILD_BRIEF: Final = "build_brief"
_WAITING: Final = Outcome.WAITING.value


class Calls:
    """The calls that one run makes, as the agent that it is a run of.

    What the policy lets be done is done where Agno calls it. What a person may have to decide
    pauses Agno first, because it can't be paused from within a call.
    """

    def __init__(self, memoranda: Memoranda, who: Principal, run: Run) -> None:
        self._memoranda = memoranda
        self._who = who
        self._run = run

    async def functions(self) -> list[Function]:
        """The tools that this caller is offered, but for the one that builds a brief: the run has its own."""
        offers = await self._memoranda.tools.offers(self._who)
        return [self._function(offer) for offer in offers if offer.name != BUILD_BRIEF]

    async def answer(self, tools: Sequence[ToolExecution]) -> dict[str, str]:
        """Do what paused the run, as far as that is decided; by call, the approvals that still wait for a person.

        A call that was made before is answered by what was decided of it.
        """
        ours = {offer.name for offer in await self._memoranda.tools.offers(self._who)}
        waiting: dict[str, str] = {}
        for tool in tools:
            if not tool.external_execution_required or tool.tool_name not in ours:
                continue
            result = await self._call(tool.tool_name, tool.tool_args or {}, tool.tool_call_id)
            if (result.answer or {}).get("outcome") == _WAITING:
                waiting[str(tool.tool_call_id)] = str((result.answer or {}).get("approval_id"))
            else:
                tool.result = _written(result)
        return waiting

    def _function(self, offer: ToolOffer) -> Function:
        async def call(fc: FunctionCall, **arguments: Any) -> str:
            return _written(await self._call(offer.name, arguments, fc.call_id))

        return Function(
            name=offer.name,
            description=offer.description,
            parameters=dict(offer.input_schema),
            entrypoint=call,
            skip_entrypoint_processing=True,
            has_side_effects=offer.effect is Effect.WRITES,
            external_execution=offer.decision is Decision.ASK or None,
            external_execution_silent=offer.decision is Decision.ASK or None,
        )

    async def _call(
        self, name: str, arguments: Mapping[str, Any], call_id: str | None
    ) -> ToolResult:
        # Agno may make a call again, after a crash or when it goes on: it is the same call.
        key = None if call_id is None else f"{self._run.id}:{call_id}"[:200]
        course = Course(run_id=self._run.id)
        return await self._memoranda.tools.call(
            self._who, name, dict(arguments), key=key, course=course
        )


def _written(result: ToolResult) -> str:
    said = result.answer if result.refusal is None else {"refused": result.refusal.model_dump()}
    return json.dumps(said, ensure_ascii=False)
