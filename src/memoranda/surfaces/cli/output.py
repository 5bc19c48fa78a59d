"""What a command answers: a value for `--json`, and the same thing drawn for a person."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Union

from rich.text import Text

from memoranda.surfaces.cli import exits
from memoranda.words.text import clean

if TYPE_CHECKING:
    from pydantic import BaseModel
    from rich.console import Console, RenderableType

UNWATCHED_WIDTH: Final = 200
"""Columns for a file or a pipe, where nothing says how wide a line may be."""

Value = Union["BaseModel", Mapping[str, Any], Sequence["BaseModel"], None]


@dataclass(frozen=True)
class Answer:
    """`value` is what `--json` prints, if anything; `drawn` makes what a person sees."""

    value: Value
    drawn: Callable[[], "Iterable[RenderableType]"]
    exit_code: int = exits.DONE


def listing(items: Sequence[Any]) -> dict[str, Any]:
    """A list that is given out whole."""
    return {"items": items}


def show(answer: Answer, *, as_json: bool) -> None:
    """Print the answer on standard output."""
    if as_json:
        if answer.value is not None:
            print_json(answer.value)
        return
    console = console_for(sys.stdout)
    screen = console.width
    for part in answer.drawn():
        # A table that is wider than the screen is broken by the terminal: nothing of it is cut off.
        console.width = max(screen, getattr(part, "least_width", 0))
        console.print(part, soft_wrap=isinstance(part, Text))


def print_json(value: Value, *, problem: bool = False) -> None:
    """Print one JSON document, in UTF-8 whatever the terminal's own encoding is."""
    from pydantic_core import to_jsonable_python

    plain = to_jsonable_python(value)
    document = clean(json.dumps(plain, ensure_ascii=False, indent=2)) + "\n"
    stream = sys.stderr if problem else sys.stdout
    stream.flush()
    stream.buffer.write(document.encode())
    stream.buffer.flush()


def complain(sentence: str) -> None:
    """Print a problem on standard error as a sentence."""
    console_for(sys.stderr).print(Text.assemble(("Error: ", "bold red"), sentence), soft_wrap=True)


def console_for(stream: Any) -> "Console":
    """A console that takes text literally: what people wrote is no markup, emoji code or number."""
    from rich.console import Console

    watched = stream.isatty() or "COLUMNS" in os.environ
    width = None if watched else UNWATCHED_WIDTH
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)
