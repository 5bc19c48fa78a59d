"""Every command about runs, on both backends: what is shown, what is answered, how it ends."""

import asyncio
from uuid import UUID

import pytest

from memoranda.app import Memoranda
from tests.surfaces.cli.terminal import Cli
from tests.surfaces.cli.test_memory_commands import NOBODY, card, kept, refused


@pytest.fixture(autouse=True)
def without_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")


def started(cli: Cli, *words: str) -> str:
    return str(cli.json("runs", "create", *words)["id"])


def test_a_run_waits_goes_on_and_is_completed_with_what_it_came_to(cli: Cli) -> None:
    run = started(cli)
    assert card(cli("runs", "wait", run, "Approval of the offer"))["status"] == "waiting"
    assert card(cli("runs", "show", run))["waiting_reason"] == "Approval of the offer"
    assert card(cli("runs", "resume", run))["stage"] == "1"
    words = ("--summary", "Sent.", "--ref", "crm.deal:7", "--ref", "url:https://a.b/c")
    done = cli.json("runs", "complete", run, *words)
    assert done["result"] == {
        "summary": "Sent.",
        "refs": [
            {"kind": "crm.deal", "id": "7", "label": None},
            {"kind": "url", "id": "https://a.b/c", "label": None},
        ],
    }
    shown = card(cli("runs", "show", run))
    assert (shown["result"], shown["refs"]) == ("Sent.", "crm.deal:7, url:https://a.b/c")


def test_a_run_that_has_ended_is_a_conflict_that_names_its_status(cli: Cli) -> None:
    failed, cancelled = started(cli), started(cli)
    assert cli.json("runs", "fail", failed, "No answer")["failure_reason"] == "No answer"
    assert cli.json("runs", "cancel", cancelled)["status"] == "cancelled"
    for words in (("resume", failed), ("complete", cancelled), ("wait", failed, "x")):
        assert refused(cli, "runs", *words) == (4, "conflict")
    assert "failed" in cli("runs", "cancel", failed).err


def test_what_a_run_logged_is_told_in_fields_and_not_as_a_program_writes_it(cli: Cli) -> None:
    run = started(cli, "--input", '{"ask": "Tea?", "deep": {"on": true}}')

    async def log() -> None:
        async with Memoranda.open(cli.db) as memoranda:
            said = {"by": "scout", "count": 3, "done": False, "found": ["a", "b"], "why": None}
            await memoranda.runs.log(memoranda.owner, UUID(run), "looked", metadata=said)

    asyncio.run(log())
    shown = " ".join(cli("runs", "logs", run).out.split())
    assert 'by=scout, count=3, done=false, found=["a", "b"], why=null' in shown
    assert card(cli("runs", "show", run))["input"] == 'ask=Tea?, deep={"on": true}'


def test_what_names_no_run_row_or_status_is_refused(cli: Cli) -> None:
    run = started(cli)
    assert refused(cli, "runs", "cancel", NOBODY) == (3, "not_found")
    assert refused(cli, "runs", "complete", run, "--ref", "crm.deal") == (5, "invalid_input")
    assert refused(cli, "runs", "list", "--status", "asleep") == (5, "invalid_input")
    assert cli.json("runs", "show", run)["status"] == "running"


def test_runs_are_listed_by_status_agent_user_and_parent(cli: Cli) -> None:
    cli("agents", "create", "clerk")
    cli("users", "create", "Ada", "--external-id", "ada")
    parent = started(cli)
    child = started(cli, "--parent", parent, "--agent", "clerk", "--user", "ada")
    cli("runs", "wait", child, "Approval")

    def listed(*words: str) -> list[str]:
        return [each["id"] for each in cli.json("runs", "list", *words)["items"]]

    assert listed() == [child, parent]
    for words in (("--status", "waiting"), ("--agent", "clerk"), ("--user", "ada")):
        assert listed(*words) == [child]
    assert listed("--parent", parent) == [child]
    assert listed("--status", "failed") == []
    shown = cli("runs", "list").out
    assert all(word in shown for word in ("Approval", "waiting", "Ada with clerk", parent))
    assert "There is no such run." in cli("runs", "list", "--status", "failed").out
    first = cli.json("runs", "list", "--limit", "1")
    assert listed("--cursor", first["next_cursor"]) == [parent]


def test_a_run_shows_the_block_that_it_was_given(cli: Cli) -> None:
    memory = kept(cli, "Tea is at five.")
    run = started(cli)
    assert refused(cli, "runs", "block", run) == (3, "not_found")
    built = cli.json("runs", "brief", run, "tea")
    kept(cli, "Coffee is at six.")
    assert (built["built"], cli.json("runs", "brief", run, "tea")["built"]) == (True, False)
    read = cli.json("runs", "block", run, "--stage", "0")
    assert read["brief"]["text"] == built["brief"]["text"]
    shown = cli("runs", "block", run, "--explain").out
    assert "Tea is at five." in shown
    assert "What became of each item" in shown
    assert "Coffee" not in shown
    assert "Coffee" in cli("runs", "brief", run, "tea", "--refresh").out
    cli("memories", "erase", memory)
    assert refused(cli, "runs", "block", run)[1] == "erased"
