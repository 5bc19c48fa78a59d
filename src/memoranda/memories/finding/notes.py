"""Notes what recalls gave to runs, in the background: no run waits for it, and none fails by it."""

import asyncio
import logging
from typing import Any
from uuid import UUID

from memoranda.access.roles import sees
from memoranda.memories.finding import store
from memoranda.memories.finding.asked import Asked
from memoranda.memories.models import Recall
from memoranda.runs.models import LogLevel
from memoranda.runs.store import find_run
from memoranda.storage import Storage, Transaction

logger = logging.getLogger(__name__)


class Notes:
    """Counts use, and writes a line into the log of the run where one is named."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        # The loop holds tasks weakly, and nobody else waits for these.
        self._under_way: set[asyncio.Task[None]] = set()

    def take(self, asked: Asked, recall: Recall) -> None:
        """Begin to write down what the recall gave, or why it gave nothing."""
        if asked.leaves_a_trace and (asked.run_id is not None or recall.memories):
            task = asyncio.create_task(self._write(asked, recall))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)

    async def settled(self) -> None:
        """Wait until all of it is written."""
        while self._under_way:
            await asyncio.wait(self._under_way)

    async def _write(self, asked: Asked, recall: Recall) -> None:
        try:
            await self._storage.write(asked.subject.organization_id, _note, asked, recall)
        except Exception as error:  # noqa: BLE001 - of all kinds: nobody awaits this task, and what it can't note the run has already
            # The type alone: an error's message may quote what people wrote.
            logger.warning("A recall was not noted (%s).", type(error).__name__)


def known_run(tx: Transaction, asked: Asked) -> UUID | None:
    """The run that is named, where it is there and whoever asks may know it."""
    run = None if asked.run_id is None else find_run(tx, asked.run_id)
    if run is None:
        return None
    who = asked.who
    return run.id if who is None or sees(who, user_id=run.user_id, agent_id=run.agent_id) else None


def _note(tx: Transaction, asked: Asked, recall: Recall) -> None:
    """Ids and counts, never text."""
    ids = [memory.id for memory in recall.memories]
    metadata: dict[str, Any] = {
        "outcome": recall.outcome,
        "injected": [str(each) for each in ids],
        "count": len(ids),
        "tokens": recall.tokens,
        "dropped": recall.dropped,
        "semantic": recall.semantic,
    }
    failed = recall.outcome in {"timeout", "failed"}
    level = LogLevel.WARNING if failed else LogLevel.INFO
    store.note(tx, ids, known_run(tx, asked), level, metadata)
