"""What waits for a person is in one list, with the command that decides it, on both backends."""

import json
import shlex

import pytest

from tests.surfaces.cli.terminal import Cli
from tests.surfaces.cli.test_memory_commands import NOBODY
from tests.surfaces.cli.test_tool_commands import asking


@pytest.fixture(autouse=True)
def without_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")


def waiting(cli: Cli) -> dict[str, str]:
    """One of each kind, by its kind."""
    cli.json("agents", "create", "clerk")
    text = cli.json("proposals", "propose", "Tea is at four.")["proposal"]["id"]
    call = asking(cli, "Ada takes oat milk.")
    change = cli("files", "propose", "voice", "-", "--json", typed=b"Short.").json["id"]
    return {"memory_proposal": text, "tool_approval": call, "file_proposal": change}


def test_whatever_waits_is_listed_with_the_commands_that_decide_it(cli: Cli) -> None:
    assert "Nothing waits for anybody." in cli("inbox").out or cli("inbox").code == 3
    made = waiting(cli)
    listed = cli.json("inbox")["items"]
    assert {each["kind"]: each["id"] for each in listed} == made
    shown = cli("inbox").out
    for each in listed:
        for way in each["ways"]:
            assert way["command"] in shown
    change = next(each for each in listed if each["kind"] == "file_proposal")
    _, *words = shlex.split(change["look"]["command"])
    assert change["look"]["command"] in shown
    assert "Short." in cli(*words).out
    assert change["look"]["route"] == f"GET /v1/file-proposals/{made['file_proposal']}"
    assert {each["kind"] for each in listed if each["look"] is None} == {
        *("memory_proposal", "tool_approval"),
    }
    assert all(told in shown for told in ("Tea is at four.", "Ada takes oat milk.", "voice"))


@pytest.mark.parametrize("place", [0, 1])
def test_each_command_of_the_list_decides_what_it_stands_beside(cli: Cli, place: int) -> None:
    waiting(cli)
    for each in cli.json("inbox")["items"]:
        _, *words = shlex.split(each["ways"][place]["command"])
        assert cli(*words).code == 0
        left = cli.json("inbox")["items"]
        assert each["id"] not in {other["id"] for other in left}
    assert cli.json("inbox")["items"] == []


def test_the_id_of_another_list_is_told_where_it_is_decided(cli: Cli) -> None:
    made = waiting(cli)
    for kind, words in {
        "memory_proposal": ("tools", "deny"),
        "tool_approval": ("proposals", "accept"),
        "file_proposal": ("proposals", "discard"),
    }.items():
        ended = cli(*words, made[kind])
        assert ended.code == 3
        ways = next(each["ways"] for each in cli.json("inbox")["items"] if each["id"] == made[kind])
        assert all(way["command"] in ended.err for way in ways)
    for words in (("files", "apply"), ("files", "discard"), ("tools", "approve")):
        ended = cli(*words, made["memory_proposal"], "--json")
        assert ended.code == 3
        assert (
            f"memoranda proposals accept {made['memory_proposal']}"
            in json.loads(ended.err)["detail"]
        )
    assert "decide it with" not in cli("tools", "deny", NOBODY).err
