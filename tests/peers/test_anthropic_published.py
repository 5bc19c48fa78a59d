"""The tests that Anthropic publishes of its own memory tool, run against ours."""

import asyncio
import importlib.util
import inspect
from collections.abc import Iterator
from importlib.metadata import version
from itertools import count
from types import ModuleType
from typing import Any

import pytest
from anthropic.lib.tools import ToolError

from memoranda.access.models import Role
from memoranda.integrations.anthropic import AsyncMemoryTool, MemoryTool
from memoranda.integrations.anthropic.paths import path_of_title
from memoranda.sync import Memoranda
from memoranda.tools.models import Decision
from tests.peers.packages import source_of

pytestmark = pytest.mark.slow

FILES = "tests/lib/tools/memory_tools/test_filesystem.py"
OF_A_DISK = {
    "symlink": "links: a path here is the name of a row, and leads to that row alone",
    "mkdir_parents": "modes of folders: a folder here is the beginning of names, and is never made",
}
"""What speaks of a file system, by a part of the test's name, and why it says nothing of ours."""
TOO_MANY_LINES = "test_view_error_for_files_with_too_many_lines"
"""Views a file of five megabytes; a memory is of 8,000 characters at most, so that it is refused before that."""


@pytest.fixture(scope="module")
def published() -> ModuleType:
    path = source_of("anthropic", version("anthropic")) / FILES
    spec = importlib.util.spec_from_file_location("published_memory_tests", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class House:
    """The product, and a fresh agent for each test; what theirs keeps on a disk is looked up by that agent."""

    def __init__(self, memoranda: Memoranda) -> None:
        self.memoranda = memoranda
        self.slugs = (f"agent-{number}" for number in count())
        self.folders: dict[str, Folder] = {}

    def tools(self) -> tuple[str, MemoryTool]:
        slug = next(self.slugs)
        self.memoranda.create_agent(slug)
        for tool in ("remember", "update", "forget"):
            self.memoranda.set_tool_policy(slug, tool, Decision.ALLOW)
        return slug, MemoryTool(self.memoranda, agent=slug)

    def snapshot(self, slug: str) -> dict[str, str]:
        """The files of an agent as theirs finds them on its disk."""

        async def look(opened: Any) -> dict[str, str]:
            agent = await opened.access.agent(opened.owner, slug)
            key = opened.owner.model_copy(
                update={"role": Role.AGENT, "agent_id": agent.id, "user_id": None}
            )
            page = await opened.memories.page(key)
            found = {path_of_title(each.title): each.text for each in page.items}
            return {str(path).removeprefix("/"): text for path, text in found.items() if path}

        return self.memoranda.lend(look)


@pytest.fixture(scope="module")
def house(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMORANDA_EMBEDDER", "none")
        with Memoranda(module_database_url) as memoranda:
            yield House(memoranda)


class Folder:
    """Where theirs keeps its files: what a test writes there past the tool is created through ours."""

    def __init__(self, house: House, slug: str, tool: MemoryTool) -> None:
        self._house, self._slug, self._tool = house, slug, tool

    def __str__(self) -> str:
        return self._slug

    def is_dir(self) -> bool:
        return True

    def mkdir(self, *, parents: bool, exist_ok: bool) -> None:
        assert parents
        assert exist_ok

    def __truediv__(self, name: str) -> "File":
        return File(self._house, self._slug, self._tool, name)


class File:
    """A file in that folder, as bytes."""

    def __init__(self, house: House, slug: str, tool: MemoryTool, name: str) -> None:
        self._house, self._slug, self._tool, self._name = house, slug, tool, name

    def write_bytes(self, said: bytes) -> None:
        path = f"/memories/{self._name}"
        self._tool.call({"command": "create", "path": path, "file_text": said.decode()})

    def read_bytes(self) -> bytes:
        return self._house.snapshot(self._slug)[f"memories/{self._name}"].encode()


class Later(AsyncMemoryTool):
    """The asynchronous tool, whose product lives on the loop of another thread."""

    def __init__(self, tool: MemoryTool) -> None:
        self._tool = tool

    async def _do(self, does: Any) -> str:
        return await asyncio.to_thread(self._tool._do, does)


class LaterFolder(Folder):
    async def is_dir(self) -> bool:  # type: ignore[override]  # theirs is asynchronous, too
        return True


def names(module: ModuleType, kind: str) -> list[str]:
    members = vars(getattr(module, kind))
    return [name for name in members if name.startswith("test_")]


def kept_out(name: str) -> bool:
    return name == TOO_MANY_LINES or any(part in name for part in OF_A_DISK)


def cases(test: Any) -> list[dict[str, Any]]:
    """The arguments that a test of theirs is parametrized with, by name."""
    marks = [each for each in getattr(test, "pytestmark", []) if each.name == "parametrize"]
    if not marks:
        return [{}]
    [mark] = marks
    return [{mark.args[0]: value} for value in mark.args[1]]


def ran(house: House, module: ModuleType, kind: str, name: str) -> None:
    """Run one of their tests for each of its cases, with our tool in the place of theirs."""
    test = getattr(getattr(module, kind)(), name)
    later = inspect.iscoroutinefunction(test)
    for case in cases(test):
        slug, tool = house.tools()
        given: Any = Later(tool) if later else tool
        house.folders[slug] = folder = (LaterFolder if later else Folder)(house, slug, tool)
        given.base_path, given.memory_root = slug, folder
        fixture = f"{'async' if later else 'sync'}_local_filesystem_tool"
        done = test(**{fixture: given}, **case)
        if later:
            asyncio.run(done)


def broken(house: House, module: ModuleType, kind: str, tests: list[str]) -> dict[str, str]:
    """Those of their tests that fail, and how."""
    found = {}
    for name in tests:
        try:
            ran(house, module, kind, name)
        except (AssertionError, ToolError, pytest.fail.Exception) as error:
            found[name] = str(error)
    return found


@pytest.fixture
def on_ours(published: ModuleType, house: House, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Their tests, which look at our files where they would look at a disk."""
    monkeypatch.setattr(published, "get_directory_snapshot", house.snapshot)
    monkeypatch.setattr(published, "Path", house.folders.__getitem__)
    return published


KINDS = [f"TestBeta{later}LocalFilesystemMemoryTool" for later in ("", "Async")]


@pytest.mark.parametrize("kind", KINDS)
def test_their_tests_hold_for_ours(on_ours: ModuleType, house: House, kind: str) -> None:
    tests = [name for name in names(on_ours, kind) if not kept_out(name)]
    assert len(tests) >= 30
    assert broken(house, on_ours, kind, tests) == {}


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_speaks_of_a_disk_is_kept_out(on_ours: ModuleType, kind: str) -> None:
    tests = [name for name in names(on_ours, kind) if kept_out(name) and name != TOO_MANY_LINES]
    assert len(tests) <= 9
    for name in tests:
        # It makes links or modes itself, by which alone it can hold or not.
        said = inspect.getsource(getattr(getattr(on_ours, kind), name))
        assert "symlink" in said or "S_IMODE" in said


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_too_long_to_be_shown_is_never_there(
    on_ours: ModuleType, house: House, kind: str
) -> None:
    [told] = broken(house, on_ours, kind, [TOO_MANY_LINES]).values()
    assert "shorten it" in told
    assert "NOTES.md" in told
    assert house.snapshot(list(house.folders)[-1]) == {}
