"""The command starts quickly, and says who it is."""

import subprocess
import sys
from pathlib import Path

import pytest

import memoranda
from tests.surfaces.cli.terminal import finished

SOURCE = Path(memoranda.__file__).parents[1]
HEAVY = {
    *("alembic", "asyncio", "fastapi", "httpx", "mcp", "numpy", "psycopg", "pydantic"),
    *("pydantic_settings", "sqlalchemy", "uvicorn", "memoranda.app"),
}


def test_help_waits_for_no_database_no_server_and_no_value_that_is_checked() -> None:
    code = f"""
import sys
from memoranda.surfaces.cli.app import app
try:
    app(["--help"])
except SystemExit:
    pass
print(sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(SOURCE)},
    )
    assert done.stderr.strip() == "[]"


def test_the_version_is_the_packages() -> None:
    ended = finished("--version")
    assert ended.code == 0
    assert ended.out.strip() == f"memoranda {memoranda.__version__}"


def test_a_wrong_option_ends_with_code_2_and_a_message() -> None:
    ended = finished("brief", "--bogus", "x")
    assert ended.code == 2
    assert "No such option" in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""


@pytest.mark.parametrize("option", [["--db", "x.db"], ["--db=x.db"], ["--json"]])
def test_a_shared_option_between_a_group_and_its_command_is_told_where_it_belongs(
    option: list[str],
) -> None:
    ended = finished("chats", *option, "list")
    assert ended.code == 2
    name = option[0].partition("=")[0]
    assert f"chats COMMAND {name} …" in " ".join(ended.err.split())


def test_the_help_tells_the_exit_codes() -> None:
    ended = finished("--help")
    assert ended.code == 0
    assert "Exit codes:" in ended.out
    assert "10 ended in failure" in " ".join(ended.out.split())
