"""A memory that was written on a branch that was left says so, wherever it is read, until the branch is shown again."""

from collections.abc import AsyncIterator
from datetime import datetime

import pytest

from memoranda.app import Memoranda
from memoranda.briefs.models import ContextBrief
from memoranda.memories.finding.block import LEFT
from memoranda.memories.models import Memory
from memoranda.memories.service import Memories
from memoranda.storage import Storage
from memoranda.tools.memory.answers import ToolMemory
from tests.contract.chat_room import Room, new_room
from tests.contract.clocks import SteppedClock
from tests.contract.tenants import Tenant, new_tenant


@pytest.fixture(scope="module")
async def acme(shared_storage: Storage) -> Tenant:
    return await new_tenant(shared_storage)


async def learned(room: Room, text: str) -> tuple[Memory, Memory]:
    """What the run of a turn remembers, and what was remembered without one."""
    memories, who = Memories(room.storage), room.who
    done = await room.answered(text)
    kept = await memories.remember(who, f"{text} (run)", run_id=done.run.id)
    return kept, await memories.remember(who, f"{text} (none)")


async def left(room: Room, *memories: Memory) -> list[list[bool]]:
    """What each says of its branch, as it is got, listed and searched for."""
    service, who = Memories(room.storage), room.who
    listed = {each.id: each for each in (await service.page(who, limit=200)).items}
    hits = (await service.search(who, "leave")).results
    found = {each.memory.id: each.memory for each in hits}
    return [
        [
            (await service.get(who, each.id)).branch_left,
            listed[each.id].branch_left,
            found[each.id].branch_left,
        ]
        for each in memories
    ]


async def test_what_was_learned_on_a_branch_says_whether_that_was_left(
    shared_storage: Storage, acme: Tenant
) -> None:
    room = await new_room(shared_storage, acme)
    before, _ = await learned(room, "First leave")
    memory, other = await learned(room, "Then leave")
    no, yes = [False] * 3, [True] * 3
    assert await left(room, before, memory, other) == [no, no, no]
    thread = await room.chats.thread(room.who, room.chat.id)
    asked = thread.messages[2].id
    edited = await room.chats.edit(
        room.who,
        room.chat.id,
        asked,
        "Rather stay.",
        expected_revision=thread.chat.revision,
    )
    assert await left(room, before, memory, other) == [no, yes, no]
    forgotten = await Memories(room.storage).forget(room.who, memory.id)
    assert forgotten.branch_left is True
    await Memories(room.storage).restore(room.who, memory.id)
    await room.live.stop(room.who, edited.run.id)
    present = await room.chats.get(room.who, room.chat.id)
    await room.chats.switch(room.who, room.chat.id, asked, expected_revision=present.revision)
    assert await left(room, before, memory, other) == [no, no, no]


async def test_a_branch_that_was_left_in_one_organization_is_nothing_to_another(
    shared_storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(shared_storage, "Other")
    ours, theirs = await new_room(shared_storage, acme), await new_room(shared_storage, other)
    memory, _ = await learned(ours, "We leave")
    alien, _ = await learned(theirs, "They leave")
    present = await ours.chats.get(ours.who, ours.chat.id)
    await ours.chats.regenerate(ours.who, ours.chat.id, expected_revision=present.revision)
    assert await left(ours, memory) == [[True] * 3]
    assert await left(theirs, alien) == [[False] * 3]


@pytest.fixture
async def memoranda(
    database_url: str, clock: SteppedClock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Memoranda]:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    async with Memoranda.open(database_url, clock=clock, migrate=False) as opened:
        yield opened


async def briefed(room: Room, memoranda: Memoranda, then: datetime | None = None) -> ContextBrief:
    sources = [{"name": name, "token_budget": 1_000} for name in ("memory", "personal_memory")]
    policy = {"sources": sources, "total_token_budget": 4_000}
    return await memoranda.briefs.build(
        room.who,
        "q",
        policy=policy,
        user_id=room.tenant.anna.id,
        agent_id=room.tenant.scout.id,
        as_of=then,
        explain=True,
    )


async def test_a_run_is_told_of_it_in_recalls_and_briefs_until_the_branch_is_shown_again(
    memoranda: Memoranda, clock: SteppedClock
) -> None:
    storage = memoranda.storage
    room = await new_room(storage, await new_tenant(storage), memoranda.chats)
    who, memories, anna = room.who, memoranda.memories, room.tenant.anna.id
    done = await room.answered("Where is the ferry?")
    for text, more in (
        ("The ferry leaves from Ghent.", {}),
        ("The ferry is pinned.", {"pinned": True}),
        ("The ferry is Anna's.", {"user_id": anna}),
    ):
        await memories.remember(who, text, title="Ferry", run_id=done.run.id, **more)
    await memories.remember(who, "The ferry is old.")

    async def told() -> list[bool]:
        """Whether a recall's lines and its values, a brief's lines, and what the tool shows say so."""
        clock.tick()
        recall = await memories.recall(
            who, "the ferry", user_id=anna, agent_id=room.tenant.scout.id
        )
        assert recall.block is not None
        brief = await briefed(room, memoranda)
        texts = [each.text for each in recall.memories if each.branch_left]
        lines = [line for line in recall.block.split("\n") if line.startswith(f"- {LEFT}Ferry: ")]
        excerpts = [each for each in brief.explain or () if each.excerpt.startswith(LEFT[:-1])]
        shown = [ToolMemory.of(each) for each in (await memories.page(who)).items]
        counts = {
            len(texts),
            len(lines),
            brief.text.count(LEFT),
            len(excerpts),
            sum(each.branch_left for each in shown),
        }
        assert LEFT not in (await memories.get(who, shown[0].id)).text
        assert counts in ({0}, {3})
        return [each == 3 for each in counts]

    assert await told() == [False]
    before = clock.now
    clock.tick()
    chat = await room.chats.get(who, room.chat.id)
    again = await room.chats.regenerate(who, room.chat.id, expected_revision=chat.revision)
    assert await told() == [True]
    after, brief = clock.now, await briefed(room, memoranda)
    clock.tick()
    then = {}
    for moment in (before, after):
        page = await memories.page(who, as_of=moment)
        past = await briefed(room, memoranda, moment)
        then[moment] = sum(each.branch_left for each in page.items), past.text.count(LEFT)
    assert then == {before: (0, 0), after: (3, 3)}
    assert (await briefed(room, memoranda, after)).text == brief.text
    await room.live.stop(who, again.run.id)
    assert done.answer is not None
    revision = (await room.chats.get(who, room.chat.id)).revision
    await room.chats.switch(who, room.chat.id, done.answer.id, expected_revision=revision)
    assert await told() == [False]
