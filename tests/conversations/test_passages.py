"""How messages become what is searched: nothing is found that was not said, and all that was said is."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.conversations.finding.passages import (
    FULL,
    LONGEST,
    LONGEST_TOLD,
    MOST_PARTS,
    Place,
    Row,
    pack_places,
    parts_of,
    passages_of,
    segment,
    unpack_places,
)
from memoranda.conversations.models import Content, StoredMessage
from memoranda.words.ids import new_id

AT = datetime(2026, 5, 8, 9, tzinfo=UTC)


def message(content: Content, role: str = "user", position: int = 1, **told: Any) -> StoredMessage:
    return StoredMessage(role=role, content=content, metadata=told, position=position, ts=AT)


def rows(*contents: Content, first: int = 1) -> list[Row]:
    return [
        Row(new_id(), message(content, position=place))
        for place, content in enumerate(contents, first)
    ]


def test_instructions_and_summaries_are_not_what_was_said() -> None:
    assert passages_of(message("Be brief.", role="system")) == []
    assert passages_of(message("Be brief.", role="developer")) == []
    assert passages_of(message("They spoke of boats.", summary=True)) == []
    assert len(passages_of(message("I spoke of boats."))) == 1


def test_texts_and_what_tools_answered_are_said_and_thoughts_and_calls_are_not() -> None:
    blocks = [
        {"type": "thinking", "thinking": "secret"},
        {"type": "text", "text": "I looked."},
        {"type": "tool_call", "id": "1", "name": "find", "arguments": '{"q": "hidden"}'},
        {"type": "tool_result", "tool_call_id": "1", "content": "three boats"},
        {"type": "tool_result", "tool_call_id": "2", "content": [{"type": "text", "text": "two"}]},
        {"type": "image", "media_type": "image/png", "data": "AAAA"},
        {"type": "opaque", "provider": "x", "data": {"text": "state"}},
    ]
    (found,) = passages_of(message(blocks, role="assistant"))
    assert found.text == "I looked.\nthree boats\ntwo"


def test_a_message_is_found_by_who_spoke_and_when_if_it_says_so() -> None:
    (found,) = passages_of(message("Hello", name=" Ada ", at="8 May 2023"))
    assert (found.speaker, found.at) == ("Ada", "8 May 2023")
    (found,) = passages_of(message("Hello", name=7, at=""))
    assert (found.speaker, found.at) == (None, AT.isoformat())


@pytest.mark.parametrize("key", ["name", "at"])
@pytest.mark.parametrize("piece", ["a", "Ada ", "🇫🇷", "e\u0301"])
def test_a_name_or_time_beyond_all_bounds_is_read_up_to_a_length(key: str, piece: str) -> None:
    found = passages_of(message("word " * LONGEST, **{key: f"  {piece * 5_000}"}))
    assert len(found) > 1
    for each in found:
        told = each.speaker if key == "name" else each.at
        assert told is not None
        assert 190 < len(told) <= LONGEST_TOLD
        assert told == (piece * 5_000)[: len(told)]
        assert told == told.strip()


@given(st.text(alphabet=st.sampled_from("ab .\n"), max_size=5 * LONGEST))
def test_no_letter_is_lost_where_a_long_text_is_cut(text: str) -> None:
    parts = parts_of(text)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(0 < len(part) <= LONGEST for part in parts)


def test_a_long_text_is_cut_where_it_pauses() -> None:
    first, second = "One thing. " * 80, "Another matter. " * 40
    assert parts_of(f"{first}\n\n{second}") == [first.strip(), second.strip()]


def test_a_message_beyond_all_bounds_is_read_up_to_its_last_part() -> None:
    assert len(parts_of("word " * LONGEST * MOST_PARTS)) == MOST_PARTS


def test_a_segment_holds_whole_messages_and_says_when_it_is_full() -> None:
    found = segment(rows(*[f"turn {number}" for number in range(FULL + 9)]), 1)
    assert found is not None
    assert (len(found.passages), found.full, found.last_position) == (FULL, True, FULL)
    found = segment(rows("one", [], "two", first=5), 5)
    assert found is not None
    assert ([each.text for each in found.passages], found.full) == (["one", "two"], False)
    assert (found.first_position, found.last_position) == (5, 7)


def test_messages_that_say_nothing_make_no_segment() -> None:
    assert segment(rows([], "  ", ""), 1) is None
    assert segment([], 1) is None


@given(st.lists(st.builds(Place, st.uuids(), st.integers(0, MOST_PARTS - 1)), max_size=80))
def test_places_come_back_as_they_were(places: list[Place]) -> None:
    assert unpack_places(pack_places(places)) == places
