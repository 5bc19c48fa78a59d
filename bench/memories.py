"""Measures memories: writes and point reads beside raw drivers that run the very same statements."""

import argparse
import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count, islice
from typing import Final
from uuid import UUID

from databases import database_options
from measure import Result, Round, arguments, compare, in_loop, race, show
from places import Place, places
from recorded import Recording, record, record_in_turn
from rivals import RawPostgres, RawSqlite, aiosqlite_read, open_aiosqlite
from syncs import counted

from memoranda.access.models import Principal
from memoranda.app import Memoranda
from memoranda.memories.limits import MemoryLimits
from memoranda.memories.models import Memory
from memoranda.memories.service import Memories
from memoranda.memories.views.store import LIVE_MEMORY
from memoranda.memories.ways import Ways
from memoranda.settings import Settings
from memoranda.storage import Storage, Transaction

WRITES: Final = 20
READS: Final = 100
WRITERS: Final = 32
ROOM: Final = 100_000
EACH: Final = 4
"""Writes of each concurrent writer in one round."""
ENOUGH: Final = 0.7
"""The share of the raw program's throughput that is promised to concurrent writers."""
_numbers: Final = count(1)


@dataclass(frozen=True)
class Bench:
    """An open product on one database, what its writes know, who asks it, and a memory that is there."""

    url: str
    storage: Storage
    memories: Memories
    ways: Ways
    who: Principal
    known: Memory

    @property
    def organization(self) -> UUID:
        assert self.who.organization_id is not None
        return self.who.organization_id


def main() -> None:
    """Print a table for each database."""
    parser = arguments(__doc__ or "")
    database_options(parser)
    options = parser.parse_args()
    with places(options) as found:
        for place in found:
            results = asyncio.run(MEASURES[place.kind](place, options))
            show(f"Memories on {place.kind}", results, as_json=options.json)


async def on_sqlite(place: Place, options: argparse.Namespace) -> list[Result]:
    """Write and read on SQLite; the raw program has a copy of its own to write to."""
    url, raw_url = await twice(place)
    async with opened(url) as bench:
        raw = RawSqlite(raw_url)
        return [
            await one_writer(bench, raw, raw_url, "sqlite3", options.rounds),
            *await many_writers(bench, raw, raw_url, options.rounds),
            *await reads_beside_aiosqlite(bench, options.rounds),
        ]


async def on_postgres(place: Place, options: argparse.Namespace) -> list[Result]:
    """Likewise on PostgreSQL."""
    url, raw_url = await twice(place)
    async with opened(url) as bench:
        raw = RawPostgres(raw_url, bench.organization)
        return [
            await one_writer(bench, raw, raw_url, "psycopg", options.rounds),
            *await reads_beside_psycopg(bench, options.rounds),
        ]


async def twice(place: Place) -> tuple[str, str]:
    """A database with a memory in it, and its copy."""
    url = place.empty()
    async with opened(url):
        pass
    return url, place.copy(url)


MEASURES: Final = {"sqlite": on_sqlite, "postgres": on_postgres}


async def one_writer(
    bench: Bench, raw: RawSqlite | RawPostgres, raw_url: str, rival: str, rounds: int
) -> Result:
    """Remember one text after the other, each durable before the next."""
    recorded = iter(await recordings(bench, raw_url, (rounds + 1) * WRITES))

    async def ours() -> None:
        for _ in range(WRITES):
            await bench.memories.remember(bench.who, text())

    def theirs() -> None:
        for recording in islice(recorded, WRITES):
            raw.write([recording])

    times = await race({"ours": ours, "raw": in_loop(theirs)}, rounds=rounds, operations=WRITES)
    beside = f"raw {rival}, the same statements"
    return replace(compare("remember", times, ours="ours", rival="raw", at_most=1.5), rival=beside)


async def many_writers(bench: Bench, raw: RawSqlite, raw_url: str, rounds: int) -> list[Result]:
    """Let 32 tasks remember at once, beside the same statements 32 writes to a commit, and one by one."""
    writes = WRITERS * EACH
    recorded = iter(await recordings(bench, raw_url, 2 * (rounds + 1) * writes))

    async def ours() -> None:
        await asyncio.gather(*(writer(bench) for _ in range(WRITERS)))

    def together() -> None:
        for _ in range(EACH):
            raw.write(islice(recorded, WRITERS))

    def alone() -> None:
        for recording in islice(recorded, writes):
            raw.write([recording])

    rivals = {"ours": ours, "together": in_loop(together), "alone": in_loop(alone)}
    times = await race(rivals, rounds=rounds, operations=writes)
    async with counted() as counts:
        await ours()
    what = f"remember, {WRITERS} writers"
    beside_batches = compare(what, times, ours="ours", rival="together")
    reached = 1 / beside_batches.ratio
    return [
        replace(
            beside_batches,
            rival=f"raw sqlite3, {WRITERS} writes to a commit",
            bound=f"at least {ENOUGH:.0%} as many",
            within=reached >= ENOUGH,
            note=f"{reached:.0%}; {writes} writes in {counts}",
        ),
        replace(
            compare(what, times, ours="ours", rival="alone"),
            rival="raw sqlite3, a commit for each",
        ),
    ]


async def writer(bench: Bench) -> None:
    for _ in range(EACH):
        await bench.memories.remember(bench.who, text())


async def reads_beside_aiosqlite(bench: Bench, rounds: int) -> list[Result]:
    """Read one memory by its id, and its bare statement through storage."""
    [get] = await record(bench.url, [getting(bench)])
    connection = await open_aiosqlite(bench.url)

    async def theirs() -> None:
        for _ in range(READS):
            await aiosqlite_read(connection, get)

    try:
        return await reads(bench, theirs, rounds, "aiosqlite", 1.2)
    finally:
        await connection.close()


async def reads_beside_psycopg(bench: Bench, rounds: int) -> list[Result]:
    """The same beside BEGIN with the organization's setting, SELECT and COMMIT."""
    [get] = await record(bench.url, [getting(bench)])
    raw = RawPostgres(bench.url, bench.organization)

    def theirs() -> None:
        for _ in range(READS):
            raw.read([get])

    return await reads(bench, in_loop(theirs), rounds, "psycopg", 1.5)


def getting(bench: Bench) -> Callable[[Storage], Awaitable[Memory]]:
    return lambda storage: Memories(storage, bench.ways).get(bench.who, bench.known.id)


async def reads(
    bench: Bench, theirs: Round, rounds: int, rival: str, at_most: float
) -> list[Result]:

    async def get() -> None:
        for _ in range(READS):
            await bench.memories.get(bench.who, bench.known.id)

    async def bare() -> None:
        for _ in range(READS):
            await bench.storage.read(bench.organization, one_row, bench.known.id)

    times = await race({"get": get, "bare": bare, "raw": theirs}, rounds=rounds, operations=READS)
    named = {"get": "get a memory", "bare": "its row, through storage"}
    found = [
        compare(what, times, ours=ours, rival="raw", at_most=at_most)
        for ours, what in named.items()
    ]
    return [replace(each, rival=f"{rival}, the same statement") for each in found]


def one_row(tx: Transaction, memory_id: UUID) -> object:
    """The statement of `Memories.get`, and nothing made of its row."""
    return tx.one(LIVE_MEMORY, memory=memory_id, now=tx.now)


async def recordings(bench: Bench, url: str, number: int) -> list[Recording]:
    """The statements of so many writes of new texts, recorded on the database of the raw program."""

    async def remember(storage: Storage) -> None:
        await Memories(storage, bench.ways).remember(bench.who, text())

    return await record_in_turn(url, bench.organization, [remember] * number)


def text() -> str:
    """A text that was not remembered before."""
    return f"Delivery {next(_numbers)} goes to the back door, because the front dock is closed on Mondays."


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Bench]:
    """Open the product with room for many memories, and remember one."""
    async with Memoranda.open(url, settings=Settings.load(max_memories=ROOM)) as product:
        ways = Ways(MemoryLimits(active=ROOM), product.vectors.models if product.vectors else ())
        known = await product.memories.remember(product.owner, text())
        yield Bench(url, product.storage, product.memories, ways, product.owner, known)


if __name__ == "__main__":
    main()
