"""How an item, a section heading and the unavailable line are written on the page.

One item is one line: `- [kind:id] Title: body`. Only this module writes section headings and
citations, and nothing that an item holds can look like either:

* every run of whitespace, of whatever script, is one space, so no text starts a line;
* an opening square bracket that would start a citation (`[`, a kind, `:`) becomes `(`, with its
  closing bracket; every other bracket stays, so `a[0]`, `[text](url)` and JSON read as they were;
* a ref whose kind or id can't be written as it is stored is shown in round brackets instead.

So each `[kind:id]` in a brief is the ref of a kept item, exactly as stored.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memoranda.briefs.models import CLASS_ORDER, ContextItem, ContextKind
from memoranda.words.citation import KIND, without_citations
from memoranda.words.ref import ResourceRef
from memoranda.words.text import neutral_line

HEADINGS: dict[ContextKind, str] = {
    "conversation": "## Conversation",
    "outreach_thread": "## Outreach thread",
    "outreach": "## Outreach",
    "personal_memory": "## Personal memory",
    "application": "## Application state",
    "dossier": "## Company dossier",
    "definition_summary": "## Definitions",
    "knowledge": "## Knowledge",
    "memory": "## Memory",
    "run_history": "## Run history",
}

EXCERPT_CHARS = 60

_CITABLE_KIND = re.compile(KIND)
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")  # what nearly every kind and id is made of


class Line(NamedTuple):
    """An item as the page shows it. `text` ends with the newline; `frame` is all but the body."""

    text: str
    frame: str
    body: str
    title: str
    refs: Sequence[ResourceRef]


def write_line(item: ContextItem) -> Line:
    """Write one item on one line, and say which refs a reply may cite because of it.

    These are its own ref, and each of `body_refs` whose id stands in the line as a whole word.
    """
    title, body = neutral_line(item.title), neutral_line(item.body)
    said = f"{title}: {body}" if title and body else title or body
    own = item.ref
    if own is None:
        marker = "- "
    elif _is_citable(own):
        marker = f"- [{own.kind}:{own.id}] "
    else:
        marker, said = "- ", f"({neutral_line(own.kind)}:{neutral_line(own.id)}) {said}"
        own = None
    said = without_citations(said)
    text = (marker + said).rstrip(" ") + "\n"
    refs = [] if own is None else [own]
    refs += [ref for ref in item.body_refs if _is_citable(ref) and _names(said, ref.id)]
    # A rewritten bracket keeps its length, so the body is still the tail of the line.
    start = len(text) - 1 - len(body)
    return Line(text, text[:start] + "\n", text[start:-1], title, refs)


def excerpt(body: str) -> str:
    """The first words of a body, by which a person knows an item that has no title."""
    if len(body) <= EXCERPT_CHARS:
        return body
    cut = body[: EXCERPT_CHARS - 1]
    return cut[: cut.rfind(" ") if " " in cut else None].rstrip(" ") + "…"


def write_heading(kind: ContextKind) -> str:
    """Write a section's heading with the blank line above it."""
    return f"\n{HEADINGS[kind]}\n"


def write_notice(failed_sources: Iterable[str]) -> str:
    """Write the line that names the sources that did not answer; "" when all did."""
    names = ", ".join(neutral_line(name) or "(no name)" for name in failed_sources)
    if not names:
        return ""
    notice = f"Unavailable sources: {names}. What they hold is missing from this brief."
    return without_citations(notice) + "\n"


def section_order(page_order: Iterable[ContextKind]) -> list[ContextKind]:
    """Return all kinds: those of `page_order` first, then the rest in class order."""
    return list(dict.fromkeys([*page_order, *CLASS_ORDER]))


def _is_citable(ref: ResourceRef) -> bool:
    """Say whether `[kind:id]` holds both parts exactly as they are stored."""
    if _PLAIN.fullmatch(ref.kind) and _PLAIN.fullmatch(ref.id):
        return True
    return (
        _CITABLE_KIND.fullmatch(ref.kind) is not None
        and "[" not in ref.id
        and "]" not in ref.id
        and neutral_line(ref.kind) == ref.kind
        and neutral_line(ref.id) == ref.id
    )


def _names(text: str, row_id: str) -> bool:
    """Say whether the id stands in the text on its own, not within a longer word."""
    return re.search(rf"(?<![\w-]){re.escape(row_id)}(?![\w-])", text) is not None
