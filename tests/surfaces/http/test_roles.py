"""Each key may do what its role says on every route, and nothing more."""

import pytest

from tests.surfaces.http.house import House, with_calls
from tests.surfaces.http.walk import ANYBODY, STEPS


@pytest.fixture
async def house(house: House) -> House:
    return await with_calls(house)


@pytest.mark.parametrize("role", ["operator", "member", "agent", "read_only", "owner"])
async def test_a_role_may_call_what_is_its_own_and_is_refused_the_rest(
    house: House, role: str
) -> None:
    wrong = []
    for name, steps in STEPS.items():
        for step in steps:
            response = await step.call(house.by_role[role], house.rows)
            may = role in step.roles
            # To the operator, who has keys and knowledge too, an organization's are not there.
            refused = {403, 404} if role == "operator" and step.names_rows else {403}
            if not (response.is_success if may else response.status_code in refused):
                wrong.append((name, may, response.status_code, response.text))
    assert not wrong


async def test_nobody_gets_past_the_door_without_a_key(house: House) -> None:
    for name, steps in STEPS.items():
        response = await steps[0].call(house.nobody, house.rows)
        assert response.status_code == (200 if steps[0].roles == ANYBODY else 401), name


async def test_a_read_only_key_is_told_that_it_may_not_write(house: House) -> None:
    response = await house.read_only.post("/v1/memories", {"text": "Tea"})
    assert response.json()["code"] == "read_only"


async def test_an_agents_key_is_told_what_it_needs_to_remember(house: House) -> None:
    response = await house.agent.post("/v1/memories", {"text": "Tea"})
    assert response.json()["code"] == "tool_policy_required"


async def test_a_bound_key_may_not_speak_for_another(house: House) -> None:
    agent = (await house.owner.post("/v1/agents", {"slug": "other"})).json()["id"]
    user = (await house.owner.post("/v1/users", {"name": "Other"})).json()["id"]
    for api, subject, status in (
        (house.agent, {"agent_id": agent}, 403),
        (house.agent, {"user_id": user}, 403),
        (house.member, {"user_id": user}, 403),
        (house.member, {"agent_id": agent}, 200),
    ):
        response = await api.post("/v1/briefs", {"query": "Q", "subject": subject})
        assert response.status_code == status, subject


async def test_a_member_knows_of_no_row_of_another_user(house: House) -> None:
    other = (await house.owner.post("/v1/users", {"name": "Other"})).json()["id"]
    mine = {"user_id": other}
    memory = (await house.owner.post("/v1/memories", {"text": "Secret tea", **mine})).json()["id"]
    run = (await house.owner.post("/v1/runs", mine)).json()["id"]
    conversation = (await house.owner.post("/v1/conversations", mine)).json()["id"]
    for path in (
        f"/v1/users/{other}",
        f"/v1/memories/{memory}",
        f"/v1/memories/{memory}/history",
        f"/v1/runs/{run}",
        f"/v1/runs/{run}/logs",
        f"/v1/conversations/{conversation}",
        f"/v1/conversations/{conversation}/messages",
    ):
        response = await house.member.get(path)
        assert response.status_code == 404, path
    listed = [await house.member.get(path) for path in ("/v1/memories", "/v1/conversations")]
    assert not [part for part in (memory, conversation) if part in str([r.text for r in listed])]


NO_KEYS = [
    "",
    "Bearer",
    "Bearer ",
    "Basic dXNlcjpwYXNz",
    "Bearer mk_platform_x",
    "Bearer " + "x" * 5_000,
    "Bearer mk_" + "0" * 32 + "_" + "A" * 43,
    "Bearer \xff\xfe",
]


async def test_what_is_no_key_opens_nothing(house: House) -> None:
    for header in NO_KEYS:
        headers = {"Authorization": header.encode("latin-1")}
        response = await house.nobody.get("/v1/memories", headers=headers)
        assert (response.status_code, response.json()["code"]) == (401, "unauthenticated"), header
        assert response.headers["www-authenticate"] == "Bearer"


async def test_a_revoked_key_opens_nothing(house: House) -> None:
    made = (await house.owner.post("/v1/keys", {"role": "read_only"})).json()
    headers = {"Authorization": f"Bearer {made['key']}"}
    assert (await house.nobody.get("/v1/memories", headers=headers)).status_code == 200
    assert (await house.owner.post(f"/v1/keys/{made['id']}/revoke")).status_code == 200
    assert (await house.nobody.get("/v1/memories", headers=headers)).status_code == 401


async def test_the_organization_comes_from_the_key_and_from_nothing_else(house: House) -> None:
    mine = house.owner.key
    assert mine is not None
    named = {"X-Organization-Id": mine[3:35], "X-Organization": mine[3:35]}
    said = (await house.stranger.get("/v1/memories", headers=named)).text
    assert house.foreign.word in said
    assert house.rows.word not in said
    body = {"text": "Tea", "organization_id": mine[3:35]}
    assert (await house.stranger.post("/v1/memories", body)).status_code == 422
