"""What untrusted text must lose before a model reads it, and how text is made comparable.

Nothing here judges meaning: an instruction inside a document stays quoted data, word for word.
What is taken away is only what could pass for the structure around it.
"""

import re
import unicodedata

ZERO_WIDTH = "\u200b\u2060\ufeff\u180e"
"""Characters without a glyph that are no whitespace to Unicode but look like none to a reader."""

_LINE_CONTROLS = dict.fromkeys(map(ord, "\x0b\x0c\x1c\x1d\x1e\x85"), "\n") | {0x1F: " "}
_CONTROLS = dict.fromkeys([*range(0x09), *range(0x0E, 0x1C), *range(0x7F, 0xA0)])
_BIDI = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_REMOVED: dict[int, str | None] = {
    **_CONTROLS,
    **_LINE_CONTROLS,
    **_BIDI,
    **_SURROGATES,
    0xFEFF: None,
}

# Invisible tag characters can smuggle a whole sentence; only the flags of emoji use them well.
_TAGS = re.compile(
    "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f)"
    "|[\U000e0000-\U000e007f]"
)

# All of the above that a text may hold: to look for them is quicker than to take them out.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)

# What nobody sees within a word: a fence that is spelled with it reads like ours.
_UNSEEN = "[\\s\\xad\u034f\u180e\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f]*"
_OURS = _UNSEEN.join("memoranda")

# Written as the tokenizers know them: a spelling with spaces or in another case is plain text.
_MARKERS = re.compile(
    rf"""
    <(?: [|｜][^\W\d][\w▁.-]*[|｜]?>            # <|im_start|>  <|turn>  <｜User｜>
       | [^\W\d][\w▁.-]*[|｜]>                  # <turn|>
       | /?(?:start_of_turn|end_of_turn|tool_call|tool_response)>
       | /?(?:function_calls>|function_results>|antml:)
       | </?SYS>>
       | /?s> | (?:eos|bos|extra_id_[0-9]+)>    # a sentence's ends; HTML's <s> loses to them
       | (?i: {_UNSEEN}(?:/{_UNSEEN})?{_OURS})   # our own fences
    )
    | \[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]
    """,
    re.VERBOSE,
)
_DEFUSED = str.maketrans("<>[]", "‹›()")


def clean(text: str) -> str:
    """Make text that every store and wire can hold: no NUL, and U+FFFD for a lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.translate(_SURROGATES)
    return text.replace("\0", "")


def one_line(text: str) -> str:
    """Put text on one line: each run of Unicode whitespace is one space, the ends are trimmed.

    Zero-width characters go where they touch whitespace or an end, and stay inside a word.
    """
    line = _on_plain_spaces(text)
    if line.isprintable():  # zero-width characters and all other whitespace are not
        return line
    words = (word.strip(ZERO_WIDTH) for word in line.split())
    return " ".join(word for word in words if word)


def neutralize(text: str) -> str:
    """Take from untrusted text what could pass for structure; keep its lines.

    Controls, bidirectional overrides, byte order marks and invisible tags go; a lone surrogate
    becomes U+FFFD; markers of chat templates and of our own fences get look-alike brackets.
    Text without any of these comes back as it was, and a second pass changes nothing.
    """
    if _HIDDEN.search(text):
        text = _without_hidden(text)
    return _defuse(text) if "<" in text or "[" in text else text


def neutral_line(text: str) -> str:
    """`neutralize` and `one_line` together, in the one order in which neither undoes the other."""
    if text.isprintable():  # as nearly all text is, which then has no other whitespace than spaces
        line = _single_spaced(text)
    else:
        line = _on_plain_spaces(text)
        if not line.isprintable():
            line = one_line(_without_hidden(line))
    return _defuse(line) if "<" in line or "[" in line else line


def fold(text: str) -> str:
    """Make text comparable: trimmed, NFC, with full case folding."""
    composed = unicodedata.normalize("NFC", text.strip())
    return unicodedata.normalize("NFC", composed.casefold())


def _on_plain_spaces(text: str) -> str:
    """Do the work of `one_line` for the usual whitespace, several times quicker than a split."""
    return _single_spaced(text.replace("\n", " ").replace("\r", " ").replace("\t", " "))


def _single_spaced(text: str) -> str:
    line = text.strip(" ")
    while "  " in line:
        line = line.replace("  ", " ")
    return line


def _without_hidden(text: str) -> str:
    return _TAGS.sub(r"\1", text.translate(_REMOVED))


def _defuse(text: str) -> str:
    return _MARKERS.sub(lambda marker: marker[0].translate(_DEFUSED), text)
