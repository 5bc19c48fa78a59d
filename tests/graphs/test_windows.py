"""Pieces of parts, one window after the other, are all of the parts, each byte once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.graphs.threads.windows import pieces, readable

SIZES = st.lists(st.integers(0, 12), max_size=8)


@given(SIZES, st.integers(1, 15))
def test_windows_one_after_the_other_show_every_part_and_every_byte_once(
    sizes: list[int], most: int
) -> None:
    shown: list[tuple[int, int]] = []
    empty: list[int] = []
    after: int | None = 0
    while after is not None:
        found, after = pieces(sizes, after, most)
        assert sum(each.size for each in found) <= most
        shown += [(each.part, each.begin + n) for each in found for n in range(each.size)]
        empty += [each.part for each in found if not each.size]
    assert shown == [(part, n) for part, size in enumerate(sizes) for n in range(size)]
    assert empty == [part for part, size in enumerate(sizes) if not size]


@given(SIZES, st.integers(0, 200), st.integers(1, 15))
def test_a_window_from_anywhere_holds_no_more_than_is_there(
    sizes: list[int], after: int, most: int
) -> None:
    found, more = pieces(sizes, after, most)
    assert sum(each.size for each in found) == max(0, min(most, sum(sizes) - after))
    assert more == (after + most if after + most < sum(sizes) else None)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"", ""),
        (b"\x82\xa4text\xa5hello", "text hello"),
        ("\x92\xdaé".encode("latin-1") + "été".encode(), "été"),
        (b'{"a": "b"}', '{"a": "b"}'),
        (b"\xff\xfe\x00\x01", ""),
        (b"a\x1b[31mb", "a [31mb"),
    ],
)
def test_what_can_be_read_of_bytes_is_text_on_one_line(body: bytes, text: str) -> None:
    assert readable(body) == text
