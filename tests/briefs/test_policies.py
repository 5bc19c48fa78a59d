"""A policy is judged when it is published: every reason at its own path."""

from collections import UserDict, UserList, deque
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest

from memoranda.briefs.models import (
    CLASS_ORDER,
    MAX_CONTEXT_ITEM_LIMIT,
    ContextPolicy,
    ContextSourceSpec,
)
from memoranda.briefs.policies import (
    DEFAULT_TOTAL_TOKENS,
    FRONT_DOOR,
    PLATFORM_POLICIES,
    check_policy,
    default_policy,
    unwrapped,
)
from memoranda.words.errors import PolicyRejected


def a_source(name: str = "memory", **fields: object) -> dict[str, object]:
    return {"name": name, "token_budget": 100, **fields}


def with_options(name: str, **options: object) -> dict[str, object]:
    return a_source(name, options=options)


def paths(*sources: object, **fields: object) -> list[tuple[str | int, ...]]:
    raw = {"sources": list(sources), "total_token_budget": 1000, **fields}
    with pytest.raises(PolicyRejected) as caught:
        check_policy(raw)
    return [path for path, _ in caught.value.rejections]


def test_a_good_policy_is_returned_as_it_was_stated() -> None:
    raw = {
        "sources": [
            a_source("conversation", options={"include_summary": False}, required=True),
            a_source("knowledge", options={"include_organization": True}, limit=8),
            a_source("run_history", options={"lookback_hours": 720}, limit=0),
            a_source("definition_summary", options={"kinds": ["skill"]}, limit=None),
        ],
        "total_token_budget": 4000,
        "refresh_on_resume": False,
        "page_order": ["knowledge", "conversation"],
    }
    policy = check_policy(raw)
    assert policy == ContextPolicy.model_validate(raw)
    assert check_policy(policy) == policy
    assert policy.sources[2].limit == 0


@pytest.mark.parametrize("name", CLASS_ORDER)
def test_each_of_the_ten_names_publishes_also_where_it_has_no_reader(name: str) -> None:
    assert check_policy({"sources": [a_source(name)], "total_token_budget": 1}).sources


def test_a_source_outside_the_ten_is_refused() -> None:
    assert paths(a_source(), a_source("crm")) == [("sources", 1, "name")]


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("memory", "surprise", 1),
        ("conversation", "include_summary", "true"),
        ("conversation", "include_summary", 1),
        ("dossier", "include_user", None),
        ("knowledge", "include_platform", "yes"),
        ("run_history", "lookback_hours", "24"),
        ("run_history", "lookback_hours", 24.0),
        ("run_history", "lookback_hours", True),
        ("run_history", "lookback_hours", 0),
        ("run_history", "lookback_hours", 721),
        ("definition_summary", "kinds", "agent"),
    ],
)
def test_an_unknown_or_wrongly_typed_option_is_refused(
    name: str, option: str, value: object
) -> None:
    at = ("sources", 0, "options", option)
    assert paths(with_options(name, **{option: value})) == [at]


def test_an_option_of_a_disabled_source_is_judged_too() -> None:
    source = with_options("memory", surprise=1) | {"enabled": False}
    assert paths(source) == [("sources", 0, "options", "surprise")]


@pytest.mark.parametrize("name", CLASS_ORDER)
@pytest.mark.parametrize("option", ["organization_id", "user_id", "tenant", "row_filter"])
def test_a_policy_cannot_widen_the_organization_or_user_scope(name: str, option: str) -> None:
    with pytest.raises(PolicyRejected) as caught:
        check_policy({"sources": [with_options(name, **{option: "x"})], "total_token_budget": 1})
    [(path, message)] = caught.value.rejections
    assert path == ("sources", 0, "options", option)
    assert "the subject decides" in message


@pytest.mark.parametrize("field", ["organization_id", "user_id", "filter"])
def test_a_filter_beside_the_options_is_refused(field: str) -> None:
    assert paths(a_source(**{field: "x"})) == [("sources", 0, field)]
    assert paths(a_source(), **{field: "x"}) == [(field,)]


def test_a_source_named_twice_is_refused() -> None:
    off = a_source(enabled=False)
    assert paths(a_source(), a_source("knowledge"), off) == [("sources", 2, "name")]


def test_an_enabled_source_under_a_zero_total_budget_is_refused() -> None:
    assert paths(a_source(), total_token_budget=0) == [("total_token_budget",)]
    with pytest.raises(PolicyRejected):
        check_policy({"sources": [a_source()]})


def test_an_enabled_source_with_a_zero_budget_is_refused_and_a_disabled_one_publishes() -> None:
    zero = a_source("knowledge", token_budget=0)
    assert paths(a_source(), zero) == [("sources", 1, "token_budget")]
    policy = check_policy({"sources": [zero | {"enabled": False}]})
    assert policy.sources[0].token_budget == 0


@pytest.mark.parametrize("budget", [-1, 1.5, 1.0, "10", None, True])
def test_a_negative_or_non_integer_budget_is_refused(budget: object) -> None:
    assert paths(a_source(token_budget=budget)) == [("sources", 0, "token_budget")]
    assert paths(a_source(), total_token_budget=budget) == [("total_token_budget",)]


@pytest.mark.parametrize("limit", [-1, MAX_CONTEXT_ITEM_LIMIT + 1, "3", 2.0, True])
def test_a_limit_out_of_range_or_of_another_type_is_refused(limit: object) -> None:
    assert paths(a_source(limit=limit)) == [("sources", 0, "limit")]
    assert MAX_CONTEXT_ITEM_LIMIT == 999
    highest = check_policy({"sources": [a_source(limit=999)], "total_token_budget": 1})
    assert highest.sources[0].limit == 999


def test_a_kind_twice_in_page_order_is_refused() -> None:
    order = ["memory", "knowledge", "memory"]
    assert paths(a_source(), page_order=order) == [("page_order", 2)]
    assert paths(a_source(), page_order=["crm"]) == [("page_order", 0)]


@pytest.mark.parametrize("flag", ["enabled", "required"])
def test_a_flag_is_true_or_false_and_nothing_like_it(flag: str) -> None:
    assert paths(a_source(**{flag: "yes"})) == [("sources", 0, flag)]
    assert paths(a_source(), refresh_on_resume=1) == [("refresh_on_resume",)]


@pytest.mark.parametrize("raw", [None, [], "policy", 3, {"sources": {}}, {"sources": [None]}, {}])
def test_what_is_no_policy_at_all_is_refused(raw: object) -> None:
    with pytest.raises(PolicyRejected) as caught:
        check_policy(raw)
    assert caught.value.rejections


def test_every_reason_is_told_at_once() -> None:
    assert set(
        paths(
            a_source("knowledge", token_budget=-1),
            a_source("crm", token_budget=0),
            with_options("memory", surprise=1, user_id="x"),
            a_source("memory", limit=1000),
            page_order=["memory", "memory"],
            total_token_budget=0,
        )
    ) == {
        ("sources", 0, "token_budget"),
        ("sources", 1, "name"),
        ("sources", 1, "token_budget"),
        ("sources", 2, "options", "surprise"),
        ("sources", 2, "options", "user_id"),
        ("sources", 3, "limit"),
        ("sources", 3, "name"),
        ("page_order", 1),
        ("total_token_budget",),
    }


def test_no_rejection_repeats_what_was_sent() -> None:
    secret = "sk-secret"
    with pytest.raises(PolicyRejected) as caught:
        check_policy({"sources": [with_options("knowledge", include_platform=secret)]})
    assert secret not in str(caught.value) + str(caught.value.details)


def test_the_platform_policy_of_the_front_door_may_be_published() -> None:
    assert check_policy(FRONT_DOOR) == FRONT_DOOR == PLATFORM_POLICIES["front_door"]
    sources = {spec.name: spec for spec in FRONT_DOOR.sources}
    assert list(sources) == [name for name in CLASS_ORDER if not name.startswith("outreach")]
    knowledge = sources["knowledge"]
    assert (knowledge.token_budget, knowledge.limit) == (1500, 8)
    assert knowledge.options == {"include_platform": True, "include_organization": True}
    assert not any(spec.required for spec in FRONT_DOOR.sources)


def test_the_default_policy_uses_every_source_that_has_a_reader() -> None:
    readers = ["memory", "knowledge", "conversation", "personal_memory", "outreach"]
    policy = default_policy(readers)
    names = [spec.name for spec in policy.sources]
    assert names == ["conversation", "personal_memory", "knowledge", "memory"]
    assert check_policy(policy) == policy
    assert check_policy(default_policy([])).sources == []


def test_a_total_of_ones_own_raises_the_parts_and_never_lowers_them() -> None:
    usual = default_policy(CLASS_ORDER)
    doubled = default_policy(CLASS_ORDER, 2 * DEFAULT_TOTAL_TOKENS)
    small = default_policy(CLASS_ORDER, 100)
    for one, two, low in zip(usual.sources, doubled.sources, small.sources, strict=True):
        assert (two.token_budget, low.token_budget) == (2 * one.token_budget, one.token_budget)
    assert small.total_token_budget == 100


OTHER_SHAPES: list[Callable[[dict[str, Any]], object]] = [
    MappingProxyType,
    UserDict,
    lambda raw: raw | {"sources": tuple(raw["sources"]), "page_order": tuple(raw["page_order"])},
    lambda raw: raw | {"sources": UserList(raw["sources"])},
    lambda raw: raw | {"sources": deque(raw["sources"])},
    lambda raw: raw | {"sources": [MappingProxyType(source) for source in raw["sources"]]},
    lambda raw: raw | {"sources": [ContextSourceSpec(**source) for source in raw["sources"]]},
    lambda raw: ContextPolicy(**raw),
]


@pytest.mark.parametrize("shaped", OTHER_SHAPES)
def test_no_mapping_or_sequence_gets_a_policy_past_a_rule(
    shaped: Callable[[dict[str, Any]], object],
) -> None:
    bad = {
        "sources": [a_source("gossip", token_budget=0, options={"tenant_id": 1})] * 2,
        "page_order": ["memory", "memory"],
    }
    with pytest.raises(PolicyRejected) as plain:
        check_policy(bad)
    with pytest.raises(PolicyRejected) as other:
        check_policy(shaped(bad))
    assert other.value.rejections == plain.value.rejections
    assert len(plain.value.rejections) > 5


@pytest.mark.parametrize("shaped", [iter, set])
@pytest.mark.parametrize("part", ["sources", "page_order"])
def test_what_has_no_order_or_is_gone_once_read_is_no_list(
    part: str, shaped: Callable[[list[object]], object]
) -> None:
    raw = {"sources": [], "total_token_budget": 1, part: shaped([])}
    with pytest.raises(PolicyRejected) as caught:
        check_policy(raw)
    assert [path for path, _ in caught.value.rejections] == [(part,)]


def test_a_misshapen_field_hides_no_other_fault_of_its_source() -> None:
    assert set(
        paths(
            {"name": "gossip", "surprise": 1},
            {"name": "memory", "token_budget": "ten", "options": {"user_id": "x", "more": 1}},
            {"name": "memory", "token_budget": 0, "limit": -1},
            {"token_budget": 0},
            "knowledge",
            page_order=["memory", 3, "memory"],
        )
    ) == {
        ("sources", 0, "name"),
        ("sources", 0, "token_budget"),
        ("sources", 0, "surprise"),
        ("sources", 1, "token_budget"),
        ("sources", 1, "options", "user_id"),
        ("sources", 1, "options", "more"),
        ("sources", 2, "name"),
        ("sources", 2, "token_budget"),
        ("sources", 2, "limit"),
        ("sources", 3, "name"),
        ("sources", 3, "token_budget"),
        ("sources", 4),
        ("page_order", 1),
        ("page_order", 2),
    }


def test_a_policy_is_taken_out_of_the_envelope_that_it_was_shown_in() -> None:
    policy = {"sources": [a_source()], "total_token_budget": 1}
    shown = {"name": "mine", "version": 3, "policy": policy, "created_at": None}
    assert unwrapped(shown) == ("mine", policy)
    assert unwrapped(policy) == (None, policy)
    more = {**shown, "sources": []}
    assert unwrapped(more) == (None, more)
