"""Whether a value quotes one of many texts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from memoranda.words.text import fold, one_line


class Quotes:
    """Texts to be found in values of strings, whatever the case and the whitespace there.

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
        return any(self._stand_in(_plain(said)) for said in _strings(value))

    def _stand_in(self, said: str) -> bool:
        if any(text in said for text in self._bare):
            return True
        words = self._by_word.keys() & said.split(" ") if self._by_word else ()
        return any(text in said for word in words for text in self._by_word[word])


def _plain(text: str) -> str:
    return one_line(fold(text))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)
