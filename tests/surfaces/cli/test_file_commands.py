"""Every command about context files, on both backends: what is shown, what is written, how it ends."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from memoranda.access.models import Principal, Role
from memoranda.app import Memoranda
from memoranda.files.body import hash_of
from tests.surfaces.cli.terminal import Cli
from tests.surfaces.cli.test_memory_commands import NOBODY, card, kept, refused
from tests.words.made_secrets import made_secrets

BODY = "\ufeff---\r\ntitle: x\r\n---\r\n\r\nShort.  \r\n\t\x1b[31m"
NAMES = ["about-you", "organization", "people", "glossary", "voice", "roster"]


@pytest.fixture(autouse=True)
def without_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")


@pytest.fixture
def say(cli: Cli, tmp_path: Path) -> Any:
    """Writes a file from a file."""

    def write(name: str, body: str, *words: str) -> dict[str, Any]:
        path = tmp_path / "body.md"
        path.write_bytes(body.encode())
        done: dict[str, Any] = cli.json("files", "edit", name, str(path), *words)
        return done

    return write


def test_who_wrote_a_file_is_told_by_name(cli: Cli, say: Any) -> None:
    cli.json("agents", "create", "scout")
    say("voice", "Short.")

    async def noted() -> None:
        async with Memoranda.open(cli.db) as memoranda:
            users = await memoranda.access.users(memoranda.owner)
            names.extend(each.name for each in users.items)
            agent = await memoranda.access.agent(memoranda.owner, "scout")
            scout = Principal(
                organization_id=memoranda.owner.organization_id,
                role=Role.AGENT,
                agent_id=agent.id,
            )
            await memoranda.files.write(scout, "NOTES.md", "Tea.", hash_of(""), agent="scout")

    names: list[str] = []
    asyncio.run(noted())
    for words in (("history", "voice"), ("show", "voice"), ()):
        assert names[0] in cli("files", *words).out
    for words in (("history", "NOTES.md"), ("show", "NOTES.md"), ()):
        assert "scout" in cli("files", *words, "--agent", "scout").out


def test_files_are_listed_with_how_they_are_loaded(cli: Cli) -> None:
    listed = cli.json("files")
    assert [each["name"] for each in listed["items"]] == NAMES
    assert listed == cli.json("files", "list")
    assert listed["always_loaded"] == ["about-you", "voice"]
    shown = cli("files").out
    assert all(name in shown for name in [*NAMES, "always", "on_demand", "the system"])
    cli.json("agents", "create", "scout")
    assert "NOTES.md" in cli("files", "--agent", "scout").out
    assert refused(cli, "files", "--agent", "nobody") == (3, "not_found")


def test_a_list_says_how_much_of_its_files_arrives(cli: Cli, say: Any) -> None:
    assert "Of these, 0 of 1500 tokens reach every run." in cli("files").out
    say("voice", "A line that takes its room.\n" * 400)
    report = cli.json("load", "file", "voice")
    load = cli.json("files")["load"]
    assert load["segments"] == [report["segment"]]
    shown = cli("files").out
    assert f"Of these, {report['included']} of 1500 tokens reach every run." in shown
    assert f"{report['skipped_chars']} characters are skipped" in shown
    cli.json("agents", "create", "scout")
    assert "of 6200 tokens reach the agent's runs." in cli("files", "--agent", "scout").out


def test_a_file_is_written_and_printed_byte_for_byte(cli: Cli, say: Any) -> None:
    done = say("voice", BODY)
    assert (done["revision"], done["hash"]) == (2, hash_of(BODY))
    assert "body" not in done
    assert cli.json("files", "show", "voice")["body"] == BODY
    assert cli("files", "show", "voice", "--raw").out_bytes == BODY.encode()
    typed = cli("files", "edit", "voice", "-", typed=b"Typed.\r\n")
    assert card(typed)["hash"] == hash_of("Typed.\r\n")
    shown = cli("files", "show", "voice")
    assert "Typed." in shown.out
    assert hash_of("Typed.\r\n") in shown.out


def test_what_is_shown_to_a_person_moves_no_cursor(cli: Cli, say: Any) -> None:
    say("voice", f"{BODY}\n\x9bm\u202e")
    for words in (("show", "voice"), ("diff", "voice", "1")):
        shown = cli("files", *words).out
        assert "Short." in shown
        assert not {"\x1b", "\x9b", "\u202e"} & set(shown)


def test_nothing_is_written_over_what_has_changed(cli: Cli, say: Any, tmp_path: Path) -> None:
    read = cli.json("files", "show", "voice")["hash"]
    say("voice", "Mine.")
    path = tmp_path / "body.md"
    words = ("files", "edit", "voice", str(path), "--expected-hash", read)
    path.write_text("Yours.")
    assert refused(cli, *words) == (4, "file_changed")
    told = cli(*words, "--json").problem
    assert (told["current_body"], told["current_hash"]) == ("Mine.", hash_of("Mine."))
    assert cli.json("files", "show", "voice")["body"] == "Mine."
    assert say("voice", "Yours.", "--expected-hash", hash_of("Mine."))["revision"] == 3


def test_a_refusal_says_the_present_hash_and_the_command_that_goes_on(
    cli: Cli, say: Any, tmp_path: Path
) -> None:
    cli.json("agents", "create", "scout")
    old = hash_of("")
    path = tmp_path / "body.md"
    for name, words in (("voice", ()), ("NOTES.md", ("--agent", "scout"))):
        now = say(name, "Mine.", *words)["hash"]
        path.write_text("Yours.")
        for verb, last in (("edit", str(path)), ("propose", str(path)), ("restore", "1")):
            told = cli("files", verb, name, last, *words, "--expected-hash", old).err
            option = " ".join(("", *words))
            assert f"It has the hash {now} now." in told
            assert f"`memoranda files show {name}{option}`" in told
            assert f"memoranda files {verb} {name} {last}{option} --expected-hash {now}" in told
    change = cli.json("files", "propose", "voice", str(path))["id"]
    now = say("voice", "Else.")["hash"]
    told = cli("files", "apply", change).err
    assert f"memoranda files proposal {change}" in told
    assert f"memoranda files apply {change} --expected-hash {now}" in told
    assert "Mine." not in told + cli("files", "apply", change).out


def test_a_command_to_go_on_with_is_one_that_a_shell_takes_whatever_it_names(
    cli: Cli, say: Any, tmp_path: Path
) -> None:
    say("voice", "Mine.")
    path = tmp_path / "my `notes`; $(x).md"
    path.write_text("Yours.")
    told = cli("files", "edit", "voice", str(path), "--expected-hash", hash_of("")).err
    assert f"edit voice '{path}' --expected-hash" in told


def test_a_file_of_agents_without_an_agent_is_refused_with_how_to_name_one(
    cli: Cli, tmp_path: Path
) -> None:
    cli.json("agents", "create", "scout")
    path = tmp_path / "soul.md"
    path.write_text("Calm.")
    told = cli("files", "edit", "SOUL.md", str(path)).err
    assert f"memoranda files edit SOUL.md {path} --agent AGENT" in told
    assert "SOUL.md is a file of each agent" in cli("files", "show", "SOUL.md").err
    told = cli("files", "edit", "voice", str(path), "--agent", "scout").err
    assert "voice is the organization's" in told


def test_nothing_at_all_empties_a_file_only_on_wish(cli: Cli, say: Any, tmp_path: Path) -> None:
    say("voice", "Mine.")
    path = tmp_path / "empty.md"
    path.write_bytes(b"")
    for words in (("edit", "voice", "-"), ("edit", "voice", str(path)), ("propose", "voice", "-")):
        assert refused(cli, "files", *words) == (5, "invalid_input")
        assert "--empty" in cli("files", *words).err
    assert cli.json("files", "show", "voice")["body"] == "Mine."
    assert cli.json("files", "propose", "voice", "-", "--empty")["bytes"] == 0
    assert cli.json("files", "edit", "voice", "-", "--empty")["bytes"] == 0


def test_what_may_not_be_kept_is_refused(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "body.md"
    words = ("files", "edit", "voice", str(path))
    secret = next(made_secrets())
    for body, ended in (
        (b"x" * 65_537, (7, "file_too_large")),
        (b"x" * 1_000_001, (7, "file_too_large")),
        (b"\xff\xfe", (5, "invalid_input")),
        (b"a\0b", (5, "invalid_input")),
        (f"Key: {secret.value}".encode(), (5, "secret_found")),
    ):
        path.write_bytes(body)
        assert refused(cli, *words) == ended
    for told in (cli(*words), cli(*words, "--json"), cli("--traceback", *words)):
        assert secret.value not in told.out + told.err
    assert cli.json("files", "show", "voice")["revision"] == 1
    assert refused(cli, "files", "edit", "voice", str(tmp_path / "none")) == (3, "not_found")
    assert refused(cli, "files", "show", "tone") == (3, "unknown_file")


def test_how_a_file_is_loaded_is_set(cli: Cli) -> None:
    assert card(cli("files", "mode", "people", "always"))["loaded"] == "always"
    assert refused(cli, "files", "mode", "roster", "always") == (5, "always_loaded_full")
    told = cli("files", "mode", "roster", "always").err
    assert all(name in told for name in ("about-you", "people", "voice"))
    assert cli.json("files", "mode", "voice", "on_demand")["load_mode"] == "on_demand"
    assert cli("files", "mode", "voice", "sometimes").code == 2


def test_what_a_file_said_is_listed_compared_and_restored(cli: Cli, say: Any) -> None:
    say("voice", "One.\n")
    say("voice", "Two.\n")
    found = cli.json("files", "history", "voice")["items"]
    assert [each["number"] for each in found] == [3, 2, 1]
    assert [
        each["number"]
        for each in cli.json("files", "history", "voice", "--before", "3", "--limit", "1")["items"]
    ] == [2]
    shown = cli("files", "history", "voice").out
    assert all(word in shown for word in ("written", "created", "the system", hash_of("One.\n")))
    assert cli.json("files", "diff", "voice", "2")["diff"] == (
        "--- voice\n+++ voice\n@@ -1 +1 @@\n-One.\n+Two.\n"
    )
    assert "+One." in cli("files", "diff", "voice", "1", "2").out
    assert "Nothing differs." in cli("files", "diff", "voice", "3").out
    assert cli.json("files", "show", "voice", "--revision", "2")["body"] == "One.\n"
    at = found[0]["written_at"]
    assert cli.json("files", "show", "voice", "--at", at)["body"] == "Two.\n"
    assert refused(cli, "files", "show", "voice", "--at", at, "--revision", "1") == (
        *(5, "invalid_input"),
    )
    assert refused(cli, "files", "show", "voice", "--at", "2000-01-01") == (3, "not_found")
    restored = cli.json("files", "restore", "voice", "2")
    assert (restored["revision"], restored["hash"]) == (4, hash_of("One.\n"))
    assert refused(cli, "files", "restore", "voice", "9") == (3, "not_found")
    old = ("files", "restore", "voice", "3", "--expected-hash", hash_of("Two.\n"))
    assert refused(cli, *old) == (4, "file_changed")
    assert cli("files", "restore", "voice", "0").code == 2


def test_what_a_file_said_is_erased_for_good(cli: Cli, say: Any) -> None:
    say("voice", "Swordfish.")
    say("voice", "Two.")
    assert "Revision 2 of voice is erased." in cli("files", "erase-revision", "voice", "2").out
    assert refused(cli, "files", "show", "voice", "--revision", "2") == (8, "revision_gone")
    assert refused(cli, "files", "erase-revision", "voice", "3") == (4, "conflict")
    assert cli.json("files", "show", "voice")["body"] == "Two."
    cli.json("agents", "create", "scout")
    say("NOTES.md", "Ask Ada.", "--agent", "scout")
    erased = cli.json("files", "erase-revision", "NOTES.md", "1", "--agent", "scout")
    assert (erased["file"], erased["number"]) == ("NOTES.md", 1)


def test_an_erasure_says_which_files_quote_what_went(cli: Cli, say: Any) -> None:
    say("voice", "Ada takes milk.")
    say("voice", "Note: ada  takes MILK.")
    memory = kept(cli, "Ada takes milk.")
    told = cli("memories", "erase", memory).out
    assert "The file voice quotes what is erased, in what it says now; revision 2" in told
    assert "memoranda files history voice" in told


def test_an_agents_files_are_written_too(cli: Cli, say: Any) -> None:
    cli.json("agents", "create", "scout", "--external-id", "s-1")
    done = say("NOTES.md", "Ask Ada.", "--agent", "s-1")
    assert done["load_mode"] is None
    assert cli.json("files", "show", "NOTES.md", "--agent", "scout")["body"] == "Ask Ada."
    assert len(cli.json("files", "history", "NOTES.md", "--agent", "scout")["items"]) == 2
    assert cli.json("files", "restore", "NOTES.md", "1", "--agent", "scout")["bytes"] == 0
    assert "-Ask Ada." in cli("files", "diff", "NOTES.md", "2", "--agent", "scout").out
    assert refused(cli, "files", "show", "NOTES.md") == (3, "unknown_file")


async def proposed(db: str, body: str) -> str:
    """A change that an agent proposes, which no command can do in its name."""
    async with Memoranda.open(db) as memoranda:
        scout = await memoranda.access.agent(memoranda.owner, "scout")
        made = await memoranda.access.create_key(memoranda.owner, "agent", agent_id=scout.id)
        agent = await memoranda.access.authenticate(made.key)
        read = (await memoranda.files.get(agent, "people")).hash
        return str((await memoranda.file_proposals.propose(agent, "people", body, read)).id)


def test_a_proposed_change_is_shown_and_decided(cli: Cli, say: Any, tmp_path: Path) -> None:
    assert "No change is waiting." in cli("files", "proposals").out
    cli.json("agents", "create", "scout")
    change = asyncio.run(proposed(cli.db, "Ada.\n"))
    listed = cli("files", "proposals").out
    assert all(word in listed for word in (change, "people", "scout"))
    assert "+Ada." in cli("files", "proposal", change).out
    say("people", "Ben.\n")
    shown = cli("files", "proposal", change).out
    assert "changed since" in shown
    assert cli.json("files", "proposal", change)["stale_since"][:16] in shown.replace(" ", "T")
    assert "yes" in cli("files", "proposals").out
    assert "-Ben." in shown
    assert refused(cli, "files", "apply", change) == (4, "file_changed")
    now = hash_of("Ben.\n")
    assert cli.json("files", "apply", change, "--expected-hash", now)["action"] == "applied"
    assert cli.json("files", "proposals", "--status", "applied")["items"][0]["id"] == change
    path = tmp_path / "other.md"
    path.write_text("Carla.\n")
    own = cli.json("files", "propose", "people", str(path))
    assert own["status"] == "waiting"
    assert card(cli("files", "discard", own["id"]))["file"] == "people"
    assert refused(cli, "files", "discard", own["id"]) == (4, "conflict")
    assert refused(cli, "files", "proposal", NOBODY) == (3, "not_found")
    assert cli("files", "proposal", "people").code == 2


def test_another_organization_has_files_of_its_own(cli: Cli, say: Any) -> None:
    say("voice", "Ours.")
    other = cli.json("organizations", "create", "Zeta")["organization"]["id"]
    theirs = cli.json("files", "show", "voice", "--organization", other)
    assert (theirs["body"], theirs["revision"]) == ("", 1)
