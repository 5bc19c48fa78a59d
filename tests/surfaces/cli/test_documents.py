"""A file is one document however often it is added, and several files are added at once."""

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from memoranda.knowledge.models import Source, SourceProgress
from memoranda.surfaces.cli.session import Choices, opened
from memoranda.surfaces.cli.taking_in import GOES_ON, each_added, follow, ingested
from tests.surfaces.cli.terminal import Cli

BROKEN = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0"


def written(folder: Path, name: str, content: str) -> str:
    path = folder / name
    path.write_text(content, "utf-8")
    return str(path)


def test_the_same_file_is_the_same_document(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = cli.json("knowledge", "add", written(tmp_path, "über uns.md", "# Tea\n\nOolong."))
    assert first["uri"] == (tmp_path / "über uns.md").as_uri()
    again = cli.json("knowledge", "add", "./über uns.md")
    assert again == first
    written(tmp_path, "über uns.md", "# Tea\n\nDarjeeling.")
    changed = cli.json("knowledge", "add", "über uns.md")
    assert changed["id"] == first["id"]
    assert cli.json("knowledge", "search", "oolong")["results"] == []
    assert len(cli.json("knowledge", "search", "darjeeling")["results"]) == 1
    assert len(cli.json("knowledge", "list")["items"]) == 1


def test_another_title_or_kind_of_the_same_file_counts(local: Cli, tmp_path: Path) -> None:
    file = written(tmp_path, "talk.txt", '{"speaker": "Ada", "text": "My kayak is green."}\n')
    first = local.json("knowledge", "add", file)
    second = local.json("knowledge", "add", file, "--kind", "transcript", "--title", "A talk")
    assert (second["id"], second["kind"], second["title"]) == (first["id"], "transcript", "A talk")
    assert second["status"] == "ready"


def test_a_uri_of_ones_own_goes_before_the_files(local: Cli, tmp_path: Path) -> None:
    file = written(tmp_path, "tea.md", "# Tea\n\nOolong.")
    assert local.json("knowledge", "add", file, "--uri", "https://x.test/t")["uri"] == (
        "https://x.test/t"
    )
    assert local.json("knowledge", "add", file)["uri"] == (tmp_path / "tea.md").as_uri()


def test_standard_input_has_no_address_and_is_a_new_document_each_time(local: Cli) -> None:
    for _ in range(2):
        ended = local("knowledge", "add", "-", "--json", typed=b"Oolong is tea.")
        assert ended.code == 0, ended.err
        assert ended.json["uri"] is None
    assert len(local.json("knowledge", "list")["items"]) == 2


def test_several_files_answer_a_list_and_one_that_fails_is_told(local: Cli, tmp_path: Path) -> None:
    good = written(tmp_path, "tea.md", "# Tea\n\nOolong.")
    (tmp_path / "bad.md").write_bytes(BROKEN)
    ended = local("knowledge", "add", str(tmp_path / "bad.md"), good, "--json")
    assert ended.code == 10
    assert [each["status"] for each in ended.json] == ["failed", "ready"]
    both = local("knowledge", "add", good, written(tmp_path, "b.md", "Bo."), "--json")
    assert both.code == 0
    assert len(both.json) == 2


@pytest.mark.parametrize(
    ("more", "code"),
    [
        (("/nowhere/x.md",), 3),
        (("-", "-"), 5),
        (("-", "--title", "T"), 5),
        (("-", "--uri", "u"), 5),
    ],
)
def test_of_several_files_none_is_added_when_one_can_not_be(
    local: Cli, tmp_path: Path, more: tuple[str, ...], code: int
) -> None:
    ended = local("knowledge", "add", written(tmp_path, "tea.md", "Tea."), *more)
    assert ended.code == code, ended.err
    listed = local("knowledge", "list", "--json")
    assert listed.code == 3 or listed.json["items"] == []  # there may be no database at all


def test_that_one_of_several_files_can_not_be_read_says_what_became_of_the_others(
    local: Cli, tmp_path: Path
) -> None:
    ended = local("knowledge", "add", written(tmp_path, "tea.md", "Tea."), "/nowhere/x.md")
    assert "There is no file /nowhere/x.md." in ended.err
    assert "Nothing was done with the other files either." in ended.err


def test_one_that_is_refused_keeps_no_other_out_and_each_is_named(
    local: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_MAX_UPLOAD_BYTES", "20")
    long = written(tmp_path, "long.md", "Oolong is a tea from the hills.")
    good = written(tmp_path, "good.md", "Sencha.")
    also = written(tmp_path, "also.md", "Bancha.")
    ended = local("knowledge", "add", good, long, also, "--json")
    assert ended.code == 10
    assert [each["status"] for each in ended.json] == ["ready", "ready", "not added"]
    refused = ended.json[2]
    assert (refused["file"], refused["code"]) == (long, "document_too_large")
    shown = local("knowledge", "add", good, long, also).out
    assert f"file    {long}" in shown
    assert "not added" in shown
    alone = local("knowledge", "add", long, "--json")
    assert (alone.code, alone.problem["code"]) == (7, "document_too_large")


@pytest.mark.parametrize("as_json", [False, True])
def test_who_stops_is_told_which_files_were_not_begun(
    local: Cli, capsys: pytest.CaptureFixture[str], *, as_json: bool
) -> None:
    async def stopped() -> None:
        async with opened(Choices(db=local.db, as_json=as_json)) as at:
            begun = asyncio.Event()

            async def add(file: str) -> Source:
                if file == "b.md":
                    begun.set()
                    await asyncio.sleep(60)
                return await at.memoranda.knowledge.add(at.who, b"Oolong.", title=file)

            adding = asyncio.create_task(each_added(at, ["a.md", "b.md", "c.md"], add))
            await begun.wait()
            adding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await adding

    asyncio.run(stopped())
    told = capsys.readouterr().err
    if as_json:
        problem = json.loads(told)
        assert problem["not_added"] == ["b.md", "c.md"]
        assert (problem["code"], problem["exit_code"]) == ("interrupted", 130)
    else:
        assert "Not added: b.md, c.md. Give them to memoranda knowledge add again." in told


async def test_the_bar_says_how_much_of_a_document_is_done() -> None:
    told: list[dict[str, object]] = []
    far = SourceProgress(step="embedding", done=3, of=8)
    source: Any = SimpleNamespace(id=UUID(int=1), title="tea.txt", progress=far)

    async def get(*_: object) -> Any:
        return source

    knowledge = SimpleNamespace(get=get)
    at: Any = SimpleNamespace(memoranda=SimpleNamespace(knowledge=knowledge), who=None)
    shown = asyncio.Event()

    def update(_: int, **said: object) -> None:
        told.append(said)
        shown.set()

    bar: Any = SimpleNamespace(add_task=lambda *_, **__: 0, update=update)
    following = asyncio.create_task(follow(at, source, bar))
    await shown.wait()
    following.cancel()
    assert told[0] == {"description": "tea.txt: embedding", "total": 8, "completed": 3}


FILES = {
    "knowledge add": ("knowledge", "add", "/nowhere/x.md"),
    "policies publish": ("policies", "publish", "/nowhere/x.json"),
    "files edit": ("files", "edit", "voice", "/nowhere/x.md"),
    "files propose": ("files", "propose", "voice", "/nowhere/x.md"),
    "dossier set": ("dossier", "set", "/nowhere/x.json"),
    "definitions create": ("definitions", "create", "skill", "s", "--body", "/nowhere/x.md"),
    "definitions update": ("definitions", "update", str(UUID(int=1)), "/nowhere/x.json"),
    "conversations append": (
        *("conversations", "append", str(UUID(int=1))),
        *("--file", "/nowhere/x.json"),
    ),
    "import": ("import", "/nowhere/x.jsonl"),
}


@pytest.mark.parametrize("words", FILES.values(), ids=FILES)
def test_a_file_that_is_not_there_leaves_no_database_behind(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    place = tmp_path / "z.db"
    ended = Cli(str(place))(*words)
    assert ended.code == 3, ended.err
    assert list(tmp_path.iterdir()) == []


def test_a_document_is_named_by_its_title_or_uri_where_no_other_has_it(
    cli: Cli, tmp_path: Path
) -> None:
    file = written(tmp_path, "tea.md", "Oolong.")
    first = cli.json("knowledge", "add", file)
    for named in ("tea.md", first["uri"], first["id"]):
        assert cli.json("knowledge", "show", named)["id"] == first["id"]
    assert cli.json("knowledge", "describe", "tea.md", "Teas.")["summary"] == "Teas."
    other = cli.json("knowledge", "add", written(tmp_path, "b.md", "Bo."), "--title", "tea.md")
    ended = cli("knowledge", "remove", "tea.md", "--json")
    assert (ended.code, ended.problem["code"]) == (5, "invalid_input")
    assert set(ended.problem["ids"]) == {first["id"], other["id"]}
    ended = cli("knowledge", "show", "coffee.md", "--json")
    assert (ended.code, ended.problem["code"]) == (3, "not_found")
    assert "memoranda knowledge list" in ended.problem["detail"]
    assert cli("knowledge", "remove", first["uri"]).code == 0
    assert cli.json("knowledge", "show", "tea.md")["id"] == other["id"]


def test_who_stops_waiting_is_told_that_nothing_is_lost(
    local: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    async def stopped() -> str:
        async with opened(Choices(db=local.db)) as at:
            source = await at.memoranda.knowledge.add(at.who, b"Oolong.", title="tea.txt")
            waiting = asyncio.create_task(ingested(at, source))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            return (await at.memoranda.knowledge.get(at.who, source.id)).status

    assert asyncio.run(stopped()) == "pending"
    assert f"tea.txt stays in line. {GOES_ON}" in " ".join(capsys.readouterr().err.split())


def test_a_passage_of_a_talk_says_who_spoke(local: Cli, tmp_path: Path) -> None:
    turn = {"speaker": "Ada", "text": "My kayak is green.", "at": "4 May"}
    local.json("knowledge", "add", written(tmp_path, "talk.jsonl", json.dumps(turn)))
    shown = local("knowledge", "search", "kayak").out
    assert "Ada: My kayak is green." in shown
    assert "talk.jsonl · 4 May" in shown


def test_why_a_document_failed_stands_in_the_list(
    local: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bad.md").write_bytes(BROKEN)
    added = local("knowledge", "add", str(tmp_path / "bad.md"), "--json").json
    monkeypatch.setenv("COLUMNS", "80")
    shown = local("knowledge", "list").out
    assert max(map(len, shown.splitlines())) <= 80
    assert added["id"] in shown
    assert "is a PNG picture, not text." in " ".join(shown.split())
