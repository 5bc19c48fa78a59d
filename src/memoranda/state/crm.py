"""The pack for customer relationship data: eight kinds of rows, as its tables are usually called.

Companies and people that all organizations share hold no tenant: they are reached through the
organization's own prospects, and a shared row to which none of these leads is not there.
"""

from typing import Final

from memoranda.state.projections import Bridge, Projection

_TENANT: Final = "organization_id"
_DELETED: Final = "deleted_at"

_COMPANY: Final = (
    "name", "website", "description", "industry", "country", "linkedin_url", "employee_count_band",
)  # fmt: skip
_PERSON: Final = (
    "full_name", "current_title", "current_company_text", "email", "linkedin_url", "country",
)  # fmt: skip
_DEAL: Final = (
    "name", "stage", "amount", "currency", "owner_user_id", "expected_close_on", "company_id", "person_id",
)  # fmt: skip
_ACTIVITY: Final = (
    "type", "subject", "state", "owner_user_id", "due_at", "completed_at", "company_id", "person_id", "deal_id",
)  # fmt: skip
_PROSPECT: Final = (
    "review_state", "opportunity_score", "opportunity_reason", "recommended_action", "people_state",
    "people_state_reason",
)  # fmt: skip

CRM: Final[tuple[Projection, ...]] = (
    Projection(
        kind="crm.company",
        table="crm_companies",
        tenant=_TENANT,
        soft_delete=_DELETED,
        title="name",
        columns=(*_COMPANY, "lifecycle_stage"),
    ),
    Projection(
        kind="crm.person",
        table="crm_people",
        tenant=_TENANT,
        soft_delete=_DELETED,
        title="full_name",
        columns=_PERSON,
    ),
    Projection(
        kind="crm.deal",
        table="crm_deals",
        tenant=_TENANT,
        soft_delete=_DELETED,
        title="name",
        columns=_DEAL,
    ),
    Projection(
        kind="crm.activity",
        table="crm_activities",
        tenant=_TENANT,
        title="subject",
        columns=_ACTIVITY,
    ),
    Projection(
        kind="crm.list",
        table="crm_lists",
        tenant=_TENANT,
        soft_delete=_DELETED,
        title="name",
        columns=("name", "description", "member_count"),
    ),
    Projection(kind="prospect", table="prospects", tenant=_TENANT, columns=_PROSPECT),
    Projection(
        kind="intelligence.company",
        table="intel_companies",
        bridge=Bridge(table="prospects", tenant=_TENANT, foreign_key="intel_company_id"),
        title="name",
        # What a company is known by is its domain; which stage it is at is each tenant's own judgement.
        columns=("name", "domain", *_COMPANY[1:]),
    ),
    Projection(
        kind="intelligence.person",
        table="intel_people",
        bridge=Bridge(table="prospect_people", tenant=_TENANT, foreign_key="intel_person_id"),
        title="full_name",
        columns=_PERSON,
    ),
)

PACKS: Final = {"crm": CRM}
"""What a file of projections may ask for by name."""
