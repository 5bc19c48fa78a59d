"""Documents are cut at exact offsets, within their headings, and nothing is lost."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.knowledge.chunk import CHUNK_TOKENS, Chunk, cut_markdown, cut_text
from memoranda.words.tokens import estimate_tokens

GUIDE = """Preamble.

# Install

First words.

## Linux

Use the *wheel*.

```sh
# not a heading
run
```

## [Windows](https://example.org) `11` ##

### Empty leaf

Setext title
============

Under it.

Smaller
---
Below.
"""
TEXT = st.text(st.sampled_from("ab .\n\t#`-=é東\u2028"), max_size=400)


def by_place(chunks: list[Chunk]) -> dict[str, str]:
    return {chunk.place: chunk.text for chunk in chunks}


def test_a_chunk_stands_under_its_headings() -> None:
    found = by_place(cut_markdown(GUIDE))
    assert found["Install"] == "First words."
    assert found["Setext title"] == "Under it."
    assert found["Setext title > Smaller"] == "Below."
    assert found["line 1"] == "Preamble."


def test_a_hash_in_a_code_fence_is_no_heading() -> None:
    assert "# not a heading\nrun" in by_place(cut_markdown(GUIDE))["Install > Linux"]


def test_a_heading_with_nothing_under_it_is_found_as_text() -> None:
    assert by_place(cut_markdown(GUIDE))["Install > Windows 11"] == "### Empty leaf"
    assert [chunk.text for chunk in cut_markdown("# Alone")] == ["# Alone"]


@pytest.mark.parametrize(
    "text", ["    # code", "#no space", "- item\n---", "```\n# a\n``\n# b", "| a |\n---", "\n---\n"]
)
def test_what_only_looks_like_a_heading_is_text(text: str) -> None:
    assert all(not chunk.heading for chunk in cut_markdown(text + "\nwords"))


def test_a_long_heading_is_cut_in_the_place() -> None:
    (chunk,) = cut_markdown(f"# {'long ' * 100}\n\nwords")
    assert len(chunk.place) <= 80
    assert chunk.place.endswith("…")


def test_plain_text_is_placed_by_its_lines() -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "word " * 60 for number in range(6))
    chunks = cut_text(text)
    assert chunks[0].place == "lines 1-3"
    assert chunks[-1].place == "lines 9-11"
    assert cut_text("one line")[0].place == "line 1"


def test_a_chunk_holds_about_a_paragraph() -> None:
    chunks = cut_text("A sentence of some words. " * 500)
    assert all(chunk.tokens <= CHUNK_TOKENS for chunk in chunks)
    assert all(chunk.text.endswith(".") for chunk in chunks)
    assert min(chunk.tokens for chunk in chunks[:-1]) > CHUNK_TOKENS / 2


def test_a_word_without_an_end_is_still_cut() -> None:
    assert all(chunk.tokens <= CHUNK_TOKENS for chunk in cut_text("x" * 200_000))


def test_hostile_whitespace_does_not_nest_without_end() -> None:
    text = "".join("\n" * count + "x" * 50 for count in range(1, 1500))
    assert sum(chunk.text.count("x") for chunk in cut_text(text)) == 50 * 1499


@pytest.mark.parametrize("cut", [cut_text, cut_markdown])
@given(text=TEXT)
def test_every_word_is_in_a_chunk_in_its_order_and_as_written(cut, text: str) -> None:
    chunks = cut(text, size=8)
    at = 0
    for ordinal, chunk in enumerate(chunks):
        assert chunk.ordinal == ordinal
        assert chunk.tokens == estimate_tokens(chunk.text)
        assert chunk.text == chunk.text.strip() != ""
        found = text.find(chunk.text, at)
        assert found >= at
        if cut is cut_text:
            assert not text[at:found].strip()
        at = found + len(chunk.text)
    if cut is cut_text:
        assert not text[at:].strip()


def test_search_reads_a_chunk_under_its_title_and_headings() -> None:
    linux = next(chunk for chunk in cut_markdown(GUIDE) if "wheel" in chunk.text)
    assert linux.passage("Guide").text.split("\n")[:2] == ["Guide", "Install > Linux"]
    assert linux.passage("Install").text.split("\n")[0] == "Install > Linux"
    preamble = cut_markdown(GUIDE)[0]
    assert "line" not in preamble.passage("Guide").text


@pytest.mark.parametrize(
    "unit",
    ["[", "![", "[](", "{#", "<a", "</a", "*", "`", "# ", "~~~", "\t", " #", "- ", ">", "=", "1."],
)
@pytest.mark.parametrize("frame", ["# {}x", "{}", "{}\n===\n", "x\n{}x\n", "a\n\n{} b\n---\n"])
def test_no_line_takes_longer_to_read_than_its_length_warrants(frame: str, unit: str) -> None:
    line = frame.format(unit * (100_000 // len(unit)))
    began = time.process_time()
    assert all(len(chunk.place) <= 100 for chunk in cut_markdown(line))
    # A search that starts anew at each bracket would take half a minute, and hold up all else.
    assert time.process_time() - began < 5
