"""Small tools that really write memories, and all that a call of one leaves behind, read from the tables."""

from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from pydantic import Field
from sqlalchemy import select

from memoranda.access.models import Principal, Space
from memoranda.access.roles import organization_of
from memoranda.memories import permitted
from memoranda.memories.audience import audience_of
from memoranda.memories.candidate import Author, Candidate, candidate_input
from memoranda.memories.models import Origin
from memoranda.memories.proposals import inbox
from memoranda.memories.service import Memories
from memoranda.memories.ways import DEFAULT_WAYS
from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import (
    events,
    memories,
    memory_proposals,
    memory_revisions,
    tool_approvals,
    tool_calls,
    tool_counts,
    tool_receipts,
)
from memoranda.tools.invoker import ToolInvoker
from memoranda.tools.journal.service import Journal
from memoranda.tools.models import (
    Answer,
    Course,
    Decision,
    Input,
    Outcome,
    Tool,
    ToolPolicy,
    Written,
)
from memoranda.tools.policies import store as policies
from memoranda.tools.registry import ToolRegistry
from memoranda.words.errors import Conflict, StorageBusy
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant

TABLES: Final = {
    "memories": memories,
    "revisions": memory_revisions,
    "proposals": memory_proposals,
    "events": events,
    "approvals": tool_approvals,
    "receipts": tool_receipts,
    "counts": tool_counts,
    "calls": tool_calls,
}
ROWS: Final = {name: select(*table.c) for name, table in TABLES.items()}


class Note(Input):
    """A text to keep."""

    text: str
    tags: list[str] = Field(default_factory=list)


class Drop(Input):
    """A memory to forget."""

    memory_id: UUID


class Look(Input):
    """How many to list."""

    limit: int = Field(default=10, ge=1, le=50)
    deep: dict[str, Any] | None = None


class Seen(Answer):
    """What was listed."""

    items: list[str]


def _candidate(who: Principal, text: str, course: Course) -> Candidate:
    return candidate_input(
        organization_of(who),
        audience_of(who),
        Author(
            origin=Origin.USER if who.agent_id is None else Origin.AGENT,
            user_id=who.user_id,
            agent_id=who.agent_id,
            run_id=course.run_id,
        ),
        text=text,
        text_chars=500,
        title=None,
        category=None,
        tags=(),
        expires_at=None,
        attribute=None,
    )


def note(tx: Transaction, who: Principal, asked: Note, course: Course) -> Written:
    kept = permitted.remember(tx, who, _candidate(who, asked.text, course), DEFAULT_WAYS)
    return Written(outcome=Outcome.DONE, message="Kept.", memory_id=kept.id, version=kept.version)


def wish(tx: Transaction, who: Principal, asked: Note, course: Course) -> Written:
    proposed = inbox.propose(tx, who, _candidate(who, asked.text, course), DEFAULT_WAYS)
    if proposed.outcome != "waiting" or proposed.proposal is None:
        return Written(outcome=Outcome.KNOWN, message="That is known.")
    return Written(outcome=Outcome.PROPOSED, message="It waits.", proposal_id=proposed.proposal.id)


def drop(tx: Transaction, who: Principal, asked: Drop, course: Course) -> Written:
    gone = permitted.forget(
        tx, who, asked.memory_id, author=Author(), ways=DEFAULT_WAYS, expected_version=None
    )
    return Written(outcome=Outcome.DONE, message="Gone.", memory_id=gone.id, version=gone.version)


def mark(tx: Transaction, who: Principal, asked: Drop, course: Course) -> Written:
    permitted.history(tx, who, asked.memory_id)
    return Written(outcome=Outcome.DONE, message="Seen.")


def after_it(error: Callable[[], Exception]) -> Callable[..., Written]:
    """Writes a memory, and then finds that it can't go on."""

    def write(tx: Transaction, who: Principal, asked: Note, course: Course) -> Written:
        note(tx, who, asked, course)
        raise error()

    return write


def looking(storage: Storage) -> Callable[..., Any]:
    async def look(who: Principal, asked: Look, course: Course) -> Seen:
        page = await Memories(storage).page(who, limit=asked.limit)
        return Seen(items=[each.text or "" for each in page.items])

    return look


async def lost(who: Principal, asked: Look, course: Course) -> Seen:
    raise StorageBusy("Come again.")


async def broken(who: Principal, asked: Look, course: Course) -> Seen:
    raise KeyError("swordfish")


def tools(storage: Storage) -> list[Tool]:
    def writer(name: str, write: Callable[..., Written], **more: Any) -> Tool:
        return Tool(
            **{"name": name, "description": name, "input": Note, "answer": Written}
            | {"write": write}
            | more
        )

    def reader(name: str, read: Callable[..., Any]) -> Tool:
        return Tool(name=name, description=name, input=Look, answer=Seen, read=read)

    return [
        writer("note", note, ask=wish),
        writer("drop", drop, input=Drop, about=lambda asked: asked.memory_id),
        writer("mark", mark, input=Drop, about=lambda asked: asked.memory_id),
        writer("stumble", after_it(lambda: Conflict("It moved on.", version=3))),
        writer("break", after_it(lambda: RuntimeError("swordfish"))),
        reader("look", looking(storage)),
        reader("lose", lost),
        reader("crack", broken),
    ]


class ToolHouse:
    """One organization's tools on one storage, and what is in its tables."""

    def __init__(self, storage: Storage, acme: Tenant, **options: Any) -> None:
        self.storage = storage
        self.acme = acme
        self.told: list[UUID] = []
        self.journal = Journal(storage)
        self.tools = ToolInvoker(
            storage,
            ToolRegistry(tools(storage)),
            self.told.append,
            journal=self.journal,
            **options,
        )

    @property
    def organization(self) -> UUID:
        organization = self.acme.owner.organization_id
        assert organization is not None
        return organization

    async def rows(self, table: str) -> list[Any]:
        """Every row of a table, once all that was called is noted."""
        await self.tools.settled()

        def read(tx: Transaction) -> list[Any]:
            return tx.all(ROWS[table])

        return await self.storage.read(self.organization, read)

    async def sizes(self) -> dict[str, int]:
        """How many rows each table has that a call may write to; those that have none are left out."""
        counted = {name: len(await self.rows(name)) for name in TABLES}
        return {name: count for name, count in counted.items() if count}

    async def lines(self) -> list[tuple[str, str, str | None]]:
        """The journal, the oldest line first: the tool, how its call ended, and the code."""
        rows = sorted(await self.rows("calls"), key=lambda row: row.id)
        return [(row.tool, row.outcome, row.code) for row in rows]

    async def policy(self, tool: str, decision: Decision) -> None:
        """Let the scout do this with a tool."""
        said = ToolPolicy(
            agent_id=self.acme.scout.id,
            tool=tool,
            decision=decision,
            set_by=None,
            set_at=self.storage._backend.clock(),
        )
        await self.storage.write(self.organization, policies.put, said)

    async def space(self, *, agent: bool, names: tuple[str, ...]) -> Space:
        """A space with these tools, as a key of it would name it."""
        return Space(
            id=new_id(),
            name="flow/node",
            agent_id=self.acme.scout.id if agent else None,
            tools=names,
        )
