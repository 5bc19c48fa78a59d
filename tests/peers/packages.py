"""Packages of the Python index for tests of peers, in folders of the checkout that are no part of it."""

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache" / "python"
_DONE = "done"


class NoPackage(AssertionError):
    """A package could not be had; the test that wanted it fails and says why."""


def source_of(package: str, version: str) -> Path:
    """The source of a package as it was published at this very version, its own tests with it."""
    folder = CACHE / f"{package}-{version}-source"
    if not (folder / _DONE).exists():
        _fresh(folder)
        options: list[str | Path] = ["--no-deps", "--no-binary", package, "--dest", folder]
        _run(
            [_pip(), "-m", "pip", "download", "--quiet", *options, f"{package}=={version}"],
            f"The source of {package} {version} could not be had from the Python package index",
        )
        [archive] = folder.glob("*.tar.gz")
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
        (folder / _DONE).touch()
    [source] = [each for each in folder.iterdir() if each.is_dir()]
    return source


def installed_apart(name: str, packages: Sequence[str]) -> Path:
    """A folder with these packages alone, for a process that finds the rest in this environment."""
    folder = CACHE / name
    wanted = "\n".join(packages)
    done = folder / _DONE
    if not done.exists() or done.read_text("utf-8") != wanted:
        _fresh(folder)
        options: list[str | Path] = ["--no-deps", "--target", folder]
        _run(
            [_pip(), "-m", "pip", "install", "--quiet", *options, *packages],
            f"The packages of {name} could not be had from the Python package index",
        )
        done.write_text(wanted, "utf-8")
    return folder


def _pip() -> Path:
    """A Python with pip, in an environment of its own: this one may have been made without."""
    folder = CACHE / "pip"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not (folder / _DONE).exists():
        _fresh(folder)
        _run([sys.executable, "-m", "venv", folder], "No environment with pip could be made")
        (folder / _DONE).touch()
    return python


def _fresh(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def _run(command: Sequence[str | Path], complaint: str) -> None:
    """Run what sets something up. Raises `NoPackage`."""
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=600, env=quiet
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoPackage(f"{complaint}: {type(error).__name__}.") from error
    if done.returncode != 0:
        raise NoPackage(f"{complaint}:\n{done.stdout}{done.stderr}")
