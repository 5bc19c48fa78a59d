"""A call is made again only where that can do nothing twice."""

from io import BytesIO, RawIOBase

import pytest

from memoranda.client.call import Call, File
from memoranda.client.errors import Unreachable
from memoranda.client.retrying import Failure, Retries, may_repeat, retry_after_s
from memoranda.words.errors import Conflict, OverLimit, StorageBusy, StorageUnavailable, Unavailable
from memoranda.words.over_http import InternalError

GET = Call("GET", "/", str)
POST = Call("POST", "/", str)
KEYED = Call("POST", "/", str, repeatable=True)

AWAY = Failure(Unreachable("x"), sent=False)
LOST = Failure(Unreachable("x"))
BUSY = Failure(StorageBusy("x"), 503)
DOWN = Failure(StorageUnavailable("x"), 503)
MANY = Failure(OverLimit("x"), 429)
GATE = Failure(Unavailable("x"), 502)
MOVED = Failure(Conflict("x"), 409)
BROKEN = Failure(InternalError("x"), 500)


class Pipe(RawIOBase):
    """A file that can be read once."""


@pytest.mark.parametrize("failure", [AWAY, BUSY, MANY])
@pytest.mark.parametrize("call", [GET, POST, KEYED])
def test_what_was_surely_not_done_is_done_again(call: Call[str], failure: Failure) -> None:
    assert may_repeat(call, failure)


@pytest.mark.parametrize("failure", [LOST, DOWN, GATE])
def test_what_may_have_been_done_is_repeated_where_that_changes_nothing(failure: Failure) -> None:
    assert [may_repeat(call, failure) for call in (GET, KEYED, POST)] == [True, True, False]


@pytest.mark.parametrize("failure", [MOVED, BROKEN])
@pytest.mark.parametrize("call", [GET, POST, KEYED])
def test_what_would_fail_again_is_not_repeated(call: Call[str], failure: Failure) -> None:
    assert not may_repeat(call, failure)
    assert Retries().wait_s(call, failure, 1) is None


def test_waits_double_up_to_the_longest_and_end_with_the_tries() -> None:
    retries = Retries(tries=5, first_wait_s=1, longest_wait_s=3)
    waits = [retries.wait_s(GET, AWAY, tried) for tried in (1, 2, 3, 4)]
    for wait, full in zip(waits, (1, 2, 3, 3), strict=True):
        assert wait is not None
        assert full / 2 <= wait <= full
    assert retries.wait_s(GET, AWAY, 5) is None
    assert Retries(tries=1).wait_s(GET, AWAY, 1) is None


def test_the_server_says_when_to_come_back_within_what_the_caller_waits() -> None:
    assert Retries().wait_s(POST, MANY._replace(wait_s=7), 1) == 7
    assert Retries().wait_s(POST, MANY._replace(wait_s=31), 1) is None
    assert Retries(longest_wait_s=60).wait_s(POST, MANY._replace(wait_s=31), 1) == 31


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("٣", None),
        ("Fri, 31 Dec 2027 23:59:59 GMT", None),
    ],
)
def test_seconds_are_read_and_nothing_else(said: str, seconds: float | None) -> None:
    assert retry_after_s({"retry-after": said} if said else {}) == seconds


def test_a_file_that_can_be_read_once_is_sent_once() -> None:
    once = Call("POST", "/", str, body=File(Pipe()))
    assert Retries().wait_s(once, MANY, 1) is None
    for content in (b"x", BytesIO(b"x")):
        again = Call("POST", "/", str, body=File(content))
        assert Retries().wait_s(again, MANY, 1) is not None
