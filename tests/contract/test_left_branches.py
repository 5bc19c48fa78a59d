"""A memory that was written on a branch that was left says so, wherever it is read, until the branch is shown again."""

import pytest

from memoranda.memories.models import Memory
from memoranda.memories.service import Memories
from memoranda.storage import Storage
from tests.contract.chat_room import Room, new_room
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
