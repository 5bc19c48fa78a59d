"""`memoranda export` and `memoranda import` as a person at a terminal meets them."""

import json
import stat
import sys
from pathlib import Path

import pytest

from memoranda.sync import Memoranda
from tests.contract.exchanges import own
from tests.memories.transfer.readings import FILES
from tests.surfaces.cli.terminal import Cli


def written(path: Path, content: str) -> str:
    path.write_text(content, "utf-8")
    return str(path)


def texts(cli: Cli) -> list[str]:
    return [each["text"] for each in cli.json("memories", "--limit", "200")["items"]]


def test_what_is_exported_to_a_file_is_imported_elsewhere(
    cli: Cli, tmp_path: Path, sqlite_database: str
) -> None:
    cli.json("users", "create", "Ada", "--external-id", "ada")
    cli.json(
        "remember",
        "Ada takes oat milk.",
        "--user",
        "ada",
        "--attribute",
        "preference.milk",
        "--pin",
    )
    cli.json("remember", "Orders ship from Leipzig.", "--tag", "b", "--tag", "a")
    target = tmp_path / "out.jsonl"
    ended = cli("export", str(target))
    assert (ended.code, "3 lines" in ended.out) == (0, True)
    assert len(target.read_text("utf-8").splitlines()) == 3
    other = Cli(f"sqlite:///{tmp_path / 'other.db'}")
    missing = other("import", str(target))
    assert missing.code == 10
    assert "memoranda users create" in missing.out
    other.json("users", "create", "Ada", "--external-id", "ada")
    assert other("import", str(target)).code == 0
    # The one that waited for its user is the newest here.
    assert sorted(texts(other)) == sorted(texts(cli))
    again = other.json("import", str(target))
    assert (again["known"], again["written"]) == (2, 0)


def test_an_export_goes_to_standard_output_as_it_is(cli: Cli) -> None:
    cli.json("remember", "Café — 中文\u2028end.")
    plain, as_json = cli("export"), cli("export", "--json")
    assert plain.out == as_json.out
    assert json.loads(plain.out.split("\n")[1])["text"] == "Café — 中文\u2028end."
    assert plain.err == ""


def test_a_file_that_is_there_is_replaced_only_when_that_is_meant(
    local: Cli, tmp_path: Path
) -> None:
    local.json("remember", "Tea.")
    target = tmp_path / "out.jsonl"
    target.write_text("mine", "utf-8")
    refused = local("export", str(target), "--json")
    assert (refused.code, refused.problem["code"]) == (4, "conflict")
    assert target.read_text("utf-8") == "mine"
    told = local.json("export", str(target), "--force")
    assert told == {"file": str(target), "lines": 2}
    assert "Tea." in target.read_text("utf-8")
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.skipif(sys.platform == "win32", reason="modes of files are another matter there")
def test_a_file_of_memories_is_for_its_owners_eyes(local: Cli, tmp_path: Path) -> None:
    local.json("remember", "Tea.")
    target = tmp_path / "out.jsonl"
    assert local("export", str(target)).code == 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_an_export_that_can_not_be_written_says_so(local: Cli, tmp_path: Path) -> None:
    local.json("remember", "Tea.")
    for target in (tmp_path / "no" / "such" / "folder", tmp_path):
        ended = local("export", str(target), "--force", "--json")
        assert ended.code in {3, 5}, ended.err
        assert ended.problem["detail"]


def test_a_dry_run_shows_what_would_be_and_changes_nothing(local: Cli) -> None:
    local.json("memories")
    ended = local("import", str(FILES / "chatgpt_list.txt"), "--dry-run")
    assert ended.code == 0
    assert "would be taken  3" in ended.out
    assert "Nothing was changed" in ended.out
    assert texts(local) == []


def test_a_dry_run_makes_no_database(tmp_path: Path) -> None:
    place = tmp_path / "none.db"
    nowhere = Cli(f"sqlite:///{place}")
    ended = nowhere("import", str(FILES / "chatgpt_list.txt"), "--dry-run")
    assert ended.code == 0, ended.err
    assert "would be taken  3" in ended.out
    assert f"There is no database at {place} yet, and none was made" in ended.out
    assert nowhere.json("import", str(FILES / "chatgpt_list.txt"), "--dry-run")["taken"] == 3
    assert not list(tmp_path.iterdir())
    assert nowhere("import", str(FILES / "chatgpt_list.txt")).code == 0
    assert place.exists()


def test_who_imports_is_told_that_it_is_for_everybody_and_how_it_is_given_to_one(
    cli: Cli,
) -> None:
    cli.json("users", "create", "Ada", "--external-id", "ada")
    source = str(FILES / "chatgpt_list.txt")
    told = "for everybody: every user's and agent's run may be told of them."
    assert f"3 memories would be {told}" in cli("import", source, "--dry-run").out
    assert told not in cli("import", source, "--user", "ada", "--dry-run").out
    shown = cli("import", source).out
    assert f"3 memories are {told} --user or --agent gives them to one alone." in shown


def test_a_document_is_refused_and_the_command_for_documents_is_named(
    local: Cli, tmp_path: Path
) -> None:
    path = tmp_path / "README.md"
    path.write_text("# Tea\n\nOolong is from the hills.\n")
    ended = local("import", str(path), "--json")
    assert (ended.code, ended.problem["code"]) == (5, "unreadable_import")
    assert "memoranda knowledge add" in ended.problem["detail"]


def test_a_report_says_why_lines_are_passed_over(local: Cli, tmp_path: Path) -> None:
    local.json("remember", "Tea.", "--attribute", "preference.tea")
    local.json("remember", "Green tea.", "--attribute", "preference.tea")
    target = str(tmp_path / "out.jsonl")
    assert local("export", target, "--history").code == 0
    shown = local("import", target).out
    assert "passed over    3: 1 says what the file is, 2 of a history" in shown
    report = local.json("import", target)
    assert (report["passed"], report["passes"]) == (3, {"header": 1, "history": 2})
    backup = local("import", str(FILES / "openmemory.json"), "--map-user", "mira=nobody")
    assert backup.code == 3  # there is nobody of that name here
    local.json("users", "create", "Mira", "--external-id", "m1")
    assert "1: 1 deleted there" in local("import", str(FILES / "openmemory.json")).out


def test_a_name_of_the_file_means_whom_the_caller_says(cli: Cli, tmp_path: Path) -> None:
    mira = cli.json("users", "create", "Mira", "--external-id", "m1")["id"]
    clerk = cli.json("agents", "create", "clerk")["id"]
    rows = [{"memory": "Drinks tea.", "user_id": "old=mira", "agent_id": "helper"}]
    path = written(tmp_path / "in.json", json.dumps(rows))
    assert cli.json("import", path, "--dry-run", "--user", "m1", "--agent", "clerk")["taken"] == 1
    assert cli("import", path).code == 10
    mapped = ("--map-user", "old=mira=m1", "--map-agent", "helper=clerk")
    assert cli.json("import", path, *mapped)["taken"] == 1
    (memory,) = cli.json("memories")["items"]
    assert (memory["user_id"], memory["agent_id"]) == (mira, clerk)
    for wrong in ("mira", "=m1", "mira="):
        assert cli("import", path, "--map-user", wrong).code == 5


def test_a_report_shows_each_kind_of_line_and_why(local: Cli, tmp_path: Path) -> None:
    path = written(
        tmp_path / "in.jsonl",
        own(
            {"text": "a"},
            {"text": "A"},
            {"text": 5},
            {"text": "t", "title": "t" * 300},
            {"text": "x" * 30_000},
        ),
    )
    ended = local("import", path)
    assert ended.code == 10
    for said in (
        "read as",
        "memoranda",
        "Line 2 says the same.",
        "title cut",
        "knowledge add",
        "text: This must be a text.",
    ):
        assert said in ended.out, said
    report = json.loads(local("import", path, "--json").out)
    assert (report["known"], report["refused"]) == (3, 2)


def test_what_a_file_says_can_not_move_the_cursor(local: Cli, tmp_path: Path) -> None:
    content = own({"text": "a", "user": {"external_id": "\x1b[31m\nred"}})
    ended = local("import", written(tmp_path / "in.jsonl", content))
    assert "\x1b[31m" not in ended.out
    assert "unknown" in ended.out or "no user" in ended.out


def test_everything_can_be_given_to_one_user_from_a_pipe(local: Cli) -> None:
    user = local.json("users", "create", "Ada", "--external-id", "ada")["id"]
    ended = local(
        "import", "-", "--user", "ada", "--from", "claude", typed=b"- Likes tea.\n- Likes rain.\n"
    )
    assert ended.code == 0, ended.err
    items = local.json("memories")["items"]
    assert [(each["text"], each["user_id"], each["origin"]) for each in items] == [
        ("Likes rain.", user, "import"),
        ("Likes tea.", user, "import"),
    ]


def test_a_command_that_can_not_do_it_says_why(local: Cli, tmp_path: Path) -> None:
    local.json("memories")
    empty = written(tmp_path / "empty", "")
    assert local("import", empty).code == 5
    assert local("import", str(tmp_path / "none")).code == 3
    assert local("import", str(tmp_path)).code == 5
    assert local("import", empty, "--from", "notion").code == 2
    assert local("import", empty, "--user", "nobody").code == 3
    nowhere = Cli(f"sqlite:///{tmp_path / 'nowhere.db'}")
    assert nowhere("export").code == 3
    assert not (tmp_path / "nowhere.db").exists()


def test_the_same_verbs_are_there_for_a_script(sqlite_database: str) -> None:
    with Memoranda(sqlite_database) as memoranda:
        memoranda.remember("Tea.")
        lines = list(memoranda.export(history=True))
        assert [json.loads(line).get("kind") for line in lines] == [None, "memory", "revision"]
        assert memoranda.take_in(lines).known == 1
        assert memoranda.take_in(b"Milk.\n", source="chatgpt", dry_run=True).taken == 1
        assert memoranda.take_in(b"Milk.\n").taken == 1
        assert [each.text for each in memoranda.memories().items] == ["Milk.", "Tea."]
