"""What a reset takes along beside conversations."""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.storage import Transaction


class SpacesReset(NamedTuple):
    """The spaces of a workflow whose memories were forgotten, by name, and how many memories that were."""

    cleared: list[str]
    forgotten: int


Spaces: TypeAlias = Callable[[Transaction, Principal, str], SpacesReset]
"""Does with each memory space of a workflow what its policy says, within the reset's own transaction."""
Quoted: TypeAlias = Callable[[Transaction, list[UUID]], None]
"""Takes away what other rooms quote of conversations that are deleted for good, within that transaction."""


def _no_spaces(_: Transaction, __: Principal, ___: str) -> SpacesReset:
    return SpacesReset([], 0)


def _quoted_nowhere(_: Transaction, __: list[UUID]) -> None:
    """Nobody else keeps anything."""


class Elsewhere(NamedTuple):
    """What other rooms do where conversations are reset or purged."""

    spaces: Spaces = _no_spaces
    quoted: Quoted = _quoted_nowhere


NOTHING_ELSEWHERE: Final = Elsewhere()
