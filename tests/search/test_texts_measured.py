"""The curve of words is the one that the fitting half gives, and words do what the docs say."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from memoranda.search.calibration import RECALL_SCORE, SEARCH_SCORE, calibration_of, fit
from memoranda.search.embedders.bundled import find_bundled
from memoranda.search.labelled import halves, read_pairs
from memoranda.search.terms import read_passage, read_query, telling_terms
from memoranda.search.texts.rank import WORDS
from memoranda.search.texts.scale import scale

DATA = Path(__file__).parents[2] / "bench" / "data"
PROMISE = "we never quote a delivery date shorter than ten working days"
MEMORIES = (DATA / "memories.txt").read_text("utf-8").splitlines()
READ = [read_passage(memory).counts for memory in MEMORIES]
LENGTHS = [len(telling_terms(terms)) for terms in READ]
COUNTS = Counter(term for terms in READ for term in terms)


def relevance(query: str) -> list[float]:
    """How relevant each memory is; 0 where it shares no word with the query."""
    asked = read_query(query).terms
    weights = scale(asked, COUNTS, len(MEMORIES))
    found = []
    for terms, length in zip(READ, LENGTHS, strict=True):
        held = sorted(asked.keys() & terms.keys())
        found.append(max(weights.share(held), weights.cover(held, length)) if held else 0.0)
    return found


def words(query: str) -> dict[str, float]:
    scores = [calibration_of(WORDS).score(each) if each else 0.0 for each in relevance(query)]
    return dict(zip(MEMORIES, scores, strict=True))


@pytest.fixture(scope="module")
def sides():
    files = ("memory_pairs.jsonl", "word_pairs.jsonl")
    return halves(pair for file in files for pair in read_pairs(DATA / file))


def test_labels_speak_of_the_memories_and_say_each_thing_once(sides) -> None:
    pairs = [*sides[0], *sides[1]]
    assert {pair.memory for pair in pairs} <= set(MEMORIES)
    assert len({(pair.query, pair.memory) for pair in pairs}) == len(pairs)


def test_the_two_promised_queries_are_in_neither_half(sides) -> None:
    promised = {"delivery promises", "refund policy", PROMISE}
    assert not [pair for side in sides for pair in side if {pair.query, pair.memory} & promised]


def test_both_halves_hold_tasks_of_some_sentences(sides) -> None:
    for side in sides:
        assert len({pair.query for pair in side if len(pair.query.split()) >= 25}) >= 20


def test_the_curve_in_the_table_is_the_one_that_the_fitting_half_gives(sides) -> None:
    right = {(pair.query, pair.memory) for pair in sides[0] if pair.relevant}
    found, answers = [], []
    for query in {pair.query for pair in sides[0]}:
        for memory, each in zip(MEMORIES, relevance(query), strict=True):
            if each:
                found.append(each)
                answers.append((query, memory) in right)
    fitted, used = fit(found, answers), calibration_of(WORDS)
    assert used.slope == pytest.approx(fitted.slope, abs=0.05)
    assert used.middle == pytest.approx(fitted.middle, abs=0.005)


@pytest.mark.parametrize(
    ("threshold", "precision", "recall"), [(0.55, 0.8, 0.25), (0.72, 0.9, 0.2)]
)
def test_what_words_find_in_the_checking_half_is_mostly_right(
    sides, threshold, precision, recall
) -> None:
    right = {(pair.query, pair.memory) for pair in sides[1] if pair.relevant}
    shown = {
        (query, memory)
        for query in {pair.query for pair in sides[1]}
        for memory, score in words(query).items()
        if score >= threshold
    }
    assert len(shown & right) / len(shown) >= precision
    assert len(shown & right) / len(right) >= recall


async def test_both_promised_queries_are_answered_by_words_and_meaning_together() -> None:
    embedder = find_bundled()
    assert embedder is not None
    rows = await embedder.embed(["delivery promises", "refund policy", *MEMORIES])
    meaning = embedder.calibration.scores(rows[:2] @ rows[2:].T)
    promises = np.maximum(meaning[0], list(words("delivery promises").values()))
    place = MEMORIES.index(PROMISE)
    assert promises[place] >= SEARCH_SCORE
    assert (promises > promises[place]).sum() < 3
    refunds = np.maximum(meaning[1], list(words("refund policy").values()))
    assert refunds.max() < SEARCH_SCORE


def test_a_word_that_people_look_up_is_found_wherever_it_stands() -> None:
    found = words("Leeds")
    assert [memory for memory, score in found.items() if score >= RECALL_SCORE] == [
        memory for memory in MEMORIES if "Leeds" in memory
    ]
