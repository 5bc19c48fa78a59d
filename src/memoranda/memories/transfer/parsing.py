"""Finds out what a file is, and reads it into entries in the order in which they are taken. Pure."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from memoranda.memories.transfer import fields
from memoranda.memories.transfer.decoding import joined, texts_of
from memoranda.memories.transfer.entry import Entry, Passed, Read, Unread
from memoranda.memories.transfer.errors import ImportTooLarge, UnreadableImport
from memoranda.memories.transfer.formats import (
    chatgpt,
    claude,
    document,
    langgraph,
    listed,
    mem0,
    own,
)
from memoranda.memories.transfer.limits import MOST_ENTRIES, MOST_LINE_CHARS
from memoranda.memories.transfer.models import ImportSource

Format = tuple[Callable[[object], bool], Callable[[Any], Read]]

# In this order: each looks for something that those before it don't have.
FORMATS: Final[dict[ImportSource, Format]] = {
    ImportSource.CLAUDE: (claude.looks, claude.read),
    ImportSource.LANGGRAPH: (langgraph.looks, langgraph.read),
    ImportSource.MEM0: (mem0.looks, mem0.read),
    ImportSource.CHATGPT: (chatgpt.looks, chatgpt.read),
}
LISTS: Final = frozenset({ImportSource.CHATGPT, ImportSource.CLAUDE, ImportSource.AUTO})
_BEGINNING: Final = datetime.min.replace(tzinfo=UTC)
_NO_FORM: Final = (
    "This is none of the forms that are known: JSON Lines of Memoranda, mem0, a LangGraph store, "
    "ChatGPT or Claude. docs/exchange.md shows them."
)


class Parsed(NamedTuple):
    """What a file holds: entries in the order in which they are taken, and lines that are none.

    `passed` counts those that are no memory, by why.
    """

    source: ImportSource
    entries: list[Entry]
    unread: list[Unread]
    passed: Mapping[str, int]


def parse(content: bytes | str | Iterable[bytes | str], source: ImportSource) -> Parsed:
    """Read a whole file.

    Raises `UnreadableImport` and `ImportTooLarge`. A line that can't be read is one of `unread`.
    """
    entries: list[Entry] = []
    unread: list[Unread] = []
    passed: Counter[str] = Counter()
    offset, found = 0, source
    try:
        for text in texts_of(joined(content), source):
            found, read = _read(text, found)
            last = 0
            for each in read:
                last = each.line
                match each._replace(line=offset + each.line):
                    case Entry() as entry:
                        entries.append(entry)
                    case Unread() as line:
                        unread.append(line)
                    case Passed(why=why):
                        passed[why] += 1
                if len(entries) + len(unread) > MOST_ENTRIES:
                    raise ImportTooLarge(
                        f"This is more than {MOST_ENTRIES} entries: cut it into several files.",
                        limit=MOST_ENTRIES,
                    )
            offset += last
    except RecursionError:
        raise UnreadableImport("The file is nested too deep to be read.") from None
    return Parsed(found, in_order(entries), unread, passed)


def in_order(entries: list[Entry]) -> list[Entry]:
    """By what they become, and then as they were first said; who tells no time stays behind who was before."""
    dated, at = [], _BEGINNING
    for entry in entries:
        at = entry.created_at or at
        dated.append((entry.state, at, entry))
    return [entry for _, _, entry in sorted(dated, key=lambda each: each[:2])]


def _read(text: str, source: ImportSource) -> tuple[ImportSource, Read]:
    if text.lstrip()[0] not in "{[":
        return _list(text, source)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _broken(text, source, error)
    if source in {ImportSource.AUTO, ImportSource.MEMORANDA} and own.looks(value):
        return ImportSource.MEMORANDA, _own_lines(text)
    if source is ImportSource.AUTO:
        source = _source_of(value)
    if source is ImportSource.MEMORANDA:
        raise UnreadableImport("This is no export of Memoranda, whose lines each hold one object.")
    return source, FORMATS[source][1](value)


def _broken(text: str, source: ImportSource, error: Exception) -> tuple[ImportSource, Read]:
    """What begins like JSON and is not one document: a line for each object, a list, or nothing."""
    first = _first_object(text)
    if first is not None:
        if source is ImportSource.AUTO:
            source = ImportSource.MEMORANDA if own.looks(first) else _source_of(first)
        if source is ImportSource.MEMORANDA:
            return source, _own_lines(text)
        return source, _lines(text, FORMATS[source][1])
    if listed.looks_dated(text):
        return _list(text, source)
    where = f" at line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
    raise UnreadableImport(
        f"The file begins like JSON and can't be read{where}: it is broken, or cut off. Export it anew."
    )


def _source_of(value: object) -> ImportSource:
    found = next((source for source, (looks, _) in FORMATS.items() if looks(value)), None)
    if found is None:
        raise UnreadableImport(_NO_FORM)
    return found


def _list(text: str, source: ImportSource) -> tuple[ImportSource, Read]:
    if source not in LISTS:
        raise UnreadableImport(f"This is plain text, and an export of {source} is JSON.")
    if source is ImportSource.AUTO:
        if document.looks(text):
            raise UnreadableImport(document.LOOKS)
        claudes = listed.looks_as_claude_writes(text)
        source = ImportSource.CLAUDE if claudes else ImportSource.CHATGPT
    return source, listed.read(text)


def _first_object(text: str) -> dict[str, Any] | None:
    """The first line that states an object, where most of the first few do.

    In a document that is cut off, a line may happen to be an object too.
    """
    lines = [_object(line) for _, line in _numbered(text[: 20 * MOST_LINE_CHARS], 20)]
    objects = [each for each in lines if each is not None]
    if not objects or (lines[0] is None and len(objects) * 2 <= len(lines)):
        return None
    return objects[0]


def _object(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _numbered(text: str, most: int | None = None) -> Iterator[tuple[int, str]]:
    """Lines that hold something, with their numbers."""
    given = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line
            given += 1
            if given == most:
                return


def _unreadable(number: int, line: str) -> Unread | None:
    if len(line) > MOST_LINE_CHARS:
        told = f"This line has {len(line)} characters, and {MOST_LINE_CHARS} are the most."
        return Unread(number, "over_limit", told)
    if not line.isascii() and any("\ud800" <= each <= "\udfff" for each in line):
        return Unread(number, fields.BROKEN, "This line is no UTF-8.")
    return None


def _own_lines(text: str) -> Read:
    for number, line in _numbered(text):
        unreadable = _unreadable(number, line)
        if unreadable is not None:
            yield unreadable
            continue
        value = _object(line) if '"format"' in line else None
        if value is not None and own.is_header(value):
            own.check_header(value)
            yield Passed(number, "header")
        else:
            yield own.read(number, line)


def _lines(text: str, read: Callable[[Any], Read]) -> Read:
    for number, line in _numbered(text):
        value = _object(line)
        unreadable = _unreadable(number, line)
        if unreadable is not None:
            yield unreadable
        elif value is None:
            yield Unread(number, fields.BROKEN, "This line is no JSON object.")
        else:
            yield from (each._replace(line=number) for each in read(value))
