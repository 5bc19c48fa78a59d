"""Whether a message quotes one of many texts. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from memoranda.conversations.models import Content
from memoranda.words.text import fold, one_line


class Quotes:
    """Texts to be found in messages, whatever the case and the whitespace there.

    Many cost little more than one: of most texts, a word is looked for among the message's
    words first.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_word: defaultdict[str, list[str]] = defaultdict(list)
        self._bare: list[str] = []
        for text in {_plain(text) for text in texts} - {""}:
            # Between two others, a word stands in a message as it stands in the text.
            if inner := text.split(" ")[1:-1]:
                self._by_word[max(inner, key=len)].append(text)
            else:
                self._bare.append(text)

    def __bool__(self) -> bool:
        return bool(self._by_word or self._bare)

    def are_in(self, content: Content) -> bool:
        """Whether any of the texts stands in one of the content's strings."""
        return any(self._stand_in(_plain(said)) for said in _strings(content))

    def _stand_in(self, said: str) -> bool:
        if any(text in said for text in self._bare):
            return True
        words = self._by_word.keys() & said.split(" ") if self._by_word else ()
        return any(text in said for word in words for text in self._by_word[word])


def _plain(text: str) -> str:
    return one_line(fold(text))


def _strings(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        for part in content.values():
            yield from _strings(part)
    elif isinstance(content, list):
        for part in content:
            yield from _strings(part)
