"""A process that calls a tool without end, each call under a key of its own, until it is killed."""

import asyncio
from multiprocessing.connection import Connection

from memoranda.storage import Storage
from tests.contract.tenants import Tenant
from tests.contract.tool_house import ToolHouse

CALLERS = 4


def call_until_killed(url: str, acme: Tenant, name: str, report: Connection) -> None:
    """Send None when the database is open, then each key before it is used and after it is answered."""
    asyncio.run(_call(url, acme, name, report))


async def _call(url: str, acme: Tenant, name: str, report: Connection) -> None:
    house = ToolHouse(await Storage.open(url), acme)
    report.send(None)

    async def call(number: int) -> None:
        turn = 0
        while True:
            turn += 1
            key = f"{name}.{number}.{turn}"
            report.send((key, None))
            made = await house.tools.invoke(acme.owner, "note", {"text": key}, key=key)
            report.send((key, made.answer["memory_id"]))

    # Several at once, so that a kill meets several calls that share one commit.
    await asyncio.gather(*[call(number) for number in range(CALLERS)])
