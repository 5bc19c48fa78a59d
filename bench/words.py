"""Measures finding by words over made-up short texts: short queries and whole tasks, on both databases."""

import argparse
import asyncio
import time
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import numpy as np
from databases import database_options, databases, settle
from filled import Speech
from measure import console
from rich.table import Table

from memoranda.access.store import add_organization
from memoranda.search.calibration import SEARCH_SCORE
from memoranda.search.terms import Query, read_passage, read_query
from memoranda.search.texts.store import TextHit, find, put
from memoranda.storage import Storage, Transaction
from memoranda.words.ids import new_id

SIZES: Final = (2_000, 100_000)
WORDS: Final = (5, 50, 1_500)
"""How many words are asked: a query, a short task, and one of about 13,000 characters."""
QUERIES: Final = 40
AT_ONCE: Final = 1_000
COLLECTION: Final = "memories"


def main() -> None:
    """Print what a search takes, by how many texts there are and how much is asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="how many texts")
    database_options(parser)
    asyncio.run(show(parser.parse_args()))


async def show(options: argparse.Namespace) -> None:
    columns = ("database", "texts", "words asked", "p50", "p95", "processor, p50")
    table = Table(*columns, title="finding by words, in milliseconds")
    with databases(options) as urls:
        for name, url in urls.items():
            storage = await Storage.open(url)
            for size in options.sizes:
                speech = Speech(size)
                organization_id = await fill(storage, speech, size)
                settle(url)
                for words in WORDS:
                    queries = [read_query(speech.say(words), most=1_024) for _ in range(QUERIES)]
                    times = await measure(storage, organization_id, queries, size)
                    table.add_row(name, str(size), str(words), *(f"{each:.1f}" for each in times))
            await storage.close()
    console().print(table)


async def fill(storage: Storage, speech: Speech, size: int) -> UUID:
    """An organization with so many texts of 6 to 30 words."""

    def some(tx: Transaction, count: int) -> None:
        for number in range(count):
            terms = read_passage(speech.say(6 + number % 25))
            put(tx, COLLECTION, new_id(), terms, fresh=True)

    organization_id = new_id()
    await storage.write(organization_id, add_organization, str(organization_id))
    for start in range(0, size, AT_ONCE):
        await storage.write(organization_id, some, min(AT_ONCE, size - start))
    return organization_id


async def measure(
    storage: Storage, organization_id: UUID, queries: Sequence[Query], size: int
) -> tuple[float, float, float]:
    """What one search takes, in milliseconds: half of them, 95 in 100, and processor time here."""
    taken: list[float] = []
    worked: list[float] = []

    def look(tx: Transaction, query: Query) -> list[TextHit]:
        began = time.thread_time()
        hits = find(tx, COLLECTION, query, total=size, at_least=SEARCH_SCORE)
        worked.append(time.thread_time() - began)
        return hits

    for query in (*queries, *queries):  # the first round warms up
        began = time.perf_counter()
        await storage.read(organization_id, look, query)
        taken.append(time.perf_counter() - began)
    p50, p95 = np.percentile(taken[len(queries) :], [50, 95]) * 1000
    return p50, p95, float(np.median(worked[len(queries) :])) * 1000


if __name__ == "__main__":
    main()
