"""A run is streamed as it happens, and whoever loses the connection ends with what it would have had without."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI

from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.app import Memoranda
from memoranda.conversations.chats.live import store
from memoranda.conversations.chats.live.models import TextDelta
from memoranda.conversations.chats.models import Chat, ChatRun
from memoranda.settings import Settings
from memoranda.surfaces.http.app import create_app
from tests.surfaces.http.losing import Follower, Heard, Loss, listen, messages

CHATS, RUNS = 10, 50
"""Chats that go on beside each other, and runs of each: on both databases 1,000 runs in all."""
EVERYWHERE = {
    *(
        "before a message",
        "behind nothing",
        "behind snapshot",
        "behind status",
        "behind text.delta",
    ),
    *("amid snapshot", "amid status", "amid text.delta", "amid message", "amid a number"),
    "amid end",
}
"""Where in a stream connections are lost, each a few times at least."""
FEW, MANY_POINTS = 3, 200
SHORTEST = 40
"""No message of a stream has so few bytes."""


@dataclass(frozen=True)
class House:
    """An opened product, its application, and a chat of the owner's."""

    product: Memoranda
    app: FastAPI
    key: str
    chat: Chat

    @property
    def who(self) -> Principal:
        return self.product.owner

    async def running(self, text: str = "When?", lost: Sequence[bool] = (False, False)) -> ChatRun:
        """A run that was picked up. Where the answer to the message or to that is `lost`, it is asked for again."""
        chats, said = self.product.chats, str(uuid4())
        sent = [
            await chats.send(self.who, self.chat.id, text, client_message_id=said)
            for _ in range(1 + lost[0])
        ]
        runs = [
            await chats.pick_up(self.who, sent[-1].run.id, picked_up_by="host")
            for _ in range(1 + lost[1])
        ]
        return runs[-1]

    async def tell(self, run: ChatRun, *texts: str) -> None:
        events = [TextDelta(text=text) for text in texts]
        await self.product.chats.live.emit(self.who, run.id, events)


@pytest.fixture
async def house(database_url: str) -> AsyncIterator[House]:
    settings = Settings(embedder="none")
    async with Memoranda.open(database_url, settings=settings, migrate=False) as product:
        key = (await product.access.create_key(product.owner, Role.OWNER)).key
        user = await product.access.create_user(product.owner, "Anna")
        chat = await product.chats.create(product.owner, user_id=user.id)
        yield House(product, create_app(product), key, chat)


def path(run_id: UUID, query: str = "") -> str:
    return f"/v1/chat-runs/{run_id}/stream{query}"


def listening(
    house: House, run: ChatRun, begun: asyncio.Event, last: int | None = None
) -> Coroutine[Any, Any, Heard]:
    return listen(house.app, path(run.id), house.key, last=last, begun=begun)


async def ended(hearing: asyncio.Future[Heard]) -> Heard:
    """What was heard of a stream that ends by itself; one that goes on is cancelled without a word."""
    await asyncio.wait({hearing}, timeout=10)
    assert hearing.done()
    return hearing.result()


async def test_an_agent_without_a_name_is_prepared_with_or_without_a_body(house: House) -> None:
    run = await house.running()
    network = httpx.ASGITransport(house.app)
    key = {"Authorization": f"Bearer {house.key}"}
    async with httpx.AsyncClient(transport=network, base_url="http://x", headers=key) as client:
        where = f"/v1/chat-runs/{run.id}/prepare"
        bare = await client.post(where)
        assert (bare.status_code, bare.json()["asked"][0]["content"]) == (200, "When?")
        again = await client.post(where, json={})
        assert (again.status_code, again.json()["asked"]) == (200, bare.json()["asked"])
        assert (await client.post(where, json={"agent": None})).status_code == 422


async def test_a_stream_begins_with_a_snapshot_goes_on_with_events_and_ends_with_the_run(
    house: House,
) -> None:
    run = await house.running()
    await house.tell(run, "At ")
    begun = asyncio.Event()
    hearing = asyncio.ensure_future(listening(house, run, begun))
    await begun.wait()
    await house.tell(run, "noon.")
    done = await house.product.chats.answer(house.who, run.id, "At noon.")
    first, *told = list(messages((await hearing).body))
    assert (first.event, first.data["status"]) == ("snapshot", "running")
    assert first.id == first.data["sequence"]
    assert [each.event for each in told][-3:] == ["message", "status", "end"]
    numbers = [each.id for each in told[:-1]]
    assert numbers == list(range(first.id + 1, done.run.last_event + 1))
    assert told[-1].id is None
    assert told[-1].data == {"sequence": done.run.last_event, "status": "completed"}


async def test_the_id_of_who_comes_back_goes_before_where_it_once_began(house: House) -> None:
    run = await house.running()
    await house.tell(run, "one", "two", "three")
    await house.product.chats.fail(house.who, run.id, "It broke.")

    async def heard(query: str, last: int | None) -> list[int | None]:
        body = (await listen(house.app, path(run.id, query), house.key, last=last)).body
        return [each.id for each in messages(body)]

    assert await heard("?after=1", 4) == [5, 6, None]
    assert await heard("?after=4", None) == [5, 6, None]
    assert await heard("?after=6", None) == [None]
    assert await heard("", None) == [6, None]


async def test_nobody_else_follows_and_no_stream_is_begun_for_them(house: House) -> None:
    run = await house.running()
    access, owner = house.product.access, house.product.owner
    other = (await access.create_organization(LOCAL_OPERATOR, "Other")).key.key
    ben = await access.create_user(owner, "Ben")
    bens = (await access.create_key(owner, Role.MEMBER, user_id=ben.id)).key
    for key, status in ((other, 404), (bens, 404), ("mk_wrong", 401)):
        assert (await listen(house.app, path(run.id), key)).status == status


async def test_once_a_chat_is_gone_its_streams_end_without_an_end(house: House) -> None:
    run = await house.running()
    begun = asyncio.Event()
    hearing = asyncio.ensure_future(listening(house, run, begun, last=0))
    await begun.wait()
    await house.product.chats.delete(house.who, house.chat.id)
    heard = await ended(hearing)
    assert "end" not in [each.event for each in messages(heard.body)]
    assert (await listen(house.app, path(run.id), house.key, last=2)).status == 404


async def test_a_server_that_stops_ends_its_streams_and_says_of_no_run_that_it_ended(
    house: House,
) -> None:
    run = await house.running()
    begun = asyncio.Event()
    hearing = asyncio.ensure_future(listening(house, run, begun, last=0))
    await begun.wait()
    await house.product.events.close()
    heard = await ended(hearing)
    assert [each.event for each in messages(heard.body)] == ["status", "status"]


async def test_a_client_that_loses_its_connection_through_very_many_runs_ends_with_the_same_thread(
    house: House,
) -> None:
    chance = random.Random(20260301)
    user = house.chat.user_id
    lanes = [
        replace(house, chat=await house.product.chats.create(house.who, user_id=user))
        for _ in range(CHATS)
    ]
    losing = await asyncio.gather(
        *(goes_on(each, random.Random(chance.random())) for each in lanes)
    )
    assert sum(each.connections for each in losing) > CHATS * RUNS * 3 // 2
    assert sum(each.snapshots for each in losing) > CHATS * RUNS // 20
    assert all(len(each.lost) == RUNS for each in losing)
    losses = sum((each.losses for each in losing), Counter())
    assert {where for where, count in losses.items() if count >= FEW} >= EVERYWHERE
    assert len(set().union(*(each.points for each in losing))) > MANY_POINTS


async def goes_on(house: House, chance: random.Random) -> Follower:
    """One run of a chat after another, followed by a client that loses its connection and by one that never does."""
    steady, losing = Follower(house.app, house.key), Follower(house.app, house.key)
    for number in range(RUNS):
        lost = [chance.random() < 0.3 for _ in range(2)]
        run = await house.running(f"When is {number}?", lost)
        for each in (steady, losing):
            each.begin()
        await asyncio.gather(
            steady.connect(run.id, last=0),
            loses(losing, run.id, chance),
            answers(house, run, number, chance),
        )
        if not losing.ended and chance.random() < 0.1:
            await forget_events(house)
        while not losing.ended:
            await losing.connect(run.id, last=losing.state.sequence)
        assert losing.state == steady.state
    assert losing.thread == steady.thread == await shown(house)
    assert len(losing.thread) > RUNS // 2
    return losing


async def answers(house: House, run: ChatRun, number: int, chance: random.Random) -> None:
    """Tell of a run in some pieces, and end it in one of the ways in which runs end."""
    live, chats = house.product.chats.live, house.product.chats
    for piece in range(chance.randint(0, 2)):
        await house.tell(
            run, *(f"{number}.{piece}.{each} " for each in range(chance.randint(1, 5)))
        )
    ends = chance.random()
    if ends < 0.1:
        await chats.fail(house.who, run.id, "It broke.")
        return
    if ends < 0.2:
        await live.stop(house.who, run.id)
    await chats.answer(house.who, run.id, f"answer {number}", stopped=ends < 0.2)


async def loses(client: Follower, run_id: UUID, chance: random.Random) -> None:
    """Connect some times while the run goes on, and lose the connection anywhere: the first one before its end."""
    for number in range(chance.randint(1, 4)):
        known = client.state.sequence
        # It may remember less than it has seen, and nothing at all.
        last = chance.choice([known, known, known, chance.randint(0, known), None])
        loss = Loss(chance.randint(0, 5), chance.choice([0, chance.randint(0, 600)]))
        if number == 0:
            loss = Loss(chance.randint(0, 2), chance.choice([0, chance.randint(0, SHORTEST)]))
        await client.connect(run_id, last=last, loss=loss)
        if client.ended:
            return


async def forget_events(house: House) -> None:
    """Let the time go by after which the events of runs that ended can't be asked for."""
    home: Any = house.who.organization_id
    storage = house.product.storage
    now = await storage.read(home, lambda tx: tx.now)
    await storage.write(home, store.prune, now + timedelta(seconds=1), 10_000)


async def shown(house: House) -> list[dict[str, Any]]:
    """The answers of the thread, as whoever loads all of it anew is given them."""
    answers: list[dict[str, Any]] = []
    before = ""
    transport = httpx.ASGITransport(house.app)
    headers = {"Authorization": f"Bearer {house.key}"}
    async with httpx.AsyncClient(
        transport=transport, base_url="http://m.test", headers=headers
    ) as client:
        while True:
            response = await client.get(f"/v1/chats/{house.chat.id}/thread{before}")
            thread = response.json()
            found = [each for each in thread["messages"] if each["role"] == "assistant"]
            for each in found:
                del each["version"], each["versions"]
            answers = [*found, *answers]
            if not thread["earlier"]:
                return answers
            before = f"?before={thread['messages'][0]['id']}"
