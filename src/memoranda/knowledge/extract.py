"""A source's bytes to its chunks, or an honest reason why not."""

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Final

from memoranda.knowledge.chunk import Chunk, cut_markdown, cut_text, cut_written
from memoranda.knowledge.errors import EmptyDocument, UnreadableDocument
from memoranda.knowledge.formats.apart import read_apart
from memoranda.knowledge.formats.bounds import Bounds
from memoranda.knowledge.formats.told import check_kind, refuse_other, told_by_bytes
from memoranda.knowledge.models import SourceKind
from memoranda.knowledge.text import check_size, read_text, refuse_bytes
from memoranda.knowledge.transcript import read_first_turn, read_turns
from memoranda.words.tokens import Estimator, estimate_tokens

BOUNDS: Final = Bounds()

_BY_SUFFIX: Final[dict[str, SourceKind]] = {
    "md": "markdown",
    "markdown": "markdown",
    "jsonl": "transcript",
    "ndjson": "transcript",
    "pdf": "pdf",
    "docx": "docx",
    "docm": "docx",
    "dotx": "docx",
    "html": "html",
    "htm": "html",
    "xhtml": "html",
    "csv": "csv",
    "tsv": "csv",
    "tab": "csv",
}
_CUT: Final[dict[SourceKind, Callable[[str, Estimator], list[Chunk]]]] = {
    "text": cut_text,
    "markdown": cut_markdown,
    "transcript": read_turns,
}


def kind_of(filename: str, data: bytes = b"") -> SourceKind:
    """Tell a file's kind from its name; what is not known is plain text.

    Bytes that are a PDF or DOCX for certain are one, whatever they are called.
    """
    if told := told_by_bytes(data):
        return told
    suffix = filename.rpartition(".")[2].casefold()
    return _BY_SUFFIX.get(suffix, "text")


def misfit(data: bytes, kind: SourceKind) -> UnreadableDocument | None:
    """Why these bytes are not read as the kind, where a look at them already tells; None where it doesn't."""
    try:
        check_kind(data, kind)
        if kind not in {"pdf", "docx"}:
            refuse_bytes(data)
        if kind == "transcript":
            read_first_turn(data)
    except UnreadableDocument as error:
        return error
    return None


def uri_of(path: str | Path) -> str:
    """The `file://` URI of a path on this machine, by which the same file is the same source again."""
    # Not resolved: a link is followed when it is read, not when it is named.
    return Path(os.path.normpath(Path(path).absolute())).as_uri()


def extract(
    data: bytes,
    kind: SourceKind,
    *,
    limit: int,
    estimator: Estimator = estimate_tokens,
    bounds: Bounds = BOUNDS,
    keep_on: Callable[[], object] = lambda: None,
) -> list[Chunk]:
    """Return the chunks of a source of at most `limit` bytes, in order; never an empty list.

    What a library reads is read in a process of its own, within `bounds`; whatever `keep_on`
    raises ends it. Raises an UnreadableDocument or DocumentTooLarge, whose message is the
    reason to show.
    """
    check_size(data, limit)
    if kind in _CUT:
        refuse_other(data)
        chunks = _CUT[kind](read_text(data, limit), estimator)
    else:
        chunks = cut_written(read_apart(data, kind, limit, bounds, keep_on), estimator)
    if not any(_is_seen(character) for chunk in chunks for character in chunk.text):
        raise EmptyDocument("The file holds no words. Add one that holds text.")
    return chunks


def _is_seen(character: str) -> bool:
    """Whether it is neither a space nor one of the characters that take no place, such as a zero-width joiner."""
    return unicodedata.category(character)[0] not in "CZ"
