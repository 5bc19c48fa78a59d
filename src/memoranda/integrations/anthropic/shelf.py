"""What an agent finds below /memories: its memories and the context files, read as it and written by its tools."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, TypeAlias
from uuid import UUID

from memoranda.access.models import Principal, Role
from memoranda.access.roles import subject_of
from memoranda.app import Memoranda
from memoranda.files.errors import FileChanged
from memoranda.files.models import AgentFile, FileSummary, WorkspaceFile
from memoranda.integrations.anthropic.paths import (
    AGENT,
    FACTS,
    ORGANIZATION,
    ROOT,
    Path,
    path_of_fact,
    path_of_title,
    tail,
    tail_of,
)
from memoranda.integrations.anthropic.texts import missing
from memoranda.memories.errors import StaleVersion
from memoranda.memories.models import Memory
from memoranda.tools.models import Course, Outcome, Refusal
from memoranda.words.errors import (
    Conflict,
    DuplicateMemory,
    Invalid,
    MemorandaError,
    NotFound,
    Refused,
)

_DONE: Final = {Outcome.DONE.value, Outcome.KNOWN.value}
_NOT_DONE: Final = {Outcome.DENIED.value, Outcome.DROPPED.value, Outcome.FAILED.value}
_PAGE: Final = 200
_EXACTLY: Final = {"as_written": True}
_ALONE: Final = {"title_once": True}
_WENT_ON: Final = {StaleVersion.code, Conflict.code, NotFound.code}
_TOO_LONG: Final = {"text", "arguments"}
LONGER: Final = f"Keep one fact in a file. What is longer belongs into {ROOT}/{AGENT}/NOTES.md."


class Kept(NamedTuple):
    """A memory as a file."""

    path: Path
    memory: Memory

    @property
    def text(self) -> str:
        """What it says."""
        return self.memory.text or ""

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.text.encode())


class Written(NamedTuple):
    """A context file: an organization's, or one of the agent's own."""

    path: Path
    file: FileSummary

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.file.bytes


Item: TypeAlias = Kept | Written


def check_named(who: Principal | None, agent: UUID | str | None, user: UUID | str | None) -> None:
    """Raise `Invalid` where no agent is named, and it is not an agent's own key that asks."""
    own = who is not None and who.role is Role.AGENT and user is None
    if agent is None and not own:
        raise Invalid("The memory tool is an agent's: name the agent.", field="agent")


class Shelf:
    """The files of one agent, for a user or for none. Everything is asked of the tools, whose policies decide."""

    def __init__(self, memoranda: Memoranda, who: Principal, course: Course) -> None:
        self._memoranda = memoranda
        self._who = who
        self._course = course
        self.reply_chars = memoranda.settings.tool_reply_chars
        """About how many characters a model is told at once of what there is."""

    @classmethod
    async def of(
        cls,
        memoranda: Memoranda,
        who: Principal,
        agent: UUID | str | None,
        user: UUID | str | None,
        course: Course,
    ) -> "Shelf":
        """The shelf of that agent. Raises `NotFound`, and `Refused` where `who` may not act as it."""
        check_named(who, agent, user)
        if agent is None:
            return cls(memoranda, who, course)
        found = await memoranda.access.agent(who, agent)
        whose = None if user is None else (await memoranda.access.user(who, user)).id
        subject = subject_of(who, found.id, whose)
        if who.role is Role.READ_ONLY:
            raise Refused("A read-only key can't act as an agent. Use another key.")
        acting = Principal(
            organization_id=subject.organization_id,
            role=Role.AGENT,
            agent_id=subject.agent_id,
            user_id=subject.user_id,
        )
        return cls(memoranda, acting, course)

    async def items(self) -> list[Item]:
        """All files, as far as the agent's policies let it read them."""
        offered = {offer.name for offer in await self._memoranda.tools.offers(self._who)}
        found: list[Item] = []
        if "get_context_file" in offered:
            found += await self._files()
        if {"list", "get"} <= offered:
            found += await self._memories()
        return found

    async def find(self, path: Path) -> Item | None:
        """The file at that path; a fact also under what its path was when it said something else."""
        named = tail_of(path)
        for item in await self.items():
            if item.path == path or (
                isinstance(item, Kept)
                and item.path.fixed == FACTS
                and tail(item.memory.id) == named
            ):
                return item
        return None

    async def text(self, item: Item) -> str:
        """What a file says."""
        if isinstance(item, Kept):
            return item.text
        file = await self._memoranda.files.get(self._who, item.file.name, agent=item.file.agent_id)
        if file.hash != item.file.hash:
            raise Conflict(f"The file {item.path} was changed at this moment: view it again.")
        return file.body

    async def create(self, path: Path, text: str) -> str | None:
        """Keep a new file as a memory, to the last blank; what waits for a person, if something does."""
        given = {"content": text, "title": str(path), **_EXACTLY, **_ALONE}
        return await self._call("remember", given, path, taken=f"File {path} already exists")

    async def write(self, item: Item, text: str) -> str | None:
        """Let a file say something else."""
        if isinstance(item, Kept):
            return await self._patch(item, {"content": text, **_EXACTLY})
        given: dict[str, Any] = {"body": text, "expected_hash": item.file.hash}
        if item.file.agent_id is not None and item.file.name == AgentFile.NOTES:
            return await self._call("update_notes", given, item.path)
        tool, file = "update_context_file", {"slug": item.file.name, **given}
        return await self._call(tool, file, item.path)

    async def move(self, item: Kept, path: Path) -> str | None:
        """Keep a memory under another path."""
        given = {**_version(item), "patch": {"title": str(path), **_ALONE}}
        taken = f"The destination {path} already exists"
        return await self._call("update", given, item.path, taken=taken)

    async def forget(self, item: Kept) -> str | None:
        """Forget a memory."""
        return await self._call("forget", _version(item), item.path)

    async def _patch(self, item: Kept, patch: dict[str, Any]) -> str | None:
        return await self._call("update", {**_version(item), "patch": patch}, item.path)

    async def _call(
        self, tool: str, arguments: dict[str, Any], path: Path, taken: str = ""
    ) -> str | None:
        """None where it is done; else what it waits for. Raises what refuses it; `taken` says that a path is."""
        called = await self._memoranda.tools.call(self._who, tool, arguments, course=self._course)
        if called.refusal is not None:
            if called.refusal.details.keys() >= {"field", "taken_by"}:
                raise Conflict(taken)
            raise await self._refused(called.refusal, path)
        answer = called.answer or {}
        said = str(answer.get("message"))
        if answer.get("outcome") in _NOT_DONE:
            raise Refused(said)
        return None if answer.get("outcome") in _DONE else said

    async def _refused(self, refusal: Refusal, path: Path) -> MemorandaError:
        """The refusal of a tool, which a model may read as it stands; files are named by their paths."""
        if refusal.code == DuplicateMemory.code:
            known = refusal.details.get("memory_id")
            for item in await self.items():
                if isinstance(item, Kept) and str(item.memory.id) == known:
                    return Conflict(f"The file {item.path} says the same already.")
        moved_on = refusal.code in _WENT_ON and "memory_id" in refusal.details
        if moved_on or refusal.code == FileChanged.code:
            return Conflict(f"The file {path} was changed at this moment: view it again.")
        if refusal.kind == "over_limit" and refusal.details.get("field") in _TOO_LONG:
            return Refused(f"{refusal.message} {LONGER}")
        return Refused(refusal.message)

    async def _files(self) -> list[Item]:
        own = await self._memoranda.files.listed(self._who, agent=self._who.agent_id)
        shared = await self._memoranda.files.listed(self._who)
        return [
            *(Written(Path((ORGANIZATION, f"{each.name}.md")), each) for each in shared.items),
            *(Written(Path((AGENT, each.name)), each) for each in own.items),
        ]

    async def _memories(self) -> list[Item]:
        found: dict[Path, Item] = {}
        cursor = None
        while True:
            page = await self._memoranda.memories.page(self._who, limit=_PAGE, cursor=cursor)
            for memory in page.items:
                path = path_of_title(memory.title)
                # The newest has the path: another audience may have a file of the same one.
                if path is None or path in found:
                    path = path_of_fact(memory.id, memory.text or "")
                found[path] = Kept(path, memory)
            cursor = page.next_cursor
            if cursor is None:
                return list(found.values())


def names_of(folder: str) -> str:
    """The files that a folder of context files has, in words."""
    if folder == AGENT:
        return ", ".join(AgentFile)
    return ", ".join(f"{name}.md" for name in WorkspaceFile)


def free(path: Path, items: Sequence[Item]) -> None:
    """Return where a new file may be kept there. Raises `Refused` and `Conflict`."""
    if path.fixed == FACTS:
        raise Refused(
            f"The folder {ROOT}/{FACTS} holds what is remembered without a path: choose another one."
        )
    if path.fixed is not None:
        raise Refused(
            f"The files of {ROOT}/{path.fixed} are {names_of(path.fixed)}: none is added."
        )
    for item in items:
        if item.path.within(path):
            raise Conflict(f"The path {path} is a directory: choose another name.")
        if path.within(item.path):
            raise Conflict(f"The path {item.path} is a file, and no directory.")


def here(path: Path, items: Sequence[Item]) -> list[Kept]:
    """The memory at a path, or those below it. Raises `NotFound`, and `Refused` for fixed folders and their files."""
    if path.fixed in {ORGANIZATION, AGENT}:
        raise Refused(
            f"The files of {ROOT}/{path.fixed} stay where they are. They can be emptied by those "
            "who may write them."
        )
    named = tail_of(path)
    kept = [item for item in items if isinstance(item, Kept)]
    found = [
        item
        for item in kept
        if item.path == path or (item.path.fixed == FACTS and tail(item.memory.id) == named)
    ] or [item for item in kept if item.path.within(path)]
    if not found:
        raise missing(path)
    if path.parts == (FACTS,):
        raise Refused(f"The folder {path} can't be taken away at once: take its files one by one.")
    return found


def _version(item: Kept) -> dict[str, Any]:
    return {"memory_id": str(item.memory.id), "expected_version": item.memory.version}
