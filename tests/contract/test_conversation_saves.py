"""What a save promises on every database: the exact list, times that stay, and only what differs written."""

import asyncio
import json
import logging
import random
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import update

from memoranda.access.models import Principal
from memoranda.access.service import Access
from memoranda.app import Memoranda
from memoranda.conversations import preparing, store
from memoranda.conversations.caps import cap_results, chars_of
from memoranda.conversations.digests import chains, digest_of
from memoranda.conversations.errors import (
    ConversationLoadFailed,
    ConversationTooLarge,
    LateSave,
)
from memoranda.conversations.limits import ConversationLimits
from memoranda.conversations.models import (
    Conversation,
    ConversationChange,
    ConversationKey,
    LoadedConversation,
    Message,
)
from memoranda.conversations.rows import store as rows
from memoranda.conversations.seeding import seed
from memoranda.conversations.service import Conversations
from memoranda.conversations.sizes import total_bytes
from memoranda.conversations.wire.capabilities import CAPABILITIES
from memoranda.conversations.wire.requests import build_request
from memoranda.conversations.wire.valid import check_request
from memoranda.runs.events.service import Events
from memoranda.settings import Settings
from memoranda.storage import Storage, Transaction
from memoranda.storage.errors import StorageUnavailable
from memoranda.storage.tables import conversation_messages
from memoranda.words.cursor import make_cursor, read_cursor
from memoranda.words.errors import Conflict, Gone, Invalid, NotFound, OverLimit, ReadOnly, Refused
from memoranda.words.ids import new_id
from memoranda.words.subject import ContextSubject
from tests.contract.clocks import SteppedClock
from tests.contract.conversation_desk import KEY, begun, contents, kept, said, stored, texts
from tests.contract.talking_house import Scripted
from tests.contract.talking_house import turn as talked
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.test_conversations import counting
from tests.contract.traces import Scanner
from tests.conversations.wire.test_replay import USUAL, answered
from tests.conversations.wire.test_streams import STREAMS

EXACT: list[dict[str, Any]] = [
    {
        "type": "text",
        "text": "\u0000 is no text, but é, e\u0301, \U0001f9d1\u200d\U0001f680 and \u2028 are"[2:],
    },
    {"z": {"y": 1, "x": [1.0, -0.0, 1e300, 5e-324, 0.1, None, True, 10**300, -(2**1023)]}, "a": ""},
    {"type": "tool_call", "id": "c", "name": "f", "arguments": '{"b": 1,\n"a": \\u00e9, broken'},
]


@pytest.fixture
def talks(storage: Storage) -> Conversations:
    return Conversations(storage)


async def test_a_key_without_a_conversation_has_no_messages_and_is_no_error(
    talks: Conversations, acme: Tenant
) -> None:
    loaded = await talks.load(acme.owner, KEY)
    assert loaded == LoadedConversation(
        conversation=None, messages=[], fence=0, length=0, digest=""
    )
    assert (await talks.page(acme.owner)).items == []


async def test_what_is_saved_is_loaded_to_the_last_sign(talks: Conversations, acme: Tenant) -> None:
    given = [
        Message(role="system", content="be brief"),
        Message(role="user", content="\r\n \t"),
        Message(role="assistant", content=EXACT, metadata={"z": 1.0, "a": {"c": [], "b": 10**40}}),
        Message(role="tool", content=[{"type": "tool_result", "tool_call_id": "c", "content": ""}]),
        Message(role="developer", content="", pinned=True),
    ]
    saved = await talks.save(acme.owner, KEY, given, fence=0)
    loaded = await talks.load(acme.owner, KEY)
    assert repr(loaded.messages) == repr(given)
    assert (loaded.length, loaded.digest) == (saved.length, saved.digest)
    assert loaded.digest == list(chains(map(digest_of, given)))[-1]
    raw = await stored(talks, acme.owner, saved.id)
    assert repr([Message(**each.model_dump(exclude={"position", "ts"})) for each in raw]) == repr(
        given
    )


async def test_messages_that_were_there_keep_their_times_and_the_turn_gets_one(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    talks, acme = Conversations(timed_storage), await new_tenant(timed_storage)
    before = await begun(talks, acme.owner, "a", "b")
    clock.tick(timedelta(minutes=5))
    after = await begun(talks, acme.owner, "a", "b", "c")
    assert after[:2] == before
    assert after[2].ts == before[0].ts + timedelta(minutes=5)
    clock.tick(timedelta(minutes=5))
    again = await begun(talks, acme.owner, "a", "B", "c")
    assert (again[0], again[2]) == (after[0], after[2])
    assert again[1].ts == before[0].ts + timedelta(minutes=10)
    moved = await begun(talks, acme.owner, "first", "a", "B", "c")
    assert [each.ts for each in moved[1:]] == [each.ts for each in again]


async def test_a_pinned_message_stays_pinned_wherever_a_save_puts_it(
    talks: Conversations, acme: Tenant
) -> None:
    texts = [f"m{number}" for number in range(8)]
    for dice in map(random.Random, range(12)):
        made = await talks.create(acme.owner)
        await talks.append(acme.owner, made.id, said(*texts, "ok", "ok"))
        pinned = set(dice.sample(texts, 3))
        for each in await stored(talks, acme.owner, made.id):
            if each.content in pinned:
                await talks.compactions.pin(acme.owner, made.id, each.position)
        wanted = [*texts, "ok", "new", "newer"]
        dice.shuffle(wanted)
        await talks.save(acme.owner, made.id, said(*wanted), fence=0)
        there = await stored(talks, acme.owner, made.id)
        assert contents(there) == wanted
        assert {each.content for each in there if each.pinned} == pinned


async def test_pins_stay_where_a_message_stays_and_where_it_moves(
    talks: Conversations, acme: Tenant
) -> None:
    given = [*said("a"), Message(role="user", content="b", pinned=True), *said("c")]
    saved = await talks.save(acme.owner, KEY, given, fence=0)
    for later in (["a", "b", "c", "d"], ["x", "b", "c"], ["w", "x", "y", "b"]):
        await talks.save(acme.owner, KEY, said(*later), fence=0)
        there = await stored(talks, acme.owner, saved.id)
        assert {each.content for each in there if each.pinned} == {"b"}


async def test_a_save_that_goes_on_reads_nothing_of_what_was_said_and_writes_the_turn_alone(
    talks: Conversations, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[object] = []
    for name in ("one", "all", "plain", "run", "run_many", "send", "send_many"):
        monkeypatch.setattr(Transaction, name, counting(getattr(Transaction, name), counted))
    costs = []
    everything: list[Message] = []
    for turn in range(4):
        everything += said(*[f"{turn}.{n}" for n in range(50)])
        counted.clear()
        await talks.save(acme.owner, KEY, everything, fence=0)
        costs.append(list(counted))
    assert costs[1:] == [costs[1]] * 3
    assert costs[1][:2] == [rows.HOLD_KEY_WITHOUT_AGENT, rows.PLACE]
    assert not {rows.OUTLINE, rows.WHOLE_ROWS, store.ALL} & set(costs[1])


async def test_what_differs_is_replaced_in_its_place_and_the_rest_is_not_touched(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    before = await begun(talks, acme.owner, *"abcdef")
    after = await begun(talks, acme.owner, *"abXdef")
    assert contents(after) == [*"abXdef"]
    assert [each.position for each in after] == [each.position for each in before]
    assert await kept(storage, acme) == (6, 1)
    loaded = await talks.load(acme.owner, KEY)
    assert loaded.digest == list(chains(map(digest_of, said(*"abXdef"))))[-1]
    # The chain is right all along, so that the next turn is known to go on.
    longer = await begun(talks, acme.owner, *"abXdefg")
    assert longer[:6] == after
    assert await kept(storage, acme) == (7, 1)


@pytest.mark.parametrize(
    "lists",
    [
        ["abc", "ab", "abcd", ""],
        ["", "a", "", "b"],
        ["abcdef", "cdefgh", "efghij"],
        ["abab", "baba", "abab"],
        ["abc", "xabc", "xyabc", "c"],
        ["aaaa", "aa", "aaaaaa"],
    ],
)
async def test_any_list_may_follow_any_other(
    talks: Conversations, storage: Storage, acme: Tenant, lists: list[str]
) -> None:
    for each in lists:
        there = await begun(talks, acme.owner, *each)
        assert contents(there) == [*each]
        found = await talks.load(acme.owner, KEY)
        assert contents(found.messages) == [*each]
        chain = [*chains(map(digest_of, said(*each)))]
        assert (found.length, found.digest) == (len(each), chain[-1] if chain else "")
        organization = acme.owner.organization_id
        assert organization is not None
        outline = await storage.read(organization, rows.outline, there_id(found))
        assert [row.chain for row in outline] == chain
        assert found.conversation is not None
        assert found.conversation.bytes == sum(
            row.bytes for row in preparing.list_of(said(*each), 10**6)
        )


def there_id(found: LoadedConversation) -> UUID:
    assert found.conversation is not None
    return found.conversation.id


async def test_saving_what_is_there_changes_nothing_and_tells_nobody(
    talks: Conversations, acme: Tenant
) -> None:
    await begun(talks, acme.owner, "a", "b")
    told: list[ConversationChange] = []
    before = (await talks.load(acme.owner, KEY)).conversation
    talks.listen(told.append)
    assert await talks.save(acme.owner, KEY, said("a", "b"), fence=0) == before
    assert told == []


async def test_a_save_over_another_list_than_was_read_is_refused_where_that_is_asked_for(
    talks: Conversations, acme: Tenant
) -> None:
    await begun(talks, acme.owner, "a")
    before = await talks.load(acme.owner, KEY)
    await talks.append(acme.owner, KEY, said("b"))
    with pytest.raises(Conflict) as refused:
        await talks.save(
            acme.owner, KEY, said("a", "c"), fence=before.fence, expected_digest=before.digest
        )
    assert refused.value.details["length"] == 2
    now = await talks.load(acme.owner, KEY)
    assert contents(now.messages) == ["a", "b"]
    await talks.save(acme.owner, KEY, said("a", "c"), fence=0, expected_digest=now.digest)
    assert await texts(talks, acme.owner) == ["a", "c"]


async def test_a_turn_is_appended_to_a_key_that_has_no_conversation_yet(
    talks: Conversations, acme: Tenant
) -> None:
    key = KEY.model_copy(update={"agent_id": acme.scout.id})
    made = await talks.append(acme.owner, key, said("a"), expected_length=0, user_id=acme.anna.id)
    assert (made.agent_id, made.user_id, made.length) == (acme.scout.id, acme.anna.id, 1)
    assert (await talks.append(acme.owner, key, said("b"), fence=0)).id == made.id
    with pytest.raises(Conflict):
        await talks.append(acme.owner, key, said("c"), expected_length=1)
    with pytest.raises(LateSave):
        await talks.append(acme.owner, key, said("c"), fence=1)
    assert await texts(talks, acme.owner, key) == ["a", "b"]


async def test_every_agent_and_generation_has_a_list_of_its_own(
    talks: Conversations, acme: Tenant
) -> None:
    keys = [
        ConversationKey(workflow_id=workflow, agent_id=agent)
        for workflow in ("support", "sales")
        for agent in (None, acme.scout.id, acme.clerk.id)
    ]
    for number, key in enumerate(keys):
        await talks.save(acme.owner, key, said(f"{number}"), fence=0)
    for number, key in enumerate(keys):
        assert await texts(talks, acme.owner, key) == [f"{number}"]
    await talks.resets.reset(acme.owner, "support")
    again = [key.model_copy(update={"generation": 2}) for key in keys[:3]]
    for key in again:
        assert await texts(talks, acme.owner, key) == []
        await talks.save(acme.owner, key, said("anew"), fence=0)
    assert [await texts(talks, acme.owner, key) for key in again] == [["anew"]] * 3
    assert await texts(talks, acme.owner, keys[3]) == ["3"]
    listed = (await talks.of_workflow(acme.owner, "support")).items
    assert [each.generation for each in listed] == [2, 2, 2, 1, 1, 1]
    assert {each.workflow_id for each in listed} == {"support"}
    found: list[Conversation] = []
    cursor = None
    while True:
        page = await talks.of_workflow(acme.owner, "support", limit=2, cursor=cursor)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == listed


async def test_a_conversation_over_its_bytes_is_refused_when_it_grows_and_when_it_is_loaded(
    storage: Storage, acme: Tenant
) -> None:
    small = Conversations(storage, limits=ConversationLimits(max_bytes=1_000))
    large = Conversations(storage)
    saved = await small.save(acme.owner, KEY, said("x" * 900), fence=0)
    for attempt in (
        small.save(acme.owner, KEY, said("x" * 1_100), fence=0),
        small.append(acme.owner, saved.id, said("x" * 100)),
        small.save(acme.owner, KEY, said("x" * 900, "x" * 100), fence=0),
    ):
        with pytest.raises(ConversationTooLarge) as refused:
            await attempt
        assert refused.value.details["limit"] == 1_000
        assert not refused.value.retryable
    assert (await small.load(acme.owner, KEY)).length == 1
    await large.append(acme.owner, saved.id, said("x" * 100))
    with pytest.raises(ConversationTooLarge):
        await small.load(acme.owner, KEY)
    assert (await large.load(acme.owner, KEY)).length == 2
    # What is replaced by less makes room again.
    await small.save(acme.owner, KEY, said("x"), fence=0)
    assert (await small.load(acme.owner, KEY)).length == 1


async def test_a_load_that_fails_is_loud_and_may_be_tried_again(
    talks: Conversations, storage: Storage, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = await begun(talks, acme.owner, "a")

    def break_row(tx: Transaction) -> None:
        m = conversation_messages
        tx.run(update(m).values(content='"half').where(m.c.position == first.position))

    await storage.write(acme.owner.organization_id, break_row)
    with pytest.raises(ConversationLoadFailed) as failed:
        await talks.load(acme.owner, KEY)
    assert failed.value.retryable
    assert "half" not in f"{failed.value.message}{failed.value.details}"

    async def away(*_: object) -> None:
        raise StorageUnavailable("nothing answers")

    monkeypatch.setattr(storage, "read", away)
    with pytest.raises(ConversationLoadFailed):
        await talks.load(acme.owner, KEY)


async def test_a_save_that_fails_after_a_paid_call_warns_without_a_word_of_it_and_goes_on(
    talks: Conversations, acme: Tenant, caplog: pytest.LogCaptureFixture
) -> None:
    recorded = await talks.record(acme.owner, KEY, said("a"), fence=0)
    assert recorded is not None
    assert recorded.length == 1
    with caplog.at_level(logging.WARNING):
        assert await talks.record(acme.owner, KEY, said("secret"), fence=3) is None
        assert await talks.record(acme.owner, KEY, said("secret\0"), fence=0) is None
    assert [each.levelname for each in caplog.records] == ["WARNING", "WARNING"]
    assert "late_save" in caplog.text
    assert "secret" not in caplog.text
    assert await texts(talks, acme.owner) == ["a"]


@pytest.mark.parametrize("error", [RuntimeError, asyncio.CancelledError, TimeoutError])
async def test_whatever_a_listener_raises_the_change_is_answered_and_the_others_are_told(
    talks: Conversations, acme: Tenant, error: type[BaseException]
) -> None:
    told: list[ConversationChange] = []

    def fails(_: ConversationChange) -> None:
        raise error

    talks.listen(fails)
    talks.listen(told.append)
    await begun(talks, acme.owner, "a")
    assert await talks.clear(acme.owner, KEY) is not None
    assert [each.action for each in told] == ["saved", "cleared"]


async def test_a_listener_that_would_have_to_be_awaited_or_can_not_be_called_is_refused(
    talks: Conversations,
) -> None:
    class Waits:
        async def __call__(self, _: ConversationChange) -> None:
            """Never called."""

    async def waits(_: ConversationChange) -> None:
        """Never called."""

    refused: list[Any] = [waits, Waits(), Waits().__call__, partial(waits), None, 5]
    for each in refused:
        with pytest.raises(Invalid) as error:
            talks.listen(each)
        assert error.value.details["field"] == "listener"


async def test_listeners_hear_of_each_commit_once_and_one_that_fails_harms_nobody(
    storage: Storage, acme: Tenant, caplog: pytest.LogCaptureFixture
) -> None:
    talks = Conversations(storage)
    told: list[tuple[str, int]] = []

    def fails(_: ConversationChange) -> None:
        raise RuntimeError("no")

    talks.listen(fails)
    end = talks.listen(lambda change: told.append((change.action, change.conversation.length)))
    await talks.save(acme.owner, KEY, said("a"), fence=0)
    await talks.append(acme.owner, KEY, said("b"))
    with pytest.raises(LateSave):
        await talks.save(acme.owner, KEY, said("x"), fence=7)
    await talks.clear(acme.owner, KEY)
    end()
    end()
    await talks.append(acme.owner, KEY, said("c"))
    assert told == [("saved", 1), ("appended", 2), ("cleared", 0)]
    assert "RuntimeError" in caplog.text


async def test_followers_are_told_of_changes_and_of_no_word_that_was_said(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    await begun(talks, acme.owner, "secret")
    await talks.append(acme.owner, KEY, said("secret too"))
    await talks.clear(acme.owner, KEY)
    page = await Events(storage).page(acme.owner, 0)
    ours = [each for each in page.items if each.type == "conversation.updated"]
    assert [(each.metadata["action"], each.metadata["length"]) for each in ours] == [
        ("saved", 1),
        ("appended", 2),
        ("cleared", 0),
    ]
    assert "secret" not in repr(page)
    assert "support" not in repr(page)


async def test_a_change_is_told_to_those_alone_who_may_read_the_conversation(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    scout, anna = acme.key_of(acme.scout), acme.member(acme.anna)
    await talks.save(scout, KEY, said("of no user"), fence=0)
    await talks.save(anna, KEY, said("mine"), fence=0)

    async def heard(who: Principal) -> int:
        page = await Events(storage).page(who, 0)
        return len([each for each in page.items if each.type == "conversation.updated"])

    everybody = (acme.owner, acme.reader, anna, acme.member(acme.ben), scout)
    assert [await heard(who) for who in everybody] == [2, 2, 1, 0, 1]


async def test_what_was_the_last_at_a_past_time_stays_so_whatever_is_saved_since(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    talks, acme = Conversations(timed_storage), await new_tenant(timed_storage)
    subject = ContextSubject(organization_id=acme.owner.organization_id)
    lists = ["abc", "abcd", "aXcd", "aXc", "zaXc", "cX", "", "new"]
    then = []
    for each in lists:
        await begun(talks, acme.owner, *each)
        then.append(clock.now)
        clock.tick(timedelta(minutes=1))
        (made,) = (await talks.page(acme.owner)).items
        for before, at in zip(lists, then, strict=False):
            found = await talks.recent(subject, made.id, 9, as_of=at)
            assert contents(found) == [*reversed(before)]
    (made,) = (await talks.page(acme.owner)).items
    for each, at in zip(lists, then, strict=True):
        for most in (1, 2, 9):
            for time in (at, at + timedelta(seconds=59)):
                found = await talks.recent(subject, made.id, most, as_of=time)
                assert contents(found) == [*reversed(each)][:most], (each, most)
    assert await talks.recent(subject, made.id, 9, as_of=then[0] - timedelta(seconds=1)) == []


async def test_what_was_replaced_is_forgotten_after_thirty_days_and_then_nobody_is_told_wrong(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    talks, acme = Conversations(timed_storage), await new_tenant(timed_storage)
    other = await new_tenant(timed_storage, "Other")
    organization = acme.owner.organization_id
    assert organization is not None
    subject = ContextSubject(organization_id=organization)
    for tenant in (acme, other):
        await begun(talks, tenant.owner, "a", "b")
    first = clock.now
    clock.tick(timedelta(days=1))
    for tenant in (acme, other):
        await begun(talks, tenant.owner, "a", "x")
    replaced = clock.now
    clock.tick(timedelta(days=29))
    assert await talks.prune(organization) == 0
    (made,) = (await talks.page(acme.owner)).items
    assert contents(await talks.recent(subject, made.id, 5, as_of=first)) == ["b", "a"]
    clock.tick(timedelta(days=1))
    assert await talks.prune(organization) == 1
    assert await talks.prune(organization) == 0
    assert await kept(timed_storage, acme) == (2, 0)
    assert await kept(timed_storage, other) == (2, 1)
    with pytest.raises(Gone):
        await talks.recent(subject, made.id, 5, as_of=first)
    assert contents(await talks.recent(subject, made.id, 5, as_of=replaced)) == ["x", "a"]


async def test_what_was_replaced_takes_no_more_room_than_a_conversation_may(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    limits = ConversationLimits(max_bytes=2_000)
    talks, acme = Conversations(timed_storage, limits=limits), await new_tenant(timed_storage)
    subject = ContextSubject(organization_id=acme.owner.organization_id)
    other = ConversationKey(workflow_id="other")
    await begun(talks, acme.owner, "a" * 100, key=other)
    await begun(talks, acme.owner, "b" * 100, key=other)
    then = []
    for number in range(12):
        await begun(talks, acme.owner, *[f"{number}" * 200] * 2)
        then.append(clock.now)
        clock.tick(timedelta(minutes=1))
    _, archived = await kept(timed_storage, acme)
    assert 2 <= archived <= 9, "1 of the other conversation, and at most 2,000 bytes of this one"
    (made,) = (await talks.of_workflow(acme.owner, "support")).items
    told = []
    for number, at in enumerate(then):
        try:
            found = await talks.recent(subject, made.id, 9, as_of=at)
        except Gone:
            continue
        assert contents(found) == [f"{number}" * 200] * 2
        told.append(number)
    assert told == list(range(told[0], 12))
    assert 0 < told[0] < 11


async def test_texts_that_were_replaced_are_still_found_where_a_memory_is_erased(
    talks: Conversations, acme: Tenant
) -> None:
    organization = acme.owner.organization_id
    assert organization is not None
    await talks.save(acme.owner, KEY, said("we never ship on fridays"), fence=0)
    await talks.save(acme.owner, KEY, said("nothing"), fence=0)
    noted = ConversationKey(workflow_id="noted")
    about = Message(role="user", content="x", metadata={"note": "We never SHIP on fridays"})
    await talks.save(acme.owner, noted, [about], fence=0)
    await talks.save(acme.owner, ConversationKey(workflow_id="else"), said("ship"), fence=0)
    found = await talks.quoting(organization, ["never ship on Fridays"])
    expected = {(await talks.load(acme.owner, key)).conversation for key in (KEY, noted)}
    assert set(found) == {each.id for each in expected if each is not None}


async def test_another_organizations_key_and_list_are_its_own(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    await begun(talks, acme.owner, "ours")
    (made,) = (await talks.page(acme.owner)).items
    assert (await talks.load(other.owner, KEY)).messages == []
    for attempt in (
        talks.load(other.owner, made.id),
        talks.save(other.owner, made.id, said("x"), fence=0),
        talks.append(other.owner, made.id, said("x")),
        talks.clear(other.owner, made.id),
        talks.save(
            other.owner, KEY.model_copy(update={"agent_id": acme.scout.id}), said("x"), fence=0
        ),
        talks.save(other.owner, KEY, said("x"), fence=0, user_id=acme.anna.id),
    ):
        with pytest.raises(NotFound):
            await attempt
    await begun(talks, other.owner, "theirs")
    await talks.clear(other.owner, KEY)
    assert await texts(talks, acme.owner) == ["ours"]


async def test_each_caller_reaches_its_own_conversations_alone(
    talks: Conversations, acme: Tenant
) -> None:
    anna, ben = acme.member(acme.anna), acme.member(acme.ben)
    scout = acme.key_of(acme.scout)
    saved = await talks.save(anna, KEY, said("mine"), fence=0)
    assert saved.user_id == acme.anna.id
    for who in (ben, acme.key_of(acme.clerk)):
        for attempt in (
            talks.load(who, saved.id),
            talks.save(who, saved.id, said("x"), fence=0),
            talks.append(who, saved.id, said("x")),
            talks.clear(who, saved.id),
        ):
            with pytest.raises(NotFound):
                await attempt
    for attempt in (
        talks.load(ben, KEY),
        talks.save(ben, KEY, said("x"), fence=0),
        talks.clear(ben, KEY),
    ):
        with pytest.raises(NotFound) as refused:
            await attempt
        assert str(saved.id) not in f"{refused.value.message}{refused.value.details}"
    own = await talks.save(scout, KEY, said("its own"), fence=0)
    assert own.agent_id == acme.scout.id
    assert (await talks.of_workflow(scout, "support")).items == [own]
    assert (await talks.of_workflow(anna, "support")).items == [saved]
    with pytest.raises(Refused):
        await talks.load(scout, KEY.model_copy(update={"agent_id": acme.clerk.id}))
    with pytest.raises(ReadOnly):
        await talks.save(acme.reader, KEY, said("x"), fence=0)
    assert contents((await talks.load(acme.reader, KEY)).messages) == ["mine"]
    assert contents((await talks.load(anna, KEY)).messages) == ["mine"]


async def test_what_cannot_be_kept_is_refused_at_its_place_and_nothing_is_saved(
    talks: Conversations, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begun(talks, acme.owner, "a")
    odd = Message(role="user", content="b", metadata={"x": ["\ud800"]})
    with pytest.raises(Invalid) as refused:
        await talks.save(acme.owner, KEY, [*said("a"), odd], fence=0)
    assert refused.value.details["field"] == "messages.1.metadata.x.0"
    for fence in (-1, 2**40):
        with pytest.raises(Invalid):
            await talks.save(acme.owner, KEY, said("a"), fence=fence)
    with pytest.raises(Invalid):
        await talks.load(acme.owner, ConversationKey(workflow_id=" "))
    monkeypatch.setattr(preparing, "MOST_SAVED", 2)
    with pytest.raises(Invalid):
        await talks.save(acme.owner, KEY, said("a", "b", "c"), fence=0)
    for who in (talks.load(acme.owner, new_id()), talks.clear(acme.owner, new_id())):
        with pytest.raises(NotFound):
            await who
    assert await texts(talks, acme.owner) == ["a"]


async def test_a_call_that_broke_off_is_answered_when_it_is_loaded_and_not_in_what_is_stored(
    talks: Conversations, acme: Tenant
) -> None:
    call = {"type": "tool_call", "id": "c1", "name": "find", "arguments": "{"}
    given = [*said("do it"), Message(role="assistant", content=[call])]
    saved = await talks.save(acme.owner, KEY, given, fence=0)
    loaded = await talks.load(acme.owner, KEY)
    assert [each.role for each in loaded.messages] == ["user", "assistant", "tool"]
    assert (loaded.length, len(await stored(talks, acme.owner, saved.id))) == (2, 2)
    # What the run sends then is saved as it was sent.
    sent = [*loaded.messages, *said("go on")]
    await talks.save(acme.owner, KEY, sent, fence=loaded.fence)
    assert (await talks.load(acme.owner, KEY)).messages == sent


@pytest.mark.parametrize("workflow_id", ["", " ", "a\0b", "a\ud800b", "x" * 100_000])
async def test_a_workflow_that_can_not_be_named_is_refused_in_a_list_as_everywhere(
    talks: Conversations, acme: Tenant, workflow_id: str
) -> None:
    key = ConversationKey(workflow_id=workflow_id)
    for attempt in (
        talks.of_workflow(acme.owner, workflow_id),
        talks.load(acme.owner, key),
        talks.save(acme.owner, key, [], fence=0),
        talks.clear(acme.owner, key),
        talks.resets.reset(acme.owner, workflow_id),
        talks.resets.purge_workflow(acme.owner, workflow_id),
        talks.usage.of_workflow(acme.owner, workflow_id),
    ):
        with pytest.raises((Invalid, OverLimit)) as refused:
            await attempt
        assert refused.value.details["field"] == "workflow_id"


async def test_the_pages_of_a_workflow_are_full_and_name_nothing_that_is_not_seen(
    storage: Storage, talks: Conversations, acme: Tenant
) -> None:
    access, made = Access(storage), []
    for number in range(12):
        agent = await access.create_agent(acme.owner, f"agent-{number}")
        user = acme.ben if number % 3 == 1 else acme.anna
        made.append(
            await talks.create(acme.owner, workflow_id="w", user_id=user.id, agent_id=agent.id)
        )
    annas = [each.id for each in reversed(made) if each.user_id == acme.anna.id]
    anna, found, cursor = acme.member(acme.anna), [], None
    while True:
        page = await talks.of_workflow(anna, "w", limit=3, cursor=cursor)
        found += [each.id for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
        assert len(page.items) == 3
        assert str(read_cursor("conversations of a workflow", cursor)) in map(str, annas)
    assert found == annas
    bens = next(each.id for each in made if each.user_id == acme.ben.id)
    foreign = make_cursor("conversations of a workflow", bens)
    with pytest.raises(Invalid):
        await talks.of_workflow(acme.member(acme.anna), "w", cursor=foreign)


# --- what a run sends --------------------------------------------------------------------------


def requests_of(messages: list[Message]) -> dict[str, str]:
    """The next request to each provider, to the byte."""
    return {each: json.dumps(build_request(each, messages)) for each in CAPABILITIES}


@pytest.mark.parametrize(("provider", "answer", "_types"), USUAL, ids=[row[0] for row in USUAL])
async def test_after_a_restart_the_next_request_is_the_very_same(
    database_url: str, provider: str, answer: list[Message], _types: list[str]
) -> None:
    sent = [*answered(answer), *said("go on")]
    before = requests_of(sent)
    async with Memoranda.open(database_url) as memoranda:
        who = memoranda.owner
        await memoranda.conversations.save(who, KEY, sent, fence=0)
    for _ in range(2):
        async with Memoranda.open(database_url) as memoranda:
            loaded = await memoranda.conversations.load(who, KEY)
            again = await memoranda.conversations.load(who, KEY)
        assert requests_of(loaded.messages) == requests_of(again.messages) == before, provider


@pytest.mark.parametrize("provider", STREAMS)
async def test_a_turn_that_was_stopped_anywhere_is_kept_and_the_next_turn_works(
    talks: Conversations, acme: Tenant, provider: str
) -> None:
    events, read = STREAMS[provider]
    for place in range(0, len(events) - 2, 2):
        answer = read(events[:place])
        key = ConversationKey(workflow_id=f"stopped {place}")
        saved = await talks.save(acme.owner, key, [*said("ask"), *answer], fence=0)
        there = await stored(talks, acme.owner, saved.id)
        assert [each.content for each in there] == ["ask", *(each.content for each in answer)]
        assert there[-1].metadata == answer[-1].metadata
        assert there[-1].metadata["stopped"] is True
        loaded = await talks.load(acme.owner, key)
        sent = seed("be brief", loaded.messages, "go on")
        for each in CAPABILITIES:
            assert check_request(each, build_request(each, sent)) == [], (place, each)
        await talks.save(
            acme.owner, key, [*sent, *said("done", role="assistant")], fence=loaded.fence
        )
        assert (await texts(talks, acme.owner, key))[-2:] == ["go on", "done"]


async def test_keeping_what_is_said_changes_nothing_that_is_sent(
    talks: Conversations, acme: Tenant
) -> None:
    async def run(*, keeps: bool) -> list[dict[str, str]]:
        sent, messages = [], seed("be brief", [], "ask")
        for number in range(4):
            sent.append(requests_of(messages))
            messages += talked(number)[1:]
            if keeps:
                assert await talks.record(acme.owner, KEY, messages, fence=0)
                assert await talks.record(acme.owner, KEY, messages, fence=9) is None
            messages += said(f"ask {number}")
        return sent

    assert await run(keeps=True) == await run(keeps=False)


async def test_what_a_load_gives_keeps_to_the_settings_and_what_is_stored_stays(
    database_url: str,
) -> None:
    settings = Settings.load(
        embedder="none", tool_result_chars=1_000, seed_bytes=60_000, conversation_max_bytes=150_000
    )
    given = [each for number in range(20) for each in talked(number, size=900)]
    given += talked(30, size=3_000)
    given[2] = talked(0, size=25_000)[2]
    assert total_bytes(cap_results(given, 1_000)) > 60_000, "old results have to make room too"
    async with Memoranda.open(database_url, settings=settings) as memoranda:
        talks, who = memoranda.conversations, memoranda.owner
        saved = await talks.save(who, KEY, given, fence=0)
        loaded = (await talks.load(who, KEY)).messages
        assert total_bytes(loaded) <= 60_000
        results = [
            chars_of(block)
            for each in loaded
            for block in each.content
            if isinstance(block, dict) and block["type"] == "tool_result"
        ]
        assert max(results) == 1_000
        assert contents(await stored(talks, who, saved.id)) == contents(given)
        with pytest.raises(ConversationTooLarge) as refused:
            await talks.save(who, KEY, [*given, *said("x" * 60_000)], fence=0)
        assert refused.value.details["limit"] == 150_000


# --- who hears of it ---------------------------------------------------------------------------


async def test_listeners_see_what_is_committed_and_hear_of_nothing_that_came_to_no_commit(
    talks: Conversations, acme: Tenant, scanner: Scanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    there: list[bool] = []

    def look(change: ConversationChange) -> None:
        found = scanner.rows()["conversation_messages"]
        there.append(any(f"turn {change.conversation.length}" in row for row in found))

    talks.listen(look)
    saved = await talks.save(acme.owner, KEY, said("turn 1"), fence=0)
    await talks.append(acme.owner, KEY, said("turn 2"))
    assert there == [True, True]

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(rows, "changed", broken)
    for attempt in (
        talks.create(acme.owner),
        talks.save(acme.owner, KEY, said("turn 1", "other"), fence=0),
        talks.append(acme.owner, KEY, said("turn 3")),
        talks.clear(acme.owner, KEY),
        talks.resets.reset(acme.owner, "support"),
        talks.resets.purge(acme.owner, saved.id),
        talks.resets.purge_workflow(acme.owner, "support"),
    ):
        with pytest.raises(ZeroDivisionError):
            await attempt
    assert there == [True, True]
    assert await texts(talks, acme.owner) == ["turn 1", "turn 2"]


async def test_no_word_that_was_said_is_in_any_log(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails() -> None:
        raise RuntimeError("secret of the summarizer")

    def listens(_: ConversationChange) -> None:
        raise ValueError("no")

    settings = Settings.load(embedder="none", conversation_max_bytes=9_000)
    with caplog.at_level(logging.DEBUG):
        async with Memoranda.open(database_url, settings=settings) as memoranda:
            talks, who = memoranda.conversations, memoranda.owner
            talks.listen(listens)
            saved = await talks.save(who, KEY, said("secret", "and secret"), fence=0)
            await talks.append(who, KEY, said("secret answer", role="assistant"))
            await talks.append(who, KEY, said("a secret more"))
            await talks.save(who, KEY, said("secret " * 300, "secret anew", "secret"), fence=0)
            assert await talks.record(who, KEY, said("secret"), fence=3) is None
            assert await talks.record(who, KEY, said("secret\0"), fence=0) is None
            assert await talks.record(who, KEY, said("secret" * 2_000), fence=0) is None
            await memoranda.worker.drain()
            talks.compactions.use(Scripted(meanwhile=fails))
            assert (await talks.compactions.compact(who, saved.id)).status == "failed"

            def break_row(tx: Transaction) -> None:
                m = conversation_messages
                tx.run(update(m).values(content='"secret'))

            await memoranda.storage.write(who.organization_id, break_row)
            with pytest.raises(ConversationLoadFailed):
                await talks.load(who, KEY)
            await talks.resets.reset(who, "support")
            await talks.resets.purge(who, saved.id)
    assert "ValueError" in caplog.text
    assert "secret" not in caplog.text
