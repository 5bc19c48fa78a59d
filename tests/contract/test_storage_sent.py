"""Writes that are sent: nobody waits for their answers, and they keep every promise of those that are run."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import bindparam, func, insert, select, text, update

from memoranda.storage import ConstraintViolated, GuardError, Storage, Transaction
from memoranda.storage.tables import users
from memoranda.words.ids import new_id
from tests.contract.storage_rows import NEW_USER, add_user, names, new_organization

RENAME = update(users).where(users.c.id == bindparam("user")).values(name=bindparam("new_name"))
COUNT = select(func.count()).select_from(users)

Ending = Callable[[Transaction], object]
ENDINGS: dict[str, Ending] = {
    "at the commit": lambda _: None,
    "at a read": names,
    "at a write": lambda tx: tx.run(RENAME, user=new_id(), new_name="x"),
    "at many writes": lambda tx: tx.run_many(RENAME, [{"user": new_id(), "new_name": "x"}]),
    "at a lock": lambda tx: tx.lock("key"),
    "behind another": lambda tx: tx.send(RENAME, user=new_id(), new_name="x"),
}


@pytest.fixture(scope="module")
def storage(shared_storage: Storage) -> Storage:
    return shared_storage


def send_user(tx: Transaction, name: str, user: UUID | None = None) -> UUID:
    user = user or new_id()
    tx.send(NEW_USER, id=user, name=name, external_id=None, created_at=tx.now)
    return user


async def test_what_is_sent_is_kept(storage: Storage) -> None:
    organization = await new_organization(storage)
    await storage.write(organization, send_user, "Ana")
    assert await storage.read(organization, names) == ["Ana"]


async def test_what_is_sent_runs_in_its_order_and_a_later_statement_sees_it(
    storage: Storage,
) -> None:
    organization = await new_organization(storage)
    seen: list[Any] = []

    def mixed(tx: Transaction) -> None:
        first = send_user(tx, "1")
        tx.send(RENAME, user=first, new_name="2")
        seen.append(names(tx))
        tx.send_many(RENAME, [{"user": first, "new_name": str(n)} for n in range(3, 8)])
        seen.append(tx.run(RENAME, user=first, new_name="8"))
        seen.append(names(tx))
        tx.send(RENAME, user=first, new_name="9")
        seen.append(tx.run_many(RENAME, [{"user": first, "new_name": "10"}] * 3))
        seen.append(tx.one(COUNT))
        tx.send(RENAME, user=first, new_name="11")

    await storage.write(organization, mixed)
    assert seen == [["2"], 1, ["8"], 3, (1,)]
    assert await storage.read(organization, names) == ["11"]


async def test_many_rows_may_be_sent_at_once(storage: Storage) -> None:
    organization = await new_organization(storage)

    def add(tx: Transaction) -> None:
        rows = [{"id": new_id(), "name": f"{n:04}", "created_at": tx.now} for n in range(3000)]
        tx.send_many(NEW_USER, rows)
        tx.send_many(NEW_USER, [])

    await storage.write(organization, add)
    assert await storage.read(organization, names) == [f"{n:04}" for n in range(3000)]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("swallow", [False, True])
async def test_a_sent_write_that_breaks_a_promise_fails_as_itself_and_nothing_is_kept(
    storage: Storage, ending: str, swallow: bool
) -> None:
    organization = await new_organization(storage)
    taken = await storage.write(organization, add_user, "first")

    def careless(tx: Transaction) -> str:
        send_user(tx, "before")
        with suppress(*[ConstraintViolated] if swallow else []):
            send_user(tx, "again", taken)
            ENDINGS[ending](tx)
        return "as if all were well"

    with pytest.raises(ConstraintViolated) as broken:
        await storage.write(organization, careless)
    assert broken.value.name == "users_pk"
    assert await storage.read(organization, names) == ["first"]


async def test_of_two_sent_writes_that_fail_the_first_is_told(storage: Storage) -> None:
    organization = await new_organization(storage)
    taken = await storage.write(organization, add_user, "first", "external")

    def careless(tx: Transaction) -> None:
        tx.send(NEW_USER, id=new_id(), name="x", external_id="external", created_at=tx.now)
        for _ in range(50):
            send_user(tx, "again", taken)

    with pytest.raises(ConstraintViolated) as broken:
        await storage.write(organization, careless)
    assert broken.value.name == "one_user_per_external_id"


async def test_a_failed_transaction_leaves_nothing_to_the_next_one(storage: Storage) -> None:
    """More often than it takes to prepare a statement, and the ones behind a failure were never prepared."""
    organization = await new_organization(storage)
    taken = await storage.write(organization, add_user, "first")

    def fail(tx: Transaction, last: Ending) -> None:
        send_user(tx, "again", taken)
        tx.send(RENAME, user=taken, new_name="never")
        last(tx)

    def stop(tx: Transaction) -> None:
        raise RuntimeError

    for last in [*ENDINGS.values(), stop] * 2:
        for _ in range(2):
            with pytest.raises((ConstraintViolated, RuntimeError)):
                await storage.write(organization, fail, last)
        await storage.write(organization, lambda tx: tx.send(RENAME, user=taken, new_name="kept"))
        assert await storage.read(organization, names) == ["kept"]


async def test_what_was_sent_before_the_function_raised_is_not_kept(storage: Storage) -> None:
    organization = await new_organization(storage)

    def half(tx: Transaction) -> None:
        send_user(tx, "never kept")
        raise RuntimeError

    for _ in range(3):
        with pytest.raises(RuntimeError):
            await storage.write(organization, half)
        assert await storage.read(organization, names) == []
    await storage.write(organization, add_user, "after")
    assert await storage.read(organization, names) == ["after"]


async def test_the_guard_sees_what_is_sent_before_the_database_does(storage: Storage) -> None:
    organization = await new_organization(storage)
    raw: Any = text("DELETE FROM users")
    row = {"id": new_id(), "name": "x", "created_at": None, "organization_id": new_id()}
    for refused in (
        lambda tx: tx.send(raw),
        lambda tx: tx.send(insert(users), **row),
        lambda tx: tx.send_many(insert(users), [row]),
    ):
        with pytest.raises(GuardError):
            await storage.write(organization, refused)
    with pytest.raises(GuardError, match=r"storage\.write"):
        await storage.read(organization, send_user, "never")
    assert await storage.read(organization, names) == []


async def test_sent_rows_with_different_columns_are_refused(storage: Storage) -> None:
    organization = await new_organization(storage)

    def add(tx: Transaction) -> None:
        row = {"id": new_id(), "name": "x", "created_at": tx.now}
        tx.send_many(NEW_USER, [row, {**row, "id": new_id(), "external_id": "lost"}])

    with pytest.raises(ValueError, match="same columns"):
        await storage.write(organization, add)
