"""Words and meaning as one score: what comes first, what a score may say, and what moves nothing."""

from collections.abc import Sequence
from random import Random
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.calibration import Calibration
from memoranda.search.fusion import fuse
from memoranda.search.lexical import Hit, Words
from memoranda.search.weights import FUSION

CURVE = Calibration(slope=12.0, middle=0.4)
A, B = UUID(int=1), UUID(int=2)
FAR = 0.0
NEAR = 0.7

PLACES = st.tuples(st.sampled_from([A, B]), st.integers(0, 12))
WORDS = st.builds(
    lambda place, share, theirs: Words(place[0], place[1], share, theirs),
    PLACES,
    st.sampled_from([0.0, 0.05, 0.3, 0.8, 1.0]),
    st.booleans(),
)
SAID = st.lists(WORDS, max_size=12, unique_by=lambda said: (said.document_id, said.ordinal))
COSINES = st.dictionaries(PLACES, st.sampled_from([-0.2, 0.0, 0.3, 0.4, 0.7, 1.0]), max_size=16)


def fused(words: Sequence[Words], cosines: dict[tuple[UUID, int], float]) -> list[Hit]:
    return fuse(words, cosines, CURVE, limit=100)


def places(hits: Sequence[Hit]) -> list[tuple[UUID, int]]:
    return [(hit.document_id, hit.ordinal) for hit in hits]


def test_what_has_the_words_and_the_meaning_comes_before_what_has_one_of_them() -> None:
    words = [Words(A, 0, 0.8), Words(A, 10, 0.8), Words(B, 0, 0.0)]
    hits = fused(words, {(A, 0): NEAR, (A, 10): FAR, (B, 0): NEAR})
    assert places(hits) == [(A, 0), (A, 10), (B, 0)]


def test_a_passage_without_any_word_is_found_for_its_meaning() -> None:
    hits = fused([Words(A, 0, 0.3), Words(B, 5, 0.0)], {(B, 5): NEAR})
    assert (B, 5) in places(hits)


def test_a_passage_without_a_vector_is_found_for_its_words() -> None:
    assert places(fused([Words(A, 0, 0.5)], {})) == [(A, 0)]


def test_what_meaning_alone_finds_scores_what_the_curve_says() -> None:
    hits = fused([Words(A, 0, 0.0), Words(A, 8, 0.0)], {(A, 0): 0.6, (A, 8): 0.45})
    assert [hit.score for hit in hits] == [
        pytest.approx(CURVE.score(0.6), abs=1e-6),
        pytest.approx(CURVE.score(0.45), abs=1e-6),
    ]


def test_what_is_near_nothing_is_not_found() -> None:
    assert fused([Words(A, 0, 0.0), Words(B, 1, 0.0)], {(A, 0): 0.25, (B, 1): 0.1}) == []


def test_a_few_words_of_a_query_and_no_meaning_give_no_confidence() -> None:
    [hit] = fused([Words(A, 0, 0.15)], {(A, 0): 0.05})
    assert hit.score <= 0.15


def test_of_two_equally_near_passages_the_one_in_a_near_window_comes_first() -> None:
    cosines = {(A, 5): NEAR, (B, 5): NEAR, (B, 4): 0.6, (B, 6): 0.6, (A, 4): FAR, (A, 6): FAR}
    assert places(fused([Words(A, 5, 0.0), Words(B, 5, 0.0)], cosines)) == [(B, 5), (A, 5)]


def test_windows_do_not_reach_into_another_document() -> None:
    without = fused([Words(A, 0, 0.5)], {(A, 0): 0.5})
    assert fused([Words(A, 0, 0.5)], {(A, 0): 0.5, (B, 1): 1.0, (B, 0): 1.0}) == without


def test_the_passages_of_the_named_speaker_come_before_the_others() -> None:
    words = [Words(A, 0, 0.5), Words(A, 9, 0.5, theirs=True)]
    assert places(fused(words, {(A, 0): 0.5, (A, 9): 0.5})) == [(A, 9), (A, 0)]


def test_equal_scores_go_by_document_and_then_by_place() -> None:
    words = [Words(B, 1, 0.5), Words(A, 7, 0.5), Words(A, 2, 0.5)]
    assert places(fused(words, {})) == [(A, 2), (A, 7), (B, 1)]


def test_the_weights_are_shares_of_one() -> None:
    assert FUSION.words + FUSION.meaning + FUSION.around == pytest.approx(1)


@given(SAID, COSINES, st.randoms(use_true_random=False))
def test_the_order_of_what_is_given_does_not_matter(
    words: list[Words], cosines: dict[tuple[UUID, int], float], random: Random
) -> None:
    turned = random.sample(words, len(words))
    shuffled = dict(random.sample(list(cosines.items()), len(cosines)))
    assert fused(turned, shuffled) == fused(words, cosines)


@given(SAID, COSINES)
def test_scores_fall_from_one_at_most_to_above_nothing_and_have_six_digits(
    words: list[Words], cosines: dict[tuple[UUID, int], float]
) -> None:
    hits = fused(words, cosines)
    scores = [hit.score for hit in hits]
    assert all(0 < score <= 1 and score == round(score, 6) for score in scores)
    assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.document_id, hit.ordinal))


@given(SAID, COSINES)
def test_nothing_is_found_that_neither_words_nor_meaning_speak_for(
    words: list[Words], cosines: dict[tuple[UUID, int], float]
) -> None:
    found = set(places(fused(words, cosines)))
    for said in words:
        place = said.document_id, said.ordinal
        near = place in cosines and CURVE.score(cosines[place]) >= FUSION.faint
        assert (place in found) <= (said.share > 0 or near)
        assert (said.share > 0 or near) <= (place in found)


@given(SAID, COSINES)
def test_no_score_is_worth_more_than_the_best_that_words_or_meaning_say(
    words: list[Words], cosines: dict[tuple[UUID, int], float]
) -> None:
    relevances = [
        CURVE.score(cosines.get((said.document_id, said.ordinal), -1.0)) for said in words
    ]
    best = max([*relevances, *(said.share for said in words)], default=0.0)
    assert all(hit.score <= best + 1e-6 for hit in fused(words, cosines))


@given(SAID, COSINES, st.integers(0, 5))
def test_a_limit_cuts_the_same_list_short(
    words: list[Words], cosines: dict[tuple[UUID, int], float], limit: int
) -> None:
    assert fuse(words, cosines, CURVE, limit=limit) == fused(words, cosines)[:limit]


@given(SAID)
def test_without_any_vector_words_alone_decide_the_order(words: list[Words]) -> None:
    plain = [Words(said.document_id, said.ordinal, said.share) for said in words]
    expected = sorted(
        (said for said in plain if said.share > 0),
        key=lambda said: (-said.share, said.document_id, said.ordinal),
    )
    assert places(fused(plain, {})) == [(said.document_id, said.ordinal) for said in expected]


@given(SAID, COSINES, st.integers(0, 11))
def test_who_is_nearer_is_never_overtaken_for_it(
    words: list[Words], cosines: dict[tuple[UUID, int], float], which: int
) -> None:
    """Two passages of different documents that differ in meaning alone keep its order."""
    pair = [Words(A, 50, 0.3), Words(B, 50, 0.3)]
    hits = fused([*words, *pair], {**cosines, (A, 50): 0.3 + which / 50, (B, 50): 0.2})
    ranked = places(hits)
    assert ranked.index((A, 50)) < ranked.index((B, 50))
