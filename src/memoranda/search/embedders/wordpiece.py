"""Text to the word pieces of the bundled model: BERT's uncased reading, without a tokenizer library."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

MOST_PIECES: Final = 256
"""What a text has beyond this is not read; the model was trained on shorter ones."""

LONGEST_WORD: Final = 100
"""Characters; a longer word is one unknown piece, as in the model's training."""

PAD, UNKNOWN, START, END = 0, 100, 101, 102

_HAN: Final = (
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ceaf"
    "\U0002f800-\U0002fa1f"
)
_IDEOGRAPH = re.compile(f"([{_HAN}])")
_ASCII_WORD = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_LATIN = re.compile(r"[a-zA-Z0-9\u00c0-\u024f\u1e00-\u1eff]")


def read(text: str) -> Sequence[int]:
    """Return the ids of a text's pieces, with the marks for its start and end. Never raises."""
    pieces: list[int] = [START]
    for word in _words(text):
        pieces += _pieces(word)
        if len(pieces) >= MOST_PIECES:
            break
    return [*pieces[: MOST_PIECES - 1], END]


def is_readable(text: str) -> bool:
    """Whether most letters of the text are Latin ones or digits, the only ones the model knows.

    To it, two texts in another script look alike whatever they say.
    """
    if text.isascii():
        return any(map(str.isalnum, text))
    letters = sum(map(str.isalnum, text))
    return letters > 0 and 2 * len(_LATIN.findall(text)) > letters


def _words(text: str) -> Iterator[str]:
    if text.isascii():
        yield from _ASCII_WORD.findall(_printable(text.lower()))
        return
    spaced = _IDEOGRAPH.sub(r" \1 ", _printable(text))
    bare = "".join(
        character
        for character in unicodedata.normalize("NFD", spaced)
        if unicodedata.category(character) != "Mn"
    )
    for word in bare.lower().split():
        yield from _apart(word)


def _apart(word: str) -> Iterator[str]:
    """Split a word at its punctuation, each sign by itself."""
    start = 0
    for place, character in enumerate(word):
        if _is_punctuation(character):
            if start < place:
                yield word[start:place]
            yield character
            start = place + 1
    if start < len(word):
        yield word[start:]


def _printable(text: str) -> str:
    if text.isprintable() and "\ufffd" not in text:
        return text
    return "".join(
        " " if character in "\t\n\r" else "" if _is_control(character) else character
        for character in text
    )


def _is_control(character: str) -> bool:
    return character == "\ufffd" or unicodedata.category(character).startswith("C")


def _is_punctuation(character: str) -> bool:
    if character.isascii():
        return not character.isalnum()
    return unicodedata.category(character).startswith("P")


@cache
def _vocabulary() -> dict[str, int]:
    listed = files(__package__).joinpath("vocabulary.txt").read_text("utf-8")
    return {piece: place for place, piece in enumerate(listed.removesuffix("\n").split("\n"))}


@lru_cache(maxsize=1 << 15)
def _pieces(word: str) -> Sequence[int]:
    """Cut a word into the longest known pieces from its start; one unknown piece where that fails."""
    if len(word) > LONGEST_WORD:
        return (UNKNOWN,)
    known = _vocabulary()
    found: list[int] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        for end in range(len(word), start, -1):
            piece = known.get(mark + word[start:end])
            if piece is not None:
                found.append(piece)
                start = end
                break
        else:
            return (UNKNOWN,)
    return tuple(found)
