"""Help speaks to who types the command, and a wrong value is answered in the same words."""

from typing import Any

import pytest

from docs import cli_reference
from memoranda.surfaces.cli.help import SHARED_LINE
from tests.surfaces.cli.terminal import COMMAND, Cli, within

COMMANDS = dict(cli_reference.commands(COMMAND, "memoranda"))
LEAKS = ("Input should", "Value error", "UUID", "pydantic", "datetime", "parse", "Traceback")


def page(name: str) -> str:
    words = name.split()[1:]
    ended = Cli("")(*words, "--help")  # a page opens nothing
    assert ended.code == 0, ended.err
    return ended.out


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_names_no_type_of_a_programmer(name: str) -> None:
    shown = page(name)
    assert not [mark for mark in ("<bool>", "<str>", "<int>", "<UUID>", "{", "}") if mark in shown]


@pytest.mark.parametrize("name", COMMANDS)
def test_what_every_command_takes_is_one_line_of_its_page(name: str) -> None:
    shown = page(name)
    assert SHARED_LINE in shown
    assert len(SHARED_LINE) < 79
    assert "--organization" not in shown.replace(SHARED_LINE, "")


def test_the_first_page_tells_the_shared_options_in_full() -> None:
    shown = page("memoranda")
    assert "For every command" in shown
    assert "Act in this organization" in shown
    assert SHARED_LINE not in shown


def test_a_shell_still_completes_the_shared_options_after_a_command() -> None:
    page("memoranda remember")
    remember: Any = COMMANDS["memoranda remember"]
    assert not [each.name for each in remember.params if each.hidden]


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("forget", "abc"), "as `memoranda memories` shows it"),
        (("memories", "history", "abc"), "as `memoranda memories` shows it"),
        (("conversations", "load", "abc"), "as `memoranda conversations list` shows it"),
        (("knowledge", "search", "x", "--source", "abc"), "as `memoranda knowledge list` shows it"),
        (("conversations", "show", "abc"), "as `memoranda conversations list` shows it"),
        (("keys", "revoke", "abc"), "as `memoranda keys list` shows it"),
        (("runs", "show", "abc"), "as `memoranda runs list` shows it"),
        (("brief", "x", "--run", "abc"), "as `memoranda runs list` shows it"),
        (("remember", "x", "--expires-at", "tomorrow"), "such as 2027-01-31 or 2027-01-31T09:00Z"),
        (("memories", "--limit", "many"), "a whole number"),
        (("keys", "create", "--role", "king"), "is not one of 'owner'"),
        (("brief",), "Say what the run is about: memoranda brief QUERY."),
        (("brief", "x", "--query", "y"), "Say what the run is about once"),
        (("remember",), "Missing argument 'TEXT'"),
        *(
            ((name, "list"), f"type memoranda {name}, which lists by itself")
            for name in ("memories", "proposals", "kept", "tools")
        ),
    ],
)
def test_a_wrong_value_is_answered_with_what_belongs_there(
    local: Cli, words: tuple[str, ...], advice: str
) -> None:
    ended = local(*words)
    assert ended.code == 2
    told = " ".join(ended.err.replace("│", " ").split())
    assert advice in told
    assert not [leak for leak in LEAKS if leak in told]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("2999-01-31", "2999-01-31T00:00:00Z"),
        ("2999-01-31T09:00", "2999-01-31T09:00:00Z"),
        ("2999-01-31T09:00Z", "2999-01-31T09:00:00Z"),
        ("2999-01-31T09:00+02:00", "2999-01-31T07:00:00Z"),
    ],
)
def test_a_time_is_in_utc_unless_it_names_its_zone(local: Cli, said: str, kept: str) -> None:
    assert local.json("remember", "x", "--expires-at", said)["expires_at"] == kept


def test_every_group_that_does_nothing_by_itself_shows_its_help_and_ends_alike() -> None:
    groups = [
        name
        for name, group in vars(COMMAND)["commands"].items()
        if vars(group).get("commands") and not group.invoke_without_command
    ]
    assert {"knowledge", "runs", "load"} <= set(groups)
    for name in groups:
        ended = within(name)
        assert (ended.code, "Usage:" in ended.out + ended.err) == (2, True), name


def test_a_question_may_stand_without_an_option(
    local: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_SOURCE_TIMEOUT_S", "30")
    local.json("remember", "Tea is at four.")
    asked = [("brief", "tea"), ("brief", "-q", "tea"), ("brief", "--query", "tea")]
    assert len({local.json(*words)["digest"] for words in asked}) == 1
