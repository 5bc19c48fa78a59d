"""`./dev run` runs a command where its caller stands, with the checkout's own environment."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def checkout(folder: Path) -> Path:
    """A checkout whose environment is ready, so that nothing is installed."""
    (folder / "requirements").mkdir(parents=True)
    for name in ("pyproject.toml", "requirements/build.txt", "requirements/runtime.txt"):
        (folder / name).write_text(name)
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    (programs / "memoranda").write_text('#!/bin/sh\necho "memoranda in $(pwd)"\n')
    (programs / "memoranda").chmod(0o755)
    parts = "cat pyproject.toml requirements/build.txt requirements/runtime.txt | cksum"
    stamp = subprocess.run(parts, shell=True, cwd=folder, check=True, capture_output=True)  # noqa: S602 - a fixed command
    (folder / ".venv" / "requirements-runtime").write_bytes(stamp.stdout)
    return Path(shutil.copy(ROOT / "dev", folder))


def test_a_command_is_run_in_the_folder_of_whoever_calls_it(tmp_path: Path) -> None:
    script = checkout(tmp_path / "checkout")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for place in (elsewhere, script.parent):
        done = subprocess.run(
            ["sh", str(script), "run", "memoranda"],
            cwd=place,
            check=True,
            capture_output=True,
            text=True,
        )
        assert done.stdout == f"memoranda in {place}\n"
