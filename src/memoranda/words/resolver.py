"""What it takes to tell whether the row that a ref names is there for a subject."""

from collections.abc import Iterable
from typing import Protocol

from memoranda.words.ref import ResourceRef
from memoranda.words.subject import ContextSubject


class RefResolver(Protocol):
    """Knows some kinds of rows; of a kind that it does not know, none is there."""

    def knows(self, kind: str) -> bool:
        """Whether rows of this kind can be there at all."""
        ...

    async def exists(
        self, subject: ContextSubject, refs: Iterable[ResourceRef]
    ) -> set[ResourceRef]:
        """Those of the refs whose rows are the subject's organization's, with one question for each kind."""
        ...
