"""`python -m memoranda` is the command, also where no script is on the path."""

import subprocess
import sys
from pathlib import Path

import memoranda

SOURCE = Path(memoranda.__file__).parents[1]


def run(*words: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "memoranda", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={"PYTHONPATH": str(SOURCE), "MEMORANDA_DB": str(folder / "notes.db")},
    )


def test_the_module_runs_the_command_and_ends_with_its_exit_code(tmp_path: Path) -> None:
    told = run("--version", folder=tmp_path)
    assert (told.returncode, told.stdout.strip()) == (0, f"memoranda {memoranda.__version__}")
    assert run("remember", "Ada drinks tea", folder=tmp_path).returncode == 0
    assert "Ada drinks tea" in run("memories", folder=tmp_path).stdout
    assert run("--bogus", folder=tmp_path).returncode == 2
