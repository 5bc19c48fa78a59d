"""A search fetches few rows, and always the same ones for the same counts."""

from hypothesis import given
from hypothesis import strategies as st

from memoranda.search.document import TermCount
from memoranda.search.plan import Limits, plan

COUNTS = st.dictionaries(
    st.text(st.sampled_from("abcdef"), min_size=1, max_size=3),
    st.integers(0, 50).map(lambda count: TermCount(count, count, count)),
)


def of(**documents: int) -> dict[str, TermCount]:
    return {term: TermCount(count, count, count) for term, count in documents.items()}


def test_rare_terms_are_fetched_in_full_and_common_ones_for_candidates_alone() -> None:
    made = plan(of(rare=2, common=90, some=8), Limits(rows=20))
    assert made.full == ("rare", "some")
    assert made.within == ("common",)


def test_a_lone_common_term_is_still_looked_up() -> None:
    assert plan(of(common=90), Limits(rows=20)).full == ("common",)


def test_a_term_that_occurs_nowhere_is_not_looked_up() -> None:
    made = plan(of(known=1, unknown=0))
    assert (made.full, made.within) == (("known",), ())


def test_of_too_many_terms_the_rarest_are_kept() -> None:
    made = plan(of(a=5, b=1, c=3), Limits(terms=2))
    assert made.full == ("b", "c")
    assert made.within == ()


@given(COUNTS, st.randoms(use_true_random=False), st.integers(0, 60))
def test_the_order_of_terms_never_matters(counts, random, rows) -> None:
    limits = Limits(terms=4, rows=rows)
    shuffled = list(counts.items())
    random.shuffle(shuffled)
    assert plan(dict(shuffled), limits) == plan(counts, limits)


@given(COUNTS, st.integers(0, 60))
def test_rows_stay_within_their_limit_but_for_the_rarest_term(counts, rows) -> None:
    full = plan(counts, Limits(rows=rows)).full
    assert len(full) <= 1 or sum(counts[term].documents for term in full) <= rows


def test_what_the_rarest_term_leaves_room_for_is_fetched_in_full_too() -> None:
    assert plan(of(rare=5, b=9, c=9), Limits(rows=100, more=15)).full == ("rare", "b")
    assert plan(of(rare=50, some=60), Limits(rows=100, more=15)).full == ("rare",)


def test_a_plan_tells_whether_there_are_no_more_rows_than_may_be_fetched() -> None:
    assert plan(of(rare=2, common=90, some=8), Limits(rows=20)).fits
    assert plan(of(common=20), Limits(rows=20)).fits
    assert not plan(of(common=21), Limits(rows=20)).fits
    long = {"common": TermCount(passages=4_000, windows=4_000, documents=1)}
    assert not plan(long, Limits(rows=10)).fits
