"""Measures what the bundled embedder finds by meaning: labelled pairs, and 180 memories as a whole.

The curve that scores was fitted on one half of the pairs; the other half checks it. The two named
queries are in neither.
"""

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from measure import console
from numpy.typing import NDArray
from rich.table import Table

from memoranda.search.calibration import RECALL_SCORE, SEARCH_SCORE
from memoranda.search.embedders.bundled import find_bundled
from memoranda.search.embedders.port import Embedder
from memoranda.search.labelled import Pair, cosines, figures, fit_to, halves, read_pairs

DATA: Final = Path(__file__).parent / "data"
THRESHOLDS: Final = {"search": SEARCH_SCORE, "recall": RECALL_SCORE}
NAMED: Final = ("delivery promises", "refund policy")


def main() -> None:
    """Print the figures, or say that no embedder is installed."""
    embedder = find_bundled()
    if embedder is None:
        raise SystemExit("bench: the bundled embedder is not installed.")
    asyncio.run(show(embedder))


async def show(embedder: Embedder) -> None:
    memories = (DATA / "memories.txt").read_text("utf-8").splitlines()
    sides = halves(read_pairs(DATA / "memory_pairs.jsonl"))
    table = Table("half", "pairs", "threshold", *HEADINGS, title=embedder.model)
    for name, pairs in zip(("fitted on", "checked on"), sides, strict=True):
        for row in await measure(embedder, pairs, memories):
            table.add_row(name, str(len(pairs)), *row)
    output = console()
    output.print(table)
    fitted = await fit_to(embedder, sides[0])
    output.print(f"curve in use {embedder.calibration}, fitted now {fitted}")
    for query in NAMED:
        output.print(await best(embedder, query, memories))
    output.print(await speed(embedder, memories))


HEADINGS: Final = (
    *("precision, pairs", "recall, pairs"),
    *("precision, all", "recall, all", "no answer, rightly", "answered"),
)


async def measure(
    embedder: Embedder, pairs: Sequence[Pair], memories: Sequence[str]
) -> list[tuple[str, ...]]:
    """One row per threshold: over the pairs, then each query over all memories."""
    scores = embedder.calibration.scores(await cosines(embedder, pairs)).tolist()
    queries = list(dict.fromkeys(pair.query for pair in pairs))
    whole = await scored(embedder, queries, memories)
    right = answers(pairs, queries, memories)
    rows = []
    for name, threshold in THRESHOLDS.items():
        of_pairs = figures(scores, pairs, threshold)
        shown = whole >= threshold
        good = (shown & right).sum()
        asked = right.any(axis=1)
        shares = (
            of_pairs.precision,
            of_pairs.recall,
            good / max(1, shown.sum()),
            good / right.sum(),
            1 - shown[~asked].any(axis=1).mean(),
            (shown & right)[asked].any(axis=1).mean(),
        )
        rows.append((f"{name} {threshold}", *(f"{share:.2f}" for share in shares)))
    return rows


def answers(
    pairs: Sequence[Pair], queries: Sequence[str], memories: Sequence[str]
) -> NDArray[np.bool_]:
    """Which memories answer which query; those that no pair names as relevant don't."""
    wanted = {(pair.query, pair.memory) for pair in pairs if pair.relevant}
    return np.array([[(query, memory) in wanted for memory in memories] for query in queries])


async def scored(
    embedder: Embedder, queries: Sequence[str], memories: Sequence[str]
) -> NDArray[np.float64]:
    rows = await embedder.embed(queries) @ (await embedder.embed(memories)).T
    return embedder.calibration.scores(rows)


async def best(embedder: Embedder, query: str, memories: Sequence[str]) -> str:
    """The three best memories of a query, with their scores."""
    scores = (await scored(embedder, [query], memories))[0]
    lines = [f"{scores[place]:.3f}  {memories[place]}" for place in np.argsort(-scores)[:3]]
    return "\n  ".join([f"“{query}”", *lines])


async def speed(embedder: Embedder, memories: Sequence[str]) -> str:
    """Texts a second in bulk, and what one query takes."""
    began = time.perf_counter()
    await embedder.embed(memories)
    bulk = len(memories) / (time.perf_counter() - began)
    taken = []
    for memory in memories[:50]:
        began = time.perf_counter()
        await embedder.embed([memory])
        taken.append(time.perf_counter() - began)
    p50, p95 = np.percentile(taken, [50, 95]) * 1000
    return f"{bulk:.0f} texts a second; one text takes {p50:.1f} ms (p50), {p95:.1f} ms (p95)"


if __name__ == "__main__":
    main()
