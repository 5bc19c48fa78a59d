"""Whatever answers in the server's place, each client raises one of its own errors, which says what to do."""

import socket
from collections.abc import Iterator
from contextlib import aclosing, closing, contextmanager
from functools import partial
from threading import Thread
from typing import Any

import anyio.to_thread
import httpx
import pytest

from memoranda.client import AsyncClient, Client, Retries, UnexpectedAnswer, Unreachable
from memoranda.client.errors import ClientClosed
from memoranda.words.errors import Invalid, MemorandaError

ONCE = Retries(tries=1)
EVENTS = "text/event-stream"


@contextmanager
def server(answer: bytes, *, stays: bool = False) -> Iterator[str]:
    """A server that answers everything with these bytes, and then goes away or only says no more."""
    listening = socket.create_server(("127.0.0.1", 0))
    taken: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            taken.append(connection)
            with connection if not stays else closing(socket.socket()):
                connection.recv(65_536)
                connection.sendall(answer)

    serving = Thread(target=serve)
    serving.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        serving.join()
        for each in taken:
            each.close()


def http(status: int, kind: str, body: bytes, *, length: int | None = None) -> bytes:
    # It says that it goes away, so that no client asks again on a connection that is closing.
    head = f"HTTP/1.1 {status} Said\r\nContent-Type: {kind}\r\nConnection: close\r\n"
    return (
        f"{head}Content-Length: {len(body) if length is None else length}\r\n\r\n".encode() + body
    )


async def error_of(url: str, ask: str, *, awaits: bool, timeout_s: float = 30) -> MemorandaError:
    """What a client raises when it asks for a value, for lines or for events."""
    asked = awaited(url, ask, timeout_s)
    if not awaits:
        asked.close()
        asked = anyio.to_thread.run_sync(partial(blocked, url, ask, timeout_s))
    with pytest.raises(MemorandaError) as raised:
        await asked
    return raised.value


async def awaited(url: str, ask: str, timeout_s: float) -> None:
    async with AsyncClient(url, "k", retries=ONCE, timeout_s=timeout_s) as client:
        client.events.asking._sleep = reopened
        verbs: Any = {
            "events": client.events.follow,
            "lines": client.memories.export,
            "each": client.memories.list.each,
        }
        if ask == "value":
            await client.memories.stats()
        else:
            _ = [each async for each in verbs[ask]()]


def blocked(url: str, ask: str, timeout_s: float) -> None:
    with Client(url, "k", retries=ONCE, timeout_s=timeout_s) as client:
        client.events.asking._sleep = reopened
        verbs: Any = {
            "events": client.events.follow,
            "lines": client.memories.export,
            "each": client.memories.list.each,
        }
        client.memories.stats() if ask == "value" else list(verbs[ask]())


def reopened(_: float) -> Any:
    raise AssertionError("A stream that is none would be opened for ever.")


PAGE = b"<html>One moment</html>\n"


@pytest.mark.parametrize("awaits", [False, True])
@pytest.mark.parametrize("ask", ["value", "lines", "events"])
@pytest.mark.parametrize("status", [200, 401, 404, 500, 502])
async def test_a_page_in_the_place_of_an_answer_is_an_unexpected_one(
    status: int, ask: str, awaits: bool
) -> None:
    with server(http(status, "text/html", PAGE)) as url:
        error = await error_of(url, ask, awaits=awaits)
    assert type(error) is UnexpectedAnswer
    assert "check the address" in error.message
    assert not error.retryable


@pytest.mark.parametrize("awaits", [False, True])
@pytest.mark.parametrize("ask", ["value", "lines", "events"])
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_key_is_sent_on_to_no_other_address_and_the_error_names_it(
    status: int, ask: str, awaits: bool
) -> None:
    to = "https://elsewhere.test/v1/"
    sent_on = f"HTTP/1.1 {status} Moved\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"
    with server(sent_on.encode()) as url:
        error = await error_of(url, ask, awaits=awaits)
    assert type(error) is UnexpectedAnswer
    assert f"sends on to {to}:" in error.message


@pytest.mark.parametrize("awaits", [False, True])
@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"",
        http(200, "application/json", b'{"active": 1', length=400),
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
    ],
    ids=["another protocol", "nothing", "cut", "not what it says"],
)
async def test_an_answer_that_is_cut_or_unreadable_may_have_been_done(
    answer: bytes, awaits: bool
) -> None:
    with server(answer) as url:
        error = await error_of(url, "value", awaits=awaits)
    assert type(error) is Unreachable
    assert error.message.startswith("The answer broke off: see that")
    assert error.details == {"maybe_done": True}


@pytest.mark.parametrize("awaits", [False, True])
@pytest.mark.parametrize("ask", ["value", "lines"])
async def test_an_answer_that_stops_amid_itself_is_given_up(ask: str, awaits: bool) -> None:
    kind = "application/json" if ask == "value" else "application/jsonl"
    with server(http(200, kind, b'{"active":', length=400), stays=True) as url:
        error = await error_of(url, ask, awaits=awaits, timeout_s=0.2)
    assert type(error) is Unreachable
    assert "wait longer, with timeout_s" in error.message


@pytest.mark.parametrize("awaits", [False, True])
async def test_where_nobody_listens_nothing_was_done(awaits: bool) -> None:
    with server(b"") as url:
        pass
    error = await error_of(url, "value", awaits=awaits)
    assert type(error) is Unreachable
    assert error.message.startswith("The server can't be reached: see that it runs")
    assert error.details == {"maybe_done": False}


@pytest.mark.parametrize("awaits", [False, True])
@pytest.mark.parametrize(
    ("ask", "kind", "status", "body"),
    [
        ("value", "application/problem+json", 500, b"[" * 200_000),
        ("value", "application/json", 200, b"[" * 200_000),
        ("value", "application/json", 200, b"\xff"),
        ("lines", "application/jsonl", 200, b"\xff\xfe\n"),
        ("lines", "application/jsonl", 200, b'{"a":1}\n{"b"'),
        ("lines", "application/jsonl", 200, b'{"a":1}\n{"b":2}'),
        ("lines", "application/jsonl", 200, b'{"a":1}\n{"b"\n'),
        ("each", "application/json", 200, b'{"items":[],"next_cursor":"same"}'),
        ("events", EVENTS, 200, b"data: \xff\n\n"),
        ("events", EVENTS, 200, b"id: 1\nevent: x\ndata: {}\n\n"),
        ("events", "application/json", 200, b"{}"),
    ],
)
async def test_what_can_not_be_read_is_an_unexpected_answer(
    ask: str, kind: str, status: int, body: bytes, awaits: bool
) -> None:
    with server(http(status, kind, body)) as url:
        assert type(await error_of(url, ask, awaits=awaits)) is UnexpectedAnswer


def test_a_client_that_was_closed_says_so_to_every_kind_of_question() -> None:
    client = Client("http://127.0.0.1:9")
    client.close()
    client.close()
    for ask in (
        client.memories.stats,
        lambda: client.memories.remember("Tea."),
        lambda: client.knowledge.add(b"Tea."),
        lambda: next(client.memories.export()),
        lambda: next(client.events.follow()),
        lambda: next(client.memories.list.each()),
    ):
        with pytest.raises(ClientClosed, match="make another one"):
            ask()


async def test_the_client_that_is_awaited_says_so_too() -> None:
    async with AsyncClient("http://127.0.0.1:9") as client:
        pass
    for asked in (
        client.memories.stats(),
        client.knowledge.add(b"Tea."),
        anext(client.memories.export()),
        anext(client.events.follow()),
    ):
        with pytest.raises(ClientClosed, match="make another one"):
            await asked


def told_once() -> httpx.Response:
    return httpx.Response(200, headers={"Content-Type": EVENTS}, content=b"id: 1\n\n")


async def test_who_follows_hears_of_a_client_that_was_closed_meanwhile() -> None:
    client = AsyncClient("http://x.test", transport=Ending())
    async with aclosing(client.events.follow()) as following:
        assert (await anext(following)).number == 1
        client.events.asking._sleep = lambda _: client.aclose()
        with pytest.raises(ClientClosed):
            await anext(following)


class Ending(httpx.AsyncBaseTransport):
    """A server that tells one number and ends the stream."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        del request
        return told_once()


ADDRESSES = (
    *("http://", "http://[bad", "http://host:port", "http://host:99999", "http://a host"),
    *("http://ü..x", "http://x/?a=b", "http://x/#a"),
)


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("address", ADDRESSES)
def test_what_is_no_address_is_refused_when_the_client_is_made(kind: Any, address: str) -> None:
    with pytest.raises(Invalid, match="no address of a server") as refused:
        kind(address)
    assert refused.value.details["field"] == "url"


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize("key", ["", " ", "mk_a\n", "mk_a b", "schlüssel", "mk_\x00"])
def test_a_key_that_no_header_carries_is_refused_and_not_told(kind: Any, key: str) -> None:
    with pytest.raises(Invalid, match="This is no key") as refused:
        kind("http://127.0.0.1:9", key)
    assert "mk_a" not in refused.value.message


@pytest.mark.parametrize("kind", [Client, AsyncClient])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("url", each) for each in (b"http://x.test", None, 5)],
        *[("key", each) for each in (b"k", 5, ["k"])],
        *[("timeout_s", each) for each in ("5", None, 0, -1, float("nan"), float("inf"), True)],
        *[("retries", each) for each in (3, {"tries": 3}, "3")],
        ("transport", httpx.Request),
    ],
)
def test_what_a_client_is_made_of_is_checked_by_name(kind: Any, field: str, value: object) -> None:
    with pytest.raises(Invalid) as refused:
        kind(**{"url": "http://127.0.0.1:9", field: value})
    assert refused.value.details["field"] == field


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("tries", each) for each in (0, -1, "3", None, 2.5, True)],
        *[("first_wait_s", each) for each in (-0.1, "1", None, float("nan"))],
        *[("longest_wait_s", each) for each in (-1, float("inf"), None)],
    ],
)
def test_what_no_waiting_is_made_of_is_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(Invalid) as refused:
        Retries(**{field: value})
    assert refused.value.details["field"] == field
