"""Wrong input ends in a sentence and the documented code, writes nothing, and never in a traceback."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.surfaces.cli.terminal import Cli, finished

NOBODY = "01890000-0000-7000-8000-000000000000"
GOOD = {"sources": [{"name": "memory", "token_budget": 50}], "total_token_budget": 60}


def broken_policies() -> dict[str, str]:
    negative = {"sources": [{"name": "memory", "token_budget": -1}], "total_token_budget": 60}
    unknown = {"sources": [{"name": "gossip", "token_budget": 1}], "total_token_budget": 60}
    return {
        "no JSON": "{",
        "no object": "[1]",
        "nested without end": "[" * 100_000,
        "a negative budget": json.dumps(negative),
        "an unknown source": json.dumps(unknown),
        "bytes of no text": "\xff\x00",
        "nothing": "",
    }


@pytest.mark.parametrize("text", broken_policies().values(), ids=broken_policies())
def test_a_broken_policy_is_refused_and_not_published(
    local: Cli, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(text, "latin-1")
    ended = local("policies", "publish", str(path), "--json")
    assert ended.code == 5
    assert ended.problem["detail"]
    assert ended.problem["exit_code"] == 5
    assert ended.out == ""
    names = [each["name"] for each in local.json("policies", "list")["items"]]
    assert "mine" not in names


def test_a_rejected_policy_names_the_path_of_each_reason(local: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(broken_policies()["a negative budget"], "utf-8")
    problem = local("policies", "publish", str(path), "--json").problem
    assert problem["code"] == "policy_rejected"
    assert ["sources", 0, "token_budget"] in [each["path"] for each in problem["rejections"]]
    assert "sources.0.token_budget" in local("policies", "publish", str(path)).err


def test_every_fault_of_a_policy_is_told_at_once_each_on_a_line(local: Cli, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    sources = [{"name": "gossip"}, {"name": "memory", "token_budget": "\x1b[31m", "limit": -1}]
    path.write_text(json.dumps({"sources": sources, "page_order": ["memory"] * 2}), "utf-8")
    told = local("policies", "publish", str(path)).err.splitlines()
    assert told[0].startswith("Error: The context policy was not accepted")
    places = [line.split(":")[0].strip() for line in told[1:]]
    assert places == [
        *("page_order.1", "sources.0.name", "sources.0.token_budget"),
        *("sources.1.limit", "sources.1.token_budget", "total_token_budget"),
    ]
    assert "  sources.0.token_budget: This is missing; it has to be there." in told
    assert "\x1b" not in "".join(told)


def test_a_policy_that_was_not_asked_for_by_version_is_not_told_of_one(local: Cli) -> None:
    assert "no policy of that name: " in local("policies", "show", "nope").err
    versioned = local("policies", "show", "nope", "--version", "3")
    assert "no policy of that name and version 3: " in versioned.err


def test_a_problem_begins_with_its_code(local: Cli) -> None:
    problem = local("policies", "show", "nope", "--json").problem
    assert next(iter(problem)) == "code"


WRONG: dict[str, tuple[tuple[str, ...], int]] = {
    "a negative budget": (("brief", "-q", "x", "--budget", "-5"), 5),
    "an unknown policy": (("brief", "-q", "x", "--policy", "none"), 3),
    "an unknown agent": (("brief", "-q", "x", "--agent", "nobody"), 3),
    "an unknown user": (("remember", "x", "--user", "nobody"), 3),
    "an unknown conversation": (("conversations", "show", NOBODY), 3),
    "an unknown memory": (("forget", NOBODY), 3),
    "an unknown history": (("memories", "history", NOBODY), 3),
    "an unknown run": (("runs", "show", NOBODY), 3),
    "an unknown document": (("knowledge", "show", NOBODY), 3),
    "an unknown key": (("keys", "revoke", NOBODY), 3),
    "an unknown organization": (("memories", "--organization", NOBODY), 3),
    "an entity without an id": (("brief", "-q", "x", "--entity", "account"), 5),
    "an attribute of nothing": (("remember", "x", "--attribute", "name"), 5),
    "an empty fact": (("remember", "  "), 5),
    "a fact of half a character": (("remember", "x \udc80"), 5),
    "a missing file": (("knowledge", "add", "/nowhere/to/be/found.md"), 3),
    "a folder": (("knowledge", "add", "."), 5),
    "a limit of nothing": (("knowledge", "search", "x", "--limit", "0"), 5),
    "a broken cursor": (("memories", "--cursor", "x"), 5),
    "input that is no JSON": (("runs", "create", "--input", "{"), 5),
    "a slug with spaces": (("agents", "create", "my agent"), 5),
    "an agent's key without an agent": (("keys", "create", "--role", "agent"), 5),
    "no message at all": (("conversations", "append", NOBODY), 5),
    "a port beyond all ports": (("serve", "--port", "70000"), 5),
}


@pytest.mark.parametrize(("words", "code"), WRONG.values(), ids=WRONG)
def test_wrong_input_ends_in_its_code_and_a_sentence(
    local: Cli, words: tuple[str, ...], code: int
) -> None:
    told = local(*words)
    assert (told.code, told.out) == (code, "")
    assert told.err.startswith("Error: ")
    problem = local(*words, "--json").problem
    assert problem["exit_code"] == code
    assert problem["detail"] in told.err


@pytest.mark.parametrize(
    "words",
    [
        ("forget", "not-an-id"),
        ("memories", "--limit", "many"),
        ("keys", "create", "--role", "king"),
        ("brief",),
        ("nonsense",),
    ],
)
def test_a_wrong_command_line_ends_with_2(local: Cli, words: tuple[str, ...]) -> None:
    assert local(*words).code == 2


def write(content: bytes, name: str) -> Callable[[Path], str]:
    def into(folder: Path) -> str:
        path = folder / name
        path.write_bytes(content)
        return str(path)

    return into


UNREADABLE = {
    "a binary file as Markdown": write(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", "picture.md"),
    "an empty transcript": write(b"", "talk.jsonl"),
    "a transcript of blank lines": write(b"\n\n", "talk.jsonl"),
    "a transcript that is none": write(b"hello\n", "talk.jsonl"),
    "text in an unknown encoding": write("schön".encode("latin-1"), "note.txt"),
}


@pytest.mark.parametrize("file", UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_document_fails_with_its_reason(
    local: Cli, tmp_path: Path, file: Callable[[Path], str]
) -> None:
    ended = local("knowledge", "add", file(tmp_path), "--json")
    assert ended.code == 10
    assert ended.json["status"] == "failed"
    assert ended.json["reason"]
    assert local.json("knowledge", "search", "hello schön PNG")["results"] == []


def test_a_document_over_the_limit_is_refused_whole(
    local: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_MAX_UPLOAD_BYTES", "10")
    ended = local("knowledge", "add", write(b"eleven bytes", "a.txt")(tmp_path), "--json")
    assert ended.code == 7
    assert ended.problem["code"] == "document_too_large"
    assert local.json("knowledge", "list")["items"] == []


@pytest.mark.parametrize(
    ("db", "code"),
    [
        ("mysql://localhost/x", 5),
        ("", 5),
        ("postgresql://nobody:swordfish@127.0.0.1:9/x", 9),
    ],
)
def test_a_database_that_can_not_be_used_is_a_sentence(db: str, code: int) -> None:
    ended = Cli(db)("memories")
    assert ended.code == code, ended.err
    assert ended.err.startswith("Error: ")
    assert "swordfish" not in ended.err


def test_a_file_that_is_no_database_is_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_bytes(b"This is a letter and no database at all. " * 200)
    ended = Cli(str(path))("memories")
    assert ended.code not in {0, 1}
    assert path.read_bytes().startswith(b"This is a letter")


def test_a_setting_that_can_not_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = finished("memories", MEMORANDA_PORT="many")
    assert ended.code == 5
    assert "MEMORANDA_PORT" in ended.err
    assert "Traceback" not in ended.err


def test_a_duplicate_is_a_conflict_that_names_the_memory(local: Cli) -> None:
    first = local.json("remember", "Tea is at four.")
    ended = local("remember", " tea IS at four. ", "--json")
    assert ended.code == 4
    assert ended.problem["code"] == "duplicate_memory"
    assert first["id"] in ended.err
