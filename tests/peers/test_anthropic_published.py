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

from memoranda.access.models import Role
from memoranda.integrations.anthropic import AsyncMemoryTool, MemoryTool
from memoranda.integrations.anthropic.paths import path_of_title
from memoranda.sync import Memoranda
from memoranda.tools.models import Decision
from tests.peers.packages import source_of

pytestmark = pytest.mark.slow

FILES = "tests/lib/tools/memory_tools/test_filesystem.py"
ON_DISK = (
    *("mkdir_parents", "symlink", "read_rejects_file_replaced", "view_rejects_directory"),
    *("validate_path_returns_resolved", "crlf", "too_many_lines"),
)
"""What is about a file system that theirs keeps its files in and ours has none of: links, modes, bytes written to it past
the tool, and a file of five megabytes."""
ENDS = ("test_insert", "test_insert_at_beginning_of_file", "test_insert_at_end_of_file")
"""End in a line break that theirs adds: a memory's text has no blank at its end. But for that they hold."""


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


class Root:
    """Where theirs keeps its folder: ours is always there."""

    def is_dir(self) -> bool:
        return True


class Later(AsyncMemoryTool):
    """The asynchronous tool, whose product lives on the loop of another thread."""

    def __init__(self, tool: MemoryTool) -> None:
        self._tool = tool

    async def _do(self, does: Any) -> str:
        return await asyncio.to_thread(self._tool._do, does)


class LaterRoot(Root):
    async def is_dir(self) -> bool:  # type: ignore[override]  # theirs is asynchronous, too
        return True


def names(module: ModuleType, kind: str) -> list[str]:
    members = vars(getattr(module, kind))
    return [name for name in members if name.startswith("test_")]


def kept_out(name: str) -> bool:
    return any(part in name for part in ON_DISK)


def cases(test: Any) -> list[dict[str, Any]]:
    """The arguments that a test of theirs is parametrized with, by name."""
    marks = [each for each in getattr(test, "pytestmark", []) if each.name == "parametrize"]
    if not marks:
        return [{}]
    [mark] = marks
    return [{mark.args[0]: value} for value in mark.args[1]]


def ran(house: House, module: ModuleType, kind: str, name: str) -> None:
    """Run one of their tests, with our tool in the place of theirs."""
    test = getattr(getattr(module, kind)(), name)
    later = inspect.iscoroutinefunction(test)
    for case in cases(test):
        slug, tool = house.tools()
        given: Any = Later(tool) if later else tool
        given.base_path, given.memory_root = slug, LaterRoot() if later else Root()
        fixture = f"{'async' if later else 'sync'}_local_filesystem_tool"
        done = test(**{fixture: given}, **case)
        if later:
            asyncio.run(done)


def broken(house: House, module: ModuleType, kind: str, tests: list[str]) -> set[str]:
    """Those of their tests that fail."""
    found = set()
    for name in tests:
        try:
            ran(house, module, kind, name)
        except (AssertionError, pytest.fail.Exception):
            found.add(name)
    return found


@pytest.mark.parametrize("later", [False, True])
def test_their_tests_hold_for_ours(
    published: ModuleType, house: House, monkeypatch: pytest.MonkeyPatch, later: bool
) -> None:
    kind = f"TestBeta{'Async' if later else ''}LocalFilesystemMemoryTool"
    tests = [name for name in names(published, kind) if not kept_out(name)]
    assert len(tests) >= 24
    monkeypatch.setattr(published, "get_directory_snapshot", house.snapshot)
    assert broken(house, published, kind, tests) == set(ENDS)

    def ended(slug: str) -> dict[str, str]:
        return {path: f"{text}\n" for path, text in house.snapshot(slug).items()}

    monkeypatch.setattr(published, "get_directory_snapshot", ended)
    assert broken(house, published, kind, list(ENDS)) == set()
