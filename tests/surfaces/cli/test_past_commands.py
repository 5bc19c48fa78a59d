"""Briefs of past times on the command line."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from memoranda import Memoranda
from tests.surfaces.cli.terminal import Cli
from tests.surfaces.cli.test_memory_commands import kept, refused


@pytest.fixture(autouse=True)
def without_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")


def test_a_brief_of_then_says_loudly_which_sources_can_not_tell_of_it(cli: Cli) -> None:
    memory = kept(cli, "Deliveries take a week.")
    then = datetime.now(UTC).isoformat()
    cli("forget", memory)
    assert "a week" not in cli("brief", "deliveries").out
    shown = cli("brief", "deliveries", "--as-of", then).out
    assert "Deliveries take a week." in shown
    assert "Unavailable sources: dossier, definition_summary, knowledge." in shown
    assert f"As of {then[:10]}" in shown
    assert "dossier can't look back. It tells what is there now" in shown
    assert "memory: A memory about a row" in shown
    told = cli.json("brief", "deliveries", "--as-of", then)
    assert told["failure_reasons"]["knowledge"] == "present_only"
    assert refused(cli, "brief", "q", "--as-of", "2999-01-01T00:00Z") == (5, "invalid_input")


def test_a_block_whose_words_are_no_longer_kept_shows_what_it_was_made_of(cli: Cli) -> None:
    memory = kept(cli, "Deliveries take a week.")
    run = str(cli.json("runs", "create")["id"])
    assert "a week" in cli("runs", "brief", run, "deliveries").out
    cli.json("runs", "complete", run)

    async def months_pass() -> int:
        later = datetime.now(UTC) + timedelta(days=100)
        async with Memoranda.open(cli.db, clock=lambda: later, migrate=False) as memoranda:
            organization = memoranda.owner.organization_id
            assert organization is not None
            return await memoranda.briefs.prune_blocks(organization)

    assert asyncio.run(months_pass()) == 1
    shown = cli("runs", "block", run, "--explain").out
    assert "The text is no longer kept." in shown
    assert f"memory:{memory}" in shown
    assert "a week" not in shown
    assert cli.json("runs", "block", run)["pruned"] is True
    assert refused(cli, "runs", "brief", run, "deliveries") == (8, "gone")
