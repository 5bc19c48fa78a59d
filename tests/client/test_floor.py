"""A host that calls a server brings in neither a database nor a server of its own."""

import subprocess
import sys

NOT_NEEDED = (
    *("memoranda.app", "memoranda.settings", "memoranda.storage", "memoranda.surfaces"),
    *("memoranda.conversations.wire.anthropic", "memoranda.conversations.wire.streams"),
    *("alembic", "fastapi", "numpy", "psycopg", "sqlalchemy", "sqlite3", "starlette", "uvicorn"),
)


def test_the_client_brings_in_values_alone() -> None:
    code = "import sys, memoranda.client; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "memoranda.client.blocking.client" in loaded
    assert not loaded & set(NOT_NEEDED)
