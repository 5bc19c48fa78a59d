"""What is measured side by side: each side does the same operations, in its own way."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import islice
from typing import Final
from unittest import mock
from uuid import UUID

from copied import copy_organization, shifted
from made import Ask, Prepared, Size, asks, text

from memoranda import app
from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.app import Memoranda
from memoranda.memories.finding.service import Finding
from memoranda.search.embedders.choice import Embedders
from memoranda.settings import Settings

OURS: Final = "memoranda"
PUT: Final = "put"
PUT_EMBEDDED: Final = "put and embed"
PUT_MANY: Final = "put and embed 32 at once"
GET: Final = "get"
PAGE: Final = "list a page of 50"
SEARCH: Final = "search"
SEARCH_KNOWN: Final = "search, with the query's vector at hand"
ON_A_PAGE: Final = 50
AT_ONCE: Final = 32
ROOM: Final = 100_000
"""How many memories may be added while they are measured."""
FILLED_AT_ONCE: Final = 256

Work = Callable[[Iterator[Ask]], Awaitable[int | None]]
"""One operation. It takes what it is about from the asks, and says how many memories it found, if any."""


@dataclass(frozen=True)
class Side:
    """A name, what it can do by the names above, and its own asks, the same as everybody's."""

    name: str
    does: Mapping[str, Work]
    size: Size
    asks: Iterator[Ask] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "asks", asks(self.size))


@dataclass(frozen=True)
class Filled:
    """What was filled: who owns the first organization, and the ids of its memories.

    The other organizations are copies of it.
    """

    first: Principal
    ids: list[UUID]

    def owner(self, organization: int) -> Principal:
        """Whoever acts for the organization of this number."""
        first = self.first
        if organization == 0:
            return first
        assert first.organization_id is not None
        assert first.user_id is not None
        return Principal(
            organization_id=shifted(first.organization_id, organization),
            role=first.role,
            user_id=shifted(first.user_id, organization),
        )

    def memory(self, organization: int, number: int) -> UUID:
        """The id of an organization's memory of this number."""
        known = self.ids[number]
        return shifted(known, organization) if organization else known


@asynccontextmanager
async def opened(url: str, size: Size, embedder: Prepared) -> AsyncIterator[Memoranda]:
    """Open the product with its defaults, but for room for so many memories, and with the embedder."""
    settings = Settings.load(max_memories=size.each + ROOM)
    with mock.patch.object(app, "choose", return_value=Embedders(embedder)):
        async with Memoranda.open(url, settings=settings) as product:
            yield product


async def fill_ours(url: str, size: Size, embedder: Prepared) -> Filled:
    """Remember what one organization has, embed it, and copy it into the others."""
    embedder.prepare(range(size.each))
    async with opened(url, size, embedder) as product:
        first = await new_owner(product)
        ids: list[UUID] = []
        for start in range(0, size.each, FILLED_AT_ONCE):
            numbers = range(start, min(size.each, start + FILLED_AT_ONCE))
            remembered = [product.memories.remember(first, text(number)) for number in numbers]
            ids += [memory.id for memory in await asyncio.gather(*remembered)]
        await product.worker.drain()
    assert first.organization_id is not None
    copy_organization(url, first.organization_id, range(1, size.organizations))
    return Filled(first, ids)


async def new_owner(product: Memoranda) -> Principal:
    """Whoever owns an organization of its own, which is not the default one and so can be copied."""
    made = await product.access.create_organization(LOCAL_OPERATOR, "Bench")
    organization = made.organization
    return Principal(
        organization_id=organization.id, role=Role.OWNER, user_id=organization.owner_id
    )


def our_side(product: Memoranda, filled: Filled, size: Size) -> Side:
    """What the library's verbs do."""
    memories, worker = product.memories, product.worker
    finding = Finding(product.storage, product.vectors)

    async def put(asked: Iterator[Ask]) -> None:
        ask = next(asked)
        await memories.remember(filled.owner(ask.organization), ask.text)

    async def put_embedded(asked: Iterator[Ask]) -> None:
        await put(asked)
        await worker.drain()

    async def put_many(asked: Iterator[Ask]) -> None:
        several = list(islice(asked, AT_ONCE))
        owner = filled.owner(several[0].organization)  # all of one, as a rival's batch is
        await asyncio.gather(*(memories.remember(owner, ask.text) for ask in several))
        await worker.drain()

    async def get(asked: Iterator[Ask]) -> None:
        ask = next(asked)
        await memories.get(
            filled.owner(ask.organization), filled.memory(ask.organization, ask.memory)
        )

    async def page(asked: Iterator[Ask]) -> int:
        found = await memories.page(filled.owner(next(asked).organization), limit=ON_A_PAGE)
        return len(found.items)

    async def search(asked: Iterator[Ask]) -> int:
        ask = next(asked)
        return len((await finding.search(filled.owner(ask.organization), ask.query)).results)

    async def search_known(asked: Iterator[Ask]) -> int:
        ask = next(asked)
        return len((await finding.search(filled.owner(ask.organization), ask.known)).results)

    does: dict[str, Work] = {PUT: put, PUT_EMBEDDED: put_embedded, PUT_MANY: put_many}
    finds: dict[str, Work] = {SEARCH: search, SEARCH_KNOWN: search_known}
    return Side(OURS, {**does, GET: get, PAGE: page, **finds}, size)
