"""Measures storage alone beside raw drivers: one row read, one row written, many rows written at once."""

import argparse
import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final
from uuid import UUID

from databases import database_options, databases
from measure import Result, arguments, compare, in_loop, race, show
from recorded import Recording, record
from rivals import RawPostgres, RawSqlite, aiosqlite_read, open_aiosqlite, sqlite_path
from sqlalchemy import bindparam, insert, select
from syncs import counted

from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import organizations, users
from memoranda.words.ids import new_id

READS: Final = 200
WRITES: Final = 20
WRITERS: Final = 32
EACH: Final = 4
"""Writes of each concurrent writer in one round."""
ENOUGH: Final = 0.7
"""The share of the raw program's throughput that is promised to concurrent writers."""

NEW_ORGANIZATION: Final = insert(organizations)
NEW_USER: Final = insert(users)
USER: Final = select(users.c.id, users.c.name, users.c.created_at).where(
    users.c.id == bindparam("user")
)


@dataclass(frozen=True)
class Bench:
    """An open storage, an organization, and one user of it."""

    url: str
    storage: Storage
    organization: UUID
    user: UUID


def main() -> None:
    """Print a table for each database."""
    parser = arguments(__doc__ or "")
    database_options(parser)
    options = parser.parse_args()
    with databases(options) as urls:
        for name, url in urls.items():
            results = asyncio.run(MEASURES[name](url, options))
            show(f"Storage on {name}", results, as_json=options.json)


async def on_sqlite(url: str, options: argparse.Namespace) -> list[Result]:
    """The raw program writes to a file of its own, copied before the first write."""
    async with opened(url) as bench:
        pass
    raw_url = f"{url}.raw.db"
    shutil.copyfile(sqlite_path(url), sqlite_path(raw_url))
    async with opened(url, bench) as bench:
        raw = RawSqlite(raw_url)
        read = await read_beside_aiosqlite(bench, options.rounds)
        write = await write_beside(bench, raw, raw_url, "sqlite3", options.rounds)
        return [read, write, await many_beside(bench, raw, raw_url, options.rounds)]


async def on_postgres(url: str, options: argparse.Namespace) -> list[Result]:
    """Both use one database; the raw program's transactions are opened as the product opens its own."""
    async with opened(url) as bench:
        raw = RawPostgres(url, bench.organization)
        read = await read_beside_psycopg(bench, raw, options.rounds)
        return [read, await write_beside(bench, raw, url, "psycopg", options.rounds)]


MEASURES: Final = {"sqlite": on_sqlite, "postgres": on_postgres}


async def read_beside_aiosqlite(bench: Bench, rounds: int) -> Result:
    """Read one row by its id, one call after the other."""
    [recording] = await record(bench.url, [reading(bench)])
    connection = await open_aiosqlite(bench.url)

    async def theirs() -> None:
        for _ in range(READS):
            await aiosqlite_read(connection, recording)

    try:
        times = await race({"ours": ours_reading(bench), "raw": theirs}, rounds=rounds, operations=READS)  # fmt: skip
    finally:
        await connection.close()
    found = compare("read a row", times, ours="ours", rival="raw", at_most=1.2)
    return replace(found, rival="aiosqlite: execute, fetchone, close")


async def read_beside_psycopg(bench: Bench, raw: RawPostgres, rounds: int) -> Result:
    """The same beside BEGIN with the organization's setting, SELECT and COMMIT."""
    [recording] = await record(bench.url, [reading(bench)])

    def theirs() -> None:
        for _ in range(READS):
            raw.read([recording])

    times = await race({"ours": ours_reading(bench), "raw": in_loop(theirs)}, rounds=rounds, operations=READS)  # fmt: skip
    found = compare("read a row", times, ours="ours", rival="raw", at_most=1.5)
    return replace(found, rival="psycopg: BEGIN, SELECT, COMMIT")


async def write_beside(
    bench: Bench, raw: RawSqlite | RawPostgres, raw_url: str, rival: str, rounds: int
) -> Result:
    """Write one row after the other, each durable before the next."""
    recorded = iter(await recordings(bench, raw_url, (rounds + 1) * WRITES))

    async def ours() -> None:
        for _ in range(WRITES):
            await bench.storage.write(bench.organization, add_user)

    def theirs() -> None:
        for recording in islice(recorded, WRITES):
            raw.write([recording])

    times = await race({"ours": ours, "raw": in_loop(theirs)}, rounds=rounds, operations=WRITES)
    found = compare("write a row", times, ours="ours", rival="raw", at_most=1.5)
    return replace(found, rival=f"{rival}: BEGIN, INSERT, COMMIT")


async def many_beside(bench: Bench, raw: RawSqlite, raw_url: str, rounds: int) -> Result:
    """Let 32 tasks write at once, beside one thread that commits 32 of the same writes together."""
    writes = WRITERS * EACH
    recorded = iter(await recordings(bench, raw_url, (rounds + 1) * writes))

    async def writer() -> None:
        for _ in range(EACH):
            await bench.storage.write(bench.organization, add_user)

    async def ours() -> None:
        await asyncio.gather(*(writer() for _ in range(WRITERS)))

    def theirs() -> None:
        for _ in range(EACH):
            raw.write(islice(recorded, WRITERS))

    times = await race({"ours": ours, "raw": in_loop(theirs)}, rounds=rounds, operations=writes)
    async with counted() as counts:
        await ours()
    found = compare(f"write a row, {WRITERS} writers", times, ours="ours", rival="raw")
    reached = 1 / found.ratio
    return replace(
        found,
        rival=f"sqlite3: {WRITERS} writes to a commit",
        bound=f"at least {ENOUGH:.0%} as many",
        within=reached >= ENOUGH,
        note=f"{reached:.0%}; {writes} writes in {counts}",
    )


def add_organization(tx: Transaction) -> None:
    tx.run(NEW_ORGANIZATION, name="Bench", owner_id=new_id(), created_at=tx.now)


def add_user(tx: Transaction) -> UUID:
    user = new_id()
    tx.run(NEW_USER, id=user, name="somebody", created_at=tx.now)
    return user


def read_user(tx: Transaction, user: UUID) -> object:
    return tx.one(USER, user=user)


def reading(bench: Bench) -> Callable[[Storage], Awaitable[object]]:
    return lambda storage: storage.read(bench.organization, read_user, bench.user)


def ours_reading(bench: Bench) -> Callable[[], Awaitable[None]]:
    async def ours() -> None:
        for _ in range(READS):
            await bench.storage.read(bench.organization, read_user, bench.user)

    return ours


async def recordings(bench: Bench, url: str, number: int) -> list[Recording]:
    """The statements of so many writes, recorded on the database of the raw program."""

    async def add(storage: Storage) -> None:
        await storage.write(bench.organization, add_user)

    return await record(url, [add] * number)


@asynccontextmanager
async def opened(url: str, known: Bench | None = None) -> AsyncIterator[Bench]:
    """Open a migrated database, with an organization and a user in it."""
    storage = await Storage.open(url)
    try:
        if known is not None:
            yield replace(known, storage=storage)
            return
        organization = new_id()
        await storage.write(organization, add_organization)
        yield Bench(url, storage, organization, await storage.write(organization, add_user))
    finally:
        await storage.close()


if __name__ == "__main__":
    main()
