"""Turns a plain function into a command: shared options in, an answer or a problem out."""

import inspect
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import typer

from memoranda.surfaces.cli import exits
from memoranda.surfaces.cli.documents import check_readable
from memoranda.surfaces.cli.help import SHARED_LINE, PlainCommand, PlainGroup
from memoranda.surfaces.cli.options import Db, Json, Organization
from memoranda.surfaces.cli.output import Answer, complain, print_json, show
from memoranda.surfaces.cli.session import Choices, opened
from memoranda.words.errors import MemorandaError

Run = Callable[..., Answer]

_SHARED = (("db", Db, None), ("organization", Organization, None), ("as_json", Json, False))


def verb(
    app: typer.Typer, name: str, *, reads: bool = False, files: Sequence[str] = ()
) -> Callable[[Callable[..., Awaitable[Answer]]], Run]:
    """Make a command of an async function; the database is open while it runs.

    One that only `reads` makes no database where there is none. `files` are the parameters that
    name files: where one can't be read, no database is made either.
    """

    def register(fn: Callable[..., Awaitable[Answer]]) -> Run:
        return _registered(app, name, fn, _in_session(fn, reads=reads, files=files))

    return register


def closed_verb(app: typer.Typer, name: str) -> Callable[[Run], Run]:
    """Make a command of a function that is given the choices and opens what it needs by itself."""

    def register(fn: Run) -> Run:
        return _registered(app, name, fn, fn)

    return register


def group(help_text: str) -> typer.Typer:
    """Make an empty group of commands, which shows its help when it is called without one."""
    return typer.Typer(help=help_text, cls=PlainGroup, no_args_is_help=True)


def room(app: typer.Typer, name: str, fn: Callable[..., Awaitable[Answer]]) -> typer.Typer:
    """Make a group of commands that answers with `fn`, which only reads, when it is called without one."""
    made = typer.Typer(help=inspect.getdoc(fn), cls=PlainGroup, epilog=SHARED_LINE)
    made.callback(invoke_without_command=True)(_command(fn, _in_session(fn, reads=True)))
    app.add_typer(made, name=name)
    return made


def _registered(app: typer.Typer, name: str, fn: Callable[..., Any], run: Run) -> Run:
    app.command(name, cls=PlainCommand, epilog=SHARED_LINE)(_command(fn, run))
    return run


def _in_session(
    fn: Callable[..., Awaitable[Answer]], *, reads: bool, files: Sequence[str] = ()
) -> Run:
    async def inside(choices: Choices, arguments: dict[str, Any]) -> Answer:
        async with opened(choices, reads=reads) as session:
            return await fn(session, **arguments)

    def run(choices: Choices, **arguments: Any) -> Answer:
        import asyncio

        check_readable(_named(arguments, files))
        return asyncio.run(inside(choices, arguments))

    return run


def _named(arguments: Mapping[str, Any], files: Sequence[str]) -> list[str]:
    named: list[str] = []
    for each in (arguments[name] for name in files):
        named += each if isinstance(each, list) else [] if each is None else [each]
    return named


def _command(fn: Callable[..., Any], run: Run) -> Callable[..., None]:
    """The function that Typer reads: the parameters of `fn` less its first, and the shared options."""

    def command(ctx: typer.Context, **given: Any) -> None:
        said = Choices(**{name: given.pop(name) for name, _, _ in _SHARED})
        choices = said.over(ctx.obj)
        ctx.obj = choices
        if ctx.invoked_subcommand is None:
            raise typer.Exit(answered(lambda: run(choices, **given), choices))

    own = list(inspect.signature(fn).parameters.values())[1:]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, kind, default in _SHARED
    ]
    context = inspect.Parameter(
        "ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
    )
    keywords = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]
    parameters = [context, *keywords, *shared]
    command.__doc__ = inspect.getdoc(fn)
    command.__name__ = fn.__name__
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(command)["__signature__"] = inspect.Signature(parameters)
    return command


def answered(run: Callable[[], Answer], choices: Choices) -> int:
    """Run, print the answer or the problem, and return the exit code. Never a traceback unasked."""
    try:
        answer = run()
        show(answer, as_json=choices.as_json)
    except MemorandaError as error:
        if choices.as_json:
            print_json(exits.problem(error), problem=True)
        else:
            complain(exits.told(error))
        return exits.code_of(error)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except (BrokenPipeError, typer.BadParameter):
        # Typer tells a wrong command line, and ends quietly when the reader has seen enough.
        raise
    except Exception as error:  # noqa: BLE001 - a person at a terminal is owed a sentence for anything
        return _defect(error, choices)
    return answer.exit_code


def _defect(error: Exception, choices: Choices) -> int:
    sentence = (
        f"Memoranda failed in a way that it should not: {type(error).__name__}. "
        "Run the command again as `memoranda --traceback …` and report what it prints."
    )
    if choices.traceback:
        traceback.print_exception(error, file=sys.stderr)
    if choices.as_json:
        defect = {"code": "defect", "kind": "defect", "detail": sentence, "retryable": False}
        print_json(defect | {"exit_code": exits.DEFECT}, problem=True)
    else:
        complain(sentence)
    return exits.DEFECT
