"""How many of the best results an answer has room for."""

from collections.abc import Iterable
from typing import Protocol, TypeVar


class Shown(Protocol):
    """A result that is shown with its text."""

    @property
    def text(self) -> str: ...


T = TypeVar("T", bound=Shown)


def within(chars: int, results: Iterable[T]) -> list[T]:
    """Return the first results whose texts have at most `chars` characters together, and always one."""
    kept: list[T] = []
    room = chars
    for result in results:
        room -= len(result.text)
        if room < 0 and kept:
            break
        kept.append(result)
    return kept
