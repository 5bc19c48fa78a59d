"""Times of another clock are kept exactly, and in their order."""

from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.sessions.times import from_number, to_number

TIMES = st.floats(allow_nan=False)


@given(TIMES)
def test_a_time_comes_back_as_it_was(time: float) -> None:
    number = to_number(time)
    assert -(2**63) <= number < 2**63
    assert from_number(number) == time


@given(TIMES, TIMES)
def test_a_later_time_has_a_larger_number(one: float, two: float) -> None:
    assert (to_number(one) < to_number(two)) == (one < two)
