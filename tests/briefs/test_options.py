"""Every source name ships a closed, strict option schema that knows nothing of tenancy."""

import pytest
from pydantic import ValidationError

from memoranda.briefs.models import CLASS_ORDER, ContextSourceSpec
from memoranda.briefs.options import OPTION_SCHEMAS, KnowledgeOptions, is_filter_name


def test_each_of_the_ten_names_has_a_schema() -> None:
    assert set(OPTION_SCHEMAS) == set(CLASS_ORDER)


@pytest.mark.parametrize("name", CLASS_ORDER)
def test_no_schema_takes_an_unknown_option_or_declares_a_filter(name: str) -> None:
    schema = OPTION_SCHEMAS[name]
    with pytest.raises(ValidationError):
        schema.model_validate({"surprise": 1})
    assert not any(is_filter_name(option) for option in schema.model_fields)


def test_the_defaults_are_the_documented_ones() -> None:
    defaults = {name: schema().model_dump() for name, schema in OPTION_SCHEMAS.items()}
    assert {name: options for name, options in defaults.items() if options} == {
        "conversation": {"include_summary": True},
        "dossier": {"include_user": False, "include_documents": True},
        "definition_summary": {"kinds": ["agent", "workflow", "skill"]},
        "knowledge": {"include_platform": False, "include_organization": False},
        "run_history": {"lookback_hours": 24},
    }


@pytest.mark.parametrize(
    "name",
    [
        *("organization", "organization_id", "organizationId", "org", "org_ids", "tenant-id"),
        *("user", "users", "user_id", "userid", "USER_ID", "owner_id", "member_ids", "row_id"),
        *("filter", "filters", "row_filter", "where", "user_filter", "subject", "workspace_key"),
    ],
)
def test_a_name_like_a_tenant_user_or_row_filter_is_known_as_one(name: str) -> None:
    assert is_filter_name(name)


@pytest.mark.parametrize(
    "name",
    ["include_user", "include_organization", "kinds", "lookback_hours", "rowing", "user_age"],
)
def test_other_names_are_no_filters(name: str) -> None:
    assert not is_filter_name(name)


def test_a_source_reads_its_options_through_its_schema() -> None:
    spec = ContextSourceSpec(name="knowledge", token_budget=1, options={"include_platform": True})
    assert spec.options_as(KnowledgeOptions) == KnowledgeOptions(include_platform=True)
