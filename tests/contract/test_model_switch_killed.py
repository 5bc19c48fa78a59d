"""A process killed in the middle of a switch leaves searches as they were, and the next one goes on."""

import asyncio
import multiprocessing
import random
import signal
import time
from uuid import UUID

from memoranda.storage import Storage
from tests.contract.document_house import DocumentHouse, new_document_house, words
from tests.contract.switching_load import Load
from tests.contract.switching_worker import switch_until_killed
from tests.search.synonyms import Synonyms

KILLS = 5
PROCESSES = multiprocessing.get_context("forkserver")


def worked(url: str, organization_id: UUID, after_s: float | None) -> bool:
    """Let a process work until it is killed after so long, or to its end; whether it came to that."""
    here, there = PROCESSES.Pipe(duplex=False)
    worker = PROCESSES.Process(
        target=switch_until_killed, args=(url, organization_id, there), daemon=True
    )
    worker.start()
    there.close()
    assert here.recv() is None
    ended = False
    if after_s is not None:
        time.sleep(after_s)
        worker.kill()
    try:
        while True:
            ended = here.recv() is False or ended
    except EOFError:
        here.close()
    worker.join()
    if after_s is not None and not ended:
        assert worker.exitcode == -signal.SIGKILL
    worker.close()
    return ended


async def filled(storage: Storage) -> DocumentHouse:
    house = await new_document_house(storage, Synonyms("old"), Synonyms("new", 48))
    await house.take_in(*(words(number, 10) for number in range(30)))
    return house


async def test_processes_killed_one_after_the_other_end_a_switch_that_no_search_notices(
    storage: Storage, database_url: str
) -> None:
    house = await filled(storage)
    load = Load(house, [*range(1, 30)], 10, ("old", "new"))
    assert isinstance(house.scope, UUID)
    chance = random.Random(KILLS)
    made = []
    async with load.running(2):
        await house.switch("new")
        for number in range(KILLS):
            after_s = 0.05 + chance.random() * 0.25
            await asyncio.to_thread(worked, database_url, house.scope, after_s)
            made.append((await house.vectors()).get("new", 0))
            if number == 1:
                await house.take_in(words(77, 10))
            if number == 2:
                first = (await house.knowledge.page(house.who, limit=100)).items[-1]
                await house.knowledge.remove(house.who, first.id)
            await asyncio.sleep(0.6)  # the leases of the killed
        assert await asyncio.to_thread(worked, database_url, house.scope, None)
        await asyncio.sleep(0.1)
    assert made[0] < 300, "the first process died before it was done"
    assert {models[-1] for models in load.seen} == {"new"}
    assert (await house.settings())[:2] == ("new", None)
    assert await house.vectors() == {"new": 300}
    assert await house.rows() == [("new", "ready")] * 30
