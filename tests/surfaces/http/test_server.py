"""The application behind a real socket: where it may listen, and how it meets clients that misbehave."""

import asyncio
import logging
import socket
import time
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from memoranda.app import Memoranda
from memoranda.settings import Settings
from memoranda.surfaces.http.errors import UnsafeBind
from memoranda.surfaces.http.server import check_bind
from memoranda.words.hosts import is_loopback
from memoranda.words.ref import ResourceRef
from tests.contract.host_house import ACME, build, crm
from tests.postgres import Postgres
from tests.surfaces.http.house import House, furnished
from tests.surfaces.http.live import live_server


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_may_be_served_without_a_secret(host: str) -> None:
    assert is_loopback(host)
    check_bind(Settings(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.5", "memoranda.test"])  # noqa: S104 - what is to be refused
def test_other_machines_are_not_served_without_a_secret(host: str) -> None:
    with pytest.raises(UnsafeBind) as caught:
        check_bind(Settings(host=host))
    assert "MEMORANDA_SECRET" in caught.value.message
    check_bind(Settings.load(host=host, secret="s" * 32))


def test_a_server_takes_a_document_in_and_finds_it(sqlite_database: str) -> None:
    with (
        live_server(sqlite_database) as live,
        httpx.Client(base_url=live.url, headers={"Authorization": f"Bearer {live.key}"}) as client,
    ):
        files = {"file": ("plants.md", "# Plants\n\nThe quince bears fruit in October.\n")}
        taken = client.post("/v1/knowledge/sources", files=files).json()
        deadline = time.monotonic() + 20
        while client.get(f"/v1/knowledge/sources/{taken['id']}").json()["status"] == "pending":
            assert time.monotonic() < deadline
            time.sleep(0.05)
        found = client.post("/v1/knowledge/search", json={"query": "quince"}).json()
        assert found["results"][0]["source_id"] == taken["id"]


def test_an_upload_that_is_too_large_is_answered_while_it_is_still_being_sent(
    sqlite_database: str,
) -> None:
    with live_server(sqlite_database) as live:
        where = urlsplit(live.url)
        with socket.create_connection((where.hostname or "", where.port or 0), timeout=20) as wire:
            wire.sendall(
                b"POST /v1/knowledge/sources HTTP/1.1\r\nHost: x\r\n"
                b"Authorization: Bearer " + live.key.encode() + b"\r\n"
                b"Content-Type: multipart/form-data; boundary=x\r\n"
                b"Content-Length: 1000000000\r\n\r\n--x\r\n"
            )
            assert wire.recv(1_000).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "sent",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /v1/memories HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"GET /" + b"x" * 200_000,
    ],
)
def test_what_is_no_request_at_all_does_not_stop_the_server(
    sqlite_database: str, sent: bytes
) -> None:
    with live_server(sqlite_database) as live:
        where = urlsplit(live.url)
        with socket.create_connection((where.hostname or "", where.port or 0), timeout=20) as wire:
            wire.sendall(sent)
            assert wire.recv(1_000)[9:10] in {b"4", b""}
        assert httpx.get(f"{live.url}/healthz").status_code == 200


async def test_a_defect_is_logged_with_its_place_and_told_without_any(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("swordfish")

    house.contract.check = lambda _: None  # the contract forbids what this test is about
    monkeypatch.setattr(type(house.memoranda.memories), "page", broken)
    with caplog.at_level(logging.ERROR):
        response = await house.owner.get("/v1/memories")
    assert (response.status_code, response.json()["code"]) == (500, "internal_error")
    assert "RuntimeError in list_memories" in caplog.text
    assert 'in broken\n    raise RuntimeError("swordfish")' in caplog.text
    assert "swordfish" not in response.text


async def test_a_server_whose_database_is_away_lives_and_is_not_ready(
    postgres: Postgres, migrated_postgres: str
) -> None:
    url = postgres.new_database(template=migrated_postgres)
    async with Memoranda.open(url, migrate=False) as opened, furnished(opened) as house:
        assert (await house.nobody.get("/readyz")).status_code == 200
        postgres.drop_database(url)
        response = await house.nobody.get("/readyz")
        assert (response.status_code, response.json()["code"]) == (503, "storage_unavailable")
        assert response.headers["retry-after"]
        assert (await house.owner.get("/v1/memories")).status_code == 503
        assert (await house.nobody.get("/healthz")).status_code == 200


COMPANY = ResourceRef(kind="crm.company", id="Acme-c")


async def test_a_server_is_ready_without_an_applications_database_and_says_so(
    sqlite_database: str, tmp_path: Path
) -> None:
    host = tmp_path / "host.db"
    async with (
        Memoranda.open(
            sqlite_database, state=crm(str(host), default_tenant=ACME), migrate=False
        ) as opened,
        furnished(opened) as house,
    ):
        away = {"status": "ready", "application_database": "away"}
        assert (await house.nobody.get("/readyz")).json() == away
        build(f"sqlite:///{host}")
        await asyncio.sleep(1.1)  # so long it is left alone
        assert await opened.state.resolve(opened.owner, [COMPANY])
        answers = {"status": "ready", "application_database": "answers"}
        assert (await house.nobody.get("/readyz")).json() == answers


async def test_a_ready_document_gives_way_to_no_bytes_of_another_kind(house: House) -> None:
    async def put(content: bytes, **fields: str) -> httpx.Response:
        files = {"file": ("docks.txt", content)}
        data = {"uri": "made:docks", **fields}
        return await house.owner.post("/v1/knowledge/sources", files=files, data=data)

    source = (await put(b"The front dock is closed.")).json()["id"]
    await house.memoranda.worker.drain()
    before = (await house.owner.get(f"/v1/knowledge/sources/{source}")).json()
    refused = await put(b"The front dock is closed.", kind="pdf")
    assert (refused.status_code, refused.json()["code"]) == (422, "wrong_kind")
    assert "stays as it was" in refused.json()["detail"]
    assert (await house.owner.get(f"/v1/knowledge/sources/{source}")).json() == before
    stated = (await house.nobody.get("/openapi.json")).json()
    answers = stated["paths"]["/v1/knowledge/sources"]["post"]["responses"]["422"]
    assert "wrong_kind" in str(answers)
