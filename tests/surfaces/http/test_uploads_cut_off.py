"""An upload that is cut off in the middle leaves nothing, and the server serves on."""

import socket
import time
from urllib.parse import urlsplit

import httpx
import pytest

from tests.surfaces.http.live import Live, live_server

# The framework leaves the unfinished file of a form to the collector, which closes it at once.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

BOUNDARY = "cut"
DOCUMENT = b"The harbor opens at seven. " * 20_000


def form(document: bytes, *, closed: bool = True) -> bytes:
    """A form with a document under the name of another."""
    begin = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="uri"\r\n\r\nmade:docks\r\n'
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="docks.txt"\r\n'
        "Content-Type: text/plain\r\n\r\n"
    )
    end = f"\r\n--{BOUNDARY}--\r\n" if closed else ""
    return begin.encode() + document + end.encode()


def headers(live: Live, *more: str) -> bytes:
    lines = (
        "POST /v1/knowledge/sources HTTP/1.1",
        f"Host: {urlsplit(live.url).netloc}",
        f"Authorization: Bearer {live.key}",
        f"Content-Type: multipart/form-data; boundary={BOUNDARY}",
        *more,
    )
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def connected(live: Live) -> socket.socket:
    port = urlsplit(live.url).port
    assert port is not None
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def sources(live: Live) -> list[dict[str, object]]:
    answer = httpx.get(
        f"{live.url}/v1/knowledge/sources", headers={"Authorization": f"Bearer {live.key}"}
    )
    assert answer.status_code == 200
    items: list[dict[str, object]] = answer.json()["items"]
    return items


def ready(live: Live) -> dict[str, object]:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        [source] = sources(live)
        if source["status"] != "pending":
            return source
        time.sleep(0.1)
    raise AssertionError("the document was not taken in")


@pytest.mark.parametrize("reset", [False, True])
def test_an_upload_that_is_cut_off_changes_nothing(database_url: str, *, reset: bool) -> None:
    with live_server(database_url) as live:
        whole = form(b"The front dock is closed.")
        with connected(live) as line:
            line.sendall(headers(live, f"Content-Length: {len(whole)}") + whole)
            assert line.recv(100).startswith(b"HTTP/1.1 202")
        before = ready(live)
        assert before["status"] == "ready"
        body = form(DOCUMENT)
        for sent in (0, 100, 300, len(body) // 2, len(body) - 1):
            with connected(live) as line:
                line.sendall(headers(live, f"Content-Length: {len(body)}") + body[:sent])
                if reset:  # gone without a word, as a client that is killed
                    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        with connected(live) as line:  # a part of a stream of parts
            line.sendall(headers(live, "Transfer-Encoding: chunked"))
            line.sendall(b"%x\r\n" % len(body) + body[:1000])
        time.sleep(0.5)
        assert sources(live) == [before]


@pytest.mark.parametrize("cut", ["form", "name"])
def test_a_form_that_ends_too_soon_is_refused_and_stores_nothing(
    database_url: str, cut: str
) -> None:
    body = form(DOCUMENT, closed=False) if cut == "form" else form(b"")[:60]
    with live_server(database_url) as live, connected(live) as line:
        line.sendall(headers(live, f"Content-Length: {len(body)}", "Connection: close") + body)
        said = b""
        while part := line.recv(4096):
            said += part
        assert said.startswith(b"HTTP/1.1 4"), said[:200]
        assert b"application/problem+json" in said
        assert sources(live) == []
