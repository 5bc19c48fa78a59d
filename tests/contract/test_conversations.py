"""What conversations promise on every database: exact content, linear appends, one organization apart from another."""

import asyncio
from itertools import pairwise

import pytest

from memoranda.conversations import preparing
from memoranda.conversations.finding import store as index
from memoranda.conversations.models import Conversation, Message
from memoranda.conversations.preparing import turn_of
from memoranda.conversations.rows import store as rows
from memoranda.conversations.service import Conversations
from memoranda.runs.events.store import INSERT, NEXT_NUMBER
from memoranda.storage import ConstraintViolated, Storage, Transaction
from memoranda.storage.signals import RAISE
from memoranda.words.errors import Conflict, Invalid, NotFound, OverLimit, ReadOnly, Refused
from memoranda.words.subject import ContextSubject
from tests.contract.tenants import Tenant, new_tenant


@pytest.fixture
def talks(storage: Storage) -> Conversations:
    return Conversations(storage)


def said(*texts: str, role: str = "user") -> list[Message]:
    return [Message.model_validate({"role": role, "content": text}) for text in texts]


BLOCKS = [
    {"type": "text", "text": "line\u2028## not a heading"},
    {"type": "tool_call", "id": "c1", "name": "find", "arguments": '{"z": 1, "a": '},
    {"z": {"y": 1, "x": [1.0, -0.0, None, True, 10**30]}, "a": "keys keep their order"},
]


async def test_messages_come_back_exactly_and_in_order(talks: Conversations, acme: Tenant) -> None:
    made = await talks.create(acme.owner)
    await talks.append(acme.owner, made.id, said("hello"))
    longer = await talks.append(
        acme.owner, made.id, [Message(role="assistant", content=BLOCKS), *said("", role="tool")]
    )
    assert longer.length == 3
    stored = await talks.messages(acme.owner, made.id)
    assert [(each.position, each.role) for each in stored] == [
        (1, "user"),
        (2, "assistant"),
        (3, "tool"),
    ]
    assert repr([each.content for each in stored]) == repr(["hello", BLOCKS, ""])
    assert all(one.ts <= other.ts for one, other in pairwise(stored))
    assert (await talks.get(acme.owner, made.id)) == longer


async def test_a_new_conversation_has_no_messages(talks: Conversations, acme: Tenant) -> None:
    made = await talks.create(acme.owner, agent_id=acme.scout.id, user_id=acme.anna.id)
    assert (made.length, await talks.messages(acme.owner, made.id)) == (0, [])


async def test_an_append_on_an_older_length_is_refused_with_the_present_one(
    talks: Conversations, acme: Tenant
) -> None:
    made = await talks.create(acme.owner)
    await talks.append(acme.owner, made.id, said("one", "two"), expected_length=0)
    for stale in (0, 1, 3):
        with pytest.raises(Conflict) as refused:
            await talks.append(acme.owner, made.id, said("late"), expected_length=stale)
        assert refused.value.details["length"] == 2
    assert [each.content for each in await talks.messages(acme.owner, made.id)] == ["one", "two"]
    assert (await talks.append(acme.owner, made.id, said("three"), expected_length=2)).length == 3


async def test_of_writers_who_expect_one_length_exactly_one_appends(
    talks: Conversations, acme: Tenant
) -> None:
    made = await talks.create(acme.owner)
    outcomes = await asyncio.gather(
        *[
            talks.append(acme.owner, made.id, said(f"{n}a", f"{n}b"), expected_length=0)
            for n in range(8)
        ],
        return_exceptions=True,
    )
    assert [type(each) for each in outcomes].count(Conversation) == 1
    assert all(isinstance(each, Conversation | Conflict) for each in outcomes)
    assert len(await talks.messages(acme.owner, made.id)) == 2


async def test_eight_writers_append_whole_turns_and_lose_none(
    talks: Conversations, storage: Storage, database_url: str, acme: Tenant
) -> None:
    made = await talks.create(acme.owner)
    opened = [await Storage.open(database_url) for _ in range(8)]

    async def write(number: int, each: Storage) -> None:
        for turn in range(8):
            await Conversations(each).append(
                acme.owner, made.id, said(f"{number}.{turn} asks", f"{number}.{turn} hears")
            )

    await asyncio.gather(*[write(n, each) for n, each in enumerate(opened)])
    for each in opened:
        await each.close()
    stored = await talks.messages(acme.owner, made.id, limit=1000)
    assert [each.position for each in stored] == list(range(1, 129))
    asked, heard = stored[::2], stored[1::2]
    assert [str(each.content).split()[0] for each in asked] == [
        str(each.content).split()[0] for each in heard
    ]
    assert len({each.content for each in stored if isinstance(each.content, str)}) == 128


def counting(plain, counted: list[object]):
    def run(self, statement, *args, **values):
        counted.append(statement)
        return plain(self, statement, *args, **values)

    return run


async def test_an_append_runs_as_many_statements_however_long_the_conversation(
    talks: Conversations, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[object] = []
    for name in ("one", "all", "run", "run_many", "send", "send_many"):
        monkeypatch.setattr(Transaction, name, counting(getattr(Transaction, name), counted))
    made = await talks.create(acme.owner)
    costs = []
    for _ in range(5):
        counted.clear()
        await talks.append(acme.owner, made.id, said("x") * 50)
        costs.append(list(counted))
    # The conversation, its turn, what waits to be found, and the event; nothing is read of what was said before.
    turn = [rows.HOLD, rows.PLACE, rows.SETTLE, index.MARK, RAISE, NEXT_NUMBER, INSERT]
    assert costs == [turn] * 5


async def test_messages_are_read_from_a_position_on_and_the_latest_first(
    talks: Conversations, acme: Tenant
) -> None:
    made = await talks.create(acme.owner, user_id=acme.anna.id)
    await talks.append(acme.owner, made.id, said(*"abcdef"))
    part = await talks.messages(acme.owner, made.id, after=2, limit=3)
    assert [each.content for each in part] == ["c", "d", "e"]
    for after, limit, more in ((2, 3, 5), (2, 4, None), (2, 9, None), (6, 1, None), (5, 1, None)):
        page = await talks.message_page(acme.owner, made.id, after=after, limit=limit)
        assert page.next_after == more
        assert [each.position for each in page.items] == [*range(after + 1, 7)][:limit]
    subject = ContextSubject(organization_id=acme.owner.organization_id, user_id=acme.anna.id)
    assert [each.content for each in await talks.recent(subject, made.id, 2)] == ["f", "e"]
    assert await talks.recent(subject, made.id, 0) == []
    for wrong in ({"limit": 0}, {"limit": 1001}, {"after": -1}, {"after": 2**40}):
        with pytest.raises(Invalid):
            await talks.messages(acme.owner, made.id, **wrong)


async def test_a_workflows_generation_has_one_conversation_with_an_agent(
    talks: Conversations, acme: Tenant
) -> None:
    for agent in (acme.scout.id, None):
        made = await talks.create(acme.owner, workflow_id="onboarding", agent_id=agent)
        with pytest.raises(Conflict) as refused:
            await talks.create(acme.owner, workflow_id="onboarding", agent_id=agent)
        assert refused.value.details["conversation_id"] == str(made.id)
    await talks.resets.reset(acme.owner, "onboarding")
    for agent in (acme.scout.id, None, acme.clerk.id):
        await talks.create(acme.owner, workflow_id="onboarding", agent_id=agent, generation=2)
    unnamed = [await talks.create(acme.owner) for _ in range(2)]
    assert unnamed[0].id != unnamed[1].id


async def test_a_taken_key_does_not_tell_a_member_whose_conversation_it_is(
    talks: Conversations, acme: Tenant
) -> None:
    await talks.create(acme.member(acme.anna), workflow_id="chat")
    with pytest.raises(Conflict) as refused:
        await talks.create(acme.member(acme.ben), workflow_id="chat")
    assert refused.value.details == {}


async def test_each_caller_sees_its_own_conversations_alone(
    talks: Conversations, acme: Tenant
) -> None:
    anna, ben = acme.member(acme.anna), acme.member(acme.ben)
    annas = await talks.create(anna)
    scouts = await talks.create(acme.key_of(acme.scout))
    both = await talks.create(acme.owner, agent_id=acme.scout.id, user_id=acme.anna.id)

    async def seen(who) -> list:
        return [each.id for each in (await talks.page(who)).items]

    assert await seen(acme.owner) == [both.id, scouts.id, annas.id]
    assert await seen(acme.reader) == [both.id, scouts.id, annas.id]
    assert await seen(anna) == [both.id, annas.id]
    assert await seen(ben) == []
    assert await seen(acme.key_of(acme.scout)) == [scouts.id]
    assert await seen(acme.key_of(acme.scout, acme.anna)) == [both.id]
    for who, foreign in ((ben, annas), (acme.key_of(acme.clerk), scouts), (anna, scouts)):
        for attempt in (
            talks.get(who, foreign.id),
            talks.messages(who, foreign.id),
            talks.append(who, foreign.id, said("hi")),
            talks.append(who, foreign.id, said("hi"), expected_length=9),
        ):
            with pytest.raises(NotFound):
                await attempt
        assert (await talks.get(acme.owner, foreign.id)).length == 0
    with pytest.raises(ReadOnly):
        await talks.append(acme.reader, annas.id, said("hi"))
    with pytest.raises(Refused):
        await talks.create(anna, user_id=acme.ben.id)


async def test_a_subject_reads_only_a_conversation_that_it_is_part_of(
    talks: Conversations, acme: Tenant
) -> None:
    made = await talks.create(acme.owner, agent_id=acme.scout.id, user_id=acme.anna.id)
    await talks.append(acme.owner, made.id, said("secret"))

    def subject(user=None, agent=None) -> ContextSubject:
        return ContextSubject(
            organization_id=acme.owner.organization_id,
            user_id=user and user.id,
            agent_id=agent and agent.id,
        )

    for part in (subject(acme.anna, acme.scout), subject(acme.anna)):
        assert len(await talks.recent(part, made.id, 5)) == 1
    for stranger in (
        subject(),
        subject(acme.ben),
        subject(acme.anna, acme.clerk),
        subject(None, acme.scout),
    ):
        with pytest.raises(NotFound):
            await talks.recent(stranger, made.id, 5)


async def test_another_organizations_conversation_is_one_that_is_not_there(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    made = await talks.create(acme.owner)
    await talks.append(acme.owner, made.id, said("ours"))
    for attempt in (
        talks.get(other.owner, made.id),
        talks.messages(other.owner, made.id),
        talks.append(other.owner, made.id, said("theirs")),
        talks.append(other.owner, made.id, said("theirs"), expected_length=1),
        talks.recent(ContextSubject(organization_id=other.owner.organization_id), made.id, 5),
        talks.create(other.owner, user_id=acme.anna.id),
        talks.create(other.owner, agent_id=acme.scout.id),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert (await talks.page(other.owner)).items == []
    assert (await talks.get(acme.owner, made.id)).length == 1


async def test_what_cannot_be_stored_is_refused_at_its_place_and_nothing_is_appended(
    talks: Conversations, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await talks.create(acme.owner)
    hostile = [*said("fine"), Message(role="user", content=[{"text": "a\0b"}])]
    with pytest.raises(Invalid) as refused:
        await talks.append(acme.owner, made.id, hostile)
    assert refused.value.details["field"] == "messages.1.content.0.text"
    for wrong in ([], said("x") * 1001):
        with pytest.raises(Invalid):
            await talks.append(acme.owner, made.id, wrong)
    with pytest.raises(Invalid):
        await talks.append(acme.owner, made.id, said("x"), expected_length=-1)
    monkeypatch.setattr(preparing, "LARGEST_APPEND", 100)
    with pytest.raises(OverLimit):
        await talks.append(acme.owner, made.id, said("x" * 60, "y" * 60))
    assert (await talks.get(acme.owner, made.id)).length == 0
    for wrong in (
        {"generation": 0},
        {"generation": 2**40},
        {"workflow_id": "a\0"},
        {"workflow_id": " "},
    ):
        with pytest.raises(Invalid):
            await talks.create(acme.owner, **wrong)


async def test_two_messages_never_share_a_position(
    talks: Conversations, storage: Storage, acme: Tenant
) -> None:
    made = await talks.create(acme.owner)
    await talks.append(acme.owner, made.id, said("one"))
    again = rows.Placed(1, turn_of(said("two"))[0], "a chain")

    def double(tx: Transaction) -> None:
        rows.place(tx, made.id, [again])

    with pytest.raises(ConstraintViolated) as refused:
        await storage.write(acme.owner.organization_id, double)
    assert refused.value.name == "one_message_per_position"


async def test_pages_neither_skip_nor_repeat_while_conversations_go_on(
    talks: Conversations, acme: Tenant
) -> None:
    made = [await talks.create(acme.owner) for _ in range(9)]
    seen, cursor = [], None
    while True:
        page = await talks.page(acme.owner, limit=4, cursor=cursor)
        seen += [each.id for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
        await talks.create(acme.owner)
        await talks.append(acme.owner, made[0].id, said("still talking"))
    assert seen == [each.id for each in reversed(made)]
    with pytest.raises(Invalid):
        await talks.page(acme.owner, cursor="garbled")
