"""Eight processes that write and read one database: nobody meets an error, nothing is lost."""

import asyncio
import multiprocessing
from multiprocessing.connection import Connection
from uuid import UUID

import pytest

from memoranda.access.models import Principal
from memoranda.knowledge.service import Knowledge
from memoranda.memories.service import Memories
from memoranda.storage import Storage
from tests.contract.tenants import new_tenant
from tests.contract.test_memory_races import assert_whole

PROCESSES = 8
WRITES = 12
SPAWN = multiprocessing.get_context("forkserver")


def work(url: str, who: Principal, number: int, report: Connection) -> None:
    """Write and read at once; report each acknowledged (memory, version), or the error that came."""
    try:
        report.send(asyncio.run(_work(url, who, number)))
    except BaseException as error:
        report.send(repr(error))
        raise


async def _work(url: str, who: Principal, number: int) -> list[tuple[UUID, int, str | None]]:
    storage = await Storage.open(url)
    memories = Memories(storage)
    knowledge = Knowledge(storage, max_bytes=1_000)
    told: list[tuple[UUID, int, str | None]] = []
    try:
        busy = True

        async def write() -> None:
            for turn in range(WRITES):
                for said, key in (
                    (f"{number} says {turn}", "observation.shared"),
                    (f"{number} alone {turn}", None),
                ):
                    made = await memories.remember(who, said, attribute=key)
                    told.append((made.id, made.version, made.text))
                await knowledge.add(who, f"{number} {turn}".encode(), title=f"{turn}.txt")

        async def read() -> None:
            while busy:
                page = await memories.page(who, limit=20)
                assert len({memory.id for memory in page.items}) == len(page.items)
                await knowledge.search(who, "alone")
                await asyncio.sleep(0.02)  # readers who never pause leave two cores to no writer

        reading = [asyncio.create_task(read()) for _ in range(2)]
        await write()
        busy = False
        await asyncio.gather(*reading)
    finally:
        await storage.close()
    return told


@pytest.mark.slow
async def test_eight_processes_write_and_read_without_an_error_and_lose_nothing(
    storage: Storage, database_url: str
) -> None:
    owner = (await new_tenant(storage)).owner
    SPAWN.set_forkserver_preload(["tests.contract.test_many_processes"])
    pipes = [SPAWN.Pipe(duplex=False) for _ in range(PROCESSES)]
    running = [
        SPAWN.Process(target=work, args=(database_url, owner, number, there), daemon=True)
        for number, (_, there) in enumerate(pipes)
    ]
    for process in running:
        process.start()
    told = [await asyncio.to_thread(here.recv) for here, _ in pipes]
    for process in running:
        await asyncio.to_thread(process.join, 60)
    assert [each for each in told if isinstance(each, str)] == []
    assert [process.exitcode for process in running] == [0] * PROCESSES
    memories = Memories(storage)
    acknowledged = [row for each in told for row in each]
    histories = {each: await memories.history(owner, each) for each in {r[0] for r in acknowledged}}
    for history in histories.values():
        assert_whole(history)
    for memory_id, version, text in acknowledged:
        assert histories[memory_id][version - 1].text == text
    assert sum(len(history) for history in histories.values()) == 2 * PROCESSES * WRITES
    assert len(histories) == 1 + PROCESSES * WRITES, "one chain that all shared, and one of each"
    sources = await Knowledge(storage, max_bytes=1_000).page(owner, limit=500)
    assert len(sources.items) == PROCESSES * WRITES
