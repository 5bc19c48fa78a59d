"""What happens when conversations are changed at once: one after the other, and never half."""

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from memoranda.conversations.digests import chains, digest_of
from memoranda.conversations.errors import LateSave, OlderGeneration
from memoranda.conversations.models import Conversation, ConversationKey, Message
from memoranda.conversations.service import Conversations
from memoranda.storage import Storage
from memoranda.words.errors import Conflict, NotFound
from tests.contract.conversation_desk import KEY, begun, contents, said, stored, texts
from tests.contract.tenants import Tenant, new_tenant

ROUNDS = 12


@pytest.fixture
async def several(database_url: str) -> AsyncIterator[list[Conversations]]:
    """As many processes would be: each with a database of its own that it has open."""
    opened = [await Storage.open(database_url) for _ in range(4)]
    yield [Conversations(each) for each in opened]
    for each in opened:
        await each.close()


async def together(*attempts: Any) -> list[Any]:
    """Their outcomes; an error that no caller should see is raised."""
    outcomes = await asyncio.gather(*attempts, return_exceptions=True)
    for each in outcomes:
        if isinstance(each, BaseException) and not isinstance(each, Conflict | NotFound):
            raise each
    return outcomes


async def whole(talks: Conversations, tenant: Tenant, key: ConversationKey = KEY) -> list[Any]:
    """The contents, once it is sure that length, digest and rows say the same."""
    loaded = await talks.load(tenant.owner, key)
    chain = [*chains(map(digest_of, loaded.messages))]
    assert loaded.length == len(loaded.messages) == len(chain)
    assert loaded.digest == (chain[-1] if chain else "")
    return contents(loaded.messages)


async def test_of_two_saves_one_comes_after_the_other_and_the_list_is_one_of_theirs(
    several: list[Conversations], acme: Tenant
) -> None:
    for turn in range(ROUNDS):
        lists = [[f"{turn}.{n}.{m}" for m in range(n + 1)] for n in range(len(several))]
        await together(
            *[
                talks.save(acme.owner, KEY, said("first", *some), fence=0)
                for talks, some in zip(several, lists, strict=True)
            ]
        )
        assert await whole(several[0], acme) in [["first", *some] for some in lists]
    assert len((await several[0].page(acme.owner)).items) == 1


async def test_of_saves_over_one_list_exactly_one_goes_through(
    several: list[Conversations], acme: Tenant
) -> None:
    await begun(several[0], acme.owner, "a")
    for turn in range(ROUNDS):
        read = await several[0].load(acme.owner, KEY)
        outcomes = await together(
            *[
                talks.save(
                    acme.owner,
                    KEY,
                    [*read.messages, *said(f"{turn}.{n}")],
                    fence=0,
                    expected_digest=read.digest,
                )
                for n, talks in enumerate(several)
            ]
        )
        assert [type(each) for each in outcomes].count(Conversation) == 1
        assert len(await whole(several[0], acme)) == turn + 2


async def test_a_save_against_a_clear_is_cleared_or_refused(
    several: list[Conversations], acme: Tenant
) -> None:
    await begun(several[0], acme.owner, "old")
    for turn in range(ROUNDS):
        loaded = await several[0].load(acme.owner, KEY)
        saved, cleared = await together(
            several[1].save(acme.owner, KEY, said("old", f"{turn}"), fence=loaded.fence),
            several[2].clear(acme.owner, KEY),
        )
        assert isinstance(cleared, Conversation)
        assert isinstance(saved, Conversation | LateSave)
        assert await whole(several[0], acme) == []
        now = await several[0].load(acme.owner, KEY)
        assert now.fence == loaded.fence + 1
        await several[3].save(acme.owner, KEY, said("old"), fence=now.fence)


async def test_a_first_save_against_a_clear_is_cleared_or_refused_too(
    several: list[Conversations], acme: Tenant
) -> None:
    for turn in range(ROUNDS):
        key = ConversationKey(workflow_id=f"w{turn}")
        saved, _ = await together(
            several[1].save(acme.owner, key, said("late"), fence=0),
            several[2].clear(acme.owner, key),
        )
        assert isinstance(saved, Conversation | LateSave)
        assert await whole(several[0], acme, key) == []
        assert (await several[0].load(acme.owner, key)).fence == 1


@pytest.mark.parametrize("there", [True, False])
async def test_a_save_against_a_reset_recreates_nothing(
    several: list[Conversations], acme: Tenant, there: bool
) -> None:
    for turn in range(ROUNDS):
        keys = [
            ConversationKey(workflow_id=f"w{turn}", agent_id=agent)
            for agent in (None, acme.scout.id)
        ]
        if there:
            for key in keys:
                await several[0].save(acme.owner, key, said("old"), fence=0)
        *saves, reset = await together(
            *[
                talks.save(acme.owner, key, said("old", "late"), fence=0)
                for talks, key in zip(several[:2], keys, strict=True)
            ],
            several[2].append(acme.owner, keys[0], said("later")),
            several[3].resets.reset(acme.owner, f"w{turn}"),
        )
        assert reset.generation == 2
        assert all(isinstance(each, Conversation | OlderGeneration) for each in saves)
        listed = (await several[0].of_workflow(acme.owner, f"w{turn}")).items
        assert [each.length for each in listed] == [0] * len(listed)
        for key in keys:
            with pytest.raises(OlderGeneration):
                await several[0].load(acme.owner, key)
        new = keys[0].model_copy(update={"generation": 2})
        assert await whole(several[0], acme, new) == []


async def test_appends_against_saves_lose_no_turn_that_was_acknowledged_later(
    several: list[Conversations], acme: Tenant
) -> None:
    """A save replaces the list; whatever was appended after it is there, in whole turns."""
    await begun(several[0], acme.owner, "a")
    for turn in range(ROUNDS):
        base = await several[0].load(acme.owner, KEY)
        await together(
            several[0].save(acme.owner, KEY, [*base.messages, *said(f"s{turn}")], fence=0),
            several[1].append(acme.owner, KEY, said(f"x{turn}", f"y{turn}")),
            several[2].append(acme.owner, KEY, said(f"u{turn}", f"v{turn}")),
        )
        there = await whole(several[0], acme)
        before = len(base.messages)
        assert there[:before] == contents(base.messages)
        tail = "".join(each[0] for each in there[before:])
        assert tail in {"s", "sxy", "suv", "sxyuv", "suvxy"}, tail


async def test_resets_at_once_count_on_and_leave_one_generation(
    several: list[Conversations], acme: Tenant
) -> None:
    await begun(several[0], acme.owner, "a")
    resets = await together(
        *[talks.resets.reset(acme.owner, "support") for talks in several for _ in range(3)]
    )
    assert sorted(each.generation for each in resets) == list(range(2, 14))
    assert sum(each.conversations for each in resets) == 1


async def test_a_purge_against_saves_leaves_nothing_and_lets_none_come_back(
    several: list[Conversations], acme: Tenant
) -> None:
    for _ in range(ROUNDS):
        now = await several[0].load(acme.owner, KEY)
        saved = await several[0].save(acme.owner, KEY, said("a"), fence=now.fence)
        late, gone, appended = await together(
            several[1].save(acme.owner, KEY, said("a", "late"), fence=now.fence),
            several[2].resets.purge(acme.owner, saved.id),
            several[3].append(acme.owner, saved.id, said("b")),
        )
        assert gone.conversations == 1
        assert isinstance(late, Conversation | LateSave)
        assert isinstance(appended, Conversation | NotFound)
        assert await whole(several[0], acme) == []
        assert (await several[0].page(acme.owner)).items == []


async def test_organizations_go_their_own_ways_at_once(
    several: list[Conversations], storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    chance = random.Random(7)

    async def live(talks: Conversations, tenant: Tenant) -> None:
        for turn in range(ROUNDS):
            loaded = await talks.load(tenant.owner, KEY)
            await talks.save(
                tenant.owner, KEY, [*loaded.messages, *said(f"{turn}")], fence=loaded.fence
            )
            if chance.random() < 0.2:
                await talks.append(tenant.owner, KEY, said("more"))

    await asyncio.gather(live(several[0], acme), live(several[1], other))
    for tenant in (acme, other):
        assert [each for each in await texts(several[2], tenant.owner) if each != "more"] == [
            f"{turn}" for turn in range(ROUNDS)
        ]


async def test_what_others_do_never_shows_half_of_a_save(
    several: list[Conversations], acme: Tenant
) -> None:
    """Each list is of one letter: a reader sees one letter alone, as often as was said."""
    await begun(several[0], acme.owner, *["a"] * 30)
    done = asyncio.Event()

    async def write() -> None:
        for letter in "bcdefghijklm":
            await several[1].save(acme.owner, KEY, said(*[letter] * 30), fence=0)
        done.set()

    async def look() -> int:
        looked = 0
        while not done.is_set():
            seen = await whole(several[2], acme)
            assert len(seen) == 30
            assert len(set(seen)) == 1
            looked += 1
        return looked

    _, looked = await asyncio.gather(write(), look())
    assert looked


async def test_a_message_given_as_a_plain_value_is_the_one_that_is_kept(
    several: list[Conversations], acme: Tenant
) -> None:
    """What a caller does with its own lists afterwards changes nothing that is stored."""
    block: dict[str, Any] = {"type": "text", "text": "before"}
    message = Message(role="user", content=[block])
    saved = await several[0].save(acme.owner, KEY, [message], fence=0)
    block["text"] = "after"
    (there,) = await stored(several[1], acme.owner, saved.id)
    assert there.content == [{"type": "text", "text": "before"}]
