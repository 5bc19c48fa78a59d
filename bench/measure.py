"""Measures rivals side by side, in alternating rounds of one run, and prints one table."""

import argparse
import gc
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from rich.console import Console
from rich.table import Table

Round = Callable[[], Awaitable[None]]
"""One round of a rival's work: so many operations, one after the other or at once."""

ROUNDS: Final = 21
BUSY: Final = 1.0
"""The load for each core above which a result carries a warning."""


@dataclass(frozen=True)
class Result:
    """A measurement beside its rival's, in seconds for one operation, and the bound that is promised."""

    what: str
    rival: str
    ours_s: float
    rival_s: float
    ratio: float
    bound: str
    within: bool | None
    """None where nothing is promised and the figure only explains another."""
    note: str = ""


async def race(
    rivals: Mapping[str, Round], *, rounds: int = ROUNDS, operations: int | Mapping[str, int] = 1
) -> dict[str, list[float]]:
    """Return each rival's seconds for one operation, round by round.

    `operations` is how many a round has, of each rival where they differ.

    Every round runs all rivals, in an order that turns, so that a busy moment of the machine or a
    favor of going first hits each of them alike. One round before the first warms up.
    """
    names = list(rivals)
    numbers = {
        name: operations if isinstance(operations, int) else operations[name] for name in names
    }
    times: dict[str, list[float]] = {name: [] for name in names}
    gc.collect()
    gc.freeze()  # what is there by now is not gone through again before every turn
    for number in range(rounds + 1):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            gc.collect()
            began = time.perf_counter()
            await rivals[name]()
            if number:
                times[name].append((time.perf_counter() - began) / numbers[name])
    return times


def in_loop(work: Callable[[], object]) -> Round:
    """Make a round of plain blocking work."""

    async def run() -> None:
        work()

    return run


def compare(
    what: str,
    times: Mapping[str, Sequence[float]],
    *,
    ours: str,
    rival: str,
    at_most: float | None = None,
    note: str = "",
) -> Result:
    """Set ours beside the rival: medians of both, and the median of the ratios within each round."""
    ratio = statistics.median(a / b for a, b in zip(times[ours], times[rival], strict=True))
    return Result(
        what=what,
        rival=rival,
        ours_s=statistics.median(times[ours]),
        rival_s=statistics.median(times[rival]),
        ratio=ratio,
        bound="" if at_most is None else f"at most {at_most:g} times",
        within=None if at_most is None else ratio <= at_most,
        note=note,
    )


def show(title: str, results: Sequence[Result], *, as_json: bool) -> None:
    """Print the results: absolute times, ratio, and the bound beside them. Nothing fails here."""
    if as_json:
        print(json.dumps({"title": title, "results": [asdict(result) for result in results]}))
        return
    table = Table(title=title, title_justify="left")
    table.add_column("measured", overflow="fold")
    table.add_column("beside", overflow="fold")
    for number in ("ours", "theirs", "ratio"):
        table.add_column(number, justify="right", no_wrap=True)
    table.add_column("promised", no_wrap=True)
    table.add_column("kept", no_wrap=True)
    table.add_column("note", overflow="fold")
    for each in results:
        table.add_row(
            each.what,
            each.rival,
            duration(each.ours_s),
            duration(each.rival_s),
            f"{each.ratio:.2f}",
            each.bound,
            verdict(within=each.within),
            each.note,
        )
    console().print(table)
    warn_if_busy()


def warn_if_busy() -> None:
    """Say so where the machine had more to do than this."""
    if (load := os.getloadavg()[0]) > (cores := os.cpu_count() or 1) * BUSY:
        print(
            f"The machine was busy (load {load:.1f} on {cores} cores): times and ratios say little."
        )


def console() -> Console:
    """A console as wide as a table needs where no terminal says otherwise."""
    found = Console()
    return found if found.is_terminal else Console(width=150)


def verdict(*, within: bool | None) -> str:
    """A word on a bound: nothing where there is none."""
    return {None: "", True: "yes", False: "NO"}[within]


def duration(seconds: float) -> str:
    """Write a time with three digits and its unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.0f} ns"


def arguments(description: str) -> argparse.ArgumentParser:
    """The options that all benchmarks have."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help="how many rounds (default: %(default)s)"
    )
    return parser
