"""What is left of a text that costs more than it may, for any text, any cap and both estimators."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from memoranda.instructions.cutting import cut_facts, cut_middle, cut_newest, marker
from memoranda.words.estimators import ESTIMATORS
from memoranda.words.tokens import estimate_tokens

BITS = (
    "word ",
    "e\u0301",
    "👩‍👩‍👧",
    "🇫🇷",
    "\r\n",
    "\n",
    "я",
    "由",
    "x" * 40,
    "12345",
    "[",
    "<",
    "|im_start|>",
    "क्त",
)
ANY_TEXT = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=())),
    st.lists(st.sampled_from(BITS), max_size=400).map("".join),
)
CAPS = st.integers(0, 120)
ESTIMATES = st.sampled_from(sorted(ESTIMATORS)).map(lambda name: ESTIMATORS[name])
RULES = st.sampled_from([cut_middle, cut_newest])


@given(ANY_TEXT, CAPS, ESTIMATES, RULES)
def test_what_is_left_costs_no_more_than_the_cap(text, cap, estimator, rule) -> None:
    assert estimator(rule(text, cap, estimator).text) <= cap


@given(ANY_TEXT, CAPS, ESTIMATES, RULES)
def test_head_skipped_and_tail_are_the_text_again(text, cap, estimator, rule) -> None:
    cut = rule(text, cap, estimator)
    assert cut.head + cut.skipped + cut.tail == text
    assert (cut.skipped == "") == (cut.text == text)


@given(ANY_TEXT, CAPS, ESTIMATES, RULES)
def test_what_is_left_is_the_texts_own_ends_around_the_marker(text, cap, estimator, rule) -> None:
    cut = rule(text, cap, estimator)
    if cut.skipped and cut.text:
        line = marker(len(cut.skipped))
        before = f"{cut.head}\n{line}\n" if rule is cut_middle else f"{line}\n"
        assert cut.text == before + cut.tail


@given(ANY_TEXT, CAPS, ESTIMATES, RULES)
def test_cutting_twice_changes_nothing(text, cap, estimator, rule) -> None:
    once = rule(text, cap, estimator).text
    again = rule(once, cap, estimator)
    assert (again.text, again.skipped) == (once, "")


@given(ANY_TEXT, CAPS, ESTIMATES, RULES)
def test_no_grapheme_is_split(text, cap, estimator, rule) -> None:
    cut = rule(text, cap, estimator)
    boundaries = {0, len(text), *(found.end() for found in regex.finditer(r"\X", text))}
    assert {cut.start, cut.end} <= boundaries


@given(ANY_TEXT, CAPS, ESTIMATES, RULES)
def test_what_has_room_for_no_grapheme_beside_the_marker_is_skipped_whole(
    text, cap, estimator, rule
) -> None:
    cut = rule(text, cap, estimator)
    if cut.skipped == text:
        assert cut.text == ""
    if cut.text == "":
        assert cut.skipped == text


def test_a_text_of_exactly_the_cap_is_whole_and_one_character_more_is_cut() -> None:
    exact = "x" * 400
    assert cut_middle(exact, 100, estimate_tokens).skipped == ""
    assert cut_middle(exact + "y", 100, estimate_tokens).skipped != ""


def test_an_empty_text_is_whole_under_any_cap() -> None:
    for cap in (0, 1, 100):
        assert cut_middle("", cap, estimate_tokens).text == ""
        assert cut_newest("", cap, estimate_tokens).text == ""


def test_the_beginning_gets_seventy_percent_and_the_end_the_rest_less_one_marker_line() -> None:
    text = "".join(f"{at:07}\n" for at in range(5_000))
    cut = cut_middle(text, 1_000, estimate_tokens)
    line = f"\n{marker(len(cut.skipped))}\n"
    assert len(cut.head) == 700 * 4
    assert 4_000 - 3 <= len(cut.head) + len(line.encode()) + len(cut.tail) <= 4_000
    assert cut.head == text[:2_800]
    assert text.endswith(cut.tail)
    assert marker(36_030) == "[… 36030 characters skipped …]"


def test_where_the_marker_leaves_less_than_seventy_percent_the_beginning_still_has_what_is_left() -> (
    None
):
    cut = cut_middle("abcdefgh" * 500, 12, estimate_tokens)
    assert cut.text.startswith("abcd")
    assert estimate_tokens(cut.text) <= 12


def test_a_feed_keeps_its_newest_end() -> None:
    lines = [f"- event {at}" for at in range(1_000)]
    cut = cut_newest("\n".join(lines), 100, estimate_tokens)
    assert cut.head == ""
    assert cut.text.endswith("- event 999")
    assert cut.text.startswith(f"[… {cut.end} characters skipped …]\n")


FACTS = st.lists(st.text(alphabet=st.characters(exclude_characters="\n"), min_size=1), max_size=30)


@given(FACTS, CAPS, ESTIMATES)
def test_facts_are_left_whole_or_not_at_all_and_the_first_ones_first(facts, cap, estimator) -> None:
    cut = cut_facts(facts, cap, estimator)
    fit = [each for each in facts if estimator(each) <= cap]
    assert estimator(cut.text) <= cap
    assert cut.head + cut.skipped + cut.tail == cut.before
    kept = next(n for n in range(len(fit), -1, -1) if estimator("\n".join(fit[:n])) <= cap)
    assert cut.text == "\n".join(fit[:kept])


def test_a_fact_too_long_by_itself_takes_no_other_with_it() -> None:
    cut = cut_facts(["x" * 1_000, "short", "also short"], 20, estimate_tokens)
    assert cut.text == "short\nalso short"
    assert cut.skipped == "\n" + "x" * 1_000


@pytest.mark.parametrize("rule", [cut_middle, cut_newest])
def test_an_estimator_by_which_a_part_costs_more_than_the_whole_still_never_goes_over(rule) -> None:
    def strange(text: str) -> int:
        return estimate_tokens(text) + 7 * (len(text) % 3)

    for size in range(200, 230):
        cut = rule("ab cd " * size, 40, strange)
        assert strange(cut.text) <= 40
