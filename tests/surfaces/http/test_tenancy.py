"""No route tells one organization anything of another."""

import re
from typing import Any

import httpx
import pytest

from tests.surfaces.http.contract import LINES, STREAM
from tests.surfaces.http.house import Api, House, Rows, text_of, unknown_id, with_calls
from tests.surfaces.http.walk import STEPS


@pytest.fixture
async def house(house: House) -> House:
    return await with_calls(house)


UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def everything(api: Api, rows: Rows) -> dict[str, Any]:
    """What the owner of the rows is told by every GET."""
    told = {}
    for name, steps in STEPS.items():
        if name.startswith("GET /v1/") and name != "GET /v1/organizations":
            told[name] = [said_in(await step.call(api, rows)) for step in steps]
    return told


def said_in(response: httpx.Response) -> Any:
    """What an answer tells, but for when it was measured: that is each call's own."""
    if name_of(response) in {STREAM, LINES}:
        return response.text
    said = response.json()
    if isinstance(said, dict):
        said.pop("measured_at", None)
    return said


def name_of(response: httpx.Response) -> str:
    return response.headers["content-type"].partition(";")[0]


def without_ids(response: httpx.Response) -> str:
    return UUID.sub("ID", response.text)


async def test_the_walk_goes_through_every_route(house: House) -> None:
    assert set(STEPS) == set(house.contract.operations)


async def test_a_row_of_another_organization_is_answered_like_one_that_is_not_there(
    house: House,
) -> None:
    nowhere = rows_that_are_not_there(house.rows)
    for name, steps in STEPS.items():
        for step in steps:
            if step.names_rows:
                response = await step.call(house.stranger, house.rows)
                missing = await step.call(house.stranger, nowhere)
                assert response.status_code == 404, f"{name}: {response.status_code}"
                assert response.json()["code"] == "not_found"
                hidden = without_ids(response).replace(house.rows.word, "nowhere")
                assert hidden == without_ids(missing), name


def rows_that_are_not_there(rows: Rows) -> Rows:
    named = {name: unknown_id() for name in vars(rows)}
    return Rows(**(named | {"word": "nowhere", "policy": "nowhere"}))


async def test_no_answer_holds_a_row_or_a_word_of_another_organization(house: House) -> None:
    for name, steps in STEPS.items():
        for step in steps:
            if not step.names_rows:
                said = text_of(await step.call(house.stranger, house.foreign))
                assert house.rows.word not in said.lower(), name
                assert not {row for row in house.rows.ids() if row in said}, name


async def test_naming_rows_of_another_organization_where_rows_are_picked_picks_none(
    house: House,
) -> None:
    asked = {"query": "grows in spring", "source_ids": [house.rows.source]}
    found = (await house.stranger.post("/v1/knowledge/search", asked)).json()
    assert found["results"] == []
    for named in ({"user_id": house.rows.user}, {"agent_id": house.rows.agent}):
        listed = await house.stranger.get("/v1/memories", params=named)
        missing = await house.stranger.get(
            "/v1/memories", params=dict.fromkeys(named, unknown_id())
        )
        assert house.rows.word not in listed.text
        assert without_ids(listed) == without_ids(missing)


async def test_a_cursor_of_another_organizations_list_shows_nothing_of_it(house: House) -> None:
    for path in ("/v1/memories", "/v1/knowledge/sources", "/v1/activities", "/v1/users"):
        for _ in range(2):
            await house.owner.post("/v1/users", {"name": "Marigold reader"})
            await house.owner.post("/v1/memories", {"text": f"Marigold {unknown_id()}"})
        page = (await house.owner.get(path, params={"limit": 1})).json()
        response = await house.stranger.get(path, params={"cursor": page["next_cursor"]})
        assert house.rows.word not in response.text.lower(), path


async def test_nothing_that_another_organization_sends_changes_a_row(house: House) -> None:
    before = await everything(house.owner, house.rows)
    for steps in STEPS.values():
        for step in steps:
            await step.call(house.stranger, house.rows)
    assert await everything(house.owner, house.rows) == before


async def test_the_other_organization_is_there_all_the_while(house: House) -> None:
    said = str(await everything(house.stranger, house.foreign))
    assert house.foreign.word in said
    assert {row for row in house.foreign.ids() if row in said} == house.foreign.ids()
