"""An agent that joins a chat later is told the path so far, and one that was away what it missed: never more or less."""

import pytest

from memoranda.conversations.chats.service import Chats
from memoranda.conversations.limits import ConversationLimits
from memoranda.conversations.models import Message
from memoranda.storage import Storage
from tests.contract.chat_desk import SYSTEM, Desk, assert_sendable, text_of
from tests.contract.tenants import Tenant, new_tenant


@pytest.fixture(scope="module")
async def acme(shared_storage: Storage) -> Tenant:
    return await new_tenant(shared_storage)


@pytest.fixture
async def desk(shared_storage: Storage, acme: Tenant) -> Desk:
    return await Desk.of(shared_storage, acme)


def said(request: list[Message]) -> list[str]:
    """What a request says, but for the prompt."""
    return [text_of(each.content) for each in request if each.role != "system"]


async def test_an_agent_that_joins_later_is_told_the_path_so_far(desk: Desk, acme: Tenant) -> None:
    scout, clerk = acme.scout.id, acme.clerk.id
    await desk.exchange("q0", "a0", scout)
    await desk.exchange("q1", "a1", scout)
    sent = await desk.ask("q2")
    prepared = await desk.begin(sent.run, clerk)
    request = prepared.request(SYSTEM)
    assert said(request) == ["q0", "a0", "q1", "a1", "q2"]
    assert [each.role for each in request] == ["system", *["user", "assistant"] * 2, "user"]
    assert_sendable(request)
    await desk.chats.answer(desk.who, sent.run.id, "a2", [desk.turn(prepared, "a2", clerk)])
    await desk.assert_known(clerk)
    assert await desk.known(scout) == ["q0", "a0", "q1", "a1"]


async def test_an_agent_that_was_away_is_told_what_it_missed_and_no_more(
    desk: Desk, acme: Tenant
) -> None:
    scout, clerk = acme.scout.id, acme.clerk.id
    await desk.exchange("q0", "a0", scout, clerk)
    await desk.exchange("q1", "a1", scout)
    await desk.exchange("q2", "a2", clerk)
    await desk.assert_known(clerk)
    prepared = await desk.begin((await desk.ask("q3")).run, scout)
    assert [each.content for each in prepared.asked] == ["q2", "a2", "q3"]
    assert said(prepared.request(SYSTEM)) == ["q0", "a0", "q1", "a1", "q2", "a2", "q3"]


async def test_who_joined_on_a_branch_that_was_left_joins_the_path_that_is_shown(
    desk: Desk, acme: Tenant
) -> None:
    scout, clerk = acme.scout.id, acme.clerk.id
    first = await desk.exchange("q0", "a0", scout)
    asked = await desk.ask("q1")
    await desk.reply(asked.run, "a1", clerk)
    edited = await desk.edit(asked.message.id, "q1, edited")
    assert await desk.known(clerk) == []
    prepared = await desk.begin(edited.run, clerk)
    assert said(prepared.request(SYSTEM)) == ["q0", "a0", "q1, edited"]
    await desk.chats.fail(desk.who, edited.run.id, "no")
    await desk.switch(asked.message.id)
    await desk.assert_known(clerk)
    assert first.answer is not None


async def test_of_a_long_path_the_newest_turns_are_told_and_that_others_are_left_out(
    desk: Desk, acme: Tenant
) -> None:
    scout, clerk = acme.scout.id, acme.clerk.id
    for number in range(60):  # more than are read at once
        await desk.exchange(f"q{number} {'x' * 80}", f"a{number} {'x' * 80}", scout)
    desk.chats = Chats(desk.storage, limits=ConversationLimits(seed_bytes=1_000))
    sent = await desk.ask("q")
    await desk.chats.notes.add(desk.who, desk.id, "form", "Saved.")
    prepared = await desk.begin(sent.run, clerk)
    first, *rest, last = said(prepared.asked)
    line, _, asked = first.partition("\n\n")
    assert (
        line
        == f"[The {120 - len(rest) - 1} messages of this chat before this one are left out here.]"
    )
    assert (asked, last) == (f"q{60 - (len(rest) + 1) // 2} {'x' * 80}", "[Saved.]\n\nq")
    assert sum(map(len, rest)) + len(asked) <= 1_000
    assert prepared.asked[0].role == "user"
    assert_sendable(prepared.request(SYSTEM))
    await desk.chats.answer(desk.who, sent.run.id, "a", [desk.turn(prepared, "a", clerk)])
    again = await desk.begin((await desk.ask("q again")).run, clerk)
    assert said(again.asked) == ["q again"]


async def test_what_is_asked_is_told_whole_even_where_nothing_before_it_has_room(
    desk: Desk, acme: Tenant
) -> None:
    await desk.exchange("q0", "a0", acme.scout.id)
    desk.chats = Chats(desk.storage, limits=ConversationLimits(seed_bytes=3))
    prepared = await desk.begin((await desk.ask("a long question")).run, acme.clerk.id)
    assert said(prepared.asked) == [
        "[The 2 messages of this chat before this one are left out here.]\n\na long question"
    ]
