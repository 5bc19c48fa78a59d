"""Anthropic's memory tool, asynchronous and synchronous: each command is answered from an agent's shelf."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar
from uuid import UUID

from anthropic.lib.tools import (
    BetaAbstractMemoryTool,
    BetaAsyncAbstractMemoryTool,
    ToolError,
)
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from memoranda import app, sync
from memoranda.access.models import Principal
from memoranda.integrations.anthropic import commands
from memoranda.integrations.anthropic.shelf import Shelf, check_named
from memoranda.tools.models import Course
from memoranda.words.errors import MemorandaError
from memoranda.words.given import checked
from memoranda.words.inputs import text_input

T = TypeVar("T")
Does = Callable[[Shelf], Awaitable[str]]


class _Asked:
    """For whom a tool acts, and in the course of what."""

    def __init__(
        self,
        who: Principal | None,
        agent: UUID | str | None,
        user: UUID | str | None,
        course: Course,
    ) -> None:
        for field, name in (("agent", agent), ("user", user)):
            if isinstance(name, str):
                text_input(field, name)
        check_named(who, agent, user)
        self._who = who
        self._agent = agent
        self._user = user
        self._course = course
        # A model may ask for several commands at once: each finds the files as the one before left them.
        self._turn = asyncio.Lock()

    async def shelf(self, memoranda: app.Memoranda) -> Shelf:
        """The shelf of whom it names. Raises `NotFound` and `Refused`."""
        who = self._who or memoranda.owner
        return await Shelf.of(memoranda, who, self._agent, self._user, self._course)

    async def do(self, memoranda: app.Memoranda, does: Does) -> str:
        """What a command answers. Raises `ToolError`, which is all that a model is told of a refusal."""
        try:
            async with self._turn:
                return await does(await self.shelf(memoranda))
        except MemorandaError as error:
            raise ToolError(error.message) from None


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory of one agent as files below /memories, for a runner of `AsyncAnthropic`.

    `who` (the owner, where nobody is named) acts as the `agent`, for the `user` or for none, each named by its id,
    slug or external id. What it writes goes by that agent's tool policies: it is done, or proposed, or waits for
    a person. `run_id` and `conversation_id` say in the course of what.
    """

    @checked
    def __init__(
        self,
        memoranda: app.Memoranda,
        who: Principal | None = None,
        *,
        agent: UUID | str | None = None,
        user: UUID | str | None = None,
        run_id: UUID | None = None,
        conversation_id: UUID | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._memoranda = memoranda
        self._asked = _Asked(who, agent, user, Course(run_id, conversation_id))

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """A folder, or a file with its lines numbered."""
        path, lines = _given(command, "path"), _range(command)
        return await self._do(lambda shelf: commands.view(shelf, path, lines))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """A new file, which is one memory."""
        path, text = _given(command, "path"), _given(command, "file_text")
        return await self._do(lambda shelf: commands.create(shelf, path, text))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """A part of a file becomes another."""
        path, old, new = _given(command, "path"), _given(command, "old_str"), _new(command)
        return await self._do(lambda shelf: commands.str_replace(shelf, path, old, new))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Lines come into a file."""
        path, line, text = _given(command, "path"), _line(command), _given(command, "insert_text")
        return await self._do(lambda shelf: commands.insert(shelf, path, line, text))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """A file or a folder is forgotten."""
        path = _given(command, "path")
        return await self._do(lambda shelf: commands.delete(shelf, path))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """A file or a folder gets another path."""
        old, new = _given(command, "old_path"), _given(command, "new_path")
        return await self._do(lambda shelf: commands.rename(shelf, old, new))

    async def clear_all_memory(self) -> str:
        """The files that were created here are forgotten."""
        return await self._do(commands.clear)

    async def _do(self, does: Does) -> str:
        return await self._asked.do(self._memoranda, does)


class MemoryTool(BetaAbstractMemoryTool):
    """The same for a runner of `Anthropic`, over the synchronous `memoranda.sync.Memoranda`.

    It is made where Memoranda is open. Raises `NotFound` for an agent or user that is not there.
    """

    @checked
    def __init__(
        self,
        memoranda: sync.Memoranda,
        who: Principal | None = None,
        *,
        agent: UUID | str | None = None,
        user: UUID | str | None = None,
        run_id: UUID | None = None,
        conversation_id: UUID | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._memoranda = memoranda
        self._asked = _Asked(who, agent, user, Course(run_id, conversation_id))
        memoranda.lend(self._asked.shelf)  # so that whoever makes it hears of a wrong name

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """A folder, or a file with its lines numbered."""
        path, lines = _given(command, "path"), _range(command)
        return self._do(lambda shelf: commands.view(shelf, path, lines))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """A new file, which is one memory."""
        path, text = _given(command, "path"), _given(command, "file_text")
        return self._do(lambda shelf: commands.create(shelf, path, text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """A part of a file becomes another."""
        path, old, new = _given(command, "path"), _given(command, "old_str"), _new(command)
        return self._do(lambda shelf: commands.str_replace(shelf, path, old, new))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Lines come into a file."""
        path, line, text = _given(command, "path"), _line(command), _given(command, "insert_text")
        return self._do(lambda shelf: commands.insert(shelf, path, line, text))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """A file or a folder is forgotten."""
        path = _given(command, "path")
        return self._do(lambda shelf: commands.delete(shelf, path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """A file or a folder gets another path."""
        old, new = _given(command, "old_path"), _given(command, "new_path")
        return self._do(lambda shelf: commands.rename(shelf, old, new))

    def clear_all_memory(self) -> str:
        """The files that were created here are forgotten."""
        return self._do(commands.clear)

    def _do(self, does: Does) -> str:
        return self._memoranda.lend(lambda opened: self._asked.do(opened, does))


def _given(command: Any, name: str) -> str:
    """A field that the command must have: the SDK hands on whatever the model wrote."""
    value = getattr(command, name, None)
    if not isinstance(value, str):
        raise ToolError(f"The command needs a text as its `{name}`.")
    return value


def _new(command: Any) -> str:
    return "" if getattr(command, "new_str", None) is None else _given(command, "new_str")


def _line(command: Any) -> int:
    value = getattr(command, "insert_line", None)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ToolError("The command needs a whole number as its `insert_line`.")
    return value


def _range(command: Any) -> Sequence[int] | None:
    value = getattr(command, "view_range", None)
    if value is None:
        return None
    if not isinstance(value, list) or not all(type(each) is int for each in value):
        raise ToolError("The `view_range` is two line numbers, such as [1, 20].")
    return value
