"""Scores mean the same for every model, rise with the cosine, and never leave their range."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from memoranda.search.calibration import (
    DEFAULT,
    KNOWN,
    RECALL_SCORE,
    SEARCH_SCORE,
    STEEPEST,
    Calibration,
    calibration_of,
    fit,
)
from memoranda.words.errors import Invalid

COSINES = st.floats(-1, 1)
CURVES = st.builds(Calibration, slope=st.floats(0.01, STEEPEST), middle=COSINES)
ANY = st.floats(allow_nan=True, allow_infinity=True)


@given(CURVES, COSINES, COSINES)
def test_a_higher_cosine_never_scores_less(curve, one, other) -> None:
    low, high = sorted([one, other])
    assert curve.score(low) <= curve.score(high)


@given(CURVES, ANY)
def test_a_score_is_between_zero_and_one_whatever_the_cosine(curve, cosine) -> None:
    assert 0.0 <= curve.score(cosine) <= 1.0


@given(CURVES, st.lists(ANY, max_size=20))
def test_many_are_scored_as_each_is(curve, cosines) -> None:
    found = curve.scores(np.array(cosines, dtype=np.float64))
    assert found.tolist() == pytest.approx([curve.score(each) for each in cosines], abs=1e-12)


def test_scores_keep_the_shape_of_the_cosines() -> None:
    assert DEFAULT.scores(np.zeros((2, 3), np.float32)).shape == (2, 3)


def test_what_is_no_number_is_relevant_to_nothing() -> None:
    assert DEFAULT.score(math.nan) == 0
    assert DEFAULT.scores([math.nan]).tolist() == [0]


@given(CURVES, st.floats(0.01, 0.99))
def test_the_cosine_of_a_score_scores_it(curve, score) -> None:
    cosine = curve.cosine(score)
    assume(-1 < cosine < 1)
    assert curve.score(cosine) == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize("curve", [DEFAULT, *KNOWN.values()])
def test_recall_asks_for_more_than_search_within_what_a_cosine_can_be(curve) -> None:
    assert 0 < curve.cosine(SEARCH_SCORE) < curve.cosine(RECALL_SCORE) < 1


@pytest.mark.parametrize("curve", [DEFAULT, *KNOWN.values()])
def test_unlike_texts_score_almost_nothing_and_equal_ones_almost_one(curve) -> None:
    assert curve.score(0.0) < 0.02
    assert curve.score(1.0) > 0.98


def test_an_unknown_model_has_the_documented_default() -> None:
    assert calibration_of("nobody/knows-this") is DEFAULT


@pytest.mark.parametrize(
    ("slope", "middle"), [(0, 0.5), (-1, 0.5), (math.nan, 0.5), (201, 0), (1, 1.1), (1, math.nan)]
)
def test_a_curve_that_could_fall_or_jump_is_refused(slope, middle) -> None:
    with pytest.raises(Invalid):
        Calibration(slope=slope, middle=middle)


LABELLED = st.lists(st.tuples(COSINES, st.booleans()), min_size=2, max_size=60)


@given(LABELLED)
def test_whatever_is_fitted_rises_and_stays_in_range(labelled) -> None:
    cosines, labels = zip(*labelled, strict=True)
    try:
        curve = fit(cosines, labels)
    except Invalid:
        return
    assert 0 < curve.slope <= STEEPEST
    scores = curve.scores(np.linspace(-1, 1, 50))
    assert (np.diff(scores) >= 0).all()


def test_a_curve_is_found_again_in_what_it_made() -> None:
    made = Calibration(slope=15, middle=0.45)
    cosines = np.linspace(0, 0.9, 4000)
    labels = np.random.default_rng(1).random(4000) < made.scores(cosines)
    fitted = fit(cosines.tolist(), labels.tolist())
    assert fitted.slope == pytest.approx(15, rel=0.1)
    assert fitted.middle == pytest.approx(0.45, abs=0.01)


@given(st.floats(-0.9, 0.7), st.integers(1, 30), st.integers(1, 30))
def test_labels_that_a_threshold_splits_are_split_by_the_curve(edge, no, yes) -> None:
    cosines = [edge] * no + [edge + 0.2] * yes
    curve = fit(cosines, [False] * no + [True] * yes)
    assert curve.score(edge) < 0.5 < curve.score(edge + 0.2)


@pytest.mark.parametrize("labels", [[True, True], [False, False]])
def test_one_kind_of_label_is_not_enough(labels) -> None:
    with pytest.raises(Invalid, match="some as not"):
        fit([0.1, 0.9], labels)


def test_a_model_that_has_it_backwards_gets_no_curve() -> None:
    with pytest.raises(Invalid, match="no higher cosines"):
        fit([0.9, 0.8, 0.1, 0.2], [False, False, True, True])


@pytest.mark.parametrize("cosines", [[0.1], [0.1, math.nan]])
def test_cosines_and_labels_have_to_match(cosines) -> None:
    with pytest.raises(Invalid, match="one label per pair"):
        fit(cosines, [True, False])
