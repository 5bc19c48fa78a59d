"""The guard, attacked with writes: no row is given away, taken or changed across organizations."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import (
    bindparam,
    delete,
    insert,
    null,
    select,
    text,
    true,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from memoranda.storage import (
    ConstraintViolated,
    GuardError,
    Storage,
    insert_or_ignore,
    upsert,
)
from memoranda.storage.tables import (
    agents,
    api_keys,
    knowledge_chunks,
    knowledge_sources,
    organizations,
    search_terms,
    users,
)
from memoranda.words.ids import new_id
from tests.contract.storage_attacks import Everything, lying
from tests.contract.storage_rows import Two, names

UTC_TIME = datetime(2026, 1, 2, tzinfo=UTC)
u, s, c = users.c, knowledge_sources.c, knowledge_chunks.c
other = users.alias("other")


@pytest.fixture(scope="module")
def storage(shared_storage: Storage) -> Storage:
    return shared_storage


WRITES: dict[str, Callable[[], Any]] = {
    "insert from a select": lambda: insert(users).from_select(
        ["id", "organization_id", "name", "created_at"],
        select(u.id, u.organization_id, u.name, u.created_at),
    ),
    "insert or replace": lambda: insert(users).prefix_with("OR REPLACE"),
    "insert into an alias's table": lambda: insert(lying("users")),
    "update from another table": lambda: update(users)
    .values(name=agents.c.name)
    .where(agents.c.id == u.id),
    "update of an alias": lambda: update(other).values(name="x"),
    "update of a join": lambda: update(users.join(agents, true())).values(name="x"),
    "update of the organization as another table's column": lambda: update(users).values(
        {agents.c.organization_id: new_id()}
    ),
    "update with text": lambda: update(users).values(name=text("'x' WHERE 1 = 1 --")),
    "update with a prefix": lambda: update(users).values(name="x").prefix_with("OR REPLACE"),
    "update of the organization": lambda: update(users).values(organization_id=new_id()),
    "update of the organization by column": lambda: update(users).values(
        {u.organization_id: new_id()}
    ),
    "update of the organization to itself": lambda: update(users).values(
        organization_id=u.organization_id
    ),
    "ordered update of the organization": lambda: update(users).ordered_values(
        (u.name, "x"), (u.organization_id, new_id())
    ),
    "update of the organization in a list": lambda: update(users).values(
        {"name": "x", "organization_id": null()}
    ),
    "update of an organization's id": lambda: update(organizations).values(id=new_id()),
    "update of an index's scope": lambda: update(search_terms).values(scope_id=new_id()),
    "delete using another table": lambda: delete(users).where(agents.c.id == u.id),
    "delete of an alias": lambda: delete(other),
    "delete with text": lambda: delete(users).where(text("1 = 1) OR (1 = 1")),
    "delete with a hint": lambda: delete(users).with_hint("x"),
    "upsert by a key of the whole table": lambda: upsert(users, ["id"], set_=["name"]),
    "upsert by the hash of a key": lambda: upsert(api_keys, ["secret_hash"], set_=["name"]),
    "upsert of a child by its id": lambda: upsert(knowledge_chunks, ["id"], set_=["text"]),
    "upsert by a named constraint": lambda: postgresql.insert(users).on_conflict_do_update(
        constraint="users_pk", set_={"name": "x"}
    ),
    "upsert that moves the row": lambda: upsert(
        users, ["organization_id", "external_id"], set_=["organization_id"]
    ),
    "upsert that moves a child": lambda: upsert(
        knowledge_chunks, ["source_id", "ordinal"], set_=["source_id"]
    ),
    "upsert with text": lambda: postgresql.insert(users).on_conflict_do_update(
        index_elements=["organization_id", "external_id"], set_={"name": text("'x'")}
    ),
    "upsert with a custom element": lambda: postgresql.insert(users).on_conflict_do_update(
        index_elements=["organization_id", "external_id"],
        set_={"name": "x"},
        where=Everything(),
    ),
    "upsert of SQLite's own kind": lambda: sqlite.insert(users).on_conflict_do_update(
        index_elements=["id"], set_={"name": "x"}
    ),
    "returning text": lambda: delete(users).returning(text("(SELECT name FROM users)")),
    "returning a lying table": lambda: delete(users).returning(
        select(lying("users").c.name).scalar_subquery()
    ),
}  # fmt: skip


@pytest.mark.parametrize("attack", WRITES)
async def test_a_write_that_could_touch_another_organizations_row_is_refused(
    storage: Storage, two: Two, attack: str
) -> None:
    statement = WRITES[attack]()
    row = {"id": two.their_user, "name": "x", "external_id": "ben"}
    with pytest.raises(GuardError):
        await storage.write(two.ours, lambda tx: tx.run(statement, **row))
    assert await storage.read(two.theirs, names) == ["Their Ben"]


async def test_a_new_row_cannot_be_given_to_another_organization(
    storage: Storage, two: Two
) -> None:
    row = {"id": new_id(), "name": "x", "created_at": UTC_TIME}
    sneaky: list[dict[str, Any]] = [
        {"organization_id": two.theirs},
        {"organization_id": select(organizations.c.id).scalar_subquery()},
        {"organization_id": null()},
        {"organization_id": bindparam("whose", two.theirs)},
    ]
    for given in sneaky:
        statement, user = insert(users).values(given), {**row, "id": new_id()}
        await storage.write(two.ours, lambda tx, st=statement, us=user: tx.run(st, **us))
    given = {**row, "organization_id": two.theirs}
    with pytest.raises(GuardError):
        await storage.write(two.ours, lambda tx: tx.run(insert(users), **given))
    with pytest.raises(GuardError):
        await storage.write(two.ours, lambda tx: tx.run_many(insert(users), [given]))
    assert await storage.read(two.theirs, names) == ["Their Ben"]
    assert len(await storage.read(two.ours, names)) == 1 + len(sneaky)


async def test_a_row_cannot_be_added_to_another_organizations_parent(
    storage: Storage, two: Two
) -> None:
    chunk = {"ordinal": 7, "text": "forged", "tokens": 1}
    for parent in (two.their_source, new_id()):
        row = {**chunk, "id": new_id(), "source_id": parent}
        for write in (
            lambda tx, r=row: tx.run(insert(knowledge_chunks), **r),
            lambda tx, r=row: tx.run_many(insert(knowledge_chunks), [r]),
            lambda tx, r=row: tx.run(
                upsert(knowledge_chunks, ["source_id", "ordinal"], set_=["text"]),
                **{**r, "ordinal": 0},
            ),
        ):
            with pytest.raises(ConstraintViolated) as refused:
                await storage.write(two.ours, write)
            # The same whether the parent is another's or nobody's: no hint that it exists.
            assert refused.value.name == "knowledge_chunks_source_id_exists"
    own = {**chunk, "id": new_id(), "source_id": two.our_source}
    for statement in (
        insert(knowledge_chunks).values(source_id=two.their_source),
        insert(knowledge_chunks).values(source_id=select(s.id).scalar_subquery()),
    ):
        row = {**own, "id": new_id(), "ordinal": own["ordinal"] + 1}
        with pytest.raises(GuardError):
            await storage.write(two.ours, lambda tx, st=statement: tx.run(st, id=new_id(), **chunk))
    await storage.write(two.ours, lambda tx: tx.run(insert(knowledge_chunks), **own))
    texts = select(c.text).join(knowledge_sources, c.source_id == s.id)
    assert await storage.read(two.theirs, lambda tx: tx.all(texts)) == [("theirs",)]


async def test_a_key_of_another_organization_is_a_conflict_and_never_an_update(
    storage: Storage, two: Two
) -> None:
    rename = upsert(users, ["organization_id", "external_id"], set_=["name"])
    row = {"id": new_id(), "name": "forged", "external_id": "ben", "created_at": UTC_TIME}
    assert await storage.write(two.ours, lambda tx: tx.run(rename, **row)) == 1
    assert await storage.read(two.theirs, names) == ["Their Ben"]
    with pytest.raises(ConstraintViolated):
        await storage.write(
            two.ours,
            lambda tx: tx.run(rename, **{**row, "id": two.their_user, "external_id": "x"}),
        )
    taken = insert_or_ignore(users)
    assert (
        await storage.write(
            two.ours, lambda tx: tx.run(taken, **{**row, "id": two.their_user, "external_id": "y"})
        )
        == 0
    )
    assert await storage.read(two.theirs, names) == ["Their Ben"]


async def test_no_row_of_many_stands_in_for_the_scope(storage: Storage, two: Two) -> None:
    change = update(users).where(u.name != bindparam("kept")).values(name=bindparam("new"))
    before = await storage.read(two.theirs, names)
    for reserved in ("scope_organization", "scope_owner", "scope_parent"):
        rows = [{"kept": "x", "new": f"{reserved} {n}", reserved: two.theirs} for n in range(2)]
        await storage.write(two.ours, lambda tx, r=rows: tx.run_many(change, r))
        assert await storage.read(two.theirs, names) == before
        assert set(await storage.read(two.ours, names)) == {f"{reserved} 1"}
