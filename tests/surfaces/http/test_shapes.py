"""The names and shapes that callers build on."""

import base64
import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.surfaces.http.house import Api, House, add, policy, unknown_id


async def test_a_document_is_taken_read_and_found(house: House) -> None:
    files = {"file": ("plants.md", "# Plants\n\nThe quince bears fruit in October.\n")}
    fields = {"kind": "markdown", "title": "Plants"}
    taken = await house.owner.post("/v1/knowledge/sources", files=files, data=fields)
    assert taken.status_code == 202
    assert set(taken.json()) == {"id", "status"}
    assert taken.json()["status"] == "pending"
    await house.memoranda.worker.drain()
    source = (await house.owner.get(f"/v1/knowledge/sources/{taken.json()['id']}")).json()
    assert (source["status"], source["title"], source["kind"]) == ("ready", "Plants", "markdown")
    asked = {"query": "quince fruit", "limit": 3, "source_ids": [source["id"]]}
    found = (await house.owner.post("/v1/knowledge/search", asked)).json()
    assert (found["semantic"], found["model"]) == (True, "all-MiniLM-L6-v2-int8")
    best = found["results"][0]
    assert {"ref", "source_id", "ordinal", "external_id", "text", "score"} <= set(best)
    assert best["source_id"] == source["id"]
    assert "quince" in best["text"]


async def test_a_document_without_a_title_is_called_by_its_file(house: House) -> None:
    source = await add(house.owner, "Quinces.", "quinces.txt")
    told = (await house.owner.get(f"/v1/knowledge/sources/{source}")).json()
    assert (told["title"], told["kind"]) == ("quinces.txt", "text")


async def test_the_kind_is_told_from_the_files_name_whatever_its_title(house: House) -> None:
    source = await add(house.owner, "# Quinces\n\nRound.", "quinces.md", title="Quinces")
    told = (await house.owner.get(f"/v1/knowledge/sources/{source}")).json()
    assert (told["title"], told["kind"]) == ("Quinces", "markdown")


async def test_a_turn_of_a_transcript_keeps_its_own_id(house: House) -> None:
    lines = '{"id": "D1:3", "speaker": "Ada", "text": "I planted a quince."}\n'
    await add(house.owner, lines, "talk.jsonl", kind="transcript", title="Talk")
    await house.memoranda.worker.drain()
    found = (await house.owner.post("/v1/knowledge/search", {"query": "quince"})).json()
    assert found["results"][0]["external_id"] == "D1:3"


async def test_a_source_that_failed_says_why_and_can_be_tried_again(house: House) -> None:
    path = f"/v1/knowledge/sources/{house.rows.failed_source}"
    source = (await house.owner.get(path)).json()
    assert source["status"] == "failed"
    assert source["reason"]
    again = await house.owner.post(f"{path}/retry")
    assert (again.status_code, again.json()["status"]) == (202, "pending")
    ready = f"/v1/knowledge/sources/{house.rows.source}/retry"
    assert (await house.owner.post(ready)).status_code == 409


async def test_a_removed_source_is_gone(house: House) -> None:
    path = f"/v1/knowledge/sources/{house.rows.source}"
    assert (await house.owner.delete(path)).status_code == 204
    assert (await house.owner.get(path)).status_code == 404
    assert (await house.owner.delete(path)).status_code == 404


async def test_the_operator_adds_knowledge_for_everybody(house: House) -> None:
    await add(house.operator, "The medlar is eaten when soft.", "a.txt", platform="true")
    await house.memoranda.worker.drain()
    asked = {"query": "medlar", "include_platform": True}
    assert (await house.owner.post("/v1/knowledge/search", asked)).json()["results"]
    asked["include_platform"] = False
    assert not (await house.owner.post("/v1/knowledge/search", asked)).json()["results"]


async def test_a_memory_is_kept_listed_superseded_and_forgotten(house: House) -> None:
    agent = house.rows.agent
    body: dict[str, Any] = {
        "text": "Answers are short.",
        "title": "Style",
        "category": "style",
        "tags": ["tone"],
        "agent_id": agent,
        "attribute": "preference.style",
        "expires_at": (datetime.now(UTC) + timedelta(days=3)).isoformat(),
    }
    kept = await house.owner.post("/v1/memories", body)
    assert kept.status_code == 201
    memory = kept.json()
    assert (memory["text"], memory["version"], memory["agent_id"]) == (body["text"], 1, agent)
    second = (await house.owner.post("/v1/memories", {**body, "text": "Answers are long."})).json()
    assert (second["id"], second["version"]) == (memory["id"], 2)
    listed = (await house.owner.get("/v1/memories", params={"agent_id": agent})).json()
    assert [m["id"] for m in listed["items"]].count(memory["id"]) == 1
    assert (await house.owner.get(f"/v1/memories/{memory['id']}")).json() == second
    forgotten = await house.owner.post(f"/v1/memories/{memory['id']}/forget")
    assert forgotten.status_code == 200
    history = (await house.owner.get(f"/v1/memories/{memory['id']}/history")).json()["items"]
    assert [revision["version"] for revision in history] == [1, 2, 3]
    assert history[-1]["text"] is None
    assert (await house.owner.get(f"/v1/memories/{memory['id']}")).status_code == 404


async def test_the_same_text_again_is_a_conflict_that_names_the_memory(house: House) -> None:
    first = (await house.owner.post("/v1/memories", {"text": "Tea."})).json()
    again = await house.owner.post("/v1/memories", {"text": " tea. "})
    assert (again.status_code, again.json()["code"]) == (409, "duplicate_memory")
    assert first["id"] in again.text


async def test_memories_come_page_by_page(house: House) -> None:
    for number in range(5):
        await house.owner.post("/v1/memories", {"text": f"Fact {number}"})
    texts: list[str] = []
    cursor = None
    while True:
        params = {"limit": "2", **({"cursor": cursor} if cursor else {})}
        page = (await house.owner.get("/v1/memories", params=params)).json()
        assert len(page["items"]) <= 2
        texts += [item["text"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert texts == [*(f"Fact {number}" for number in (4, 3, 2, 1, 0)), "marigold memory"]


async def test_a_brief_is_packed_and_digested_and_explained(house: House) -> None:
    body = {
        "subject": {"user_id": house.rows.user, "agent_id": house.rows.agent},
        "query": "What grows in spring?",
        "entities": [{"kind": "company", "id": "c1"}],
        "policy": policy(),
        "run_id": house.rows.run,
        "conversation": house.rows.conversation,
        "explain": True,
    }
    await house.owner.post("/v1/memories", {"text": "Tea, no sugar."})
    response = await house.owner.post("/v1/briefs", body)
    assert response.status_code == 200
    brief = response.json()
    assert brief["digest"] == hashlib.sha256(brief["text"].encode()).hexdigest()
    assert "Tea, no sugar." in brief["text"]
    entry = brief["explain"][0]
    assert {"source", "title", "ref", "outcome", "tokens", "lost_to"} <= set(entry)
    assert entry["outcome"] == "kept"
    plain = (await house.owner.post("/v1/briefs", {**body, "explain": False})).json()
    assert plain == {**brief, "explain": None}


async def test_a_brief_takes_a_published_policy_by_its_name(house: House) -> None:
    body = {"query": "Q", "policy_name": house.rows.policy}
    assert (await house.owner.post("/v1/briefs", body)).status_code == 200
    both = await house.owner.post("/v1/briefs", {**body, "policy": policy()})
    assert both.status_code == 422


async def test_a_policy_is_published_in_versions(house: House) -> None:
    body = {"name": "short", "policy": policy(total_token_budget=300)}
    first = await house.owner.post("/v1/policies", body)
    assert first.status_code == 201
    body["policy"] = policy(total_token_budget=200)
    second = (await house.owner.post("/v1/policies", body)).json()
    assert (first.json()["version"], second["version"]) == (1, 2)
    assert (await house.owner.get("/v1/policies/short")).json() == second
    old = await house.owner.get("/v1/policies/short", params={"version": 1})
    assert old.json() == first.json()
    listed = (await house.owner.get("/v1/policies")).json()["items"]
    assert [p["version"] for p in listed if p["name"] == "short"] == [2]
    missing = await house.owner.get("/v1/policies/short", params={"version": 9})
    assert missing.status_code == 404


async def test_a_policy_is_refused_with_each_reason_at_its_own_path(house: House) -> None:
    wrong = policy(
        sources=[
            {"name": "memory", "token_budget": -1},
            {"name": "gossip", "token_budget": 5},
            {"name": "knowledge", "token_budget": 5, "options": {"organization_id": "x"}},
        ]
    )
    for response in (
        await house.owner.post("/v1/policies", {"name": "wrong", "policy": wrong}),
        await house.owner.post("/v1/briefs", {"query": "Q", "policy": wrong}),
    ):
        assert (response.status_code, response.json()["code"]) == (422, "policy_rejected")
        paths = [tuple(reason["path"]) for reason in response.json()["rejections"]]
        assert ("sources", 0, "token_budget") in paths
        assert ("sources", 1, "name") in paths
        assert ("sources", 2, "options", "organization_id") in paths


async def test_messages_are_appended_and_read_in_their_order(house: House) -> None:
    opened = await house.owner.post("/v1/conversations", {"user_id": house.rows.user})
    assert opened.status_code == 201
    path = f"/v1/conversations/{opened.json()['id']}"
    said = [{"role": "user", "content": f"Line {n}"} for n in range(4)]
    blocks = {"role": "assistant", "content": [{"type": "text", "text": "Well."}]}
    body = {"messages": [*said, blocks], "expected_length": 0}
    appended = await house.owner.post(f"{path}/messages", body)
    assert appended.json()["length"] == 5
    late = await house.owner.post(f"{path}/messages", body)
    assert (late.status_code, late.json()["code"]) == (409, "conflict")
    assert (await house.owner.get(path)).json()["length"] == 5
    params = {"after": 3, "limit": 2}
    read = (await house.owner.get(f"{path}/messages", params=params)).json()["items"]
    assert [(m["position"], m["content"]) for m in read] == [
        (4, "Line 3"),
        (5, blocks["content"]),
    ]


async def test_a_run_is_started_and_logged(house: House) -> None:
    body = {"agent_id": house.rows.agent, "parent_id": house.rows.run, "input": {"a": [1, None]}}
    run = await house.owner.post("/v1/runs", body)
    assert run.status_code == 201
    assert body.items() <= run.json().items()
    path = f"/v1/runs/{run.json()['id']}"
    assert (await house.owner.get(path)).json() == run.json()
    line = {"step": "plan", "level": "warning", "metadata": {"items": 3}}
    logged = await house.owner.post(f"{path}/logs", line)
    assert (logged.status_code, line.items() <= logged.json().items()) == (201, True)
    assert (await house.owner.get(f"{path}/logs")).json()["items"] == [logged.json()]


async def test_activity_comes_newest_first_and_page_by_page(house: House) -> None:
    first = (await house.owner.get("/v1/activities", params={"limit": 1})).json()
    assert len(first["items"]) == 1
    params = {"limit": 1, "cursor": first["next_cursor"]}
    second = (await house.owner.get("/v1/activities", params=params)).json()
    assert second["items"][0]["created_at"] <= first["items"][0]["created_at"]
    assert second["items"][0]["id"] != first["items"][0]["id"]


async def test_lists_of_access_come_page_by_page(house: House) -> None:
    for number in range(4):
        await house.owner.post("/v1/users", {"name": f"User {number}"})
    names: list[str] = []
    cursor: str | None = None
    for _ in range(10):
        params = {"limit": "2", **({"cursor": cursor} if cursor else {})}
        page = (await house.owner.get("/v1/users", params=params)).json()
        names += [user["name"] for user in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert [name for name in names if name.startswith("User")] == [f"User {n}" for n in range(4)]
    assert len(names) == len(set(names))


def paged(house: House) -> list[tuple[Api, str]]:
    """Every list that comes in pages, and who reads it."""
    return [
        (house.owner, "/v1/memories"),
        (house.owner, "/v1/knowledge/sources"),
        (house.owner, "/v1/conversations"),
        (house.owner, f"/v1/runs/{house.rows.run}/logs"),
        (house.owner, "/v1/activities"),
        (house.by_role["operator"], "/v1/organizations"),
        (house.owner, "/v1/users"),
        (house.owner, "/v1/agents"),
        (house.owner, "/v1/keys"),
    ]


async def test_a_page_that_ends_with_the_last_row_names_no_next_one(house: House) -> None:
    await house.owner.post(f"/v1/runs/{house.rows.run}/logs", {"step": "plan"})
    for reader, path in paged(house):
        whole = (await reader.get(path)).json()
        assert whole["next_cursor"] is None, path
        exact = await reader.get(path, params={"limit": len(whole["items"])})
        assert exact.json() == whole, path


async def test_a_cursor_that_is_not_the_lists_own_is_refused_by_its_field(house: House) -> None:
    for reader, path in paged(house):
        for wrong in ("garbled", house.rows.user):
            refused = await reader.get(path, params={"cursor": wrong})
            assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input"), path
            assert refused.json()["field"] == "cursor", path


async def test_a_key_is_shown_once(house: House) -> None:
    made = (await house.owner.post("/v1/keys", {"role": "read_only", "name": "report"})).json()
    assert made["key"].startswith("mk_")
    assert made["organization_id"]
    listed = (await house.owner.get("/v1/keys")).json()["items"]
    assert made["id"] in {key["id"] for key in listed}
    assert not [key for key in listed if "key" in key]


async def test_health_is_told_to_anybody(house: House) -> None:
    assert (await house.nobody.get("/healthz")).json() == {"status": "ok"}
    assert (await house.nobody.get("/readyz")).json() == {"status": "ready"}


async def test_what_is_not_there_is_not_found(house: House) -> None:
    for path in (
        "/v1/memories/{id}",
        "/v1/memories/{id}/history",
        "/v1/runs/{id}",
        "/v1/runs/{id}/logs",
        "/v1/conversations/{id}",
        "/v1/conversations/{id}/messages",
        "/v1/knowledge/sources/{id}",
        "/v1/users/{id}",
        "/v1/agents/{id}",
        "/v1/policies/{id}",
    ):
        response = await house.owner.get(path.format(id=unknown_id()))
        assert (response.status_code, response.json()["code"]) == (404, "not_found"), path


async def test_bytes_that_are_no_text_fail_without_harm(house: House) -> None:
    source = await add(house.owner, base64.b64decode("iVBORw0KGgoAAAANSUhEUg=="), "a.md")
    await house.memoranda.worker.drain()
    told = (await house.owner.get(f"/v1/knowledge/sources/{source}")).json()
    assert (told["status"], told["chunks"]) == ("failed", 0)
