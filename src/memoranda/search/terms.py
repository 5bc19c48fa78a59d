"""Text to index terms: the one reading that passages and queries share."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import islice, pairwise
from typing import Final

import snowballstemmer

from memoranda.search.english import IRREGULAR_FORMS, STOP_WORDS
from memoranda.search.scripts import MARKS, PICTURES, UNSPACED, fold_for_search

LONGEST_TERM: Final = 64
"""Characters; what is longer is cut, in passages and queries alike."""

MOST_QUERY_TERMS: Final = 256
"""A longer query is read up to here."""

NAME_MARK: Final = "@"
"""Begins the term of a speaker's name; no word's term can hold it."""

_WORD = f"(?:[^\\W_{UNSPACED}]|[{MARKS}])+"
_ASCII_TOKEN = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
_TOKEN = re.compile(f"[{UNSPACED}]+|{_WORD}(?:'{_WORD})*|[{PICTURES}]")
_UNSPACED_START = re.compile(f"[{UNSPACED}]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_ELISION = re.compile(r"^(?:[cdjlmnst]|qu)'(?=\w{2})")
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_STEMMER = snowballstemmer.stemmer("english")


@dataclass(frozen=True, slots=True)
class PassageTerms:
    """The terms of one passage with how often each occurs, and its length in words."""

    counts: Mapping[str, int]
    length: int


@dataclass(frozen=True, slots=True)
class Query:
    """What a query asks for: terms with how often each was said, and names it may be about.

    `words` has the words that were typed, by the terms that each became: one, or the pairs of a
    stretch in a script without spaces.
    """

    terms: Mapping[str, int]
    names: tuple[str, ...] = ()
    words: Mapping[tuple[str, ...], str] = field(default_factory=dict, compare=False)


def read_passage(text: str, *, speaker: str | None = None, at: str | None = None) -> PassageTerms:
    """Return every term of a passage; no word is left out. Never raises.

    A speaker's name counts as said in the passage, and again as a name term; the day, month and
    year of `at` count as said too.
    """
    tokens = list(_tokens(text))
    names: list[str] = []
    if speaker:
        said = list(_tokens(speaker))
        tokens += said
        names = [NAME_MARK + _plain(token) for token in said]
    if at:
        tokens += _tokens(_date_words(at))
    counts: Counter[str] = Counter(names)
    length = 0
    for token in tokens:
        if _is_unspaced(token):
            counts.update(token)  # each character, so that a query of one finds it
            counts.update(_pairs(token))
            length += max(1, len(token) - 1)
        else:
            counts[_term(token)] += 1
            length += 1
    return PassageTerms(counts, length)


def read_query(text: str, *, most: int = MOST_QUERY_TERMS) -> Query:
    """Return what a query asks for, up to so many terms. Never raises, and nothing in it is syntax.

    Stop words are left out, unless the query holds nothing else.
    """
    # Plain ASCII keeps its places as a whole; elsewhere what folding does to one word moves no other.
    parts = [text] if text.isascii() and "," not in text else text.split()
    tokens = [token for part in parts for token in _typed(part)]
    telling = [token for token in tokens if not _is_stop_word(token[0])] or tokens
    terms: Counter[str] = Counter()
    names: dict[str, None] = {}
    words: dict[tuple[str, ...], str] = {}
    for token, typed in telling:
        asked = _terms_asked(token)
        terms.update(asked)
        words.setdefault(tuple(asked), typed)
        names[NAME_MARK + _plain(token)] = None
    return Query(
        dict(islice(terms.items(), most)),
        tuple(islice(names, most)),
        dict(islice(words.items(), most)),
    )


def without_names(text: str, names: Collection[str]) -> str:
    """Return a query without the words that are these names, which are terms that begin with `NAME_MARK`.

    It stays as it is where nothing else in it says anything.
    """
    kept = [part for part in text.split() if not _is_named(part, names)]
    says = any(not _is_stop_word(token) for part in kept for token in _tokens(part))
    return " ".join(kept) if says else text


def _is_named(part: str, names: Collection[str]) -> bool:
    tokens = list(_tokens(part))
    return bool(tokens) and all(NAME_MARK + _plain(token) in names for token in tokens)


def _typed(part: str) -> Iterator[tuple[str, str]]:
    """The tokens of a part of a text, each with the word as it was typed."""
    folded, pattern = _read(part)
    for match in pattern.finditer(folded):
        token = match[0] if _is_unspaced(match[0]) else match[0][:LONGEST_TERM]
        typed = part[match.start() : match.end()]
        # Folding mostly keeps the places of characters; where it does not, the token stands for itself.
        kept = len(folded) == len(part) and (part.isascii() or fold_for_search(typed) == match[0])
        yield token, typed if kept else token


def _terms_asked(token: str) -> list[str]:
    if _is_unspaced(token):
        return _pairs(token) or [token]
    return [_term(token)]


def _tokens(text: str) -> Iterator[str]:
    folded, pattern = _read(text)
    return (
        match[:LONGEST_TERM] if not _is_unspaced(match) else match
        for match in pattern.findall(folded)
    )


def _read(text: str) -> tuple[str, re.Pattern[str]]:
    """The folded text, and the pattern of its tokens."""
    folded = fold_for_search(text)
    if "," in folded:
        folded = _THOUSANDS.sub("", folded)
    return folded, _ASCII_TOKEN if folded.isascii() else _TOKEN


def _is_unspaced(token: str) -> bool:
    return token[0] > "\u0e00" and _UNSPACED_START.match(token) is not None


def _pairs(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)]


def _is_stop_word(token: str) -> bool:
    return token in STOP_WORDS or token.removesuffix("'s") in STOP_WORDS


def _plain(token: str) -> str:
    return _ELISION.sub("", token[:LONGEST_TERM].removesuffix("'s")).replace("'", "")


@lru_cache(maxsize=1 << 16)
def _term(token: str) -> str:
    word = _plain(token)
    if word.isalpha():
        return _stem(IRREGULAR_FORMS.get(word, word)) if word.isascii() else word
    ordinal = _ORDINAL.fullmatch(word)
    return ordinal[1] if ordinal else word


def _stem(word: str) -> str:
    stemmed: str = _STEMMER.stemWord(word)
    return stemmed


def _date_words(at: str) -> str:
    """Write an ISO time as people ask for it; other ways of writing a time stay as they are."""
    try:
        moment = datetime.fromisoformat(at.strip())
    except ValueError:
        return at
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def telling_terms(terms: Iterable[str]) -> set[str]:
    """Return the terms of a passage that say something.

    Left out are stop words, the names of speakers, and single characters that a pair holds.
    """
    said = {term for term in terms if term not in STOP_TERMS and term[0] != NAME_MARK}
    unspaced = {term for term in said if _is_unspaced(term)}
    paired = set("".join(term for term in unspaced if len(term) > 1))
    return {term for term in said if term not in paired or term not in unspaced}


STOP_TERMS: Final = frozenset(_term(word) for word in STOP_WORDS)
"""What stop words become; some of them are terms of other words too."""
