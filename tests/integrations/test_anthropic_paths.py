"""Paths of the memory tool stay below their folder, and texts are numbered as its protocol has it."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.integrations.anthropic.paths import (
    ROOT,
    Path,
    path_of_fact,
    path_of_title,
    read_path,
    tail,
    tail_of,
)
from memoranda.integrations.anthropic.texts import inserted, listing, replaced, shown
from memoranda.words.errors import Invalid


def depth(parts: list[str]) -> int:
    """How far above the folder a path goes at its highest: below 0 it has left it."""
    levels, lowest = 0, 0
    for part in parts:
        levels += {"": 0, ".": 0, "..": -1}.get(part, 1)
        lowest = min(lowest, levels)
    return lowest


@given(st.lists(st.sampled_from(["a", "b", ".", "..", "", "facts"]), max_size=6))
def test_a_path_is_read_where_it_stays_below_the_folder_and_nowhere_else(parts: list[str]) -> None:
    said = "/".join([ROOT, *parts])
    if depth(parts) < 0:
        with pytest.raises(Invalid, match="escape"):
            read_path(said)
        return
    path = read_path(said)
    assert not {"", ".", ".."} & set(path.parts)
    assert read_path(str(path)) == path
    assert path_of_title(str(path)) == (path if path.parts and path.fixed is None else None)


@given(st.uuids(), st.text(max_size=80))
def test_a_fact_has_a_path_that_names_its_id(memory_id: UUID, text: str) -> None:
    path = read_path(str(path_of_fact(memory_id, text)))
    assert path.fixed == "facts"
    assert tail_of(path) == tail(memory_id)


@given(st.text("ab\n", max_size=12), st.integers(0, 6), st.text("xy\n", min_size=1, max_size=4))
def test_what_is_inserted_stands_after_its_line_and_all_else_stays(
    text: str, line: int, new: str
) -> None:
    lines = text.removesuffix("\n").split("\n") if text else []
    if line > len(lines):
        with pytest.raises(Invalid, match="insert_line"):
            inserted(text, line, new)
        return
    added = new.removesuffix("\n").split("\n")
    assert inserted(text, line, new) == "\n".join([*lines[:line], *added, *lines[line:], ""])


def test_lines_are_numbered_as_they_stand_and_a_range_keeps_their_numbers() -> None:
    path = Path(("a",))
    text = "\n".join(f"l{n}" for n in range(1, 13))
    for view_range, numbers in (
        (None, range(1, 13)),
        ([3, 4], range(3, 5)),
        ([11, -1], range(11, 13)),
        ([0, 1], range(1, 2)),
        ([10, 99], range(10, 13)),
        ([9, 3], range(0)),
        ([1], range(1, 13)),
    ):
        _, *lines = shown(path, text, view_range).split("\n")
        assert lines == [f"{n:>6}\tl{n}" for n in numbers]


def test_a_part_that_stands_twice_is_named_by_its_lines() -> None:
    path = Path(("a",))
    with pytest.raises(Invalid, match=r"in lines: 1, 1, 3\."):
        replaced(path, "aaa\n\naa", "aa", "b")
    with pytest.raises(Invalid, match="did not appear verbatim"):
        replaced(path, "a", "", "b")
    changed, told = replaced(path, "1\n2\n3\n4\n5\n6\n7", "4", "x\ny")
    assert changed == "1\n2\n3\nx\ny\n5\n6\n7"
    assert [line.split("\t")[1] for line in told.split("\n")[1:]] == ["2", "3", "x", "y", "5"]


def test_sizes_are_of_all_that_is_in_a_folder() -> None:
    files = [(Path(("a", "b")), 1_000), (Path(("a", "c")), 536), (Path(("d",)), 0)]
    lines = listing(Path(()), files, [Path(("a",))], chars=1_000).split("\n")[1:]
    assert lines == [
        *("1.5K\t/memories", "1.5K\t/memories/a/", "1000B\t/memories/a/b"),
        *("536B\t/memories/a/c", "0B\t/memories/d"),
    ]


def test_a_folder_of_very_many_files_is_listed_as_far_as_there_is_room() -> None:
    files = [(Path((f"{number:04}",)), 1) for number in range(2_000)]
    _, own, *lines = listing(Path(()), files, [], chars=1_000).split("\n")
    assert own == "2K\t/memories"
    assert (
        lines[-1]
        == f"({2_000 - len(lines) + 1} more are not listed: there is no room for them here.)"
    )
    assert 900 < len("".join(lines[:-1])) <= 1_000
    assert lines[0] == "1B\t/memories/0000"
