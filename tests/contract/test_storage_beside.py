"""A read beside a transaction runs on a thread of its own, for the same organization, and stops with it."""

import asyncio
import threading
import time
from typing import Any

import pytest

from memoranda.storage import Storage, Transaction
from tests.contract.storage_rows import add_user, names, new_organization
from tests.contract.test_storage_cancel import ENDLESS, cancelled_after, nothing_runs

PATIENCE_S = 20


def here(tx: Transaction) -> tuple[int, list[str]]:
    return threading.get_ident(), names(tx)


async def test_both_read_at_the_same_time_and_of_one_organization(storage: Storage) -> None:
    ours, theirs = await new_organization(storage), await new_organization(storage)
    await storage.write(ours, add_user, "Ada")
    await storage.write(theirs, add_user, "Mallory")
    begun, go_on = threading.Event(), threading.Event()

    def beside(tx: Transaction) -> tuple[int, list[str]]:
        begun.set()
        assert go_on.wait(PATIENCE_S)
        return here(tx)

    def read(tx: Transaction) -> bool:
        aside = tx.beside(beside)
        assert begun.wait(PATIENCE_S)  # nobody asked for it yet
        thread, own = here(tx)
        go_on.set()
        other_thread, found = aside.result(tx)
        return thread != other_thread and own == found == ["Ada"]

    assert await storage.read(ours, read)


async def test_what_is_given_to_it_is_what_it_reads_with(storage: Storage) -> None:
    organization = await new_organization(storage)

    def read(tx: Transaction) -> tuple[str, str]:
        asides = [tx.beside(lambda _, text: text, text) for text in ("one", "two")]
        first, second = (aside.result(tx) for aside in asides)
        return first, second

    assert await storage.read(organization, read) == ("one", "two")


async def test_more_reads_than_threads_never_wait_for_each_other(storage: Storage) -> None:
    organization = await new_organization(storage)
    await storage.write(organization, add_user, "Ada")

    def read(tx: Transaction) -> list[str]:
        aside = tx.beside(names)
        time.sleep(0.01)  # so that all threads are taken by those that wait
        return aside.result(tx)

    async with asyncio.timeout(PATIENCE_S):
        found = await asyncio.gather(*(storage.read(organization, read) for _ in range(40)))
    assert found == [["Ada"]] * 40


async def test_a_write_reads_what_it_has_written_itself(storage: Storage) -> None:
    organization = await new_organization(storage)

    def write(tx: Transaction) -> list[str]:
        aside = tx.beside(names)
        add_user(tx, "Ada")
        return aside.result(tx)

    assert await storage.write(organization, write) == ["Ada"]


async def test_a_failure_is_met_where_the_value_is_asked_for_and_only_there(
    storage: Storage,
) -> None:
    organization = await new_organization(storage)
    await storage.write(organization, add_user, "Ada")

    def broken(_: Transaction) -> None:
        raise LookupError

    def ask(tx: Transaction) -> None:
        tx.beside(broken).result(tx)

    def leave(tx: Transaction) -> list[str]:
        tx.beside(broken)
        return names(tx)

    with pytest.raises(LookupError):
        await storage.read(organization, ask)
    assert await storage.read(organization, leave) == ["Ada"]


async def test_one_that_failed_on_its_own_thread_is_read_by_who_asks(storage: Storage) -> None:
    organization = await new_organization(storage)
    await storage.write(organization, add_user, "Ada")
    failed = threading.Event()

    def read(tx: Transaction) -> list[str]:
        own = threading.get_ident()

        def only_here(aside: Transaction) -> list[str]:
            if threading.get_ident() != own:
                failed.set()
                raise ConnectionError
            return names(aside)

        aside = tx.beside(only_here)
        assert failed.wait(PATIENCE_S)
        return aside.result(tx)

    assert await storage.read(organization, read) == ["Ada"]


async def test_it_can_be_asked_for_again(storage: Storage) -> None:
    organization = await new_organization(storage)
    await storage.write(organization, add_user, "Ada")

    def read(tx: Transaction) -> list[list[str]]:
        aside = tx.beside(names)
        return [aside.result(tx) for _ in range(3)]

    found = await asyncio.gather(*(storage.read(organization, read) for _ in range(20)))
    assert found == [[["Ada"]] * 3] * 20


@pytest.mark.parametrize("delay", [0, 0.001, 0.3])
async def test_a_cancelled_read_stops_what_is_read_beside_it(
    storage: Storage, database_url: str, delay: float
) -> None:
    organization = await new_organization(storage)
    await storage.write(organization, add_user, "Ada")

    def read(tx: Transaction) -> Any:
        return tx.beside(lambda aside: aside.one(ENDLESS)).result(tx)

    waiting = [asyncio.create_task(storage.read(organization, read)) for _ in range(12)]
    for each in waiting:
        assert await cancelled_after(delay if each is waiting[0] else 0, each) < 0.5
    for _ in range(12):
        assert await storage.read(organization, names) == ["Ada"]
    if database_url.startswith("postgresql"):
        await nothing_runs(database_url)


async def test_one_that_nobody_asked_for_holds_up_no_closing(database_url: str) -> None:
    storage = await Storage.open(database_url)
    organization = await new_organization(storage)
    ran: list[int] = []

    def slow(_: Transaction) -> None:
        time.sleep(0.05)
        ran.append(1)

    def read(tx: Transaction) -> list[str]:
        for _ in range(30):
            tx.beside(slow)
        return names(tx)

    await storage.read(organization, read)
    await storage.close()
    assert len(ran) < 30
