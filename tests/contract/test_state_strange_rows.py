"""Application state: rows as real databases have them, of which none takes its neighbors with it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import text
from sqlalchemy.engine import make_url

from memoranda.access.models import LOCAL_OPERATOR
from memoranda.access.service import Access
from memoranda.state.models import Resolved
from memoranda.state.projections import Bridge, HostState, Projection
from memoranda.state.service import StateReader
from memoranda.storage import Storage
from memoranda.words.errors import HostMoved, MemorandaError
from memoranda.words.ref import ResourceRef
from memoranda.words.subject import ContextSubject
from tests.contract.host_house import engine_of
from tests.postgres import Postgres

TENANT = "tenant-acme"
ORG = f"'{TENANT}'"


def put(rows: str, table: str = "things") -> str:
    """The statement that writes these rows as they stand, whatever they hold."""
    return "INSERT INTO one VALUES all".replace("one", table).replace("all", rows)


class House:
    """A host's database that has a table `things`, and what an organization reads of it."""

    def __init__(self, storage: Storage, url: str) -> None:
        self.storage, self.url = storage, url
        self.postgres = url.startswith("postgresql")
        self._subject: ContextSubject | None = None

    def run(self, *statements: str) -> None:
        engine = engine_of(self.url)
        with engine.begin() as connection:
            for each in statements:
                connection.execute(text(each))
        engine.dispose()

    async def subject(self) -> ContextSubject:
        if self._subject is None:
            made = await Access(self.storage).create_organization(
                LOCAL_OPERATOR, "Acme", external_id=TENANT
            )
            self._subject = ContextSubject(organization_id=made.organization.id)
        return self._subject

    async def read(self, *ids: str, columns: Sequence[str] = ("name",), **declared: Any) -> Any:
        """What is read of these ids, by id and column."""
        projection = thing(columns, **declared)
        async with self.open(projection) as (reader, subject):
            refs = [ResourceRef(kind="a.thing", id=each) for each in ids]
            found = await reader.read(subject, refs)
            assert await reader.exists(subject, refs) == {each.ref for each in found}
            return said(found)

    async def newest(self, parent: str, **declared: Any) -> list[Resolved]:
        projection = thing(
            ("name",), source="outreach", newest="at", parents={"a.parent": "parent"}, **declared
        )
        async with self.open(projection) as (reader, subject):
            refs = [ResourceRef(kind="a.parent", id=parent)]
            return await reader.newest(subject, refs, "outreach", limit=10)

    @asynccontextmanager
    async def open(
        self, projection: Projection
    ) -> AsyncIterator[tuple[StateReader, ContextSubject]]:
        state = HostState(database=self.url, projections=(projection,))
        async with StateReader.open(self.storage, state) as reader:
            yield reader, await self.subject()


def thing(columns: Sequence[str], **declared: Any) -> Projection:
    whose = {"tenant": "org"} if "bridge" not in declared else {}
    return Projection(
        kind="a.thing", table="things", columns=tuple(columns), **{**whose, **declared}
    )


def said(rows: Sequence[Resolved]) -> dict[str, dict[str, str]]:
    return {row.ref.id: {field.column: field.value for field in row.fields} for row in rows}


@pytest.fixture
def house(
    request: pytest.FixtureRequest, storage: Storage, database_url: str, tmp_path: Path
) -> House:
    if database_url.startswith("sqlite"):
        return House(storage, f"sqlite:///{tmp_path / 'host.db'}")
    server: Postgres = request.getfixturevalue("postgres")
    return House(storage, server.new_database())


# --- values -----------------------------------------------------------------------------------

STRANGE_ON_POSTGRES = {
    "timestamptz": ["infinity", "-infinity", "9999-12-31 23:59:59-12", "0044-03-15 12:00:00 BC"],
    "timestamp": ["infinity", "12000-01-01 00:00:00"],
    "date": ["infinity", "0044-03-15 BC", "12000-01-01"],
    "time": ["24:00:00"],
    "timetz": ["24:00:00+03"],
    "interval": ["100000000 years"],
    "timestamptz[]": ["{infinity}"],
    "tstzrange": ["[-infinity,12000-01-01)"],
    "json": ['"\\ud800"', "[" * 3000 + "]" * 3000],
    "jsonb": ['{"n": ' + "9" * 5000 + "}"],
}
STRANGE_ON_SQLITE = {
    "datetime": ["'9999-12-31T23:59:59-05:00'", "'0001-01-01T00:00:00+05:00'"],
    "text": ["cast(x'4dfc6c6c6572' as text)", "cast(x'eda080' as text)"],
    "varchar(20)": ["x'00ff'"],
}


async def test_a_value_that_cannot_be_read_as_its_type_hides_no_other_row(house: House) -> None:
    strange = STRANGE_ON_POSTGRES if house.postgres else STRANGE_ON_SQLITE
    for type_, values in strange.items():
        house.run(
            "DROP TABLE IF EXISTS things",
            f"CREATE TABLE things (id integer, org text, name text, odd {type_})",
            put(f"(0, {ORG}, 'plain', NULL)"),
        )
        for number, value in enumerate(values, start=1):
            written = value.replace(":", "\\:")
            written = f"'{written}'" if house.postgres else written
            house.run(put(f"({number}, {ORG}, 'odd', {written})"))
        ids = [str(number) for number in range(len(values) + 1)]
        found = await house.read(*ids, columns=("name", "odd"))
        assert list(found) == ids, type_
        assert found["0"] == {"name": "plain"}
        if value != "x'00ff'":  # bytes say nothing
            assert all(found[each]["odd"].encode() for each in ids[1:]), type_


async def test_what_is_without_end_is_told_in_the_words_of_its_database(house: House) -> None:
    at, value = ("timestamptz", "infinity") if house.postgres else ("datetime", "infinity")
    house.run(
        f"CREATE TABLE things (id integer, org text, name text, ends {at})",
        put(f"(1, {ORG}, 'a', '{value}'), (2, {ORG}, 'b', '2026-05-04 09\\:30\\:00')"),
    )
    found = await house.read("1", "2", columns=("ends",))
    assert found == {"1": {"ends": "infinity"}, "2": {"ends": "2026-05-04T09:30:00Z"}}


# --- ids --------------------------------------------------------------------------------------


async def test_a_padded_id_is_the_id_without_its_blanks(house: House) -> None:
    house.run(
        "CREATE TABLE things (id char(8), org char(20), name text, parent char(6), at timestamp)",
        put(f"('a1', {ORG}, 'mine', 'p', '2026-05-04 09\\:30\\:00')"),
        put("('b1', 'tenant-globex', 'yours', 'p', '2026-05-04 09\\:30\\:00')"),
    )
    assert await house.read("a1", "b1") == {"a1": {"name": "mine"}}
    assert said(await house.newest("p")) == {"a1": {"name": "mine"}}


async def test_a_row_that_no_ref_can_name_hides_no_other(house: House) -> None:
    house.run(
        "CREATE TABLE things (id text, org text, name text, parent text, at timestamp)",
        *(
            put(f"({id_}, {ORG}, 'odd', 'p', '2026-05-04 09\\:30\\:00')")
            for id_ in ("NULL", "' '", "''")
        ),
        put(f"('a', {ORG}, 'mine', 'p', '2026-05-04 09\\:30\\:00')"),
    )
    if not house.postgres:
        for id_ in ("x'00ff'", "'a' || char(0)", "cast(x'fc' as text)"):
            house.run(put(f"({id_}, {ORG}, 'odd', 'other', '2026-05-04 09\\:30\\:00')"))
        assert len(await house.newest("other")) == 1  # the last is a text, as far as it is one
    assert said(await house.newest("p")) == {"a": {"name": "mine"}}


def made(server: Postgres, encoding: str) -> str:
    """A database of that encoding, as the role's own."""
    url = make_url(server.new_database())
    name = f"{url.database}_{encoding.lower()}"
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        connection.execute(
            sql.SQL(
                "CREATE DATABASE {} ENCODING {} LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0 OWNER {}"
            ).format(sql.Identifier(name), sql.Literal(encoding), sql.Identifier(str(url.username)))
        )
    return url.set(database=name).render_as_string(hide_password=False)


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
async def test_a_server_with_an_encoding_of_its_own_is_read_whatever_is_asked_for(
    encoding: str, storage: Storage, postgres: Postgres
) -> None:
    house = House(storage, made(postgres, encoding))
    with psycopg.connect(house.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE things (id text, org text, name text)")
        connection.execute(put(f"('1', {ORG}, E'M\\374ller')"))
        connection.execute(put(f"('2', {ORG}, 'plain')"))
    found = await house.read("日本", "1", "2")
    written = "Müller" if encoding == "LATIN1" else "M\ufffdller"
    assert found == {"1": {"name": written}, "2": {"name": "plain"}}


# --- whose, and whether still ------------------------------------------------------------------


@pytest.mark.parametrize("type_", ["integer", "smallint", "numeric", "boolean"])
async def test_a_row_is_deleted_where_its_flag_says_so_whatever_flags_are_made_of(
    type_: str, house: House
) -> None:
    no, yes = ("false", "true") if type_ == "boolean" else ("0", "1")
    house.run(
        f"CREATE TABLE things (id integer, org text, name text, gone {type_})",
        put(f"(1, {ORG}, 'here', {no}), (2, {ORG}, 'gone', {yes}), (3, {ORG}, 'here', NULL)"),
    )
    assert set(await house.read("1", "2", "3", soft_delete="gone")) == {"1", "3"}


@pytest.mark.parametrize(
    ("type_", "no", "yes"),
    [
        ("text", "'false'", "'true'"),
        ("text", "''", "'2026-11-30 10:00:00'"),
        ("char(4)", "'N'", "'Y'"),
        ("varchar(3)", "' No '", "'yes'"),
        ("bit(1)", "B'0'", "B'1'"),
    ],
)
async def test_a_flag_that_is_written_out_is_read_as_what_it_says(
    type_: str, no: str, yes: str, house: House
) -> None:
    if house.url.startswith("sqlite"):
        no, yes = (value.removeprefix("B") for value in (no, yes))
    house.run(
        f"CREATE TABLE things (id integer, org text, name text, gone {type_})",
        put(f"(1, {ORG}, 'here', {no}), (2, {ORG}, 'gone', {yes}), (3, {ORG}, 'here', NULL)"),
    )
    assert set(await house.read("1", "2", "3", soft_delete="gone")) == {"1", "3"}


async def test_a_flag_of_a_type_that_the_host_named_is_read_as_what_it_is(
    storage: Storage, postgres: Postgres
) -> None:
    house = House(storage, postgres.new_database())
    house.run(
        "CREATE DOMAIN flag AS boolean",
        "CREATE TABLE things (id integer, org text, name text, gone flag)",
        put(f"(1, {ORG}, 'here', false), (2, {ORG}, 'gone', true)"),
    )
    assert set(await house.read("1", "2", soft_delete="gone")) == {"1"}


@pytest.mark.parametrize(
    ("own", "others"),
    [("text", "text"), ("integer", "text"), ("text", "integer"), ("char(4)", "text")],
)
async def test_a_bridge_leads_to_the_very_id_that_it_names(
    own: str, others: str, house: House
) -> None:
    loose = " COLLATE NOCASE" if not house.postgres and others == "text" else ""
    house.run(
        f"CREATE TABLE things (id {own}, name text)",
        f"CREATE TABLE ways (org text, thing {others}{loose})",
        put("('7', 'seven')"),
    )
    asked = ["7"]
    if own == "text":
        house.run(put("('07', 'not seven'), ('ab', 'low'), ('AB', 'high')"))
        asked += ["07", "ab", "AB"]
    house.run(put(f"({ORG}, '7')", "ways"))
    if others == "text":
        house.run(put(f"({ORG}, 'ab'), ('tenant-globex', '07')", "ways"))
    bridge = Bridge(table="ways", tenant="org", foreign_key="thing")
    found = await house.read(*asked, bridge=bridge)
    assert set(found) == {"7", "ab"} & set(asked) - (set() if others == "text" else {"ab"})


@pytest.mark.parametrize("seconds", [1_700_000_000, 1_700_000_000_000])
async def test_a_time_may_be_counted_from_1970(seconds: int, house: House) -> None:
    house.run(
        "CREATE TABLE things (id integer, org text, name text, parent text, at bigint)",
        put(f"(1, {ORG}, 'then', 'p', {seconds})"),
        put(f"(2, {ORG}, 'never', 'p', 9223372036854775807)"),
    )
    (found,) = await house.newest("p")
    assert found.at == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


async def test_tables_that_changed_are_looked_at_anew_without_a_restart(house: House) -> None:
    house.run("CREATE TABLE things (id integer, org text, name text, gone boolean)")
    house.run(put(f"(1, {ORG}, 'first', false)"))
    refs = [ResourceRef(kind="a.thing", id=each) for each in ("1", "a1")]
    async with house.open(thing(("name",), soft_delete="gone")) as (reader, subject):
        assert set(said(await reader.read(subject, refs))) == {"1"}
        house.run("DROP TABLE things")
        told = {await refusal(reader.read(subject, refs)) for _ in range(3)}
        told |= {await refusal(reader.exists(subject, refs))}
        ((kind, message),) = told
        assert kind is HostMoved
        assert "the table things, which is not in the application's database" in message
        house.run(
            "CREATE TABLE things (id text, org text, name text, gone integer)",
            put(f"('a1', {ORG}, 'second', 0), ('b1', {ORG}, 'other', 0)"),
        )
        await eventually(lambda: reader.read(subject, refs), {"a1"})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("ALTER TABLE things RENAME COLUMN name TO label", "names the column name"),
        ("ALTER TABLE things RENAME TO others", "the table things, which is not"),
    ],
)
async def test_the_first_to_ask_of_what_is_gone_hears_what_all_later_ones_do(
    change: str, says: str, house: House, caplog: pytest.LogCaptureFixture
) -> None:
    house.run("CREATE TABLE things (id integer, org text, name text)", put(f"(1, {ORG}, 'first')"))
    refs = [ResourceRef(kind="a.thing", id="1")]
    async with house.open(thing(("name",))) as (reader, subject):
        assert said(await reader.read(subject, refs)) == {"1": {"name": "first"}}
        house.run(change)
        asked = await asyncio.gather(*(refusal(reader.read(subject, refs)) for _ in range(4)))
        later = [await refusal(reader.read(subject, refs)) for _ in range(2)]
        ((kind, message),) = {*asked, *later}
        assert kind is HostMoved
        assert says in message
        assert [each for each in caplog.messages if says in each]
        assert reader.fault is not None


async def refusal(asked: Awaitable[object]) -> tuple[type[MemorandaError], str]:
    """The error, and what it says."""
    with pytest.raises(MemorandaError) as refused:
        await asked
    return type(refused.value), refused.value.message


async def eventually(read: Callable[[], Awaitable[list[Resolved]]], ids: set[str]) -> None:
    """What is asked again is told within a few seconds: a table that is not there has a pause."""
    for _ in range(40):
        with suppress(MemorandaError):
            if set(said(await read())) == ids:
                return
        await asyncio.sleep(0.1)
    raise AssertionError(f"{ids} were never read")
