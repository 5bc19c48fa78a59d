"""Rows of an application, and memories about them, over HTTP."""

from tests.surfaces.http.house import House

REF = {"kind": "crm.company", "id": "acme"}


async def test_a_memory_says_what_it_is_about_and_a_run_is_not_told_without_its_row(
    house: House,
) -> None:
    said = {"text": "They pay late.", "attribute": "observation.paying", "about": REF}
    made = (await house.owner.post("/v1/memories", said)).json()
    assert made["subject_key"] == "crm.company:acme:observation.paying"
    assert made["subject_refs"] == [{**REF, "label": None}]
    assert (await house.owner.get(f"/v1/memories/{made['id']}")).status_code == 200
    assert (await house.agent.get(f"/v1/memories/{made['id']}")).status_code == 404
    wrong = await house.owner.post("/v1/memories", {**said, "about": {"kind": "a:b", "id": "1"}})
    assert (wrong.status_code, wrong.json()["code"]) == (422, "invalid_input")
    proposed = (await house.agent.post("/v1/memories/proposals", said)).json()
    assert proposed["outcome"] in {"waiting", "known"}


async def test_rows_are_asked_for_in_parts_and_what_is_not_there_is_left_out(house: House) -> None:
    assert (await house.owner.get("/v1/state/kinds")).json() == {"items": []}
    asked = await house.owner.post("/v1/state/resolve", {"refs": [REF]})
    assert asked.json() == {"items": []}
    many = await house.owner.post("/v1/state/resolve", {"refs": [REF] * 101})
    assert many.json()["code"] == "over_limit"
