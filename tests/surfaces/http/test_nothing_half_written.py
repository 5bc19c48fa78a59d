"""Bad input is answered with a 4xx that says why, or ends as a failed source, and no row is changed."""

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx
import pytest

from memoranda.app import Memoranda
from memoranda.settings import Settings
from memoranda.storage import PLATFORM
from tests.contract.copied_rows import Rows, rows_of
from tests.surfaces.http.house import House, add, furnished, policy, unknown_id

SMALL = Settings(max_upload_bytes=10_000, max_body_bytes=8_192)
TALK = {"title": "talk.jsonl", "kind": "transcript"}


@pytest.fixture
async def house(database_url: str) -> AsyncIterator[House]:
    """A house with low limits, once per backend."""
    async with (
        Memoranda.open(database_url, settings=SMALL, migrate=False) as opened,
        furnished(opened) as made,
    ):
        yield made


async def everything(house: House) -> dict[str, Rows]:
    """Every row of both organizations and of the platform, as the database holds it.

    How often somebody asked is left out: that is counted anew at each full minute, whatever is asked.
    """
    storage, held = house.memoranda.storage, {}
    for api in (house.owner, house.stranger):
        organization = UUID(str(api.key).split("_")[1])
        held[str(organization)] = await storage.read(organization, rows_of)
        del held[str(organization)]["rate_windows"]
    held["platform"] = await storage.read(PLATFORM, rows_of)
    return held


def with_source(**changes: Any) -> dict[str, Any]:
    return policy(sources=[{"name": "memory", "token_budget": 500, **changes}])


BAD_POLICIES = {
    "an unknown option": with_source(options={"surprise": 1}),
    "an option of another type": with_source(
        name="run_history", options={"lookback_hours": "24"}
    ),
    "an option that filters": with_source(options={"user_id": "x"}),
    "a negative budget": with_source(token_budget=-1),
    "a negative total": policy(total_token_budget=-1),
    "a budget that is no whole number": with_source(token_budget=1.5),
    "an enabled source with no budget": with_source(token_budget=0),
    "an enabled source under no total": policy(total_token_budget=0),
    "a limit too high": with_source(limit=1_000),
    "a negative limit": with_source(limit=-1),
    "a source outside the ten": with_source(name="gossip"),
    "a source twice": policy(sources=policy()["sources"] * 2),
    "a kind twice in the page order": policy(page_order=["memory", "memory"]),
}  # fmt: skip


async def test_a_policy_that_is_refused_is_neither_published_nor_used(house: House) -> None:
    before = await everything(house)
    for reason, bad in BAD_POLICIES.items():
        for path, body in (
            ("/v1/policies", {"name": "bad", "policy": bad}),
            ("/v1/briefs", {"query": "Q", "policy": bad}),
        ):
            refused = await house.owner.post(path, body)
            told = (refused.status_code, refused.json()["code"])
            assert told == (422, "policy_rejected"), reason
            assert refused.json()["rejections"], reason
    assert await everything(house) == before


async def test_a_budget_below_one_makes_no_brief(house: House) -> None:
    for budget in (0, -1, 1.5, "many"):
        refused = await house.owner.post("/v1/briefs", {"query": "Q", "budget": budget})
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["path"] == ["body", "budget"]


async def test_rows_of_another_organization_are_not_there_and_nothing_is_written(
    house: House,
) -> None:
    before, theirs = await everything(house), house.foreign
    named: list[tuple[str, dict[str, Any]]] = [
        ("/v1/memories", {"text": "x", "user_id": theirs.user}),
        ("/v1/memories", {"text": "x", "agent_id": theirs.agent}),
        (f"/v1/memories/{theirs.memory}/forget", {}),
        ("/v1/runs", {"parent_id": theirs.run}),
        ("/v1/runs", {"user_id": theirs.user}),
        ("/v1/conversations", {"agent_id": theirs.agent}),
        (
            f"/v1/conversations/{theirs.conversation}/messages",
            {"messages": [{"role": "user", "content": "x"}]},
        ),
        ("/v1/keys", {"role": "member", "user_id": theirs.user}),
        (f"/v1/keys/{theirs.key}/revoke", {}),
        (f"/v1/knowledge/sources/{theirs.failed_source}/retry", {}),
        ("/v1/briefs", {"query": "Q", "subject": {"user_id": theirs.user}}),
        ("/v1/briefs", {"query": "Q", "subject": {"agent_id": theirs.agent}}),
        ("/v1/briefs", {"query": "Q", "conversation": theirs.conversation}),
        ("/v1/briefs", {"query": "Q", "run_id": theirs.run}),
        ("/v1/briefs", {"query": "Q", "policy_name": theirs.policy}),
    ]
    for path, body in named:
        answer = await house.owner.post(path, body or None)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), (path, body)
        assert theirs.word not in answer.text.replace(theirs.policy, "")
    assert (await house.owner.delete(f"/v1/knowledge/sources/{theirs.source}")).status_code == 404
    assert await everything(house) == before


async def test_an_id_that_is_none_is_refused_and_one_that_names_nothing_is_not_found(
    house: House,
) -> None:
    before = await everything(house)
    for path in ("/v1/memories/{}/forget", "/v1/keys/{}/revoke", "/v1/runs/{}/logs"):
        body = {"step": "x"} if path.endswith("logs") else None
        for identity in ("no-id", "0", "%00", "00000000-0000", "None"):
            refused = await house.owner.post(path.format(identity), body)
            told = (refused.status_code, refused.json()["code"])
            assert told in {(404, "not_found"), (422, "invalid_input")}, (path, identity)
        unknown = await house.owner.post(path.format(unknown_id()), body)
        assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")
    assert await everything(house) == before


UNREADABLE = {
    "a picture as Markdown": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", {"title": "a.md"}),
    "a program as text": (b"\x7fELF\x02\x01\x01\0\0\0", {"title": "a.txt", "kind": "text"}),
    "an empty transcript": (b"", TALK),
    "a transcript of nothing said": (b'{"speaker": "Ana", "text": "  "}\n', TALK),
    "a broken transcript": (b'{"speaker": "Ana", "text": "ok"}\n{"speaker": \n', TALK),
    "a transcript that is a list": (b"[1, 2]\n", TALK),
    "no text at all": (b" \n\t ", {"title": "a.md"}),
}


async def test_a_document_that_can_not_be_read_fails_with_its_reason_and_leaves_no_chunk(
    house: House,
) -> None:
    before = await everything(house)
    for reason, (content, fields) in UNREADABLE.items():
        source = await add(house.owner, content, fields["title"], **fields)
        await house.memoranda.worker.drain()
        failed = (await house.owner.get(f"/v1/knowledge/sources/{source}")).json()
        assert (failed["status"], failed["chunks"]) == ("failed", 0), reason
        assert failed["reason"], reason
        after = await everything(house)
        assert changed(before, after) == {"knowledge_sources", "knowledge_uploads"}, reason
        removed = await house.owner.delete(f"/v1/knowledge/sources/{source}")
        assert removed.status_code == 204
        assert changed(before, await everything(house)) == set(), reason


def changed(before: dict[str, Rows], after: dict[str, Rows]) -> set[str]:
    return {
        name
        for scope, tables in after.items()
        for name, rows in tables.items()
        if rows != before[scope][name]
    }


async def test_an_upload_over_the_limit_leaves_nothing(house: House) -> None:
    before = await everything(house)
    response: httpx.Response = await house.owner.post(
        "/v1/knowledge/sources", files={"file": ("a.md", b"x" * 10_001)}
    )
    assert response.status_code == 413
    assert await everything(house) == before


async def test_broken_json_leaves_nothing(house: House) -> None:
    before = await everything(house)
    headers = {"Content-Type": "application/json"}
    for path in ("/v1/memories", "/v1/policies", "/v1/briefs", "/v1/runs", "/v1/knowledge/search"):
        for body in (b"", b"{", b'{"text": "a" "b"}', b"\xff\xfe{}", b'{"text": NaN}'):
            response = await house.owner.post(path, content=body, headers=headers)
            assert response.status_code in {400, 422}, (path, body)
    assert await everything(house) == before
