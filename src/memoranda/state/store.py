"""The SQL of application state. Whose rows they are is added here to every statement, by one function.

Statements are made of a host's projections once, when its database is opened, and are looked at
against its tables then: what a projection names has to be there.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Column,
    ColumnElement,
    Select,
    Table,
    Text,
    bindparam,
    cast,
    false,
    func,
    literal,
    or_,
    select,
    type_coerce,
)
from sqlalchemy import MetaData as Tables
from sqlalchemy.types import NullType

from memoranda.state.projections import Projection
from memoranda.state.spelling import bound
from memoranda.storage import Row
from memoranda.storage.host import ColumnKind, HostReading
from memoranda.words.errors import Invalid

AT_ONCE: Final = 900
"""So many ids are asked for in one statement: some builds of SQLite take no more than 999 values."""
# No column of a projection has a space in its name.
ROW_ID, ROW_TITLE, ROW_TIME = "row id", "row title", "row time"

NOT_DELETED: Final = ("", "0", "f", "false", "n", "no", "off")
"""What a column that is no boolean and no number says of a row that is still there, in any case."""

Kinds = Mapping[str, ColumnKind]


class Held(NamedTuple):
    """A projection on the host's database: its statements, and what its columns hold.

    `newest` has a statement for outreach, by which kinds of refs it is asked.
    """

    projection: Projection
    kinds: Kinds
    tenant_kind: ColumnKind
    rows: Select[Any]
    there: Select[Any]
    newest: Mapping[str, Select[Any]]

    def tenant(self, host_id: str) -> object | None:
        """The organization's id as the tenant column holds it; None where it can't hold it."""
        return bound(self.tenant_kind, host_id)


def hold(host: HostReading, projections: Iterable[Projection]) -> dict[str, Held]:
    """The projections by kind. Raises `Invalid` for a table or column that is not there."""
    return {each.kind: _held(host, each) for each in projections}


def rows(host: HostReading, held: Held, tenant: object, ids: Sequence[str]) -> list[Row]:
    """The organization's rows of these ids, in no order."""
    return _asked(host, held, held.rows, tenant, ids)


def there(host: HostReading, held: Held, tenant: object, ids: Sequence[str]) -> set[str]:
    """Those of these ids that are rows of the organization's."""
    return {str(row[0]) for row in _asked(host, held, held.there, tenant, ids)}


def newest(
    host: HostReading, held: Held, tenant: object, kind: str, ids: Sequence[str], *, most: int
) -> list[Row]:
    """The organization's newest rows that refs of this kind with these ids lead to."""
    column = held.projection.parents.get(kind, held.projection.id)
    values = _bound(host, held.kinds[column], tenant, ids)
    found: list[Row] = []
    for start in range(0, len(values), AT_ONCE):
        asked = {"tenant": tenant, "ids": values[start : start + AT_ONCE], "most": most}
        found += host.all(held.newest[kind], asked)
    return found


def _asked(
    host: HostReading, held: Held, statement: Select[Any], tenant: object, ids: Sequence[str]
) -> list[Row]:
    values = _bound(host, held.kinds[held.projection.id], tenant, ids)
    found: list[Row] = []
    for start in range(0, len(values), AT_ONCE):
        asked = {"tenant": tenant, "ids": values[start : start + AT_ONCE]}
        found += host.all(statement, asked)
    return found


def _bound(host: HostReading, kind: ColumnKind, tenant: object, ids: Iterable[str]) -> list[object]:
    """The ids as the column holds them, without those that no row of the tenant's can have."""
    if not host.holds(tenant):
        return []
    values = (bound(kind, each) for each in ids)
    return [value for value in values if value is not None and host.holds(value)]


def _held(host: HostReading, projection: Projection) -> Held:
    kinds = _columns(host, projection.kind, projection.table, projection.used())
    table = _table(projection.table, projection.used())
    scope, tenant_kind = _scope(host, projection, table, kinds)
    row = table.c[projection.id]
    # The id as it is compared: a padded one comes back without its blanks.
    own = _raw(host.exactly(row, kinds[projection.id]), ROW_ID)
    shown = [own, *(_raw(table.c[name], name) for name in projection.columns)]
    if projection.title is not None:
        shown.append(_raw(table.c[projection.title], ROW_TITLE))
    by_id = _among(host, row, kinds[projection.id])
    order = {}
    if projection.newest is not None:
        time = table.c[projection.newest]
        view = select(*shown, _raw(time, ROW_TIME)).where(*scope, time.is_not(None))
        view = view.order_by(time.desc(), row.desc()).limit(bindparam("most"))
        order[projection.kind] = view.where(by_id)
        for kind, name in projection.parents.items():
            order[kind] = view.where(_among(host, table.c[name], kinds[name]))
    return Held(
        projection,
        kinds,
        tenant_kind,
        select(*shown).where(*scope, by_id),
        select(own).where(*scope, by_id),
        order,
    )


def _scope(
    host: HostReading, projection: Projection, table: Table, kinds: Kinds
) -> tuple[list[ColumnElement[bool]], ColumnKind]:
    """What makes a row the organization's: its own tenant column, or a bridge's that leads to it."""
    alive = _alive(table, projection.soft_delete, kinds)
    if projection.tenant is not None:
        kind = kinds[projection.tenant]
        own = host.exactly(table.c[projection.tenant], kind) == bindparam("tenant")
        return [own, *alive], kind
    bridge = projection.bridge
    if bridge is None:  # a projection without either can't be made
        raise AssertionError(f"{projection.kind} says nothing of whose its rows are")
    used = {bridge.tenant: "bridge.tenant", bridge.foreign_key: "bridge.foreign_key"}
    if bridge.soft_delete is not None:
        used[bridge.soft_delete] = "bridge.soft_delete"
    held = _columns(host, projection.kind, bridge.table, used)
    way = _table(bridge.table, used).alias("bridge")
    leads = (
        select(way.c[bridge.foreign_key])
        .where(
            *_same(host, (way, held, bridge.foreign_key), (table, kinds, projection.id)),
            host.exactly(way.c[bridge.tenant], held[bridge.tenant]) == bindparam("tenant"),
            *_alive(way, bridge.soft_delete, held),
        )
        .exists()
    )
    return [leads, *alive], held[bridge.tenant]


def _same(host: HostReading, *ends: tuple[Any, Kinds, str]) -> list[ColumnElement[bool]]:
    """That two columns hold the very same id, also where one holds it as a number and one as a text."""
    held = {kinds[name] for _, kinds, name in ends}
    kind: ColumnKind = held.pop() if len(held) == 1 else "other"
    left, right = (host.exactly(table.c[name], kind) for table, _, name in ends)
    return [left == right]


def _alive(table: Any, column: str | None, kinds: Kinds) -> list[ColumnElement[bool]]:
    if column is None:
        return []
    deleted = table.c[column]
    if kinds[column] == "boolean":
        return [or_(deleted.is_(None), deleted == false())]
    if kinds[column] in {"integer", "number"}:  # where there are no booleans, 0 is one
        return [or_(deleted.is_(None), deleted == literal(0))]
    if kinds[column] in {"text", "other"}:  # a letter or a bit, or a time that is written out
        said = func.lower(func.trim(cast(deleted, Text)))
        return [or_(deleted.is_(None), said.in_(NOT_DELETED))]
    return [deleted.is_(None)]


def _among(host: HostReading, column: Column[Any], kind: ColumnKind) -> ColumnElement[bool]:
    return host.exactly(column, kind).in_(bindparam("ids", expanding=True))


def _raw(column: ColumnElement[Any], name: str) -> Any:
    """The value as the driver has it: one that does not look like its type must not fail its row."""
    return type_coerce(column, NullType()).label(name)


def _table(name: str, columns: Iterable[str]) -> Table:
    schema, _, own = name.rpartition(".")
    made = (Column(column, NullType()) for column in columns)
    return Table(own, Tables(), *made, schema=schema or None)


def _columns(host: HostReading, kind: str, table: str, used: Mapping[str, str]) -> Kinds:
    """What the columns hold that a projection names. Raises `Invalid` unless they are all there."""
    found = host.columns(table)
    if not found:
        raise Invalid(
            f"The projection of {kind} reads the table {table}, which is not in the application's "
            "database: correct its table.",
            kind=kind,
            table=table,
        )
    for column, what in used.items():
        if column not in found:
            raise Invalid(
                f"The projection of {kind} names the column {column} ({what}), which the table "
                f"{table} does not have: correct it.",
                kind=kind,
                table=table,
                column=column,
            )
        if found[column] == "bytes":
            raise Invalid(
                f"The projection of {kind} names the column {column} ({what}), which holds bytes "
                "and no words: leave it out.",
                kind=kind,
                table=table,
                column=column,
            )
    return found
