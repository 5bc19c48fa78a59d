"""The values of checkpoints: parts that a host serialized, and a thread's state at one moment."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """Something that a host serialized: what kind its serializer calls it, and the bytes."""

    kind: str
    body: bytes


@dataclass(frozen=True)
class At:
    """A checkpoint of a thread's namespace. Without an id it is the latest one."""

    thread_id: str
    namespace: str = ""
    checkpoint_id: str | None = None


@dataclass(frozen=True)
class Channel:
    """What a channel held at a version; each version is kept once, for all checkpoints that name it."""

    name: str
    version: str
    value: Part


@dataclass(frozen=True)
class NewCheckpoint:
    """A checkpoint to keep. `channels` names the version of every channel, and `values` are those that are new.

    `partial` says that what came before is needed too in order to know its state.
    """

    thread_id: str
    namespace: str
    checkpoint_id: str
    parent_id: str | None
    run_id: str | None
    channels: Mapping[str, str]
    state: Part
    metadata: Part
    values: Sequence[Channel] = ()
    partial: bool = False


@dataclass(frozen=True)
class Write:
    """What a task wrote to a channel, in its place. One below 0 takes the place of what was there."""

    number: int
    channel: str
    value: Part


@dataclass(frozen=True)
class KeptWrite:
    """A write with the task that made it."""

    task_id: str
    channel: str
    value: Part


@dataclass(frozen=True)
class KeptCheckpoint:
    """A checkpoint as it is kept, with what its channels held, and what tasks wrote since in the order of their paths."""

    thread_id: str
    namespace: str
    checkpoint_id: str
    parent_id: str | None
    state: Part
    metadata: Part
    values: Mapping[str, Part]
    writes: Sequence[KeptWrite]


StartedFrom = Callable[[KeptCheckpoint], str | None]
"""Says from which checkpoint of the thread's own graph a subgraph's call was started; None where it outlives its calls."""
