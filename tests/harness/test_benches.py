"""What the benchmarks stand on: the same work for every side, and rows that are not faked."""

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from itertools import islice
from uuid import UUID

import numpy as np
import pytest
from made import NEW, Prepared, Size, asks, prepared, text
from recorded import record_in_turn
from rivals import RawPostgres, RawSqlite
from sides import Filled, fill_ours, opened

from memoranda.app import Memoranda
from memoranda.memories.finding.service import Finding
from memoranda.memories.models import FoundMemory, Memory
from memoranda.memories.service import Memories
from memoranda.storage import Storage
from tests.guards.source import ROOT

SIZE = Size(3, 12)
NONE_BUT_OURS = ("--without", "langgraph", "mem0", "--only", "sqlite", "--json")


@pytest.fixture(scope="module")
def embedder() -> Prepared:
    return prepared()


def test_sizes_are_read_as_people_write_them() -> None:
    assert Size.parse("2000") == Size(1, 2_000)
    assert Size.parse("1,000x1,000") == Size(1_000, 1_000)
    assert str(Size.parse("1000x20")) == "1,000 organizations of 20"


def test_every_side_is_asked_the_same_and_nothing_twice() -> None:
    first, second = (list(islice(asks(SIZE), 500)) for _ in range(2))
    assert first == second
    assert len({ask.text for ask in first}) == len({ask.query for ask in first}) == 500
    assert not {ask.query for ask in first} & {ask.known for ask in first}


def test_no_two_memories_say_the_same() -> None:
    assert len({text(number) for number in (*range(5_000), *range(NEW, NEW + 5_000))}) == 10_000


async def test_all_sides_embed_alike(embedder: Prepared) -> None:
    embedder.prepare(range(50))
    for texts in ([text(7), text(49)], ["never prepared"]):
        vectors = await embedder.embed(texts)
        assert np.allclose(vectors, embedder.now(texts), atol=1e-6)
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_a_copied_organization_is_one_of_its_own(
    database_url: str, embedder: Prepared
) -> None:
    filled = await fill_ours(database_url, SIZE, embedder)
    async with opened(database_url, SIZE, embedder) as product:
        await product.memories.remember(filled.owner(1), "Only the second one knows this.")
        for number, memories in ((0, 12), (1, 13), (2, 12)):
            known = await everything(product, filled, number)
            assert len(known) == memories
            assert {filled.memory(number, each) for each in range(12)} <= set(known)
            best = await best_of(product, filled, number, text(5))
            assert best.memory == known[filled.memory(number, 5)]
            assert best.match.literal
            assert best.match.words
            assert best.match.meaning
            stats = await product.memories.stats(filled.owner(number))
            assert (stats.active, stats.unembedded) == (memories, number == 1)


async def everything(product: Memoranda, filled: Filled, number: int) -> dict[UUID, Memory]:
    page = await product.memories.page(filled.owner(number), limit=100)
    return {memory.id: memory for memory in page.items}


async def best_of(product: Memoranda, filled: Filled, number: int, query: str) -> FoundMemory:
    """The best that an organization finds, by words and by meaning."""
    finding = Finding(product.storage, product.vectors)
    return (await finding.search(filled.owner(number), query)).results[0]


async def test_recorded_writes_can_be_run_again_one_after_the_other(database_url: str) -> None:
    async with Memoranda.open(database_url) as product:
        who = product.owner
        assert who.organization_id is not None
        verbs = [remembering(product, f"Fact {number}") for number in range(5)]
        recordings = await record_in_turn(database_url, who.organization_id, verbs)
        assert not (await product.memories.page(who)).items
    postgres = database_url.startswith("postgresql:")
    raw = RawPostgres(database_url, who.organization_id) if postgres else RawSqlite(database_url)
    with closing(raw):
        for recording in recordings:
            raw.write([recording])
    async with Memoranda.open(database_url) as product:
        await product.memories.remember(who, "Fact 5")
        page = await product.memories.page(who)
    assert [memory.text for memory in page.items] == [
        f"Fact {number}" for number in range(5, -1, -1)
    ]


def remembering(product: Memoranda, said: str) -> Callable[[Storage], Awaitable[Memory]]:
    return lambda storage: Memories(storage).remember(product.owner, said)


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("stores", "--quick", *NONE_BUT_OURS),
        ("waits", "--listed", "30", "--among", "40", "--rounds", "3", "--only", "sqlite", "--json"),
        ("memories", "--rounds", "1", "--only", "sqlite", "--json"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_benchmark_runs_and_prints_what_it_measured(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    documents = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(document["results"] for document in documents)
    assert documents
