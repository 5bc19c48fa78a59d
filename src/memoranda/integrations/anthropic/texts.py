"""What the memory tool says of texts, in the words that its protocol has for them. Pure."""

from collections.abc import Iterable, Sequence
from typing import Final

from memoranda.integrations.anthropic.paths import Path
from memoranda.words.errors import Invalid, NotFound
from memoranda.words.text import neutralize

_WIDTH: Final = 6
_AROUND: Final = 2
_UNITS: Final = ("B", "K", "M")
_REPEATED: Final = 500
"""Characters of what a model wrote that a refusal repeats."""
_OTHERWISE: Final = (
    " It is shown there with look-alike characters in the place of what could pass for a part of "
    "the chat: choose a part without them."
)


def missing(path: Path) -> NotFound:
    """The refusal of a path that is not there."""
    return NotFound(f"The path {path} does not exist. Please provide a valid path.")


def listing(
    path: Path, sizes: Iterable[tuple[Path, int]], folders: Iterable[Path], *, chars: int
) -> str:
    """What is in a folder, two levels deep: `sizes` are those of all files below it.

    Beyond about `chars` characters it says how many more there are.
    """
    below = list(sizes)
    lines = []
    for each in sorted({*folders, *(file for file, _ in below)}):
        depth = len(each.parts) - len(path.parts)
        if depth > 2 or any(part.startswith(".") for part in each.parts):
            continue
        inside = sum(size for file, size in below if file == each or file.within(each))
        mark = "/" if each in set(folders) else ""
        lines.append(f"{_size(inside)}\t{each}{mark}")
    head = (
        f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    )
    own = f"{_size(sum(size for _, size in below))}\t{path}"
    return "\n".join([head, own, *_within(chars, lines)])


def shown(path: Path, text: str, view_range: Sequence[int] | None) -> str:
    """A file with its lines numbered from 1; nothing in it can pass for a turn of the chat."""
    lines = _shown(text)
    first, last = 1, len(lines)
    if view_range is not None and len(view_range) == 2:
        first = max(1, view_range[0])
        last = last if view_range[1] == -1 else min(last, view_range[1])
    numbered = _numbered(lines, first, last)
    return "\n".join([f"Here's the content of {path} with line numbers:", *numbered])


def replaced(path: Path, text: str, old: str, new: str) -> tuple[str, str]:
    """The text with `old`, which it holds once, replaced, and what to say. Raises `Invalid`."""
    count, named = text.count(old) if old else 0, _begun(old)
    if count == 0:
        otherwise = _OTHERWISE if old and old in "\n".join(_shown(text)) else ""
        raise Invalid(
            f"No replacement was performed, old_str `{named}` did not appear verbatim in {path}."
            f"{otherwise}"
        )
    if count > 1:
        lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in _places(text, old))
        raise Invalid(
            f"No replacement was performed. Multiple occurrences of old_str `{named}` in lines: "
            f"{_begun(lines)}. Please ensure it is unique"
        )
    at = text.index(old)
    changed = text[:at] + new + text[at + len(old) :]
    line = text.count("\n", 0, at) + 1
    numbered = _numbered(_shown(changed), max(1, line - _AROUND), line + _AROUND)
    said = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    return changed, "\n".join([said, *numbered])


def inserted(text: str, line: int, new: str) -> str:
    """The text with `new` after that line (0: before all). Raises `Invalid`."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if not 0 <= line <= len(lines):
        raise Invalid(
            f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}]."
        )
    return "\n".join([*lines[:line], new.removesuffix("\n"), *lines[line:], ""])


def _shown(text: str) -> list[str]:
    """The lines of a text, as many as an insertion counts, and none that could pass for a turn of the chat."""
    return [neutralize(line).replace("\n", " ") for line in text.split("\n")]


def _begun(said: str) -> str:
    return said if len(said) <= _REPEATED else f"{said[:_REPEATED]}…"


def _within(chars: int, lines: Sequence[str]) -> list[str]:
    room, kept = chars, 0
    while kept < len(lines) and room >= len(lines[kept]):
        room -= len(lines[kept])
        kept += 1
    left = len(lines) - kept
    more = [f"({left} more are not listed: there is no room for them here.)"] if left else []
    return [*lines[:kept], *more]


def _places(text: str, old: str) -> list[int]:
    places, at = [], text.find(old)
    while at >= 0:
        places.append(at)
        at = text.find(old, at + 1)
    return places


def _numbered(lines: Sequence[str], first: int, last: int) -> list[str]:
    return [
        f"{number:>{_WIDTH}}\t{line}"
        for number, line in enumerate(lines[first - 1 : last], start=first)
    ]


def _size(size: int) -> str:
    amount, unit = float(size), 0
    while amount >= 1024 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.1f}".removesuffix(".0") + _UNITS[unit]
