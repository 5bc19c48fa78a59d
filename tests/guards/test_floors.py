"""The floors hold, and each contract that holds them can fail."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guards.source import PACKAGE, ROOT

RUN = "from importlinter.cli import lint_imports_command as run; run()"


def lint(source: Path) -> tuple[int, str]:
    """Run the import contracts of pyproject.toml on the package that lies in `source`."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(ROOT / "pyproject.toml"), "--no-cache"],
        env={**os.environ, "PYTHONPATH": str(source), "NO_COLOR": "1"},
        cwd=source,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_floor_imports_only_from_floors_below_it() -> None:
    code, report = lint(PACKAGE.parent)
    assert code == 0, report


# The contract's id, the file that breaks it, and the line that does it.
BREACHES = {
    "up a floor": ("floors", "words/errors.py", "import memoranda.app"),
    "sideways": ("floors", "memories/service.py", "import memoranda.knowledge.service"),
    "a room nobody declared": ("floors", "attic/__init__.py", ""),
    "surface to surface": (
        "surfaces",
        "surfaces/http/__init__.py",
        "import memoranda.surfaces.cli",
    ),
    "an event loop in the packer": ("pure", "briefs/packer.py", "import asyncio"),
    "a database in the words": ("pure", "words/text.py", "import sqlalchemy"),
    "storage in the models": ("pure", "briefs/models.py", "import memoranda.storage"),
    "an integration nobody declared": ("integrations", "integrations/attic/__init__.py", ""),
    "a framework in a room": ("frameworks", "briefs/service.py", "import agno"),
    "a database in the client": ("client", "client/call.py", "import memoranda.storage"),
    "a database below the client": ("client", "files/models.py", "import sqlalchemy"),
    "a dialect in a store": (
        "dialects",
        "memories/store.py",
        "import memoranda.storage.dialects.sqlite",
    ),
}


@pytest.mark.parametrize(("contract", "path", "line"), BREACHES.values(), ids=list(BREACHES))
def test_a_breach_of_a_contract_is_reported(
    tmp_path: Path, contract: str, path: str, line: str
) -> None:
    shutil.copytree(PACKAGE, tmp_path / "memoranda", ignore=shutil.ignore_patterns("__pycache__"))
    broken = tmp_path / "memoranda" / path
    broken.parent.mkdir(exist_ok=True)
    with broken.open("a") as file:
        file.write(f"\n{line}\n")
    code, report = lint(tmp_path)
    assert code == 1, report
    assert f"{NAMES[contract]} BROKEN" in report


def test_neighbors_that_import_each_other_are_reported(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "memoranda", ignore=shutil.ignore_patterns("__pycache__"))
    words = tmp_path / "memoranda" / "words"
    (words / "yin.py").write_text("import memoranda.words.yang\n")
    (words / "yang.py").write_text("import memoranda.words.yin\n")
    code, report = lint(tmp_path)
    assert code == 1, report
    assert f"{NAMES['cycles']} BROKEN" in report


NAMES = {
    "floors": "A floor imports only from floors below it",
    "surfaces": "No surface leans on another",
    "integrations": "No integration leans on another",
    "frameworks": "Only its integration knows an agent framework",
    "cycles": "No two neighbors import each other",
    "pure": "What decides is pure: no database, no event loop, no web",
    "client": "The HTTP client needs values alone: no database, no server",
    "dialects": "Only storage knows which database it is",
}
