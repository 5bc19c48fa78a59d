"""What the command line is for, from an empty database to a brief, on both backends."""

import asyncio
import json
from pathlib import Path

from memoranda.access.models import LOCAL_OPERATOR
from memoranda.app import Memoranda
from tests.surfaces.cli.terminal import Cli

GUIDE = """# Guide

## Tea

Oolong is steeped for three minutes at ninety degrees.

## Coffee

Espresso takes twenty-five seconds.
"""


def guide(folder: Path) -> str:
    path = folder / "guide.md"
    path.write_text(GUIDE, "utf-8")
    return str(path)


def test_a_key_is_made_and_shown_once(cli: Cli) -> None:
    made = cli.json("keys", "create", "--role", "owner")
    assert made["key"].startswith("mk_")
    assert made["organization_id"]
    listed = cli("keys", "list", "--json")
    assert made["id"] in listed.out
    assert made["key"] not in listed.out + cli("keys", "list").out


def test_a_document_is_added_and_found(cli: Cli, tmp_path: Path) -> None:
    added = cli.json("knowledge", "add", guide(tmp_path))
    assert (added["status"], added["kind"], added["reason"]) == ("ready", "markdown", None)
    found = cli.json("knowledge", "search", "how long is oolong steeped", "--limit", "1")
    assert [each["source_id"] for each in found["results"]] == [added["id"]]
    assert "three minutes" in found["results"][0]["text"]
    assert found["semantic"] is True
    assert [each["id"] for each in cli.json("knowledge", "list")["items"]] == [added["id"]]


def test_a_transcript_is_found_turn_by_turn(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    turns = [
        {"id": "D1:1", "speaker": "Ada", "text": "My kayak is green."},
        {"id": "D1:2", "speaker": "Bo", "text": "Mine is a canoe."},
    ]
    path.write_text("".join(json.dumps(turn) + "\n" for turn in turns), "utf-8")
    added = cli.json("knowledge", "add", str(path), "--kind", "transcript", "--title", "Talk")
    assert (added["status"], added["title"]) == ("ready", "Talk")
    best = cli.json("knowledge", "search", "green kayak")["results"][0]
    assert best["external_id"] == "D1:1"


def test_a_fact_is_remembered_replaced_and_forgotten(cli: Cli) -> None:
    first = cli.json("remember", "Tea is at four.", "--attribute", "preference.tea")
    second = cli.json("remember", "Tea is at five.", "--attribute", "preference.tea")
    assert second["id"] == first["id"]
    assert [each["text"] for each in cli.json("memories")["items"]] == ["Tea is at five."]
    assert cli.json("forget", first["id"])["status"] == "forgotten"
    assert cli.json("memories")["items"] == []
    history = cli.json("memories", "history", first["id"])["items"]
    by_version = {each["version"]: each["text"] for each in history}
    assert by_version == {1: "Tea is at four.", 2: "Tea is at five.", 3: None}


def test_a_brief_holds_what_was_added_and_remembered(cli: Cli, tmp_path: Path) -> None:
    cli.json("knowledge", "add", guide(tmp_path))
    cli.json("users", "create", "Ada", "--external-id", "ada")
    cli.json("agents", "create", "host")
    cli.json("remember", "Ada takes milk.", "--user", "ada")
    cli.json("remember", "Guests are greeted by name.", "--agent", "host")
    brief = cli.json("brief", "-q", "oolong", "--user", "ada", "--agent", "host", "--explain")
    for fact in ("Ada takes milk.", "Guests are greeted by name.", "three minutes"):
        assert fact in brief["text"]
    assert brief["failed_sources"] == []
    assert {each["outcome"] for each in brief["explain"]} == {"kept"}
    other = cli.json("brief", "-q", "oolong", "--agent", "host")
    assert "milk" not in other["text"]
    assert other["explain"] is None


def test_a_tight_budget_drops_and_says_why(cli: Cli, tmp_path: Path) -> None:
    cli.json("knowledge", "add", guide(tmp_path))
    brief = cli.json("brief", "-q", "oolong espresso", "--budget", "5", "--explain")
    assert brief["tokens"] <= 5
    assert {each["outcome"] for each in brief["explain"]} == {"over_total_budget"}
    told = cli("brief", "-q", "oolong espresso", "--budget", "5").out
    assert "Dropped, and why" in told
    assert "the whole budget was spent" in told


def test_a_person_sees_the_text_and_the_budget(cli: Cli) -> None:
    cli.json("remember", "Tea is at [bold]five[/bold].")
    told = cli("brief", "-q", "when is tea").out
    assert "Tea is at" in told
    assert "Budget" in told
    assert "Nothing was dropped." in told


def test_a_policy_is_published_and_used(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "small.json"
    policy = {"sources": [{"name": "memory", "token_budget": 50}], "total_token_budget": 60}
    path.write_text(json.dumps(policy), "utf-8")
    assert cli.json("policies", "publish", str(path))["version"] == 1
    assert cli.json("policies", "publish", str(path))["version"] == 2
    names = [each["name"] for each in cli.json("policies", "list")["items"]]
    assert {"default", "front_door", "small"} <= set(names)
    shown = cli.json("policies", "show", "small", "--version", "1")
    assert shown["policy"]["total_token_budget"] == 60
    cli.json("remember", "Tea is at five.")
    brief = cli.json("brief", "-q", "tea", "--policy", "small")
    assert list(brief["per_source_tokens"]) == ["memory"]


def test_a_conversation_reaches_the_brief(cli: Cli, tmp_path: Path) -> None:
    talk = cli.json("conversations", "create")
    cli.json("conversations", "append", talk["id"], "Is there any oolong?")
    path = tmp_path / "more.json"
    path.write_text(json.dumps([{"role": "assistant", "content": "There is."}]), "utf-8")
    longer = cli.json(
        "conversations", "append", talk["id"], "--file", str(path), "--expected-length", "1"
    )
    assert longer["length"] == 2
    shown = cli.json("conversations", "show", talk["id"])
    assert [each["content"] for each in shown["messages"]] == ["Is there any oolong?", "There is."]
    assert [each["id"] for each in cli.json("conversations", "list")["items"]] == [talk["id"]]
    brief = cli.json("brief", "-q", "oolong", "--conversation", talk["id"])
    assert "Is there any oolong?" in brief["text"]


def test_a_run_is_started_and_shown(cli: Cli) -> None:
    agent = cli.json("agents", "create", "host")
    run = cli.json("runs", "create", "--agent", "host", "--input", '{"topic": "tea"}')
    assert run["agent_id"] == agent["id"]
    assert cli.json("runs", "show", run["id"]) == run
    assert cli.json("runs", "logs", run["id"]) == {"items": [], "next_cursor": None}


def test_another_organization_has_rows_of_its_own(cli: Cli) -> None:
    made = cli.json("organizations", "create", "Other", "--external-id", "other")
    theirs = made["organization"]["id"]
    assert made["key"]["key"].startswith("mk_")
    cli.json("remember", "Ours alone.")
    cli.json("remember", "Theirs alone.", "--organization", theirs)
    assert [each["text"] for each in cli.json("memories")["items"]] == ["Ours alone."]
    for name in (theirs, "other"):
        told = cli.json("memories", "--organization", name)["items"]
        assert [each["text"] for each in told] == ["Theirs alone."]
    names = [each["name"] for each in cli.json("organizations", "list")["items"]]
    assert "Other" in names


def test_an_organization_is_found_however_many_there_are(local: Cli) -> None:
    async def make() -> None:
        async with Memoranda.open(local.db) as memoranda:
            for number in range(101):
                await memoranda.access.create_organization(
                    LOCAL_OPERATOR, f"Tenant {number}", external_id=f"tenant-{number}"
                )

    asyncio.run(make())
    assert local.json("memories", "--organization", "tenant-100")["items"] == []


def test_a_document_of_the_platform_is_for_every_organization(cli: Cli, tmp_path: Path) -> None:
    cli.json("organizations", "create", "Other", "--external-id", "other")
    added = cli.json("knowledge", "add", guide(tmp_path), "--platform")
    assert (added["status"], added["organization_id"]) == ("ready", None)
    search = ("knowledge", "search", "oolong", "--organization", "other")
    assert cli.json(*search)["results"] == []
    assert cli.json(*search, "--platform")["results"][0]["source_id"] == added["id"]


def test_a_list_goes_on_where_it_ended(cli: Cli) -> None:
    for number in range(3):
        cli.json("users", "create", f"User {number}")
        cli.json("remember", f"Fact {number}.")
    first = cli.json("memories", "--limit", "2")
    rest = cli.json("memories", "--limit", "2", "--cursor", first["next_cursor"])
    texts = [each["text"] for each in first["items"] + rest["items"]]
    assert texts == ["Fact 2.", "Fact 1.", "Fact 0."]
    assert rest["next_cursor"] is None
    everybody = [each["id"] for each in cli.json("users", "list")["items"]]
    page = cli.json("users", "list", "--limit", "2")
    after = cli.json("users", "list", "--cursor", page["next_cursor"])
    assert [each["id"] for each in page["items"] + after["items"]] == everybody
    assert f"--cursor {page['next_cursor']}" in cli("users", "list", "--limit", "2").out


def test_a_revoked_key_is_listed_as_revoked(cli: Cli) -> None:
    made = cli.json("keys", "create", "--role", "read_only", "--name", "report")
    assert cli.json("keys", "revoke", made["id"])["revoked_at"]
    listed = {each["id"]: each for each in cli.json("keys", "list")["items"]}
    assert listed[made["id"]]["revoked_at"]


def test_operators_keys_are_listed_and_revoked_by_whoever_opened_the_database(cli: Cli) -> None:
    made = cli.json("keys", "create", "--role", "operator", "--name", "night shift")
    assert "--operator" in cli("keys", "create", "--role", "operator").out
    assert "--operator" not in cli("keys", "create", "--role", "owner").out
    assert made["id"] not in cli("keys", "list").out
    assert cli("keys", "revoke", made["id"]).code == 3
    assert made["id"] in cli("keys", "list", "--operator").out
    assert cli.json("keys", "revoke", made["id"], "--operator")["revoked_at"]


def test_a_policy_that_was_shown_can_be_published(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(cli("policies", "show", "default", "--json").out, "utf-8")
    made = cli.json("policies", "publish", str(path), "--name", "mine")
    assert (made["name"], made["version"]) == ("mine", 1)
    assert made["policy"] == cli.json("policies", "show", "default")["policy"]
    path.write_text(cli("policies", "show", "mine", "--json").out, "utf-8")
    again = cli.json("policies", "publish", str(path))
    assert (again["name"], again["version"]) == ("mine", 2)
    path.write_text(json.dumps(made["policy"]), "utf-8")
    assert cli.json("policies", "publish", str(path))["name"] == "p"


def test_what_was_dropped_is_known_by_its_first_words(cli: Cli) -> None:
    cli.json("remember", "Orders ship from Leipzig, and from nowhere else in all of the country.")
    shown = cli("brief", "orders", "--budget", "10").out
    assert "Orders ship from Leipzig, and from nowhere else in all of…" in shown
    for budget in ("10", "900"):
        entry = cli.json("brief", "orders", "--budget", budget, "--explain")["explain"][0]
        assert entry["excerpt"] == "Orders ship from Leipzig, and from nowhere else in all of…"
