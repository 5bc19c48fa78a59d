"""A process that speaks and compacts without end, and says what was acknowledged, until it is killed."""

import asyncio
from contextlib import suppress
from multiprocessing.connection import Connection
from uuid import UUID

from memoranda.access.models import Principal
from memoranda.conversations.compaction.service import Compactions
from memoranda.conversations.errors import NothingToCompact
from memoranda.conversations.service import Conversations
from memoranda.storage import Storage
from tests.contract.talking_house import turn

SPEAKERS = 2


def speak_until_killed(
    url: str, who: Principal, conversation_id: UUID, first: int, report: Connection
) -> None:
    """Send None when the database is open, then the number of each turn, or "compacted", once it is acknowledged."""
    asyncio.run(_speak(url, who, conversation_id, first, report))


async def _speak(
    url: str, who: Principal, conversation_id: UUID, first: int, report: Connection
) -> None:
    storage = await Storage.open(url)
    talks, compactions = Conversations(storage), Compactions(storage)
    report.send(None)

    async def speak(number: int) -> None:
        while True:
            await talks.append(who, conversation_id, turn(number, size=120))
            report.send(number)
            number += SPEAKERS

    async def compact() -> None:
        while True:
            with suppress(NothingToCompact):
                done = await compactions.compact(who, conversation_id)
                if done.status == "activated":
                    report.send("compacted")

    await asyncio.gather(*(speak(first + each) for each in range(SPEAKERS)), compact(), compact())
