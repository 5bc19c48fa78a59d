"""Adding, ingesting and removing one document at once leaves whole documents and no trace of removed ones."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import select

from memoranda import Memoranda
from memoranda.jobs.chores import TakingIn
from memoranda.jobs.worker import Worker
from memoranda.storage import Transaction
from memoranda.storage.tables import (
    knowledge_chunks,
    knowledge_sources,
    search_documents,
    search_postings,
    search_terms,
    search_totals,
)
from memoranda.words.errors import NotFound

WORDS = [f"word{number}" for number in range(400)]
SOURCES = select(knowledge_sources.c.id, knowledge_sources.c.chunks)
CHUNKS = select(knowledge_chunks.c.source_id).join(
    knowledge_sources, knowledge_chunks.c.source_id == knowledge_sources.c.id
)
DOCUMENTS = select(
    search_documents.c.document_id, search_documents.c.passages, search_documents.c.tokens
)
POSTINGS = select(search_postings.c.term, search_postings.c.document_id)
TERMS = select(search_terms.c.term, search_terms.c.documents)
TOTALS = select(search_totals.c.documents, search_totals.c.passages, search_totals.c.tokens)


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    async with Memoranda.open(database_url, migrate=False) as opened:
        yield opened


def check_whole(tx: Transaction) -> set[UUID]:
    """Compare the index with the sources that there are; answer the ids of these."""
    sources = {row.id: row.chunks for row in tx.all(SOURCES)}
    documents = tx.all(DOCUMENTS)
    assert {row.document_id: row.passages for row in documents} == sources
    assert sorted(row.source_id for row in tx.all(CHUNKS)) == sorted(
        source for source, chunks in sources.items() for _ in range(chunks)
    )
    postings = tx.all(POSTINGS)
    assert {row.document_id for row in postings} == set(sources)
    counted = dict.fromkeys((row.term for row in postings), 0)
    for row in postings:
        counted[row.term] += 1
    assert {row.term: row.documents for row in tx.all(TERMS)} == counted
    sums = [sum(row[place] for row in documents) for place in (1, 2)]
    assert [tuple(row) for row in tx.all(TOTALS)] == [(len(documents), *sums)]
    return set(sources)


async def test_whoever_adds_ingests_and_removes_at_once_leaves_the_index_of_what_is_there(
    memoranda: Memoranda,
) -> None:
    chance = random.Random(7)
    workers = [
        Worker(memoranda.storage, [TakingIn(memoranda.knowledge)], poll=timedelta(milliseconds=5))
        for _ in range(3)
    ]

    async def churn() -> None:
        for _ in range(10):
            text = " ".join(chance.choices(WORDS, k=600))
            source = await memoranda.knowledge.add(
                memoranda.owner, text.encode(), title="a.txt", object_key=f"k{chance.randrange(3)}"
            )
            await asyncio.sleep(chance.random() / 10)
            if chance.random() < 0.6:
                with suppress(NotFound):  # another was first
                    await memoranda.knowledge.remove(memoranda.owner, source.id)

    running = [asyncio.create_task(worker.run()) for worker in workers]
    try:
        async with asyncio.timeout(60):
            await asyncio.gather(*(churn() for _ in range(6)))
            # One stays: a slow machine may have taken in nothing before all of it was removed again.
            await memoranda.knowledge.add(memoranda.owner, b"word1 stays", title="b.txt")
            await memoranda.worker.drain()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    organization = memoranda.owner.organization_id
    assert organization is not None
    for source_id in await memoranda.storage.read(organization, check_whole):
        await memoranda.knowledge.remove(memoranda.owner, source_id)
    assert await memoranda.storage.read(organization, check_whole) == set()
