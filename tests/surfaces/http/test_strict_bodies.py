"""A body means what it writes: no text is a number, no number a time, and nothing but a boolean a flag."""

import json
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from memoranda.briefs.models import MOST_TOKENS
from tests.surfaces.http.house import House

ODD_NUMBERS: list[Any] = [True, False, "5", 5.5, "x", [5]]
ODD_FLAGS: list[Any] = ["yes", "true", 1, 0, "", []]
ODD_TIMES: list[Any] = [4_000_000_000, 4e9, "4000000000", "4e9", "+4000000000.5", True]
ODD_TEXTS: list[Any] = [5, True, ["x"], {"x": 1}]

FIELDS: list[tuple[str, str, dict[str, Any], list[Any]]] = [
    ("/v1/briefs", "budget", {"query": "tea"}, ODD_NUMBERS),
    ("/v1/briefs", "explain", {"query": "tea"}, ODD_FLAGS),
    ("/v1/briefs", "query", {}, ODD_TEXTS),
    ("/v1/knowledge/search", "limit", {"query": "tea"}, ODD_NUMBERS),
    ("/v1/knowledge/search", "include_platform", {"query": "tea"}, ODD_FLAGS),
    ("/v1/knowledge/search", "include_organization", {"query": "tea"}, ODD_FLAGS),
    ("/v1/conversations", "generation", {}, ODD_NUMBERS),
    ("/v1/memories", "text", {}, ODD_TEXTS),
    ("/v1/memories", "expires_at", {"text": "Tea"}, ODD_TIMES),
    ("/v1/memories", "user_id", {"text": "Tea"}, [5, True, ["x"]]),
    ("/v1/keys", "expires_at", {"role": "owner"}, ODD_TIMES),
    ("/v1/keys", "role", {}, [1, True, ["owner"]]),
    ("/v1/users", "name", {}, ODD_TEXTS),
]


@pytest.mark.parametrize(
    ("path", "name", "rest", "odd"), FIELDS, ids=[f"{each[0]} {each[1]}" for each in FIELDS]
)
async def test_a_value_of_another_type_is_refused_at_its_place(
    house: House, path: str, name: str, rest: dict[str, Any], odd: list[Any]
) -> None:
    for value in odd:
        response = await house.owner.post(path, {**rest, name: value})
        assert (response.status_code, response.json()["code"]) == (422, "invalid_input"), value
        assert response.json()["errors"][0]["path"][:2] == ["body", name], value


async def test_a_tools_arguments_in_the_place_of_the_body_are_told_where_they_belong(
    house: House,
) -> None:
    for body in ({"content": "Tea at four."}, {"run_id": str(uuid4()), "query": "tea"}):
        response = await house.owner.post("/v1/tools/remember", body)
        assert (response.status_code, response.json()["code"]) == (422, "invalid_input")
        assert 'send {"arguments": {…}}' in response.json()["detail"]
    other = await house.owner.post("/v1/tools/remember", {"arguments": {}, "extra": 1})
    assert "There is no such field" in other.json()["detail"]
    right = {"arguments": {"content": "Tea at four."}}
    assert (await house.owner.post("/v1/tools/remember", right)).status_code == 200


async def test_the_calls_over_http_on_the_page_of_tools_are_answered_as_they_stand_there(
    house: House,
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "tools.md").read_text("utf-8")
    calls = re.findall(r"curl -s http://127\.0\.0\.1:8321(\S+).*?-d '(.*?)'", page, re.DOTALL)
    assert calls
    for path, body in calls:
        response = await house.owner.post(path, json.loads(body))
        assert response.status_code == 200, response.text
        assert set(response.json()) == {"tool", "answer", "replayed"}


async def test_an_expected_length_is_a_number(house: House) -> None:
    path = f"/v1/conversations/{house.rows.conversation}/messages"
    for value in ODD_NUMBERS:
        body = {"messages": [{"role": "user", "content": "Hi"}], "expected_length": value}
        response = await house.owner.post(path, body)
        assert response.status_code == 422, value
        assert response.json()["errors"][0]["path"] == ["body", "expected_length"]


async def test_ids_and_times_are_texts(house: House) -> None:
    body = {"text": "Tea at four", "user_id": house.rows.user, "expires_at": "2999-01-01T00:00:00Z"}
    response = await house.owner.post("/v1/memories", body)
    assert response.status_code == 201, response.text


async def test_a_brief_uses_well_formed_entities_and_leaves_malformed_ones_out(
    house: House,
) -> None:
    good = {"kind": "user", "id": str(uuid4()), "label": "Ada", "more": "a host's own"}
    for entities in ([], [good], [good, {"kind": "user"}, 5, None, "x", {"kind": 1, "id": 2}]):
        response = await house.owner.post("/v1/briefs", {"query": "tea", "entities": entities})
        assert response.status_code == 200, response.text
    response = await house.owner.post("/v1/briefs", {"query": "tea", "entities": "x"})
    assert response.status_code == 422


async def test_a_budget_has_a_largest_value(house: House) -> None:
    body = {"query": "tea", "budget": MOST_TOKENS}
    assert (await house.owner.post("/v1/briefs", body)).status_code == 200
    response = await house.owner.post("/v1/briefs", {**body, "budget": MOST_TOKENS + 1})
    assert response.status_code == 422
    for at, policy in (
        (["total_token_budget"], {"sources": [], "total_token_budget": MOST_TOKENS + 1}),
        (
            ["sources", 0, "token_budget"],
            {
                "sources": [{"name": "memory", "token_budget": MOST_TOKENS + 1}],
                "total_token_budget": 5,
            },
        ),
    ):
        sent = {"name": "huge", "policy": policy}
        response = await house.owner.post("/v1/policies", sent)
        assert (response.status_code, response.json()["code"]) == (422, "policy_rejected")
        assert [each["path"] for each in response.json()["rejections"]] == [at]
