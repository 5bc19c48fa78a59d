"""What is kept of an agent's conversation for the way back."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from memoranda.conversations.chats.branches.marks import Mark
from memoranda.conversations.rows.store import Written

MOST_SNAPSHOTS: Final = 100
"""Snapshots that a chat keeps, one for each agent of each branch that was left."""
SNAPSHOT_BYTES: Final = 32 * 1024 * 1024
"""Bytes that all snapshots of a chat may have."""


class Ground(NamedTuple):
    """What nobody may have touched if a list is to become again what it was: how often it was cleared and compacted."""

    fence: int
    compactions: int


class Cursor(NamedTuple):
    """Where an agent's conversation was when a run began from it: as it was stored, and as the run was given it."""

    run_id: UUID
    agent_id: UUID | None
    generation: int
    ground: Ground
    stored: Mark
    given: Mark


class Kept(NamedTuple):
    """A message of a snapshot: as its row holds it, and when it was said."""

    written: Written
    ts: datetime


class Snapshot(NamedTuple):
    """All of an agent's conversation when a branch was left; nothing, where there was none."""

    agent_id: UUID | None
    ground: Ground
    messages: Sequence[Kept]


def packed(messages: Sequence[Kept]) -> str:
    """The messages of a snapshot as one JSON text."""
    return json.dumps(
        [[*each.written, each.ts.isoformat()] for each in messages], ensure_ascii=False
    )


def unpacked(text: str) -> list[Kept]:
    """What was packed."""
    return [
        Kept(Written(*written), datetime.fromisoformat(ts)) for *written, ts in json.loads(text)
    ]
