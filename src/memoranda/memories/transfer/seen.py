"""What the lines of a file that came before have said, so that a dry run can tell what the real one meets."""

from collections import Counter
from typing import NamedTuple

Identity = tuple[str, str | None, str]
"""For whom something was forgotten, under which key, and what it said."""


class UnderKey(NamedTuple):
    """What an earlier line put under a key; it is forgotten where the text is None."""

    line: int
    text: str | None


class Seen:
    """What was taken from the file, by what may meet it.

    A fork holds what a transaction adds: it is joined once that is committed, and else dropped.
    """

    def __init__(self, before: "Seen | None" = None) -> None:
        self._before = before
        self.texts: dict[tuple[str, bytes], int] = {}
        self.keys: dict[tuple[str, str], UnderKey] = {}
        self.proposed: dict[tuple[str, str | None, bytes], int] = {}
        self.ended: Counter[Identity] = Counter()
        self.active: int = before.active if before else 0
        self.pinned: int = before.pinned if before else 0
        self.waits: int = before.waits if before else 0

    def fork(self) -> "Seen":
        """What is added from here on."""
        return Seen(self)

    def join(self, fork: "Seen") -> None:
        """Take over what a fork has added."""
        self.texts |= fork.texts
        self.keys |= fork.keys
        self.proposed |= fork.proposed
        self.ended.update(fork.ended)
        self.active, self.pinned, self.waits = fork.active, fork.pinned, fork.waits

    def text(self, said: tuple[str, bytes]) -> int | None:
        """The line that said this to the same audience."""
        found = self.texts.get(said)
        return self._before.text(said) if found is None and self._before else found

    def key(self, key: tuple[str, str]) -> UnderKey | None:
        """What a line put under this key."""
        found = self.keys.get(key)
        return self._before.key(key) if found is None and self._before else found

    def waiting(self, said: tuple[str, str | None, bytes]) -> int | None:
        """The line that proposed this."""
        found = self.proposed.get(said)
        return self._before.waiting(said) if found is None and self._before else found

    def forgotten(self, identity: Identity) -> int:
        """How many lines had this as forgotten."""
        return self.ended[identity] + (self._before.forgotten(identity) if self._before else 0)

    def add(self, spelled: str, key: str | None, text: str, digest: bytes, line: int) -> None:
        """A line was taken as an active memory."""
        self.texts.setdefault((spelled, digest), line)
        if key is not None:
            self.keys[spelled, key] = UnderKey(line, text)

    def add_forgotten(self, identity: Identity, line: int, *, taken: bool) -> None:
        """A line had something forgotten, whether it was taken or known."""
        self.ended[identity] += 1
        spelled, key, _ = identity
        if taken and key is not None:
            self.keys[spelled, key] = UnderKey(line, None)

    def add_waiting(self, said: tuple[str, str | None, bytes], line: int) -> None:
        """A line was taken as a proposal."""
        self.proposed[said] = line
        self.waits += 1
