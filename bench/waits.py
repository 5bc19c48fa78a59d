"""Measures what people and runs wait for: a list's first page over HTTP, and a recall among very many memories."""

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Final
from uuid import UUID

import httpx
from databases import database_options, settle
from made import Prepared, Size, asks, prepared
from measure import arguments, console, duration, verdict, warn_if_busy
from places import Place, places
from rich.table import Table
from served import served
from sides import ON_A_PAGE, Filled, fill_ours, opened

from memoranda.access.models import Role
from memoranda.app import Memoranda
from memoranda.memories.finding.service import Finding

LISTED: Final = 2_000
RECALLED_AMONG: Final = 100_000
TIMES: Final = 200
PAGE_S: Final = 0.4
RECALL_S: Final = 2.0
UNHURRIED: Final = {"MEMORANDA_LISTS_PER_MINUTE": "0", "MEMORANDA_WORKER": "false"}
"""The server's settings: nobody is held back while measured, and nothing else is done meanwhile."""


@dataclass(frozen=True)
class Wait:
    """How long one of many callers waited, in seconds, beside the limit."""

    what: str
    p50_s: float
    p95_s: float
    limit_s: float
    within: bool
    note: str = ""


def main() -> None:
    """Print a table for each database."""
    parser = arguments(__doc__ or "")
    parser.set_defaults(rounds=TIMES)
    database_options(parser)
    parser.add_argument("--listed", type=int, default=LISTED, help="memories that are listed")
    parser.add_argument("--among", type=int, default=RECALLED_AMONG, help="memories at a recall")
    options = parser.parse_args()
    embedder = prepared()
    with places(options) as found:
        for place in found:
            waits = asyncio.run(measure(place, embedder, options))
            show(f"Waiting, {place.kind}", waits, as_json=options.json)


async def measure(place: Place, embedder: Prepared, options: argparse.Namespace) -> list[Wait]:
    return [
        await first_page(place, Size(1, options.listed), embedder, options.rounds),
        *await recalls(place, Size(1, options.among), embedder, options.rounds),
    ]


async def first_page(place: Place, size: Size, embedder: Prepared, times: int) -> Wait:
    """The first page as an application asks for it, from a server in a process of its own."""
    url = place.empty()
    filled = await fill_ours(url, size, embedder)
    settle(url)
    async with opened(url, size, embedder) as product:
        key = (await product.access.create_key(filled.first, Role.OWNER)).key
    headers = {"Authorization": f"Bearer {key}"}
    with served(url, UNHURRIED) as address:
        async with httpx.AsyncClient(base_url=address, headers=headers, timeout=60) as client:

            async def page() -> None:
                answer = await client.get("/v1/memories", params={"limit": ON_A_PAGE})
                answer.raise_for_status()

            taken = await timed(page, times)
    what = f"the first page of {size}, over HTTP"
    return wait(what, taken, PAGE_S, f"the first of all {duration(taken[0])}")


async def recalls(place: Place, size: Size, embedder: Prepared, times: int) -> list[Wait]:
    """Recalls of a run: the first after a start apart, since it reads the vectors; then each after a write."""
    url = place.empty()
    filled = await fill_ours(url, size, embedder)
    settle(url)
    async with opened(url, size, embedder) as product:
        recall = Recalls(product, filled, size)
        steady = await timed(recall, times, before=recall.begin)
        written = await timed(recall, times, before=recall.write)
        await recall.finding.settled()
    what = f"a recall among {size}"
    first = f"the first after a start {duration(steady[0])}; {recall.outcomes()}"
    return [
        wait(what, steady[1:], RECALL_S, first),
        wait(f"{what}, each after a write", written, RECALL_S),
    ]


class Recalls:
    """Recalls, each for a run of its own and with a new query; remembers how they came out."""

    def __init__(self, product: Memoranda, filled: Filled, size: Size) -> None:
        self.finding = Finding(product.storage, product.vectors)
        self._product = product
        self._who = filled.first
        self._asks = asks(size)
        self._outcomes: list[str] = []
        self._run: UUID | None = None

    async def begin(self) -> None:
        """Begin a run."""
        self._run = (await self._product.runs.create(self._who)).id

    async def __call__(self) -> None:
        """Recall once."""
        found = await self.finding.recall(self._who, next(self._asks).query, run_id=self._run)
        self._outcomes.append(found.outcome)

    async def write(self) -> None:
        """Remember a new text and embed it, and begin a run."""
        await self._product.memories.remember(self._who, next(self._asks).text)
        await self._product.worker.drain()
        await self.begin()

    def outcomes(self) -> str:
        """How many came out how."""
        named = sorted(set(self._outcomes))
        return ", ".join(f"{self._outcomes.count(name)} {name}" for name in named)


async def timed(
    work: Callable[[], Awaitable[None]],
    times: int,
    before: Callable[[], Awaitable[None]] | None = None,
) -> list[float]:
    """The seconds of each call; what comes before a call does not count."""
    taken = []
    for _ in range(times):
        if before is not None:
            await before()
        began = time.perf_counter()
        await work()
        taken.append(time.perf_counter() - began)
    return taken


def wait(what: str, taken: list[float], limit_s: float, note: str = "") -> Wait:
    p95 = statistics.quantiles(taken, n=20)[-1]
    return Wait(what, statistics.median(taken), p95, limit_s, p95 <= limit_s, note)


def show(title: str, waits: list[Wait], *, as_json: bool) -> None:
    """Print the waits beside their limits."""
    if as_json:
        print(json.dumps({"title": title, "results": [asdict(each) for each in waits]}))
        return
    table = Table(title=title, title_justify="left")
    for name in ("measured", "p50", "p95", "limit", "kept", "note"):
        table.add_column(name, justify="right" if name in {"p50", "p95", "limit"} else "left")
    for each in waits:
        times = (duration(each.p50_s), duration(each.p95_s), duration(each.limit_s))
        table.add_row(each.what, *times, verdict(within=each.within), each.note)
    console().print(table)
    warn_if_busy()


if __name__ == "__main__":
    main()
