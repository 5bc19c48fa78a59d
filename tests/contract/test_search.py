"""Ranking is the same on both databases, and nobody else's documents move it."""

from pathlib import Path
from uuid import UUID

import pytest

from memoranda.access.store import add_organization
from memoranda.search import store
from memoranda.search.document import Passage, index_document
from memoranda.search.lexical import Hit
from memoranda.search.plan import Limits
from memoranda.search.terms import read_query
from memoranda.storage import PLATFORM, Storage, Transaction, migrate
from memoranda.words.ids import new_id

COLLECTION = "knowledge"
SUBJECTS = ["harbor", "library", "bakery", "orchard", "station", "theater", "garden", "bridge"]
QUERIES = [
    "when does the harbor open",
    "bakery prices on sunday",
    "the old bridge AND garden",
    "opening hours",
    '"unclosed theater',
    "nothing-of-the-kind",
]


def documents(count: int, seed: int) -> list[list[Passage]]:
    """Documents that share most words and differ in a few, so that ranking has something to do."""
    made = []
    for number in range(count):
        mix = number * 7 + seed
        made.append(
            [
                Passage(
                    f"The {SUBJECTS[(mix + line) % 8]} opens at {6 + (mix * line) % 12} and the old "
                    f"{SUBJECTS[(mix * 3 + line) % 8]} closes on {['sunday', 'monday'][line % 2]} "
                    f"with prices of {mix % 23} for {SUBJECTS[line % 8]} visitors"
                )
                for line in range(3 + mix % 9)
            ]
        )
    return made


def fill(tx: Transaction, ids: list[UUID], content: list[list[Passage]]) -> None:
    for document_id, passages in zip(ids, content, strict=True):
        store.add_document(tx, COLLECTION, document_id, index_document(passages))


async def organization(storage: Storage, ids: list[UUID], content: list[list[Passage]]) -> UUID:
    organization_id = new_id()
    await storage.write(organization_id, add_organization, str(organization_id))
    await storage.write(organization_id, fill, ids, content)
    return organization_id


async def answers(storage: Storage, organization_id: UUID) -> list[list[Hit]]:
    return [
        await storage.read(organization_id, store.search, COLLECTION, read_query(query), limit=20)
        for query in QUERIES
    ]


async def test_fifty_neighbors_change_no_result_score_or_order(storage: Storage) -> None:
    ids = [new_id() for _ in range(20)]
    alone = await organization(storage, ids, documents(20, 1))
    before = await answers(storage, alone)
    assert any(before)
    for number in range(50):
        other = [new_id() for _ in range(3)]
        await organization(storage, other, documents(3, number * 11))
    await storage.write(PLATFORM, fill, [new_id()], documents(1, 5))
    assert await answers(storage, alone) == before


async def test_both_databases_rank_the_same_rows_alike(
    tmp_path: Path, postgres_database: str
) -> None:
    ids = [new_id() for _ in range(25)]
    found = []
    for url in (str(tmp_path / "memoranda.db"), postgres_database):
        migrate(url)
        storage = await Storage.open(url)
        try:
            found.append(await answers(storage, await organization(storage, ids, documents(25, 3))))
        finally:
            await storage.close()
    assert found[0] == found[1]
    assert any(found[0])


async def test_named_documents_are_ranked_as_if_they_were_all_there_is(storage: Storage) -> None:
    ids = [new_id() for _ in range(6)]
    alone = await organization(storage, ids, documents(6, 2))
    expected = await answers(storage, alone)
    await storage.write(alone, fill, [new_id() for _ in range(9)], documents(9, 8))
    narrowed = [
        await storage.read(
            alone, store.search, COLLECTION, read_query(query), limit=20, document_ids=ids
        )
        for query in QUERIES
    ]
    assert narrowed == expected


async def test_what_is_added_and_removed_again_leaves_ranking_as_it_was(storage: Storage) -> None:
    ids = [new_id() for _ in range(6)]
    alone = await organization(storage, ids, documents(6, 2))
    before = await answers(storage, alone)
    passing = [new_id() for _ in range(4)]
    await storage.write(alone, fill, passing, documents(4, 9))
    assert await answers(storage, alone) != before
    for document_id in passing:
        assert await storage.write(alone, store.remove_document, COLLECTION, document_id)
    assert await answers(storage, alone) == before
    assert not await storage.write(alone, store.remove_document, COLLECTION, passing[0])


async def test_another_organizations_document_is_neither_found_nor_removed(
    storage: Storage,
) -> None:
    ids = [new_id()]
    mine = await organization(storage, ids, documents(1, 2))
    other = await organization(storage, [new_id()], documents(1, 3))
    query = read_query("harbor bridge garden opens")
    found = await storage.read(other, store.search, COLLECTION, query, limit=20, document_ids=ids)
    assert found == []
    assert not await storage.write(other, store.remove_document, COLLECTION, ids[0])
    assert await storage.read(mine, store.search, COLLECTION, query, limit=20)


@pytest.mark.parametrize("rows", [1, 10, 40])
async def test_bounded_candidates_still_hold_the_rarest_words(storage: Storage, rows: int) -> None:
    ids = [new_id() for _ in range(30)]
    content = documents(30, 4)
    content[17].append(Passage("The zeppelin hangar opens at noon"))
    alone = await organization(storage, ids, content)
    hits = await storage.read(
        alone,
        store.search,
        COLLECTION,
        read_query("when does the zeppelin open"),
        limit=3,
        limits=Limits(rows=rows, documents=5),
    )
    assert hits[0].document_id == ids[17]


@pytest.mark.parametrize(("rows", "found"), [(4, 4), (11, 11), (12, 12), (90, 12)])
async def test_of_a_word_that_too_many_documents_hold_so_many_rows_are_read_and_no_more(
    storage: Storage, rows: int, found: int
) -> None:
    ids = [new_id() for _ in range(12)]
    alone = await organization(storage, ids, [[Passage("The zeppelin waits")]] * 12)
    hits = await storage.read(
        alone, store.search, COLLECTION, read_query("zeppelin"), limit=90, limits=Limits(rows=rows)
    )
    assert len({hit.document_id for hit in hits}) == found


@pytest.mark.parametrize("passages", [1, 8, 30])
async def test_of_too_many_passages_the_documents_are_ranked_in_which_the_words_stand_together(
    storage: Storage, passages: int
) -> None:
    ids = [new_id() for _ in range(30)]
    content = documents(30, 4)
    apart = [Passage("The zeppelin waits"), *documents(1, 12)[0] * 3, Passage("The hangar opens")]
    content[3] = content[25] = apart
    content[17].append(Passage("The zeppelin hangar opens at noon"))
    alone = await organization(storage, ids, content)
    query = read_query("when does the zeppelin hangar open")
    few = await storage.read(
        alone, store.search, COLLECTION, query, limit=3, limits=Limits(passages=passages)
    )
    ranked = {hit.document_id for hit in few}
    assert ids[17] in ranked
    assert passages > 8 or ranked == {ids[17]}


def begin(tx: Transaction, ids: list[UUID], content: list[list[Passage]]) -> None:
    for document_id, passages in zip(ids, content, strict=True):
        indexed = index_document(passages)
        store.begin_document(tx, COLLECTION, document_id, indexed.passages)
        store.add_terms(tx, COLLECTION, document_id, indexed, sorted(indexed.postings))


async def test_documents_that_are_not_finished_take_no_candidates_place_and_move_no_score(
    storage: Storage,
) -> None:
    first = [new_id() for _ in range(12)]
    ids = [new_id() for _ in range(6)]
    alone = await organization(storage, ids, documents(6, 4))

    async def found() -> list[list[Hit]]:
        limits = Limits(rows=3, documents=2)
        return [
            await storage.read(
                alone, store.search, COLLECTION, read_query(query), limit=20, limits=limits
            )
            for query in QUERIES
        ] + await answers(storage, alone)

    before = await found()
    assert any(before)
    await storage.write(alone, begin, first, documents(12, 1))
    hidden = await storage.read(
        alone, store.search, COLLECTION, read_query("harbor"), limit=5, document_ids=first
    )
    assert hidden == []
    assert await found() == before
    for document_id in first:
        while await storage.write(alone, store.clear_terms, COLLECTION, document_id, 7) == 7:
            assert await found() == before


@pytest.mark.parametrize("query", ["", "the", "?!", "a" * 100_000, "\ud800", "\0", 'NOT * ^ " :'])
async def test_a_query_of_any_characters_is_plain_words(storage: Storage, query: str) -> None:
    alone = await organization(storage, [new_id()], documents(1, 2))
    found = await storage.read(alone, store.search, COLLECTION, read_query(query), limit=5)
    assert isinstance(found, list)


def speakers(tx: Transaction, names: list[str]) -> UUID:
    document_id = new_id()
    turns = [Passage("We saw a heron at the harbor", speaker=name) for name in names]
    store.add_document(tx, COLLECTION, document_id, index_document(turns))
    return document_id


async def wording(storage: Storage, scope: UUID, text: str, ids: list[UUID] | None = None) -> str:
    return await storage.read(
        scope, store.wording, COLLECTION, text, read_query(text), document_ids=ids
    )


async def test_only_ones_own_speakers_are_left_out_of_what_a_query_means(
    storage: Storage,
) -> None:
    mine = await organization(storage, [], [])
    other = await organization(storage, [], [])
    ada = await storage.write(mine, speakers, ["Ada Lovelace"])
    await storage.write(mine, speakers, ["Bo"])
    await storage.write(other, speakers, ["Heron", "Cleo"])
    await storage.write(PLATFORM, speakers, ["Harbor"])
    text = "Did Ada tell Bo and Cleo of the harbor heron"
    assert await wording(storage, mine, text) == "Did tell and Cleo of the harbor heron"
    assert await wording(storage, mine, text, [ada]) == "Did tell Bo and Cleo of the harbor heron"
    assert await wording(storage, other, text) == "Did Ada tell Bo and of the harbor"
    assert await storage.write(mine, store.hide_document, COLLECTION, ada)
    assert await wording(storage, mine, text) == "Did Ada tell and Cleo of the harbor heron"


async def test_a_passage_that_is_looked_at_in_any_case_is_judged_by_all_of_its_words(
    storage: Storage,
) -> None:
    ids = [new_id() for _ in range(30)]
    content = documents(30, 4)
    alone = await organization(storage, ids, content)
    query = read_query("when does the old harbor open on sunday")
    few = Limits(rows=10, documents=2)

    places = [(ids[0], 0), (ids[0], 1), (ids[17], 0)]

    async def shares(limits: Limits, also: list[tuple[UUID, int]]) -> list[float]:
        judged = await storage.read(alone, store.judge, COLLECTION, query, also=also, limits=limits)
        assert judged is not None
        return [each.share for each in judged.words(places)]

    everything = await shares(Limits(), [])
    assert min(everything) > 0
    assert 0.0 in await shares(few, [])
    one_of_each = [(document_id, 0) for document_id in ids]
    assert await shares(few, [*one_of_each, *places]) == everything
