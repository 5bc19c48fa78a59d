"""What one search reads is bounded, and rare words come first."""

from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.texts.plan import Limits, plan

COUNTS = st.dictionaries(st.text(min_size=1, max_size=3), st.integers(0, 3_000), max_size=40)
LIMITS = st.builds(
    Limits, count=st.integers(1, 2_000), rows=st.integers(0, 5_000), common=st.integers(1, 8)
)


@given(COUNTS, LIMITS)
def test_no_more_rows_are_read_than_the_limit(counts, limits) -> None:
    made = plan(counts, limits)
    whole = sum(counts[term] for term in made.whole)
    assert whole + sum(made.newest.values()) <= limits.rows
    assert len(made.newest) <= limits.common
    assert all(most > 0 for most in made.newest.values())


@given(COUNTS, LIMITS)
def test_a_term_that_was_not_counted_to_its_end_is_not_read_whole(counts, limits) -> None:
    made = plan(counts, limits)
    assert all(counts[term] < limits.up_to(len(counts)) for term in made.whole)


@given(COUNTS, LIMITS)
def test_rare_terms_come_before_common_ones_and_none_twice(counts, limits) -> None:
    made = plan(counts, limits)
    order = [counts[term] for term in (*made.whole, *made.newest)]
    assert order == sorted(order)
    assert 0 not in order
    assert not set(made.whole) & set(made.newest)


@given(COUNTS, LIMITS, st.randoms())
def test_the_same_counts_give_the_same_plan_in_any_order(counts, limits, chance) -> None:
    mixed = list(counts.items())
    chance.shuffle(mixed)
    assert plan(dict(mixed), limits) == plan(counts, limits)


def test_what_a_rare_term_does_not_need_is_left_to_the_others() -> None:
    made = plan({"rare": 10, "common": 4_000, "everywhere": 9_000}, Limits(rows=5_010))
    assert made.whole == ("rare",)
    assert made.newest == {"common": 2_500, "everywhere": 2_500}


def test_five_words_of_two_thousand_items_are_read_whole_where_each_is_in_half_of_them() -> None:
    made = plan(dict.fromkeys(("a", "b", "c", "d", "e"), 1000))
    assert len(made.whole) == 5
    assert not made.newest


def test_the_more_terms_there_are_the_sooner_counting_ends() -> None:
    limits = Limits()
    assert limits.up_to(1) == limits.count
    assert limits.up_to(1_000) == 500
