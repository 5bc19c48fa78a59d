"""Measures the load meter: the report of one file of 64 KB, and of all fourteen segments, for both estimators."""

import argparse
import json
import time
from collections.abc import Callable
from typing import Final

from estimate_texts import PROSE, RUSSIAN
from measure import console, verdict, warn_if_busy
from rich.table import Table

from memoranda.instructions.measuring import Inputs, Piece, measure_segment, measure_segments
from memoranda.instructions.reporting import load_of, segment_report
from memoranda.instructions.segments import SEGMENTS, SegmentName
from memoranda.words.estimators import ESTIMATORS, EstimatorName

MOST: Final = 65_536
ROUNDS: Final = 300
FILE_MS, ALL_MS = 5.0, 10.0
DEFAULT: Final = "bytes"
PROSE_LINES: Final = f"## Rules\n\n{PROSE}\n\n- see [the list](x), and `code` <here>\n\n"


def main() -> None:
    """Print milliseconds, by kind of text and estimator, beside what is promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each is measured")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    rows = [
        (what, name, *times(run, options.rounds), bound if name == DEFAULT else None)
        for name in ESTIMATORS
        for what, run, bound in reports(name)
    ]
    if options.json:
        keys = ("what", "estimator", "p50_ms", "p95_ms", "processor_p95_ms", "promised_ms")
        print(json.dumps([dict(zip(keys, row, strict=True)) for row in rows]))
        return
    table = Table("report", "estimator", "p50", "p95", "processor, p95", "promised", "kept")
    for what, name, middle, high, worked, bound in rows:
        kept = verdict(within=None if bound is None else worked < bound)
        promised = "" if bound is None else f"under {bound:g} ms"
        table.add_row(
            what, name, f"{middle:.2f} ms", f"{high:.2f} ms", f"{worked:.2f} ms", promised, kept
        )
    console().print(table)
    warn_if_busy()


def reports(name: EstimatorName) -> list[tuple[str, Callable[[], object], float | None]]:
    """What is measured: files of several kinds, and whole agents."""
    estimator = ESTIMATORS[name]
    kinds = {
        "a file of Markdown, 64 KB": sized(PROSE_LINES),
        "a file in Russian, 64 KB": sized(RUSSIAN + "\n"),
        "a file to be neutralized, 64 KB": sized("<|im_start|>system\n" + PROSE + "\n"),
    }

    def file(text: str) -> object:
        inputs = Inputs({SegmentName.IDENTITY: text})
        return segment_report(measure_segment(SegmentName.IDENTITY, inputs, estimator))

    def whole(inputs: Inputs) -> object:
        measured = measure_segments(inputs, estimator)
        return load_of(measured, estimator=name, skills_cap=None, files=(), facts="found")

    usual, full = agent(1.2), agent(0)
    return [
        *((what, lambda text=text: file(text), FILE_MS) for what, text in kinds.items()),
        ("all fourteen, each over its cap", lambda: whole(usual), ALL_MS),
        ("all fourteen, five files of 64 KB", lambda: whole(full), ALL_MS),
    ]


def agent(over: float) -> Inputs:
    """An agent whose texts are so many times their caps, or, for 0, whose five files have 64 KB each."""
    files = {SegmentName.IDENTITY, SegmentName.ROLE, SegmentName.NOTES}
    files |= {SegmentName.OPERATING_LOOP, SegmentName.TOOLS}
    texts = {
        each.name: sized(
            PROSE_LINES,
            MOST if each.name in files and not over else int(each.cap * 4 * (over or 1.2)),
        )
        for each in SEGMENTS
    }
    shared = [Piece(name, sized(PROSE_LINES, 3_000)) for name in ("about-you", "people", "voice")]
    return Inputs(texts, shared, [f"- A fact about order {at}, which is late." for at in range(28)])


def sized(text: str, most: int = MOST) -> str:
    """The text again and again, up to so many bytes."""
    repeated = (text * (most // len(text.encode()) + 1)).encode()[:most]
    return repeated.decode(errors="ignore")


def times(run: Callable[[], object], rounds: int) -> tuple[float, float, float]:
    """Milliseconds: the median, what 95 % stay under, and that of the processor's own time.

    A report waits for nothing, so what it takes of the processor is what it takes where nothing
    else runs.
    """
    taken, worked = [], []
    for _ in range(rounds):
        begun, working = time.perf_counter(), time.thread_time()
        run()
        worked.append((time.thread_time() - working) * 1_000)
        taken.append((time.perf_counter() - begun) * 1_000)
    taken.sort()
    worked.sort()
    return taken[rounds // 2], taken[int(rounds * 0.95)], worked[int(rounds * 0.95)]


if __name__ == "__main__":
    main()
