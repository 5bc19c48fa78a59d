"""The command line prints the very document that the HTTP API answers with."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.surfaces.cli.serving import Served, serving
from tests.surfaces.cli.terminal import Cli


@pytest.fixture
def served(local: Cli) -> Iterator[Served]:
    """The local database, served over HTTP with a key of its owner."""
    key = local.json("keys", "create", "--role", "owner")["key"]
    with serving(local.db, key) as server:
        yield server


def test_every_list_and_answer_is_the_same_document(
    local: Cli, served: Served, tmp_path: Path
) -> None:
    path = tmp_path / "tea.md"
    path.write_text("# Tea\n\nOolong takes three minutes.\n", "utf-8")
    source = local.json("knowledge", "add", str(path))
    memory = local.json("remember", "Tea is at five.", "--attribute", "preference.tea")
    talk = local.json("conversations", "create")
    local.json("conversations", "append", talk["id"], "Tea?")
    agent = local.json("agents", "create", "host")
    run = local.json("runs", "create", "--agent", "host")
    same = {
        ("memories",): "/v1/memories",
        ("memories", "history", memory["id"]): f"/v1/memories/{memory['id']}/history",
        ("knowledge", "list"): "/v1/knowledge/sources",
        ("knowledge", "show", source["id"]): f"/v1/knowledge/sources/{source['id']}",
        ("conversations", "list"): "/v1/conversations",
        ("agents", "list"): "/v1/agents",
        ("users", "list"): "/v1/users",
        ("keys", "list"): "/v1/keys",
        ("policies", "list"): "/v1/policies",
        ("policies", "show", "default"): "/v1/policies/default",
        ("runs", "list"): "/v1/runs",
        ("runs", "show", run["id"]): f"/v1/runs/{run['id']}",
        ("runs", "logs", run["id"]): f"/v1/runs/{run['id']}/logs",
    }
    for words, route in same.items():
        assert local.json(*words) == served.get(route), words
    assert agent == served.get(f"/v1/agents/{agent['id']}")


def test_a_search_is_the_same_document(local: Cli, served: Served, tmp_path: Path) -> None:
    path = tmp_path / "tea.md"
    path.write_text("# Tea\n\nOolong takes three minutes.\n", "utf-8")
    local.json("knowledge", "add", str(path))
    over_http = served.post("/v1/knowledge/search", {"query": "oolong", "limit": 3})
    assert over_http["results"]
    assert local.json("knowledge", "search", "oolong", "--limit", "3") == over_http


def test_a_brief_is_the_same_document(local: Cli, served: Served) -> None:
    local.json("users", "create", "Ada", "--external-id", "ada")
    ada = local.json("users", "list")["items"][-1]["id"]
    local.json("remember", "Ada takes milk.", "--user", "ada")
    local.json("remember", "Tea is at five.")
    for explain in (False, True):
        words = ["brief", "-q", "tea", "--user", "ada", "--budget", "40"]
        body = {"query": "tea", "subject": {"user_id": ada}, "budget": 40, "explain": explain}
        over_http = served.post("/v1/briefs", body)
        assert local.json(*words, *(["--explain"] if explain else [])) == over_http


def test_a_problem_carries_the_code_and_sentence_of_http(local: Cli, served: Served) -> None:
    nobody = "01890000-0000-7000-8000-000000000000"
    problem = local("memories", "history", nobody, "--json").problem
    answer = served.client.get(f"/v1/memories/{nobody}/history")
    assert answer.status_code == 404
    for field in ("code", "detail"):
        assert problem[field] == answer.json()[field]


def test_what_is_uploaded_over_http_the_command_line_sees(local: Cli, served: Served) -> None:
    files = {"file": ("tea.md", b"# Tea\n\nOolong takes three minutes.\n")}
    taken: Any = served.client.post("/v1/knowledge/sources", files=files)
    assert taken.status_code == 202
    deadline = time.monotonic() + 30
    while local.json("knowledge", "show", taken.json()["id"])["status"] != "ready":
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_the_server_asks_for_a_key(served: Served) -> None:
    assert httpx.get(f"{served.url}/v1/memories").status_code == 401
