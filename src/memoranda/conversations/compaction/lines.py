"""Messages as plain lines, one for each thing that was said or done, safe to quote. Pure."""

from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from memoranda.conversations.calls import Block, blocks_of, calls_of
from memoranda.conversations.compaction.summary import summary_of
from memoranda.conversations.models import Message
from memoranda.conversations.said import is_summary
from memoranda.words.graphemes import boundary_before
from memoranda.words.text import neutral_line, neutralize

LineKind = Literal["summary", "said", "call", "result"]
FIRST_CHARS: Final = 20_000
"""The characters of one text that are looked at: more would be cut away in any case."""


class Line(NamedTuple):
    """One line: what kind of thing it tells of, who, and what."""

    kind: LineKind
    who: str
    text: str

    def written(self, chars: int) -> str:
        """The line with at most so many characters of its text."""
        said = shortened(self.text, chars)
        return f"- {self.who}: {said}" if self.who else f"- {said}"


def lines_of(messages: Iterable[Message]) -> Iterator[Line]:
    """The lines of messages in their order; thoughts and opaque state are left out."""
    names: dict[str, str] = {}
    for message in messages:
        if is_summary(message):
            yield from _of_summary(message)
            continue
        names |= {call.id: call.name for call in calls_of(message)}
        yield from _of_message(message, names)


def shortened(line: str, chars: int) -> str:
    """The beginning of a line, and a sign where something is left out."""
    if len(line) <= chars:
        return line
    return line[: boundary_before(line, max(chars - 1, 0))] + "…"


def _of_summary(message: Message) -> Iterator[Line]:
    """An earlier summary line by line, without what stands above it."""
    for line in neutralize(summary_of(message)).splitlines():
        if said := neutral_line(line).removeprefix("- "):
            yield Line("summary", "", said)


def _of_message(message: Message, names: dict[str, str]) -> Iterator[Line]:
    who = message.role.capitalize()
    if isinstance(message.content, str):
        yield from _said("result" if message.role == "tool" else "said", who, message.content)
        return
    for block in blocks_of(message):
        kind = block.get("type")
        if kind == "text":
            yield from _said("said", who, str(block.get("text", "")))
        elif kind == "tool_call":
            yield from _said("call", f"Called {_name(block)}", str(block.get("arguments", "")))
        elif kind == "tool_result":
            name = neutral_line(names.get(str(block.get("tool_call_id")), "") or _name(block))
            yield from _said("result", f"Result of {name}", _result(block))
        elif kind in {"image", "document"}:
            yield Line("said", who, f"({kind})")


def _said(kind: LineKind, who: str, text: str) -> Iterator[Line]:
    if line := neutral_line(text[:FIRST_CHARS]):
        yield Line(kind, who, line)


def _name(block: Block) -> str:
    return neutral_line(str(block.get("name") or "a tool"))[:100]


def _result(block: Block) -> str:
    content = block.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(_texts(content)) if isinstance(content, list) else ""


def _texts(blocks: Iterable[object]) -> list[str]:
    return [
        str(block.get("text", ""))
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "text"
    ]
