"""Candidates: where passages are, what is counted, and which of many are scored."""

from collections.abc import Sequence
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.candidates import Candidates
from memoranda.search.document import IndexedDocument, Passage, index_document
from memoranda.search.lexical import Corpus, judge, rank
from memoranda.search.terms import Query, read_query
from tests.search.candidates_of import candidates_of, rows_of
from tests.search.test_lexical import totals

WORDS = [f"word{number}" for number in range(6)]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join), max_size=30)
DOCUMENTS = st.lists(TEXTS, min_size=1, max_size=6)
FILLER = Passage("nothing of note")


def named(documents: Sequence[Sequence[str]]) -> list[tuple[UUID, IndexedDocument]]:
    return [
        (UUID(int=7 << 64 | number << 8), index_document(map(Passage, texts)))
        for number, texts in enumerate(documents)
    ]


@given(DOCUMENTS, st.integers(14, 60))
def test_counts_are_those_of_the_documents_in_whatever_parts_their_rows_are(
    documents: list[list[str]], most: int
) -> None:
    given_documents = named(documents)
    counts, _ = totals([indexed for _, indexed in given_documents])
    assert candidates_of(given_documents, most).counts() == counts


@given(DOCUMENTS)
def test_every_passage_has_a_cell_of_its_own_and_no_other_place_has_one(
    documents: list[list[str]],
) -> None:
    given_documents = named(documents)
    candidates = candidates_of(given_documents)
    places = [
        (document_id, ordinal)
        for document_id, indexed in given_documents
        for ordinal in range(indexed.passages)
    ]
    cells = candidates.cells_of(places)
    assert candidates.places_of(cells) == places
    assert sorted(set(cells.tolist())) == cells.tolist()
    beyond = [(document_id, indexed.passages) for document_id, indexed in given_documents]
    wrong = [*beyond, (UUID(int=1), 0), (given_documents[0][0], -1)]
    assert set(candidates.cells_of(wrong).tolist()) == {-1}


def test_rows_of_other_documents_than_these_are_left_out() -> None:
    mine, others = named([["word1 word2"], ["word1"]])
    lengths = rows_of([(mine[0], mine[1].lengths)])
    row = rows_of([(each, indexed.postings["word1"]) for each, indexed in (others, mine)])
    assert Candidates(lengths, [("word1", row)]).counts().keys() == {"word1"}
    assert Candidates(lengths, [("word1", row)]).counts()["word1"].passages == 1


@given(DOCUMENTS, st.integers(1, 200))
def test_with_room_for_every_block_nothing_changes(documents: list[list[str]], more: int) -> None:
    given_documents = named(documents)
    counts, corpus = totals([indexed for _, indexed in given_documents])
    candidates = candidates_of(given_documents)
    asked = read_query("word1 word2 word3"), candidates, counts, corpus
    every = sum(-(-indexed.passages // 4) for _, indexed in given_documents)
    assert rank(*asked, limit=200, blocks=every + more) == rank(*asked, limit=200)


def long_documents() -> tuple[Candidates, dict, Corpus, list[UUID]]:
    """Forty documents of a hundred passages: one holds both words together, many hold one of them."""
    texts = [[FILLER] * 100 for _ in range(40)]
    for number, each in enumerate(texts):
        each[3 + number % 30] = Passage("a blue boat")
        each[80 - number % 10] = Passage("the heron")
    texts[21][60:62] = [Passage("blue is the water"), Passage("where the heron stands")]
    indexed = [index_document(each) for each in texts]
    counts, corpus = totals(indexed)
    ids = [UUID(int=number + 1) for number in range(40)]
    return candidates_of(zip(ids, indexed, strict=True)), counts, corpus, ids


@pytest.mark.parametrize("blocks", [5, 30])
def test_the_best_passages_are_found_among_few_blocks_with_the_scores_of_all(blocks: int) -> None:
    candidates, counts, corpus, ids = long_documents()
    asked = read_query("blue heron"), candidates, counts, corpus
    few, every = rank(*asked, limit=4, blocks=blocks), rank(*asked, limit=4)
    assert [(hit.document_id, hit.ordinal) for hit in few[:2]] == [(ids[21], 61), (ids[21], 60)]
    assert few[:2] == every[:2]


def where_a_word_stands(best: Sequence[str], at: int) -> list[tuple[UUID, int]]:
    """What few blocks answer about a word that every passage holds, where `best` stands so far into the last document."""
    usual = Passage("in that year the harbor had visitors and weather from the sea")
    texts = [[usual] * 40 for _ in range(12)]
    texts[11][at : at + len(best)] = [Passage(text) for text in best]
    indexed = [index_document(each) for each in texts]
    counts, corpus = totals(indexed)
    ids = [UUID(int=number + 1) for number in range(12)]
    candidates = candidates_of(zip(ids, indexed, strict=True))
    asked = read_query("harbor"), candidates, counts, corpus
    few, every = rank(*asked, limit=1, blocks=4), rank(*asked, limit=1)
    assert few == every
    return [(hit.document_id, hit.ordinal) for hit in few]


@pytest.mark.parametrize("at", [0, 17, 38])
@pytest.mark.parametrize(
    ("best", "place"),
    [
        (["Harbor harbor: the harbor of the harbor."], 0),
        (["The harbor."], 0),
        (["its harbor, the harbor that was a harbor long ago in that year"] * 2, 1),
    ],
)
def test_a_word_that_every_passage_holds_finds_where_it_is_said_most(
    best: list[str], place: int, at: int
) -> None:
    assert where_a_word_stands(best, at) == [(UUID(int=12), at + place)]


def test_a_passage_asked_for_is_scored_whatever_its_block_holds() -> None:
    candidates, counts, corpus, ids = long_documents()
    asked = read_query("blue heron"), candidates, counts, corpus
    places = [(ids[0], 3), (ids[39], 12), (ids[5], 75), (ids[7], 0)]
    every = judge(*asked)
    few = judge(*asked, blocks=2, also=places)
    left_out = judge(*asked, blocks=2)
    assert every is not None
    assert few is not None
    assert left_out is not None
    assert few.words(places) == every.words(places)
    assert [each.share > 0 for each in few.words(places)] == [True, True, True, False]
    assert {each.share for each in left_out.words(places)} == {0.0}


def test_the_passages_of_a_named_speaker_are_among_the_few() -> None:
    turns = [[Passage("a heron", "Bo"), *[FILLER] * 7] * 12 for _ in range(9)]
    turns[6][40] = Passage("a heron", "Ada")
    indexed = [index_document(each) for each in turns]
    counts, corpus = totals(indexed)
    ids = [UUID(int=number + 1) for number in range(9)]
    candidates = candidates_of(zip(ids, indexed, strict=True))
    asked = Query(terms={"heron": 1}, names=("@ada",))
    [best] = rank(asked, candidates, counts, corpus, limit=1, blocks=3)
    assert (best.document_id, best.ordinal) == (ids[6], 40)
