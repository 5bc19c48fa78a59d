"""SQL lives in stores and in storage, and only storage's dialects ask which database it is."""

import ast

import pytest

from tests.guards.source import Module, imports, modules

SQL = {"alembic", "psycopg", "psycopg_pool", "sqlalchemy", "sqlite3"}
# SQLAlchemy hands these a dialect and asks what to compile for it.
COMPILED = {"storage/types.py"}
TABLES = "memoranda.storage.tables"


def may_hold_sql(path: str) -> bool:
    return path.startswith("storage/") or path.rsplit("/", 1)[-1] == "store.py"


def sql_out_of_place(module: Module) -> list[str]:
    if may_hold_sql(module.path):
        return []
    return [
        f"{module.path}:{line}: imports {name}; move the statement to a store.py"
        for line, name in imports(module.tree)
        if name.split(".")[0] in SQL or f"{name}.".startswith(f"{TABLES}.")
    ]


def dialect_out_of_place(module: Module) -> list[str]:
    """Uses of `dialect.name`, in any spelling: the difference belongs behind the dialects' port."""
    if module.path.startswith("storage/dialects/") or module.path in COMPILED:
        return []
    return [
        f"{module.path}:{node.lineno}: asks for the dialect's name; "
        "add a method to storage/dialects/base.py instead"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute)
        and node.attr == "name"
        and isinstance(node.value, ast.Attribute | ast.Name)
        and (node.value.attr if isinstance(node.value, ast.Attribute) else node.value.id)
        == "dialect"
    ]


def test_sql_is_in_stores_and_storage_only() -> None:
    assert not [breach for module in modules() for breach in sql_out_of_place(module)]


def test_only_dialects_ask_which_database_it_is() -> None:
    assert not [breach for module in modules() for breach in dialect_out_of_place(module)]


@pytest.mark.parametrize(
    "line",
    [
        "import sqlalchemy as sa",
        "from sqlalchemy import select",
        "import sqlite3",
        "def f():\n    from psycopg import sql",
        "from memoranda.storage import tables",
        "from memoranda.storage.tables import memory",
        "import memoranda.storage.tables.runs",
    ],
)
def test_sql_out_of_place_is_found(line: str) -> None:
    assert sql_out_of_place(Module("memories/service.py", line))
    assert not sql_out_of_place(Module("memories/store.py", line))
    assert not sql_out_of_place(Module("storage/database.py", line))


@pytest.mark.parametrize("line", ["engine.dialect.name == 'sqlite'", "x = dialect.name"])
def test_a_question_for_the_dialect_is_found(line: str) -> None:
    assert dialect_out_of_place(Module("search/store.py", line))
    assert not dialect_out_of_place(Module("storage/dialects/base.py", line))
