"""A part of a text is found character for character: no character is a pattern, on both databases."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import and_, bindparam, case, not_, select, true, update
from sqlalchemy.sql import ColumnElement

from memoranda.storage import GuardError, Storage, Transaction, contains
from memoranda.storage.tables import users
from memoranda.storage.types import Contains
from tests.contract.storage_rows import add_user, new_organization

NAMES = [
    "Plain words",
    "100 % wool",
    "100 of 200",
    "snake_case",
    "snakeXcase",
    r"C:\temp\new",
    "it's \"quoted\" 'twice'",
    "naïve café",
    "我们把数据存在数据库里",
    "ฉันอยู่ที่กรุงเทพมหานคร",
    "أحب القهوة",
    "done 🎉👩‍👩‍👧!",
    "[a-c]*? ${x} :name ? %(name)s",
]
NAME: ColumnElement[str] = users.c.name
HOLDING = select(users.c.name).where(contains(NAME, "part")).order_by(users.c.id)
FOUND = [
    ("word", ["Plain words"]),
    ("Plain words", ["Plain words"]),
    ("plain", []),
    ("%", ["100 % wool", "[a-c]*? ${x} :name ? %(name)s"]),
    ("100 %", ["100 % wool"]),
    ("%%", []),
    ("_", ["snake_case"]),
    ("e_c", ["snake_case"]),
    ("\\", [r"C:\temp\new"]),
    (r"\t", [r"C:\temp\new"]),
    (r"\%", []),
    ("'", ["it's \"quoted\" 'twice'"]),
    ('"', ["it's \"quoted\" 'twice'"]),
    ("''", []),
    ("' OR '1'='1", []),
    ("é", ["naïve café"]),
    ("e\u0301", []),
    ("数据", ["我们把数据存在数据库里"]),
    ("กรุงเทพ", ["ฉันอยู่ที่กรุงเทพมหานคร"]),
    ("القهوة", ["أحب القهوة"]),
    ("🎉", ["done 🎉👩‍👩‍👧!"]),
    ("👩", ["done 🎉👩‍👩‍👧!"]),
    ("[a-c]", ["[a-c]*? ${x} :name ? %(name)s"]),
    ("*", ["[a-c]*? ${x} :name ? %(name)s"]),
    ("%(name)s", ["[a-c]*? ${x} :name ? %(name)s"]),
    (":name ?", ["[a-c]*? ${x} :name ? %(name)s"]),
    ("", []),
    (None, []),
    (" " * 5_000, []),
]


@pytest.fixture(scope="module")
def storage(shared_storage: Storage) -> Storage:
    return shared_storage


async def people(storage: Storage, names: Sequence[str]) -> UUID:
    organization = await new_organization(storage)

    def add(tx: Transaction) -> None:
        for name in names:
            add_user(tx, name)

    await storage.write(organization, add)
    return organization


async def names(storage: Storage, organization: UUID, statement: Any, **values: Any) -> list[str]:
    rows = await storage.read(organization, lambda tx: tx.all(statement, **values))
    return [row.name for row in rows]


async def test_every_character_of_the_part_stands_for_itself(storage: Storage) -> None:
    organization = await people(storage, NAMES)
    for part, expected in FOUND:
        assert await names(storage, organization, HOLDING, part=part) == expected, part


async def test_a_part_is_a_condition_like_any_other(storage: Storage) -> None:
    organization = await people(storage, ["ab", "bc", "cd"])
    both = select(users.c.name).where(contains(NAME, "one"), not_(contains(NAME, "other")))
    assert await names(storage, organization, both, one="b", other="c") == ["ab"]
    assert await names(storage, organization, both, one="b", other="") == ["ab", "bc"]
    compared = select(users.c.name).where(contains(NAME, "part") == true()).order_by(NAME)
    assert await names(storage, organization, compared, part="c") == ["bc", "cd"]
    held_first = select(users.c.name).order_by(case((contains(NAME, "part"), 0), else_=1), NAME)
    assert await names(storage, organization, held_first, part="d") == ["cd", "ab", "bc"]


async def test_a_column_without_a_value_holds_nothing(storage: Storage) -> None:
    organization = await people(storage, ["a"])
    external: ColumnElement[str | None] = users.c.external_id
    for condition, expected in (
        (contains(external, "part"), []),
        (not_(contains(external, "part")), ["a"]),
    ):
        statement = select(users.c.name).where(condition)
        assert await names(storage, organization, statement, part="a") == expected


async def test_a_write_finds_its_rows_by_a_part(storage: Storage) -> None:
    organization = await people(storage, ["50 %", "50 of"])
    rename = update(users).where(contains(NAME, "part")).values(name=bindparam("new"))
    assert await storage.write(organization, lambda tx: tx.run(rename, part="%", new="half")) == 1
    every = select(users.c.name).order_by(NAME)
    assert await names(storage, organization, every) == ["50 of", "half"]


async def test_a_part_is_found_in_the_organizations_own_rows_alone(storage: Storage) -> None:
    await people(storage, ["secret plan"])
    ours = await people(storage, ["our plan"])
    assert await names(storage, ours, HOLDING, part="plan") == ["our plan"]
    assert await names(storage, ours, HOLDING, part="secret") == []
    inside = select(users.c.name).where(
        and_(contains(select(users.c.name).scalar_subquery(), "part"), contains(NAME, "part"))
    )
    assert await names(storage, ours, inside, part="plan") == ["our plan"]
    assert await names(storage, ours, inside, part="secret") == []


async def test_a_class_that_only_looks_like_it_is_refused(storage: Storage) -> None:
    organization = await people(storage, ["a"])

    class Everything(Contains):
        inherit_cache = False

    statement = select(users.c.name).where(Everything(NAME, "part"))
    with pytest.raises(GuardError, match="renders itself"):
        await names(storage, organization, statement, part="a")


def test_it_can_be_printed_outside_of_storage() -> None:
    assert "contains(users.name, part)" in str(HOLDING)
