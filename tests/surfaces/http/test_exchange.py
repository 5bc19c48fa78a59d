"""The way out and in over HTTP: streamed out, bounded on the way in, and nothing of it half done."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from memoranda.app import Memoranda
from memoranda.memories.transfer import service
from memoranda.settings import Settings
from memoranda.surfaces.http.exchange import JsonLines
from tests.contract.exchanges import own
from tests.memories.transfer.readings import file
from tests.surfaces.http.house import House, furnished
from tests.surfaces.http.test_memory_routes import rows, told

EXPORT, IMPORT = "/v1/memories/export", "/v1/memories/import"


async def taken(house: House, content: bytes | str, **query: Any) -> dict[str, Any]:
    answer = await house.owner.post(IMPORT, content=content, params=query)
    assert answer.status_code == 200, answer.text
    report: dict[str, Any] = answer.json()
    return report


async def test_an_export_is_a_download_of_json_lines(house: House) -> None:
    answer = await house.owner.get(EXPORT)
    assert answer.headers["content-type"] == "application/jsonl"
    assert "memories.jsonl" in answer.headers["content-disposition"]
    assert answer.headers["cache-control"] == "no-store"
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert lines[0] == {"format": "memoranda-memories", "version": 1}
    assert {line["text"] for line in lines[1:]} == {
        f"marigold {name}" for name in ("memory", "forgotten", "proposal", "spare")
    }
    assert (await house.owner.get(EXPORT)).content == answer.content


async def test_an_export_is_read_by_an_import_and_nothing_is_new(house: House) -> None:
    content = (await house.owner.get(EXPORT, params={"history": "true"})).content
    before = await rows(house, house.owner)
    report = await taken(house, content)
    assert (report["source"], report["known"], report["entries"]) == ("memoranda", 4, 4)
    after = await rows(house, house.owner)
    kept = {"memories", "memory_revisions", "memory_proposals", "memory_counts", "events"}
    assert {name for name in kept if before[name] != after[name]} == set()


async def test_a_dry_run_says_what_it_would_do_and_does_nothing(house: House) -> None:
    before = await rows(house, house.owner)
    dry = await taken(house, file("chatgpt_list.txt"), dry_run="true")
    assert (dry["taken"], dry["dry_run"], dry["written"]) == (3, True, 3)
    assert await rows(house, house.owner) == before
    real = await taken(house, file("chatgpt_list.txt"))
    assert real == {**dry, "dry_run": False}


async def test_a_file_may_say_that_it_is_of_any_type(house: House) -> None:
    for kind in ("application/json", "text/plain", "application/jsonl", "application/zip", "x/y"):
        headers = {"Content-Type": kind}
        answer = await house.owner.post(
            IMPORT,
            content=file("mem0_page.json"),
            headers=headers,
            params={"user_id": house.rows.user},
        )
        assert answer.status_code == 200, answer.text


async def test_a_form_is_no_file(house: House) -> None:
    answer = await house.owner.post(IMPORT, files={"file": ("a.txt", b"Tea.")})
    assert told(answer) == (415, "unsupported_media_type")


BAD_QUERIES = [
    {"source": "notion"},
    {"dry_run": "perhaps"},
    {"user_id": "x"},
    {"users": "x"},
    {"from": "mem0"},
]


async def test_what_can_not_be_taken_in_is_refused_and_nothing_is_written(house: House) -> None:
    before = await rows(house, house.owner)
    for query in BAD_QUERIES:
        answer = await house.owner.post(IMPORT, content=b"Tea.", params=query)
        assert told(answer) == (422, "invalid_input"), query
    for content in (
        b"",
        b"{",
        b"[" * 100_000,
        b"\x89PNG\r\n\x1a\n\0\0\0" * 9,
        b"PK\x03\x04",
        b'{"a": 1}',
    ):
        answer = await house.owner.post(IMPORT, content=content)
        assert told(answer) == (422, "unreadable_import"), content[:9]
    assert await rows(house, house.owner) == before


@pytest.fixture
async def small(database_url: str) -> AsyncIterator[House]:
    settings = Settings(embedder="none", max_upload_bytes=2_000, max_body_bytes=1_024)
    async with (
        Memoranda.open(database_url, settings=settings, migrate=False) as opened,
        furnished(opened) as made,
    ):
        yield made


async def test_a_file_over_the_limit_of_uploads_is_refused(small: House) -> None:
    before = await rows(small, small.owner)
    assert told(await small.owner.post(IMPORT, content=b"x" * 2_001)) == (413, "over_limit")
    assert await rows(small, small.owner) == before
    assert (await small.owner.post(IMPORT, content=b"Tea." + b"\n" * 1_500)).status_code == 200


async def test_a_member_takes_in_for_itself_and_an_agent_not_at_all(house: House) -> None:
    answer = await house.member.post(
        IMPORT, content=own({"text": "a", "user": {"external_id": "other"}})
    )
    assert (answer.json()["refused"], answer.json()["reasons"]) == (1, {"not_yours": 1})
    assert told(await house.agent.post(IMPORT, content=b"Tea."))[0] == 403
    assert told(await house.read_only.post(IMPORT, content=b"Tea.")) == (403, "read_only")


async def test_neither_address_is_taken_for_the_id_of_a_memory(house: House) -> None:
    for path in (EXPORT, IMPORT):
        answer = await house.owner.delete(path)
        assert answer.status_code == 405
        assert answer.headers["allow"] == ("GET" if path == EXPORT else "POST")


async def test_a_fault_before_the_first_line_is_told_as_any_other(house: House) -> None:
    assert told(await house.operator.get(EXPORT)) == (403, "refused")


async def test_an_export_that_breaks_off_never_looks_like_a_whole_one(
    caplog: pytest.LogCaptureFixture, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden = f"{'nobody'} is to read"

    async def broken() -> AsyncIterator[str]:
        yield "first\n"
        raise RuntimeError(hidden)

    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    await JsonLines(broken()).stream_response(send)
    assert [each["type"] for each in sent] == ["http.response.start", "http.response.body"]
    assert sent[-1]["more_body"] is True
    assert "RuntimeError in export_memories" in caplog.text
    assert "nobody is to read" not in caplog.text


async def test_whoever_leaves_amid_an_export_is_read_for_no_longer(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "PAGE", 1)
    await taken(house, own(*({"text": f"{n}"} for n in range(20))))
    who = await house.memoranda.access.authenticate(house.owner.key or "")
    lines = house.memoranda.transfer.export(who)
    assert await anext(lines)
    assert await anext(lines)
    await lines.aclose()  # type: ignore[attr-defined]  # it is a generator
    assert [line async for line in lines] == []
