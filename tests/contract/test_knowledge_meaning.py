"""Documents are found by meaning as well as by words, alike on both databases, and by one's own rows alone."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from memoranda.knowledge import store
from memoranda.knowledge.models import SearchAnswer, Source
from memoranda.search import both as joining
from memoranda.search.document import Passage, index_document
from memoranda.search.english import STOP_WORDS
from memoranda.search.fusion import fuse
from memoranda.search.lexical import Corpus, Words, judge
from memoranda.search.terms import read_query
from memoranda.search.weights import FUSION
from memoranda.storage import Storage, migrate
from tests.contract.document_house import (
    DocumentHouse,
    new_document_house,
    platform_of,
)
from tests.search.candidates_of import candidates_of
from tests.search.made_up_embedder import MadeUp

ALIKE = {"car": "automobile", "puppy": "dog", "boat": "ship"}
TURNS = [
    ("Ada", "My automobile broke down on the hill"),
    ("Bo", "That sounds like a long walk"),
    ("Ada", "A stranger helped me push"),
    ("Bo", "We sailed a ship around the island"),
    ("Ada", "Ada is my name after all"),
    ("Bo", "Hello Ada, how is Ada today"),
    ("Ada", "The dog chased a ball"),
]
QUERIES = [
    "car",
    "puppy ball",
    "who sailed a boat",
    "what broke down",
    "Ada",
    "zeppelin",
    "unheard",
]


class Thesaurus(MadeUp):
    """Knows that some words mean the same, and that others mean nothing."""

    def __init__(self, model: str) -> None:
        super().__init__(model, dimensions=384)

    def of(self, text: str) -> np.ndarray:
        words = text.lower().replace("?", "").split()
        said = [ALIKE.get(word, word) for word in words if word not in STOP_WORDS]
        return super().of(" ".join(said or words))


def transcript(turns: Sequence[tuple[str, str]]) -> str:
    return "".join(json.dumps({"speaker": who, "text": said}) + "\n" for who, said in turns)


async def add_talk(
    house: DocumentHouse, turns: Sequence[tuple[str, str]], title: str = "t.jsonl"
) -> Source:
    """Take a transcript in; its name says that it is one."""
    source = await house.add(transcript(turns), title=title)
    await house.take_in()
    ready = await house.get(source.id)
    assert (ready.status, ready.kind) == ("ready", "transcript")
    return ready


def brief(answer: SearchAnswer) -> list[tuple[str, int, float]]:
    return [(result.title, result.ordinal, result.score) for result in answer.results]


async def answers(house: DocumentHouse, **asked: object) -> list[list[tuple[str, int, float]]]:
    return [brief(await house.knowledge.search(house.who, each, **asked)) for each in QUERIES]


async def test_what_shares_no_word_with_the_query_is_found_by_its_meaning(storage) -> None:
    with_model = await new_document_house(storage, Thesaurus("m"))
    with_words = await new_document_house(storage)
    for house in (with_model, with_words):
        await add_talk(house, TURNS)
    for query, ordinal in [("car", 0), ("boat", 3), ("puppy", 6)]:
        answer = await with_model.knowledge.search(with_model.who, query)
        assert answer.results[0].ordinal == ordinal
        assert (answer.semantic, answer.model) == (True, "m")
        plain = await with_words.knowledge.search(with_words.who, query)
        assert (plain.results, plain.semantic, plain.model) == ([], False, None)


async def test_a_passage_is_found_by_what_the_heading_above_it_means(storage) -> None:
    house = await new_document_house(storage, Thesaurus("m"))
    await house.add("# Automobile\n\nIt runs.\n\n# Kettle\n\nIt boils.", title="guide.md")
    await house.take_in()
    answer = await house.knowledge.search(house.who, "car")
    assert answer.results[0].place == "Automobile"
    assert answer.semantic


async def test_a_query_that_is_near_nothing_and_shares_no_word_finds_nothing(storage) -> None:
    house = await new_document_house(storage, Thesaurus("m"))
    await add_talk(house, TURNS)
    answer = await house.knowledge.search(house.who, "zeppelin hangar opening hours")
    assert (answer.results, answer.semantic) == ([], True)


async def test_what_meaning_alone_found_scores_no_more_than_its_curve_says(storage) -> None:
    model = Thesaurus("m")
    house = await new_document_house(storage, model)
    await add_talk(house, TURNS)
    [first, *_] = (await house.knowledge.search(house.who, "car")).results
    cosine = float(model.of("car") @ model.of(TURNS[0][1]))
    assert first.score == pytest.approx(model.calibration.score(cosine), abs=0.01)


async def test_both_databases_give_the_same_results_scores_and_order(
    tmp_path: Path, postgres_database: str
) -> None:
    found = []
    for url in (str(tmp_path / "memoranda.db"), postgres_database):
        migrate(url)
        storage = await Storage.open(url)
        try:
            house = await new_document_house(storage, Thesaurus("m"))
            await add_talk(house, TURNS, "a.jsonl")
            await add_talk(house, TURNS[::-1], "b.jsonl")
            found.append(await answers(house))
        finally:
            await storage.close()
    assert found[0] == found[1]
    assert sum(map(bool, found[0])) == len(QUERIES) - 2


async def test_nobody_elses_documents_move_a_result_or_a_score(storage) -> None:
    house = await new_document_house(storage, Thesaurus("m"))
    await add_talk(house, TURNS)
    before = await answers(house)
    assert any(before)
    for _ in range(2):
        other = await new_document_house(storage, Thesaurus("m"))
        await add_talk(other, [("Car", "car boat puppy ball"), *TURNS])
    await add_talk(platform_of(house), [("Boat", "puppy ball car"), *TURNS])
    assert await answers(house) == before


async def test_named_sources_are_ranked_as_if_they_were_all_there_is(storage) -> None:
    house = await new_document_house(storage, Thesaurus("m"))
    first = await add_talk(house, TURNS, "a.jsonl")
    before = await answers(house)
    await add_talk(house, [("Puppy", "My automobile and my dog"), *TURNS], "b.jsonl")
    assert await answers(house) != before
    assert await answers(house, source_ids=[first.id]) == before


async def test_without_an_embedder_scores_are_those_of_words_alone(storage) -> None:
    house = await new_document_house(storage)
    await add_talk(house, TURNS)
    scope = house.scope
    for query in QUERIES:
        asked = read_query(query)
        plain = await storage.read(scope, store.search, asked, 100)
        answer = await house.knowledge.search(house.who, query, limit=100)
        assert answer.results == plain
        assert (answer.semantic, answer.model) == (False, None)


async def test_the_names_of_who_speaks_are_not_embedded_with_a_query(storage) -> None:
    model = Thesaurus("m")
    house = await new_document_house(storage, model)
    await add_talk(house, TURNS)
    other = await new_document_house(storage, Thesaurus("m"))
    await add_talk(other, [("Car", "I am a car"), *TURNS])
    model.asked.clear()
    for query in ("What broke down for Ada?", "Is Bo's car fast", "Who is Ada?"):
        await house.knowledge.search(house.who, query)
    assert model.texts == ["What broke down for", "Is car fast", "Who is Ada?"]


async def test_only_the_speakers_of_named_sources_are_left_out_of_a_query(storage) -> None:
    model = Thesaurus("m")
    house = await new_document_house(storage, model)
    first = await add_talk(house, TURNS, "a.jsonl")
    await add_talk(house, [("Cleo", "Good morning")], "b.jsonl")
    model.asked.clear()
    await house.knowledge.search(house.who, "did Cleo thank Ada", source_ids=[first.id])
    await house.knowledge.search(house.who, "did Cleo thank Ada")
    assert model.texts == ["did Cleo thank", "did thank"]


async def test_a_query_that_the_model_cannot_read_is_answered_by_words_and_says_so(
    storage,
) -> None:
    model = Thesaurus("m")
    house = await new_document_house(storage, model)
    await add_talk(house, TURNS)
    model.unreadable = lambda text: "island" in text
    answer = await house.knowledge.search(house.who, "island")
    assert (answer.semantic, answer.model) == (False, None)
    assert answer.results[0].ordinal == 3


async def test_a_chunk_that_the_model_could_not_read_is_found_by_its_words(storage) -> None:
    model = Thesaurus("m")
    model.unreadable = lambda text: "around" in text
    house = await new_document_house(storage, model)
    await add_talk(house, TURNS)
    answer = await house.knowledge.search(house.who, "an island with a dog")
    assert answer.semantic
    assert 3 in [result.ordinal for result in answer.results]


async def test_platform_and_own_documents_are_found_by_meaning_together(storage) -> None:
    house = await new_document_house(storage, Thesaurus("m"))
    await add_talk(house, TURNS, "own.jsonl")
    await add_talk(platform_of(house), [("Cleo", "An automobile for everybody")], "all.jsonl")
    answer = await house.knowledge.search(house.who, "car", include_platform=True)
    assert {result.title for result in answer.results} == {"own.jsonl", "all.jsonl"}
    scores = [result.score for result in answer.results]
    assert scores == sorted(scores, reverse=True)
    apart = [
        result
        for own in (True, False)
        for result in (
            await house.knowledge.search(
                house.who, "car", include_organization=own, include_platform=not own
            )
        ).results
    ]
    assert sorted(apart, key=lambda each: -each.score) == answer.results


@pytest.mark.parametrize("limit", [1, 3, 7])
async def test_a_smaller_limit_cuts_the_same_list_short(storage, limit: int) -> None:
    house = await new_document_house(storage, Thesaurus("m"))
    await add_talk(house, TURNS)
    whole = await answers(house, limit=100)
    assert await answers(house, limit=limit) == [found[:limit] for found in whole]


def expected(source: Source, model: Thesaurus, query: str, most: int) -> list[tuple[int, float]]:
    """What the pure parts make of the turns where words and meaning propose `most` each."""
    indexed = index_document(Passage(said, who) for who, said in TURNS)
    candidates = candidates_of([(source.id, indexed)])
    corpus = Corpus(indexed.passages, indexed.tokens)
    judged = judge(read_query(query), candidates, indexed.counts, corpus)
    rows = np.array([model.of(said) for _, said in TURNS]).astype("<f2").astype(np.float32)
    near = rows @ model.of(query).astype("<f2").astype(np.float32)
    cosines = {(source.id, place): float(each) for place, each in enumerate(near)}
    places = sorted(cosines, key=lambda place: -cosines[place])[:most]
    if judged is not None:
        places += [(source.id, hit.ordinal) for hit in judged.best(most)]
    proposed = set(places)
    words = judged.words(proposed) if judged else [Words(*place, 0.0) for place in proposed]
    known = {place: cosines[place] for place in proposed}
    return [(hit.ordinal, hit.score) for hit in fuse(words, known, model.calibration, limit=9)]


@pytest.mark.parametrize("most", [1, 2, 100])
@pytest.mark.parametrize(
    "query", ["sailed around with a puppy", "car hill", "dog walk", "zeppelin"]
)
async def test_what_words_or_meaning_propose_is_judged_by_both(
    storage, monkeypatch: pytest.MonkeyPatch, most: int, query: str
) -> None:
    monkeypatch.setattr(joining, "FUSION", replace(FUSION, most=most))
    model = Thesaurus("m")
    house = await new_document_house(storage, model)
    source = await add_talk(house, TURNS)
    answer = await house.knowledge.search(house.who, query)
    wanted = expected(source, model, query, most)
    assert [result.ordinal for result in answer.results] == [ordinal for ordinal, _ in wanted]
    scores = [result.score for result in answer.results]
    assert scores == pytest.approx([score for _, score in wanted], abs=2e-5)
