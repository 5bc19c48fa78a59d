"""Values refuse what they cannot mean."""

import pytest
from pydantic import ValidationError

from memoranda.briefs.models import ContextItem, ContextPolicy, ContextSourceSpec
from tests.briefs.offers import an_item


def test_a_zero_budget_a_zero_limit_and_none_can_be_stated() -> None:
    spec = ContextSourceSpec(name="memory", token_budget=0, limit=0)
    assert ContextSourceSpec(name="memory", token_budget=0).limit is None
    assert spec.limit == 0
    assert ContextPolicy(sources=[spec]).total_token_budget == 0


@pytest.mark.parametrize("field", ["token_budget", "limit"])
@pytest.mark.parametrize("value", [-1, "1", 1.0, True])
def test_a_budget_or_limit_is_a_whole_number_from_zero(field: str, value: object) -> None:
    with pytest.raises(ValidationError):
        ContextSourceSpec.model_validate({"name": "memory", "token_budget": 1, field: value})


def test_an_empty_subject_key_is_no_key() -> None:
    assert an_item("memory", subject_key="").subject_key is None


def test_one_bad_character_does_not_cost_the_item() -> None:
    item = an_item("memory", "a\ud800b\0", title="\udfff")
    assert (item.title, item.body) == ("\ufffd", "a\ufffdb")


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValidationError):
        an_item("memory", recorded_at="2026-01-01T00:00:00")


def test_an_item_names_one_of_the_ten_kinds() -> None:
    with pytest.raises(ValidationError):
        ContextItem.model_validate({"source": "a", "kind": "crm", "title": "", "body": ""})
