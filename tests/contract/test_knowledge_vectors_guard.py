"""No statement compares vectors without a scope and one model, whoever writes it."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg
import pytest
from sqlalchemy import bindparam, func, insert, literal, or_, select, true, union_all, update
from sqlalchemy.sql import ColumnElement

from memoranda.storage import (
    PLATFORM,
    ConstraintViolated,
    GuardError,
    Scope,
    Storage,
    Transaction,
)
from memoranda.storage.dialects.postgres_schema import SETTING
from memoranda.storage.scope import NIL
from memoranda.storage.tables import knowledge_settings, knowledge_sources, knowledge_vectors
from memoranda.storage.vectors import Distance
from memoranda.words.ids import new_id
from tests.contract.storage_rows import new_organization
from tests.contract.vector_rows import add_source, embed, halves, settle, unit_rows

v, s = knowledge_vectors.c, knowledge_sources.c
MODEL = bindparam("of_model")
joined = select(v.source_id).join(knowledge_sources, v.source_id == s.id)
other = knowledge_vectors.alias("other")


def distance(column: ColumnElement[bytes] = v.vector) -> Distance:
    return Distance(column, "query", None)


def _both(model: Any) -> Any:
    """Two vectors in one statement, the one without a model of its own."""
    two = joined.join(other, other.c.source_id == s.id).where(v.model == model)
    return two.order_by(distance(other.c.vector))


STATEMENTS: dict[str, Callable[[], Any]] = {
    "no model": lambda: joined.order_by(distance()),
    "no model, read": lambda: joined.add_columns(v.vector),
    "a model or none": lambda: joined.where(or_(v.model == MODEL, true())).order_by(distance()),
    "another model": lambda: joined.where(v.model != MODEL).order_by(distance()),
    "models from before one": lambda: joined.where(v.model <= MODEL).order_by(distance()),
    "its own model": lambda: joined.where(v.model == v.model).order_by(distance()),
    "a model like it": lambda: joined.where(func.lower(v.model) == MODEL).order_by(distance()),
    "the model of the settings": lambda: joined.join(
        knowledge_settings, knowledge_settings.c.active_embedding_model == v.model
    ).order_by(distance()),
    "of two, one without": lambda: _both(MODEL),
    "the model beside it": lambda: joined.add_columns(v.model).order_by(distance()),
    "a part of a union": lambda: union_all(
        joined.where(v.model == MODEL).add_columns(v.vector), joined.add_columns(v.vector)
    ),
    "within": lambda: select(joined.add_columns(v.vector, v.model).subquery("inner_rows").c.vector),
    "no scope": lambda: select(v.source_id).where(v.model == MODEL).order_by(distance()),
    "no scope, read": lambda: select(v.vector).where(v.model == MODEL),
    "a scope or none": lambda: (
        select(v.source_id)
        .where(v.model == MODEL, or_(v.source_id == s.id, literal(1) == 1))
        .order_by(distance())
    ),
}


@pytest.mark.parametrize("make", STATEMENTS.values(), ids=STATEMENTS)
async def test_a_statement_without_a_scope_or_one_model_is_refused(
    storage: Storage, make: Callable[[], Any]
) -> None:
    ours = await new_organization(storage)
    await storage.write(ours, add_source, unit_rows(3, 1), ["m", "n"])
    asked = {"of_model": "m", "query": halves(unit_rows(1, 1)[0]).astype("<f2").tobytes()}
    with pytest.raises(GuardError):
        await storage.read(ours, lambda tx: tx.all(make(), **asked))


async def test_a_write_hands_no_vectors_out_without_their_model(storage: Storage) -> None:
    ours = await new_organization(storage)
    await storage.write(ours, add_source, unit_rows(3, 1), ["m", "n"])
    own = select(s.id)
    handing_out = (
        update(knowledge_vectors)
        .where(v.source_id.in_(own))
        .values(ordinal=v.ordinal)
        .returning(v.vector)
    )
    with pytest.raises(GuardError, match="several models"):
        await storage.write(ours, lambda tx: tx.all(handing_out))
    of_one = handing_out.where(v.model == MODEL)
    assert len(await storage.write(ours, lambda tx: tx.all(of_one, of_model="n"))) == 3


async def test_the_same_statement_with_both_is_taken(storage: Storage) -> None:
    """So what is refused above is refused for what it lacks."""
    ours = await new_organization(storage)
    rows = unit_rows(3, 1)
    source = await storage.write(ours, add_source, rows, ["m"])
    await storage.write(ours, embed, source, "n", -rows)
    query = halves(rows[1]).astype("<f2").tobytes()
    statement = joined.add_columns(v.ordinal).where(v.model == MODEL)

    def ask(tx: Transaction, model: str) -> list[Any]:
        if not tx.compares_vectors:
            with pytest.raises(GuardError, match="compares no vectors"):
                tx.all(statement.order_by(distance()), of_model=model, query=query)
            return tx.all(statement.add_columns(v.vector), of_model=model)
        return tx.all(statement.order_by(distance()), of_model=model, query=query)

    near = await storage.read(ours, ask, "m")
    far = await storage.read(ours, ask, "n")
    assert len(near) == len(far) == 3
    beside = joined.add_columns(v.model, v.vector)
    assert len(await storage.read(ours, lambda tx: tx.all(beside))) == 6


async def test_row_security_holds_what_raw_sql_compares_to_its_scope(
    postgres_database: str,
) -> None:
    storage = await Storage.open(postgres_database)
    ours, theirs = await new_organization(storage), await new_organization(storage)
    rows = unit_rows(5, 1, 256)
    sources = {scope: await storage.write(scope, add_source, rows) for scope in (ours, theirs)}
    await storage.close()
    query = str(rows[0].tolist())
    for scope, source in sources.items():
        with as_server(postgres_database, scope) as connection:
            assert connection.execute(NEAREST_OF_ALL, (query,)).fetchall() == [(source,)]
            for statement, count in CHANGES.items():
                assert connection.execute(statement.encode()).rowcount == count
            connection.rollback()
    with as_server(postgres_database, None) as connection, pytest.raises(psycopg.Error):
        connection.execute(NEAREST_OF_ALL, (query,))
    with (
        as_server(postgres_database, ours) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"),
    ):
        connection.execute("UPDATE knowledge_vectors SET source_id = %s", (sources[theirs],))


def as_server(url: str, scope: UUID | None) -> psycopg.Connection:
    """A raw connection of the server's own role, with a scope's name or without any."""
    connection = psycopg.connect(url)
    if scope is not None:
        connection.execute("SELECT set_config(%s, %s, false)", (SETTING, str(scope)))
        connection.commit()
    return connection


NEAREST_OF_ALL = (
    "SELECT DISTINCT source_id FROM (SELECT source_id FROM knowledge_vectors"
    " WHERE vector_dims(vector) = 256"
    " ORDER BY (vector::halfvec(256)) <#> %s::halfvec(256) LIMIT 100) AS near"
)
# What raw SQL of a scope may change, and of how many rows: its own.
CHANGES = {
    "UPDATE knowledge_vectors SET model = 'x'": 5,
    "UPDATE knowledge_embeddings SET status = 'failed', reason = 'x'": 1,
    "DELETE FROM knowledge_vectors": 5,
    "DELETE FROM knowledge_embeddings": 1,
    "DELETE FROM knowledge_settings": 1,
}


async def test_a_scope_has_one_row_of_settings_and_so_has_the_platform(storage: Storage) -> None:
    ours, theirs = await new_organization(storage), await new_organization(storage)
    keys: dict[Scope, UUID] = {ours: ours, theirs: theirs, PLATFORM: NIL}
    for scope in keys:
        await storage.write(scope, settle)
    for scope, own in keys.items():
        assert await storage.read(scope, lambda tx: tx.all(SETTINGS)) == [(own,)]
        for key in (own, new_id(), *(each for each in keys.values() if each != own)):
            with pytest.raises(ConstraintViolated) as refused:
                await storage.write(scope, lambda tx, key=key: add_settings(tx, key))
            assert refused.value.name in {
                "one_row_of_settings_per_scope",
                "settings_are_of_their_scope",
                "one_row_of_settings_per_organization",
            }


def add_settings(tx: Transaction, key: UUID) -> None:
    tx.run(ADD_SETTINGS, scope_id=key, since=tx.now)


SETTINGS = select(knowledge_settings.c.scope_id)
ADD_SETTINGS = insert(knowledge_settings)
