"""What a command answers: a value for `--json`, and the same thing drawn for a person."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python
from rich.console import Console, RenderableType
from rich.text import Text

from memoranda.surfaces.cli import exits
from memoranda.words.text import clean

Value = BaseModel | Mapping[str, Any] | Sequence[Any]


@dataclass(frozen=True)
class Answer:
    """`value` is what `--json` prints; `drawn` makes what a person sees, only when one looks."""

    value: Value
    drawn: Callable[[], Iterable[RenderableType]]
    exit_code: int = exits.DONE


def show(answer: Answer, *, as_json: bool) -> None:
    """Print the answer on standard output."""
    if as_json:
        print_json(answer.value)
        return
    console = console_for(sys.stdout)
    for part in answer.drawn():
        console.print(part, soft_wrap=isinstance(part, Text))


def print_json(value: Value, *, problem: bool = False) -> None:
    """Print one JSON document, in UTF-8 whatever the terminal's own encoding is."""
    plain = to_jsonable_python(value)
    document = clean(json.dumps(plain, ensure_ascii=False, indent=2)) + "\n"
    stream = sys.stderr if problem else sys.stdout
    stream.flush()
    stream.buffer.write(document.encode())
    stream.buffer.flush()


def complain(sentence: str) -> None:
    """Print a problem on standard error as a sentence."""
    console_for(sys.stderr).print(Text.assemble(("Error: ", "bold red"), sentence), soft_wrap=True)


def console_for(stream: Any) -> Console:
    """A console that takes text literally: what people wrote is no markup, emoji code or number."""
    return Console(file=stream, markup=False, emoji=False, highlight=False)
