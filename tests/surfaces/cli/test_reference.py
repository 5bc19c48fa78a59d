"""Every command explains itself, takes the shared options, and is in docs/cli.md."""

from typing import Any

import pytest
from typer.main import get_command

from docs import cli_reference
from memoranda.surfaces.cli.app import app

ROOT = get_command(app)
COMMANDS = dict(cli_reference.commands(ROOT, "memoranda"))

NAMED = """
serve worker migrate doctor demo brief remember forget memories
memories-history knowledge-add knowledge-search knowledge-list
policies-publish policies-list policies-show
conversations-create conversations-append conversations-show conversations-list
organizations-create organizations-list users-create users-list agents-create agents-list
keys-create keys-list keys-revoke runs-create runs-show runs-logs
runs-list runs-wait runs-resume runs-complete runs-fail runs-cancel
"""


def test_the_promised_commands_are_there() -> None:
    promised = {f"memoranda {name.replace('-', ' ')}" for name in NAMED.split()}
    assert not promised - set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_what_it_does(name: str) -> None:
    assert COMMANDS[name].help
    assert COMMANDS[name].help.strip().endswith(".")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_is_explained(name: str) -> None:
    assert not [each.name for each in COMMANDS[name].params if not each.help]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_takes_a_database_an_organization_and_json(name: str) -> None:
    options = {option for each in COMMANDS[name].params for option in each.opts}
    assert {"--db", "--organization", "--json"} <= options


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_with_a_value_shows_what_sort_of_value(name: str) -> None:
    assert not [
        each.name
        for each in COMMANDS[name].params
        if each.param_type_name == "option" and not each.is_flag and not each.metavar
    ]


def test_the_page_is_what_the_commands_would_write() -> None:
    assert cli_reference.PAGE.read_text("utf-8") == cli_reference.cli_page(), "run ./dev docs"


def test_an_unexplained_option_is_found() -> None:
    class Parameter:
        param_type_name = "option"
        opts = ("--x",)
        is_flag = True
        help = None

    class Command:
        params = (Parameter(),)

    with pytest.raises(SystemExit, match="no help"):
        list(cli_reference._table(Command(), _any))


def _any(_: Any) -> bool:
    return True
