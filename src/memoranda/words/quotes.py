"""Whether a value quotes one of many texts."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final

from memoranda.words.text import fold, one_line

DEEPEST: Final = 8
"""How many times a JSON text may have been put into another, for a quote in it to be found."""
_ESCAPED: Final = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\(.)", re.DOTALL)
_CONTROLS: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


class Quotes:
    """Texts to be found in values of strings, whatever the case and the whitespace there.

    Names of fields are looked at as strings, and a string with escapes also as what they stand for: it
    may hold JSON, whole or in part, as a model's arguments do.

    Many cost little more than one: of most texts, a word is looked for among the value's
    words first.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_word: defaultdict[str, list[str]] = defaultdict(list)
        self._bare: list[str] = []
        for text in {_plain(text) for text in texts} - {""}:
            # Between two others, a word stands in a value as it stands in the text.
            if inner := text.split(" ")[1:-1]:
                self._by_word[max(inner, key=len)].append(text)
            else:
                self._bare.append(text)

    def __bool__(self) -> bool:
        return bool(self._by_word or self._bare)

    def are_in(self, value: object) -> bool:
        """Whether any of the texts stands in one of the strings of the value, a JSON one."""
        return any(
            self._stand_in(_plain(said)) for each in _strings(value) for said in _readings(each)
        )

    def _stand_in(self, said: str) -> bool:
        if any(text in said for text in self._bare):
            return True
        words = self._by_word.keys() & said.split(" ") if self._by_word else ()
        return any(text in said for word in words for text in self._by_word[word])


def _plain(text: str) -> str:
    return one_line(fold(text))


def _strings(value: object) -> Iterator[str]:
    """All strings and names of fields, however deep: a value may be nested deeper than calls can be."""
    left = [value]
    while left:
        match left.pop():
            case str() as said:
                yield said
            case dict() as fields:
                left += [*fields.values(), *fields]
            case list() as parts:
                left += parts


def _readings(said: str) -> Iterator[str]:
    """The string as it is, and as what its escapes stand for, one JSON text within the other."""
    yield said
    for _ in range(DEEPEST):
        if "\\" not in said:
            return
        said = _ESCAPED.sub(_meant, said)
        yield said


def _meant(escaped: re.Match[str]) -> str:
    letter = escaped[1]
    if letter is not None:
        return _CONTROLS.get(letter, letter)
    units = b"".join(
        int(unit, 16).to_bytes(2, "little") for unit in escaped[0].split("\\u") if unit
    )
    return units.decode("utf-16-le", "replace")
