"""Rooms stay small: a file, a function and a name that grows past its limit fails here."""

import ast
from statistics import median

import pytest

from tests.guards.source import Module, modules

LONGEST_FILE = 400
MEDIAN_FILE = 150
LONGEST_FUNCTION = 60
VAGUE = {
    "util",
    "utils",
    "helper",
    "helpers",
    "common",
    "misc",
    "manager",
    "managers",
    "base_utils",
}


def too_long(module: Module) -> list[str]:
    found = []
    if module.lines > LONGEST_FILE:
        found.append(f"{module.path}: {module.lines} lines, and {LONGEST_FILE} is the most")
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > LONGEST_FUNCTION:
                found.append(
                    f"{module.path}:{node.lineno}: {node.name} has {length} lines, "
                    f"and {LONGEST_FUNCTION} is the most"
                )
    return found


def vague(path: str) -> bool:
    """Whether a file or folder is named for nothing in particular."""
    parts = path.removesuffix(".py").split("/")
    return any(word in VAGUE for part in parts for word in (part, *part.split("_")))


def test_no_file_or_function_is_too_long() -> None:
    assert not [breach for module in modules() for breach in too_long(module)]


def test_files_are_small_on_the_whole() -> None:
    lengths = [module.lines for module in modules() if module.lines]
    assert median(lengths) <= MEDIAN_FILE


def test_every_room_is_named_for_what_is_in_it() -> None:
    assert not [module.path for module in modules() if vague(module.path)]


def test_every_module_says_what_it_is_for() -> None:
    assert not [
        module.path
        for module in modules()
        if module.text.strip() and ast.get_docstring(module.tree) is None
    ]


def test_a_long_file_and_a_long_function_are_found() -> None:
    body = "    pass\n"
    assert too_long(Module("a.py", "def f():\n" + body * 60))
    assert not too_long(Module("a.py", "def f():\n" + body * 59))
    assert too_long(Module("a.py", "x = 1\n" * 401))
    assert not too_long(Module("a.py", "x = 1\n" * 400))


@pytest.mark.parametrize("path", ["utils.py", "briefs/helpers.py", "common/a.py", "key_manager.py"])
def test_a_vague_name_is_found(path: str) -> None:
    assert vague(path)
    assert not vague("briefs/packer.py")
