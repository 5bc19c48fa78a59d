"""A file is one document however often it is added, and several files are added at once."""

import asyncio
import json
from pathlib import Path

import pytest

from memoranda.surfaces.cli.session import Choices, opened
from memoranda.surfaces.cli.taking_in import GOES_ON, ingested
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
        (("x", "--title", "T"), 5),
        (("x", "--uri", "u"), 5),
    ],
)
def test_of_several_files_none_is_added_when_one_can_not_be(
    local: Cli, tmp_path: Path, more: tuple[str, ...], code: int
) -> None:
    ended = local("knowledge", "add", written(tmp_path, "tea.md", "Tea."), *more)
    assert ended.code == code, ended.err
    assert local.json("knowledge", "list")["items"] == []


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
