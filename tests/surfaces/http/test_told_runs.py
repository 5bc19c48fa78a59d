"""A run of somebody else over HTTP: as far as a brief may tell of it, and no further."""

from tests.surfaces.http.house import House


async def test_a_run_that_a_brief_cites_is_answered_without_its_input_and_whom_it_was_for(
    house: House,
) -> None:
    other = (await house.owner.post("/v1/users", {"name": "Other"})).json()["id"]
    run = (
        await house.owner.post("/v1/runs", {"user_id": other, "input": {"secret": "tea"}})
    ).json()["id"]
    assert (await house.member.get(f"/v1/runs/{run}")).status_code == 404
    deal = {"kind": "crm.deal", "id": "told-7"}
    ended = await house.owner.post(
        f"/v1/runs/{run}/complete", {"summary": "The offer went out.", "refs": [deal]}
    )
    assert ended.json()["whole"] is True
    policy = {
        "sources": [{"name": "run_history", "token_budget": 500}],
        "total_token_budget": 500,
    }
    asked = {"query": "q", "entities": [deal], "policy": policy}
    brief = (await house.member.post("/v1/briefs", asked)).json()
    assert {"kind": "run", "id": run, "label": None} in brief["items"]
    told = await house.member.get(f"/v1/runs/{run}")
    assert told.status_code == 200
    seen = told.json()
    assert (seen["status"], seen["result"]["summary"]) == ("completed", "The offer went out.")
    assert (seen["whole"], seen["input"], seen["user_id"]) == (False, None, None)
    assert other not in told.text
    for path in ("logs", "block"):
        assert (await house.member.get(f"/v1/runs/{run}/{path}")).status_code == 404
    assert (await house.member.post(f"/v1/runs/{run}/cancel")).status_code == 404
    listed = (await house.member.get("/v1/runs")).json()["items"]
    assert run not in [each["id"] for each in listed]
