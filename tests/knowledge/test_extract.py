"""What can become knowledge, and the reason that a person reads when something can't."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.knowledge.chunk import Chunk
from memoranda.knowledge.errors import (
    BinaryFile,
    BrokenTranscript,
    DocumentTooLarge,
    EmptyDocument,
    TranscriptWithoutTurns,
    UnreadableDocument,
    WrongEncoding,
)
from memoranda.knowledge.extract import extract, kind_of
from memoranda.knowledge.models import SourceKind
from memoranda.words.errors import MemorandaError

LIMIT = 1 << 20
KINDS: list[SourceKind] = ["text", "markdown", "transcript"]


def lines(*turns: object) -> bytes:
    return "\n".join(json.dumps(turn) for turn in turns).encode()


def chunks_or_reason(data: bytes, kind: SourceKind) -> list[Chunk] | UnreadableDocument:
    try:
        return extract(data, kind, limit=LIMIT)
    except UnreadableDocument as reason:
        return reason


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"%PDF-1.7 ...", "a PDF file"),
        (b"PK\x03\x04rest", "an Office document"),
        (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
        (b"\x00\x01\x02\x03", "a binary file"),
        (b"\x01\x02\x03" * 50 + b"a few words", "a binary file"),
        ("text".encode("utf-16-le"), "UTF-16 without a byte order mark"),
    ],
)
def test_a_binary_file_is_no_markdown(data: bytes, reason: str) -> None:
    with pytest.raises(BinaryFile, match=reason):
        extract(data, "markdown", limit=LIMIT)


@pytest.mark.parametrize("kind", ["text", "markdown"])
@pytest.mark.parametrize(
    "data",
    [
        *(b"", b" \n\t\r\n", b"\xef\xbb\xbf", "\u3000\n".encode()),
        *("\u200b\u200d\n\n\u2060".encode(), "\u202e\u202c\U000e0041".encode(), b"\x7f\n"),
    ],
)
def test_an_empty_file_holds_nothing_to_find(data: bytes, kind: SourceKind) -> None:
    with pytest.raises(EmptyDocument):
        extract(data, kind, limit=LIMIT)


@pytest.mark.parametrize(
    "data",
    [
        "naïve café".encode(),
        "naïve café".encode("utf-8-sig"),
        "naïve café".encode("utf-16"),
        b"\xfe\xff" + "naïve café".encode("utf-16-be"),
        "naïve café".encode("utf-32"),
    ],
)
def test_a_stated_encoding_is_read(data: bytes) -> None:
    assert extract(data, "text", limit=LIMIT)[0].text == "naïve café"


@pytest.mark.parametrize("data", ["café".encode("latin-1"), b"\xff\xfea", b"ok\xed\xa0\x80"])
def test_another_encoding_is_refused_with_the_place(data: bytes) -> None:
    with pytest.raises(WrongEncoding, match="at byte") as caught:
        extract(data, "text", limit=LIMIT)
    assert isinstance(caught.value.details["offset"], int)


def test_a_file_over_the_limit_is_refused_with_both_sizes() -> None:
    assert extract(b"x" * 10, "text", limit=10)
    with pytest.raises(DocumentTooLarge) as caught:
        extract(b"x" * 11, "text", limit=10)
    assert caught.value.details == {"size": 11, "limit": 10}


def test_a_turn_is_a_chunk_with_its_speaker_time_and_id() -> None:
    chunks = extract(
        lines(
            {"speaker": "Ada", "text": " Hello ", "id": "D1:1", "at": "2023-05-08", "more": [1]},
            {"speaker": "Max", "text": "Look", "id": 2, "caption": "a heron in reeds"},
        ),
        "transcript",
        limit=LIMIT,
    )
    assert [(c.ordinal, c.speaker, c.text, c.external_id, c.at) for c in chunks] == [
        (0, "Ada", "Hello", "D1:1", "2023-05-08"),
        (1, "Max", "Look (picture: a heron in reeds)", "2", None),
    ]
    assert chunks[0].tokens == 2


def test_the_caption_of_a_picture_is_searched() -> None:
    (chunk,) = extract(
        lines({"speaker": "Ada", "text": "", "caption": "a heron"}), "transcript", limit=LIMIT
    )
    assert chunk.text == "(picture: a heron)"
    assert chunk.passage("any").speaker == "Ada"


def test_empty_lines_and_turns_that_say_nothing_are_passed_over() -> None:
    data = b'\n{"speaker": "Ada", "text": " "}\r\n\r\n{"speaker": "Ada", "text": "Hi"}\n\n'
    assert [chunk.text for chunk in extract(data, "transcript", limit=LIMIT)] == ["Hi"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"speaker": "Ada", "text": "cut', "it is not JSON"),
        ("plain words", "it is not JSON"),
        ('["speaker"]', "it is not an object"),
        ('{"text": "Hi"}', '"speaker" is missing'),
        ('{"speaker": " ", "text": "Hi"}', '"speaker" is missing or empty'),
        ('{"speaker": "Ada"}', '"text" is missing'),
        ('{"speaker": "Ada", "text": 3}', '"text" is no string'),
        ('{"speaker": "Ada", "text": "Hi", "caption": []}', '"caption" is no string'),
        ('{"speaker": "Ada", "text": "Hi", "id": true}', '"id" is no string'),
        ("[" * 100_000, "it is nested too deeply"),
    ],
)
def test_a_broken_line_is_named_with_its_number(line: str, reason: str) -> None:
    data = b'{"speaker": "Ada", "text": "Hi"}\n\n' + line.encode()
    with pytest.raises(BrokenTranscript) as caught:
        extract(data, "transcript", limit=LIMIT)
    assert "Line 3" in caught.value.message
    assert reason in caught.value.message
    assert caught.value.details == {"line": 3}


def test_a_transcript_needs_a_turn() -> None:
    with pytest.raises(TranscriptWithoutTurns):
        extract(lines({"speaker": "Ada", "text": ""}), "transcript", limit=LIMIT)


def test_an_empty_transcript_is_told_from_a_broken_one() -> None:
    with pytest.raises(EmptyDocument):
        extract(b"\n\n", "transcript", limit=LIMIT)


def test_text_that_no_database_can_hold_is_mended() -> None:
    data = b'{"speaker": "A\\u0000da", "text": "lone \\ud800 half"}'
    (chunk,) = extract(data, "transcript", limit=LIMIT)
    assert (chunk.speaker, chunk.text) == ("Ada", "lone \ufffd half")


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.one_of(st.binary(), st.text().map(lambda text: text.encode("utf-8", "ignore"))))
def test_any_bytes_become_chunks_or_one_honest_reason(data: bytes, kind: SourceKind) -> None:
    made = chunks_or_reason(data, kind)
    if isinstance(made, UnreadableDocument):
        assert made.message.endswith(".")
    else:
        assert [chunk.ordinal for chunk in made] == list(range(len(made)))
        assert all(chunk.text.strip() and chunk.tokens > 0 for chunk in made)


def test_each_reason_has_a_code_of_its_own() -> None:
    reasons: list[type[MemorandaError]] = [DocumentTooLarge, *UnreadableDocument.__subclasses__()]
    assert len({reason.code for reason in reasons}) == len(reasons)


@pytest.mark.parametrize(
    ("filename", "kind"),
    [
        ("README.md", "markdown"),
        ("a.MARKDOWN", "markdown"),
        ("talk.jsonl", "transcript"),
        ("notes.txt", "text"),
        ("LICENSE", "text"),
    ],
)
def test_a_kind_is_told_from_the_name(filename: str, kind: SourceKind) -> None:
    assert kind_of(filename) == kind
