"""Reads the files that a command line names, and says in a sentence why one can't be read."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from memoranda.words.errors import Invalid, MemorandaError, NotFound, Refused

STANDARD_INPUT: Final = "-"


def check_readable(named: Sequence[str]) -> None:
    """Raise for the first file that can't be read, as `read_bytes` does, before any of them is used.

    Raises `Invalid` where standard input, which can be read only once, is named more than once.
    """
    if named.count(STANDARD_INPUT) > 1:
        raise Invalid("Standard input is one document: name - once.", file=STANDARD_INPUT)
    for each in named:
        if each == STANDARD_INPUT:
            continue
        try:
            read_bytes(each, most=0)
        except MemorandaError as error:
            if len(named) > 1:
                error.message += " Nothing was done with the other files either."
            raise


def read_bytes(named: str, *, most: int) -> bytes:
    """The bytes of a file, or of standard input for `-`; one more than `most` at the most.

    Raises `NotFound` where no file is, `Invalid` for a folder, `Refused` where it may not be read.
    """
    try:
        if named == STANDARD_INPUT:
            return sys.stdin.buffer.read(most + 1)
        with Path(named).open("rb") as file:
            return file.read(most + 1)
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {named}. Check its path.", file=named) from error
    except IsADirectoryError as error:
        raise Invalid(f"{named} is a folder. Name one file.", file=named) from error
    except PermissionError as error:
        raise Refused(f"The file {named} may not be read by you.", file=named) from error
    except (OSError, ValueError) as error:
        raise Invalid(f"The file {named!r} can't be read: {error}.", file=named) from error


def read_text(named: str, *, most: int) -> str:
    """The text of a file in UTF-8, byte for byte. Raises as `read_bytes` does, and `Invalid` for another encoding."""
    try:
        return read_bytes(named, most=most).decode()
    except UnicodeDecodeError:
        raise Invalid(f"{named} is not UTF-8. Save it as UTF-8.", file=named) from None


def read_json(named: str, *, most: int) -> Any:
    """The value that a JSON file states. Raises as `read_bytes` does, and `Invalid` for what is no JSON."""
    content = read_bytes(named, most=most)
    if len(content) > most:
        raise Invalid(f"The file {named} is larger than {most} bytes.", file=named, limit=most)
    return parse_json(content, named)


def parse_json(content: str | bytes, named: str) -> Any:
    """The value that a JSON text states; `named` says where the text is from."""
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        raise Invalid(
            f"{named} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}.",
            file=named,
            line=error.lineno,
            column=error.colno,
        ) from error
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise Invalid(f"{named} is not JSON: {reason}.", file=named) from error
