"""What the routes of instructions and of the load meter answer, beyond what every route does."""

import pytest

from tests.surfaces.http.house import House

LONG = "Keep it short.\n" * 900


async def test_a_body_that_is_not_saved_is_measured_while_somebody_types(house: House) -> None:
    path = "/v1/context-files/voice"
    tried = await house.owner.post(f"{path}/load-report?preview=true", {"body": LONG})
    assert tried.status_code == 200
    report = tried.json()
    assert (report["saved"], report["state"], report["cap"]) == (False, "over", 1_500)
    start, end = report["skipped"]["start"], report["skipped"]["end"]
    assert report["skipped_chars"] == end - start
    assert [each["kind"] for each in report["preview"]] == ["given", "skipped", "given"]
    assert (await house.owner.get(path)).json()["body"] == ""
    assert (await house.owner.get(f"{path}/load-report")).json()["used"] == 0


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"body": "x" * 65_537}, 422, "file_too_large"),
        ({"body": "a\0b"}, 422, "invalid_input"),
        ({"body": 5}, 422, "invalid_input"),
        ({}, 422, "invalid_input"),
        ({"body": "", "more": 1}, 422, "invalid_input"),
    ],
)
async def test_a_body_that_no_file_could_say_is_refused(
    house: House, body: dict[str, object], status: int, code: str
) -> None:
    answer = await house.owner.post("/v1/context-files/voice/load-report", body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_what_a_body_says_is_in_no_refusal(house: House) -> None:
    answer = await house.owner.post(
        "/v1/agents/nobody/files/SOUL.md/load-report", {"body": "hidden words"}
    )
    assert answer.status_code == 404
    assert "hidden" not in answer.text


async def test_an_unknown_file_is_told_with_the_names_that_there_are(house: House) -> None:
    answer = await house.owner.get("/v1/context-files/nothing/load-report")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_file")


async def test_a_run_is_told_once_and_anew_only_on_wish(house: House) -> None:
    run = (await house.owner.post("/v1/runs", {"agent_id": house.rows.agent})).json()["id"]
    path = f"/v1/runs/{run}/instructions"
    assert (await house.owner.get(path)).status_code == 404
    first = (await house.owner.post(path, {"output_contract": "In one line."})).json()
    again = (await house.owner.post(path, {"output_contract": "At length."})).json()
    anew = (await house.owner.post(path, {"output_contract": "At length.", "refresh": True})).json()
    assert (first["built"], again["built"], anew["built"]) == (True, False, True)
    assert again["text"] == first["text"]
    assert "At length." in anew["text"]
    assert (await house.owner.get(path)).json()["text"] == anew["text"]
    assert (await house.owner.post(path, {"refresh": "yes"})).status_code == 422


async def test_a_cap_for_skills_is_a_number_within_its_bounds_or_null(house: House) -> None:
    path = f"/v1/agents/{house.rows.agent}/instructions"
    for cap, status in ((0, 200), (8_000, 200), (None, 200), (8_001, 422), ("5", 422), (-1, 422)):
        answer = await house.owner.send(
            "PUT", path, json={"capabilities": "Reads.", "skills_cap": cap}
        )
        assert answer.status_code == status, cap
    assert (await house.owner.get(path)).json()["skills_cap"] is None


async def test_a_whole_agents_load_is_fourteen_segments_measured_without_a_run(
    house: House,
) -> None:
    path = f"/v1/agents/{house.rows.agent}"
    before = (await house.owner.get("/v1/runs")).json()
    soul = (await house.owner.get(f"{path}/files/SOUL.md")).json()["hash"]
    body = {"body": LONG, "expected_hash": soul}
    await house.owner.send("PUT", f"{path}/files/SOUL.md", json=body)
    report = (await house.owner.get(f"{path}/context-load")).json()
    load = report["load"]
    assert (load["total_cap"], len(load["segments"])) == (17_000, 14)
    identity = load["segments"][0]
    assert set(identity) == {
        *("name", "label", "cap", "used", "included", "skipped_chars", "skipped", "state"),
        *("depends_on", "items", "files"),
    }
    assert (identity["name"], identity["cap"], identity["state"]) == ("identity", 1_200, "over")
    assert set(identity["skipped"]) == {"start", "end", "first_line", "last_line"}
    alone = (await house.owner.get(f"{path}/files/SOUL.md/load-report")).json()
    assert alone["segment"] == identity
    assert (await house.owner.get("/v1/runs")).json() == before
