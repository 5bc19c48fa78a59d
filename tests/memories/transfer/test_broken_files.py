"""Whatever a file holds, it is read, refused line by line, or refused whole: nothing else happens."""

import io
import json
import zipfile
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.memories.transfer import decoding, parsing
from memoranda.memories.transfer.errors import ImportTooLarge, UnreadableImport
from memoranda.memories.transfer.limits import MOST_LINE_CHARS
from memoranda.memories.transfer.models import ImportSource as Source
from tests.memories.transfer.readings import FILES, file, read, texts
from tests.memories.transfer.test_formats import SOURCES, archive

HEADER = '{"format": "memoranda-memories", "version": 1}\n'


def own(*said: object) -> str:
    return HEADER + "".join(
        each
        if isinstance(each, str)
        else json.dumps({"kind": "memory", "text": "x", **each}) + "\n"
        for each in said
    )


# Plain text in UTF-16 needs its mark; JSON shows its encoding by how it begins.
ENCODED = [
    (name, encoding)
    for name in SOURCES
    for encoding in ("utf-8-sig", "utf-16", "utf-32", "utf-16-le")
    if encoding != "utf-16-le" or name.endswith((".json", ".jsonl"))
]


@pytest.mark.parametrize(("name", "encoding"), ENCODED)
def test_another_encoding_reads_the_same(name: str, encoding: str) -> None:
    assert read(file(name).decode().encode(encoding)) == read(file(name))


@pytest.mark.parametrize("name", SOURCES)
def test_the_line_ends_of_another_system_read_the_same(name: str) -> None:
    assert texts(read(file(name).replace(b"\n", b"\r\n"))) == texts(read(file(name)))


@pytest.mark.parametrize("name", [name for name in SOURCES if name.endswith(".json")])
def test_a_document_that_is_cut_off_is_refused_whole(name: str) -> None:
    content = file(name)
    for end in range(2, len(content) - 2, max(1, len(content) // 40)):
        with pytest.raises(UnreadableImport):
            read(content[:end])


def test_lines_that_are_cut_off_cost_the_last_one_alone() -> None:
    content = file("memoranda.jsonl").rstrip()
    parsed = read(content[:-30])
    assert [(each.line, each.code) for each in parsed.unread] == [(5, "broken_line")]
    assert len(parsed.entries) == 2


def test_a_broken_line_is_told_by_its_number_and_the_others_are_read() -> None:
    broken = ["{\n", "[1]\n", "null\n", "5\n", '"x"\n', '{"kind": "memory", "text": \n', "\x00\n"]
    parsed = read(own({"text": "a"}, *broken, {"text": "b"}))
    assert texts(parsed) == ["a", "b"]
    assert [each.line for each in parsed.unread] == [3, 4, 5, 6, 7, 8, 9]
    assert {each.code for each in parsed.unread} <= {"broken_line", "invalid_input"}


def test_a_line_that_is_no_utf_8_is_refused_and_no_other() -> None:
    content = own({"text": "a"}).encode() + b'{"kind": "memory", "text": "K\xe4se"}\n'
    parsed = read(content)
    assert texts(parsed) == ["a"]
    assert [(each.line, each.code) for each in parsed.unread] == [(3, "broken_line")]


def test_half_a_surrogate_pair_is_no_line_of_ours_and_is_replaced_in_those_of_others() -> None:
    parsed = read(own('{"kind": "memory", "text": "a\\ud800b"}\n'))
    assert [(each.line, each.code) for each in parsed.unread] == [(2, "broken_line")]
    assert texts(read('[{"memory": "a\\ud800b"}]')) == ["a\ud800b"]  # replaced when it is made fit


def test_a_huge_line_is_refused_and_the_next_one_is_read() -> None:
    parsed = read(own({"text": "x" * MOST_LINE_CHARS}, {"text": "b"}))
    assert [(each.line, each.code) for each in parsed.unread] == [(2, "over_limit")]
    assert texts(parsed) == ["b"]


def test_what_is_nested_without_end_is_refused_and_no_stack_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deep = "[" * 200_000
    for content in (deep, deep + "]" * 200_000, '{"a":' * 100_000, '{"results": ' + deep):
        with pytest.raises(UnreadableImport):
            read(content)
    parsed = read(own({"text": "a"}, '{"kind": "memory", "text": ' + deep + "\n"))
    assert [(each.line, each.code) for each in parsed.unread] == [(3, "broken_line")]
    nested: Any = {"memory": "x"}
    for _ in range(300):
        nested = [nested]
    assert texts(read(json.dumps(nested), Source.MEM0)) == ["x"]


@pytest.mark.parametrize(
    "content", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff\x00\n"]
)
def test_an_empty_file_says_that_it_is(content: bytes) -> None:
    with pytest.raises(UnreadableImport):
        read(content)


BINARY = [
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" * 20,
    b"\x7fELF\x02\x01\x01\0\0\0" * 50,
    bytes(range(256)) * 30,
    b"SQLite format 3\x00" + b"\x00\x10\x01\x01" * 500,
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00" + bytes(range(255, 0, -1)) * 9,
]


@pytest.mark.parametrize("content", BINARY)
def test_what_is_no_text_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadableImport):
        read(content)


def test_more_than_is_taken_at_once_is_refused_before_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decoding, "MOST_BYTES", 1_000)
    for content in (
        b"x" * 1_001,
        "x" * 1_001,
        [b"x" * 600] * 2,
        (b"y" * 100 for _ in iter(int, 1)),
    ):
        with pytest.raises(ImportTooLarge):
            read(content)  # type: ignore[arg-type]  # lines of a file are taken too
    monkeypatch.setattr(parsing, "MOST_ENTRIES", 3)
    with pytest.raises(ImportTooLarge, match="3 entries"):
        read("a.\nb.\nc.\nd.\n")


def test_an_archive_that_swells_is_refused_by_what_comes_out_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(decoding, "MOST_BYTES", 100_000)
    bomb = archive(memories_json=b" " * 10_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(ImportTooLarge):
        read(bomb)
    many = archive(
        **{
            f"memories__{number}_json": b" " * 60_000 + b'[{"conversations_memory": "x"}]'
            for number in range(3)
        }
    )
    with pytest.raises(ImportTooLarge):
        read(many)
    crowded = archive(**{f"memories__{number}_json": b"[]" for number in range(201)})
    with pytest.raises(ImportTooLarge):
        read(crowded)


def test_an_archive_within_an_archive_is_not_opened() -> None:
    inner = archive(memories_json=file("claude_memories.json"))
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as written:
        written.writestr("memories-000.zip", inner)
    with pytest.raises(UnreadableImport):
        read(outer.getvalue())


def test_a_broken_archive_is_refused() -> None:
    whole = archive(memories_json=file("claude_memories.json"))
    for content in (whole[:-30], whole[:60], b"PK\x03\x04", whole[:50] + b"\xff" * 20 + whole[70:]):
        with pytest.raises(UnreadableImport):
            read(content)


def test_no_name_in_an_archive_is_a_path_that_is_used(tmp_path: object) -> None:
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as written:
        written.writestr("../../../etc/memories.json", file("claude_memories.json"))
        written.writestr("/etc/passwd", b"x")
    assert len(read(outer.getvalue()).entries) == 6


ODD = [
    None,
    True,
    0,
    1.5,
    float("inf"),
    "",
    " ",
    "x",
    [],
    {},
    [[]],
    {"a": {"b": []}},
    "\0",
    "\ud800",
    10**400,
]


def odd_json() -> st.SearchStrategy[Any]:
    names = (
        "results memories memory value namespace prefix content mapping items text data state kind metadata "
        "conversations_memory project_memories memory_files categories created_at message recipient parts "
        "path user format"
    )
    keys = st.sampled_from(names.split())
    plain = st.sampled_from(
        [*ODD[:4], *ODD[5:14], "bio", "memory", "memoranda-memories", "a.b", 1e308]
    )
    return st.recursive(
        plain,
        lambda each: st.lists(each, max_size=3) | st.dictionaries(keys, each, max_size=4),
        max_leaves=12,
    )


@given(odd_json(), st.sampled_from(list(Source)))
@settings(max_examples=400)
def test_json_of_any_shape_is_read_or_refused(value: Any, source: Source) -> None:
    for content in (json.dumps(value), json.dumps(value) + "\n" + json.dumps({"memory": "x"})):
        try:
            parsed = read(content, source)
        except UnreadableImport:
            continue
        assert all(isinstance(entry.text, str) and entry.line >= 0 for entry in parsed.entries)
        assert all(each.code in {"broken_line", "invalid_input"} for each in parsed.unread)


@given(st.sampled_from(sorted(SOURCES)), st.data())
@settings(max_examples=300)
def test_a_file_with_bytes_changed_is_read_or_refused(name: str, data: st.DataObject) -> None:
    content = bytearray((FILES / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=6))
    with suppress(UnreadableImport):
        read(bytes(content))


@given(st.binary(max_size=400))
@settings(max_examples=300)
def test_bytes_of_any_kind_are_read_or_refused(content: bytes) -> None:
    with suppress(UnreadableImport):
        read(content)
