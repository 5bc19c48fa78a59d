"""Runs tests that a peer publishes, in a process of their own, with our classes in the place of the peer's.

Called with a JSON object: the source that the tests are in, the files, the stand-in (a module of this folder),
a database, and where to write what became of each test.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]


class Asyncio:
    """Coroutines are tests and fixtures, on one backend."""

    @pytest.fixture(scope="session")
    def anyio_backend(self) -> str:
        return "asyncio"


class Watch:
    """Puts the stand-in where the modules of tests look, and notes what became of each test."""

    def __init__(self, stand_in: ModuleType, file: Path) -> None:
        self._stand_in, self._file = stand_in, file
        self._found: dict[str, tuple[str, str]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        why = {item.nodeid: self._stand_in.left_out(item) for item in items}
        self._found |= {test: ("left out", reason) for test, reason in why.items() if reason}
        items[:] = [item for item in items if not why[item.nodeid]]
        # Those of helpers too, which modules of tests import from one another.
        for name, module in list(sys.modules.items()):
            if name.startswith("tests.") and not name.startswith("tests.peers"):
                self._stand_in.stand_in(module)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        before = self._found.get(report.nodeid)
        if before is not None and before[0] == "failed":
            return
        if report.when == "call" or report.outcome != "passed":
            self._found[report.nodeid] = (report.outcome, _reason(report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._found[report.nodeid] = ("failed", str(report.longrepr))

    def pytest_sessionfinish(self) -> None:
        self._file.write_text(json.dumps(self._found), "utf-8")


def _reason(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    return "" if report.outcome == "passed" else str(getattr(crash, "message", report.longrepr))


def main(asked: dict[str, Any]) -> int:
    """Run the files, and answer as pytest does."""
    source = Path(asked["source"])
    sys.path.insert(0, str(source))
    theirs = import_module("tests")  # a package of theirs, within which ours are found as well
    theirs.__path__.append(str(ROOT / "tests"))
    sys.addaudithook(import_module("tests.network").refuse_outside)
    stand_in = import_module(f"tests.peers.published.{asked['stand_in']}")
    with stand_in.opened(asked["url"]):
        options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest"]
        options += ["-c", str(Path(__file__).with_name("pytest.ini")), f"--rootdir={source}"]
        options += getattr(stand_in, "OPTIONS", [])
        given = [
            *options,
            *asked.get("options", []),
            *(str(source / each) for each in asked["files"]),
        ]
        watch = Watch(stand_in, Path(asked["report"]))
        return int(pytest.main(given, plugins=[Asyncio(), watch, stand_in]))


if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    sys.exit(main(json.loads(sys.argv[1])))
