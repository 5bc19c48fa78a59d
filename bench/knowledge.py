"""Measures a search of knowledge by words and meaning beside pgvector's own query and numpy's, at growing sizes."""

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final
from uuid import UUID

import numpy as np
import psycopg
from databases import database_options, databases, settle
from filled import Speech
from knowledge_rows import (
    CHUNKS,
    DIMENSIONS,
    MODEL,
    MadeModel,
    Sqlite,
    Vectors,
    fill,
    fill_postgres,
    vector_of,
    vectors_of,
)
from measure import Result, arguments, duration, show

from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.access.service import Access
from memoranda.knowledge.embedding.service import DocumentEmbedding
from memoranda.knowledge.service import Knowledge
from memoranda.knowledge.vectors.store import nearest
from memoranda.search.embedders.choice import Embedders
from memoranda.search.weights import FUSION
from memoranda.storage import Storage

SIZES: Final = {"sqlite": (1_000, 100_000), "postgres": (1_000, 100_000, 1_000_000)}
QUICK: Final = {"sqlite": (500, 2_000), "postgres": (500, 2_000)}
QUERIES: Final = 200
WARM: Final = 20
TWICE: Final = 2.0
AT_ONCE: Final = 20
REST_S: Final = 0.3
"""Between two sides: numpy's own product leaves a thread that keeps a processor busy for a tenth of a second."""

Ask = Callable[[str], Awaitable[object]]


@dataclass(frozen=True)
class Measured:
    """The slow end of each side's times at one size, in seconds; `by_meaning` is the nearest chunks alone."""

    chunks: int
    ours: float
    by_meaning: float
    raw: float
    beyond: float
    """All of a search but what the raw query of the same question took, question by question."""
    first: float
    recall: float

    @property
    def times_raw(self) -> float:
        """How many raw queries a search takes as long as."""
        return self.ours / self.raw


def main() -> None:
    """Measure, and print one table for each database."""
    parser = arguments(__doc__ or "")
    database_options(parser)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    parser.add_argument(
        "--sizes", metavar="N,N,…", help="how many chunks, in the place of the usual"
    )
    parser.add_argument("--queries", type=int, default=QUERIES, help="default: %(default)s")
    options = parser.parse_args()
    for kind in ("sqlite", "postgres"):
        if options.only in (None, kind):
            measured = [asyncio.run(measure(options, kind, size)) for size in sizes(options, kind)]
            show(
                f"Searches of knowledge, {kind} (p95)",
                list(results(kind, measured)),
                as_json=options.json,
            )


def sizes(options: argparse.Namespace, kind: str) -> tuple[int, ...]:
    """How many chunks are measured, the fewest first."""
    if options.sizes:
        return tuple(int(size) for size in options.sizes.replace("_", "").split(","))
    return (QUICK if options.quick else SIZES)[kind]


def results(kind: str, measured: list[Measured]) -> Iterator[Result]:
    """A row for each size, and one for what is promised."""
    rival = "numpy's own product" if kind == "sqlite" else "pgvector's own query"
    for each in measured:
        note = f"first {duration(each.first)}"
        yield _row(f"a search among {each.chunks:,} chunks", rival, each.ours, each.raw, note)
        note = f"{each.recall:.3f} of the nearest found"
        what = f"the nearest {FUSION.most} of {each.chunks:,} alone"
        yield _row(what, rival, each.by_meaning, each.raw, note)
    if len(measured) > 1:
        least, most = measured[0], measured[-1]
        what, rival = f"our share among {most.chunks:,} chunks", f"our share among {least.chunks:,}"
        ratio = most.beyond / least.beyond
        yield Result(
            what=what,
            rival=rival,
            ours_s=most.beyond,
            rival_s=least.beyond,
            ratio=ratio,
            bound=f"at most {TWICE:g} times",
            within=ratio <= TWICE,
            note="what a search takes beyond the raw query",
        )
        note = f"of raw queries, a search takes as long as {most.times_raw:.1f}, and {least.times_raw:.1f}"
        ratio = most.times_raw / least.times_raw
        yield Result(what, rival, most.ours, least.ours, ratio, "", None, note)


def _row(what: str, rival: str, ours: float, raw: float, note: str) -> Result:
    return Result(what, rival, ours, raw, ours / raw, "", None, note)


async def measure(options: argparse.Namespace, kind: str, size: int) -> Measured:
    """Fill a database of its own with so many chunks, and ask."""
    with databases(argparse.Namespace(**{**vars(options), "only": kind})) as urls:
        url = urls[kind]
        storage = await Storage.open(url)
        made = await Access(storage).create_organization(LOCAL_OPERATOR, "Bench")
        who = Principal(organization_id=made.organization.id, role=Role.OWNER)
        documents = -(-size // CHUNKS)
        began = time.perf_counter()
        await asyncio.to_thread(_fill, url, made.organization.id, documents)
        settle(url)
        print(
            f"{kind}: filled {documents * CHUNKS:,} chunks in {time.perf_counter() - began:.0f} s"
        )
        try:
            return await ask(storage, url, who, documents, options.queries)
        finally:
            await storage.close()


def _fill(url: str, scope: UUID, documents: int) -> None:
    if url.startswith("postgresql:"):
        fill_postgres(url, scope, documents)
    else:
        fill(Sqlite(url), scope, documents)


async def ask(storage: Storage, url: str, who: Principal, documents: int, queries: int) -> Measured:
    """Ask each side the same, in an order that turns."""
    scope = who.organization_id
    assert scope is not None
    embedding = DocumentEmbedding(storage, Embedders(MadeModel()))
    knowledge = Knowledge(storage, max_bytes=10**8, embedding=embedding)

    async def search(query: str) -> None:
        answer = await knowledge.search(who, query)
        assert answer.semantic
        assert answer.results

    async def near(query: str) -> None:
        await storage.read(scope, nearest, MODEL, vector_of(query), FUSION.most)

    speech = Speech(5)
    asked = list(dict.fromkeys(speech.ask() for _ in range(queries + WARM)))
    began = time.perf_counter()
    await search(asked[0])
    first = time.perf_counter() - began
    with raw_of(url, documents) as raw:
        times = await taken({"ours": search, "near": near, "raw": raw}, asked)
    beyond = [ours - raw for ours, raw in zip(times["ours"], times["raw"], strict=True)]
    return Measured(
        chunks=documents * CHUNKS,
        ours=p95(times["ours"]),
        by_meaning=p95(times["near"]),
        raw=p95(times["raw"]),
        beyond=p95(beyond),
        first=first,
        recall=await recall(storage, scope, documents, asked[:WARM]),
    )


async def taken(sides: dict[str, Ask], asked: list[str]) -> dict[str, list[float]]:
    """The seconds of each question but the first few, which warm up: a few in a row, then the next side the same."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    names = list(sides)
    for turn, first in enumerate(range(0, len(asked), AT_ONCE)):
        few = asked[first : first + AT_ONCE]
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            await asyncio.sleep(REST_S)
            await sides[name](few[0])
            for query in few:
                began = time.perf_counter()
                await sides[name](query)
                times[name].append(time.perf_counter() - began)
    return {name: each[WARM:] for name, each in times.items()}


def p95(times: list[float]) -> float:
    """The time that 95 of 100 questions keep within."""
    return statistics.quantiles(times, n=20)[-1]


@contextmanager
def raw_of(url: str, documents: int) -> Iterator[Ask]:
    """What answers with the nearest of the same vectors, and does nothing else."""
    if not url.startswith("postgresql:"):
        rows = np.concatenate([vectors_of(number) for number in range(documents)])
        yield _as_ask(partial(_largest, rows))
        return
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET hnsw.ef_search = 200")
        statement = (
            f"SELECT id FROM alone ORDER BY vector <#> %s::halfvec({DIMENSIONS}) "
            f"LIMIT {FUSION.most}"
        ).encode()

        def query(vector: Vectors) -> object:
            said = "[" + ",".join(map(str, vector.tolist())) + "]"
            return connection.execute(statement, (said,)).fetchall()

        yield _as_ask(query)


def _as_ask(query: Callable[[Vectors], object]) -> Ask:
    async def ask(text: str) -> object:
        return query(vector_of(text))

    return ask


def _largest(rows: Vectors, vector: Vectors) -> object:
    cosines = rows @ vector
    most = min(FUSION.most, len(cosines))
    places = np.argpartition(cosines, -most)[-most:]
    return places[np.argsort(-cosines[places])]


async def recall(storage: Storage, scope: UUID, documents: int, asked: list[str]) -> float:
    """The part of the nearest that is found, by cosines: what is as near as the last of them counts."""
    queries = np.stack([vector_of(query) for query in asked]).astype(np.float16).astype(np.float32)
    every = np.concatenate([vectors_of(number) @ queries.T for number in range(documents)])
    most = min(FUSION.most, len(every))
    found = 0
    for column, query in enumerate(asked):
        last = np.partition(every[:, column], -most)[-most]
        near = await storage.read(scope, nearest, MODEL, vector_of(query), most)
        found += sum(each.cosine >= last - 2e-6 for each in near)
    return found / (most * len(asked))


if __name__ == "__main__":
    main()
