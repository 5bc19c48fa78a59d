"""An application's database that is away keeps nothing else from working, and is read again once it answers."""

import asyncio
import logging
import os
import shutil
import socket
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from memoranda import Memoranda
from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.settings import Settings
from memoranda.state import held
from memoranda.state.service import StateReader
from memoranda.storage import Storage, StorageUnavailable
from memoranda.words.errors import HostMoved, Invalid
from memoranda.words.ref import ResourceRef
from tests.contract.host_house import ACME, GLOBEX, ORDERS, build, crm
from tests.postgres import Postgres

COMPANY = ResourceRef(kind="crm.company", id="Acme-c")


class Away:
    """A host's database that is not there yet, and what makes it be there."""

    def __init__(self, url: str, bring: Callable[[], None]) -> None:
        self.url = url
        self.bring = bring


@pytest.fixture
def away(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> Away:
    if database_url.startswith("sqlite"):
        url = f"sqlite:///{tmp_path / 'host.db'}"
        return Away(url, lambda: build(url))
    server: Postgres = request.getfixturevalue("postgres")
    url = server.new_database()
    server.drop_database(url)

    def bring() -> None:
        server.new_database(name=make_url(url).database)
        build(url)

    return Away(url, bring)


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "PAUSE_SECONDS", 0.0)


async def tenant(memoranda: Memoranda, external_id: str) -> Principal:
    made = await memoranda.access.create_organization(
        LOCAL_OPERATOR, external_id, external_id=external_id
    )
    return Principal(
        organization_id=made.organization.id, role=Role.OWNER, user_id=made.organization.owner_id
    )


async def test_the_product_opens_without_it_says_so_and_reads_it_once_it_is_back(
    database_url: str, away: Away, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings.load(db=database_url, embedder="none")
    with caplog.at_level(logging.WARNING):
        async with Memoranda.open(
            settings=settings, state=crm(away.url), migrate=False
        ) as memoranda:
            acme, globex = [await tenant(memoranda, each) for each in (ACME, GLOBEX)]
            await memoranda.memories.remember(acme, "They pay late.", about=COMPANY)
            await memoranda.memories.remember(acme, "Write short letters.")
            away_for = memoranda.state.fault
            assert away_for is not None
            assert len(await memoranda.state.kinds(acme)) == 8
            brief = await memoranda.briefs.build(acme, "Who pays?", entities=[COMPANY])
            assert brief.failed_sources == ["application"]
            assert "Write short letters." in brief.text
            assert "They pay late." not in brief.text
            assert [r for r in caplog.messages if "Sources of application state fail" in r]
            for secret in ("@", "password", str(away.url)):
                assert secret not in caplog.text
            away.bring()
            brief = await memoranda.briefs.build(acme, "Who pays?", entities=[COMPANY])
            assert brief.failed_sources == []
            assert "Acme Ltd" in brief.text
            assert "They pay late." in brief.text
            assert memoranda.state.fault is None
            assert [r for r in caplog.messages if "answers again" in r]
            other = await memoranda.briefs.build(globex, "Who pays?", entities=[COMPANY])
            assert "Acme Ltd" not in other.text


async def test_a_server_that_refuses_is_away_too(storage: Storage, database_url: str) -> None:
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        port = nobody_listens.getsockname()[1]
        url = f"postgresql://someone:secret@127.0.0.1:{port}/shop"
        async with (
            Memoranda.open(database_url, migrate=False) as memoranda,
            StateReader.open(storage, crm(url)) as reader,
        ):
            with pytest.raises(StorageUnavailable) as refused:
                await reader.resolve(await tenant(memoranda, ACME), [COMPANY])
    assert "secret" not in refused.value.message


async def test_what_is_declared_and_not_there_is_told_when_the_database_is_back(
    storage: Storage, away: Away, database_url: str
) -> None:
    wrong = ORDERS.model_copy(update={"table": "orderz"})
    async with (
        Memoranda.open(database_url, migrate=False) as memoranda,
        StateReader.open(storage, crm(away.url, wrong)) as reader,
    ):
        acme = await tenant(memoranda, ACME)
        with pytest.raises(StorageUnavailable):
            await reader.resolve(acme, [COMPANY])
        away.bring()
        for _ in range(2):
            with pytest.raises(HostMoved, match="orderz"):
                await reader.resolve(acme, [COMPANY])
        assert "orderz" in str(reader.fault)
        with pytest.raises(Invalid, match="orderz"):  # whoever declares it has it to correct
            await reader.look()


async def test_many_who_ask_at_once_share_one_look_and_leave_a_rest_after_it(
    storage: Storage, away: Away, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held, "PAUSE_SECONDS", 0.5)
    async with (
        Memoranda.open(database_url, migrate=False) as memoranda,
        StateReader.open(storage, crm(away.url)) as reader,
    ):
        acme = await tenant(memoranda, ACME)
        assert reader._host is not None
        looks: list[float] = []
        run = reader._host.database.run

        async def counted(*args: object) -> object:
            looks.append(time.monotonic())
            return await run(*args)

        monkeypatch.setattr(reader._host.database, "run", counted)
        for _ in range(3):
            await asyncio.gather(
                *(reader.resolve(acme, [COMPANY]) for _ in range(8)), return_exceptions=True
            )
        assert len(looks) <= 1
        away.bring()
        await asyncio.sleep(0.6)
        found = await asyncio.gather(*(reader.resolve(acme, [COMPANY]) for _ in range(8)))
        assert all(len(each) == 1 for each in found)


async def test_whoever_gives_up_waiting_keeps_no_other_from_the_answer(
    storage: Storage, away: Away, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        Memoranda.open(database_url, migrate=False) as memoranda,
        StateReader.open(storage, crm(away.url)) as reader,
    ):
        acme = await tenant(memoranda, ACME)
        away.bring()
        assert reader._host is not None
        run = reader._host.database.run

        async def slow(*args: object) -> object:
            await asyncio.sleep(0.2)
            return await run(*args)

        monkeypatch.setattr(reader._host.database, "run", slow)
        waiting = [asyncio.create_task(reader.resolve(acme, [COMPANY])) for _ in range(2)]
        await asyncio.sleep(0.1)
        waiting[0].cancel()
        assert len(await waiting[1]) == 1


async def test_a_database_that_goes_away_later_fails_and_comes_back_too(
    request: pytest.FixtureRequest, storage: Storage, away: Away, database_url: str
) -> None:
    away.bring()
    async with (
        Memoranda.open(database_url, migrate=False) as memoranda,
        StateReader.open(storage, crm(away.url)) as reader,
    ):
        acme = await tenant(memoranda, ACME)
        assert len(await reader.resolve(acme, [COMPANY])) == 1
        if database_url.startswith("sqlite"):
            os.unlink(str(make_url(away.url).database))  # noqa: PTH108 - short, and nobody else waits
        else:
            request.getfixturevalue("postgres").drop_database(away.url)
        with pytest.raises(StorageUnavailable):
            await reader.resolve(acme, [COMPANY])
        assert reader.fault is not None
        away.bring()
        assert len(await reader.resolve(acme, [COMPANY])) == 1


async def test_another_file_in_the_place_of_a_database_is_what_is_read(
    sqlite_database: str, tmp_path: Path
) -> None:
    path = tmp_path / "host.db"
    build(f"sqlite:///{path}")
    shutil.copy(path, tmp_path / "copy.db")
    async with (
        Memoranda.open(sqlite_database, migrate=False) as memoranda,
        StateReader.open(memoranda.storage, crm(str(path))) as reader,
    ):
        acme = await tenant(memoranda, ACME)
        assert len(await reader.resolve(acme, [COMPANY])) == 1
        with sqlite3.connect(tmp_path / "copy.db") as copy:
            copy.execute("UPDATE crm_companies SET name = 'Renamed'")
        copy.close()
        (tmp_path / "copy.db").replace(path)
        [row] = await reader.resolve(acme, [COMPANY])
        assert row.fields[0].value == "Renamed"
