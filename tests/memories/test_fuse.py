"""How what was found by meaning, by words and by letters becomes one ranking."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.memories.finding.fuse import Ranked, best_first, fuse
from memoranda.search.texts.rank import TextHit

BAR = 0.55
A, B, C, D = (UUID(int=number) for number in range(1, 5))

IDS = st.integers(1, 12).map(lambda number: UUID(int=number))
SCORES = st.floats(0, 1)
MEANING = st.dictionaries(IDS, SCORES)
WORDS = st.dictionaries(IDS, SCORES)
LITERAL = st.sets(IDS)


def by_words(**scores: float) -> dict[UUID, TextHit]:
    ids = {"a": A, "b": B, "c": C, "d": D}
    return {ids[name]: TextHit(ids[name], score, (name,)) for name, score in scores.items()}


def hits(scores: dict[UUID, float]) -> dict[UUID, TextHit]:
    return {each: TextHit(each, round(score, 6), ("word",)) for each, score in scores.items()}


def order(ranked: list[Ranked]) -> list[UUID]:
    return [each.memory_id for each in ranked]


def test_the_better_of_meaning_and_words_is_the_score_and_both_are_told() -> None:
    (first, second) = fuse({A: 0.7, B: 0.6}, by_words(a=0.6, b=0.9), (), at_least=BAR)
    assert (first.memory_id, second.memory_id) == (B, A)
    assert (first.match.score, first.match.meaning, first.match.words) == (0.9, 0.6, ("b",))
    assert (second.match.score, second.match.meaning, second.match.words) == (0.7, 0.7, ("a",))
    assert not first.match.literal


def test_one_that_no_meaning_found_says_so() -> None:
    (only,) = fuse({}, by_words(a=0.8), (), at_least=BAR)
    assert (only.match.meaning, only.match.words) == (None, ("a",))


def test_what_is_below_the_bar_both_ways_is_not_found() -> None:
    assert fuse({A: 0.54}, by_words(a=0.54), (), at_least=BAR) == []
    assert order(fuse({A: 0.55}, by_words(b=0.55), (), at_least=BAR)) == [B, A]


def test_a_literal_hit_is_found_whatever_else_it_scores_and_floored_at_the_bar() -> None:
    found = fuse({B: 0.8}, by_words(a=0.1, b=0.2), {A, B, C}, at_least=BAR)
    assert {each.memory_id: each.match.score for each in found} == {A: BAR, B: 0.8, C: BAR}
    assert all(each.match.literal for each in found)
    assert next(each for each in found if each.memory_id == A).match.words == ("a",)


def test_at_a_cap_literal_hits_come_before_better_ones_that_are_not() -> None:
    ranked = fuse({A: 0.99, B: 0.98}, {}, {C, D}, at_least=BAR)
    assert order(ranked)[:2] == [D, C]
    assert order(best_first(ranked)) == [A, B, D, C], "and are read in the order of their scores"


def test_equal_scores_have_the_literal_one_first_and_then_the_newest() -> None:
    ranked = best_first(fuse({A: BAR, B: BAR, D: BAR}, {}, {B}, at_least=BAR))
    assert order(ranked) == [B, D, A]


def test_noise_in_the_last_digits_of_a_meaning_moves_nothing() -> None:
    for noise in (0.0, 1e-8, -1e-8):
        ranked = fuse({A: 0.7 + noise, B: 0.7 - noise}, {}, (), at_least=BAR)
        assert [(each.memory_id, each.match.score) for each in ranked] == [(B, 0.7), (A, 0.7)]


@given(MEANING, WORDS, LITERAL, st.floats(0.01, 1))
def test_everything_found_has_its_reason_and_nothing_with_one_is_missing(
    meaning: dict[UUID, float], words: dict[UUID, float], literal: set[UUID], bar: float
) -> None:
    said = hits(words)
    found = {each.memory_id: each.match for each in fuse(meaning, said, literal, at_least=bar)}
    for each in {*meaning, *words, *literal}:
        score = max(round(meaning.get(each, 0.0), 6), said[each].score if each in said else 0.0)
        assert (each in found) == (each in literal or score >= bar)
        if each in found:
            match = found[each]
            assert match.score == (max(score, bar) if each in literal else score)
            assert match.literal == (each in literal)
            assert bar <= match.score <= 1
    assert found.keys() <= {*meaning, *words, *literal}


@given(MEANING, WORDS, LITERAL, st.randoms())
def test_no_order_of_what_comes_in_moves_what_comes_out(
    meaning: dict[UUID, float], words: dict[UUID, float], literal: set[UUID], chance
) -> None:
    def shuffled(mapping: dict) -> dict:
        items = list(mapping.items())
        chance.shuffle(items)
        return dict(items)

    said = hits(words)
    one = fuse(meaning, said, literal, at_least=BAR)
    other = fuse(shuffled(meaning), shuffled(said), sorted(literal, reverse=True), at_least=BAR)
    assert one == other
    assert best_first(one) == best_first(list(reversed(other)))


@given(MEANING, WORDS, LITERAL, IDS, SCORES)
def test_another_memory_moves_no_score_and_no_two_of_the_rest(
    meaning: dict[UUID, float],
    words: dict[UUID, float],
    literal: set[UUID],
    more: UUID,
    score: float,
) -> None:
    others = {each: value for each, value in meaning.items() if each != more}
    said = hits({each: value for each, value in words.items() if each != more})
    without = fuse(others, said, literal - {more}, at_least=BAR)
    beside = fuse({**others, more: score}, said, literal - {more}, at_least=BAR)
    assert [each for each in beside if each.memory_id != more] == without


@pytest.mark.parametrize("literal", [(), {A}])
def test_nothing_found_is_an_empty_ranking(literal) -> None:
    assert len(fuse({}, {}, literal, at_least=BAR)) == len(literal)
