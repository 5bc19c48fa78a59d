"""A host's own database: the tables of the CRM pack and some of its own, with rows of two tenants."""

from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    ForeignKey,
    Integer,
    MetaData,
    Numeric,
    String,
    Table,
    create_engine,
    insert,
)
from sqlalchemy.engine import Engine, make_url

from memoranda.state.crm import CRM
from memoranda.state.projections import HostState, Projection

ACME, GLOBEX = "tenant-acme", "tenant-globex"
TABLES = MetaData()
_TIMES = {"due_at", "completed_at", "expected_close_on"}
_NUMBERS = {"amount", "opportunity_score", "member_count"}


def _column(name: str) -> Column[Any]:
    if name in _TIMES:
        return Column(name, DateTime(timezone=True))
    return Column(name, Numeric(12, 2) if name in _NUMBERS else String(200))


def _tables() -> None:
    for each in CRM:
        own = [Column("organization_id", String(60))] if each.tenant else []
        if each.table == "prospects":
            own.append(Column("intel_company_id", String(60)))
        if each.soft_delete:
            own.append(Column(each.soft_delete, DateTime(timezone=True)))
        Table(
            each.table,
            TABLES,
            Column("id", String(60), primary_key=True),
            *own,
            *map(_column, each.columns),
        )


_tables()
prospect_people = Table(
    "prospect_people",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("organization_id", String(60)),
    Column("prospect_id", String(60)),
    Column("intel_person_id", ForeignKey("intel_people.id"), nullable=True),
)
orders = Table(
    "orders",
    TABLES,
    Column("number", Integer, primary_key=True),
    Column("account", Integer),
    Column("status", String(20)),
    Column("total", Numeric(12, 2)),
    Column("paid", Boolean),
    Column("placed_at", DateTime(timezone=True)),
    Column("gone", Boolean),
)
messages = Table(
    "messages",
    TABLES,
    Column("id", Integer, primary_key=True),
    Column("org", String(60)),
    Column("thread", Integer),
    Column("sender", String(60)),
    Column("said", String(200)),
    Column("sent_at", DateTime(timezone=True)),
)

MESSAGES = Projection(
    kind="outreach.message",
    table="messages",
    tenant="org",
    columns=("sender", "said"),
    title="sender",
    source="outreach_thread",
    newest="sent_at",
    parents={"outreach.thread": "thread"},
)
ORDERS = Projection(
    kind="shop.order",
    table="orders",
    tenant="account",
    id="number",
    soft_delete="gone",
    columns=("status", "total", "paid", "placed_at"),
)


def engine_of(url: str) -> Engine:
    address = make_url(url)
    if address.get_backend_name() == "postgresql":
        address = address.set(drivername="postgresql+psycopg")
    return create_engine(address)


def put(url: str, table: str, *rows: dict[str, Any]) -> None:
    """Rows that the host writes, by its own means."""
    engine = engine_of(url)
    with engine.begin() as connection:
        for row in rows:
            connection.execute(insert(TABLES.tables[table]).values(**row))
    engine.dispose()


def build(url: str) -> None:
    """The tables, with rows of both tenants under ids that are nobody else's."""
    engine = engine_of(url)
    TABLES.create_all(engine)
    engine.dispose()
    for tenant, name in ((ACME, "Acme"), (GLOBEX, "Globex")):
        of = {"organization_id": tenant}
        put(
            url, "crm_companies", {"id": f"{name}-c", **of, "name": f"{name} Ltd", "industry": name}
        )
        put(url, "crm_people", {"id": f"{name}-p", **of, "full_name": f"Ann of {name}"})
        put(url, "crm_deals", {"id": f"{name}-d", **of, "name": f"{name} deal", "amount": 1200})
        put(url, "crm_activities", {"id": f"{name}-a", **of, "subject": f"Call {name}"})
        put(url, "crm_lists", {"id": f"{name}-l", **of, "name": f"List of {name}"})
        put(
            url,
            "intel_companies",
            {"id": f"{name}-ic", "name": f"{name} Intel", "domain": "a.example"},
        )
        put(url, "intel_people", {"id": f"{name}-ip", "full_name": f"Pat of {name}"})
        prospect = {"intel_company_id": f"{name}-ic", "review_state": "new"}
        put(url, "prospects", {"id": f"{name}-x", **of, **prospect})
        put(
            url,
            "prospect_people",
            {**of, "prospect_id": f"{name}-x", "intel_person_id": f"{name}-ip"},
        )


def crm(url: str, *more: Projection, **given: Any) -> HostState:
    return HostState(database=url, projections=(*CRM, *more), **given)
