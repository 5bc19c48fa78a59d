"""What the routes of chats answer a host that has ids of its own, and whoever takes a whole chat along."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx
import pytest

from memoranda.client import AsyncClient
from memoranda.conversations.chats.exporting import store as exporting
from memoranda.conversations.chats.feedback.models import Rating
from memoranda.words.errors import Invalid
from tests.surfaces.http.streams import Served, served

STRANGE = [
    *("a/b", "a//b", "/", "a%2Fb", "%", "%25", "100 %", "a b", "a+b", "a?b=c&d", "a#b"),
    *(
        ".",
        "..",
        "../x",
        "a/instructions",
        "日本語/x",
        "é",
        "🚢",
        "a\u2028b",
        'a"b\\c',
        "a;b",
        "a:b",
    ),
]
"""Ids of a host's own, as hosts make them."""


@pytest.fixture
async def house(sqlite_database: str) -> AsyncIterator[Served]:
    async with served(sqlite_database) as made:
        yield made


@pytest.fixture
async def client(house: Served) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(house.url, house.key) as made:
        yield made


@pytest.mark.parametrize("strange", STRANGE)
async def test_whatever_a_host_calls_its_rows_they_are_found_by_that(
    client: AsyncClient, strange: str
) -> None:
    user = await client.users.create("Ada", external_id=strange)
    agent = await client.agents.create("scout", external_id=strange)
    assert await client.users.get(strange) == user
    assert await client.agents.get(strange) == agent
    chat = await client.chats.create(user_id=user.id, agent_id=agent.id, workflow_id=strange)
    other = await client.chats.create(user_id=user.id, workflow_id=f"{strange} 2")
    assert (await client.chats.list(workflow_id=strange)).items == [chat]
    assert (await client.chats.list(workflow_id=strange, user_id=user.id)).items == [chat]
    assert (await client.chats.list(workflow_id=f"{strange} 3")).items == []
    assert (await client.chats.list(workflow_id=other.workflow_id, agent_id=agent.id)).items == []
    note = await client.chats.note(chat.id, strange, "Saved.")
    assert note.key == strange
    sent = await client.chats.send(chat.id, "Hello.", client_message_id=strange)
    again = await client.chats.send(chat.id, "Hello.", client_message_id=strange)
    assert again.message == sent.message
    run = await client.chat_runs.pick_up(sent.run.id, picked_up_by=strange)
    assert await client.chat_runs.pick_up(sent.run.id, picked_up_by=strange) == run
    await client.chats.take_note_back(chat.id, strange)
    assert (await client.chats.notes(chat.id)).items == []
    reset = await client.workflows.reset(strange)
    assert reset.workflow_id == strange
    assert (await client.chats.thread(chat.id)).run is None


async def test_a_slash_that_is_spelled_out_parts_no_steps_of_a_path(house: Served) -> None:
    async with house.client() as bare:
        made = await bare.post("/v1/agents", json={"slug": "scout", "external_id": "a/b"})
        assert made.status_code == 201
        for path in ("/v1/agents/a%2Fb", "/v1/agents/a%2fb"):
            assert (await bare.get(path)).json()["id"] == made.json()["id"]
        assert (await bare.get("/v1/agents/a%2Fb/instructions")).status_code in {200, 404}
        assert (await bare.get("/v1/agents/a/b")).status_code == 404
        assert (await bare.get("/v1/agents/a%252Fb")).status_code == 404
        assert (await bare.get("/v1%2Fagents/scout")).status_code == 404


@pytest.mark.parametrize("refused", ["", " ", "a\x00b", "x" * 1_001])
async def test_what_no_id_can_be_is_refused_at_once_and_says_why(
    house: Served, refused: str
) -> None:
    async with house.client() as bare:
        user = (await bare.post("/v1/users", json={"name": "Ada"})).json()["id"]
        for path, field, more in (
            ("/v1/users", "external_id", {"name": "Ben"}),
            ("/v1/agents", "external_id", {"slug": "scout"}),
            ("/v1/chats", "workflow_id", {"user_id": user}),
        ):
            answer = await bare.post(path, json={field: refused, **more})
            assert answer.status_code in {413, 422}, answer.text
            assert field in answer.text
        for given in ("not-an-id", "%2F", "a%2Fb", "%00", "..%2Fx"):
            answer = await bare.get(f"/v1/chats/{given}")
            assert answer.status_code in {404, 422}
            assert answer.json()["code"] in {"invalid_input", "not_found"}


async def spoken(client: AsyncClient) -> Any:
    """A chat with an answer, a branch, an opinion and a note."""
    user = await client.users.create("Ada")
    chat = await client.chats.create(user_id=user.id, title="Ferries")
    run = (await client.chats.send(chat.id, "When?")).run
    await client.chat_runs.pick_up(run.id)
    done = await client.chat_runs.answer(run.id, "At noon.")
    await client.chats.rate(chat.id, done.answer.id, Rating.DOWN, comment="No.")
    await client.chats.regenerate(chat.id, expected_revision=done.chat.revision)
    return chat


async def test_a_chat_is_downloaded_as_json_lines(house: Served, client: AsyncClient) -> None:
    chat = await spoken(client)
    lines = [json.loads(line) async for line in client.chats.export(chat.id)]
    kinds = [line.get("kind") for line in lines]
    assert kinds == [None, "chat", *["message"] * 2, *["run"] * 2, "feedback", "note", "end"]
    async with house.client() as bare:
        answer = await bare.get(f"/v1/chats/{chat.id}/export")
        assert answer.headers["content-type"] == "application/jsonl"
        assert 'filename="chat.jsonl"' in answer.headers["content-disposition"]
        missing = await bare.get(f"/v1/chats/{chat.user_id}/export")
        assert (missing.status_code, missing.json()["code"]) == (404, "not_found")


async def test_a_download_that_breaks_off_is_not_taken_for_whole(
    house: Served,
    client: AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    chat = await spoken(client)
    hidden = f"{'nobody'} is to read"

    def broken(*_: object) -> None:
        raise RuntimeError(hidden)

    monkeypatch.setattr(exporting, "runs", broken)
    async with house.client() as bare:
        with pytest.raises(httpx.RemoteProtocolError):
            await bare.get(f"/v1/chats/{chat.id}/export")
    assert "RuntimeError in export_chat" in caplog.text
    assert "nobody is to read" not in caplog.text


async def test_a_host_may_tell_and_answer_as_a_script_does_by_place_and_in_plain_json(
    client: AsyncClient,
) -> None:
    sent = await spoken_and_asked(client)
    prepared = await client.chat_runs.prepare(sent, None)
    heard = await client.chat_runs.emit(sent, [{"type": "text.delta", "text": "At "}])
    assert (heard.sequence - prepared.run.last_event, heard.stop) == (1, False)
    for events, named in (
        ([{"type": "text.delta", "txt": "At "}], "txt: There is no such field"),
        ([{"type": "shrug"}], "the kinds are 'text.delta'"),
    ):
        with pytest.raises(Invalid, match=named):
            await client.chat_runs.emit(sent, events)
    messages = [*prepared.request(), {"role": "assistant", "content": "At noon."}]
    turn = {"messages": messages, "fence": prepared.loaded.fence}
    with pytest.raises(Invalid, match=r"turns\.0\.fence"):
        await client.chat_runs.answer(sent, "At noon.", [{"messages": messages}])
    done = await client.chat_runs.answer(sent, "At noon.", [turn])
    assert done.run.status == "completed"


async def spoken_and_asked(client: AsyncClient) -> UUID:
    """A run that was picked up."""
    user = await client.users.create("Ada")
    chat = await client.chats.create(user_id=user.id)
    sent = await client.chats.send(chat.id, "When?")
    return (await client.chat_runs.pick_up(sent.run.id)).id
