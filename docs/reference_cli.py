"""Writes the page about the command line: each command, its arguments and its options."""

import inspect
from collections.abc import Iterator
from typing import Any

import typer

from memoranda.surfaces.cli.app import app
from memoranda.surfaces.cli.exits import MEANINGS

SHARED = {"db", "organization", "as_json"}
"""Parameters that every command takes; they are told once."""


def cli_page(made: str) -> str:
    """Every command, in the order of the help page."""
    commands = list(walk("memoranda", typer.main.get_command(app)))
    shared = next(
        told
        for _, command in commands
        if len(told := [each for each in command.params if each.name in SHARED]) == len(SHARED)
    )
    lines = ["# Command line", "", made, "", "Every command takes these options:", ""]
    lines += [described(parameter) for parameter in shared]
    lines += ["", "A script can tell by the exit code how a command ended:", ""]
    lines += [f"* {code}: {meaning}" for code, meaning in MEANINGS.items()]
    for name, command in commands:
        lines += ["", f"## `{name}`", "", *inspect.cleandoc(command.help or "").splitlines()]
        own = [each for each in command.params if told_here(each)]
        lines += ["", *(described(parameter) for parameter in own)] if own else []
    return "\n".join(line.rstrip() for line in lines) + "\n"


# Typer carries its own copy of click, so the types of both would have to be named here: hence Any.


def walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Each command with its full name, parents before children."""
    yield name, command
    for child in getattr(command, "commands", {}).values():
        if not child.hidden:
            yield from walk(f"{name} {child.name}", child)


def told_here(parameter: Any) -> bool:
    hidden = getattr(parameter, "hidden", False)
    return not hidden and parameter.name not in SHARED and parameter.name != "help"


def described(parameter: Any) -> str:
    names = parameter.opts + parameter.secondary_opts
    if parameter.param_type_name == "argument":
        names = [parameter.metavar or str(parameter.name).upper()]
    elif parameter.metavar:
        names = [f"{name} {parameter.metavar}" for name in names]
    required = " Required." if parameter.required else ""
    text = " ".join((getattr(parameter, "help", None) or "").split())
    return f"* `{'`, `'.join(names)}`: {text}{required}"
