"""How far a list goes, by what is said in it: system prompts come and go with each run, and don't count. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from memoranda.conversations.digests import NO_CHAIN, chain_after, digest_of
from memoranda.conversations.models import Message


class Line(NamedTuple):
    """A message as far as it counts: who speaks, and the digest, in which there is no time."""

    role: str
    digest: str


class Mark(NamedTuple):
    """The exact list of all that is said: how much that is, and the chain over it."""

    length: int
    digest: str


def lines_of(messages: Sequence[Message]) -> list[Line]:
    """The lines of a list."""
    return [Line(message.role, digest_of(message)) for message in messages]


def mark_of(lines: Sequence[Line]) -> Mark:
    """The mark at the end of a list."""
    chain, said = NO_CHAIN, _said(lines)
    for place in said:
        chain = chain_after(chain, lines[place].digest)
    return Mark(len(said), chain)


def kept_upto(lines: Sequence[Line], mark: Mark) -> int | None:
    """How many lines of the list go up to the mark; None where the list does not begin so."""
    if mark.length == 0:
        return 0
    said = _said(lines)
    if len(said) < mark.length:
        return None
    chain = NO_CHAIN
    for place in said[: mark.length]:
        chain = chain_after(chain, lines[place].digest)
    return said[mark.length - 1] + 1 if chain == mark.digest else None


def _said(lines: Sequence[Line]) -> list[int]:
    """The places of all but prompts: a system's anywhere, a developer's in front."""
    front = 0
    while front < len(lines) and lines[front].role in {"system", "developer"}:
        front += 1
    return [place for place, line in enumerate(lines) if place >= front and line.role != "system"]
