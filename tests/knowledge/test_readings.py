"""What is embedded of a chunk: itself, and for a document what it stands under."""

import pytest

from memoranda.knowledge.chunk import Chunk
from memoranda.knowledge.readings import readings


def chunk(text: str, place: str = "", speaker: str | None = None) -> Chunk:
    return Chunk(ordinal=0, text=text, tokens=1, place=place, speaker=speaker, at="8 May 2023")


def test_a_turn_is_what_was_said_without_who_said_it_or_when() -> None:
    assert readings("Talk", [chunk("I mended the boat", speaker="Basil")]) == ["I mended the boat"]


def test_a_documents_chunk_stands_under_its_title_and_headings() -> None:
    assert readings("Guide", [chunk("Run it.", "Install > Linux")]) == [
        "Guide\nInstall > Linux\nRun it."
    ]


def test_a_heading_that_begins_with_the_title_says_it_once() -> None:
    assert readings("Guide", [chunk("Run it.", "Guide > Linux")]) == ["Guide > Linux\nRun it."]


@pytest.mark.parametrize("place", ["", "line 3", "lines 3-9", "row 4", "rows 4-80", "page 12"])
def test_where_a_chunk_stands_means_nothing(place: str) -> None:
    assert readings("Guide", [chunk("Run it.", place)]) == ["Guide\nRun it."]


def test_each_chunk_is_read_by_itself_and_in_order() -> None:
    chunks = [chunk(text, speaker="Ada") for text in ("one", "two", "three")]
    assert readings("Talk", chunks) == ["one", "two", "three"]
    assert readings("Talk", []) == []
