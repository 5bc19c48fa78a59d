"""Short texts are found by their words, alike on both databases, and nobody else's texts move them."""

import asyncio
import threading
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import func, select

from memoranda.search import store as documents
from memoranda.search.calibration import RECALL_SCORE, SEARCH_SCORE
from memoranda.search.document import Passage, index_document
from memoranda.search.terms import read_passage, read_query, telling_terms
from memoranda.search.texts.plan import Limits
from memoranda.search.texts.rank import grouped, rank
from memoranda.search.texts.scale import scale
from memoranda.search.texts.store import TextHit, drop
from memoranda.storage import PLATFORM, Scope, Storage, Transaction, migrate
from memoranda.storage.tables import search_postings
from memoranda.words.ids import new_id
from tests.contract.short_texts import (
    COLLECTION,
    QUERIES,
    change,
    fill,
    found,
    numbered,
    organization,
    texts,
)

ROWS = select(func.count().label("rows")).select_from(search_postings)


@pytest.fixture(scope="module")
def storage(shared_storage: Storage) -> Storage:
    return shared_storage


async def answers(storage: Storage, scope: Scope, total: int) -> list[list[TextHit]]:
    return [await found(storage, scope, query, total, at_least=0.0) for query in QUERIES]


SAID = [
    ("東京", "昨日は東京タワーに行きました。"),
    ("数据", "我们把数据存在数据库里"),
    ("加速", "用GPU加速计算"),
    ("GPU", "最新のGPUを買った"),
    ("python", "用Python写的"),
    ("猫", "白い猫が好き"),
    ("ﾃﾞｰﾀ", "データを保存する"),
    ("학교", "학교에서 친구를 만났다"),
    ("กรุงเทพ", "ฉันอยู่ที่กรุงเทพมหานคร"),
    ("القهوة", "أحب القَهْوَة مع الحليب"),
    ("cafe", "Le Café noir"),
    ("Müller", "Frau Muller kommt um zehn"),
    ("Smorrebrod", "smørrebrød zum Mittag"),
    ("🎉", "ready 🎉!"),
    ("memory:safe", "Rust is memory-safe by default"),
    ("foo AND bar", "a foo beside a bar"),
    ("NOT foo*", "the foo is here"),
    ("GB/s", "the bus carries 10 GB/s"),
    ("don't", "please don't shout"),
    ('"unclosed', "an unclosed quote"),
    ("it's 'half", "half of it"),
    ("100%_x", "100 % x"),
    ("Robert'); DROP", "Robert drops the pen"),
    ("C:\\temp", "files go to C:\\temp"),
]


async def test_every_kind_of_word_is_a_plain_word_and_found(storage: Storage) -> None:
    content = numbered([text for _, text in SAID])
    alone = await organization(storage, content)
    for (query, _), item_id in zip(SAID, content, strict=True):
        hits = {hit.item_id: hit for hit in await found(storage, alone, query, len(content))}
        assert item_id in hits, query
        assert hits[item_id].score >= SEARCH_SCORE, query
        assert hits[item_id].words, query


@pytest.mark.parametrize(
    "query", ["", " ", "?!", "\ud800", "\0", "a" * 10_000, "東" * 10_000, 'NOT * ^ " :']
)
async def test_a_query_of_any_characters_is_answered(storage: Storage, query: str) -> None:
    alone = await organization(storage, numbered(["a plain text"]))
    assert await found(storage, alone, query, 1) == []


@pytest.mark.parametrize(
    "text", ["", "?!", "\ud800", "\0", "東" * 8_000, "word " * 1_600, "a" * 8_000]
)
async def test_a_text_of_any_characters_is_kept(storage: Storage, text: str) -> None:
    content = numbered([text])
    alone = await organization(storage, content)
    if asked := text[:200].strip():
        hits = await found(storage, alone, asked, 1)
        assert [hit.item_id for hit in hits] == list(content)[: len(read_query(asked).terms)]
    await storage.write(alone, drop, COLLECTION, list(content))
    assert await found(storage, alone, text[:200], 1) == []


async def test_neighbors_change_no_hit_score_or_order(storage: Storage) -> None:
    content = numbered(texts(60, 1))
    alone = await organization(storage, content)
    before = await answers(storage, alone, 60)
    assert [bool(hits) for hits in before] == [True, True, True, True, False]
    for number in range(20):
        await organization(storage, numbered(texts(30, number * 11)))
    await storage.write(PLATFORM, fill, numbered(texts(30, 5)))
    assert await answers(storage, alone, 60) == before


async def test_another_organizations_item_is_neither_found_nor_changed_nor_dropped(
    storage: Storage,
) -> None:
    content = numbered(["the secret oak desk"])
    theirs = await organization(storage, content)
    ours = await organization(storage, numbered(["a lamp"]))
    item_id = next(iter(content))
    assert await found(storage, ours, "secret oak", 1) == []
    assert await found(storage, ours, "secret oak", 1, limits=Limits(count=1, rows=1)) == []
    await storage.write(ours, drop, COLLECTION, [item_id])
    await storage.write(ours, change, item_id, "nothing of that")
    assert [hit.item_id for hit in await found(storage, theirs, "secret oak", 1)] == [item_id]


async def test_both_databases_find_the_same_with_the_same_scores(
    tmp_path: Path, postgres_database: str
) -> None:
    content = numbered([*texts(80, 3), *(text for _, text in SAID)])
    same = []
    for url in (str(tmp_path / "memoranda.db"), postgres_database):
        migrate(url)
        storage = await Storage.open(url)
        try:
            alone = await organization(storage, content)
            whole = await answers(storage, alone, len(content))
            few = {"limits": Limits(count=20, rows=12, common=2, items=5)}
            part = [await found(storage, alone, each, len(content), **few) for each in QUERIES]
            same.append((whole, part))
        finally:
            await storage.close()
    assert same[0] == same[1]
    assert all(any(hits) for hits in same[0])


async def test_what_is_found_is_what_ranking_every_text_would_find(storage: Storage) -> None:
    content = numbered([*texts(60, 3), *(text for _, text in SAID)])
    alone = await organization(storage, content)
    read = {item_id: read_passage(text).counts for item_id, text in content.items()}
    counts = Counter(term for terms in read.values() for term in terms)
    lengths = {item_id: len(telling_terms(terms)) for item_id, terms in read.items()}
    for asked in QUERIES + [query for query, _ in SAID]:
        query = read_query(asked)
        held = {item_id: query.terms.keys() & terms.keys() for item_id, terms in read.items()}
        groups = grouped({item_id: terms for item_id, terms in held.items() if terms})
        weights = scale(query.terms, counts, len(content))
        assert await found(storage, alone, asked, len(content), at_least=0.0) == rank(
            query, groups, lengths, weights, at_least=0.0
        )


async def test_a_text_that_changed_is_found_by_its_new_words_alone(storage: Storage) -> None:
    content = numbered(["an oak desk", "a lamp"])
    alone = await organization(storage, content)
    first = next(iter(content))
    await storage.write(alone, change, first, "an ash window")
    assert await found(storage, alone, "oak", 2) == []
    assert [hit.item_id for hit in await found(storage, alone, "window", 2)] == [first]
    fresh = await organization(storage, {first: "an ash window", new_id(): "a lamp"})
    assert await found(storage, alone, "ash", 2) == await found(storage, fresh, "ash", 2)


async def test_what_is_dropped_leaves_no_row_and_moves_no_score(storage: Storage) -> None:
    alone = await organization(storage, numbered(texts(40, 2)))
    before = await answers(storage, alone, 40)
    rows = await storage.read(alone, lambda tx: tx.one(ROWS))
    passing = numbered(texts(15, 9))
    await storage.write(alone, fill, passing)
    assert await answers(storage, alone, 55) != before
    await storage.write(alone, drop, COLLECTION, [*passing, new_id()])
    assert await answers(storage, alone, 40) == before
    assert await storage.read(alone, lambda tx: tx.one(ROWS)) == rows
    await storage.write(alone, drop, COLLECTION, [])


async def test_other_collections_and_documents_are_apart(storage: Storage) -> None:
    content = numbered(texts(20, 4))
    alone = await organization(storage, content)
    before = await answers(storage, alone, 20)
    await storage.write(alone, fill, content, "proposals")
    indexed = index_document([Passage("the oak desk in Leeds and the invoice")])
    await storage.write(alone, documents.add_document, "knowledge", next(iter(content)), indexed)
    assert await answers(storage, alone, 20) == before
    await storage.write(alone, drop, "proposals", list(content))
    assert await answers(storage, alone, 20) == before


async def test_writers_of_the_same_words_all_come_through(storage: Storage) -> None:
    alone = await organization(storage, {})
    parts = [numbered(texts(25, 1)) for _ in range(8)]
    orders = [dict(reversed(part.items())) if n % 2 else part for n, part in enumerate(parts)]
    await asyncio.gather(*(storage.write(alone, fill, part) for part in orders))
    hits = await found(storage, alone, "oak", 200)
    assert {hit.item_id for hit in hits} == {
        item_id for part in parts for item_id, text in part.items() if "oak" in text
    }


async def test_on_postgres_a_writer_does_not_wait_for_one_that_is_not_done(
    postgres_database: str,
) -> None:
    storage = await Storage.open(postgres_database)
    alone = await organization(storage, {})
    first, second = numbered(texts(20, 1)), numbered(texts(20, 1))
    begun, done = threading.Event(), threading.Event()

    def slow(tx: Transaction) -> bool:
        fill(tx, first)
        begun.set()
        return done.wait(20)

    try:
        waiting = asyncio.create_task(storage.write(alone, slow))
        await asyncio.to_thread(begun.wait, 20)
        await storage.write(alone, fill, second)
        done.set()
        assert await waiting
    finally:
        done.set()
        await storage.close()


async def test_a_score_is_the_same_whatever_is_asked_for_at_least(storage: Storage) -> None:
    alone = await organization(storage, numbered(texts(60, 6)))
    for query in QUERIES:
        every = await found(storage, alone, query, 60, at_least=0.0)
        for at_least in (SEARCH_SCORE, RECALL_SCORE):
            some = await found(storage, alone, query, 60, at_least=at_least)
            assert some == [hit for hit in every if hit.score >= at_least]
