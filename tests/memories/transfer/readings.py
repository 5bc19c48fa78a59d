"""Reads the fixture files as the product does, and tells entries in short."""

from pathlib import Path

from memoranda.memories.transfer.entry import Entry
from memoranda.memories.transfer.models import ImportSource
from memoranda.memories.transfer.parsing import Parsed, parse

FILES = Path(__file__).parent / "files"


def file(name: str) -> bytes:
    return (FILES / name).read_bytes()


def read(content: bytes | str, source: ImportSource = ImportSource.AUTO) -> Parsed:
    return parse(content, source)


def texts(parsed: Parsed) -> list[str]:
    return [entry.text for entry in parsed.entries]


def said(parsed: Parsed, text: str) -> Entry:
    """The one entry that says this."""
    (found,) = [entry for entry in parsed.entries if entry.text == text]
    return found
