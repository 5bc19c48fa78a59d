"""Character classes of the world's scripts, and the folding that makes spellings comparable."""

import re
import unicodedata
from typing import Final

# Scripts that write no spaces between words, and Hangul, whose particles cling to words:
# Thai, Lao, Myanmar, Khmer, kana, bopomofo, Hangul, Han.
UNSPACED: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1050-\u109f\u1100-\u11ff\u1780-\u17d3"
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uaa60-\uaa7f\uac00-\ud7ff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Marks that are part of a word but no letters: combining accents and the signs of Indic scripts.
MARKS: Final = "\u0300-\u036f\u0900-\u0963\u0966-\u0dff\u0f35-\u0f39\u0f71-\u0f84"
# Pictures that people search by: signs and emoji, not the lines and arrows that draw tables.
PICTURES: Final = "\u2600-\u27bf\U0001f000-\U0001faff"

# Hyphenation hints, joiners, directions, variation selectors, Arabic and Hebrew vowel points.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640"
    "\u064b-\u065f\u0670\u200c-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff]+"
)
# An accent on a Latin or Greek letter or on Cyrillic "е" is often left out when people type.
_OPTIONAL_ACCENT = re.compile("(?<=[a-z\u0370-\u03ff\u0435])[\u0300-\u036f]+")
_LETTERS = str.maketrans(
    {
        "\u2019": "'",
        "\u2018": "'",
        "\u02bc": "'",
        "\u00b4": "'",
        "`": "'",
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "ł": "l",
        "ı": "i",
        "æ": "ae",
        "œ": "oe",
        "þ": "th",
    }
)
_BACKTICK = str.maketrans("`", "'")


def fold_for_search(text: str) -> str:
    """Make spellings of one word equal: case, width, ligatures, apostrophes, optional accents.

    Compatibility forms count as the same here (full-width Latin, half-width kana), which is
    wider than `words.text.fold`. Never raises, whatever the text holds.
    """
    if text.isascii():
        return text.lower().translate(_BACKTICK)
    composed = unicodedata.normalize("NFKC", text.translate(_LETTERS))
    folded = unicodedata.normalize("NFD", composed.casefold())
    bare = _OPTIONAL_ACCENT.sub("", _INVISIBLE.sub("", folded))
    return unicodedata.normalize("NFKC", bare).translate(_LETTERS)
