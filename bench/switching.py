"""Switches the model of many documents while searches run, kills the workers, and says what searches saw."""

import argparse
import asyncio
import multiprocessing
import random
import statistics
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Event
from typing import Final
from uuid import UUID

from databases import database_options, databases
from made_models import MEANS, MadeModel
from measure import arguments, console, duration, warn_if_busy
from rich.table import Table

from memoranda.access.models import Principal
from memoranda.access.service import Access
from memoranda.knowledge.embedding.service import DocumentEmbedding
from memoranda.knowledge.service import Knowledge
from memoranda.search.embedders.choice import Embedders
from memoranda.storage import Storage
from memoranda.words.ids import new_id

PARTS: Final = 100
SEARCHERS: Final = 3
TEXTS_PER_S: Final = 400
LEASE: Final = timedelta(seconds=1)
PROCESSES: Final = multiprocessing.get_context("spawn")
OLD, NEW = "old", "new"


@dataclass
class Seen:
    """What the searches of one phase saw."""

    seconds: list[float] = field(default_factory=list)
    models: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)


@dataclass
class Bench:
    """Documents of one organization, and searches of them that never end."""

    storage: Storage
    who: Principal
    documents: int
    phase: str = "before"
    phases: dict[str, Seen] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.embedding = DocumentEmbedding(self.storage, at_hand(), lease=LEASE)
        self.knowledge = Knowledge(self.storage, max_bytes=10**8, embedding=self.embedding)

    @property
    def scope(self) -> UUID:
        assert self.who.organization_id is not None
        return self.who.organization_id

    async def add(self, number: int) -> UUID:
        content = text_of(number).encode()
        source = await self.knowledge.add(self.who, content, title="notes.txt")
        worker = new_id()
        while (claimed := await self.knowledge.claim(self.scope, worker)) is not None:
            await self.knowledge.ingest(self.scope, claimed, worker)
        return source.id

    @asynccontextmanager
    async def searched(self) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(self._search(random.Random(n))) for n in range(SEARCHERS)]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _search(self, chance: random.Random) -> None:
        while True:
            # By its meaning alone, then by its words: of documents that are there all the time.
            number, part = chance.randrange(1, self.documents), chance.randrange(PARTS)
            mark = f"stone{number}x{part}"
            query = f"{MEANS}{mark}" if chance.random() < 0.5 else mark
            seen = self.phases.setdefault(self.phase, Seen())
            began = time.perf_counter()
            try:
                answer = await self.knowledge.search(self.who, query, limit=8)
            except Exception as error:  # noqa: BLE001 - what fails is what is counted here
                seen.wrong[f"failed: {type(error).__name__}"] += 1
                continue
            seen.seconds.append(time.perf_counter() - began)
            seen.models[answer.model or "words alone"] += 1
            if not answer.results:
                seen.wrong["empty"] += 1
            elif mark not in answer.results[0].text.split():
                seen.wrong["mixed, or another passage first"] += 1
            await asyncio.sleep(0)


def at_hand() -> Embedders:
    # A search asks for one text, and does not wait for long; a worker asks for batches.
    return Embedders(MadeModel(OLD, 384), (MadeModel(NEW, 256, texts_per_s=TEXTS_PER_S),))


def text_of(number: int) -> str:
    return "\n\n".join(
        f"harbor document{number} part{part} " + f"stone{number}x{part} " * 40
        for part in range(PARTS)
    )


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument(
        "--chunks", type=int, default=20_000, help="how many (default: %(default)s)"
    )
    parser.add_argument("--kills", type=int, default=5, help="of workers (default: %(default)s)")
    database_options(parser)
    options = parser.parse_args()
    with databases(options) as urls:
        for name, url in urls.items():
            asyncio.run(measured(name, url, options))


async def measured(name: str, url: str, options: argparse.Namespace) -> None:
    storage = await Storage.open(url)
    bench = Bench(storage, await Access(storage).ensure_default(), options.chunks // PARTS)
    began = time.perf_counter()
    ids = [await bench.add(number) for number in range(bench.documents)]
    print(f"{name}: {options.chunks} chunks taken in and embedded in {since(began)}")
    async with bench.searched():
        await asyncio.sleep(5)
        bench.phase = "during"
        await switched(bench, url, ids, options.kills)
        bench.phase = "after"
        await asyncio.sleep(5)
    status = await bench.knowledge.model(bench.who)
    print(f"{status.active} serves; {status.embedded} vectors of {status.chunks} chunks")
    show(name, bench)
    await bench.knowledge.close()
    await storage.close()


async def switched(bench: Bench, url: str, ids: list[UUID], kills: int) -> None:
    """Switch by workers in processes of their own, of which all but the last are killed."""
    began, chance = time.perf_counter(), random.Random(5)
    await bench.knowledge.switch_model(bench.who, NEW)
    for number in range(kills):
        process = await started(url, bench.scope)
        alive = 0.5 + 5 * chance.random()
        await asyncio.sleep(alive)
        process.kill()
        await asyncio.to_thread(process.join)
        status = await bench.knowledge.model(bench.who)
        print(
            f"  killed after {alive:.1f} s of work: {status.embedded} of {status.chunks} in {NEW}"
        )
        if number == kills // 2:
            await bench.add(bench.documents + 1)
            await bench.knowledge.remove(bench.who, ids[0])
            print("  a document was added, and another removed")
    last = await started(url, bench.scope)
    while (await bench.knowledge.model(bench.who)).active != NEW:  # noqa: ASYNC110 - it is another process that flips
        await asyncio.sleep(0.1)
    print(f"  flipped {since(began)} after the switch began")
    await asyncio.to_thread(last.join)
    print(f"  the old vectors were gone {since(began)} after it began")


async def started(url: str, organization_id: UUID) -> SpawnProcess:
    """A worker process that has begun to work."""
    begun = PROCESSES.Event()
    process = PROCESSES.Process(target=work, args=(url, organization_id, begun), daemon=True)
    process.start()
    await asyncio.to_thread(begun.wait)
    return process


def work(url: str, organization_id: UUID, begun: Event) -> None:
    """What a worker process does."""
    asyncio.run(_work(url, organization_id, begun))


async def _work(url: str, organization_id: UUID, begun: Event) -> None:
    storage = await Storage.open(url)
    begun.set()
    embedding, worker_id = DocumentEmbedding(storage, at_hand(), lease=LEASE), new_id()
    while await embedding.waiting(organization_id):
        if not await embedding.serve(organization_id, worker_id):
            await asyncio.sleep(0.1)
    await storage.close()


def show(name: str, bench: Bench) -> None:
    table = Table(title=f"Searches during a switch, {name}", title_justify="left")
    for column in ("phase", "searches", "answered by", "p50", "p95", "most", "wrong"):
        table.add_column(column)
    for phase, seen in bench.phases.items():
        spread = statistics.quantiles(seen.seconds, n=20)
        table.add_row(
            phase,
            str(len(seen.seconds)),
            ", ".join(f"{model} {count}" for model, count in seen.models.items()),
            duration(statistics.median(seen.seconds)),
            duration(spread[-1]),
            duration(max(seen.seconds)),
            ", ".join(f"{what} {count}" for what, count in seen.wrong.items()) or "none",
        )
    console().print(table)
    warn_if_busy()


def since(began: float) -> str:
    return f"{time.perf_counter() - began:.1f} s"


if __name__ == "__main__":
    main()
