"""Application state, for scripts: rows of the host's own tables, by their refs."""

from collections.abc import Sequence

from memoranda.state.models import Resolved, StateKind
from memoranda.sync.opened import Room
from memoranda.words.ref import ResourceRef


class State(Room):
    """The host's rows; each verb is that of `StateReader`."""

    def kinds(self) -> list[StateKind]:
        """The kinds of rows that may be asked for; see `StateReader.kinds`."""
        return self._call(lambda at: at.state.kinds(at.owner))

    def resolve(self, refs: Sequence[ResourceRef]) -> list[Resolved]:
        """The rows that these refs name; see `StateReader.resolve`."""
        return self._call(lambda at: at.state.resolve(at.owner, refs))
