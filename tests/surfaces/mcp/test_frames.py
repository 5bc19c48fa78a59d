"""Lines become messages, and what is no message is answered."""

import tempfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import INVALID_REQUEST, PARSE_ERROR, JSONRPCNotification, JSONRPCRequest

from memoranda.surfaces.mcp.frames import Misread, lines, message_in


def read(sent: bytes, longest: int = 20) -> list[bytes | None]:
    with tempfile.TemporaryFile() as file:
        file.write(sent)
        file.flush()
        file.seek(0)
        return list(lines(file.fileno(), longest=longest))


@given(st.lists(st.binary(max_size=20).filter(lambda each: b"\n" not in each), max_size=20))
def test_lines_come_as_they_were_sent(sent: list[bytes]) -> None:
    assert read(b"".join(each + b"\n" for each in sent)) == sent


def test_a_line_that_is_too_long_is_told_and_dropped_and_the_next_one_is_read() -> None:
    assert read(b"x" * 21 + b"\nnext\n") == [None, b"next"]
    assert read(b"x" * 200_000 + b"\nnext\n") == [None, b"next"]
    assert read(b"first\n" + b"x" * 100) == [b"first", None]
    assert read(b"first\nlast") == [b"first", b"last"]


def test_a_message_is_read() -> None:
    asked = message_in(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert isinstance(asked, JSONRPCRequest)
    told = message_in(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert isinstance(told, JSONRPCNotification)


BROKEN = (
    (b"{", PARSE_ERROR, None),
    (b"\xff\xfe", PARSE_ERROR, None),
    (b"[" * 100_000, PARSE_ERROR, None),
    (b"7", INVALID_REQUEST, None),
    (b"[]", INVALID_REQUEST, None),
    (b'{"id":5}', INVALID_REQUEST, 5),
    (b'{"jsonrpc":"2.0","id":"a","method":7}', INVALID_REQUEST, "a"),
    (b'{"jsonrpc":"2.0","id":true,"method":7}', INVALID_REQUEST, None),
    (b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', INVALID_REQUEST, None),
    (
        b'{"jsonrpc":"2.0","id":3,"method":"ping","params":{"x":"\\ud800"}}',
        INVALID_REQUEST,
        3,
    ),
    (None, INVALID_REQUEST, None),
)


@pytest.mark.parametrize(("line", "code", "identity"), BROKEN)
def test_what_is_no_message_is_answered_to_whoever_asked(
    line: bytes | None, code: int, identity: object
) -> None:
    found = message_in(line)
    assert isinstance(found, Misread)
    assert (found.answer.error.code, found.answer.id) == (code, identity)
