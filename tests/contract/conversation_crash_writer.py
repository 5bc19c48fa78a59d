"""A process that saves, appends and clears without end, and says what was acknowledged, until it is killed."""

import asyncio
from multiprocessing.connection import Connection

from memoranda.access.models import Principal
from memoranda.conversations.models import ConversationKey, Message
from memoranda.conversations.service import Conversations
from memoranda.storage import Storage

Acknowledged = tuple[str, list[str]]
"""The workflow, and the whole list that it holds since the write was acknowledged."""


def write_until_killed(
    url: str, who: Principal, name: str, writers: int, report: Connection
) -> None:
    """Send None when the database is open, and then each list once it is acknowledged."""
    asyncio.run(_write(url, who, name, writers, report))


async def _write(url: str, who: Principal, name: str, writers: int, report: Connection) -> None:
    talks = Conversations(await Storage.open(url))
    report.send(None)

    async def write(number: int) -> None:
        key = ConversationKey(workflow_id=f"{name} {number}")
        said: list[str] = []
        turn = fence = 0
        while True:
            turn += 1
            new = [f"{turn} asks", f"{turn} hears"]
            if turn % 7 == 0:
                await talks.clear(who, key)
                said, fence = [], fence + 1
            elif turn % 3 == 0:
                said = [*said, *new]
                await talks.append(who, key, _messages(new))
            elif turn % 4 == 0 and said:
                said = [*said[1:], *new]
                await talks.save(who, key, _messages(said), fence=fence)
            else:
                said = [*said, *new]
                await talks.save(who, key, _messages(said), fence=fence)
            report.send((key.workflow_id, list(said)))

    await asyncio.gather(*[write(number) for number in range(writers)])


def _messages(texts: list[str]) -> list[Message]:
    return [Message(role="user", content=text) for text in texts]
