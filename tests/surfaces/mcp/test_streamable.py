"""MCP at /mcp of a served product: whose key it is, what is refused before it is read, what is called off."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from memoranda.app import Memoranda
from memoranda.settings import Settings
from memoranda.surfaces.http.app import create_app
from memoranda.surfaces.mcp.streamable import make_endpoint
from tests.surfaces.http.live import Live
from tests.surfaces.mcp.clients import done, over_http, refused
from tests.surfaces.mcp.served import live_mcp
from tests.surfaces.mcp.tenants import Two

HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": "2025-11-25",
}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def post(live: Live, key: str | None, body: object = PING, **headers: str) -> httpx.Response:
    sent = HEADERS | headers | ({} if key is None else {"Authorization": f"Bearer {key}"})
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx.post(f"{live.url}/mcp", content=content, headers=sent, timeout=30)


@pytest.mark.parametrize("key", [None, "mk_x", "Bearer"])
def test_without_a_key_that_opens_something_there_is_no_answer_but_how_to_get_one(
    live: Live, key: str | None
) -> None:
    for method in ("POST", "GET", "DELETE"):
        headers = HEADERS | ({} if key is None else {"Authorization": f"Bearer {key}"})
        answer = httpx.request(method, f"{live.url}/mcp", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["code"] == "unauthenticated"


def test_a_key_that_was_revoked_opens_nothing_from_then_on(live: Live, two: Two) -> None:
    owner = two.acme.keys["owner"]
    made = httpx.post(
        f"{live.url}/v1/keys",
        json={"role": "owner"},
        headers={"Authorization": f"Bearer {owner}"},
    ).json()
    assert post(live, made["key"]).status_code == 200
    httpx.post(
        f"{live.url}/v1/keys/{made['id']}/revoke", headers={"Authorization": f"Bearer {owner}"}
    )
    assert post(live, made["key"]).status_code == 401


def test_there_is_no_session_to_open_or_to_listen_to(live: Live, two: Two) -> None:
    key = two.acme.keys["owner"]
    for method in ("GET", "DELETE", "PUT"):
        answer = httpx.request(
            method, f"{live.url}/mcp", headers=HEADERS | {"Authorization": f"Bearer {key}"}
        )
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}}
    body = PING | {
        "method": "initialize",
        "params": hello | {"clientInfo": {"name": "x", "version": "1"}},
    }
    assert "mcp-session-id" not in post(live, key, body).headers
    made_up = post(live, key, **{"Mcp-Session-Id": "somebody else's"})
    assert made_up.status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:80"},
        {"Origin": "http://evil.example"},
        {"Origin": "https://127.0.0.1.evil.example"},
        {"Origin": "null"},
    ],
)
def test_no_page_of_elsewhere_gets_in_under_another_name(
    live: Live, two: Two, headers: dict[str, str]
) -> None:
    assert post(live, two.acme.keys["owner"], **headers).status_code in {403, 421}


def test_a_server_for_other_machines_takes_pages_of_its_own_host_alone(two: Two) -> None:
    async def asked(**headers: str) -> int:
        settings = Settings(host="0.0.0.0", secret="x" * 32)  # noqa: S104 - nothing listens
        async with Memoranda.open(two.url, settings=settings, migrate=False) as product:
            endpoint = make_endpoint(product)
            app = create_app(product, beside=[endpoint])
            async with (
                endpoint.running(),
                httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client,
            ):
                sent = HEADERS | {"Authorization": f"Bearer {two.acme.keys['owner']}"} | headers
                return (
                    await client.post("http://memo.example/mcp", json=PING, headers=sent)
                ).status_code

    assert asyncio.run(asked()) == 200
    assert asyncio.run(asked(Origin="https://memo.example")) == 200
    assert asyncio.run(asked(Origin="https://evil.example")) == 403
    assert asyncio.run(asked(Origin="https://evil.example", Host="localhost.evil.example")) == 403


def test_a_body_that_is_too_large_or_no_message_is_refused(live: Live, two: Two) -> None:
    key = two.acme.keys["owner"]
    assert post(live, key, b"x" * (2 * 1024 * 1024 + 1)).json()["code"] == "over_limit"
    for body in (b"", b"{", b"\xff", b"[]", b"7", b'{"id":1}', b"[" * 100_000):
        answer = post(live, key, body)
        assert answer.status_code == 400, body
        assert answer.json()["error"]["code"] in {-32700, -32600, -32602}
    assert post(live, key, PING, **{"Content-Type": "text/plain"}).status_code in {400, 415}
    for version in ("1999-01-01", "x", "2025-11-25; drop"):
        assert post(live, key, PING, **{"MCP-Protocol-Version": version}).status_code == 400
    assert post(live, key).json()["result"] == {}


async def test_two_organizations_and_two_people_see_their_own_over_sessions_at_once(
    live: Live, two: Two
) -> None:
    people = {
        ("acme", "owner"): {"everyone", "annas", "bens", "123", "scouts"},
        ("acme", "anna"): {"everyone", "annas", "scouts"},
        ("acme", "ben"): {"everyone", "bens", "123", "scouts"},
        ("acme", "scout"): {"everyone", "scouts"},
        ("zeta", "owner"): {"zetas", "zetanna"},
        ("zeta", "anna"): {"zetas", "zetanna"},
    }

    async def look(tenant: str, name: str, mode: str) -> None:
        key = getattr(two, tenant).keys[name]
        mine = people[tenant, name]
        async with over_http(live.url, key, mode=mode) as client:
            for _ in range(3):
                listed = await done(client, "list")
                found = await done(client, "recall", query="The word is")
                resources = (await client.list_resources()).resources
                assert _words(memory["content"] for memory in listed["memories"]) == mine
                assert _words(memory["content"] for memory in found["memories"]) <= mine
                titles = [
                    resource.title for resource in resources if "/memories/" in str(resource.uri)
                ]
                assert _words(titles) == mine
                for word, identity in two.memories.items():
                    if word not in mine:
                        refusal = await refused(client, "get", memory_id=identity)
                        assert refusal["code"] == "not_found"

    await asyncio.gather(*(look(*who, mode) for who in people for mode in ("legacy", "2026-07-28")))


def _words(texts: Any) -> set[str]:
    return {text.removeprefix("The word is ").removesuffix(".") for text in texts}


async def test_more_than_the_minute_allows_is_refused_as_over_the_routes(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_WRITES_PER_MINUTE", "2")
    monkeypatch.setenv("MEMORANDA_LISTS_PER_MINUTE", "4")
    with live_mcp(two.url) as live:
        async with over_http(live.url, two.acme.keys["anna"]) as client:
            results = [
                await client.call_tool("remember", {"content": f"Fact {number}."})
                for number in range(5)
            ]
            codes = {each.structured_content.get("code") for each in results if each.is_error}
            assert codes == {"too_many_requests"}
            assert "retry_after_s" in results[-1].structured_content["details"]
            headers = {"Authorization": f"Bearer {two.acme.keys['anna']}"}
            async with httpx.AsyncClient(base_url=live.url, headers=headers) as plain:
                route = await plain.post("/v1/memories", json={"text": "Fact."})
            assert route.status_code == 429
            lists = [await client.call_tool("list", {}) for _ in range(9)]
            assert lists[-1].structured_content["code"] == "too_many_requests"
            async with over_http(live.url, two.acme.keys["ben"]) as other:
                await done(other, "list")


async def test_a_client_that_leaves_calls_off_what_it_asked(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memoranda.tools.invoker import ToolInvoker  # noqa: PLC0415 - what is watched here

    begun, ended = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def call(*_: Any, **__: Any) -> None:
        loop.call_soon_threadsafe(begun.set)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            loop.call_soon_threadsafe(ended.set)
            raise

    monkeypatch.setattr(ToolInvoker, "call", call)
    key = two.acme.keys["anna"]
    with live_mcp(two.url) as live:
        for version in ("2025-11-25", "2026-07-28"):
            begun.clear()
            ended.clear()
            leaving = asyncio.create_task(_calling(live, key, version))
            await asyncio.wait_for(begun.wait(), 20)
            leaving.cancel()
            await asyncio.wait_for(ended.wait(), 20)


async def _calling(live: Live, key: str, version: str) -> None:
    async with over_http(live.url, key, mode="legacy" if version < "2026" else version) as client:
        await client.call_tool("list", {})
