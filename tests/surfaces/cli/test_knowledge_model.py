"""`memoranda knowledge model`, `switch` and `cancel-switch`: from a model to the next, and what a person sees."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.search.embeddings_server import Script, serving
from tests.surfaces.cli.terminal import Cli

BUNDLED = "all-MiniLM-L6-v2-int8"
BODY = json.dumps({"error": "no"}).encode()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    """An endpoint at hand beside the bundled model."""
    with serving() as script:
        monkeypatch.setenv("MEMORANDA_EMBEDDER_URL", script.url)
        monkeypatch.setenv("MEMORANDA_EMBEDDER_MODEL", "other")
        yield script


@pytest.fixture
def harbor(tmp_path: Path) -> str:
    path = tmp_path / "harbor.md"
    path.write_text("# Harbor\n\nThe harbor has a lighthouse.\n", "utf-8")
    return str(path)


def test_a_document_is_found_by_meaning_and_the_model_is_told(cli: Cli, harbor: str) -> None:
    before = cli.json("knowledge", "model")
    assert (before["active"], before["sources"]) == (None, 0)
    assert "found by their words alone" in cli("knowledge", "model").out
    added = cli.json("knowledge", "add", harbor)
    assert (added["status"], added["progress"]) == ("ready", None)
    found = cli.json("knowledge", "search", "where do ships see light at night")
    assert (found["semantic"], found["model"]) == (True, BUNDLED)
    assert found["results"][0]["text"] == "The harbor has a lighthouse."
    status = cli.json("knowledge", "model")
    assert status == {
        "active": BUNDLED,
        "next": None,
        "forced": False,
        "sources": 1,
        "ready": 1,
        "failed": 0,
        "waiting": 0,
        "chunks": 1,
        "embedded": 1,
        "failures": [],
        "waits_for": None,
        "at_hand": [BUNDLED],
    }


def test_a_switch_waits_for_a_worker_unless_it_is_to_do_the_work_itself(
    cli: Cli, harbor: str, server: Script
) -> None:
    cli.json("knowledge", "add", harbor)
    begun = cli.json("knowledge", "switch", "other")
    assert (begun["active"], begun["next"], begun["waiting"]) == (BUNDLED, "other", 1)
    shown = cli("knowledge", "model")
    assert "next       other" in shown.out
    assert "0 of 1 ready" in shown.out
    done = cli("knowledge", "switch", "other", "--wait")
    assert done.code == 0
    assert "model      other" in done.out
    assert len(server.texts) == 1
    assert cli.json("knowledge", "model")["active"] == "other"
    found = cli.json("knowledge", "search", "lighthouse")
    assert (found["model"], len(found["results"])) == ("other", 1)


def test_a_switch_is_left_as_if_it_had_not_begun(local: Cli, harbor: str, server: Script) -> None:
    local.json("knowledge", "add", harbor)
    local.json("knowledge", "switch", "other")
    left = local.json("knowledge", "cancel-switch")
    assert (left["active"], left["next"]) == (BUNDLED, None)
    assert server.texts == []


def test_what_the_new_model_refuses_keeps_it_from_serving_unless_it_is_forced(
    local: Cli, harbor: str, server: Script
) -> None:
    local.json("knowledge", "add", harbor)
    server.answers = [(400, {}, BODY)] * 3
    ended = local("knowledge", "switch", "other", "--wait")
    assert ended.code == 10
    assert "1 document keeps other from serving" in ended.out
    assert "harbor.md" in ended.out
    assert "answered 400" in ended.out
    assert local.json("knowledge", "search", "lighthouse")["model"] == BUNDLED
    forced = local("knowledge", "switch", "other", "--force", "--wait", "--json")
    assert (forced.code, forced.json["active"], forced.json["failed"]) == (0, "other", 1)
    assert local.json("knowledge", "search", "lighthouse")["results"]


def test_the_platform_has_a_model_of_its_own(local: Cli, harbor: str, server: Script) -> None:
    local.json("knowledge", "add", harbor)
    local.json("knowledge", "add", harbor, "--platform")
    assert local("knowledge", "switch", "other", "--platform", "--wait").code == 0
    assert local.json("knowledge", "model", "--platform")["active"] == "other"
    assert local.json("knowledge", "model")["active"] == BUNDLED
    both = local.json("knowledge", "search", "lighthouse", "--platform")
    assert both["model"] == f"{BUNDLED}, other"


def test_words_alone_and_unknown_models(local: Cli, harbor: str) -> None:
    local.json("knowledge", "add", harbor)
    refused = local("knowledge", "switch", "better", "--json")
    assert refused.code == 5
    assert refused.problem["code"] == "unknown_model"
    assert refused.problem["models"] == [BUNDLED, "none"]
    assert local.json("knowledge", "switch", "none", "--wait")["active"] is None
    found = local.json("knowledge", "search", "lighthouse")
    assert (found["semantic"], len(found["results"])) == (False, 1)


def test_a_document_whose_embedder_is_away_is_given_back_with_the_reason(
    local: Cli, harbor: str, server: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "endpoint")
    server.answers = [(401, {}, BODY)] * 3
    ended = local("knowledge", "add", harbor)
    assert ended.code == 10
    assert "pending" in ended.out
    assert "The embedder of other is away." in ended.out
    listed = local("knowledge", "list")
    assert "waiting" in listed.out
    assert "check its key" in listed.out
    [source] = local.json("knowledge", "list")["items"]
    assert source["progress"]["step"] == "waiting"
    assert "check its key" in local("knowledge", "show", source["id"]).out
