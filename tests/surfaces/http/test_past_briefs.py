"""Briefs of past times, over HTTP."""

from datetime import UTC, datetime, timedelta

from tests.surfaces.http.house import House

SOURCES = [{"name": name, "token_budget": 500} for name in ("memory", "personal_memory", "dossier")]
POLICY = {"sources": SOURCES, "total_token_budget": 1_000}


async def test_a_brief_of_then_says_what_was_remembered_then_and_who_cannot_tell(
    house: House,
) -> None:
    kept = (await house.owner.post("/v1/memories", {"text": "Deliveries take a week."})).json()
    then = datetime.now(UTC).isoformat()
    await house.owner.post(f"/v1/memories/{kept['id']}/forget")
    asked = {"query": "deliveries", "policy": POLICY}
    now = (await house.owner.post("/v1/briefs", asked)).json()
    assert "take a week" not in now["text"]
    assert (now["as_of"], now["times"]) == (None, {})
    past = (await house.owner.post("/v1/briefs", {**asked, "as_of": then})).json()
    assert "take a week" in past["text"]
    assert past["text"].startswith("Unavailable sources: dossier.")
    assert past["failure_reasons"] == {"dossier": "present_only"}
    assert past["times"]["dossier"]["speaks_for"] is None
    assert datetime.fromisoformat(past["times"]["memory"]["speaks_for"]) == (
        datetime.fromisoformat(then)
    )


async def test_what_can_not_be_told_of_then_is_refused_with_its_reason(house: House) -> None:
    required = {**POLICY, "sources": [{**SOURCES[2], "required": True}]}
    then = datetime.now(UTC).isoformat()
    asked = {"query": "q", "policy": required, "as_of": then}
    gone = await house.owner.post("/v1/briefs", asked)
    assert (gone.status_code, gone.json()["code"]) == (410, "gone")
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    for wrong in (later, "2026-01-01T00:00:00", "yesterday", 7):
        refused = await house.owner.post("/v1/briefs", {"query": "q", "as_of": wrong})
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input")
