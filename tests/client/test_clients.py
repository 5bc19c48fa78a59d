"""Both clients do what the library does, for their own organization alone, and fail as it does."""

import json
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path

import httpx
import pytest

from memoranda.client import OMITTED, UnexpectedAnswer, Unreachable
from memoranda.client.errors import error_of
from memoranda.conversations.chats.errors import RevisionConflict
from memoranda.conversations.chats.live.models import TextDelta
from memoranda.conversations.chats.models import AgentTurn
from memoranda.conversations.models import Message
from memoranda.files.body import hash_of
from memoranda.files.errors import FileChanged
from memoranda.memories.models import Memory, MemoryPage
from memoranda.words.errors import (
    DuplicateMemory,
    Invalid,
    MemorandaError,
    NotFound,
    PolicyRejected,
    SecretFound,
    Unauthenticated,
)
from tests.client.conftest import Desk
from tests.client.faces import answered, face, lost, never_sent


async def test_what_is_remembered_is_listed_page_by_page_and_only_ones_own(desk: Desk) -> None:
    mine, memories = desk.mine, desk.mine.client.memories
    kept = [await mine(memories.remember, f"Number {n}.", tags=["n"]) for n in range(3)]
    assert all(isinstance(each, Memory) for each in kept)
    page = await mine(memories.list, limit=2)
    assert isinstance(page, MemoryPage)
    assert [each.id for each in page.items] == [kept[2].id, kept[1].id]
    every = await mine.all(memories.list.each, limit=2)
    assert every == [await mine(memories.get, each.id) for each in reversed(kept)]
    rest = await mine.all(memories.list.each, limit=2, cursor=page.next_cursor)
    assert [each.id for each in rest] == [kept[0].id]
    theirs = desk.theirs
    assert await theirs.all(theirs.client.memories.list.each) == []
    with pytest.raises(NotFound):
        await theirs(theirs.client.memories.get, kept[0].id)
    direct = await desk.memoranda.memories.get(desk.acme.owner, kept[0].id)
    assert direct == every[-1]


async def test_what_is_left_out_of_a_change_stays_and_null_empties(desk: Desk) -> None:
    mine, memories = desk.mine, desk.mine.client.memories
    until = datetime.now(UTC) + timedelta(days=3)
    kept = await mine(memories.remember, "Tea is at four.", title="Tea", expires_at=until)
    changed = await mine(memories.update, str(kept.id), text="Tea is at five.", pinned=True)
    assert (changed.text, changed.title, changed.pinned) == ("Tea is at five.", "Tea", True)
    changed = await mine(memories.update, kept.id, title=None, expires_at=OMITTED)
    assert (changed.title, changed.expires_at) == (None, kept.expires_at)
    history = await mine(memories.history, kept.id)
    assert [each.text for each in history.items][-1] == "Tea is at five."


async def test_errors_are_those_that_the_library_raises(desk: Desk) -> None:
    mine, client = desk.mine, desk.mine.client
    kept = await mine(client.memories.remember, "Tea is at four.", attribute="preference.tea")
    with pytest.raises(DuplicateMemory) as known:
        await mine(client.memories.remember, "Tea is at four.", attribute="preference.tea")
    assert known.value.details["memory_id"] == str(kept.id)
    with pytest.raises(SecretFound) as secret:
        await mine(client.memories.remember, "AKIA" + "Q3EGRIJK7LMNOP2X"[:16])
    assert secret.value.details["field"] == "text"
    with pytest.raises(Invalid) as misshapen:
        await mine(client.memories.list, limit=0)
    assert misshapen.value.details["errors"]
    with pytest.raises(FileChanged) as changed:
        await mine(client.files.write, "voice", "New.", hash_of("Old."))
    assert changed.value.details["current_hash"] == hash_of("")
    with pytest.raises(PolicyRejected) as rejected:
        await mine(client.policies.publish, "mine", {"sources": [{"name": "nowhere"}]})
    assert rejected.value.rejections
    nobody = face(desk.app, None, awaits=desk.mine.awaits)
    with pytest.raises(Unauthenticated):
        await nobody(nobody.client.memories.stats)
    assert (await nobody(nobody.client.health.ready)).status == "ready"


async def test_a_file_is_sent_from_wherever_it_lies_and_its_text_found(
    desk: Desk, tmp_path: Path
) -> None:
    mine, knowledge = desk.mine, desk.mine.client.knowledge
    path = tmp_path / "tea.md"
    path.write_bytes(b"# Tea\n\nTea is at four.\n")
    with path.open("rb") as opened:
        opened.read(7)
        taken = [
            await mine(knowledge.add, path, uri="file:tea"),
            await mine(knowledge.add, b"Coffee is at nine.", filename="coffee.txt"),
            await mine(knowledge.add, opened, title="The rest", kind="text"),
            await mine(knowledge.add, BytesIO(b"A text of no name.")),
        ]
    sources = [await mine(knowledge.get, each.id) for each in taken]
    assert [each.title for each in sources] == ["tea.md", "coffee.txt", "The rest", "document"]
    await desk.memoranda.worker.drain()
    found = await mine(knowledge.search, "coffee")
    assert found.results[0].title == "coffee.txt"
    theirs = desk.theirs
    assert (await theirs(theirs.client.knowledge.search, "coffee")).results == []
    await mine(knowledge.remove, taken[1].id)
    with pytest.raises(NotFound):
        await mine(knowledge.get, taken[1].id)


async def test_memories_go_out_line_by_line_and_come_in_as_a_file(desk: Desk) -> None:
    mine, theirs = desk.mine, desk.theirs
    text = "One line\u2028that others\x85break\x0bup, and a 茶."
    await mine(mine.client.memories.remember, text)
    lines = await mine.all(mine.client.memories.export, history=True)
    assert [json.loads(line).get("text") for line in lines] == [None, text, text]
    whole = "".join(f"{line}\n" for line in lines).encode()
    report = await theirs(theirs.client.memories.take_in, whole)
    assert report.dry_run is False
    found = await theirs.all(theirs.client.memories.list.each)
    assert [each.text for each in found] == [
        each.text for each in await mine.all(mine.client.memories.list.each)
    ]


async def test_a_tools_call_under_a_key_is_done_once(desk: Desk) -> None:
    mine, tools = desk.mine, desk.mine.client.tools
    desk.mine.network.faults = [lambda _: None, lost]
    said = {"content": "Tea is at four."}
    first = await mine(tools.call, "remember", arguments=said, idempotency_key="k1")
    again = await mine(tools.call, "remember", arguments=said, idempotency_key="k1")
    assert (first.replayed, again.replayed, again.answer) == (False, True, first.answer)
    assert len(desk.mine.network.sent) == 3


async def test_a_conversation_is_saved_and_loaded_as_it_was_said(desk: Desk) -> None:
    mine, client = desk.mine, desk.mine.client
    said = [
        Message(role="user", content="When?"),
        Message(
            role="assistant", content=[{"type": "text", "text": "At four."}], metadata={"a": 1}
        ),
    ]
    saved = await mine(client.workflows.save, "w", said, 0)
    loaded = await mine(client.conversations.load, saved.id)
    assert [(each.role, each.content, each.metadata) for each in loaded.messages] == [
        (each.role, each.content, each.metadata) for each in said
    ]
    await mine(client.conversations.append, saved.id, said[:1], expected_length=2)
    assert (await mine(client.conversations.get, saved.id)).length == 3
    with pytest.raises(NotFound):
        await desk.theirs(desk.theirs.client.conversations.load, saved.id)


async def test_a_chat_is_answered_step_by_step_and_a_message_is_sent_once(desk: Desk) -> None:
    mine, client, network = desk.mine, desk.mine.client, desk.mine.network
    chat = await mine(client.chats.create, user_id=desk.acme.anna.id, title="Tea")
    network.faults = [lost]
    sent = await mine(client.chats.send, chat.id, "When is tea?", client_message_id="m1")
    again = await mine(client.chats.send, chat.id, "When is tea?", client_message_id="m1")
    assert again.message == sent.message
    run = sent.run.id
    await mine(client.chat_runs.pick_up, run)
    begun = await mine(client.chat_runs.prepare, run)
    heard = await mine(client.chat_runs.emit, run, events=[TextDelta(text="At four.")], after=2)
    turn = AgentTurn(
        messages=[*begun.request(), Message(role="assistant", content="At four.")],
        fence=begun.loaded.fence,
    )
    ended = await mine(client.chat_runs.answer, run, "At four.", turns=[turn])
    assert (ended.answer.content, heard.stop) == ("At four.", False)
    thread = await mine(client.chats.thread, chat.id)
    assert [each.content for each in thread.messages] == ["When is tea?", "At four."]
    events = await mine(client.chat_runs.events, run)
    assert "At four." in {each.data.get("text") for each in events.items}
    with pytest.raises(RevisionConflict):
        await mine(client.chats.regenerate, chat.id, expected_revision=0)
    with pytest.raises(NotFound):
        await desk.theirs(desk.theirs.client.chats.thread, chat.id)


async def test_names_with_any_letters_reach_their_route(desk: Desk) -> None:
    mine, client = desk.mine, desk.mine.client
    named = await mine(client.users.create, "Ada", external_id="a?b=c#ä %2F;")
    assert await mine(client.users.get, "a?b=c#ä %2F;") == named


async def test_only_what_was_surely_not_done_is_asked_again(desk: Desk) -> None:
    mine, memories, network = desk.mine, desk.mine.client.memories, desk.mine.network
    network.faults = [never_sent, never_sent]
    await mine(memories.remember, "Tea is at four.")
    network.faults = [answered(429, "too_many_requests", retry_after="7")]
    await mine(memories.remember, "Coffee is at nine.")
    assert network.slept[-1] == 7
    network.faults = [answered(503, "storage_busy", retry_after="1")]
    await mine(memories.remember, "Cake is at three.")
    network.sent.clear()
    network.faults = [lost]
    with pytest.raises(Unreachable) as unknown:
        await mine(memories.remember, "Once, or not at all.")
    assert unknown.value.details == {"maybe_done": True}
    assert len(network.sent) == 1
    network.faults = [answered(503, "unavailable", retry_after="1")]
    with pytest.raises(MemorandaError):
        await mine(memories.remember, "Once, or not at all.")
    network.faults = [lost, answered(503, "unavailable", retry_after="1")]
    assert len((await mine(memories.list)).items) == 3


async def test_a_server_that_stays_away_is_told_after_so_many_tries(desk: Desk) -> None:
    mine, memories, network = desk.mine, desk.mine.client.memories, desk.mine.network
    network.faults = [never_sent] * 3
    with pytest.raises(Unreachable) as away:
        await mine(memories.stats)
    assert (away.value.details, len(network.sent)) == ({"maybe_done": False}, 3)
    assert 0.25 <= network.slept[0] <= 0.5 <= network.slept[1] <= 1
    network.faults = [answered(429, "too_often", retry_after="3600")]
    with pytest.raises(MemorandaError) as later:
        await mine(memories.forget_all, "FORGET ALL")
    assert (later.value.code, len(network.slept)) == ("too_often", 2)


async def test_a_file_is_sent_whole_again(desk: Desk, tmp_path: Path) -> None:
    mine, client, network = desk.mine, desk.mine.client, desk.mine.network
    path = tmp_path / "tea.txt"
    path.write_bytes(b"Not this. Tea is at four.")
    with path.open("rb") as opened:
        opened.seek(10)
        network.faults = [answered(429, "too_many_requests", retry_after="0")]
        await mine(client.knowledge.add, opened)
        first, second = network.sent
        assert b"Tea is at four." in second.content
        assert b"Not this." not in second.content
        assert len(first.content) == len(second.content)


class Watched(BytesIO):
    """A file that remembers how much of it was read at once."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.most = 0

    def read(self, size: int | None = -1, /) -> bytes:
        part = super().read(size)
        self.most = max(self.most, len(part))
        return part


async def test_a_large_file_is_read_part_by_part(desk: Desk) -> None:
    mine, client = desk.mine, desk.mine.client
    large = Watched(b"Tea is at four.\n" * 30_000)
    await mine(client.knowledge.add, large, filename="tea.txt")
    lines = Watched(b"Tea is at four.\n" * 5_000)
    assert (await mine(client.memories.take_in, lines, dry_run=True)).dry_run
    assert large.most <= 65_536 == lines.most


async def test_what_is_none_of_this_api_is_said_to_be(desk: Desk) -> None:
    mine, memories, network = desk.mine, desk.mine.client.memories, desk.mine.network
    for answer in (
        httpx.Response(200, text="<html>Welcome</html>"),
        httpx.Response(200, json={"items": []}),
        httpx.Response(404, text="no such page"),
        httpx.Response(302, headers={"Location": "http://elsewhere.test/"}),
    ):
        network.faults = [lambda _, answer=answer: answer]
        with pytest.raises(UnexpectedAnswer):
            await mine(memories.list)
    assert error_of(502, b"Bad gateway").code == "unexpected_answer"


async def test_what_a_newer_server_says_besides_is_passed_over(desk: Desk) -> None:
    mine, client, network = desk.mine, desk.mine.client, desk.mine.network
    kept = await mine(client.memories.remember, "Tea is at four.")
    newer = {**kept.model_dump(mode="json"), "color": "green"}
    network.faults = [lambda _: httpx.Response(200, json=newer)]
    assert await mine(client.memories.get, kept.id) == kept


@pytest.mark.parametrize("dots", [".", ".."])
async def test_an_id_of_dots_leads_to_no_other_route(desk: Desk, dots: str) -> None:
    mine, client, network = desk.mine, desk.mine.client, desk.mine.network
    asked: list[str] = []

    def noted(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.raw_path.decode())
        return httpx.Response(404, text="no such page")

    network.faults = [noted]
    with pytest.raises(UnexpectedAnswer):
        await mine(client.agent_files.list, dots)
    assert asked == [f"/v1/agents/{dots.replace('.', '%2E')}/files"]


async def test_what_no_url_and_no_header_can_carry_is_refused_before_it_is_sent(desk: Desk) -> None:
    mine, client = desk.mine, desk.mine.client
    for verb, given, more in (
        (client.chats.get, ["\ud800"], {}),
        (client.memories.search, ["\ud800"], {}),
        (client.tools.call, ["remember"], {"idempotency_key": "\ud800"}),
    ):
        with pytest.raises(Invalid):
            await mine(verb, *given, **more)
