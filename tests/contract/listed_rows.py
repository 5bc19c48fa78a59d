"""Organizations full of rows that most readers may not know, and how much a statement does to list the rest."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import psycopg
from sqlalchemy import insert

from memoranda.storage import Storage, Transaction
from memoranda.storage.dialects.postgres import PostgresBackend, connect
from memoranda.storage.dialects.postgres_schema import SETTING
from memoranda.storage.dialects.sqlite import SqliteBackend
from memoranda.storage.statements import Prepared, Statement, Statements
from memoranda.storage.tables import (
    agents,
    chat_messages,
    chat_runs,
    chats,
    conversations,
    knowledge_sources,
    memories,
    memory_revisions,
    run_refs,
    runs,
    users,
)
from memoranda.words.ids import new_id
from tests.contract.storage_rows import new_organization

KNOWN: Final = 60
"""Of each kind, so many are for everybody or for the one user, and the oldest of all."""
PINNED: Final = 3
BEGINNING: Final = datetime(2030, 1, 1, tzinfo=UTC)

Asked = tuple[Statement, dict[str, Any]]


@dataclass(frozen=True)
class Full:
    """An organization, one user and one agent of it, and some of its memories."""

    organization: UUID
    user: UUID
    agent: UUID
    some: list[UUID]


@dataclass
class Overheard:
    """A transaction that remembers what it was asked."""

    tx: Transaction
    asked: list[Asked] = field(default_factory=list)

    @property
    def scope(self) -> object:
        return self.tx.scope

    @property
    def now(self) -> datetime:
        return self.tx.now

    def all(self, statement: Statement, /, **values: Any) -> list[Any]:
        self.asked.append((statement, values))
        return self.tx.all(statement, **values)


async def overhear(
    storage: Storage, organization: UUID, read: Callable[[Any], object]
) -> list[Asked]:
    """The statements that `read` runs."""

    def run(tx: Transaction) -> list[Asked]:
        heard = Overheard(tx)
        read(heard)
        return heard.asked

    return await storage.read(organization, run)


async def fill(storage: Storage, each: int) -> Full:
    """An organization with so many memories, conversations and sources."""
    full = Full(await new_organization(storage), new_id(), new_id(), [])
    await storage.write(full.organization, _add, full, each)
    return full


def _add(tx: Transaction, full: Full, each: int) -> None:
    stranger, other = new_id(), new_id()
    rooms: Chats = {}
    named = {"name": "x", "created_at": tx.now}
    tx.run_many(insert(users), [{"id": user, **named} for user in (full.user, stranger)])
    rows = [{"id": agent, "slug": agent.hex, **named} for agent in (full.agent, other)]
    tx.run_many(insert(agents), rows)
    for number in range(each):
        at = BEGINNING + timedelta(minutes=number)
        mine = [None, full.user][number % 2] if number < KNOWN else stranger
        theirs = [None, full.agent][number // 2 % 2] if number < KNOWN else other
        pinned = each // 2 <= number < each // 2 + PINNED
        full.some.append(_add_memory(tx, at, mine, theirs, pinned=pinned))
        _add_others(tx, at, mine, theirs)
        _add_ended_run(tx, rooms, at, mine or full.user, theirs)


def _add_memory(
    tx: Transaction, at: datetime, user: UUID | None, agent: UUID | None, *, pinned: bool
) -> UUID:
    memory, head = new_id(), new_id()
    audience = f"user={user};agent={agent}" if user or agent else "all"
    tx.run(
        insert_memory, id=memory, user_id=user, agent_id=agent, audience=audience,
        subject_refs=[], pinned=pinned, head_id=head, version=1, live=True, folded=memory.hex,
        folded_digest=memory.bytes, recorded_at=at, created_at=at,
    )  # fmt: skip
    tx.run(
        insert_revision, id=head, memory_id=memory, version=1, text=memory.hex, tags=[],
        origin="user", created_at=at,
    )  # fmt: skip
    return memory


def _add_others(tx: Transaction, at: datetime, user: UUID | None, agent: UUID | None) -> None:
    times = {"created_at": at, "updated_at": at}
    tx.run(insert_conversation, id=new_id(), user_id=user, agent_id=agent, **times)
    run = new_id()
    tx.run(insert_run, id=run, user_id=user, agent_id=agent, status="failed", **times)
    row = {"kind": "deal", "ref_id": str(user)}
    tx.run(insert_ref, run_id=run, ordinal=0, **row, created_at=at)
    source = {"kind": "text", "title": "x", "digest": "x", "status": "ready"}
    tx.run(insert_source, id=new_id(), **source, **times)


Chats = dict[tuple[UUID, UUID | None], tuple[UUID, UUID]]
"""The chat of each user and agent, and the message in it that all of its runs answer."""


def _add_ended_run(
    tx: Transaction, rooms: Chats, at: datetime, user: UUID, agent: UUID | None
) -> None:
    """A run that failed in the chat of this user and agent, which is made with the first."""
    whose = {"user_id": user, "agent_id": agent}
    if (user, agent) not in rooms:
        chat, message = rooms[user, agent] = new_id(), new_id()
        times = {"created_at": at, "updated_at": at}
        tx.run(insert_chat, id=chat, **whose, workflow_id=chat.hex, **times)
        tx.run(
            insert_message, id=message, chat_id=chat, sequence=1, role="user", content="x",
            state="complete", created_at=at,
        )  # fmt: skip
    chat, message = rooms[user, agent]
    run = new_id()
    tx.run(insert_run, id=run, **whose, status="failed", created_at=at, updated_at=at, chat_id=chat)
    tx.run(
        insert_chat_run, id=run, chat_id=chat, **whose, message_id=message, revision=1,
        status="failed", created_at=at, seen_at=at, ended_at=at,
    )  # fmt: skip


insert_chat, insert_message, insert_chat_run = map(insert, (chats, chat_messages, chat_runs))
insert_memory, insert_revision = insert(memories), insert(memory_revisions)
insert_conversation, insert_source = insert(conversations), insert(knowledge_sources)
insert_run, insert_ref = insert(runs), insert(run_refs)


def effort(url: str, organization: UUID, asked: list[Asked]) -> int:
    """How much the statements do: the rows that PostgreSQL looks at, the steps that SQLite takes."""
    return sum(_EFFORTS[url.partition(":")[0]](url, organization, *each) for each in asked)


def analyze(url: str) -> None:
    """Let the database count its rows, as PostgreSQL does by itself within a minute."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            connection.execute("ANALYZE")
            connection.commit()
        return
    with psycopg.connect(url, autocommit=True) as server:
        server.execute("ANALYZE")


def _steps(url: str, organization: UUID, statement: Statement, values: dict[str, Any]) -> int:
    prepared = _prepared(SqliteBackend.dialects, statement, values)
    taken = 0

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        connection.set_progress_handler(count, 1)
        connection.execute(prepared.sql, prepared.parameters(organization, values)).fetchall()
    return taken


def _rows(url: str, organization: UUID, statement: Statement, values: dict[str, Any]) -> int:
    """The more of both kinds of plans: the one for these values, and the one for any."""
    prepared = _prepared(PostgresBackend.dialects, statement, values)
    parameters = prepared.parameters(organization, values)
    explain = f"EXPLAIN (ANALYZE, FORMAT JSON) {prepared.sql}"
    most = 0
    with connect(url) as server, server.transaction():
        server.execute("SELECT set_config(%s, %s, false)", (SETTING, str(organization)))
        for kind in ("custom", "generic"):
            server.execute(f"SET plan_cache_mode = force_{kind}_plan")
            [[plan]] = server.execute(explain, parameters, prepare=True).fetchall()
            found = json.loads(plan) if isinstance(plan, str) else plan
            most = max(most, _looked_at(found[0]["Plan"]))
    return most


def _looked_at(plan: dict[str, Any]) -> int:
    """The rows that were read from tables by this node and all below it, or read and left out."""
    below = sum(map(_looked_at, plan.get("Plans", ())))
    if "Relation Name" not in plan:
        return below
    dropped = plan.get("Rows Removed by Filter", 0) + plan.get("Rows Removed by Index Recheck", 0)
    looked_at: float = plan["Actual Loops"] * (plan["Actual Rows"] + dropped)
    return below + round(looked_at)


def _prepared(dialects: Any, statement: Statement, values: dict[str, Any]) -> Prepared:
    return Statements(dialects).prepare(statement, values, platform=False)


_EFFORTS: Final = {"sqlite": _steps, "postgresql": _rows}
