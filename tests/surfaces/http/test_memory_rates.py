"""Over the minute's limit every route of memories is refused, and none of them does anything."""

from tests.surfaces.http.test_memory_routes import rows, told
from tests.surfaces.http.test_rates import limited
from tests.surfaces.http.walk import STEPS

UNCOUNTED = "POST /v1/memories/recall"  # a run must not wait for a minute to pass
ABOUT = {name: steps for name, steps in STEPS.items() if "/v1/memories" in name}


async def test_every_route_of_memories_is_refused_over_the_limit_and_changes_nothing(
    database_url: str,
) -> None:
    async with limited(database_url) as (house, _):
        for _ in range(3):
            await house.owner.post("/v1/memories", {"text": ""})
        for _ in range(5):
            await house.owner.get("/v1/memories")
        before = await rows(house, house.owner)
        assert len(ABOUT) >= 20
        for name, steps in ABOUT.items():
            for step in steps:
                answer = await step.call(house.owner, house.rows)
                if name == UNCOUNTED:
                    assert answer.status_code == 200
                    continue
                assert told(answer) == (429, "too_many_requests"), name
                assert 1 <= int(answer.headers["retry-after"]) <= 60
        after = await rows(house, house.owner)
        kept = {
            "memory_revisions",
            "memory_proposals",
            "memory_counts",
            "purged_memories",
            "events",
        }
        assert {name for name in kept if before[name] != after[name]} == set()
        assert (await house.stranger.get("/v1/memories")).status_code == 200


async def test_who_has_no_key_or_a_foreign_one_spends_nothing_of_anybodys_minute(
    database_url: str,
) -> None:
    async with limited(database_url) as (house, _):
        for _ in range(6):
            assert (await house.nobody.get("/v1/memories")).status_code == 401
            await house.stranger.get(f"/v1/memories/{house.rows.memory}")
        assert (await house.owner.get("/v1/memories")).status_code == 200
