"""Over a real connection: what changes is told in order, each once, whatever the network does in between."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from typing import Any, assert_type

import anyio
import httpx
import pytest

from memoranda.access.models import User
from memoranda.client import AsyncClient, Client, Retries, Unreachable
from memoranda.client.call import Call
from memoranda.conversations.chats.live.models import RunEnd, RunEvent, RunEventType, TextDelta
from memoranda.memories.models import Memory, MemoryPage
from memoranda.runs.events.models import Event, Mark
from memoranda.words.errors import NotFound, Unauthenticated
from memoranda.words.page import Page
from tests.surfaces.http.live import live_server
from tests.surfaces.http.streams import PATIENCE_S, served


class Torn(httpx.AsyncByteStream):
    """A body that breaks off after a few parts."""

    def __init__(self, body: Any, parts: int) -> None:
        self._body = body
        self._parts = parts

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._parts
        async for part in self._body:
            left -= 1
            yield part if left else part[: len(part) // 2]
            if not left:
                raise httpx.ReadError("The connection broke.")

    async def aclose(self) -> None:
        await self._body.aclose()


class Tearing(httpx.AsyncBaseTransport):
    """A network on which no stream lives for long."""

    def __init__(self) -> None:
        self._under = httpx.AsyncHTTPTransport()
        self.came_back_with: list[str | None] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self._under.handle_async_request(request)
        if "event-stream" not in response.headers.get("content-type", ""):
            return response
        self.came_back_with.append(request.headers.get("last-event-id"))
        body = Torn(response.stream, 2 + len(self.came_back_with) % 3)
        return httpx.Response(response.status_code, headers=response.headers, stream=body)

    async def aclose(self) -> None:
        await self._under.aclose()


async def soon(_: float) -> None:
    """Wait for nothing between two connections."""


async def test_a_stream_that_breaks_goes_on_after_the_last_that_was_told(database_url: str) -> None:
    async with served(database_url) as house:
        network = Tearing()
        async with AsyncClient(house.url, house.key, transport=network) as client:
            client.events.asking._sleep = soon
            numbers: list[int] = []
            await house.change(5)
            async with aclosing(client.events.follow(after=0)) as following:
                async for each in following:
                    if isinstance(each, Event):
                        numbers.append(each.number)
                        if each.number % 5 == 0 and each.number < 20:
                            await house.change(5)
                    if len(numbers) == 20:
                        break
        assert numbers == list(range(1, 21))
        assert len(network.came_back_with) > 4
        assert network.came_back_with[0] is None
        assert None not in network.came_back_with[1:]


async def test_a_run_is_followed_to_its_end_whatever_breaks(database_url: str) -> None:
    async with served(database_url) as house:
        network = Tearing()
        async with AsyncClient(house.url, house.key, transport=network) as client:
            client.events.asking._sleep = soon
            user = assert_type(await client.users.create("Ada"), User)
            chat = await client.chats.create(user_id=user.id)
            run = (await client.chats.send(chat.id, "Count to five.")).run.id
            await client.chat_runs.pick_up(run)
            await client.chat_runs.prepare(run)
            await client.chat_runs.emit(run, events=[TextDelta(text=str(n)) for n in range(1, 6)])
            await client.chat_runs.answer(run, "12345")
            with anyio.fail_after(PATIENCE_S):
                told = [each async for each in client.chat_runs.follow(run, after=0)]
        events = [each for each in told if isinstance(each, RunEvent)]
        assert [each.sequence for each in events] == list(range(1, len(events) + 1))
        said = [each.data["text"] for each in events if each.type is RunEventType.TEXT]
        assert "".join(said) == "12345"
        assert told[len(events) :] == [RunEnd(sequence=len(events), status="completed")]
        assert len(network.came_back_with) > 2


class Restarting:
    """A server that tells one event and goes away for a number of attempts, and then tells the rest."""

    def __init__(self, away: int) -> None:
        self.away = away
        self.asked: list[str | None] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.headers.get("last-event-id"))
        if len(self.asked) > 1 and self.away:
            self.away -= 1
            raise httpx.ConnectError("refused", request=request)
        told = "id: 7\n\n" if len(self.asked) == 1 else "id: 8\n\nevent: end\ndata: x\n\n"
        kind = {"Content-Type": "text/event-stream; charset=utf-8"}
        return httpx.Response(200, headers=kind, content=f"retry: 100\n\n{told}".encode())


CALL = Call("GET", "/v1/events", str)


async def told_by(server: Restarting, retries: Retries | None, *, awaits: bool) -> list[float]:
    """Follow to the end; how long was waited in between."""
    waits: list[float] = []
    transport = httpx.MockTransport(server)
    if awaits:

        async def sleep(seconds: float) -> None:
            waits.append(seconds)

        async with AsyncClient("http://x.test", retries=retries, transport=transport) as client:
            client.events.asking._sleep = sleep
            ids = [each.id async for each in client.events.asking.messages(CALL)]
    else:
        with Client("http://x.test", retries=retries, transport=transport) as blocked:
            blocked.events.asking._sleep = waits.append
            ids = [each.id for each in blocked.events.asking.messages(CALL)]
    assert ids == ["7", "8", None]
    return waits


@pytest.mark.parametrize("awaits", [False, True])
async def test_a_stream_that_was_open_outlasts_a_server_that_starts_again(awaits: bool) -> None:
    server = Restarting(away=7)
    waits = await told_by(server, None, awaits=awaits)
    assert server.asked == [None, *["7"] * 8]
    assert waits[0] == 0.1
    assert 30 < sum(waits) < 90
    assert waits[-1] > waits[-3] > waits[-5]
    with pytest.raises(Unreachable):
        await told_by(Restarting(away=8), None, awaits=awaits)


@pytest.mark.parametrize("awaits", [False, True])
async def test_who_says_how_often_is_heard_for_streams_too(awaits: bool) -> None:
    assert len(await told_by(Restarting(away=9), Retries(tries=10), awaits=awaits)) == 10
    with pytest.raises(Unreachable):
        await told_by(Restarting(away=1), Retries(tries=1), awaits=awaits)


@pytest.mark.parametrize("awaits", [False, True])
async def test_a_stream_that_never_was_open_is_given_up_as_any_call_is(awaits: bool) -> None:
    server = Restarting(away=99)
    server.asked.append("not the first")
    with pytest.raises(Unreachable):
        await told_by(server, None, awaits=awaits)
    assert len(server.asked) == 1 + Retries().tries


async def test_what_there_is_is_told_and_ends_where_nobody_wants_to_follow(
    database_url: str,
) -> None:
    async with served(database_url) as house:
        await house.change(3)
        async with AsyncClient(house.url, house.key) as client:
            there = [each async for each in client.events.follow(after=1, follow=False)]
            assert [each.number for each in there] == [2, 3, 3]
            assert isinstance(there[-1], Mark)
        async with AsyncClient(house.url, "mk_nobody") as stranger:
            with pytest.raises(Unauthenticated):
                await anext(stranger.events.follow())


@pytest.fixture
def served_url(sqlite_database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    with live_server(sqlite_database) as live:
        yield live


def test_a_script_in_another_process_does_a_days_work_over_a_socket(served_url: Any) -> None:
    with Client(served_url.url, served_url.key) as memoranda:
        assert memoranda.health.alive().status == "ok"
        kept = memoranda.memories.remember("Tea is at four.", attribute="preference.tea")
        memoranda.memories.remember("Tea is at five.", attribute="preference.tea")
        assert [each.text for each in memoranda.memories.history(kept.id).items] == [
            "Tea is at four.",
            "Tea is at five.",
        ]
        assert_type(kept, Memory)
        assert assert_type(memoranda.memories.list(limit=1), MemoryPage).hidden == 0
        assert assert_type(next(memoranda.memories.list.each(limit=1)), Memory).version == 2
        assert assert_type(memoranda.users.list(), Page[User]).next_cursor is None
        source = memoranda.knowledge.add(b"Coffee is at nine.", filename="coffee.txt")
        assert memoranda.knowledge.get(source.id).title == "coffee.txt"
        assert list(memoranda.memories.export())
        brief = memoranda.briefs.build("When is tea?")
        assert "Tea is at five." in brief.text
        with closing(memoranda.events.follow(after=0)) as following:
            told = [each for each, _ in zip(following, range(2), strict=False)]
        assert {each.type for each in told if isinstance(each, Event)} == {"memory.updated"}
        with pytest.raises(NotFound):
            memoranda.runs.get(kept.id)
