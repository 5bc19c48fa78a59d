"""Lists as parameters match what they name and nothing else, and statements are found again, on both databases."""

import gc
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import bindparam, insert, select

from memoranda.storage import Storage, one_of, one_of_pairs
from memoranda.storage.dialects.sqlite import SqliteBackend
from memoranda.storage.statements import Statements
from memoranda.storage.tables import search_terms, users
from memoranda.words.ids import new_id
from tests.contract.storage_rows import add_user, new_organization


@pytest.fixture(scope="module")
def storage(shared_storage: Storage) -> Storage:
    return shared_storage


@pytest.fixture
async def organization(storage: Storage) -> UUID:
    return await new_organization(storage)


async def test_one_of_finds_uuids_texts_numbers_and_times(
    storage: Storage, organization: UUID
) -> None:
    texts = ["a", "b'", '"c"', "🎉", "%"]
    ids = [await storage.write(organization, add_user, text) for text in texts]
    moments = select(users.c.created_at).where(users.c.id == bindparam("user"))
    moment = (await storage.read(organization, lambda tx: tx.one(moments, user=ids[2])))[0]

    def found(column: Any, values: list[Any]) -> Any:
        statement = select(users.c.name).where(one_of(column, "wanted")).order_by(users.c.id)
        return lambda tx: [row.name for row in tx.all(statement, wanted=values)]

    assert await storage.read(organization, found(users.c.id, ids[1:3])) == texts[1:3]
    assert await storage.read(organization, found(users.c.name, texts[1:])) == texts[1:]
    assert await storage.read(organization, found(users.c.created_at, [moment])) == ['"c"']
    for column in (users.c.id, users.c.name, users.c.created_at):
        assert await storage.read(organization, found(column, [])) == []
    counts = insert(search_terms)
    row = {"collection": "c", "passages": 0, "windows": 0, "documents": 0}
    await storage.write(
        organization,
        lambda tx: tx.run_many(counts, [{**row, "term": str(n), "passages": n} for n in range(5)]),
    )
    numbers = (
        select(search_terms.c.passages)
        .where(one_of(search_terms.c.passages, "wanted"))
        .order_by(search_terms.c.passages)
    )
    rows = await storage.read(organization, lambda tx: tx.all(numbers, wanted=[1, 3, 99]))
    assert rows == [(1,), (3,)]


def test_a_statement_that_is_gone_leaves_nothing_to_the_next_one() -> None:
    statements = Statements(SqliteBackend.dialects)
    for number in range(50):  # the next one usually gets the id of the one before
        name = f"name_{number}"
        statement = select(users.c.name).where(users.c.name == bindparam(name))
        prepared = statements.prepare(statement, (name,), platform=False)
        assert "Ann" in prepared.parameters(new_id(), {name: "Ann"})
        del statement
    gc.collect()
    assert not statements._met


async def test_one_of_pairs_finds_those_pairs_alone(storage: Storage, organization: UUID) -> None:
    texts = ["a", "b'", "🎉"]
    ids = [await storage.write(organization, add_user, text) for text in texts]
    statement = select(users.c.name).where(one_of_pairs(users.c.id, users.c.name, "wanted"))
    statement = statement.order_by(users.c.id)
    crossed = [(ids[0], "a"), (ids[1], "🎉"), (ids[2], "🎉"), (ids[2], "b'"), (ids[2], "🎉")]
    for wanted, found in ((crossed, ["a", "🎉"]), ([], []), (None, [])):
        rows = await storage.read(
            organization, lambda tx, wanted=wanted: tx.all(statement, wanted=wanted)
        )
        assert [row.name for row in rows] == found


async def test_one_of_pairs_takes_numbers_and_thousands(
    storage: Storage, organization: UUID
) -> None:
    row = {"collection": "pairs", "windows": 0, "documents": 0}
    rows = [{**row, "term": f"t{n}", "passages": n} for n in range(5)]
    await storage.write(organization, lambda tx: tx.run_many(insert(search_terms), rows))
    statement = select(search_terms.c.term).where(
        search_terms.c.collection == "pairs",
        one_of_pairs(search_terms.c.term, search_terms.c.passages, "wanted"),
    )
    wanted = [("t1", 2), ("t3", 3), *((f"t{n}", n) for n in range(4, 9_000))]
    found = await storage.read(organization, lambda tx: tx.all(statement, wanted=wanted))
    assert {row.term for row in found} == {"t3", "t4"}


async def test_one_of_takes_thousands(storage: Storage, organization: UUID) -> None:
    await storage.write(organization, add_user, "user 7")
    statement = select(users.c.name).where(one_of(users.c.name, "wanted"))
    wanted = [f"user {n}" for n in range(40_000)]
    rows = await storage.read(organization, lambda tx: tx.all(statement, wanted=wanted))
    assert rows == [("user 7",)]
