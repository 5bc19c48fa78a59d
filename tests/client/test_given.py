"""What a caller hands to a client's verb is held against the verb's own types, before anything is sent."""

import io
import tempfile
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast
from uuid import uuid4

import httpx
import pytest

from memoranda.client import AsyncClient, Client, Retries
from memoranda.client.awaited import rooms as awaited
from memoranda.client.blocking import rooms as blocking
from memoranda.client.retrying import PATIENT, Failure
from memoranda.words.errors import Invalid, Unavailable
from memoranda.words.fitting import reading

Make = Callable[..., Any]


def never(request: httpx.Request) -> httpx.Response:
    raise AssertionError(f"{request.method} {request.url} was sent.")


def verbs_of(rooms: Any) -> Iterator[tuple[str, Make]]:
    """What makes the calls of every verb of every room."""
    for room in vars(rooms).values():
        if isinstance(room, type) and issubclass(room, rooms.Room) and room is not rooms.Room:
            for name, verb in vars(room).items():
                if hasattr(verb, "make"):
                    yield f"{room.__name__}.{name}", verb.make


VERBS = [*verbs_of(awaited), *verbs_of(blocking)]


def test_every_parameter_of_every_verb_refuses_what_it_is_not() -> None:
    seen = 0
    for name, make in VERBS:
        for field, hint in typing.get_type_hints(make).items():
            if field == "return" or reading(hint) is None:
                continue
            strange = [object(), *([] if takes(hint, bytes) else [b"Tea."])]
            for value in strange:
                seen += 1
                with pytest.raises(Invalid) as refused:
                    make(**{field: value})
                assert str(refused.value.details["field"]).partition(".")[0] == field, name
    assert seen > 1_000


def takes(hint: Any, kind: type) -> bool:
    return kind is hint or kind in typing.get_args(hint)


@pytest.fixture
def client() -> Client:
    return Client("http://x.test", transport=httpx.MockTransport(never))


def test_bytes_are_never_sent_as_if_they_were_a_text(client: Client) -> None:
    for ask, field in (
        (lambda: client.memories.remember(cast("Any", b"Tea.")), "text"),
        (lambda: client.memories.remember("Tea.", tags=cast("Any", [b"a"])), "tags.0"),
        (lambda: client.tools.call("search", arguments={"a": {"b": [b"c"]}}), "arguments.a.b.0"),
        (lambda: client.runs.create(agent_id=uuid4(), input=[{"a": b"b"}]), "input.0.a"),
        (lambda: client.runs.create(agent_id=uuid4(), input=bytearray(b"b")), "input"),
    ):
        with pytest.raises(Invalid) as refused:
            ask()
        assert refused.value.details["field"] == field


async def test_the_client_that_is_awaited_refuses_the_same() -> None:
    async with AsyncClient("http://x.test", transport=httpx.MockTransport(never)) as client:
        with pytest.raises(Invalid, match="text must be a text and is bytes"):
            await client.memories.remember(cast("Any", b"Tea."))
        with pytest.raises(Invalid, match="limit must be a whole number and is a text"):
            await client.memories.list(limit=cast("Any", "5"))
        with pytest.raises(Invalid, match="cursor must be a text or None"):
            await anext(client.memories.list.each(cursor=cast("Any", 5)))


def test_a_file_is_bytes_a_path_or_open_in_binary(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "tea.md"
    path.write_text("Tea.")
    with path.open() as text, tempfile.NamedTemporaryFile("w") as temporary:
        for given in ("tea.md", io.StringIO("Tea."), text, temporary, 5, None, [b"Tea."]):
            with pytest.raises(Invalid, match="a file that is open in binary"):
                client.knowledge.add(cast("Any", given))
    read = reading(BinaryIO)
    assert read is not None
    with path.open("rb") as binary, tempfile.TemporaryFile() as nameless:
        for good in (binary, nameless, io.BytesIO(b"Tea.")):
            assert read(good) is good


def test_whoever_tries_for_ever_waits_as_long_each_time() -> None:
    retries = Retries(tries=1_000_000, longest_wait_s=5)
    call = blocking.Events.follow.make()
    away = Failure(Unavailable("Away."), sent=False)
    for tried in (60, 2_000, 999_999):
        assert 2.5 <= (retries.wait_s(call, away, tried) or 0) <= 5
    assert retries.wait_s(call, away, 1_000_000) is None
    assert PATIENT.wait_s(call, away, 1) is not None
