"""What becomes of tests that a peer publishes, run unchanged in a process of their own with our classes for theirs."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.peers.packages import source_of

CHILD = Path(__file__).with_name("child.py")
LONGEST_S = 280


class But(NamedTuple):
    """Tests that do not hold for ours: those of a name, with this among their parameters; and what that is due to."""

    name: str
    why: str
    given: str = ""

    def means(self, test: str) -> bool:
        name, _, parameters = test.partition("::")[2].rpartition("::")[2].partition("[")
        return name == self.name and (not self.given or self.given in parameters)


def became(
    package: tuple[str, str], files: Sequence[str], stand_in: str, url: str, folder: Path
) -> Mapping[str, tuple[str, str]]:
    """By test, `passed`, `failed`, `skipped` or `left out`, and why."""
    report = folder / "report.json"
    asked = {
        "source": str(source_of(*package)),
        "files": list(files),
        "stand_in": stand_in,
        "url": url,
        "report": str(report),
    }
    done = subprocess.run(
        [sys.executable, str(CHILD), json.dumps(asked)],
        cwd=folder,
        env={**os.environ, "MEMORANDA_EMBEDDER": "none"},
        check=False,
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
    )
    assert report.exists(), done.stdout + done.stderr
    found: Mapping[str, tuple[str, str]] = json.loads(report.read_text("utf-8"))
    return found


def check(
    found: Mapping[str, tuple[str, str]], but: Iterable[But], *, least: int, files: Sequence[str]
) -> None:
    """Fail unless all of them hold but those that are named, each of which does not, and `least` of each hold."""
    ran = {test: each for test, each in found.items() if each[0] != "left out"}
    failed = {test: why for test, (outcome, why) in ran.items() if outcome != "passed"}
    excused = {test for test in ran if any(each.means(test) for each in but)}
    for what, tests in (
        ("These do not hold for ours:", {each: failed[each] for each in failed.keys() - excused}),
        ("These hold by now, and are no exceptions:", dict.fromkeys(excused - failed.keys())),
    ):
        if tests:
            pytest.fail(f"{what} {json.dumps(tests, indent=1)}")
    if len(ran) - len(failed) < least:
        pytest.fail(f"Of {len(ran)} tests in {files}, {len(failed)} did not hold.")
