"""The schema is made once, and the address is told without its password."""

from pathlib import Path

from tests.postgres import Postgres
from tests.surfaces.cli.terminal import Cli


def test_an_empty_database_gets_its_schema_and_keeps_it(tmp_path: Path) -> None:
    empty = Cli(str(tmp_path / "new.db"))
    first = empty.json("migrate")
    assert empty.json("migrate") == first
    checks = {each["name"]: each["ok"] for each in empty.json("doctor")["checks"]}
    assert checks["schema"] is True


def test_a_password_is_not_printed(postgres: Postgres) -> None:
    url = postgres.new_database()
    for words in (("migrate",), ("migrate", "--json"), ("doctor",), ("doctor", "--json")):
        ended = Cli(url)(*words)
        assert ended.code == 0, ended.err
        assert postgres.password not in ended.out + ended.err


def test_the_first_command_that_writes_makes_the_schema_by_itself(tmp_path: Path) -> None:
    new = Cli(str(tmp_path / "new.db"))
    assert new.json("remember", "Tea is at four.")["text"] == "Tea is at four."
    assert len(new.json("memories")["items"]) == 1
