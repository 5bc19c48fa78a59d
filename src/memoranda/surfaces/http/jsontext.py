"""Reads JSON as the standard states it, and refuses what Python alone would let pass."""

import json
from collections.abc import Iterator
from math import isfinite
from typing import Final, NoReturn

from memoranda.surfaces.http.errors import BrokenBody
from memoranda.words.errors import Invalid

DEEPEST: Final = 64

Step = str | int


def read_json(body: bytes) -> object:
    """The value that `body` states.

    Raises `BrokenBody` for what is no JSON: other encodings than UTF-8, NaN and its kin, numbers
    that nothing can hold, a name twice in one object, nesting beyond 64 levels. Raises `Invalid`, naming the place, for a
    text with a NUL or half of a surrogate pair.
    """
    try:
        value: object = json.loads(
            body.decode("utf-8-sig"),
            parse_float=_finite,
            parse_constant=_no_constant,
            object_pairs_hook=_object,
        )
    except json.JSONDecodeError as error:
        raise BrokenBody(
            f"The body is no JSON: line {error.lineno}, column {error.colno}.",
            line=error.lineno,
            column=error.colno,
        ) from None
    except UnicodeDecodeError:
        raise BrokenBody("The body is no UTF-8 text; JSON is sent in UTF-8.") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        raise BrokenBody(
            "The body holds a number that JSON can't say or nothing here can hold: "
            "NaN, Infinity, or one with too many digits."
        ) from None
    if body.count(b"[") + body.count(b"{") > DEEPEST or b"\\u" in body:
        _check_places(value)
    return value


def _check_places(value: object) -> None:
    # Escapes are the only way in for these: raw, neither is valid in UTF-8 JSON.
    for path, text in _texts(value):
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise Invalid(
                f"{'.'.join(map(str, path))} holds a NUL or half of a surrogate pair, which no text "
                "can: take it out.",
                errors=[{"path": ["body", *path], "message": "NUL or half of a surrogate pair."}],
            )


def _texts(value: object) -> Iterator[tuple[tuple[Step, ...], str]]:
    waiting: list[tuple[tuple[Step, ...], object]] = [((), value)]
    while waiting:
        path, value = waiting.pop()
        if len(path) > DEEPEST:
            raise _too_deep()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, dict):
            # A name is reported at the object that holds it: it may be what can't be written.
            yield from ((path, name) for name in value)
            waiting.extend(((*path, name), entry) for name, entry in value.items())
        elif isinstance(value, list):
            waiting.extend(((*path, index), entry) for index, entry in enumerate(value))


def _too_deep() -> BrokenBody:
    return BrokenBody(
        f"The body is nested too deeply; {DEEPEST} levels are the most.", limit=DEEPEST
    )


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of names that are all different: of two equal ones, each reader takes another."""
    read = dict(pairs)
    if len(read) < len(pairs):
        raise BrokenBody("The body has an object that names one thing twice: name it once.")
    return read


def _finite(written: str) -> float:
    number = float(written)
    if not isfinite(number):
        raise ValueError
    return number


def _no_constant(_: str) -> NoReturn:
    raise ValueError
