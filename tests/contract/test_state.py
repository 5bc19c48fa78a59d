"""Application state: an organization's own rows by their refs, from a host's database of either kind."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import FromClause, event, func, select, text, true
from sqlalchemy.exc import DBAPIError

from memoranda.access.models import LOCAL_OPERATOR
from memoranda.access.service import Access
from memoranda.briefs.models import ContextItem, ContextRequest, ContextSourceSpec
from memoranda.briefs.sources.application import ApplicationSource
from memoranda.briefs.sources.outreach import OutreachSource
from memoranda.state import store
from memoranda.state.crm import CRM
from memoranda.state.projections import Bridge, HostState, Projection
from memoranda.state.service import StateReader
from memoranda.storage import Storage, StorageBusy, StorageUnavailable
from memoranda.storage.host import HostDatabase, HostReading
from memoranda.words.errors import Invalid
from memoranda.words.ref import ResourceRef
from memoranda.words.subject import ContextSubject
from tests.contract.host_house import ACME, GLOBEX, MESSAGES, ORDERS, TABLES, build, crm, put
from tests.postgres import Postgres

COMPANIES = TABLES.tables["crm_companies"]
KINDS = [each.kind for each in CRM]
SUFFIX = dict(zip(KINDS, ("c", "p", "d", "a", "l", "x", "ic", "ip"), strict=True))


@pytest.fixture
def host_url(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> str:
    """A host's database of the kind of our own, with rows of two tenants."""
    if database_url.startswith("sqlite"):
        url = f"sqlite:///{tmp_path / 'host.db'}"
    else:
        server: Postgres = request.getfixturevalue("postgres")
        url = server.new_database()
    build(url)
    return url


@pytest.fixture
async def reader(storage: Storage, host_url: str) -> AsyncIterator[StateReader]:
    async with StateReader.open(storage, crm(host_url, ORDERS, MESSAGES)) as opened:
        yield opened


async def subject_of(storage: Storage, external_id: str | None) -> ContextSubject:
    made = await Access(storage).create_organization(
        LOCAL_OPERATOR, "An organization", external_id=external_id
    )
    return ContextSubject(organization_id=made.organization.id)


def ref(kind: str, id_: str, label: str | None = None) -> ResourceRef:
    return ResourceRef(kind=kind, id=id_, label=label)


def said(rows: list[Any]) -> list[tuple[str, dict[str, str]]]:
    return [(row.ref.id, {field.column: field.value for field in row.fields}) for row in rows]


async def offered(
    reader: StateReader, subject: ContextSubject, *refs: ResourceRef, limit: int | None = None
) -> list[ContextItem]:
    request = ContextRequest(subject=subject, query="Acme Ltd", entities=list(refs))
    spec = ContextSourceSpec(name="application", token_budget=1_000, limit=limit)
    return await ApplicationSource(reader).retrieve(request, spec)


class Heard:
    """Every statement that reached the host's database, with what it asked."""

    def __init__(self, reader: StateReader) -> None:
        self.statements: list[tuple[str, Any]] = []
        assert reader._host is not None
        event.listen(reader._host.database.engine, "before_cursor_execute", self._hear)

    def _hear(self, _c: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        self.statements.append((statement, values))


# --- whose rows are read ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
async def test_each_kind_answers_the_own_row_and_nothing_of_another_tenants(
    kind: str, storage: Storage, reader: StateReader
) -> None:
    acme, globex = await subject_of(storage, ACME), await subject_of(storage, GLOBEX)
    refs = [ref(kind, f"Globex-{SUFFIX[kind]}"), ref(kind, f"Acme-{SUFFIX[kind]}")]
    for subject, own in ((acme, refs[1]), (globex, refs[0])):
        assert [row.ref for row in await reader.read(subject, refs)] == [own]
        assert await reader.exists(subject, refs) == {own}


async def test_an_organization_that_the_host_has_no_name_for_reads_nothing(
    storage: Storage, reader: StateReader
) -> None:
    nameless, other = await subject_of(storage, None), await subject_of(storage, "tenant-ACME")
    heard = Heard(reader)
    assert await reader.read(nameless, [ref("crm.company", "Acme-c")]) == []
    assert await reader.exists(nameless, [ref("crm.company", "Acme-c")]) == set()
    assert heard.statements == []
    assert await reader.read(other, [ref("crm.company", "Acme-c")]) == []


async def test_every_statement_that_reaches_the_host_asks_for_one_tenant(
    storage: Storage, reader: StateReader
) -> None:
    acme = await subject_of(storage, ACME)
    refs = [ref(kind, f"Acme-{SUFFIX[kind]}") for kind in KINDS]
    heard = Heard(reader)
    await reader.read(acme, refs)
    await reader.exists(acme, refs)
    await reader.newest(acme, [ref("outreach.thread", "1")], "outreach_thread", limit=5)
    assert len(heard.statements) == 2 * len(KINDS) + 1
    for statement, values in heard.statements:
        where = statement.split("WHERE", 1)[1]
        assert "organization_id" in where or "org" in where
        assert ACME in (values.values() if isinstance(values, dict) else values)


def test_no_statement_is_made_without_the_tenant(host_url: str) -> None:
    database = HostDatabase.at(host_url)
    with database.engine.connect() as connection:
        reading = HostReading(connection, database._dialect)
        held = store.hold(reading, (*CRM, ORDERS, MESSAGES))
    database.engine.dispose()
    for each in held.values():
        for statement in (each.rows, each.there, *each.newest.values()):
            asked = statement.compile(dialect=database.engine.dialect)
            assert asked.params.keys() >= {"tenant", "ids"}
            of = each.projection.tenant or (
                each.projection.bridge and each.projection.bridge.tenant
            )
            assert f"{of}" in str(asked).split("WHERE", 1)[1]


async def test_a_bridge_leads_nowhere_once_its_row_is_gone(
    storage: Storage, reader: StateReader, host_url: str
) -> None:
    acme = await subject_of(storage, ACME)
    put(host_url, "intel_people", {"id": "lone", "full_name": "Nobody's"})
    named = {"organization_id": ACME, "prospect_id": "Acme-x", "intel_person_id": None}
    twice = {"organization_id": ACME, "prospect_id": "Acme-y", "intel_person_id": "Acme-ip"}
    put(host_url, "prospect_people", named, twice)
    refs = [ref("intelligence.person", "lone"), ref("intelligence.person", "Acme-ip")]
    assert said(await reader.read(acme, refs)) == [("Acme-ip", {"full_name": "Pat of Acme"})]


async def test_a_deleted_row_is_like_one_that_never_was(
    storage: Storage, reader: StateReader, host_url: str
) -> None:
    acme, shop = await subject_of(storage, ACME), await subject_of(storage, "42")
    gone = {"id": "gone", "organization_id": ACME, "name": "Gone"}
    put(host_url, "crm_companies", {**gone, "deleted_at": datetime(2026, 1, 1, tzinfo=UTC)})
    put(host_url, "orders", {"number": 7, "account": 42, "gone": True, "status": "sent"})
    put(host_url, "orders", {"number": 8, "account": 42, "gone": False, "status": "sent"})
    put(host_url, "orders", {"number": 9, "account": 42, "gone": None, "status": "sent"})
    gone_and_unknown = [ref("crm.company", "gone"), ref("crm.company", "never")]
    assert await reader.read(acme, gone_and_unknown) == []
    assert await reader.exists(acme, gone_and_unknown) == set()
    orders = [ref("shop.order", each) for each in ("7", "8", "9")]
    assert [row.ref.id for row in await reader.read(shop, orders)] == ["8", "9"]


# --- what is asked for ------------------------------------------------------------------------


async def test_refs_are_read_once_each_in_their_order_with_one_question_for_a_kind(
    storage: Storage, reader: StateReader
) -> None:
    acme = await subject_of(storage, ACME)
    heard = Heard(reader)
    rows = await reader.read(
        acme,
        [
            ref("prospect", "Acme-x", "The one"),
            ref("crm.company", "none"),
            ref("unheard.of", "1"),
            ref("crm.person", "Acme-p"),
            ref("prospect", "Acme-x", "The other"),
            ref("crm.company", "Acme-c"),
        ],
    )
    assert [row.ref.id for row in rows] == ["Acme-x", "Acme-p", "Acme-c"]
    assert [row.ref.label for row in rows] == ["The one", "Ann of Acme", "Acme Ltd"]
    assert len(heard.statements) == 3


async def test_many_refs_of_a_kind_are_asked_for_in_parts(
    storage: Storage, reader: StateReader
) -> None:
    acme = await subject_of(storage, ACME)
    heard = Heard(reader)
    refs = [ref("crm.company", f"no-{number}") for number in range(2 * store.AT_ONCE)]
    rows = await reader.read(acme, [*refs, ref("crm.company", "Acme-c")])
    assert [row.ref.id for row in rows] == ["Acme-c"]
    assert len(heard.statements) == 3


@pytest.mark.parametrize("wrong", ["07", "7 ", "+7", "７", "7.0", "9" * 40, "x", "7\x7f"])
async def test_an_id_has_one_spelling(
    wrong: str, storage: Storage, reader: StateReader, host_url: str
) -> None:
    shop = await subject_of(storage, "42")
    put(host_url, "orders", {"number": 7, "account": 42, "status": "sent"})
    assert await reader.read(shop, [ref("shop.order", wrong)]) == []
    assert [row.ref.id for row in await reader.read(shop, [ref("shop.order", "7")])] == ["7"]


async def test_a_tenant_that_the_column_cannot_hold_has_no_rows(
    storage: Storage, reader: StateReader, host_url: str
) -> None:
    put(host_url, "orders", {"number": 7, "account": 42, "status": "sent"})
    for called in (ACME, "042", "42.0"):
        assert await reader.read(await subject_of(storage, called), [ref("shop.order", "7")]) == []


async def test_fields_read_alike_from_either_database(
    storage: Storage, reader: StateReader, host_url: str
) -> None:
    shop = await subject_of(storage, "42")
    placed = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
    row = {"number": 7, "account": 42, "total": 1200.5, "paid": True, "placed_at": placed}
    put(host_url, "orders", row)
    [(_, fields)] = said(await reader.read(shop, [ref("shop.order", "7")]))
    assert fields == {"total": "1200.5", "paid": "yes", "placed_at": "2026-05-04T09:30:00Z"}


# --- the source -------------------------------------------------------------------------------


async def test_each_field_that_is_not_null_is_one_item_under_the_key_of_its_column(
    storage: Storage, reader: StateReader
) -> None:
    acme = await subject_of(storage, ACME)
    items = await offered(reader, acme, ref("crm.deal", "Acme-d"), ref("crm.company", "Acme-c"))
    assert [(item.title, item.body, item.subject_key) for item in items] == [
        ("name", "Acme deal", "crm.deal:Acme-d:name"),
        ("amount", "1200", "crm.deal:Acme-d:amount"),
        ("name", "Acme Ltd", "crm.company:Acme-c:name"),
        ("industry", "Acme", "crm.company:Acme-c:industry"),
    ]
    assert items[0].ref == ref("crm.deal", "Acme-d")
    assert items[0].ref.label == "Acme deal"


async def test_a_limit_caps_items_and_zero_asks_nothing(
    storage: Storage, reader: StateReader
) -> None:
    acme = await subject_of(storage, ACME)
    refs = ref("crm.deal", "Acme-d"), ref("crm.company", "Acme-c")
    every = await offered(reader, acme, *refs)
    assert await offered(reader, acme, *refs, limit=3) == every[:3]
    heard = Heard(reader)
    assert await offered(reader, acme, *refs, limit=0) == []
    assert await offered(reader, acme) == []
    assert heard.statements == []


async def test_an_id_with_a_colon_is_shown_under_no_key(
    storage: Storage, reader: StateReader, host_url: str
) -> None:
    acme = await subject_of(storage, ACME)
    put(host_url, "crm_companies", {"id": "a:b", "organization_id": ACME, "name": "Colon"})
    [item] = await offered(reader, acme, ref("crm.company", "a:b"))
    assert (item.body, item.subject_key) == ("Colon", None)


async def test_the_newest_messages_of_a_thread_come_first_and_without_keys(
    storage: Storage, reader: StateReader, host_url: str
) -> None:
    acme = await subject_of(storage, ACME)
    for number in range(1, 26):
        at = datetime(2026, 1, number, tzinfo=UTC)
        own = {"id": number, "org": ACME, "thread": 1, "sender": "Ann", "said": f"No. {number}"}
        put(host_url, "messages", {**own, "sent_at": at})
    foreign = {"id": 90, "org": GLOBEX, "thread": 1, "sender": "Eve", "said": "Foreign"}
    put(host_url, "messages", {**foreign, "sent_at": datetime(2026, 2, 1, tzinfo=UTC)})
    source = OutreachSource(reader, "outreach_thread")
    request = ContextRequest(
        subject=acme,
        query="",
        entities=[ref("outreach.thread", "1"), ref("outreach.message", "25")],
    )

    async def read(limit: int | None) -> list[ContextItem]:
        spec = ContextSourceSpec(name="outreach_thread", token_budget=1_000, limit=limit)
        return await source.retrieve(request, spec)

    items = await read(None)
    assert [item.body for item in items] == [f"No. {number}" for number in range(25, 5, -1)]
    assert items[0].title == "Ann, 2026-01-25 00:00"
    assert {item.subject_key for item in items} == {None}
    assert [item.body for item in await read(2)] == ["No. 25", "No. 24"]
    assert await read(0) == []
    assert await reader.read(acme, [ref("outreach.message", "25")]) == []


# --- the handle -------------------------------------------------------------------------------


async def test_nothing_can_be_written_through_the_handle(host_url: str) -> None:
    database = HostDatabase.at(host_url)
    try:
        with database.engine.connect() as connection, pytest.raises(DBAPIError):
            connection.execute(text("DELETE FROM crm_companies"))

        def insert(host: HostReading) -> None:
            host.all(text("DELETE FROM crm_companies"), {})  # type: ignore[arg-type]  # what is refused

        with pytest.raises(TypeError):
            await database.run(insert)
    finally:
        await database.close()


async def test_a_file_that_is_not_there_is_not_made(storage: Storage, tmp_path: Path) -> None:
    missing = tmp_path / "missing.db"
    subject = await subject_of(storage, ACME)
    async with StateReader.open(storage, crm(str(missing))) as reader:
        with pytest.raises(StorageUnavailable):
            await reader.read(subject, [ref("crm.company", "Acme-c")])
    assert not missing.exists()


async def test_a_statement_that_takes_too_long_is_ended(host_url: str) -> None:
    database = HostDatabase.at(host_url, seconds=0.2)

    def count(host: HostReading) -> object:
        many: FromClause = COMPANIES
        for number in range(30):
            many = many.join(COMPANIES.alias(f"t{number}"), true())
        return host.all(select(func.count()).select_from(many), {})

    try:
        with pytest.raises(StorageBusy):
            await database.run(count)
    finally:
        await database.close()


async def test_our_own_tables_are_nobodys_to_project(storage: Storage, database_url: str) -> None:
    ours = Projection(
        kind="a.memory", table="memories", tenant="organization_id", columns=("audience",)
    )
    state = HostState(database=database_url, projections=(ours,))
    with pytest.raises(Invalid, match="memories"):
        async with StateReader.open(storage, state):
            pass


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"table": "orderz"}, "orderz"),
        ({"columns": ("state",)}, "column state"),
        ({"tenant": "org"}, "column org (tenant)"),
        ({"title": "label"}, "column label (title)"),
        (
            {"tenant": None, "bridge": Bridge(table="crm_lists", tenant="x", foreign_key="id")},
            "column x (bridge.tenant)",
        ),
    ],
)
async def test_what_is_not_in_the_database_is_told_by_its_name(
    change: dict[str, Any], told: str, storage: Storage, host_url: str
) -> None:
    state = HostState(database=host_url, projections=(ORDERS.model_copy(update=change),))
    with pytest.raises(Invalid) as refused:
        async with StateReader.open(storage, state):
            pass
    assert told in refused.value.message
