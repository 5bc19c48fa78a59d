"""Context files over HTTP: bytes as they are, every refusal with its code, and no secret in any answer or log."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from memoranda.app import Memoranda
from memoranda.files.body import hash_of
from memoranda.settings import Settings
from tests.surfaces.http.house import Api, House, furnished, text_of, unknown_id, with_calls
from tests.words.made_secrets import made_secrets

EMPTY = hash_of("")
VOICE = "/v1/context-files/voice"
BODIES = [
    "\ufeff---\r\ntitle: x\r\n---\r\n\r\nText.  \r\n\t",
    "\x01\x1b[31m\x7f\u2028\u202e",
    "é" * 32_768,
    "\x01" * 65_536,
]


async def put(api: Api, path: str, body: str, read: str = EMPTY) -> httpx.Response:
    return await api.send("PUT", path, json={"body": body, "expected_hash": read})


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


@pytest.mark.parametrize("body", BODIES, ids=["front matter", "controls", "wide", "escaped"])
async def test_a_body_comes_back_byte_for_byte(house: House, body: str) -> None:
    written = await put(house.owner, VOICE, body)
    assert written.status_code == 200
    assert written.json()["hash"] == hash_of(body)
    assert "body" not in written.json()
    read = (await house.read_only.get(VOICE)).json()
    assert read["body"].encode() == body.encode()
    assert (read["hash"], read["revision"]) == (hash_of(body), 2)


async def test_the_list_says_which_are_always_loaded(house: House) -> None:
    listed = (await house.owner.get("/v1/context-files")).json()
    assert [file["name"] for file in listed["items"]] == [
        *("about-you", "organization", "people", "glossary", "voice", "roster")
    ]
    assert (listed["always_loaded"], listed["most_always_loaded"]) == (["about-you", "voice"], 3)
    assert all("body" not in file for file in listed["items"])


async def test_a_name_that_is_no_file_is_a_404(house: House) -> None:
    agent = f"/v1/agents/{house.rows.agent}/files"
    for path in ("/v1/context-files/tone", "/v1/context-files/NOTES.md", f"{agent}/voice"):
        assert code(await house.owner.get(path)) == (404, "unknown_file")
        assert code(await put(house.owner, path, "x")) == (404, "unknown_file")
    assert code(await house.owner.get("/v1/agents/nobody/files")) == (404, "not_found")


async def test_a_file_that_has_changed_is_a_409_with_what_it_says_now(house: House) -> None:
    await put(house.owner, VOICE, "Mine.")
    refused = await put(house.owner, VOICE, "Yours.")
    assert code(refused) == (409, "file_changed")
    told = refused.json()
    assert (told["current_hash"], told["current_body"], told["revision"]) == (
        *(hash_of("Mine."), "Mine.", 2),
    )
    assert "Mine." not in told["detail"]
    restored = await house.owner.post(f"{VOICE}/revisions/1/restore", {"expected_hash": EMPTY})
    assert code(restored) == (409, "file_changed")


async def test_what_may_not_be_kept_is_a_422_and_is_not_repeated(house: House) -> None:
    for body, named in (("x" * 65_537, "file_too_large"), ("a\0quiet", "invalid_input")):
        refused = await put(house.owner, VOICE, body)
        assert code(refused) == (422, named)
        assert "quiet" not in refused.text
    assert (await put(house.owner, VOICE, "x" * 65_537)).json()["limit"] == 65_536
    for wrong in ({"body": "quiet"}, {"body": ["quiet"], "expected_hash": EMPTY}, {}):
        refused = await house.owner.send("PUT", VOICE, json=wrong)
        assert code(refused) == (422, "invalid_input")
        assert "quiet" not in refused.text
    assert code(await put(house.owner, VOICE, "quiet", "quiet")) == (422, "invalid_input")


async def test_no_secret_is_in_any_answer_log_event_or_row(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    notes = f"/v1/agents/{house.rows.agent}/files/NOTES.md"
    with caplog.at_level(logging.DEBUG):
        for made in list(made_secrets())[::9]:
            body = f"Keep this:\n{made.value}\n"
            answers = [
                await put(house.owner, VOICE, body),
                await put(house.agent, notes, body),
                await house.member.post(
                    f"{VOICE}/proposals", {"body": body, "expected_hash": EMPTY}
                ),
            ]
            for answer in answers:
                assert code(answer) == (422, "secret_found")
                told = answer.json()
                assert (told["field"], told["secret"], told["line"]) == ("body", made.kind, 2)
                assert made.value[-16:] not in text_of(answer)
            assert made.value[-16:] not in caplog.text
    assert (await house.owner.get(VOICE)).json()["revision"] == 1
    heard = await house.owner.get("/v1/events?after=0&follow=false")
    assert "file." not in heard.text
    assert (await house.owner.get("/v1/file-proposals")).json()["items"] == []


async def test_a_fourth_file_that_is_always_loaded_is_a_422_with_the_three(house: House) -> None:
    path = "/v1/context-files/{}/load-mode"
    done = await house.owner.send("PATCH", path.format("people"), json={"load_mode": "always"})
    assert done.json()["load_mode"] == "always"
    refused = await house.owner.send("PATCH", path.format("roster"), json={"load_mode": "always"})
    assert code(refused) == (422, "always_loaded_full")
    assert refused.json()["files"] == ["about-you", "people", "voice"]
    refused = await house.owner.send("PATCH", path.format("voice"), json={"load_mode": "often"})
    assert code(refused) == (422, "invalid_input")


async def test_what_a_file_said_is_listed_read_and_restored(house: House) -> None:
    before = datetime.now(UTC) - timedelta(days=1)
    for body, read in (("One.", ""), ("Two.", "One.")):
        await put(house.owner, VOICE, body, hash_of(read))
    listed = (await house.owner.get(f"{VOICE}/revisions")).json()["items"]
    assert [(each["number"], each["action"]) for each in listed] == [
        *((3, "written"), (2, "written"), (1, "created"))
    ]
    assert all("body" not in each for each in listed)
    second = (await house.owner.get(f"{VOICE}/revisions/2")).json()
    assert second["body"] == "One."
    restored = await house.owner.post(f"{VOICE}/revisions/2/restore")
    assert (restored.json()["revision"], restored.json()["hash"]) == (4, hash_of("One."))
    at = {"time": listed[0]["written_at"]}
    assert (await house.owner.get(f"{VOICE}/as-of", params=at)).json()["body"] == "Two."
    at = {"time": before.isoformat()}
    assert code(await house.owner.get(f"{VOICE}/as-of", params=at)) == (404, "not_found")
    assert code(await house.owner.get(f"{VOICE}/revisions/9")) == (404, "not_found")
    for wrong in ("0", "-1", "one", str(2**31)):
        answer = await house.owner.get(f"{VOICE}/revisions/{wrong}")
        assert code(answer) == (422, "invalid_input")


async def test_a_write_answers_how_much_of_the_file_arrives(house: House) -> None:
    long = "A line that takes its room.\n" * 400
    for path in (VOICE, f"/v1/agents/{house.rows.agent}/files/NOTES.md"):
        read = (await house.owner.get(path)).json()["hash"]
        written = (await put(house.owner, path, long, read)).json()
        report = (await house.owner.get(f"{path}/load-report")).json()
        assert written["load"] | {"measured_at": None} == report | {"measured_at": None}
        assert (written["load"]["hash"], written["load"]["revision"]) == (
            written["hash"],
            written["revision"],
        )
        assert written["load"]["skipped_chars"] > 0


async def test_a_list_answers_how_much_of_its_files_arrives(house: House) -> None:
    long = "A line that takes its room.\n" * 400
    agents = f"/v1/agents/{house.rows.agent}/files"
    for path, name in (("/v1/context-files", "voice"), (agents, "NOTES.md")):
        read = (await house.owner.get(f"{path}/{name}")).json()["hash"]
        await put(house.owner, f"{path}/{name}", long, read)
        load = (await house.owner.get(path)).json()["load"]
        report = (await house.owner.get(f"{path}/{name}/load-report")).json()
        assert report["segment"] in load["segments"]
        assert report["skipped_chars"] > 0
        assert report["hash"] in {each["hash"] for each in load["files"]}
        assert long[:28] not in str(load)


async def test_an_agents_notes_are_written_listed_and_restored_like_any_file(house: House) -> None:
    notes = f"/v1/agents/{house.rows.agent}/files/NOTES.md"
    read = (await house.owner.get(notes)).json()
    for body in ("Ask Ada.", "Ask Ben."):
        done = await put(house.owner, notes, body, read["hash"])
        assert done.status_code == 200
        read = (await house.owner.get(notes)).json()
        assert (read["body"], read["hash"]) == (body, done.json()["hash"])
    listed = (await house.owner.get(f"{notes}/revisions")).json()["items"]
    newest = read["revision"]
    assert [each["number"] for each in listed[:2]] == [newest, newest - 1]
    restored = await house.owner.post(f"{notes}/revisions/{newest - 1}/restore")
    assert (restored.json()["revision"], restored.json()["action"]) == (newest + 1, "restored")
    listed = (await house.owner.get(f"{notes}/revisions?limit=1")).json()["items"]
    assert [each["restored_from"] for each in listed] == [newest - 1]
    assert (await house.owner.get(notes)).json()["body"] == "Ask Ada."
    assert code(await house.owner.get(f"{notes}/revisions/{newest + 9}")) == (404, "not_found")


async def test_no_file_is_made_taken_away_or_renamed(house: House) -> None:
    described = (await house.owner.get("/openapi.json")).json()
    for path, verbs in described["paths"].items():
        if path.endswith(("/context-files", "/files")):
            assert set(verbs) == {"get"}, path
        if path.endswith(("/context-files/{slug}", "/files/{name}")):
            assert set(verbs) == {"get", "put"}, path
    before = (await house.owner.get("/v1/context-files")).json()
    assert [each["name"] for each in before["items"]] == [
        *("about-you", "organization", "people", "glossary", "voice", "roster")
    ]
    for path in ("/v1/context-files/more", f"/v1/agents/{house.rows.agent}/files/MORE.md"):
        assert code(await put(house.owner, path, "More.")) == (404, "unknown_file")
    for verb in ("POST", "DELETE"):
        assert (await house.owner.send(verb, VOICE)).status_code == 405
    assert (await house.owner.get("/v1/context-files")).json() == before


async def test_a_revision_that_is_kept_no_longer_is_a_410(database_url: str) -> None:
    start = datetime(2026, 5, 1, tzinfo=UTC)
    time = [start]
    opening = Memoranda.open(database_url, clock=lambda: time[0], migrate=False)
    async with opening as opened, furnished(opened) as house:
        read = EMPTY
        for number in range(30):
            read = (await put(house.owner, VOICE, f"Old {number}.", read)).json()["hash"]
        time[0] += timedelta(days=31)
        who = await opened.access.authenticate(house.owner.key or "")
        await opened.files.prune(who.organization_id)
        for answer in (
            await house.owner.get(f"{VOICE}/revisions/1"),
            await house.owner.post(f"{VOICE}/revisions/1/restore"),
        ):
            assert code(answer) == (410, "revision_gone")


async def test_an_agent_writes_its_notes_and_proposes_the_rest(house: House) -> None:
    await with_calls(house)
    files = f"/v1/agents/{house.rows.agent}/files"
    read = (await house.agent.get(f"{files}/NOTES.md")).json()["hash"]
    assert (await put(house.agent, f"{files}/NOTES.md", "Noted.", read)).status_code == 200
    assert code(await put(house.agent, f"{files}/SOUL.md", "Bold.")) == (403, "refused")
    assert code(await put(house.agent, "/v1/context-files/people", "Ada.")) == (403, "refused")
    other = (await house.owner.post("/v1/agents", {"slug": "other"})).json()["id"]
    for path in (f"/v1/agents/{other}/files", f"/v1/agents/{other}/files/NOTES.md"):
        assert code(await house.agent.get(path)) == (403, "not_your_file")
    assert code(await put(house.agent, f"/v1/agents/{other}/files/NOTES.md", "x")) == (
        *(403, "not_your_file"),
    )
    made = await house.agent.post(
        "/v1/context-files/people/proposals", {"body": "Ada.\n", "expected_hash": EMPTY}
    )
    assert made.status_code == 202
    assert made.json()["diff"] == "--- people\n+++ people\n@@ -0,0 +1 @@\n+Ada.\n"
    change = f"/v1/file-proposals/{made.json()['id']}"
    assert code(await house.agent.post(f"{change}/apply")) == (403, "refused")
    await put(house.owner, "/v1/context-files/people", "Ben.\n")
    refused = await house.owner.post(f"{change}/apply")
    assert code(refused) == (409, "file_changed")
    assert refused.json()["current_body"] == "Ben.\n"
    assert (await house.owner.get(change)).json()["stale"] is True
    now = {"expected_hash": refused.json()["current_hash"]}
    assert (await house.owner.post(f"{change}/apply", now)).json()["action"] == "applied"
    assert code(await house.owner.post(f"{change}/discard")) == (409, "conflict")


async def test_a_file_of_another_organization_is_a_404(house: House) -> None:
    await with_calls(house)
    theirs = f"/v1/agents/{house.rows.agent}/files/NOTES.md"
    for answer in (
        await house.stranger.get(theirs),
        await put(house.stranger, theirs, "x"),
        await house.stranger.post(f"{theirs}/revisions/1/restore"),
        await house.stranger.get(f"/v1/file-proposals/{house.rows.file_change}"),
        await house.stranger.post(f"/v1/file-proposals/{house.rows.file_change}/apply"),
        await house.stranger.get(f"/v1/file-proposals/{unknown_id()}"),
    ):
        assert code(answer) == (404, "not_found")


@asynccontextmanager
async def limited(database: str, **limits: int) -> AsyncIterator[House]:
    """A house whose clock stands, after the minute in which it was furnished."""
    time = [datetime(2026, 5, 1, 12, 0, 20, tzinfo=UTC)]
    opening = Memoranda.open(
        database, settings=Settings(**limits), clock=lambda: time[0], migrate=False
    )
    async with opening as opened, furnished(opened) as house:
        time[0] += timedelta(minutes=1)
        yield house


async def test_more_writes_than_a_minute_allows_are_a_429(database_url: str) -> None:
    async with limited(database_url, writes_per_minute=3) as house:
        for number in range(3):
            assert (await put(house.owner, VOICE, str(number))).status_code in {200, 409}
        refused = await put(house.owner, VOICE, "x")
        assert code(refused) == (429, "too_many_requests")
        assert refused.headers["retry-after"] == "40"
        kept = await house.owner.post("/v1/memories", {"text": "Counted by itself."})
        assert kept.status_code == 201
        assert (await house.owner.get(VOICE)).status_code == 200


async def test_two_editors_at_once_lose_nothing(house: House) -> None:
    answers: list[Any] = await asyncio.gather(
        *(put(house.owner, VOICE, f"Editor {number}.") for number in range(8))
    )
    done = [answer for answer in answers if answer.status_code == 200]
    refused = [answer for answer in answers if answer.status_code == 409]
    assert (len(done), len(refused)) == (1, 7)
    assert {answer.json()["current_hash"] for answer in refused} == {done[0].json()["hash"]}


async def test_writes_with_a_tool_are_counted_with_those_of_files(database_url: str) -> None:
    async with limited(database_url, writes_per_minute=2) as house:
        arguments = {"slug": "voice", "body": "x", "expected_hash": EMPTY}
        for _ in range(2):
            await house.owner.post("/v1/tools/update_context_file", {"arguments": arguments})
        assert code(await put(house.owner, VOICE, "y")) == (429, "too_many_requests")
        kept = await house.owner.post(
            "/v1/tools/remember", {"arguments": {"content": "Counted by itself."}}
        )
        assert kept.status_code == 200
