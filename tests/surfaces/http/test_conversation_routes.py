"""Conversations over HTTP: exact to the last key, fenced, bounded, and each organization's own."""

import json
from typing import Any

import httpx
import pytest

from tests.surfaces.http.house import Api, House

BLOCKS = [
    {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
    {"type": "tool_call", "id": "c1", "name": "look", "arguments": '{"q": "Ghent'},
    {"type": "made_up", "z": 1, "a": {"y": None, "b": [True, 1.5]}},
]
SAID: list[dict[str, Any]] = [
    {"role": "user", "content": "Hello", "metadata": {"z": 1, "a": [2]}, "pinned": True},
    {"role": "assistant", "content": BLOCKS, "metadata": {"provider": "anthropic"}},
    {
        "role": "tool",
        "content": [{"type": "tool_result", "tool_call_id": "c1", "content": "In Flanders."}],
    },
]
KEY = {"workflow_id": "support flow/1"}


async def load(api: Api, **key: Any) -> dict[str, Any]:
    response = await api.get("/v1/conversations/load", params=KEY | key)
    assert response.status_code == 200, response.text
    loaded: dict[str, Any] = response.json()
    return loaded


async def save(api: Api, messages: list[Any], fence: int, **more: Any) -> httpx.Response:
    sent = {**KEY, "messages": messages, "fence": fence, **more}
    return await api.send("PUT", "/v1/conversations/messages", json=sent)


async def test_a_list_comes_back_to_the_last_key_and_in_its_order(house: House) -> None:
    loaded = await load(house.owner)
    assert (loaded["messages"], loaded["conversation"], loaded["length"]) == ([], None, 0)
    saved = (await save(house.owner, SAID, loaded["fence"])).json()
    assert saved["length"] == 3
    raw = (await house.owner.get(f"/v1/conversations/{saved['id']}/messages")).json()["items"]
    for stored, sent in zip(raw, SAID, strict=True):
        assert json.dumps(stored["content"]) == json.dumps(sent["content"])
        assert json.dumps(stored["metadata"]) == json.dumps(sent.get("metadata", {}))
        assert stored["pinned"] is sent.get("pinned", False)
    again = await load(house.owner)
    assert (again["length"], again["digest"]) == (3, saved["digest"])
    by_id = (await house.owner.get(f"/v1/conversations/{saved['id']}/load")).json()
    assert by_id == again


async def test_another_organization_has_a_list_of_its_own_under_the_same_key(house: House) -> None:
    saved = (await save(house.owner, SAID, 0)).json()
    assert (await load(house.stranger))["messages"] == []
    other = (await save(house.stranger, SAID[:1], 0)).json()
    assert other["id"] != saved["id"]
    listed = await house.stranger.get("/v1/conversations", params=KEY)
    assert [each["id"] for each in listed.json()["items"]] == [other["id"]]
    assert (await house.stranger.post("/v1/conversations/reset", KEY)).json()["conversations"] == 1
    assert (await load(house.owner))["length"] == 3
    assert (await house.stranger.post("/v1/conversations/purge", KEY)).json()["conversations"] == 1
    assert (await load(house.owner))["length"] == 3


async def test_a_late_save_is_a_conflict_that_brings_nothing_back(house: House) -> None:
    saved = (await save(house.owner, SAID, 0)).json()
    loaded = await load(house.owner)
    cleared = (await house.owner.post("/v1/conversations/clear", KEY)).json()["conversation"]
    assert (cleared["id"], cleared["length"]) == (saved["id"], 0)
    late = await save(house.owner, loaded["messages"], loaded["fence"])
    assert (late.status_code, late.json()["code"]) == (409, "late_save")
    appended = {**KEY, "messages": SAID[:1], "fence": loaded["fence"]}
    late = await house.owner.post("/v1/conversations/messages", appended)
    assert (late.status_code, late.json()["code"]) == (409, "late_save")
    assert (await load(house.owner))["messages"] == []
    await house.owner.post("/v1/conversations/reset", KEY)
    ended = await save(house.owner, SAID, cleared["fence"])
    assert (ended.status_code, ended.json()["code"]) == (409, "older_generation")
    assert ended.json()["generation"] == 2
    nobodys = await house.owner.post("/v1/conversations/clear", {"workflow_id": "none"})
    assert nobodys.json() == {"conversation": None}


async def test_only_over_the_list_that_was_read_where_somebody_says_so(house: House) -> None:
    saved = (await save(house.owner, SAID[:1], 0)).json()
    await house.owner.post("/v1/conversations/messages", {**KEY, "messages": SAID[1:]})
    refused = await save(house.owner, SAID[:1], 0, expected_digest=saved["digest"])
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert refused.json()["length"] == 3
    body = {**KEY, "messages": SAID[:1], "expected_length": 1}
    assert (await house.owner.post("/v1/conversations/messages", body)).status_code == 409


async def test_a_conversation_may_hold_more_than_other_bodies(house: House) -> None:
    settings = house.memoranda.settings
    text = "a" * (settings.max_body_bytes + 1000)
    assert len(text) < settings.conversation_max_bytes
    assert (await save(house.owner, [{"role": "user", "content": text}], 0)).status_code == 200
    other = await house.owner.post("/v1/memories", {"text": text})
    assert (other.status_code, other.json()["code"]) == (413, "over_limit")
    larger = [{"role": "user", "content": "a" * settings.conversation_max_bytes}]
    refused = await save(house.owner, larger, 0)
    assert (refused.status_code, refused.json()["code"]) == (413, "conversation_too_large")


async def test_an_agents_key_keeps_to_its_own_agent(house: House) -> None:
    saved = (await save(house.agent, SAID, 0)).json()
    assert saved["agent_id"] == house.rows.agent
    assert (await load(house.owner))["messages"] == []
    assert (await load(house.owner, agent_id=house.rows.agent))["length"] == 3
    other = (await house.owner.post("/v1/agents", {"slug": "other"})).json()["id"]
    assert (await save(house.agent, SAID, 0, agent_id=other)).status_code == 403
    for path in ("reset", "purge"):
        assert (await house.agent.post(f"/v1/conversations/{path}", KEY)).status_code == 403
    assert (await house.member.delete(f"/v1/conversations/{saved['id']}")).status_code == 403


@pytest.mark.parametrize(
    "sent",
    [
        {"messages": SAID},
        {"messages": SAID, "fence": "0"},
        {"messages": SAID, "fence": -1},
        {"messages": [{"role": "king", "content": "x"}], "fence": 0},
        {"messages": [{"role": "user", "content": "x", "pinned": "yes"}], "fence": 0},
        {"messages": [{"role": "user", "content": "x", "ts": 1}], "fence": 0},
    ],
)
async def test_a_list_of_another_shape_is_refused_whole(house: House, sent: dict[str, Any]) -> None:
    response = await house.owner.send("PUT", "/v1/conversations/messages", json=KEY | sent)
    assert (response.status_code, response.json()["code"]) == (422, "invalid_input")
    assert (await load(house.owner))["messages"] == []


async def test_what_each_runtime_keeps_is_served_as_data(house: House) -> None:
    rows = (await house.agent.get("/v1/conversations/fidelity")).json()["items"]
    assert len(rows) == 8
    assert {each["fidelity"] for each in rows} >= {"provider_replayable"}
    assert all(each["not_claimed"] for each in rows)


async def test_usage_of_a_workflow_or_of_somebody_and_not_of_both(house: House) -> None:
    wrong = await house.owner.get(
        "/v1/conversations/usage", params=KEY | {"user_id": house.rows.user}
    )
    assert wrong.status_code == 422
    wrong = await house.owner.get("/v1/conversations", params=KEY | {"user_id": house.rows.user})
    assert wrong.status_code == 422


async def test_a_list_that_ends_early_says_where_it_goes_on(house: House) -> None:
    saved = (await save(house.owner, SAID, 0)).json()
    path = f"/v1/conversations/{saved['id']}/messages"
    first = (await house.owner.get(path, params={"limit": 2})).json()
    assert ([each["position"] for each in first["items"]], first["next_after"]) == ([1, 2], 2)
    rest = (await house.owner.get(path, params={"after": first["next_after"]})).json()
    assert ([each["position"] for each in rest["items"]], rest["next_after"]) == ([3], None)


async def test_a_generation_is_asked_for_and_none_is_begun_by_naming_it(house: House) -> None:
    await save(house.owner, SAID, 0)
    asked = "/v1/conversations/generation"
    for api in (house.owner, house.stranger):
        told = await api.get(asked, params=KEY)
        assert told.json() == {**KEY, "generation": 1}
    refused = await save(house.owner, SAID, 0, generation=2)
    assert (refused.status_code, refused.json()["code"]) == (409, "later_generation")
    assert refused.json()["generation"] == 1
    await house.owner.post("/v1/conversations/reset", KEY)
    assert (await house.owner.get(asked, params=KEY)).json()["generation"] == 2
    assert (await house.stranger.get(asked, params=KEY)).json()["generation"] == 1
    assert (await save(house.owner, SAID, 0, generation=2)).status_code == 200


async def test_what_fits_and_what_can_not_be_compacted_are_two_answers(house: House) -> None:
    saved = (await save(house.owner, SAID[:1], 0)).json()
    path = f"/v1/conversations/{saved['id']}/compact-if-due"
    fits = (await house.owner.post(path, {"window": 100_000})).json()
    assert fits == {"due": None, "compaction": None, "reason": None}
    over = await house.owner.post(path, {"window": 1})
    assert (over.status_code, over.json()["due"], over.json()["compaction"]) == (
        *(200, "window"),
        None,
    )
    assert "of the latest turns" in over.json()["reason"]
