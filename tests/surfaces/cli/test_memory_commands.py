"""Every command about memories: what a person reads, what a script reads, and how it ends."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from memoranda.app import Memoranda
from memoranda.settings import Settings
from tests.surfaces.cli.terminal import Cli, Ended

NOBODY = "01890000-0000-7000-8000-000000000000"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits that a test can reach, and no embedder to wait for."""
    for name, value in (("EMBEDDER", "none"), ("MAX_MEMORIES", "4"), ("MAX_PINNED", "1")):
        monkeypatch.setenv(f"MEMORANDA_{name}", value)


def kept(cli: Cli, text: str = "Ada takes milk.", *words: str) -> str:
    made: str = cli.json("remember", text, *words)["id"]
    return made


def texts(cli: Cli, *words: str) -> list[str]:
    return [each["text"] for each in cli.json("memories", *words)["items"]]


def timeless(text: str) -> str:
    """The text without how many seconds are left, which a second command has fewer of."""
    return re.sub(r"\d+ seconds", "some seconds", text)


def refused(cli: Cli, *words: str) -> tuple[int, str]:
    """The exit code and the problem's code, which a script and a person are told alike."""
    for_script, for_person = cli(*words, "--json"), cli(*words)
    problem = for_script.problem
    assert for_script.code == for_person.code == problem["exit_code"]
    assert (for_script.out, for_person.out) == ("", "")
    told = for_person.err.replace("Error: ", "").replace("\n", " ")
    assert timeless(problem["detail"]) in timeless(told)
    return for_script.code, problem["code"]


def test_who_names_a_user_is_told_what_is_kept_from_its_runs_and_how_to_see_it(cli: Cli) -> None:
    cli.json("users", "create", "Ada", "--external-id", "ada")
    kept(cli, "Signs nothing in June.", "--user", "ada", "--about", "crm.company:1")
    told = "1 more memory is about rows of your application that are not there"
    for words in (("memories", "--user", "ada"), ("memories", "search", "June", "--user", "ada")):
        shown = cli(*words).out
        assert "Signs nothing in June." not in shown
        assert told in shown
        assert "Leave out --user and --agent to see them." in shown
        assert cli.json(*words)["hidden"] == 1
    assert "Signs nothing in June." in cli("memories").out
    assert told not in cli("memories").out


def card(ended: Ended, code: int = 0) -> dict[str, str]:
    """The lines of a card, by their names."""
    assert ended.code == code, ended.err
    assert ended.err == ""
    lines = [line.split("  ", 1) for line in ended.out.splitlines()]
    return {name.strip(): value.strip() for name, value in lines}


# --- edit ----------------------------------------------------------------------------------------


def test_a_memory_is_edited_field_by_field(cli: Cli) -> None:
    memory = kept(cli, "Tea at four.", "--title", "Tea", "--category", "home", "--tag", "a")
    shown = card(cli("memories", "edit", memory, "Tea at five."))
    assert shown == {
        "changed": memory,
        "text": "Tea at five.",
        "for": "everybody",
        "version": "2",
    }
    edited = cli.json("memories", "edit", memory, "--tag", "b", "--tag", "c", "--version", "2")
    assert (edited["text"], edited["title"], edited["category"]) == ("Tea at five.", "Tea", "home")
    assert (edited["tags"], edited["version"]) == (["b", "c"], 3)
    cleared = cli.json(
        "memories", "edit", memory, "--title", "", "--category", "", "--tag", "",
        "--expires-at", "2999-01-31",
    )  # fmt: skip
    assert (cleared["title"], cleared["category"], cleared["tags"]) == (None, None, [])
    assert cleared["expires_at"] == "2999-01-31T00:00:00Z"
    assert len(cli.json("memories", "history", memory)["items"]) == 4


def test_an_edit_that_can_not_be_is_refused_and_changes_nothing(cli: Cli) -> None:
    memory, other = kept(cli, "Tea at four."), kept(cli, "Milk at five.")
    edit = ("memories", "edit", memory)
    before = cli.json("memories")
    assert refused(cli, *edit) == (5, "invalid_input")
    assert refused(cli, *edit, "") == (5, "invalid_input")
    assert refused(cli, *edit, "x" * 501) == (7, "over_limit")
    assert refused(cli, *edit, "--expires-at", "2020-01-31") == (5, "invalid_input")
    assert refused(cli, *edit, " milk AT five.") == (4, "duplicate_memory")
    assert refused(cli, *edit, "Tea.", "--version", "2") == (4, "stale_version")
    assert refused(cli, "memories", "edit", NOBODY, "Tea.") == (3, "not_found")
    stale = cli(*edit, "Tea.", "--version", "2", "--json").problem
    assert (stale["version"], stale["text"]) == (1, "Tea at four.")
    assert cli(*edit, " milk AT five.", "--json").problem["memory_id"] == other
    for words in ((*edit, "--version", "one"), ("memories", "edit", "x", "Tea.")):
        assert cli(*words).code == 2
    assert cli.json("memories") == before


# --- pin, unpin, move, restore -------------------------------------------------------------------


def test_a_memory_is_pinned_and_unpinned_without_a_revision(cli: Cli) -> None:
    tea, milk = kept(cli, "Tea."), kept(cli, "Milk.")
    assert "Nothing is pinned" in cli("memories", "--pinned").out
    assert card(cli("memories", "pin", tea))["pinned"] == tea
    assert texts(cli, "--pinned") == ["Tea."]
    assert "pinned" in cli("memories").out
    assert cli.json("memories", "pin", tea)["version"] == 1
    assert refused(cli, "memories", "pin", milk) == (4, "pins_full")
    assert card(cli("memories", "unpin", tea))["unpinned"] == tea
    assert cli.json("memories", "pin", milk)["pinned"] is True
    assert texts(cli, "--pinned") == ["Milk."]
    for verb in ("pin", "unpin"):
        assert refused(cli, "memories", verb, NOBODY) == (3, "not_found")


def test_a_memory_is_moved_to_whom_is_named_and_gets_a_new_id(cli: Cli) -> None:
    cli.json("users", "create", "Ada", "--external-id", "ada")
    cli.json("agents", "create", "host")
    memory = kept(cli, "Takes milk.")
    shown = card(cli("memories", "move", memory, "--user", "ada", "--agent", "host"))
    assert shown["moved to"] != memory
    assert "Ada" in shown["for"]
    assert "host" in shown["for"]
    assert texts(cli, "--user", "ada", "--agent", "host") == ["Takes milk."]
    assert f"goes on as {shown['moved to']}" in cli("memories", "history", memory).out
    assert refused(cli, "memories", "move", memory, "--user", "ada") == (4, "conflict")
    for words in (("--user", "bob"), ("--agent", "nobody")):
        assert refused(cli, "memories", "move", shown["moved to"], *words) == (3, "not_found")
    stale = ("memories", "move", shown["moved to"], "--version", "9")
    assert refused(cli, *stale) == (4, "stale_version")
    back = cli.json("memories", "move", shown["moved to"])
    assert (back["user_id"], back["agent_id"]) == (None, None)
    again = cli.json("memories", "move", back["id"])
    assert again["id"] == back["id"], "what is so already is left"


def test_a_memory_is_restored_within_its_time(cli: Cli) -> None:
    memory = kept(cli, "Tea.")
    assert refused(cli, "memories", "restore", memory) == (4, "conflict")
    forgotten = card(cli("forget", memory, "--version", "1"))
    assert forgotten["forgotten"] == memory
    assert forgotten["restorable until"] > datetime.now(UTC).strftime("%Y-%m-%d")
    assert refused(cli, "forget", memory) == (4, "conflict")
    assert texts(cli, "--forgotten") == ["Tea."]
    assert card(cli("memories", "restore", memory)) == {
        "restored": memory,
        "text": "Tea.",
        "for": "everybody",
        "version": "3",
    }
    assert "Nothing is forgotten that could be restored." in cli("memories", "--forgotten").out
    assert refused(cli, "memories", "restore", NOBODY) == (3, "not_found")
    long_ago(cli, memory)
    assert refused(cli, "memories", "restore", memory) == (8, "not_restorable")


def long_ago(cli: Cli, memory: str) -> None:
    """Let a memory have been forgotten 40 days ago."""

    async def forget() -> None:
        past = datetime.now(UTC) - timedelta(days=40)
        settings = Settings(embedder="none")
        async with Memoranda.open(cli.db, settings=settings, clock=lambda: past) as memoranda:
            await memoranda.memories.forget(memoranda.owner, UUID(memory))

    asyncio.run(forget())


def test_the_memory_that_has_no_room_is_refused(cli: Cli) -> None:
    for number in range(4):
        kept(cli, f"Tea {number}.")
    assert refused(cli, "remember", "One more.") == (4, "memories_full")
    assert cli("remember", "One more.", "--json").problem["limit"] == 4


# --- lists, search, stats, recall ----------------------------------------------------------------


def test_a_list_goes_back_in_time_and_the_other_way_round(cli: Cli) -> None:
    for number in range(3):
        kept(cli, f"Tea {number}.")
    assert texts(cli) == ["Tea 2.", "Tea 1.", "Tea 0."]
    assert texts(cli, "--oldest-first") == ["Tea 0.", "Tea 1.", "Tea 2."]
    assert texts(cli, "--as-of", "2020-01-31") == []
    assert texts(cli, "--as-of", "2999-01-31T09:00Z", "--limit", "1") == ["Tea 2."]
    both = ("memories", "--forgotten", "--as-of", "2999-01-31")
    assert refused(cli, *both) == (5, "invalid_input")
    for limit in ("0", "201", "-1"):
        assert refused(cli, "memories", "--limit", limit) == (5, "invalid_input")


def test_a_search_shows_the_score_and_why(cli: Cli) -> None:
    cli.json("users", "create", "Ada", "--external-id", "ada")
    kept(cli, "Oolong takes three minutes.", "--tag", "hot", "--category", "home")
    kept(cli, "Ada's oolong is cold.", "--user", "ada")
    shown = cli("memories", "search", "oolong minutes")
    assert shown.code == 0
    for part in (
        "Oolong takes three minutes.",
        "words: ",
        "minutes",
        "1.00",
        "no embedder answered",
    ):
        assert part in shown.out
    found = cli.json("memories", "search", "oolong")
    assert (found["semantic"], len(found["results"])) == (False, 2)
    assert all(each["match"]["literal"] for each in found["results"])
    narrowed: list[tuple[str, ...]] = [
        ("--tag", "hot"),
        ("--tag", "x", "--tag", "hot"),
        ("--category", "home"),
        ("--limit", "1", "--category", "home"),
    ]
    for words in narrowed:
        results = cli.json("memories", "search", "oolong", *words)["results"]
        assert [each["memory"]["text"] for each in results] == ["Oolong takes three minutes."]
    nothing = cli("memories", "search", "refund policy")
    assert "Nothing was found." in nothing.out
    assert refused(cli, "memories", "search", " ") == (5, "invalid_input")
    assert refused(cli, "memories", "search", "tea", "--limit", "51") == (5, "invalid_input")
    assert refused(cli, "memories", "search", "tea", "--user", "bob") == (3, "not_found")
    assert cli("memories", "search").code == 2


def test_stats_count_beside_the_limits(cli: Cli) -> None:
    kept(cli, "Tea.", "--pin")
    cli.json("forget", kept(cli, "Milk."))
    cli.json("proposals", "propose", "Sugar.")
    shown = card(cli("memories", "stats"))
    assert shown == {
        "active": "1 of 4",
        "pinned": "1 of 1",
        "proposed": "1 of 200",
        "forgotten": "1",
        "proposals dropped": "0",
        "found by meaning": "no",
        "not embedded yet": "1",
    }
    counted = cli.json("memories", "stats")
    assert (counted["active"], counted["capacity"], counted["semantic"]) == (1, 4, False)


def test_a_recall_shows_the_block_as_it_reaches_the_model(cli: Cli) -> None:
    cli.json("users", "create", "Ada", "--external-id", "ada")
    empty = cli("recall", "How should I answer?")
    assert empty.code == 0
    assert "<memoranda-memories>" in empty.out
    kept(cli, "Answer in [red]three[/red] sentences.", "--pin", "--user", "ada")
    shown = cli("recall", "How should I answer?", "--user", "ada")
    recalled = cli.json("recall", "How should I answer?", "--user", "ada")
    assert recalled["block"] in shown.out
    assert "[red]three[/red]" in shown.out
    assert re.search(rf"1 memor(y|ies), {recalled['tokens']} tokens", shown.out)
    assert recalled["outcome"] == "found"
    assert cli.json("recall", "How should I answer?")["memories"] == []
    run = cli.json("runs", "create", "--user", "ada")["id"]
    cli.json("recall", "How?", "--user", "ada", "--run", run)
    steps = [each["step"] for each in cli.json("runs", "logs", run)["items"]]
    assert steps == ["memory-recall"]
    assert refused(cli, "recall", "How?", "--run", NOBODY) == (3, "not_found")
    assert refused(cli, "recall", "How?", "--agent", "x") == (3, "not_found")


# --- forget-all, erase, erase-user ---------------------------------------------------------------


def test_all_is_forgotten_at_the_very_words(cli: Cli) -> None:
    kept(cli, "Tea.")
    cli.json("proposals", "propose", "Sugar.")
    every: list[tuple[str, ...]] = [(), ("--confirm", "forget all"), ("--confirm", "FORGET ALL ")]
    for words in every:
        assert refused(cli, "memories", "forget-all", *words) == (5, "invalid_input")
    assert texts(cli) == ["Tea."]
    sure = ("memories", "forget-all", "--confirm", "FORGET ALL")
    assert re.search(r"\b1 memor", cli(*sure).out)
    assert (texts(cli), cli.json("proposals")["items"]) == ([], [])
    assert cli.json(*sure) == {"forgotten": 0}
    assert cli(*sure).code == 0
    assert refused(cli, *sure) == (7, "too_often")


def test_a_memory_is_erased_for_good(cli: Cli) -> None:
    memory = kept(cli, "Ada takes oat milk.")
    talk = cli.json("conversations", "create")["id"]
    cli.json("conversations", "append", talk, "I know: Ada takes oat milk.")
    shown = cli("memories", "erase", memory)
    assert shown.code == 0
    assert re.search(r"\b1 memor", shown.out)
    assert talk in shown.out
    assert refused(cli, "memories", "history", memory) == (3, "not_found")
    assert refused(cli, "memories", "restore", memory) == (8, "not_restorable")
    assert cli.json("memories", "erase", memory)["memories"] == 0
    assert refused(cli, "memories", "erase", NOBODY) == (3, "not_found")


def test_all_that_is_a_users_is_erased(cli: Cli) -> None:
    ada: Any = cli.json("users", "create", "Ada", "--external-id", "ada")
    for number, words in enumerate((("--user", "ada"), ("--user", ada["id"]), ())):
        kept(cli, f"Tea {number}.", *words)
    cli.json("proposals", "propose", "Milk.", "--user", "ada")
    cli.json("conversations", "create", "--user", "ada")
    sure = ("--confirm", "ERASE USER")
    for slip in ((), ("--confirm", "erase user"), ("--confirm", "FORGET ALL")):
        assert refused(cli, "memories", "erase-user", "ada", *slip) == (5, "invalid_input")
    assert len(texts(cli)) == 3
    shown = cli("memories", "erase-user", "ada", *sure)
    assert re.search(r"\b2 memories and 1 proposal", shown.out)
    assert "0 chats, 1 conversation, and 0 things" in " ".join(shown.out.split())
    assert texts(cli) == ["Tea 2."]
    again = cli.json("memories", "erase-user", ada["id"], *sure)
    assert (again["memories"], again["conversations"], again["quoted_in"]) == (0, 0, [])
    assert refused(cli, "memories", "erase-user", "bob", *sure) == (3, "not_found")
    assert cli("memories", "erase-user").code == 2
