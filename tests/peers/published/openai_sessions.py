"""Our sessions in the place of those that the OpenAI Agents SDK keeps in SQLite.

Each file that its tests name is a user of our one database; so is each of its databases in memory. Ours is opened on a
loop of its own, as by whoever uses a session from several loops.
"""

import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Final
from uuid import UUID

import agents
import agents.extensions.memory as extensions
import agents.memory
import pytest
from agents.memory import sqlite_session
from anyio.from_thread import BlockingPortal, start_blocking_portal

from memoranda import Memoranda
from memoranda.integrations.openai_agents import MemorandaSession
from memoranda.words.ids import new_id
from tests.peers.rooms import Hands
from tests.peers.rooms import opened as product


class House:
    """The one database of ours."""

    portal: BlockingPortal
    memoranda: Memoranda
    users: ClassVar[dict[str, UUID]] = {}

    @classmethod
    async def user(cls, file: str) -> UUID:
        """Whose sessions those of a file of theirs are."""
        if file not in cls.users:
            made = await cls.memoranda.access.create_user(cls.memoranda.owner, file[-90:])
            cls.users[file] = made.id
        return cls.users[file]


@asynccontextmanager
async def _there(url: str) -> AsyncIterator[Memoranda]:
    async with product(url, Hands()) as memoranda:
        yield memoranda


@contextmanager
def opened(url: str) -> Iterator[None]:
    """Open the product."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(_there(url)) as got:
        House.portal, House.memoranda = portal, got
        yield


class SQLiteSession(MemorandaSession):
    """Ours, made as theirs is."""

    def __init__(
        self,
        session_id: str,
        db_path: str | Path = ":memory:",
        *_: Any,
        session_settings: Any = None,
        **__: Any,
    ) -> None:
        file = f"memory {new_id()}" if db_path == ":memory:" else str(db_path)
        user = House.portal.call(House.user, file)
        # Names of sessions are an organization's, and here each file has its own.
        name = f"{user}/{session_id}"
        make = partial(super().__init__, House.memoranda, name, user_id=user)
        House.portal.call(partial(make, session_settings=session_settings))
        self.session_id = session_id

    def close(self) -> None: ...


class AdvancedSQLiteSession(SQLiteSession):
    @property
    def _current_branch_id(self) -> str:
        return self.branch_id


for _module in (agents, agents.memory, sqlite_session):
    vars(_module)["SQLiteSession"] = SQLiteSession  # where tests import it from
vars(extensions)["AdvancedSQLiteSession"] = AdvancedSQLiteSession


WITHIN: Final = {
    **dict.fromkeys(
        ("sqlite3", "_connection", "_lock", "_write", "message_structure", "agent_messages"),
        "looks at the file, connections, locks or tables of theirs",
    ),
    **dict.fromkeys(
        ("MetadataSession", "create_tables_", "_structure_", "_generation", "_ordered_turn"),
        "replaces a part of theirs",
    ),
    **dict.fromkeys(
        ("_run_usage", "turn_usage", "session_usage"),
        "counts tokens in tables of theirs: no part of a session, and here the conversation's usage",
    ),
    "_gate_worker": "holds a thread of theirs",
    "multiprocessing": "opens their file in other processes",
    "is closed": "closes a session, which ours has no need of",
}
"""What the code of a test has, of those that can't tell anything of ours; and why."""


def left_out(item: pytest.Item) -> str:
    """Why a test is not run; "" for those that are."""
    code = inspect.getsource(getattr(item, "function", None) or type(item))
    return next((why for mark, why in WITHIN.items() if mark in code), "")


def stand_in(module: ModuleType) -> None:
    """Nothing is left to do: the classes were in place before they were imported."""
