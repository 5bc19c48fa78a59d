"""The SQL of a small CRM: its tables are those of the pack, its rows a few customers of one company."""

import sqlite3
from pathlib import Path
from typing import Final

from memoranda.state.crm import CRM

TENANT: Final = "marlow-cycles"
COMPANY: Final = "co-harbor"
DEAL: Final = "deal-fleet"
PERSON: Final = "pe-ines"

_LINKS: Final = {"prospects": ("intel_company_id",)}
_ROWS: Final[dict[str, list[dict[str, object]]]] = {
    "crm_companies": [
        {
            "id": COMPANY,
            "name": "Harbor Couriers",
            "website": "https://harborcouriers.example",
            "description": "Same-day deliveries by cargo bike in three port towns.",
            "industry": "Logistics",
            "country": "Portugal",
            "employee_count_band": "51-200",
            "lifecycle_stage": "customer",
        },
        {
            "id": "co-linden",
            "name": "Linden School District",
            "industry": "Education",
            "country": "Ireland",
            "lifecycle_stage": "lead",
        },
    ],
    "crm_people": [
        {
            "id": PERSON,
            "full_name": "Inês Duarte",
            "current_title": "Head of Fleet",
            "current_company_text": "Harbor Couriers",
            "email": "ines@harborcouriers.example",
            "country": "Portugal",
        }
    ],
    "crm_deals": [
        {
            "id": DEAL,
            "name": "Forty cargo bikes, second order",
            "stage": "negotiation",
            "amount": 118000,
            "currency": "EUR",
            "owner_user_id": "ada",
            "expected_close_on": "2027-03-31",
            "company_id": COMPANY,
            "person_id": PERSON,
        }
    ],
    "crm_activities": [
        {
            "id": "ac-brakes",
            "type": "call",
            "subject": "Brakes for wet winters",
            "state": "planned",
            "owner_user_id": "ada",
            "due_at": "2027-02-02 10:00:00",
            "company_id": COMPANY,
            "deal_id": DEAL,
        }
    ],
    "crm_lists": [
        {
            "id": "li-ports",
            "name": "Port towns",
            "description": "Couriers by the sea",
            "member_count": 7,
        }
    ],
    "prospects": [
        {
            "id": "pr-ferry",
            "intel_company_id": "ic-ferry",
            "review_state": "accepted",
            "opportunity_score": 82,
            "opportunity_reason": "Opens two depots without vans.",
            "recommended_action": "Offer a trial of five bikes.",
        }
    ],
    "intel_companies": [
        {
            "id": "ic-ferry",
            "name": "Ferrylane Parcels",
            "domain": "ferrylane.example",
            "country": "Spain",
        }
    ],
}


def make_company(folder: Path) -> Path:
    """Write the database `crm.db` and the projections' file `state.toml` into `folder`; answer the latter."""
    database = sqlite3.connect(folder / "crm.db")
    try:
        with database:
            _make(database)
    finally:
        database.close()
    declared = folder / "state.toml"
    declared.write_text(
        f'packs = ["crm"]\n\n[database]\nurl = "crm.db"\ndefault_tenant = "{TENANT}"\n', "utf-8"
    )
    return declared


def _make(database: sqlite3.Connection) -> None:
    database.execute(
        "CREATE TABLE prospect_people (id TEXT PRIMARY KEY, organization_id TEXT, intel_person_id TEXT)"
    )
    for each in CRM:
        own = [each.id, *_LINKS.get(each.table, ()), *each.columns]
        own += [name for name in (each.tenant, each.soft_delete) if name is not None]
        database.execute(f"CREATE TABLE {each.table} ({', '.join(own)})")
        for row in _ROWS.get(each.table, []):
            values = row if each.tenant is None else {**row, each.tenant: TENANT}
            named = ", ".join(f":{name}" for name in values)
            put = f"INSERT INTO {each.table} ({', '.join(values)}) VALUES ({named})"  # noqa: S608 - names of the pack's own
            database.execute(put, values)
