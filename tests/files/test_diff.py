"""A diff says what would change, and nothing else."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.files.diff import diff_of

LINES = st.lists(
    st.sampled_from(["a", "b", "c", "", "a\r", " a", "\u2028", "-x", "@@ y"]), max_size=30
)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))
NO_END = "\\ No newline at end of file\n"


def applied(before: str, diff: str) -> str:
    """The text that the diff leads to from the text before."""
    old = before.split("\n")
    old = [f"{line}\n" for line in old[:-1]] + ([old[-1]] if old[-1] else [])
    made, at, went_on = [], 0, diff.split("\n")
    lines = [f"{line}\n" for line in went_on[:-1]]
    place = 2
    while place < len(lines):
        header = lines[place]
        start, _, count = header.split(" ")[1][1:].partition(",")
        first = int(start) - (0 if count == "0" else 1)
        made += old[at:first]
        at, place = first, place + 1
        while place < len(lines) and not lines[place].startswith("@@ "):
            line, place = lines[place], place + 1
            if place < len(lines) and lines[place] == NO_END:
                line, place = line[:-1], place + 1
            if line[0] in " -":
                assert old[at] == line[1:]
                at += 1
            if line[0] in " +":
                made.append(line[1:])
    return "".join(made + old[at:])


@given(TEXTS, TEXTS)
def test_a_diff_leads_from_the_one_text_to_the_other(before: str, after: str) -> None:
    assert applied(before, diff_of("voice", before, after)) == after


@given(TEXTS)
def test_nothing_is_said_of_what_does_not_change(text: str) -> None:
    assert diff_of("voice", text, text) == ""


def test_a_small_change_in_a_long_text_is_a_small_diff() -> None:
    lines = [f"line {number}" for number in range(5_000)]
    before = "\n".join(lines) + "\n"
    after = before.replace("line 2500\n", "line two\n")
    diff = diff_of("people", before, after)
    assert len(diff.splitlines()) == 2 + 1 + 3 + 2 + 3
    assert "@@ -2498,7 +2498,7 @@\n" in diff
    assert applied(before, diff) == after


@pytest.mark.parametrize("piece", ["\n", "a\nb\n", "a\n", "\r\n"])
def test_no_text_of_a_files_size_takes_long(piece: str) -> None:
    before = piece * (65_536 // len(piece))
    after = "".join(f"{number}\n" for number in range(9_000))
    began = time.perf_counter()
    diff = diff_of("people", before, after)
    assert time.perf_counter() - began < 5
    assert applied(before, diff) == after
