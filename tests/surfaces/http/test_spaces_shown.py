"""What a space keeps is shown as that space's over HTTP, and what waits with what it would change."""

from uuid import UUID

from memoranda.tools.models import Decision
from tests.surfaces.http.house import House


async def published(house: House) -> str:
    """A space of the house's agent."""
    body = {
        "workflow_id": "invoices",
        "node_id": "extract",
        "tools": ["remember", "update", "get"],
        "agent": house.rows.agent,
    }
    made = (await house.owner.send("PUT", "/v1/tools/spaces", json=body)).json()
    assert made["name"] == "invoices/extract"
    return str(made["id"])


async def test_a_memory_names_its_space_and_is_not_moved_out_of_it(house: House) -> None:
    await published(house)
    product, owner = house.memoranda, await house.memoranda.access.authenticate(house.owner.key)
    await product.tools.policies.set(owner, UUID(house.rows.agent), "remember", Decision.ALLOW)
    node = await product.tools.spaces.bound(owner, "invoices", "extract")
    kept = (await product.tools.invoke(node, "remember", {"content": "Totals lack tax."})).answer
    path = f"/v1/memories/{kept['memory_id']}"
    assert (await house.owner.get(path)).json()["space"] == "invoices/extract"
    listed = (await house.owner.get("/v1/memories?limit=200")).json()["items"]
    spaces = {each["id"]: each["space"] for each in listed}
    assert spaces.pop(kept["memory_id"]) == "invoices/extract"
    assert set(spaces.values()) == {None}
    for to in ({"user_id": None}, {"agent_id": house.rows.agent}, {"user_id": house.rows.user}):
        refused = await house.owner.send("PATCH", path, json=to)
        assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
        assert refused.json()["space"] == "invoices/extract"
    changed = await house.owner.send("PATCH", path, json={"pinned": True})
    assert (changed.status_code, changed.json()["space"]) == (200, "invoices/extract")


async def test_a_proposal_names_its_space(house: House) -> None:
    await published(house)
    product, owner = house.memoranda, await house.memoranda.access.authenticate(house.owner.key)
    node = await product.tools.spaces.bound(owner, "invoices", "extract")
    made = (await product.tools.invoke(node, "remember", {"content": "Totals lack tax."})).answer
    listed = (await house.owner.get("/v1/memories/proposals")).json()["items"]
    spaces = {each["id"]: each["space"] for each in listed}
    assert spaces[made["proposal_id"]] == "invoices/extract"


async def test_an_approval_holds_what_the_memory_says_for_whoever_decides(house: House) -> None:
    product, owner = house.memoranda, await house.memoranda.access.authenticate(house.owner.key)
    agent = await product.access.authenticate(house.agent.key)
    memory = await product.memories.remember(
        owner, "Ada takes milk.", agent_id=agent.agent_id, user_id=agent.user_id
    )
    wish = {"memory_id": str(memory.id), "expected_version": 1}
    asked = (await product.tools.invoke(agent, "forget", wish)).answer
    path = f"/v1/tools/approvals/{asked['approval_id']}"
    assert (await house.owner.get(path)).json()["memory"]["text"] == "Ada takes milk."
    assert (await house.agent.get(path)).json()["memory"] is None
    listed = (await house.owner.get("/v1/tools/approvals")).json()["items"]
    assert [each["memory"]["id"] for each in listed if each["id"] == asked["approval_id"]] == [
        str(memory.id)
    ]
