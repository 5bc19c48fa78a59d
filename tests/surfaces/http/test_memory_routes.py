"""What each route of memories answers: what it does, and how it refuses what it can not do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from memoranda.app import Memoranda
from memoranda.settings import Settings
from tests.contract.copied_rows import Rows, rows_of
from tests.surfaces.http.house import Api, House, furnished, unknown_id

# Each organization has one active memory, two proposals that wait and one that is discarded.
SMALL = Settings(
    embedder="none",
    max_memories=4,
    max_pinned=1,
    max_proposals=3,
    writes_per_minute=0,
    lists_per_minute=0,
)
MEMORIES = "/v1/memories"
PROPOSALS = "/v1/memories/proposals"


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@asynccontextmanager
async def opened(database: str, clock: Clock) -> AsyncIterator[House]:
    opening = Memoranda.open(database, settings=SMALL, clock=clock, migrate=False)
    async with opening as memoranda, furnished(memoranda) as made:
        yield made


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def house(database_url: str, clock: Clock) -> AsyncIterator[House]:
    async with opened(database_url, clock) as made:
        yield made


async def kept(api: Api, text: str = "Tea.", **given: Any) -> dict[str, Any]:
    answer = await api.post(MEMORIES, {"text": text, **given})
    assert answer.status_code == 201, answer.text
    memory: dict[str, Any] = answer.json()
    return memory


async def patched(api: Api, memory_id: str, **change: Any) -> httpx.Response:
    return await api.send("PATCH", f"{MEMORIES}/{memory_id}", json=change)


async def texts(api: Api, **params: Any) -> list[str]:
    return [each["text"] for each in (await api.get(MEMORIES, params=params)).json()["items"]]


async def rows(house: House, api: Api) -> Rows:
    """Every row of the organization whose owner this is."""
    who = await house.memoranda.access.authenticate(api.key or "")
    assert who.organization_id is not None
    await house.memoranda.memories.settled()
    return await house.memoranda.storage.read(who.organization_id, rows_of)


def told(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


# --- 422, 413 and 400: what no route takes -------------------------------------------------------

LONG = "x" * 501
BAD_MEMORIES: list[tuple[dict[str, Any], int, str]] = [
    ({}, 422, "text"),
    ({"text": None}, 422, "text"),
    ({"text": 5}, 422, "text"),
    ({"text": " \n "}, 422, "text"),
    ({"text": LONG}, 413, "text"),
    ({"text": "a\ud800"}, 400, ""),
    ({"text": "Tea", "user_id": "no id"}, 422, "user_id"),
    ({"text": "Tea", "agent_id": 7}, 422, "agent_id"),
    ({"text": "Tea", "attribute": "tone"}, 422, "attribute"),
    ({"text": "Tea", "attribute": "preference."}, 422, "attribute"),
    ({"text": "Tea", "subject_key": "user:1:preference.tone"}, 422, "subject_key"),
    ({"text": "Tea", "organization_id": "x"}, 422, "organization_id"),
    ({"text": "Tea", "origin": "import"}, 422, "origin"),
    ({"text": "Tea", "expires_at": "2020-01-01T00:00:00Z"}, 422, "expires_at"),
    ({"text": "Tea", "expires_at": "2027-01-01T00:00:00"}, 422, "expires_at"),
    ({"text": "Tea", "expires_at": 1_900_000_000}, 422, "expires_at"),
    ({"text": "Tea", "tags": "tone"}, 422, "tags"),
    ({"text": "Tea", "tags": [" "]}, 422, "tags"),
    ({"text": "Tea", "category": "c" * 65}, 413, "category"),
]


async def test_what_is_no_memory_is_refused_by_its_field_and_nothing_is_written(
    house: House,
) -> None:
    before = await rows(house, house.owner)
    for path in (MEMORIES, PROPOSALS):
        for body, status, field in BAD_MEMORIES:
            if body.get("text") == "a\ud800":
                headers = {"Content-Type": "application/json"}
                sent: dict[str, Any] = {"content": b'{"text": "a\\ud800"}', "headers": headers}
            else:
                sent = {"json": body}
            answer = await house.owner.send("POST", path, **sent)
            assert answer.status_code in ({status} | ({422} if status == 400 else set())), body
            assert field in answer.text
            assert LONG not in answer.text
    pinned = await house.owner.post(MEMORIES, {"text": "Tea", "pinned": "yes"})
    assert told(pinned) == (422, "invalid_input")
    # Only a person pins.
    pinned = await house.owner.post(PROPOSALS, {"text": "Tea", "pinned": True})
    assert told(pinned) == (422, "invalid_input")
    assert await rows(house, house.owner) == before


BAD_CHANGES: list[tuple[dict[str, Any], str]] = [
    ({}, ""),
    ({"expected_version": 1}, ""),
    ({"text": None}, "text"),
    ({"text": ""}, "text"),
    ({"pinned": None}, "pinned"),
    ({"pinned": 1}, "pinned"),
    ({"tags": None}, "tags"),
    ({"expected_version": "1", "title": "x"}, "expected_version"),
    ({"expected_version": True, "title": "x"}, "expected_version"),
    ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
    ({"attribute": "preference.tone"}, "attribute"),
    ({"status": "forgotten"}, "status"),
    ({"version": 9}, "version"),
]


async def test_what_is_no_change_is_refused_and_nothing_is_changed(house: House) -> None:
    before = await rows(house, house.owner)
    for change, field in BAD_CHANGES:
        answer = await patched(house.owner, house.rows.memory, **change)
        assert told(answer) == (422, "invalid_input"), change
        assert field in answer.text
    for subject in ("user_id", "agent_id"):
        answer = await patched(house.owner, house.rows.memory, **{subject: unknown_id()})
        assert told(answer) == (404, "not_found")
    assert await rows(house, house.owner) == before


BAD_LISTS = [
    {"limit": "0"},
    {"limit": "201"},
    {"limit": "ten"},
    {"status": "purged"},
    {"status": "forgotten", "as_of": "2026-01-01T00:00:00Z"},
    {"as_of": "2026-01-01T00:00:00"},
    {"as_of": "now"},
    {"cursor": "x"},
    {"user_id": "x"},
    {"pinned_only": "perhaps"},
    {"tag": " "},
    {"category": "\0"},
    {"q": "tea"},
]


async def test_a_list_that_can_not_be_is_refused(house: House) -> None:
    for params in BAD_LISTS:
        answer = await house.owner.get(MEMORIES, params=params)
        assert told(answer) == (422, "invalid_input"), params
        field = list(params)[-1]
        assert {"category": "categories", "tag": "tags"}.get(field, field) in answer.text, params
    for params in ({"status": "new"}, {"limit": "0"}, {"cursor": "x"}, {"pinned_only": "true"}):
        assert told(await house.owner.get(PROPOSALS, params=params)) == (422, "invalid_input")


async def test_a_cursor_is_of_use_to_its_own_list_alone(house: House) -> None:
    await kept(house.owner)
    first = (await house.owner.get(MEMORIES, params={"limit": "1"})).json()
    waiting = (await house.owner.get(PROPOSALS, params={"limit": "1"})).json()
    assert first["next_cursor"]
    assert waiting["next_cursor"]
    wrong: list[tuple[str, dict[str, str]]] = [
        (MEMORIES, {"cursor": waiting["next_cursor"]}),
        (MEMORIES, {"cursor": first["next_cursor"], "status": "forgotten"}),
        (MEMORIES, {"cursor": first["next_cursor"], "oldest_first": "true"}),
        (MEMORIES, {"cursor": first["next_cursor"][:-2]}),
        (PROPOSALS, {"cursor": first["next_cursor"]}),
        (PROPOSALS, {"cursor": waiting["next_cursor"], "status": "discarded"}),
    ]
    for path, params in wrong:
        answer = await house.owner.get(path, params=params)
        assert told(answer) == (422, "invalid_input"), params
        assert "cursor" in answer.text


BAD_QUERIES: list[tuple[dict[str, Any], int]] = [
    ({}, 422),
    ({"query": 5}, 422),
    ({"query": "tea", "limit": "5"}, 422),
    ({"query": "tea", "user_id": "x"}, 422),
    ({"query": "tea", "q": "tea"}, 422),
]


async def test_a_query_that_can_not_be_asked_is_refused(house: House) -> None:
    for body, status in BAD_QUERIES:
        for path in (f"{MEMORIES}/search", f"{MEMORIES}/recall"):
            answer = await house.owner.post(path, body)
            assert answer.status_code == status, (path, body)
    for body, status in (
        ({"query": " "}, 422),
        ({"query": "tea", "limit": 0}, 422),
        ({"query": "tea", "limit": 51}, 422),
        ({"query": "tea", "tags": "tone"}, 422),
        ({"query": "tea" * 3_000}, 413),
    ):
        answer = await house.owner.post(f"{MEMORIES}/search", body)
        assert answer.status_code == status, body
    for body in ({"query": "tea", "enabled": "yes"}, {"query": "tea", "max_tokens": 9}):
        assert told(await house.owner.post(f"{MEMORIES}/recall", body)) == (422, "invalid_input")


# --- 409: limits, duplicates, versions -----------------------------------------------------------


async def test_the_memory_that_has_no_room_is_a_conflict_with_the_number(house: House) -> None:
    for number in range(3):
        await kept(house.owner, f"Tea {number}.")
    before = await rows(house, house.owner)
    refused = [
        await house.owner.post(MEMORIES, {"text": "One more."}),
        await house.owner.post(f"{MEMORIES}/{house.rows.forgotten}/restore"),
        await house.owner.post(f"{PROPOSALS}/{house.rows.proposal}/accept", {}),
        await house.owner.post(f"{PROPOSALS}/{house.rows.discarded}/restore"),
    ]
    for answer in refused:
        assert told(answer) == (409, "memories_full"), answer.request.url
        assert answer.json()["limit"] == 4
        assert "4" in answer.json()["detail"]
    assert await rows(house, house.owner) == before
    await kept(house.stranger)  # another organization has room of its own
    stats = (await house.owner.get(f"{MEMORIES}/stats")).json()
    assert (stats["active"], stats["capacity"]) == (4, 4)


async def test_the_pin_that_has_no_room_is_a_conflict_with_the_number(house: House) -> None:
    first = await kept(house.owner, "Tea.", pinned=True)
    second = await kept(house.owner, "Milk.")
    for answer in (
        await patched(house.owner, second["id"], pinned=True, text="Oat milk."),
        await house.owner.post(MEMORIES, {"text": "Sugar.", "pinned": True}),
    ):
        assert told(answer) == (409, "pins_full")
        assert answer.json()["limit"] == 1
    assert await texts(house.owner) == ["Milk.", "Tea.", "marigold memory"]
    assert (await patched(house.owner, first["id"], pinned=True)).status_code == 200
    assert (await patched(house.owner, first["id"], pinned=False)).json()["pinned"] is False
    assert (await patched(house.owner, second["id"], pinned=True)).json()["pinned"] is True
    assert await texts(house.owner, pinned_only=True) == ["Milk."]


async def test_a_stale_version_is_a_conflict_with_what_it_says_now(house: House) -> None:
    made = await kept(house.owner)
    assert (await patched(house.owner, made["id"], text="Milk.")).json()["version"] == 2
    before = await rows(house, house.owner)
    for change in ({"text": "Sugar."}, {"pinned": True}, {"user_id": house.rows.user}):
        answer = await patched(house.owner, made["id"], expected_version=1, **change)
        assert told(answer) == (409, "stale_version")
        assert (answer.json()["version"], answer.json()["text"]) == (2, "Milk.")
        assert answer.json()["memory_id"] == made["id"]
    assert await rows(house, house.owner) == before
    changed = await patched(house.owner, made["id"], expected_version=2, text="Sugar.")
    assert changed.json()["version"] == 3


async def test_a_text_that_is_known_is_a_conflict_that_names_the_memory(house: House) -> None:
    tea, milk = await kept(house.owner, "Tea."), await kept(house.owner, "Milk.")
    for answer in (
        await house.owner.post(MEMORIES, {"text": " TEA. "}),
        await patched(house.owner, milk["id"], text="tea."),
        await patched(house.owner, tea["id"], text="Tea."),
    ):
        assert told(answer) == (409, "duplicate_memory")
        assert answer.json()["memory_id"] == tea["id"]


# --- 410: what may not come back -----------------------------------------------------------------


async def test_what_is_forgotten_may_come_back_until_the_time_that_was_told(
    house: House, clock: Clock
) -> None:
    answer = await house.owner.post(f"{MEMORIES}/{house.rows.memory}/forget")
    forgotten = answer.json()
    assert (answer.status_code, forgotten["status"]) == (200, "forgotten")
    until = datetime.fromisoformat(forgotten["restorable_until"])
    assert until == clock.now + timedelta(days=30)
    again = await house.owner.post(f"{MEMORIES}/{house.rows.memory}/forget")
    assert told(again) == (409, "conflict")
    clock.now = until - timedelta(seconds=1)
    back = await house.owner.post(f"{MEMORIES}/{house.rows.memory}/restore")
    assert (back.status_code, back.json()["status"]) == (200, "active")
    assert back.json()["text"] == "marigold memory"
    twice = await house.owner.post(f"{MEMORIES}/{house.rows.memory}/restore")
    assert told(twice) == (409, "conflict")
    clock.now = until
    for path in (
        f"{MEMORIES}/{house.rows.forgotten}/restore",
        f"{PROPOSALS}/{house.rows.discarded}/restore",
    ):
        assert told(await house.owner.post(path)) == (410, "not_restorable"), path


async def test_what_is_purged_is_gone_and_for_others_was_never_there(
    house: House, clock: Clock
) -> None:
    clock.now += timedelta(days=31)
    who = await house.memoranda.access.authenticate(house.owner.key or "")
    assert who.organization_id is not None
    assert await house.memoranda.removal.purge_due(who.organization_id) == 2
    for path in (
        f"{MEMORIES}/{house.rows.forgotten}/restore",
        f"{PROPOSALS}/{house.rows.discarded}/restore",
    ):
        assert told(await house.owner.post(path)) == (410, "not_restorable"), path
        assert told(await house.member.post(path)) == (410, "not_restorable"), path
        assert told(await house.stranger.post(path)) == (404, "not_found"), path
    assert told(await house.owner.get(f"{MEMORIES}/{house.rows.forgotten}")) == (404, "not_found")
    history = await house.owner.get(f"{MEMORIES}/{house.rows.forgotten}/history")
    assert told(history) == (404, "not_found")
