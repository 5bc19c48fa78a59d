"""The raw side: the driver alone runs the very statements that our side ran, recorded beforehand."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import cycle, groupby, islice
from typing import Final
from uuid import UUID

from made import Ask, Prepared, Size, asks
from recorded import Recording, Verb, record, record_in_turn
from rivals import RawPostgres, RawSqlite, aiosqlite_read, open_aiosqlite
from sides import GET, ON_A_PAGE, PAGE, PUT, ROOM, SEARCH_KNOWN, Filled, Side, Work

from memoranda.memories.finding.service import Finding
from memoranda.memories.limits import COLLECTION, MemoryLimits
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.search.embedders.choice import Embedders
from memoranda.search.vectors.service import Vectors
from memoranda.storage import Storage

READS: Final = 40
"""So many different reads are recorded, and run again in turn."""

Recorded = tuple[UUID, Recording]
"""The organization that it belongs to, and the statements."""


@asynccontextmanager
async def raw_side(
    copy_url: str, filled: Filled, size: Size, embedder: Prepared, puts: int
) -> AsyncIterator[Side]:
    """A side over a copy of our database, taken before anything was measured.

    It can put as often as `puts` says and read without an end.
    """
    told = Recorder(copy_url, filled, size, embedder)
    reads = {GET: await told.gets(), PAGE: await told.pages(), SEARCH_KNOWN: await told.searches()}
    written = iter(await told.puts(puts))
    opened = on_postgres if copy_url.startswith("postgresql:") else on_sqlite
    async with opened(copy_url) as (write, read):

        def reading(recorded: list[Recorded]) -> Work:
            again = cycle(recorded)

            async def run(_asked: Iterator[Ask]) -> None:
                await read(next(again))

            return run

        async def put(_asked: Iterator[Ask]) -> None:
            await write(next(written))

        does = {PUT: put, **{what: reading(recorded) for what, recorded in reads.items()}}
        yield Side("raw", does, size)


Run = Callable[[Recorded], Awaitable[None]]


@asynccontextmanager
async def on_sqlite(url: str) -> AsyncIterator[tuple[Run, Run]]:
    """Writes with sqlite3 on this thread, reads with aiosqlite."""
    raw, connection = RawSqlite(url), await open_aiosqlite(url)

    async def write(recorded: Recorded) -> None:
        raw.write([recorded[1]])

    async def read(recorded: Recorded) -> None:
        await aiosqlite_read(connection, recorded[1])

    try:
        yield write, read
    finally:
        raw.close()
        await connection.close()


@asynccontextmanager
async def on_postgres(url: str) -> AsyncIterator[tuple[Run, Run]]:
    """Both with psycopg on this thread, as the organization that the statements belong to."""
    raw = RawPostgres(url, UUID(int=0))

    async def write(recorded: Recorded) -> None:
        raw.act_for(recorded[0])
        raw.write([recorded[1]])

    async def read(recorded: Recorded) -> None:
        raw.act_for(recorded[0])
        raw.read([recorded[1]])

    try:
        yield write, read
    finally:
        raw.close()


class Recorder:
    """Runs our verbs on a database, and tells the statements that they ran."""

    def __init__(self, url: str, filled: Filled, size: Size, embedder: Prepared) -> None:
        self._url = url
        self._filled = filled
        self._size = size
        self._embedders = Embedders(embedder)
        self._ways = Ways(MemoryLimits(active=size.each + ROOM), self._embedders.models)
        self._asked = list(islice(asks(size), READS))

    async def gets(self) -> list[Recorded]:
        def getting(ask: Ask) -> Verb:
            who = self._filled.owner(ask.organization)
            memory = self._filled.memory(ask.organization, ask.memory)
            return lambda storage: Memories(storage, self._ways).get(who, memory)

        return await self._reads([getting(ask) for ask in self._asked])

    async def pages(self) -> list[Recorded]:
        def listing(ask: Ask) -> Verb:
            who = self._filled.owner(ask.organization)
            return lambda storage: Memories(storage, self._ways).page(who, limit=ON_A_PAGE)

        return await self._reads([listing(ask) for ask in self._asked])

    async def searches(self) -> list[Recorded]:
        """Of a process that has one organization's vectors in memory already, or meets each anew."""
        finders: dict[Storage, Finding] = {}

        def finder(storage: Storage) -> Finding:
            vectors = Vectors(storage, self._embedders, COLLECTION)
            return finders.setdefault(storage, Finding(storage, vectors))

        def searching(ask: Ask) -> Verb:
            who = self._filled.owner(ask.organization)
            return lambda storage: finder(storage).search(who, ask.known)

        warm = self._size.organizations == 1
        first = [searching(self._asked[0])] if warm else []
        return await self._reads([*first, *map(searching, self._asked)])

    async def puts(self, number: int) -> list[Recorded]:
        """So many, in the order in which they can be run."""

        def remembering(ask: Ask) -> Verb:
            who = self._filled.owner(ask.organization)
            return lambda storage: Memories(storage, self._ways).remember(who, ask.text)

        found: list[Recorded] = []
        for _, of_one in groupby(sorted(islice(asks(self._size), number), key=_whose), _whose):
            asked = list(of_one)
            scope = self._organization(asked[0])
            recordings = await record_in_turn(self._url, scope, [remembering(ask) for ask in asked])
            found += [(scope, each) for each in recordings]
        return found

    async def _reads(self, verbs: Sequence[Verb]) -> list[Recorded]:
        """The statements of the last of the verbs, of which there is one for each ask."""
        recordings = (await record(self._url, verbs))[-len(self._asked) :]
        organizations = map(self._organization, self._asked)
        return list(zip(organizations, recordings, strict=True))

    def _organization(self, ask: Ask) -> UUID:
        found = self._filled.owner(ask.organization).organization_id
        assert found is not None
        return found


def _whose(ask: Ask) -> int:
    return ask.organization
