"""Measures memories beside LangGraph's stores and mem0, at several sizes, and how each grows.

All sides embed with the same model, hold the same vectors and do the same operations in the same run.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Final

from databases import ROOT, database_options
from langgraph_stores import langgraph_sides
from made import Prepared, Size, asks, prepared
from measure import Result, Round, arguments, compare, console, duration, race, show
from mem0_memory import mem0_sides
from places import Place, places
from raw_side import raw_side
from rich.table import Table
from sides import (
    AT_ONCE,
    GET,
    OURS,
    PAGE,
    PUT,
    PUT_EMBEDDED,
    PUT_MANY,
    SEARCH,
    SEARCH_KNOWN,
    Side,
    fill_ours,
    opened,
    our_side,
)

SIZES: Final = ("2000", "100000", "1000x1000")
QUICK: Final = ("60", "3x20")
MOST: Final = {
    PUT: 20,
    PUT_EMBEDDED: 8,
    PUT_MANY: 1,
    GET: 50,
    PAGE: 20,
    SEARCH: 8,
    SEARCH_KNOWN: 20,
}
"""How many operations a round has; of a side that is slow, fewer."""
A_ROUND_S: Final = 2.0
"""What a side's round may take, unless one operation takes longer."""
ROUNDS: Final = 9
ANSWERS: Final = 8

Rival = Callable[[Place, Size, Prepared], AbstractAsyncContextManager[list[Side]]]
RIVALS: Final[dict[str, Rival]] = {"langgraph": langgraph_sides, "mem0": mem0_sides}

Medians = dict[tuple[str, str, str], dict[str, float]]
"""By kind of database, operation and side: the seconds of one operation at each size."""


def main() -> None:
    """Print a table for each size and database, and how each side grows."""
    options = parse()
    stay_at_home()
    embedder = prepared()
    sizes = [Size.parse(size) for size in options.sizes]
    medians: Medians = {}
    with places(options) as found:
        for place in found:
            for size in sizes:
                results = asyncio.run(measure(place, size, embedder, options, medians))
                title = f"{size}, {place.kind}"
                show(title[0].upper() + title[1:], results, as_json=options.json)
    if len(sizes) > 1:
        show_growth(medians, [str(size) for size in sizes], as_json=options.json)


def parse() -> argparse.Namespace:
    parser = arguments(__doc__ or "")
    parser.set_defaults(rounds=ROUNDS)
    database_options(parser)
    parser.add_argument(
        "--sizes", nargs="+", help="such as 2000 or, organizations first, 1000x1000"
    )
    parser.add_argument(
        "--without", nargs="*", default=[], choices=RIVALS, help="leave a rival out"
    )
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    options = parser.parse_args()
    options.sizes = options.sizes or (QUICK if options.quick else SIZES)
    options.most = MOST
    if options.quick:
        options.rounds, options.most = 2, dict.fromkeys(MOST, 2)
    return options


def stay_at_home() -> None:
    """Refuse every connection that would leave the machine: rivals report how they are used."""
    sys.path.insert(0, str(ROOT))
    from tests.network import refuse_outside  # noqa: PLC0415 - a checkout's, not the product's

    sys.addaudithook(refuse_outside)


async def measure(
    place: Place, size: Size, embedder: Prepared, options: argparse.Namespace, medians: Medians
) -> list[Result]:
    """Fill all sides, and let them do each kind of operation in turn."""
    results: list[Result] = []
    async with sides(place, size, embedder, options) as found:
        for what in MOST:
            able = {side.name: side for side in found if what in side.does}
            times = await raced(able, what, options.most[what], options.rounds)
            counts = await counted(able, what) if what in {PAGE, SEARCH_KNOWN} else {}
            for name in able:
                of_side = medians.setdefault((place.kind, what, name), {})
                of_side[str(size)] = statistics.median(times[name])
            results += [beside(what, times, rival, counts) for rival in able if rival != OURS]
    return results


@asynccontextmanager
async def sides(
    place: Place, size: Size, embedder: Prepared, options: argparse.Namespace
) -> AsyncIterator[list[Side]]:
    """All sides that can be had, filled; standard error says which can't, and how long it took."""
    url = place.empty()
    began = time.perf_counter()
    filled = await fill_ours(url, size, embedder)
    report(f"memoranda, {size}, {place.kind}", began)
    copied = place.copy(url)
    async with AsyncExitStack() as stack:
        product = await stack.enter_async_context(opened(url, size, embedder))
        puts = (options.rounds + 3) * MOST[PUT]
        raw = await stack.enter_async_context(raw_side(copied, filled, size, embedder, puts))
        found = [our_side(product, filled, size), raw]
        for name, rival in RIVALS.items():
            if name in options.without:
                continue
            began = time.perf_counter()
            try:
                found += await stack.enter_async_context(rival(place, size, embedder))
            except ImportError as error:
                print(f"{name} is left out: {error}. ./dev bench installs it.", file=sys.stderr)
            else:
                report(f"{found[-1].name}, {size}", began)
        place.settle()
        yield found


def report(what: str, began: float) -> None:
    print(f"filled: {what}, in {duration(time.perf_counter() - began)}", file=sys.stderr)


async def raced(
    able: Mapping[str, Side], what: str, most: int, rounds: int
) -> dict[str, list[float]]:
    """The seconds of one operation, or of one memory where an operation is of many."""
    each = AT_ONCE if what == PUT_MANY else 1
    operations = {name: await fitting(side, what, most) for name, side in able.items()}
    turns = {name: turn(side, what, operations[name]) for name, side in able.items()}
    counted = {name: number * each for name, number in operations.items()}
    return await race(turns, rounds=rounds, operations=counted)


async def fitting(side: Side, what: str, most: int) -> int:
    """How many operations are a round: the most, unless they would take too long."""
    taken = A_ROUND_S
    for _ in range(2):  # the first may have to open or load something
        began = time.perf_counter()
        await side.does[what](side.asks)
        taken = time.perf_counter() - began
        if taken > A_ROUND_S:
            break
    return max(1, min(most, int(A_ROUND_S / taken)))


def turn(side: Side, what: str, operations: int) -> Round:
    async def run() -> None:
        for _ in range(operations):
            await side.does[what](side.asks)

    return run


async def counted(able: Mapping[str, Side], what: str) -> dict[str, float]:
    """How many memories each side answers with, on average over the same asks."""
    found = {}
    for name, side in able.items():
        same = asks(side.size, seed=5)
        answers = [await side.does[what](same) for _ in range(ANSWERS)]
        if known := [answer for answer in answers if answer is not None]:
            found[name] = statistics.mean(known)
    return found


def beside(
    what: str, times: Mapping[str, list[float]], rival: str, counts: Mapping[str, float]
) -> Result:
    """Ours beside the rival. Nobody promised to be quicker than a rival, but it is looked at."""
    found = compare(what, times, ours=OURS, rival=rival)
    if rival == "raw":
        return replace(found, rival="raw, the same statements")
    answers = f"answers {counts[OURS]:.3g} to {counts[rival]:.3g}" if rival in counts else ""
    return replace(found, rival=rival, bound="not slower", within=found.ratio <= 1, note=answers)


def show_growth(medians: Medians, sizes: list[str], *, as_json: bool) -> None:
    """How the time of one operation grows from the first size to the others, for every side."""
    if as_json:
        rows = [
            {"database": kind, "what": what, "side": side, "seconds": seconds}
            for (kind, what, side), seconds in medians.items()
        ]
        print(json.dumps({"title": "Growth", "results": rows}))
        return
    table = Table(title="Growth with size", title_justify="left")
    for name in ("database", "operation", "side", *sizes):
        table.add_column(name, justify="right" if name in sizes else "left")
    for (kind, what, side), seconds in medians.items():
        table.add_row(kind, what, side, *cells(seconds, sizes))
    console().print(table)


def cells(seconds: Mapping[str, float], sizes: list[str]) -> Iterator[str]:
    """Each time, and how many times the first it is."""
    first = seconds.get(sizes[0])
    for size in sizes:
        taken = seconds.get(size)
        if taken is None:
            yield ""
        elif first is None or size == sizes[0]:
            yield duration(taken)
        else:
            yield f"{duration(taken)} ({taken / first:.2g} times)"


if __name__ == "__main__":
    main()
