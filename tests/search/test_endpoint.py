"""The endpoint embedder asks well, tries again wisely, and believes only what holds together."""

import json
import logging
import socket
from collections.abc import AsyncIterator, Iterator

import anyio
import numpy as np
import pytest
from pydantic import SecretStr

from memoranda.search.calibration import DEFAULT, Calibration
from memoranda.search.embedders.endpoint import Endpoint
from memoranda.search.embedders.port import Embedder
from memoranda.words.errors import Invalid, Unavailable
from tests.search.embeddings_server import DIMENSIONS, Script, data, serving, vector

KEY = "sk-very-secret-1234"


@pytest.fixture(scope="module")
def running() -> Iterator[Script]:
    with serving() as script:
        yield script


@pytest.fixture
def server(running: Script) -> Script:
    for kept in (running.asked, running.paths, running.keys, running.answers):
        kept.clear()
    return running


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
async def endpoint(server: Script, pauses: list[float]) -> AsyncIterator[Endpoint]:
    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    async with Endpoint(server.url, "m", key=SecretStr(KEY), batch=3, pause=pause) as opened:
        yield opened


async def test_it_is_an_embedder(endpoint: Endpoint) -> None:
    embedder: Embedder = endpoint
    assert embedder.model == "m"
    assert embedder.calibration == DEFAULT


async def test_each_text_gets_its_own_row_of_length_one_in_order(endpoint, server) -> None:
    texts = [f"text {number}" for number in range(8)]
    rows = await endpoint.embed(texts)
    assert rows.shape == (8, DIMENSIONS)
    assert rows.dtype == np.float32
    wanted = np.array([vector(text) for text in texts])
    assert rows == pytest.approx(wanted / np.linalg.norm(wanted, axis=1, keepdims=True), abs=1e-6)


async def test_texts_are_sent_in_batches_with_the_model_and_the_key(endpoint, server) -> None:
    await endpoint.embed([str(number) for number in range(8)])
    assert [len(body["input"]) for body in server.asked] == [3, 3, 2]
    assert {body["model"] for body in server.asked} == {"m"}
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert set(server.paths) == {"/v1/embeddings"}


async def test_without_a_key_none_is_sent(server) -> None:
    async with Endpoint(server.url, "m") as endpoint:
        await endpoint.embed(["a"])
    assert server.keys == [None]


@pytest.mark.parametrize("ending", ["", "/", "/embeddings", "/embeddings/"])
async def test_the_url_may_end_before_or_after_embeddings(server, ending) -> None:
    async with Endpoint(server.url + ending + "?version=2", "m") as endpoint:
        await endpoint.embed(["a"])
    assert server.paths == ["/v1/embeddings?version=2"]


async def test_a_blank_text_is_near_nothing_and_is_not_sent(endpoint, server) -> None:
    rows = await endpoint.embed(["", "word", " \n"])
    assert server.texts == ["word"]
    assert np.linalg.norm(rows, axis=1) == pytest.approx([0, 1, 0])
    assert (await endpoint.embed([])).shape == (0, DIMENSIONS)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
async def test_what_passes_is_tried_again_after_longer_and_longer_pauses(
    endpoint, server, pauses, status
) -> None:
    server.answers += [(status, {}, b"")] * 3
    assert (await endpoint.embed(["a"])).shape == (1, DIMENSIONS)
    assert len(server.asked) == 4
    assert 0.25 <= pauses[0] <= 0.5 <= pauses[1] <= 1.0 <= pauses[2] <= 2.0


async def test_the_pause_that_the_endpoint_asks_for_is_kept_within_reason(
    endpoint, server, pauses
) -> None:
    asked = [{"retry-after": each} for each in ("3", "9999", "Wed, 21 Oct 2026 07:28:00 GMT")]
    server.answers += [(429, headers, b"") for headers in asked]
    await endpoint.embed(["a"])
    assert pauses[:2] == [3.0, 20.0]
    assert pauses[2] <= 2.0


async def test_after_the_last_attempt_it_is_unavailable(endpoint, server, pauses) -> None:
    server.answers += [(503, {}, b"")] * 9
    with pytest.raises(Unavailable, match="503"):
        await endpoint.embed(["a"])
    assert len(server.asked) == 4
    assert len(pauses) == 3


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 422])
async def test_what_does_not_pass_is_not_tried_again(endpoint, server, pauses, status) -> None:
    headers = {"location": "http://127.0.0.1:1/"} if status == 301 else {}
    server.answers.append((status, headers, b"no"))
    with pytest.raises(Unavailable, match=str(status)):
        await endpoint.embed(["a"])
    assert len(server.asked) == 1
    assert not pauses


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"null",
        b"{}",
        b'{"data": null}',
        b'{"data": [1, 2]}',
        b'{"data": [{"index": [], "embedding": [1]}, {"embedding": [1]}]}',
        data([[1.0, 0.0]]),
        data([[1.0, 0.0]] * 3),
        data([[1.0, 0.0], [1.0]]),
        data([[], []]),
        data([[[1.0]], [[1.0]]]),
        data([["1"], ["x"]]),
        data([[True], [False]]),
        data([None, None]),
        data(["AACAPw==", "AACAPw=="]),
        data([[float("nan")], [1.0]]),
        data([["1"], ["2"]]),
        data([[10**400], [1]]),
        json.dumps({"data": [{"index": 0, "embedding": [1.0]}] * 2}).encode(),
        b'{"data":' + b"[" * 100_000,
    ],
    ids=lambda body: body[:40].decode(),
)
async def test_a_reply_that_does_not_hold_together_is_refused(endpoint, server, body) -> None:
    server.answers.append((200, {}, body))
    with pytest.raises(Unavailable, match="reply can't be used"):
        await endpoint.embed(["a", "b"])


async def test_vectors_without_an_index_come_in_the_order_of_the_texts(endpoint, server) -> None:
    server.answers.append((200, {}, b'{"data": [{"embedding": [0, 2]}, {"embedding": [3, 0]}]}'))
    assert (await endpoint.embed(["a", "b"])).tolist() == [[0, 1], [1, 0]]


async def test_huge_numbers_and_zeros_still_give_rows_of_length_one_or_zero(
    endpoint, server
) -> None:
    server.answers.append((200, {}, data([[3e307, 1e308], [1e-300, 0.0], [0, 0]])))
    rows = await endpoint.embed(["a", "b", "c"])
    assert np.linalg.norm(rows, axis=1) == pytest.approx([1, 1, 0])


async def test_a_change_of_size_is_refused(endpoint, server) -> None:
    assert endpoint.dimensions == 0
    await endpoint.embed(["a"])
    assert endpoint.dimensions == DIMENSIONS
    server.answers.append((200, {}, data([[1.0, 0.0]])))
    with pytest.raises(Unavailable, match="2 numbers and not 8"):
        await endpoint.embed(["a"])


async def test_a_size_that_is_set_is_held_from_the_first_reply(server) -> None:
    async with Endpoint(server.url, "m", dimensions=3) as endpoint:
        with pytest.raises(Unavailable, match="8 numbers and not 3"):
            await endpoint.embed(["a"])


async def test_a_port_where_nobody_listens_is_unavailable(pauses) -> None:
    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    async with Endpoint("http://127.0.0.1:9/v1", "m", pause=pause, attempts=2) as endpoint:
        with pytest.raises(Unavailable, match="could not be reached"):
            await endpoint.embed(["a"])
    assert len(pauses) == 1


async def test_an_endpoint_that_stays_silent_is_given_up_on() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        async with Endpoint(url, "m", timeout_s=0.05, attempts=1) as endpoint:
            with anyio.fail_after(5), pytest.raises(Unavailable, match="in time"):
                await endpoint.embed(["a"])


@pytest.mark.parametrize("status", [400, 401, 429, 500])
async def test_the_key_is_in_no_error_and_no_log(endpoint, server, caplog, status) -> None:
    caplog.set_level(logging.DEBUG)
    server.answers += [(status, {}, f"wrong key {KEY}".encode())] * 4
    with pytest.raises(Unavailable) as raised:
        await endpoint.embed(["a"])
    told = [str(raised.value), str(raised.value.details), repr(vars(endpoint)), caplog.text]
    assert server.asked
    assert not [text for text in told if KEY in text]


@pytest.mark.parametrize(
    ("url", "model", "key"),
    [
        ("", "m", None),
        ("localhost:80/v1", "m", None),
        ("ftp://127.0.0.1/v1", "m", None),
        ("http://", "m", None),
        ("http://127.0.0.1:port/v1", "m", None),
        (f"http://user:{KEY}@127.0.0.1/v1", "m", None),
        ("http://127.0.0.1/v1", " ", None),
        ("http://127.0.0.1/v1", "m", f"{KEY}\nx: y"),
        ("http://127.0.0.1/v1", "m", f"{KEY}é"),
    ],
)
def test_what_can_not_be_used_is_refused_at_once(url, model, key) -> None:
    with pytest.raises(Invalid) as raised:
        Endpoint(url, model, key=SecretStr(key) if key else None)
    assert KEY not in str(raised.value)


def test_a_curve_of_ones_own_goes_before_the_table() -> None:
    own = Calibration(slope=20, middle=0.8)
    assert Endpoint("http://127.0.0.1/v1", "m", calibration=own).calibration is own
