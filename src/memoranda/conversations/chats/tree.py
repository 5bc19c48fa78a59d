"""The tree of a chat: paths, versions, branches, and what a move leaves. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar
from uuid import UUID


class Node(Protocol):
    """A message, as far as the tree goes."""

    @property
    def id(self) -> UUID: ...
    @property
    def parent_id(self) -> UUID | None: ...
    @property
    def sequence(self) -> int: ...
    @property
    def run_id(self) -> UUID | None: ...


class Turn(Protocol):
    """A run, as far as the tree goes."""

    @property
    def id(self) -> UUID: ...
    @property
    def message_id(self) -> UUID: ...
    @property
    def answer_id(self) -> UUID | None: ...
    @property
    def revision(self) -> int: ...


N = TypeVar("N", bound=Node)
T = TypeVar("T", bound=Turn)


class Crossing(NamedTuple):
    """Which runs a move leaves and which it comes to, each in the order of the path.

    `to` is the leaf that was left before and is come back to; None where the part to come is new.
    """

    left: list[UUID]
    entered: list[UUID]
    to: UUID | None = None


def path(nodes: Mapping[UUID, N], leaf: UUID | None) -> list[N]:
    """The messages from the first to the leaf; none where there is no leaf."""
    found: list[N] = []
    at = leaf
    while at is not None:
        found.append(nodes[at])
        at = nodes[at].parent_id
    return found[::-1]


def versions(nodes: Iterable[N]) -> dict[UUID | None, list[UUID]]:
    """For each parent (None is that of the first messages) what stands below it, the oldest first."""
    below: dict[UUID | None, list[UUID]] = {}
    for node in sorted(nodes, key=_sequence):
        below.setdefault(node.parent_id, []).append(node.id)
    return below


def newest_leaf(nodes: Mapping[UUID, N], branch: UUID) -> UUID:
    """The newest message of the branch that begins with that one: what comes later has a higher number."""
    newest, inside = nodes[branch], {branch}
    for node in sorted(nodes.values(), key=_sequence):
        if node.parent_id in inside:
            inside.add(node.id)
            newest = node
    return newest.id


def standing(shown: Sequence[N], runs: Iterable[T]) -> list[T]:
    """The runs that brought about what is shown, in the order of the path.

    Of an answered message that is the run of the answer, and of one without an answer on the path the last run
    that had none to give.
    """
    of: dict[UUID, list[T]] = {}
    for run in runs:
        of.setdefault(run.message_id, []).append(run)
    after = [*shown[1:], None]  # one more than there are messages, where there are none
    found = [_run_of(of.get(node.id, []), then) for node, then in zip(shown, after, strict=False)]
    return [run for run in found if run is not None]


def crossing(before: Sequence[Turn], after: Sequence[Turn]) -> Crossing:
    """What lies between two lists of standing runs."""
    old, new = [run.id for run in before], [run.id for run in after]
    return Crossing(
        [each for each in old if each not in set(new)],
        [each for each in new if each not in set(old)],
    )


def untold(shown: Sequence[N], told: Collection[UUID]) -> list[N]:
    """What of the path an agent doesn't know yet: all behind the last answer of a run that is `told`.

    Those are the runs that saved for it what they came to.
    """
    found: list[N] = []
    for node in reversed(shown):
        if node.run_id in told:
            break
        found.append(node)
    return found[::-1]


def _run_of(runs: Sequence[T], after: N | None) -> T | None:
    """The run of a message that stands for what comes after it."""
    if after is not None and after.run_id is not None:
        return next((run for run in runs if run.id == after.run_id), None)
    silent = [run for run in runs if run.answer_id is None]
    return max(silent, key=_revision, default=None)


def _sequence(node: Node) -> int:
    return node.sequence


def _revision(run: Turn) -> int:
    return run.revision
