"""Measures what is found by words, by meaning and by both: labelled pairs, and 180 memories as a whole.

Both curves and the way of joining both were chosen on one half of the pairs; the other half checks them.
The two named queries are in neither.
"""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from measure import console
from numpy.typing import NDArray
from recall_words import by_words, fitted_curve
from rich.table import Table

from memoranda.search.calibration import RECALL_SCORE, SEARCH_SCORE, calibration_of
from memoranda.search.embedders.bundled import find_bundled
from memoranda.search.embedders.port import Embedder
from memoranda.search.labelled import Pair, figures, fit_to, halves, read_pairs
from memoranda.search.texts.rank import WORDS

DATA: Final = Path(__file__).parent / "data"
THRESHOLDS: Final = {"search": SEARCH_SCORE, "recall": RECALL_SCORE}
SETS: Final = {
    "questions that mostly share no word with their answer": ("memory_pairs.jsonl",),
    "tasks of a few sentences, and words to look up": ("word_pairs.jsonl",),
    "all": ("memory_pairs.jsonl", "word_pairs.jsonl"),
}
HALVES: Final = ("fitted on", "checked on")
NAMED: Final = ("delivery promises", "refund policy")

Scores = NDArray[np.float64]
"""One row for each query, one column for each memory."""

JOINED: Final[Mapping[str, Callable[[Scores, Scores], Scores]]] = {
    "words alone": lambda words, _: words,
    "meaning alone": lambda _, meaning: meaning,
    "the better (in use)": np.maximum,
    "noisy-or": lambda words, meaning: 1 - (1 - words) * (1 - meaning),
    "halfway between": lambda words, meaning: (
        1 - (1 - np.maximum(words, meaning)) * (1 - 0.5 * np.minimum(words, meaning))
    ),
}


def main() -> None:
    """Print the figures, or say that no embedder is installed."""
    embedder = find_bundled()
    if embedder is None:
        raise SystemExit("bench: the bundled embedder is not installed.")
    asyncio.run(show(embedder))


@dataclass(frozen=True)
class Asked:
    """Queries with their scores by words and by meaning, and which memories answer them."""

    pairs: Sequence[Pair]
    queries: Sequence[str]
    words: Scores
    meaning: Scores
    right: NDArray[np.bool_]


async def show(embedder: Embedder) -> None:
    output = console()
    memories = (DATA / "memories.txt").read_text("utf-8").splitlines()
    measured = {
        title: [await ask(embedder, side, memories) for side in sides_of(*files)]
        for title, files in SETS.items()
    }
    for title, sides in measured.items():
        output.print(table_of(title, sides, memories))
    fitting = measured["all"][0]
    meaning = await fit_to(embedder, sides_of("memory_pairs.jsonl")[0])
    words = fitted_curve(fitting.words, fitting.right)
    output.print(f"{embedder.model}: curve in use {embedder.calibration}, fitted now {meaning}")
    output.print(f"{WORDS}: curve in use {calibration_of(WORDS)}, fitted now {words}")
    for query in NAMED:
        output.print(await best(embedder, query, memories))
    output.print(await speed(embedder, memories))


def sides_of(*files: str) -> tuple[list[Pair], list[Pair]]:
    return halves(pair for file in files for pair in read_pairs(DATA / file))


async def ask(embedder: Embedder, pairs: Sequence[Pair], memories: Sequence[str]) -> Asked:
    queries = list(dict.fromkeys(pair.query for pair in pairs))
    return Asked(
        pairs,
        queries,
        await by_words(queries, memories),
        await by_meaning(embedder, queries, memories),
        answers(pairs, queries, memories),
    )


def answers(
    pairs: Sequence[Pair], queries: Sequence[str], memories: Sequence[str]
) -> NDArray[np.bool_]:
    """Which memories answer which query; those that no pair names as relevant don't."""
    wanted = {(pair.query, pair.memory) for pair in pairs if pair.relevant}
    return np.array([[(query, memory) in wanted for memory in memories] for query in queries])


async def by_meaning(embedder: Embedder, queries: Sequence[str], memories: Sequence[str]) -> Scores:
    rows = await embedder.embed(queries) @ (await embedder.embed(memories)).T
    return embedder.calibration.scores(rows)


HEADINGS: Final = (
    *("precision, pairs", "recall, pairs"),
    *("precision, all", "recall, all", "no answer, rightly", "answered"),
)


def table_of(title: str, sides: Sequence[Asked], memories: Sequence[str]) -> Table:
    """The figures of each way of joining, for both halves and thresholds."""
    table = Table("", "half", "threshold", *HEADINGS, title=title)
    for name, join in JOINED.items():
        for half, asked in zip(HALVES, sides, strict=True):
            scores = join(asked.words, asked.meaning)
            for what, threshold in THRESHOLDS.items():
                shares = shares_of(asked, scores, memories, threshold)
                table.add_row(
                    name, half, f"{what} {threshold}", *(f"{share:.2f}" for share in shares)
                )
        table.add_section()
    return table


def shares_of(
    asked: Asked, scores: Scores, memories: Sequence[str], threshold: float
) -> tuple[float, ...]:
    """Shares under `HEADINGS`: over the labelled pairs, then each query over all memories."""
    row = {query: place for place, query in enumerate(asked.queries)}
    column = {memory: place for place, memory in enumerate(memories)}
    of_pairs = [float(scores[row[pair.query], column[pair.memory]]) for pair in asked.pairs]
    labelled = figures(of_pairs, asked.pairs, threshold)
    shown = scores >= threshold
    good = shown & asked.right
    has_answer = asked.right.any(axis=1)
    return (
        labelled.precision,
        labelled.recall,
        good.sum() / max(1, shown.sum()),
        good.sum() / asked.right.sum(),
        1 - shown[~has_answer].any(axis=1).mean(),
        good[has_answer].any(axis=1).mean(),
    )


async def best(embedder: Embedder, query: str, memories: Sequence[str]) -> str:
    """The three best memories of a query by both, with the scores of words and of meaning."""
    words = (await by_words([query], memories))[0]
    meaning = (await by_meaning(embedder, [query], memories))[0]
    lines = [
        f"{words[place]:.3f} by words, {meaning[place]:.3f} by meaning  {memories[place]}"
        for place in np.argsort(-np.maximum(words, meaning))[:3]
    ]
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
