"""A page holds what was asked for, and says how to go on exactly where there is more."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from memoranda.words.cursor import read_cursor
from memoranda.words.page import Page, cut_page


class Berry(BaseModel):
    id: UUID


BERRIES = [Berry(id=UUID(int=number)) for number in range(12)]


def read(after: UUID | None, most: int) -> list[Berry]:
    return [berry for berry in BERRIES if after is None or berry.id > after][:most]


@given(st.integers(1, 15))
def test_page_after_page_shows_every_row_once_and_no_page_is_empty(limit: int) -> None:
    seen: list[Berry] = []
    cursor = None
    while True:
        page = cut_page("berries", read(read_cursor("berries", cursor), limit + 1), limit)
        assert 1 <= len(page.items) <= limit
        seen += page.items
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == BERRIES


def test_a_list_with_nothing_in_it_is_one_empty_page() -> None:
    assert cut_page("berries", read(BERRIES[-1].id, 3), 2) == Page[Berry](
        items=[], next_cursor=None
    )


def test_a_page_is_described_under_the_name_of_what_it_holds() -> None:
    assert Page[Berry].__name__ == "BerryPage"
    assert Page[Berry].model_json_schema()["title"] == "BerryPage"


def test_a_page_is_never_changed() -> None:
    page = cut_page("berries", BERRIES, 2)
    with pytest.raises(ValidationError):
        page.next_cursor = None
