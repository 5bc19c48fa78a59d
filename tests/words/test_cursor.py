"""A cursor says where a page ended, and nothing else can pass for one."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.words.cursor import (
    make_cursor,
    make_named_cursor,
    make_seen_cursor,
    read_cursor,
    read_named_cursor,
    read_owned_cursor,
    read_seen_cursor,
)
from memoranda.words.errors import Invalid
from memoranda.words.ids import new_id


@given(st.uuids())
def test_a_cursor_reads_back_as_the_row_that_it_was_made_from(last) -> None:
    assert read_cursor("memories", make_cursor("memories", last)) == last


def test_a_list_begins_without_a_cursor() -> None:
    assert read_cursor("memories", None) is None


def test_a_cursor_of_another_list_is_refused() -> None:
    with pytest.raises(Invalid, match="start again without a cursor") as refused:
        read_cursor("memories", make_cursor("conversations", new_id()))
    assert refused.value.details == {"field": "cursor"}


@given(st.uuids(), st.integers(0, 31), st.sampled_from("ABCabc019-_=+/ é"))
def test_a_cursor_with_any_character_changed_is_refused(last, place: int, other: str) -> None:
    cursor = make_cursor("memories", last)
    changed = cursor[:place] + other + cursor[place + 1 :]
    if changed != cursor:
        with pytest.raises(Invalid):
            read_cursor("memories", changed)


@given(st.text(max_size=40))
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        read_cursor("memories", text)


@given(st.lists(st.uuids(), min_size=1, max_size=50))
def test_what_a_ranking_has_shown_reads_back_as_it_was(shown: list[UUID]) -> None:
    assert read_seen_cursor("recall", make_seen_cursor("recall", shown)) == tuple(shown)
    assert read_seen_cursor("recall", None) == ()


@given(st.lists(st.uuids(), min_size=1, max_size=5), st.data())
def test_a_cursor_of_what_was_shown_is_not_to_be_changed(
    shown: list[UUID], data: st.DataObject
) -> None:
    cursor = make_seen_cursor("recall", shown)
    place = data.draw(st.integers(0, len(cursor) - 1))
    letter = data.draw(
        st.sampled_from("ABab01-_=+/% é\ud800").filter(lambda it: it != cursor[place])
    )
    for wrong in (cursor[:place] + letter + cursor[place + 1 :], cursor[:place], cursor + letter):
        with pytest.raises(Invalid):
            read_seen_cursor("recall", wrong)
    with pytest.raises(Invalid):
        read_seen_cursor("another list", cursor)


NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=300)


@given(NAMES, NAMES)
def test_the_names_of_a_row_without_an_id_read_back_as_they_were(first: str, second: str) -> None:
    if first or second:
        cursor = make_named_cursor("threads", [first, second])
        assert read_named_cursor("threads", cursor, 2) == (first, second)
        for wrong in ("other", "thread"):
            with pytest.raises(Invalid):
                read_named_cursor(wrong, cursor, 2)
        for count in (1, 3):
            with pytest.raises(Invalid):
                read_named_cursor("threads", cursor, count)
    assert read_named_cursor("threads", None, 2) is None


@given(st.text(max_size=60))
def test_any_text_that_was_not_made_for_it_names_no_row(text: str) -> None:
    for made in (text, make_named_cursor("threads", ["no id", "name"])):
        with pytest.raises(Invalid):
            read_owned_cursor("threads", made)


def test_names_are_of_the_row_of_somebody() -> None:
    owner = new_id()
    cursor = make_named_cursor("threads", [str(owner), "name"])
    assert read_owned_cursor("threads", cursor) == (owner, "name")
    assert read_owned_cursor("threads", None) is None
