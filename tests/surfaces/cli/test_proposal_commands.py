"""Every command about proposals, on both backends: what is shown, what is answered, how it ends."""

from pathlib import Path

import pytest

from tests.surfaces.cli.terminal import Cli
from tests.surfaces.cli.test_memory_commands import NOBODY, card, kept, long_ago, refused, texts


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test can reach, and no embedder to wait for."""
    for name, value in (("EMBEDDER", "none"), ("MAX_MEMORIES", "3"), ("MAX_PROPOSALS", "2")):
        monkeypatch.setenv(f"MEMORANDA_{name}", value)


def proposed(cli: Cli, text: str, *words: str) -> str:
    made = cli.json("proposals", "propose", text, *words)
    assert made["outcome"] == "waiting"
    identity: str = made["proposal"]["id"]
    return identity


def test_a_proposal_waits_is_known_or_has_no_room(cli: Cli) -> None:
    assert "No proposal waits for anybody." in cli("proposals").out
    cli.json("agents", "create", "host")
    memory = kept(cli, "Tea.")
    assert card(cli("proposals", "propose", "tea.")) == {"outcome": "known", "memory": memory}
    waiting = card(cli("proposals", "propose", "Milk.", "--agent", "host"))
    assert waiting["outcome"] == "waiting"
    again = card(cli("proposals", "propose", "milk.", "--agent", "host"))
    assert again == {"outcome": "known", "proposal": waiting["proposal"]}
    shown = cli("proposals").out
    for part in ("Milk.", waiting["proposal"], "remembers", "host"):
        assert part in shown
    run = cli.json("runs", "create")["id"]
    proposed(cli, "Sugar.", "--attribute", "preference.sugar")
    assert "preference.sugar" in cli("proposals").out
    dropped = cli("proposals", "propose", "Honey.", "--run", run)
    assert card(dropped) == {"outcome": "dropped"}
    steps = [each["step"] for each in cli.json("runs", "logs", run)["items"]]
    assert steps == ["memory-capture"]
    assert cli.json("memories", "stats")["dropped"] == 1
    assert texts(cli) == ["Tea."], "what is proposed is no memory"


def test_what_can_not_be_proposed_is_refused(cli: Cli) -> None:
    propose = ("proposals", "propose")
    assert refused(cli, *propose, " ") == (5, "invalid_input")
    assert refused(cli, *propose, "x" * 501) == (7, "over_limit")
    assert refused(cli, *propose, "Tea.", "--attribute", "tone") == (5, "invalid_input")
    assert refused(cli, *propose, "Tea.", "--agent", "nobody") == (3, "not_found")
    assert refused(cli, *propose, "Tea.", "--user", "bob") == (3, "not_found")
    assert cli.json("proposals")["items"] == []


def test_a_proposal_is_accepted_as_it_was_or_corrected(cli: Cli) -> None:
    first, second = proposed(cli, "Milk."), proposed(cli, "Sugar.")
    accepted = card(cli("proposals", "accept", first))
    assert accepted == {"remembered": first, "text": "Milk."}
    assert cli.json("proposals", "accept", second, "--text", "No sugar.")["id"] == second
    assert texts(cli) == ["No sugar.", "Milk."]
    for verb in ("accept", "discard", "restore"):
        assert refused(cli, "proposals", verb, first) == (4, "conflict"), verb
        assert refused(cli, "proposals", verb, NOBODY) == (3, "not_found"), verb
        assert cli("proposals", verb, "x").code == 2
    assert cli("proposals", "accept", first, "--json").problem["memory_id"] == first
    third = proposed(cli, "Honey.")
    assert refused(cli, "proposals", "accept", third, "--text", "") == (5, "invalid_input")
    assert refused(cli, "proposals", "accept", third, "--text", "milk.") == (4, "duplicate_memory")
    kept(cli, "Tea.")
    assert refused(cli, "proposals", "accept", third) == (4, "memories_full")
    assert [each["id"] for each in cli.json("proposals")["items"]] == [third]


def test_a_proposal_is_discarded_and_comes_back(cli: Cli) -> None:
    assert "Nothing is discarded." in cli("proposals", "--discarded").out
    first, second = proposed(cli, "Milk."), proposed(cli, "Sugar.")
    discarded = card(cli("proposals", "discard", first))
    assert discarded["discarded"] == first
    assert discarded["restorable until"]
    assert refused(cli, "proposals", "discard", first) == (4, "conflict")
    assert refused(cli, "proposals", "accept", first) == (4, "conflict")
    assert refused(cli, "proposals", "restore", second) == (4, "conflict")
    assert "Milk." in cli("proposals", "--discarded").out
    assert [each["id"] for each in cli.json("proposals")["items"]] == [second]
    restored = card(cli("proposals", "restore", first))
    assert restored == {"remembered": first, "text": "Milk."}
    assert texts(cli) == ["Milk."]
    cli.json("proposals", "discard", second)
    kept(cli, "Sugar.")
    assert refused(cli, "proposals", "restore", second) == (4, "duplicate_memory")
    long_ago(cli, first)
    assert refused(cli, "memories", "restore", first) == (8, "not_restorable")


def test_a_list_of_proposals_goes_on_where_it_ended(cli: Cli) -> None:
    ids = [proposed(cli, text) for text in ("Milk.", "Sugar.")]
    first = cli.json("proposals", "--limit", "1")
    assert "There are more: add --cursor" in cli("proposals", "--limit", "1").out
    rest = cli.json("proposals", "--limit", "1", "--cursor", first["next_cursor"])
    assert [each["id"] for each in first["items"] + rest["items"]] == ids[::-1]
    assert rest["next_cursor"] is None
    other = ("proposals", "--discarded", "--cursor", first["next_cursor"])
    assert refused(cli, *other) == (5, "invalid_input")
    assert refused(cli, "proposals", "--limit", "0") == (5, "invalid_input")


def test_tidying_up_proposes_and_accepting_merges(cli: Cli) -> None:
    assert "Nothing says the same twice." in cli("memories", "tidy-up").out
    first = kept(cli, "The user likes tea")
    second = kept(cli, "User likes tea.")
    kept(cli, "The user doesn't like tea")
    shown = cli("memories", "tidy-up")
    assert shown.code == 0
    assert "merges 2" in shown.out
    assert cli.json("memories", "tidy-up")["items"] == []
    (merge,) = cli.json("proposals")["items"]
    assert {merge["memory_id"], *(each["id"] for each in merge["merges"])} == {first, second}
    assert len(texts(cli)) == 3
    merged = cli.json("proposals", "accept", merge["id"])
    assert (merged["id"], merged["origin"]) == (merge["memory_id"], "consolidation")
    assert len(texts(cli)) == 2


READING = [
    ("memories", "search", "tea"),
    ("memories", "stats"),
    ("memories", "--forgotten"),
    ("memories", "--pinned"),
    ("proposals",),
    ("proposals", "--discarded"),
    ("recall", "tea"),
]


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_what_only_reads_memories_makes_no_database(tmp_path: Path, words: tuple[str, ...]) -> None:
    path = tmp_path / "nots.db"
    ended = Cli(str(path))(*words, "--json")
    assert ended.code == 3
    assert f"There is no database at {path}" in ended.problem["detail"]
    assert not list(tmp_path.iterdir())
