"""The one door to every tool, whoever calls it and from wherever."""

import logging
from datetime import timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from opentelemetry.trace import Span
from pydantic_core import to_jsonable_python

from memoranda.access.models import Principal, Role
from memoranda.access.rates.service import Rate
from memoranda.access.roles import Permission, organization_for
from memoranda.memories.announce import Changed, announce, nobody
from memoranda.memories.races import write_again
from memoranda.storage import Storage, Transaction
from memoranda.tools import writing
from memoranda.tools.arguments import check_key, checked
from memoranda.tools.attempt import Attempt
from memoranda.tools.counts import store as counts
from memoranda.tools.errors import ToolFailed, UnknownTool, WriterNeedsAgent, unknown_tool
from memoranda.tools.journal.line import Ending
from memoranda.tools.journal.service import Journal
from memoranda.tools.models import (
    Answer,
    Call,
    Course,
    Decision,
    Effect,
    Refusal,
    Tool,
    ToolOffer,
    ToolResult,
)
from memoranda.tools.policies.store import decision
from memoranda.tools.receipts import store as receipts
from memoranda.tools.registry import ToolRegistry, schemas
from memoranda.tools.span import ended, tool_span
from memoranda.words.errors import MemorandaError, ReadOnly, Unavailable
from memoranda.words.given import checks_shapes
from memoranda.words.text import neutral_line

logger = logging.getLogger(__name__)

CALLS_PER_RUN: Final = 200
MOST_APPROVALS: Final = 200
RECEIPTS_KEPT: Final = timedelta(days=30)
NO_COURSE: Final = Course()
_LONGEST_NAME: Final = 64


class Invoked(NamedTuple):
    """What a call was answered, as JSON; `replayed` where this very call was answered before."""

    answer: dict[str, Any]
    replayed: bool = False


@checks_shapes
class ToolInvoker:
    """Calls tools: under the caller's policy, once for each idempotency key, counted and noted.

    `changed` is told of an organization after each commit of a call that changed something. A run
    calls each tool `calls_per_run` times at most (0: as often as it likes); `max_approvals` calls
    of an organization may wait for a person.
    """

    def __init__(
        self,
        storage: Storage,
        registry: ToolRegistry,
        changed: Changed = nobody,
        *,
        journal: Journal | None = None,
        calls_per_run: int = CALLS_PER_RUN,
        max_approvals: int = MOST_APPROVALS,
        receipts_kept: timedelta = RECEIPTS_KEPT,
    ) -> None:
        self._storage = storage
        self._registry = registry
        self._changed = changed
        self._journal = journal or Journal(storage)
        self._limits = writing.Limits(calls_per_run, max_approvals)
        self._receipts_kept = receipts_kept

    async def call(
        self,
        who: Principal,
        name: object,
        arguments: object,
        *,
        key: str | None = None,
        course: Course = NO_COURSE,
    ) -> ToolResult:
        """`invoke`, where whatever it would raise is a part of the answer, for a model to act on."""
        try:
            answer, replayed = await self.invoke(who, name, arguments, key=key, course=course)
        except MemorandaError as error:
            return ToolResult(tool=_named(name), answer=None, refusal=_refusal(error))
        except Exception as error:  # noqa: BLE001 - of all kinds: a tool's defect ends its call, and not its caller's work
            # The type alone: an error's message may quote what people wrote.
            logger.error("The tool %s broke (%s).", _named(name), type(error).__name__)  # noqa: TRY400 - a traceback ends with that message
            failed = ToolFailed(
                "This tool broke, and nothing was changed. Trying it again will hardly help; go on without it."
            )
            return ToolResult(tool=_named(name), answer=None, refusal=_refusal(failed))
        return ToolResult(tool=_named(name), answer=answer, refusal=None, replayed=replayed)

    async def invoke(
        self,
        who: Principal,
        name: object,
        arguments: object,
        *,
        key: str | None = None,
        course: Course = NO_COURSE,
    ) -> Invoked:
        """Call a tool with `arguments`, a JSON object, and answer what it answers.

        A tool that writes does all of it or nothing. With a `key` (1 to 200 characters, each
        caller's its own) the same call again does nothing and is answered as before; without one,
        each call is a new one, unless the same one waits for a person or was denied a short while
        ago. `course` says in which run; a run has a count for each tool.

        Raises `UnknownTool`, `Invalid` and `OverLimit` for arguments that are not the tool's,
        `ReadOnly`, `ToolDenied`, `WriterNeedsAgent`, `KeyReused`, `Erased`, `TooManyToolCalls`,
        `ApprovalsFull`, and whatever the tool itself raises.
        """
        organization = organization_for(who, Permission.USE_TOOLS)
        attempt = Attempt(organization, self._registry.find(name), who, course)
        with tool_span(attempt) as span:
            try:
                return await self._invoke(attempt, name, arguments, key, span)
            except Exception as error:
                await self._note_refusal(attempt, error, span)
                raise

    async def offers(self, who: Principal) -> list[ToolOffer]:
        """The tools that this caller may call, in one order, each with what its policy says of it."""
        organization = organization_for(who, Permission.USE_TOOLS)
        tools = [tool for tool in self._registry.within_reach(who) if _barred(who, tool) is None]
        decisions = await self._storage.read(organization, _decisions, who, tools)
        return [
            _offer(tool, decided)
            for tool, decided in zip(tools, decisions, strict=True)
            if decided is not Decision.DENY and tool.offered(who, decided)
        ]

    def effect_of(self, name: str) -> Effect:
        """Whether a call of this name would change anything; a name of no tool changes nothing."""
        tool = self._registry.find(name)
        return Effect.READS if tool is None else tool.effect

    def rate_of(self, name: str) -> Rate:
        """What a call of this name is counted with, where callers are counted."""
        tool = self._registry.find(name)
        return Rate.LISTS if tool is None else tool.rate

    async def settled(self) -> None:
        """Wait until what was called is also noted: before a storage is closed, and in tests."""
        await self._journal.settled()

    async def prune(self, organization_id: UUID) -> int:
        """Delete some of the receipts and counts that are older than they are kept; how many went."""
        return await self._storage.write(organization_id, _prune, self._receipts_kept)

    async def _invoke(
        self,
        attempt: Attempt,
        name: object,
        arguments: object,
        key: str | None,
        span: Span,
    ) -> Invoked:
        tool = await self._tool(attempt, name)
        attempt.arguments = checked(tool, arguments)
        check_key(key)
        barred = _barred(attempt.who, tool)
        if barred is not None:
            raise barred
        call = Call(tool, attempt.who, attempt.arguments, attempt.course, key)
        if tool.effect is Effect.WRITES:
            return await self._write(attempt, call, span)
        return await self._read(attempt, call, span)

    async def _tool(self, attempt: Attempt, name: object) -> Tool:
        """The tool of that name. Raises `UnknownTool` with those that this very caller is offered."""
        try:
            return self._registry.tool_for(attempt.who, name)
        except UnknownTool:
            offers = await self.offers(attempt.who)
            raise unknown_tool(each.name for each in offers) from None

    async def _write(self, attempt: Attempt, call: Call, span: Span) -> Invoked:
        written, ending = await write_again(
            self._storage, attempt.organization, writing.change, attempt, call, self._limits
        )
        ended(span, ending)
        replayed = ending is Ending.REPLAYED
        if not replayed:
            announce(self._changed, attempt.organization)
        return Invoked(_json(written), replayed)

    async def _read(self, attempt: Attempt, call: Call, span: Span) -> Invoked:
        if call.tool.read is None:
            raise AssertionError("a tool that reads is called here, and no other")
        await self._permit(attempt, call)
        answer = await call.tool.read(call.who, call.arguments, call.course)
        found = _json(answer)
        items = _items(found)
        self._journal.note(attempt.organization, attempt.line(Ending.DONE, items=items))
        ended(span, Ending.DONE, items=items)
        return Invoked(found)

    async def _permit(self, attempt: Attempt, call: Call) -> None:
        """Ask the policy before a read, and count it; of a person's, outside of a run, there is nothing to ask."""
        counts_here = attempt.to_count(self._limits.calls_per_run)
        if call.who.role is not Role.AGENT and not counts_here:
            return
        enter = self._storage.write if counts_here else self._storage.read
        caller = receipts.caller_of(call.who)
        await enter(attempt.organization, writing.permit, call, caller, self._limits)
        attempt.counted = True

    async def _note_refusal(self, attempt: Attempt, error: Exception, span: Span) -> None:
        """Note a call of which nothing was kept, at once where it has to be counted; that it can't be hides nothing."""
        code = error.code if isinstance(error, MemorandaError) else ToolFailed.code
        refused = isinstance(error, MemorandaError) and not isinstance(error, Unavailable)
        ending = Ending.REFUSED if refused else Ending.FAILED
        ended(span, ending, code=code)
        line = attempt.line(ending, code=code)
        if isinstance(error, Unavailable) or not attempt.to_count(self._limits.calls_per_run):
            self._journal.note(attempt.organization, line)
            return
        try:
            await self._storage.write(attempt.organization, writing.note_refusal, attempt, line)
        except Exception as lost:  # noqa: BLE001 - of all kinds: the call has its answer already
            logger.warning("A refused call of a tool was not noted (%s).", type(lost).__name__)


def _barred(who: Principal, tool: Tool) -> MemorandaError | None:
    """Why this caller may not call this tool, whatever its arguments and its policy."""
    if tool.effect is Effect.READS:
        return None
    if who.role is Role.READ_ONLY:
        return ReadOnly(
            f"A read-only key may not call {tool.name}, which changes something. Use another key."
        )
    if who.space is not None and who.space.agent_id is None:
        return WriterNeedsAgent(
            f"This space has no agent, so it may not call {tool.name}, which changes something. "
            "Publish it with an agent."
        )
    return None


def _decisions(tx: Transaction, who: Principal, tools: list[Tool]) -> list[Decision]:
    return [decision(tx, who, tool) for tool in tools]


def _prune(tx: Transaction, kept: timedelta) -> int:
    return receipts.prune(tx, tx.now - kept) + counts.prune(tx, tx.now - kept)


def _offer(tool: Tool, decided: Decision) -> ToolOffer:
    takes, answers = schemas(tool)
    return ToolOffer(
        name=tool.name,
        description=tool.description,
        effect=tool.effect,
        decision=decided,
        input_schema=takes,
        answer_schema=answers,
    )


def _json(answer: Answer) -> dict[str, Any]:
    return answer.model_dump(mode="json")


def _items(answer: dict[str, Any]) -> int | None:
    """How many things an answer lists; None where it lists nothing."""
    lists = [len(each) for each in answer.values() if isinstance(each, list)]
    return sum(lists) if lists else None


def _refusal(error: MemorandaError) -> Refusal:
    return Refusal(
        code=error.code,
        kind=error.kind,
        message=error.message,
        retryable=error.retryable,
        details=to_jsonable_python(error.details, fallback=str),
    )


def _named(name: object) -> str:
    """A tool's name as it was given, made harmless: it may be none."""
    return neutral_line(str(name)[:_LONGEST_NAME])
