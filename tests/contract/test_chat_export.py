"""A chat that is written down is all of it, as it was when that began, a few messages at a time, and for nobody else."""

import json
from typing import Any

import pytest

from memoranda.conversations.chats.exporting import pages, store
from memoranda.conversations.chats.feedback.models import Rating
from memoranda.conversations.service import Conversations
from memoranda.storage import Storage
from memoranda.words.errors import Conflict, NotFound
from tests.contract.chat_desk import Desk
from tests.contract.chat_room import NOWHERE, new_room, strangers
from tests.contract.tenants import Tenant, new_tenant


@pytest.fixture(scope="module")
async def acme(shared_storage: Storage) -> Tenant:
    return await new_tenant(shared_storage)


@pytest.fixture
async def desk(shared_storage: Storage, acme: Tenant) -> Desk:
    return await Desk.of(shared_storage, acme, title="Ferries")


async def exported(desk: Desk) -> list[dict[str, Any]]:
    return [json.loads(line) async for line in desk.chats.export(desk.who, desk.id)]


def of_kind(lines: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [line for line in lines if line.get("kind") == kind]


async def test_a_chat_is_written_down_with_all_its_branches_runs_opinions_and_notes(
    desk: Desk, acme: Tenant
) -> None:
    first = await desk.exchange("When?", "At noon.")
    asked = await desk.ask("Where?")
    second = await desk.reply(asked.run, "In Ghent.")
    edited = await desk.edit(asked.message.id, "Where from?\u2028")
    await desk.begin(edited.run)
    await desk.chats.fail(desk.who, edited.run.id, "It broke.")
    assert first.answer is not None
    assert second.answer is not None
    await desk.chats.feedback.give(
        desk.who, desk.id, second.answer.id, Rating.DOWN, comment="It is not."
    )
    mine = acme.member(acme.anna)
    await desk.chats.feedback.give(mine, desk.id, first.answer.id, Rating.UP)
    await desk.chats.notes.add(desk.who, desk.id, "form", "Saved.")
    lines = await exported(desk)
    assert lines[0] == {"format": "memoranda-chat", "version": 1}
    assert lines[1] == {"kind": "chat", **(await desk.now()).model_dump(mode="json")}
    said = of_kind(lines, "message")
    assert [(each["content"], each["shown"]) for each in said] == [
        *(("When?", True), ("At noon.", True)),
        *(("Where?", False), ("In Ghent.", False)),
        ("Where from?\u2028", True),
    ]
    assert [each["parent_id"] for each in said] == [
        None,
        *(said[0]["id"], said[1]["id"], said[2]["id"]),
        said[1]["id"],
    ]
    runs = of_kind(lines, "run")
    assert [(each["status"], each["reason"]) for each in runs] == [
        *[("completed", None)] * 2,
        ("failed", "It broke."),
    ]
    assert [each["id"] for each in runs[:2]] == [said[1]["run_id"], said[3]["run_id"]]
    given = of_kind(lines, "feedback")
    assert [(each["message_id"], each["rating"], each["comment"]) for each in given] == [
        (said[1]["id"], "up", None),
        (said[3]["id"], "down", "It is not."),
    ]
    notes = of_kind(lines, "note")
    assert {each["line"] for each in notes} >= {"[Saved.]"}
    count = {"messages": 5, "runs": 3, "feedback": 2, "notes": len(notes)}
    assert lines[-1] == {"kind": "end", **count}
    assert len(lines) == 2 + sum(count.values()) + 1


async def test_every_line_is_one_line_to_any_reader(desk: Desk) -> None:
    await desk.exchange("one\ntwo\u2028three\x85four", "five\u2029")
    lines = [line async for line in desk.chats.export(desk.who, desk.id)]
    assert "".join(lines).splitlines(keepends=True) == lines
    assert [each["content"] for each in of_kind(await exported(desk), "message")] == [
        "one\ntwo\u2028three\x85four",
        "five\u2029",
    ]


async def test_an_empty_chat_has_a_beginning_and_an_end(desk: Desk) -> None:
    lines = await exported(desk)
    assert [line.get("kind") for line in lines] == [None, "chat", "end"]


async def test_pages_leave_nothing_out_and_are_read_when_they_are_asked_for(
    desk: Desk, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MESSAGES_AT_ONCE", 3)
    monkeypatch.setattr(pages, "AT_ONCE", 2)
    people = [acme.member(acme.anna), acme.owner]
    for number in range(5):
        done = await desk.exchange(f"q{number}", f"a{number}")
        assert done.answer is not None
        for who in people:
            await desk.chats.feedback.give(who, desk.id, done.answer.id, Rating.UP)
        await desk.chats.notes.add(desk.who, desk.id, f"k{number}", f"n{number}")
    read: list[int] = []
    real = store.messages

    def counted(*args: Any) -> Any:
        found = real(*args)
        read.append(len(found))
        return found

    monkeypatch.setattr(store, "messages", counted)
    told = 0
    async for line in desk.chats.export(desk.who, desk.id):
        told += json.loads(line).get("kind") == "message"
        assert sum(read) <= told + 3
    lines = await exported(desk)
    said = [each["content"] for each in of_kind(lines, "message")]
    assert said == [text for number in range(5) for text in (f"q{number}", f"a{number}")]
    assert len(
        {(each["message_id"], each["user_id"]) for each in of_kind(lines, "feedback")}
    ) == 5 * len({each.user_id for each in people})
    keys = [each["key"] for each in of_kind(lines, "note")]
    assert [key for key in keys if key.startswith("k")] == [f"k{number}" for number in range(5)]
    assert len(of_kind(lines, "run")) == 5


async def test_what_is_said_meanwhile_is_not_in_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MESSAGES_AT_ONCE", 1)
    await desk.exchange("q0", "a0")
    lines = []
    async for line in desk.chats.export(desk.who, desk.id):
        lines.append(json.loads(line))
        if len(lines) == 2:
            await desk.exchange("q1", "a1")
    assert [each["content"] for each in of_kind(lines, "message")] == ["q0", "a0"]
    assert len(of_kind(lines, "run")) == 1
    assert lines[-1]["kind"] == "end"


@pytest.mark.parametrize("how", ["clear", "delete", "reset and clear"])
async def test_a_chat_that_is_taken_away_meanwhile_is_never_written_down_as_if_whole(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr(pages, "MESSAGES_AT_ONCE", 1)
    for number in range(2):
        await desk.exchange(f"q{number}", f"a{number}")
    lines: list[str] = []

    async def goes_on() -> None:
        async for line in desk.chats.export(desk.who, desk.id):
            lines.append(line)
            if len(lines) == 4:
                if "reset" in how:
                    await Conversations(desk.storage).resets.reset(desk.who, desk.chat.workflow_id)
                if how == "delete":
                    await desk.chats.delete(desk.who, desk.id)
                    continue
                await desk.chats.clear(desk.who, desk.id)
                for number in range(3):
                    await desk.ask("anew")
                    thread = await desk.chats.thread(desk.who, desk.id)
                    assert thread.run is not None
                    await desk.chats.fail(desk.who, thread.run.id, f"{number}")

    with pytest.raises(NotFound if how == "delete" else Conflict):
        await goes_on()
    assert len(lines) == 4


async def test_nobody_else_writes_it_down(shared_storage: Storage, acme: Tenant) -> None:
    room = await new_room(shared_storage, acme)
    await room.answered()
    other = await new_tenant(shared_storage, "Other")
    for who in strangers(acme, other):
        with pytest.raises(NotFound):
            await anext(room.chats.export(who, room.chat.id))
    with pytest.raises(NotFound):
        await anext(room.chats.export(acme.owner, NOWHERE))
    for who in (acme.reader, acme.member(acme.anna), acme.key_of(acme.scout, acme.anna)):
        assert len([line async for line in room.chats.export(who, room.chat.id)]) == 6


async def test_what_becomes_of_runs_ratings_and_notes_meanwhile_is_not_in_it_either(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MESSAGES_AT_ONCE", 1)
    first = await desk.exchange("q0", "a0")
    assert first.answer is not None
    feedback = desk.chats.feedback
    await feedback.give(desk.who, desk.id, first.answer.id, Rating.UP)
    await desk.chats.notes.add(desk.who, desk.id, "form", "Saved.")
    sent = await desk.ask("q1")
    before = await exported(desk)
    lines = []
    async for line in desk.chats.export(desk.who, desk.id):
        lines.append(json.loads(line))
        if len(lines) == 2:
            second = await desk.reply(sent.run, "a1")
            assert second.answer is not None
            for rated in (first.answer.id, second.answer.id):
                await feedback.give(desk.who, desk.id, rated, Rating.DOWN)
            await desk.chats.notes.add(desk.who, desk.id, "form", "Saved again.")
    assert lines == before
    there = {each["id"] for each in of_kind(lines, "message")}
    answers = {each["answer_id"] for each in of_kind(lines, "run")} - {None}
    assert answers | {each["message_id"] for each in of_kind(lines, "feedback")} <= there
