"""Comments of Markdown are not what a reader reads: they are in no chunk, and nothing else is lost."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.knowledge.chunk import cut_markdown
from memoranda.knowledge.markdown import sections

TEXT = st.text(st.sampled_from("ab \n#`<!->~"), max_size=120) | st.lists(
    st.sampled_from(["<!--", "-->", "`", "``", "```\n", "# H\n", "word ", "\n", "\n\n"]),
    max_size=30,
).map("".join)


def said(text: str) -> list[str]:
    return [chunk.text for chunk in cut_markdown(text)]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<!-- hidden -->\n\nShown.", ["Shown."]),
        ("Before.\n\n<!-- one\n\ntwo -->\n\nAfter.", ["Before.", "After."]),
        ("Before <!-- hidden --> after.", ["Before", "after."]),
        ("a <!-- x --><!-- y --> b <!-- z --> c", ["a", "b", "c"]),
        ("<!-->shown<!--->shown", ["shown", "shown"]),
        ("<!-- ``` -->\n\n# H\n\nShown.", ["Shown."]),
        ("# H\n\n<!-- nothing but this -->", ["# H"]),
    ],
)
def test_a_comment_is_in_no_chunk(text: str, left: list[str]) -> None:
    assert said(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "```html\n<!-- shown -->\n```",
        "Write `<!-- shown -->` to hide it.",
        "Write ``a ` <!-- shown -->`` to hide it.",
        r"An \<!-- escaped --> one.",
        "One that never ends <!-- shown.",
        "An arrow --> alone.",
    ],
)
def test_what_only_looks_like_a_comment_is_text(text: str) -> None:
    assert said(text) == [text]


def test_a_heading_in_a_comment_is_none() -> None:
    [chunk] = cut_markdown("# Shown\n\n<!--\n# Hidden\n-->\n\nWords.")
    assert (chunk.text, chunk.place) == ("Words.", "Shown")


def test_a_comment_in_a_heading_is_no_part_of_its_name() -> None:
    [chunk] = cut_markdown("# Shown <!-- id -->\n\nWords.")
    assert chunk.place == "Shown"
    [chunk] = cut_markdown("# Shown <!-- one\ntwo --> Words.")
    assert (chunk.text, chunk.place) == ("Words.", "Shown")


def test_lines_are_counted_with_the_comments() -> None:
    [first, second] = cut_markdown("One.\n<!-- a\nb -->\nFour.")
    assert (first.place, second.place) == ("line 1", "line 4")


@given(text=TEXT)
def test_sections_are_exact_pieces_of_the_text_in_their_order(text: str) -> None:
    at = 0
    for part in sections(text):
        assert at <= part.start < part.end <= len(text)
        assert text[part.start : part.end].strip()
        at = part.end
    chunks = cut_markdown(text)
    at = 0
    for chunk in chunks:
        at = text.index(chunk.text, at) + len(chunk.text)


@given(text=st.text(st.sampled_from("ab \n"), max_size=40), hidden=st.text("xy \n", max_size=20))
def test_a_comment_put_between_two_paragraphs_changes_no_chunk(text: str, hidden: str) -> None:
    assert said(f"{text}\n\n<!-- {hidden} -->\n\nend") == [*said(text), "end"]


@pytest.mark.parametrize(
    "unit", ["<!--", "<!-- -->", "`<!--", "-->", "<!--`", "<!--\n", "<!-- -->\n"]
)
def test_many_comments_take_no_longer_than_their_length_warrants(unit: str) -> None:
    began = time.process_time()
    cut_markdown(unit * (300_000 // len(unit)))
    cut_markdown("".join("`" * n + "<!--" for n in range(700)) + "-->")
    assert time.process_time() - began < 5
