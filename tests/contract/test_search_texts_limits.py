"""A search of short texts reads a bounded number of rows, and says truly what it finds in them."""

from typing import Any, cast

import pytest

from memoranda.search.calibration import RECALL_SCORE, SEARCH_SCORE
from memoranda.search.terms import read_query
from memoranda.search.texts.plan import LIMITS, Limits
from memoranda.search.texts.store import find, find_among, shelf
from memoranda.storage import Storage, Transaction, one_of
from memoranda.words.ids import new_id
from tests.contract.short_texts import (
    COLLECTION,
    QUERIES,
    THINGS,
    fill,
    found,
    numbered,
    organization,
    texts,
)


@pytest.fixture(scope="module")
def storage(shared_storage: Storage) -> Storage:
    return shared_storage


async def test_a_common_word_is_counted_in_part_and_hides_no_rare_one(storage: Storage) -> None:
    content = numbered([f"oak table {number}" for number in range(60)])
    rare = {new_id(): "oak zeppelin", new_id(): "oak bench with a zeppelin on it"}
    alone = await organization(storage, {**rare, **content})
    narrow = {"limits": Limits(count=10, rows=8)}
    hits = await found(storage, alone, "oak zeppelin", 62, at_least=SEARCH_SCORE, **narrow)
    assert [hit.item_id for hit in hits] == list(rare)
    assert all(hit.words == ("oak", "zeppelin") for hit in hits)
    assert hits[0].score > 0.99


async def test_of_common_words_alone_the_newest_are_found(storage: Storage) -> None:
    content = numbered(["oak table"] * 60)
    alone = await organization(storage, content)
    newest = await found(
        storage, alone, "oak table", 60, at_least=SEARCH_SCORE, limits=Limits(count=10, rows=8)
    )
    assert {hit.item_id for hit in newest} == set(list(content)[-4:])
    assert all(hit.words == ("oak", "table") for hit in newest)


SOME = shelf(lambda rows: one_of(rows.c.document_id, "known"))


@pytest.mark.parametrize("limits", [LIMITS, Limits(count=10, rows=8)])
async def test_what_a_shelf_does_not_show_takes_no_place_and_moves_no_score(
    storage: Storage, limits: Limits
) -> None:
    content = numbered(texts(30, 2))
    alone = await organization(storage, content)
    among_others = await organization(storage, content)
    for seed in (1, 2, 3):
        await storage.write(among_others, fill, numbered(texts(30, seed)))
    for query in QUERIES:
        options: dict[str, Any] = {"at_least": 0.0, "limits": limits}
        expected = await found(storage, alone, query, 30, **options)
        known = {"on": SOME, "known": list(content)}
        assert await found(storage, among_others, query, 30, **known, **options) == expected


@pytest.mark.parametrize("limits", [LIMITS, Limits(count=10, rows=8)])
@pytest.mark.parametrize("looks", [0, 20_000])
async def test_items_that_are_named_are_found_as_if_they_were_all_there_is(
    storage: Storage, limits: Limits, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.search.texts.store.MOST_LOOKS", looks)
    content = numbered(texts(30, 2))
    alone = await organization(storage, content)
    among_others = await organization(storage, content)
    for seed in (1, 2, 3):
        await storage.write(among_others, fill, numbered(texts(30, seed)))
    for query in QUERIES:
        options: dict[str, Any] = {"at_least": 0.0, "limits": limits}
        expected = await found(storage, alone, query, 30, **options)
        asked = read_query(query)
        named = list(content)
        hits = await storage.read(among_others, find_among, COLLECTION, asked, named, **options)
        assert hits == expected
    nothing = read_query(QUERIES[0]), []
    assert await storage.read(among_others, find_among, COLLECTION, *nothing) == []


@pytest.mark.parametrize("rows", [8, 60, 5_000])
async def test_what_is_read_before_it_is_counted_is_found_alike(
    storage: Storage, rows: int
) -> None:
    alone = await organization(storage, numbered(texts(60, 1)))
    for query in QUERIES:
        counted, read, in_part = [
            await found(
                storage,
                alone,
                query,
                60,
                at_least=0.0,
                limits=Limits(count=20, rows=rows, small=small, few=few),
            )
            for small, few in ((0, 0), (60, 2_000), (60, 3))
        ]
        assert counted == read == in_part


class Counting:
    """A transaction that counts what is asked of the database, and what comes back."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self.statements = self.rows = 0

    def plain(self, statement: Any, **values: Any) -> list[Any]:
        rows = self._tx.plain(statement, **values)
        self.statements += 1
        self.rows += len(rows)
        return rows


WORDS = [f"{thing}{number}" for number in range(150) for thing in THINGS]


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        ([" ".join(WORDS[start::31]) for start in range(31)] * 2, " ".join(WORDS)),
        (["oak and ash, a lamp and a desk"] * 62, "oak ash lamp desk window"),
    ],
)
async def test_a_search_reads_a_bounded_number_of_rows(
    storage: Storage, content: list[str], asked: str
) -> None:
    alone = await organization(storage, numbered(content))
    limits = Limits(count=50, rows=200, items=2, few=30)
    query = read_query(asked, most=2_000)

    def look(tx: Transaction) -> Counting:
        counting = Counting(tx)
        assert find(
            cast("Transaction", counting), COLLECTION, query, total=62, at_least=0.0, limits=limits
        )
        return counting

    counting = await storage.read(alone, look)
    counts = counting.statements  # each of these is a row too
    most = limits.few + 1 + limits.rows + limits.items * (limits.common + 16)
    assert counting.rows <= most + counts
    assert counting.statements <= 100


async def test_a_long_task_brings_back_a_short_text(storage: Storage) -> None:
    short = {new_id(): "The Hexham depot keeps a spare lamp"}
    alone = await organization(storage, {**short, **numbered(texts(200, 3))})
    task = " ".join([*WORDS[:300], "Fetch the spare lamp, which Hexham keeps in its depot."])
    asked = read_query(task, most=1_024)
    hits = await storage.read(alone, find, COLLECTION, asked, total=201, at_least=RECALL_SCORE)
    assert [hit.item_id for hit in hits] == list(short)
