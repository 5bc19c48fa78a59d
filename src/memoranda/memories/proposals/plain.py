"""A short text's words, with spellings, numbers and turns of speech in the one form that they are compared in."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from memoranda.memories.proposals.wording import (
    ALIKE,
    BE,
    LOOSE,
    NUMBERS,
    SELF,
    SIGNS,
    SPARED,
    THEY,
    TIED,
)
from memoranda.search.scripts import MARKS, UNSPACED, fold_for_search
from memoranda.search.terms import read_passage

Replacement = tuple[re.Pattern[str], str]

OWNS: Final = "'s"
"""The word that says that the one before it owns the next."""

_LETTER: Final = f"(?:[^\\W\\d_{UNSPACED}]|[{MARKS}])"
_NAME: Final = f"{_LETTER}(?:{_LETTER}|\\d)*"
_PUNCTUATION: Final = "\\s_.,;:!?'\"()\\[\\]{}–—…“”‘«»„¿¡。、，；：！？「」『』/-"
_WORD: Final = re.compile(
    f"\\d+(?:[.:,/-]\\d+)*(?:st|nd|rd|th)?|[{UNSPACED}]+|{OWNS}\\b"
    f"|{_NAME}(?:[/@.:_]{_NAME})*|[^\\w{_PUNCTUATION}]"  # an address or a path is one word
)
_SHORT_NAME: Final = re.compile(r"\b[A-Z]{2,3}\b")
_NO_NAMES: Final = SELF | THEY | SPARED | BE | LOOSE | TIED


def _all(*pairs: tuple[str, str]) -> tuple[Replacement, ...]:
    return tuple((re.compile(pattern), replacement) for pattern, replacement in pairs)


_WRITTEN: Final = _all(
    ("’", "'"),
    (r"(?<=\d),(?=\d{3}(?!\d))|(?<=\d) (?=\d)", ""),  # within a number
    (r"(?<!\S)[-−](?=\d)|(?<=\w)[-−](?!\w)", " minus "),  # below zero, and as in "O-"
    (r"([$€£])\s?(\d[\d.,]*)", r"\2 \1"),
    (r"\bmay\b", "might"),  # and not the month
)
_SHORTENED: Final = _all(
    (r"(?<=\d) ?am\b", " morning"),
    (r"\bcan't\b", "can not"),
    (r"\bwon't\b", "will not"),
    (r"n't\b", " not"),
    (r"\b(it|that|he|she|there|what|who|here)'s\b", r"\1 is"),
    (r"'(?:m|re)\b", " are"),
    (r"'ve\b", " have"),
    (r"'ll\b", " will"),
    (r"'d\b", " would"),
    *((re.escape(sign), f" {name} ") for sign, name in SIGNS.items()),
)
_TELLS: Final = "said|says|mentioned|mentions|stated|states|reported|noted|told|confirmed|shared"
_PREFERRED: Final = (
    r"\b((?:like|love|enjoy|prefer)s?(?: (?!to\b)\S+){1,6}?|preferred)"
    r"(?: more| better| rather)? (?:than|over|to)\b"
)
_TURNS: Final = _all(
    (
        rf"^(?:the )?(user|i|we) (?:have |has )?(?:{_TELLS})\b(?: that)?(?: (?:they|s?he|their|his|her)\b)?",
        r"\1",
    ),
    (r"^you (?=must|should|have to|need to)", ""),
    (r"\b(?:more than|over|above) (?=\d)", "above "),
    (r"\b(?:less than|under|below) (?=\d)", "below "),
    (_PREFERRED, r"\1 than"),
    (r"\bsuffers? from\b", "has"),
    (r"\btakes? place\b|\b(?:is|are) held\b", "is"),
    (r"\bused to\b", "formerly"),
    (r"\b(?:have|has|need|needs|ought) to\b", "must"),
    (r"\bto be\b", "be"),
)
_OUR: Final = re.compile(r"(?<=[a-z]{2})our(?=$|s$|ite|ed$|ing$|able$|al$)")
_ISE: Final = re.compile(r"(?<=[a-z]{3})is(?=(?:e|es|ed|ing|ation)$)")
_WHO_DOES: Final = re.compile(r"[a-z]{2,}(?:er|or)s?")
_LOOSE_END: Final = re.compile(r"(?<=[a-z]{4})[iey]$")


def plain_words(text: str) -> list[str]:
    """The words in their order, small, without punctuation. Never raises."""
    written = _replaced(unicodedata.normalize("NFKC", text), _WRITTEN)
    if not written.isupper():
        written = _SHORT_NAME.sub(_kept_apart, written)
    said = _WORD.findall(_replaced(fold_for_search(written), _SHORTENED))
    return _replaced(" ".join(NUMBERS.get(word, word) for word in said), _TURNS).split()


def capital_terms(text: str) -> frozenset[str]:
    """The terms of the words that have a capital wherever they are."""
    capital: dict[str, bool] = {}
    for word in _WORD.findall(unicodedata.normalize("NFKC", text)):
        term = term_of(fold_for_search(word))
        capital[term] = capital.get(term, True) and word[0].isupper()
    return frozenset(term for term, always in capital.items() if always)


@lru_cache(maxsize=1 << 16)
def term_of(word: str) -> str:
    """The one form of a word's forms and spellings; "manager" stays apart from "manage"."""
    if not word.isascii() or not word.isalpha():
        return word
    alike = ALIKE.get(word)
    if alike is not None:
        return alike
    word = _ISE.sub("iz", _OUR.sub("or", word))
    if _WHO_DOES.fullmatch(word):
        return word.removesuffix("s")
    stem = next(iter(read_passage(word).counts), word)
    return ALIKE.get(stem, _LOOSE_END.sub("", stem))


def _kept_apart(found: re.Match[str]) -> str:
    """US and IT are no pronouns."""
    return f"{found[0]}0" if found[0].lower() in _NO_NAMES else found[0]


def _replaced(text: str, replacements: Iterable[Replacement]) -> str:
    for pattern, replacement in replacements:
        text = pattern.sub(replacement, text)
    return text
