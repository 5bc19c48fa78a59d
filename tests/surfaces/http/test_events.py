"""The stream of events over a real socket: told as it happens, resumed without a gap, ended in peace."""

import asyncio
import json
import random
import time
from urllib.parse import urlsplit

import pytest

from memoranda.access.models import LOCAL_OPERATOR, Role
from memoranda.app import Memoranda
from memoranda.runs.events import store
from tests.surfaces.http.house import House
from tests.surfaces.http.streams import PATIENCE_S, Message, served, streaming


async def test_a_change_is_told_as_it_happens_with_its_ids_and_no_text(database_url: str) -> None:
    async with served(database_url) as at, at.client() as client, streaming(client) as stream:
        assert stream.response.status_code == 200
        assert stream.response.headers["content-type"].startswith("text/event-stream")
        assert stream.response.headers["cache-control"] == "no-store"
        assert await stream.next() == Message(0, "", "")
        await at.change(version=3)
        told = await stream.next()
    assert told is not None
    assert (told.id, told.event) == (1, "memory.updated")
    data = json.loads(told.data)
    assert (data["number"], data["type"]) == (1, "memory.updated")
    assert data["metadata"] == {"action": "created", "version": 3}
    assert set(data) == {"number", "type", "user_id", "agent_id", "metadata", "created_at"}


async def test_what_is_done_to_a_memory_is_told_once_it_is_done(database_url: str) -> None:
    async with served(database_url) as at, at.client() as client, streaming(client) as stream:
        await stream.next()
        made = (await client.post("/v1/memories", json={"text": "Tea is at five."})).json()
        again = await client.post("/v1/memories", json={"text": "Tea is at five."})
        assert again.status_code == 409
        await client.post(f"/v1/memories/{made['id']}/forget")
        told = [await stream.next() for _ in range(2)]
    assert [each and each.event for each in told] == ["memory.updated"] * 2
    said = [json.loads(each.data)["metadata"] for each in told if each]
    assert [each["action"] for each in said] == ["created", "forgotten"]
    assert {each["memory_id"] for each in said} == {made["id"]}
    assert "Tea" not in str(told)


async def test_a_client_that_loses_its_connection_again_and_again_misses_and_repeats_nothing(
    database_url: str,
) -> None:
    chance = random.Random(7)
    seen: list[int] = []
    async with served(database_url) as at, at.client() as client:
        writing = asyncio.gather(*(at.change(15) for _ in range(4)))
        while len(seen) < 60:
            last = seen[-1] if seen else 0
            async with streaming(client, last=last) as stream:
                seen += await stream.events(min(chance.randint(0, 9), 60 - len(seen)))
        await writing
    assert seen == list(range(1, 61))


async def test_the_id_of_who_comes_back_goes_before_where_it_once_began(database_url: str) -> None:
    async with served(database_url) as at, at.client() as client:
        await at.change(5)
        async with streaming(client, "/v1/events?after=1", last=4) as stream:
            assert await stream.events(1) == [5]
        async with streaming(client, "/v1/events?after=1") as stream:
            assert await stream.events(4) == [2, 3, 4, 5]


async def test_a_client_that_was_away_too_long_is_told_to_load_anew_and_goes_on(
    database_url: str,
) -> None:
    async with served(database_url) as at, at.client() as client:
        await at.change(5)
        home = at.memoranda.owner.organization_id
        await at.memoranda.storage.write(home, lambda tx: tx.run(store.FORGET, upto=3))
        async with streaming(client, last=1) as stream:
            reset = await stream.next()
            assert reset is not None
            assert (reset.id, reset.event) == (5, "reset")
            assert "Load what you show anew" in json.loads(reset.data)["detail"]
            await at.change()
            assert await stream.events(1) == [6]


async def test_what_is_there_can_be_asked_for_without_going_on(house: House) -> None:
    home = (await house.memoranda.access.authenticate(str(house.owner.key))).organization_id
    for _ in range(3):
        await house.memoranda.storage.write(home, store.record_event, "memory.updated", version=1)
    last = (await house.memoranda.storage.read(home, store.last)) - 1
    told = await house.owner.get(f"/v1/events?follow=false&after={last}")
    lines = told.text.splitlines()
    assert lines[0] == f"id: {last + 1}"
    assert lines[1] == "event: memory.updated"
    assert told.text.endswith(f"id: {last + 1}\n\n")
    present = await house.owner.get("/v1/events?follow=false")
    assert present.text == f"id: {last + 1}\n\n"


async def test_each_key_hears_what_it_may_know_alone(database_url: str) -> None:
    async with served(database_url) as at:
        access, owner = at.memoranda.access, at.memoranda.owner
        anna, ben = [await access.create_user(owner, name) for name in ("Anna", "Ben")]
        scout = await access.create_agent(owner, "scout")
        other = await access.create_organization(LOCAL_OPERATOR, "Other")
        keys = {
            "owner": at.key,
            "ben": (await access.create_key(owner, Role.MEMBER, user_id=ben.id)).key,
            "scout": (await access.create_key(owner, Role.AGENT, agent_id=scout.id)).key,
            "other": other.key.key,
        }
        await at.change(user_id=anna.id)
        await at.change(space="flow:node")
        await at.change(agent_id=scout.id)
        await at.change(user_id=ben.id)
        await at.change()
        heard = {}
        for name, key in keys.items():
            async with at.client(key) as client:
                told = await client.get("/v1/events?after=0&follow=false")
                heard[name] = [
                    int(message.partition("\n")[0].removeprefix("id: "))
                    for message in told.text.split("\n\n")
                    if "data: " in message
                ]
                assert (str(anna.id) in told.text) is (name == "owner")
    assert heard == {"owner": [1, 3, 4, 5], "ben": [3, 4, 5], "scout": [3, 5], "other": []}


async def test_a_quiet_stream_says_that_it_lives_and_how_far_it_is(database_url: str) -> None:
    async with served(database_url, pause_s=0.1) as at:
        access, owner = at.memoranda.access, at.memoranda.owner
        anna, ben = [await access.create_user(owner, name) for name in ("Anna", "Ben")]
        key = (await access.create_key(owner, Role.MEMBER, user_id=ben.id)).key
        async with at.client(key) as client, streaming(client) as stream:
            assert await stream.next() == Message(0, "", "")
            await at.change(user_id=anna.id)
            assert await stream.next() == Message(1, "", "")
            assert set(stream.comments) == {"still here"}


async def test_a_key_that_is_revoked_hears_no_more(database_url: str) -> None:
    async with served(database_url, pause_s=0.1) as at:
        key = await at.memoranda.access.create_key(at.memoranda.owner, Role.READ_ONLY)
        async with at.client(key.key) as client, streaming(client) as stream:
            await stream.next()
            await at.memoranda.access.revoke_key(at.memoranda.owner, key.id)
            assert await stream.next() is None
            assert (await client.get("/v1/events")).status_code == 401


async def test_a_client_that_leaves_frees_all_that_was_held_for_it(database_url: str) -> None:
    async with served(database_url) as at:
        async with at.client() as client:
            await client.get("/healthz")
        before = len(asyncio.all_tasks())
        for _ in range(3):
            async with at.client() as client, streaming(client) as stream:
                await stream.next()
                await at.change()
                await stream.events(1)
                assert len(at.feeds) == 1
            async with asyncio.timeout(PATIENCE_S):
                while at.feeds or len(asyncio.all_tasks()) > before:  # noqa: ASYNC110 - the server's tasks end by themselves
                    await asyncio.sleep(0.01)


async def test_a_client_that_does_not_read_holds_up_no_write_and_no_other_client(
    database_url: str,
) -> None:
    async with served(database_url) as at, at.client() as client:
        where = urlsplit(at.url)
        reader, writer = await asyncio.open_connection(where.hostname, where.port, limit=1)
        writer.write(
            f"GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {at.key}\r\n\r\n".encode()
        )
        await writer.drain()
        await reader.read(1)
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # only asyncio's own has it
        begun = time.monotonic()
        async with streaming(client) as stream:
            await stream.next()
            await at.change(300, filler="x" * 10_000)
            assert len(await stream.events(300)) == 300
        assert time.monotonic() - begun < PATIENCE_S
        writer.transport.abort()


async def test_a_server_that_stops_ends_its_streams_at_once(database_url: str) -> None:
    async with served(database_url) as at, at.client() as client, streaming(client) as stream:
        await stream.next()
        begun = time.monotonic()
        at.server.should_exit = True
        assert await stream.next() is None
        assert time.monotonic() - begun < 2


async def test_a_listener_that_breaks_fails_no_write_and_the_log_quotes_nothing(
    database_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: object) -> None:
        raise RuntimeError("swordfish")

    async with served(database_url) as at, at.client() as client:
        async with streaming(client) as stream:
            await stream.next()
            monkeypatch.setattr("memoranda.surfaces.http.events._written", broken)
            remembered = await client.post("/v1/memories", json={"text": "Tea is at five."})
            assert remembered.status_code == 201
            assert await stream.next() is None
        assert at.feeds == {}
    assert "RuntimeError in follow_events" in caplog.text
    assert "\nRuntimeError: swordfish" not in caplog.text
    assert "Exception in ASGI application" not in caplog.text


@pytest.mark.parametrize("last", ["-1", "x", "1.5", "9" * 30, ""])
async def test_what_is_no_number_is_refused(house: House, last: str) -> None:
    for asked in ({"params": {"after": last}}, {"headers": {"Last-Event-ID": last}}):
        refused = await house.owner.get("/v1/events", **asked)
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")


async def test_the_operator_has_no_events(house: House) -> None:
    assert (await house.operator.get("/v1/events")).status_code == 403


async def test_a_database_that_is_away_is_told_before_a_stream_begins(
    memoranda: Memoranda, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memoranda.storage import StorageUnavailable  # noqa: PLC0415 - beside what it is for

    async def away(*_: object) -> None:
        raise StorageUnavailable("The database is away: try again.")

    authenticate = memoranda.access.authenticate
    who = await authenticate(str(house.owner.key))

    async def known(_: str) -> object:
        return who

    monkeypatch.setattr(type(memoranda.access), "authenticate", lambda _, key: known(key))
    monkeypatch.setattr(type(memoranda.storage), "read", away)
    refused = await house.owner.get("/v1/events")
    assert (refused.status_code, refused.json()["code"]) == (503, "storage_unavailable")


async def test_the_description_says_that_it_is_a_stream(house: House) -> None:
    told = house.contract.operations["GET /v1/events"]
    assert list(told["responses"]["200"]["content"]) == ["text/event-stream"]
    named = {parameter["name"]: parameter["in"] for parameter in told["parameters"]}
    assert named == {"after": "query", "follow": "query", "Last-Event-ID": "header"}
