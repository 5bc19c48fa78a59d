"""What is published speaks of the product alone, and every exception to a rule gives its reason."""

import re
import subprocess
from collections.abc import Iterator

import pytest

from tests.guards.source import ROOT

# Put together here, so that this file does not hold what it forbids.
DOT, SLASH = ".", "/"
REGISTRIES = [
    f"pypi{DOT}org",
    "python" + f"hosted{DOT}org",
    f"npmjs{DOT}org",
    f"deb{DOT}debian{DOT}org",
    "--" + "index-url",
    "--" + "extra-index-url",
    "--" + "find-links",
]
MACHINE_PATH = re.compile(
    r"(?<![\w.:}\])*-])/(?:work|root|opt|farm|mnt|home/\w+|Users/\w+|tmp/\w+|private/var)(?=[/\s\"'`:]|$)"
)

IGNORE = re.compile(r"#\s*type:\s*ignore(?P<codes>\[[\w\-, ]+\])?(?P<rest>[^\n]*)")
NOQA = re.compile(
    r"#\s*(?:ruff:\s*)?noqa(?P<codes>:\s*[A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*)?(?P<rest>[^\n]*)"
)
REASON = re.compile(r"\s*(?:#|-)\s*\w+(?:\W+\w+)+")


def published() -> Iterator[tuple[str, str]]:
    """Each text file that is tracked or about to be, with its text."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_file():
            try:
                yield name, path.read_text("utf-8")
            except UnicodeDecodeError:
                continue


def of_this_machine(text: str) -> list[str]:
    found = [host for host in REGISTRIES if host in text]
    return found + [match.group() for match in MACHINE_PATH.finditer(text)]


def without_reason(text: str) -> list[str]:
    return [
        match.group()
        for pattern in (IGNORE, NOQA)
        for match in pattern.finditer(text)
        if not match["codes"] or not REASON.match(match["rest"])
    ]


def test_no_file_names_a_machine_or_a_registry() -> None:
    allowed = {"LICENSE", "tests/guards/test_hygiene.py"}
    assert not {
        name: found
        for name, text in published()
        if name not in allowed and (found := of_this_machine(text))
    }


def test_every_exception_to_a_rule_gives_its_reason() -> None:
    assert not {
        name: found
        for name, text in published()
        if name.endswith(".py")
        and name != "tests/guards/test_hygiene.py"
        and (found := without_reason(text))
    }


@pytest.mark.parametrize(
    "text",
    [
        f"https://{REGISTRIES[1]}/x",
        f"open('{SLASH}work/a')",
        f"cd {SLASH}home/me/x",
        f"{SLASH}root/.cache",
    ],
)
def test_a_trace_of_a_machine_is_found(text: str) -> None:
    assert of_this_machine(text)


@pytest.mark.parametrize("text", ["/v1/runs", "sqlite:///data/root/x.db", "a/work/b", "/workers"])
def test_other_paths_are_fine(text: str) -> None:
    assert not of_this_machine(text)


@pytest.mark.parametrize(
    "text",
    [
        "x()  # type: ignore",
        "x()  # type: ignore[arg-type]",
        "x()  # noqa",
        "x()  # noqa: S101",
        "x()  # noqa - because we said so here",
        "x()  # noqa: S101 - sorry",
    ],
)
def test_an_exception_without_a_reason_is_found(text: str) -> None:
    assert without_reason(text)


@pytest.mark.parametrize(
    "text",
    [
        "x()  # type: ignore[arg-type]  # the stub leaves out bytes",
        "x()  # noqa: BLE001 - a source may raise anything",
        "x()  # noqa: BLE001, S110 - a source may raise anything",
    ],
)
def test_an_exception_with_a_reason_is_fine(text: str) -> None:
    assert not without_reason(text)
