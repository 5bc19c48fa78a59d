"""A process that remembers and forgets without end, and says what was acknowledged, until it is killed."""

import asyncio
from multiprocessing.connection import Connection
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.memories.models import Memory, MemoryStatus
from memoranda.memories.service import Memories
from memoranda.storage import Storage

Acknowledged = tuple[UUID, int, str | None]
"""A memory's id, the version that was written, and its text; None for a tombstone."""


def write_until_killed(
    url: str, who: Principal, name: str, writers: int, report: Connection
) -> None:
    """Send None when the database is open, and then each write once it is acknowledged."""
    asyncio.run(_write(url, who, name, writers, report))


async def _write(url: str, who: Principal, name: str, writers: int, report: Connection) -> None:
    memories = Memories(await Storage.open(url))
    report.send(None)

    def tell(memory: Memory) -> None:
        # A forgotten memory says what it said; the revision that was written then has no text.
        written = memory.text if memory.status is MemoryStatus.ACTIVE else None
        report.send((memory.id, memory.version, written))

    async def write(number: int) -> None:
        """Each turn adds to a chain that all rounds share, begins one, and forgets that one."""
        turn = 0
        while True:
            turn += 1
            said = f"{name}.{number}.{turn}"
            tell(await memories.remember(who, said, attribute=f"observation.w{number}"))
            made = await memories.remember(who, f"alone {said}")
            tell(made)
            tell(await memories.forget(who, made.id))

    # Several at once, so that a kill meets several writes that share one commit.
    await asyncio.gather(*[write(number) for number in range(writers)])
