"""Claude: `memories.json` of its export, whose texts are Markdown. Its plain list is read as any list. Pure."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

from memoranda.memories.transfer import fields
from memoranda.memories.transfer.entry import Entry, Read, Unread
from memoranda.memories.transfer.formats import listed

KEYS: Final = ("conversations_memory", "project_memories", "memory_files")
PROJECT: Final = "project"


def looks(value: object) -> bool:
    """Whether a document, or one line of it, is of Claude."""
    if isinstance(value, list):
        return any(looks(each) for each in value[:20])
    return isinstance(value, dict) and any(key in value for key in KEYS)


def read(value: Any) -> Read:
    """Every paragraph and bullet of all memories, each under its heading."""
    for number, found in enumerate(_found(value), 1):
        yield found._replace(line=number)


def _found(value: Any) -> Iterator[Entry | Unread]:
    for each in value if isinstance(value, list) else [value]:
        if not isinstance(each, dict):
            yield Unread(0, fields.INVALID, "This record is no object.")
            continue
        yield from _text(each.get(KEYS[0]), KEYS[0])
        yield from _projects(each.get(KEYS[1]))
        yield from _files(each.get(KEYS[2]))


def _text(
    value: object, name: str, *, category: str | None = None, title: str | None = None
) -> Iterator[Entry | Unread]:
    if value is None or value == "":
        return
    if not isinstance(value, str):
        yield Unread(0, fields.INVALID, f"{name}: This must be a text.")
        return
    for piece in listed.pieces(value):
        heading = piece.heading or title
        yield listed.entry_of(piece._replace(heading=heading), category=category)


def _projects(value: object) -> Iterator[Entry | Unread]:
    if value is None:
        return
    if not isinstance(value, dict):
        yield Unread(0, fields.INVALID, "project_memories: This must be an object.")
        return
    for text in value.values():
        yield from _text(text, KEYS[1], category=PROJECT)


def _files(value: object) -> Iterator[Entry | Unread]:
    if value is None:
        return
    files = fields.objects(value)
    if files is None:
        yield Unread(0, fields.INVALID, "memory_files: This must be a list of objects.")
        return
    for file in files:
        path = fields.text(file.get("path"))
        title = PurePosixPath(path).stem.replace("_", " ").replace("-", " ") if path else None
        yield from _text(file.get("content"), KEYS[2], title=title or None)
