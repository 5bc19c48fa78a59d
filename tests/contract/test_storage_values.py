"""What is read back is what was written, and broken promises have one name, on both databases."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import CheckConstraint, UniqueConstraint, bindparam, delete, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from memoranda.storage import (
    ConstraintViolated,
    Storage,
    Transaction,
    insert_or_ignore,
    upsert,
)
from memoranda.storage.tables import (
    METADATA,
    agents,
    context_policies,
    knowledge_chunks,
    knowledge_sources,
    memories,
    organizations,
    runs,
    search_postings,
    search_terms,
    users,
)
from memoranda.storage.types import Json
from memoranda.words.errors import Invalid
from memoranda.words.ids import new_id
from tests.contract.storage_rows import add_source, add_user, names, new_organization

BERLIN, KOLKATA = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kolkata")
NEW_USER = insert(users)
TIMES = select(users.c.created_at).where(users.c.id == bindparam("user"))
NEW_RUN = insert(runs)
INPUT = select(runs.c.input).where(runs.c.id == bindparam("run"))
NEW_POSTING = insert(search_postings)


@pytest.fixture(scope="module")
def storage(shared_storage: Storage) -> Storage:
    return shared_storage


@pytest.fixture
async def organization(storage: Storage) -> UUID:
    return await new_organization(storage)


@pytest.mark.parametrize(
    "when",
    [
        datetime(2026, 3, 29, 2, 59, 59, 999_999, tzinfo=BERLIN),  # the hour that does not exist
        datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=0),  # the hour that comes twice
        datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1),
        datetime(2026, 7, 1, 12, tzinfo=KOLKATA),
        datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC),
        datetime(1, 1, 2, tzinfo=UTC),
        datetime(9999, 12, 30, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=-11, minutes=-30))),
    ],
)
async def test_an_aware_time_comes_back_as_the_same_moment_in_utc(
    storage: Storage, organization: UUID, when: datetime
) -> None:
    user = new_id()
    await storage.write(
        organization, lambda tx: tx.run(NEW_USER, id=user, name="x", created_at=when)
    )
    row = await storage.read(organization, lambda tx: tx.one(TIMES, user=user))
    assert row.created_at == when.astimezone(UTC)
    assert row.created_at.utcoffset() == timedelta(0)


async def test_times_sort_as_moments_whatever_their_zone(
    storage: Storage, organization: UUID
) -> None:
    moments = [
        datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1),
        datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=0),
        datetime(2026, 10, 25, 6, 15, tzinfo=KOLKATA),
        datetime(1960, 1, 1, tzinfo=UTC),
    ]
    for number, moment in enumerate(moments):
        await storage.write(
            organization,
            lambda tx, n=number, m=moment: tx.run(NEW_USER, id=new_id(), name=str(n), created_at=m),
        )
    by_time = select(users.c.name).order_by(users.c.created_at)
    rows = await storage.read(organization, lambda tx: tx.all(by_time))
    assert [row.name for row in rows] == ["3", "1", "2", "0"]


async def test_a_time_without_a_zone_is_refused(storage: Storage, organization: UUID) -> None:
    naive = datetime(2026, 1, 1)  # noqa: DTZ001 - the point of it
    with pytest.raises(ValueError, match="zone"):
        await storage.write(
            organization, lambda tx: tx.run(NEW_USER, id=new_id(), name="x", created_at=naive)
        )


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)


async def test_json_comes_back_as_it_was_written(storage: Storage, organization: UUID) -> None:
    def keep(tx: Transaction, value: Any) -> UUID:
        run = new_id()
        tx.run(NEW_RUN, id=run, status="x", input=value, created_at=tx.now)
        return run

    odd = {"b": [1, 2.5, None, True], "a": "é 日本語 🎉 \u0000 \u2028", "": {}, "n": 2**80}
    for value in (odd, [], {}, "", 0, False, None, -0.0, 1e308):
        run = await storage.write(organization, keep, value)
        row = await storage.read(organization, lambda tx, r=run: tx.one(INPUT, run=r))
        assert row.input == value
        assert type(row.input) is type(value)
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON"):
            await storage.write(organization, keep, value)


@given(json_values)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_json_survives_its_column(value: Any) -> None:
    for dialect in (sqlite.dialect(), postgresql.dialect()):
        bound = Json().bind_processor(dialect)(value)
        assert bound is None or json.loads(bound) == value
        assert Json().result_processor(dialect, None)(bound) == value


@pytest.mark.parametrize(
    "text",
    ["", " ", "plain", "Ünïcödé", "日本語のテキスト", "🧑‍🚀🎉", "\u2028\u2029\u0085\r\n\t", "\u202eevil\u202c", "'\"\\%_", "x" * 100_000],
)  # fmt: skip
async def test_text_comes_back_as_it_was_written(
    storage: Storage, organization: UUID, text: str
) -> None:
    await storage.write(organization, add_user, text)
    assert await storage.read(organization, names) == [text]


@pytest.mark.parametrize("text", ["\ud800", "a\udfff"])
async def test_text_that_is_no_unicode_is_invalid(
    storage: Storage, organization: UUID, text: str
) -> None:
    with pytest.raises(Invalid):
        await storage.write(organization, add_user, text)
    assert await storage.read(organization, names) == []


@pytest.mark.parametrize("content", [b"", b"\x00\xff" * 1000, bytes(range(256))])
async def test_bytes_come_back_as_they_were_written(
    storage: Storage, organization: UUID, content: bytes
) -> None:
    document = new_id()
    row = {"collection": "c", "term": "t", "document_id": document, "postings": content}
    await storage.write(organization, lambda tx: tx.run(NEW_POSTING, **row))
    found = select(search_postings.c.postings, search_postings.c.scope_id)
    assert await storage.read(organization, lambda tx: tx.one(found)) == (content, organization)


async def test_an_upsert_sets_and_adds(storage: Storage, organization: UUID) -> None:
    keys = ["scope_id", "collection", "term"]
    count = upsert(search_terms, keys, set_=["windows"], add=["passages"])
    row = {"collection": "c", "term": "t", "passages": 3, "windows": 1, "documents": 1}
    await storage.write(organization, lambda tx: tx.run(count, **row))
    await storage.write(organization, lambda tx: tx.run(count, **{**row, "windows": 9}))
    found = select(search_terms.c.passages, search_terms.c.windows, search_terms.c.documents)
    assert await storage.read(organization, lambda tx: tx.all(found)) == [(6, 9, 1)]


async def test_an_insert_or_ignore_leaves_what_is_there(
    storage: Storage, organization: UUID
) -> None:
    user = await storage.write(organization, add_user, "first")
    again = insert_or_ignore(users)
    row = {"id": user, "name": "second"}
    changed = await storage.write(organization, lambda tx: tx.run(again, **row, created_at=tx.now))
    assert changed == 0
    assert await storage.read(organization, names) == ["first"]


def source(tx: Transaction, **given_: Any) -> None:
    row = {"kind": "text", "title": "t", "digest": "0" * 64, "status": "pending"}
    times = {"created_at": tx.now, "updated_at": tx.now}
    tx.run(insert(knowledge_sources), **{"id": new_id(), **row, **times, **given_})


def policy(tx: Transaction) -> UUID:
    row = new_id()
    given_ = {"name": str(row), "version": 1, "policy": {}, "created_at": tx.now}
    tx.run(insert(context_policies), id=row, **given_)
    return row


def broken_unique(tx: Transaction) -> None:
    add_user(tx, "x", "same")
    add_user(tx, "y", "same")


def broken_primary_key(tx: Transaction) -> None:
    source_id = add_source(tx, "x")
    chunk = {"source_id": source_id, "text": "x", "tokens": 1, "id": new_id()}
    tx.run(insert(knowledge_chunks), ordinal=1, **chunk)
    tx.run(insert(knowledge_chunks), ordinal=2, **chunk)


def broken_partial_unique(tx: Transaction) -> None:
    for _ in range(2):
        row = {"id": new_id(), "generation": 1, "workflow_id": "w"}
        times = {"created_at": tx.now, "updated_at": tx.now}
        tx.run(insert(METADATA.tables["conversations"]), **row, **times)


def broken_check(tx: Transaction) -> None:
    source(tx, status="failed")


def broken_foreign_key(tx: Transaction) -> None:
    tx.run(NEW_RUN, id=new_id(), status="x", user_id=new_id(), created_at=tx.now)


def broken_foreign_key_of_many(tx: Transaction) -> None:
    user = add_user(tx, "x")
    rows = [{"user_id": user, "agent_id": None}, {"user_id": user, "agent_id": new_id()}]
    tx.run_many(
        NEW_RUN, [{"id": new_id(), "status": "x", "created_at": tx.now, **row} for row in rows]
    )


def broken_foreign_key_of_a_revision(tx: Transaction) -> None:
    row = {"id": new_id(), "memory_id": new_id(), "version": 1, "text": "x", "tags": []}
    tx.run(insert(METADATA.tables["memory_revisions"]), **row, origin="user", created_at=tx.now)


def broken_not_null(tx: Transaction) -> None:
    tx.run(NEW_USER, id=new_id(), name=None, created_at=tx.now)


def missing_column(tx: Transaction) -> None:
    tx.run(NEW_USER, id=new_id(), created_at=tx.now)


def broken_trigger(tx: Transaction) -> None:
    row = policy(tx)
    change = context_policies.update().where(context_policies.c.id == row).values(version=2)
    tx.run(change)


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (broken_unique, "one_user_per_external_id"),
        (broken_primary_key, "knowledge_chunks_pk"),
        (broken_partial_unique, "one_conversation_per_key_without_agent"),
        (broken_check, "a_failed_source_says_why"),
        (broken_foreign_key, "a_runs_user_is_of_its_organization"),
        (broken_foreign_key_of_many, "a_runs_agent_is_of_its_organization"),
        (broken_foreign_key_of_a_revision, "a_revision_stays_in_its_organization"),
        (broken_not_null, "users_name_not_null"),
        (missing_column, "users_name_not_null"),
        (broken_trigger, "published_policies_do_not_change"),
    ],
)
async def test_a_broken_promise_has_the_same_name_everywhere(
    storage: Storage, organization: UUID, write: Any, name: str
) -> None:
    with pytest.raises(ConstraintViolated) as broken:
        await storage.write(organization, write)
    assert broken.value.name == name


async def test_a_run_cannot_name_another_organizations_user(
    storage: Storage, organization: UUID
) -> None:
    stranger = await storage.write(await new_organization(storage), add_user, "stranger")
    with pytest.raises(ConstraintViolated) as broken:
        await storage.write(
            organization,
            lambda tx: tx.run(
                NEW_RUN, id=new_id(), status="x", user_id=stranger, created_at=tx.now
            ),
        )
    assert broken.value.name == "a_runs_user_is_of_its_organization"


def test_no_promise_waits_for_the_commit_which_many_writes_share() -> None:
    for table in METADATA.tables.values():
        assert not [key.name for key in table.foreign_key_constraints if key.deferrable]


def test_every_promise_has_a_name_and_no_two_keys_share_their_columns() -> None:
    for table in METADATA.tables.values():
        for constraint in table.constraints:
            assert constraint.name, f"{table.name} has a nameless {type(constraint).__name__}"
            if isinstance(constraint, CheckConstraint | UniqueConstraint):
                assert "_" in str(constraint.name)
        keys = [
            tuple(c.name for c in k.columns)
            for k in table.constraints
            if isinstance(k, UniqueConstraint)
        ]
        keys += [tuple(c.name for c in i.columns) for i in table.indexes if i.unique]
        assert len(keys) == len(set(keys)), (
            table.name
        )  # SQLite tells keys apart by their columns alone


async def test_deleting_an_organization_takes_everything_of_it(
    storage: Storage, organization: UUID
) -> None:
    await storage.write(organization, add_user, "x")
    await storage.write(organization, add_source, "x")
    await storage.write(organization, lambda tx: tx.run(delete(organizations)))
    for table in (users, knowledge_sources, agents, memories):
        statement = select(func.count()).select_from(table)
        assert await storage.read(organization, lambda tx, s=statement: tx.one(s)) == (0,)
