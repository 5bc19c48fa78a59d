"""Earlier turns become a summary in one step, or everything stays as it was; nothing that was said is lost."""

import asyncio
from contextlib import suppress
from itertools import chain
from typing import Any

import pytest

from memoranda.conversations.compaction import serializing
from memoranda.conversations.compaction.activating import OUTDATED
from memoranda.conversations.compaction.models import MaybeCompacted
from memoranda.conversations.compaction.service import Compactions
from memoranda.conversations.errors import NothingToCompact
from memoranda.conversations.models import ConversationKey
from memoranda.conversations.rows import store as rows
from memoranda.conversations.seeding import seed
from memoranda.conversations.service import Conversations
from memoranda.conversations.usage.models import CallUsage
from memoranda.conversations.wire.capabilities import CAPABILITIES
from memoranda.conversations.wire.requests import build_request
from memoranda.storage import Storage
from memoranda.words.errors import Invalid, NotFound, ReadOnly, Unavailable
from tests.contract.talking_house import USED, Scripted, Talk, bare, says, turn
from tests.contract.tenants import Tenant, new_tenant


@pytest.fixture
async def talk(storage: Storage, acme: Tenant) -> Talk:
    return await Talk.of(storage, acme.owner)


async def test_the_latest_turn_stays_and_a_summary_stands_for_the_others(talk: Talk) -> None:
    before = await talk.active()
    summarizer = Scripted("They talked of ships.")
    done = await talk.compactions(summarizer).compact(talk.who, talk.id)
    assert (done.status, done.number, done.messages, done.reason) == ("activated", 1, 12, None)
    assert done.tokens_after < done.tokens_before
    after = await talk.active()
    assert after[0] == before[0]
    assert after[1].role == "user"
    assert after[1].content.endswith("\nThey talked of ships.")
    assert after[1].metadata == {"summary": True, "messages": 12}
    assert after[2:] == before[-4:]
    assert list(summarizer.asked[0].messages) == before[1:-4]
    await talk.assert_whole()


async def test_what_was_put_away_is_read_exactly_and_in_order_page_by_page(talk: Talk) -> None:
    before = await talk.active()
    compactions = talk.compactions()
    done = await compactions.compact(talk.who, talk.id)
    found, cursor = [], None
    while True:
        page = await compactions.history(talk.who, talk.id, limit=5, cursor=cursor)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            break
    assert [(each.position, bare(each), each.ts) for each in found] == [
        (each.position, bare(each), each.ts) for each in before[1:-4]
    ]
    assert {each.compaction_id for each in found} == {done.id}


async def test_what_a_save_replaced_is_no_part_of_it(talk: Talk) -> None:
    messages = [bare(each) for each in await talk.active()]
    messages[1] = says("user", "something else")
    await talk.talks.save(talk.who, talk.id, messages, fence=0)
    assert await talk.archived() == []
    await talk.compactions().compact(talk.who, talk.id)
    assert [bare(each) for each in await talk.archived()] == messages[1:-4]


async def test_what_is_appended_meanwhile_stays_behind_it_exactly(talk: Talk) -> None:
    before = await talk.said()
    meanwhile = Scripted(meanwhile=lambda: talk.append(*turn(9)))
    done = await talk.compactions(meanwhile).compact(talk.who, talk.id)
    assert done.status == "activated"
    assert await talk.said() == [*before, *turn(9)]
    assert [bare(each) for each in await talk.active()][-4:] == turn(9)
    await talk.assert_whole()


async def test_a_save_that_was_begun_before_a_compaction_comes_through_as_its_tail(
    storage: Storage, acme: Tenant
) -> None:
    key = ConversationKey(workflow_id="ships")
    talk = await Talk.of(storage, acme.owner, workflow_id="ships")
    loaded = await talk.talks.load(talk.who, key)
    await talk.compactions().compact(talk.who, talk.id)
    assert len(await talk.active()) == 6
    saved = [*loaded.messages, *turn(8)]
    await talk.talks.save(talk.who, key, saved, fence=loaded.fence)
    active = [bare(each) for each in await talk.active()]
    assert active[1].metadata["summary"] is True
    assert active[2:] == [*turn(3), *turn(8)]
    await talk.assert_whole()
    await talk.compactions().compact(talk.who, talk.id)
    await talk.talks.save(talk.who, key, [*saved, *turn(9)], fence=loaded.fence)
    active = [bare(each) for each in await talk.active()]
    assert active[1].metadata == {"summary": True, "messages": 16}
    assert active[2:] == [*turn(8), *turn(9)]
    assert await talk.said() == [*saved, *turn(9)]
    await talk.assert_whole()


async def test_a_save_of_what_a_load_made_ready_comes_through_as_the_tail_too(
    storage: Storage, acme: Tenant
) -> None:
    key = ConversationKey(workflow_id="ships")
    talk = await Talk.of(storage, acme.owner, turns=1, workflow_id="ships")
    await talk.append(*turn(1)[:2])  # it broke off before the tool answered
    await talk.append(*turn(2, size=150_000))  # and here a result was not cut
    await talk.append(*turn(3))
    loaded = await talk.talks.load(talk.who, key)
    assert loaded.messages != [bare(each) for each in await talk.active()]
    await talk.compactions().compact(talk.who, talk.id)
    await talk.talks.save(talk.who, key, [*loaded.messages, *turn(8)], fence=loaded.fence)
    active = [bare(each) for each in await talk.active()]
    assert active[1].metadata["summary"] is True
    assert active[2:] == [*turn(3), *turn(8)]
    await talk.assert_whole()


async def test_a_second_compaction_stands_for_the_first_and_what_came_after(talk: Talk) -> None:
    compactions = talk.compactions()
    await compactions.compact(talk.who, talk.id)
    await talk.append(*turn(5))
    done = await compactions.compact(talk.who, talk.id)
    assert (done.number, done.messages) == (2, 5)
    active = await talk.active()
    assert [each.metadata for each in active][:2] == [{}, {"summary": True, "messages": 16}]
    assert [bare(each) for each in active[2:]] == turn(5)
    said = await talk.said()
    assert said == [says("system", "You know ships."), *chain(*map(turn, (0, 1, 2, 3, 5)))]
    attempts = await compactions.attempts(talk.who, talk.id)
    assert [each.number for each in attempts.items] == [2, 1]


async def test_pinned_messages_survive_every_compaction_as_they_are(talk: Talk) -> None:
    compactions = talk.compactions()
    before = {each.position: each for each in await talk.active()}
    await compactions.pin(talk.who, talk.id, 2)
    await compactions.pin(talk.who, talk.id, 8)
    for number in (5, 6):
        await compactions.compact(talk.who, talk.id)
        await talk.append(*turn(number))
    kept = {each.position: each for each in await talk.active()}
    assert kept[2] == before[2].model_copy(update={"pinned": True})
    # A pinned result keeps the call that it answers.
    assert (kept[7], kept[8].ts) == (before[7], before[8].ts)
    loaded = await talk.talks.load(talk.who, talk.id)
    assert serializing.refusal_of(loaded.messages, "anthropic") is None
    await compactions.unpin(talk.who, talk.id, 2)
    await compactions.compact(talk.who, talk.id)
    assert 2 not in {each.position for each in await talk.active() if not each.metadata}
    await talk.assert_whole()


async def test_a_summary_goes_on_through_later_firings_behind_their_one_prompt(talk: Talk) -> None:
    await talk.compactions(Scripted("They talked of whales.")).compact(talk.who, talk.id)
    for prompt in ("You know ships.", "You know \u00a0boats \n too. "):
        loaded = await talk.talks.load(talk.who, talk.id)
        sent = seed(prompt, loaded.messages, "and now?")
        assert [each.content for each in sent if each.role == "system"] == [prompt]
        assert (sent[0].content, sent[1].role) == (prompt, "user")
        assert sent[1].metadata["summary"] is True
        for provider in CAPABILITIES:
            assert str(build_request(provider, sent)).count("They talked of whales.") == 1, provider
        assert build_request("anthropic", sent)["system"] == prompt
        answer = says("assistant", "Nothing new.")
        await talk.talks.save(talk.who, talk.id, [*sent, answer], fence=loaded.fence)
        assert [bare(each) for each in await talk.active()] == [*sent, answer]


@pytest.mark.parametrize(
    ("provider", "wanted"),
    [(None, "activated"), ("gemini", "activated"), ("openai_chat", "activated")],
)
async def test_what_is_left_is_valid_for_the_provider(
    talk: Talk, provider: str | None, wanted: str
) -> None:
    done = await talk.compactions().compact(talk.who, talk.id, provider=provider)
    assert done.status == wanted
    loaded = await talk.talks.load(talk.who, talk.id)
    for each in ("openai_responses", "openai_chat", "anthropic", "gemini", "openai_compatible"):
        assert serializing.refusal_of(loaded.messages, each) is None


async def test_a_failure_is_recorded_and_leaves_everything_as_it_was(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [*await talk.active()], await talk.talks.get(talk.who, talk.id)
    tries: list[tuple[Any, str]] = [
        (Scripted(error=RuntimeError("question 0")), "The summarizer failed (RuntimeError)."),
        (Scripted(error=Unavailable("Try later.")), "Try later."),
        (Scripted(" \n"), "The summarizer answered with nothing."),
        (Scripted("long " * 2_000), "The summary makes the conversation no smaller"),
    ]
    for summarizer, reason in tries:
        done = await talk.compactions(summarizer).compact(talk.who, talk.id)
        assert (done.status, done.number, done.messages) == ("failed", None, 0)
        assert str(done.reason).startswith(reason)
    monkeypatch.setattr(serializing, "check_request", lambda *_: ["messages[2] is odd"])
    done = await talk.compactions().compact(talk.who, talk.id, provider="anthropic")
    assert done.reason == "anthropic would not take what is left: messages[2] is odd."
    assert ([*await talk.active()], await talk.talks.get(talk.who, talk.id)) == before
    attempts = await talk.compactions().attempts(talk.who, talk.id)
    assert [each.status for each in attempts.items] == ["failed"] * 5
    assert await talk.archived() == []


@pytest.mark.parametrize(
    "used",
    [
        CallUsage(provider="acme\0", model="m"),
        CallUsage(provider="acme", model="\ud800"),
        CallUsage(provider=" ", model="m"),
        CallUsage(provider="acme", model="m" * 100_000),
        CallUsage(provider="acme", model="m", call_id="\0"),
        USED.model_copy(update={"input_tokens": -1}),
        USED.model_copy(update={"output_tokens": 2**70}),
        USED.model_copy(update={"cost_micros": 0.5}),
        {"input_tokens": 3},
        "12 tokens",
    ],
)
async def test_a_summary_whose_use_can_not_be_counted_is_a_failure_like_any_other(
    talk: Talk, used: Any
) -> None:
    before = [*await talk.active()]
    done = await talk.compactions(Scripted(usage=used)).compact(talk.who, talk.id)
    assert done.status == "failed"
    assert str(done.reason).startswith("What the summarizer used can't be counted: ")
    assert [*await talk.active()] == before
    assert (await talk.talks.usage.of(talk.who, talk.id)).calls == 0


async def test_what_has_changed_meanwhile_is_not_summed_up(talk: Talk, acme: Tenant) -> None:
    compactions = talk.compactions()

    async def replace_beginning() -> None:
        messages = [bare(each) for each in await talk.active()]
        await talk.talks.save(talk.who, talk.id, [messages[0], *messages[2:]], fence=0)

    async def replace_text() -> None:
        messages = [bare(each) for each in await talk.active()]
        messages[1] = says("user", "something else")
        await talk.talks.save(talk.who, talk.id, messages, fence=0)

    async def say_it_again() -> None:
        messages = [bare(each) for each in await talk.active()]
        cleared = await talk.talks.clear(talk.who, talk.id)
        await talk.talks.save(talk.who, talk.id, messages, fence=cleared.fence)

    changes: list[Any] = [
        replace_text,
        lambda: compactions.pin(talk.who, talk.id, 3),
        lambda: compactions.compact(talk.who, talk.id),
        replace_beginning,
        lambda: talk.talks.clear(talk.who, talk.id),
        say_it_again,
    ]
    for change in changes:
        seen: list[Any] = []

        async def meanwhile(change: Any = change, seen: list[Any] = seen) -> None:
            await change()
            seen.append(await talk.active())

        done = await talk.compactions(Scripted(meanwhile=meanwhile)).compact(talk.who, talk.id)
        assert (done.status, done.reason) == ("outdated", OUTDATED)
        assert await talk.active() == seen[0]
        await talk.append(*turn(7), *turn(8))


async def test_of_two_compactions_at_once_one_takes_effect(talk: Talk) -> None:
    both = await asyncio.gather(*(talk.compactions().compact(talk.who, talk.id) for _ in range(2)))
    assert sorted(each.status for each in both) == ["activated", "outdated"]
    assert len(await talk.active()) == 6
    await talk.assert_whole()


async def test_turns_that_are_appended_while_it_is_compacted_again_and_again_are_all_kept(
    talk: Talk,
) -> None:
    async def speak(name: int) -> None:
        for number in range(6):
            await talk.append(*turn(name * 100 + number, size=40))

    async def compact() -> None:
        for _ in range(6):
            with suppress(NothingToCompact):
                await talk.compactions().compact(talk.who, talk.id)

    before = await talk.said()
    await asyncio.gather(speak(1), speak(2), compact(), compact())
    said = await talk.said()
    assert said[: len(before)] == before
    for name in (1, 2):
        own = [turn(name * 100 + number, size=40) for number in range(6)]
        starts = [said.index(each[0]) for each in own]
        assert starts == sorted(starts)
        assert [said[at : at + 4] for at in starts] == own
    assert len(said) == len(before) + 48
    await talk.assert_whole()


async def test_where_it_breaks_off_half_way_nothing_of_it_is_there(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [*await talk.active()], await talk.talks.get(talk.who, talk.id)
    for name in ("place", "rechain", "settle", "changed"):
        with monkeypatch.context() as patch:
            patch.setattr(rows, name, _broken)
            with pytest.raises(ZeroDivisionError):
                await talk.compactions().compact(talk.who, talk.id)
        assert ([*await talk.active()], await talk.talks.get(talk.who, talk.id)) == before
        assert await talk.archived() == []
        assert (await talk.compactions().attempts(talk.who, talk.id)).items == []


def _broken(*_: object, **__: object) -> None:
    raise ZeroDivisionError


async def test_without_an_earlier_turn_nothing_is_asked_and_nothing_recorded(
    storage: Storage, acme: Tenant
) -> None:
    talk = await Talk.of(storage, acme.owner, turns=1)
    summarizer = Scripted()
    with pytest.raises(NothingToCompact, match="all of it is of the latest turns"):
        await talk.compactions(summarizer).compact(talk.who, talk.id)
    assert summarizer.asked == []
    assert (await talk.compactions().attempts(talk.who, talk.id)).items == []


async def test_a_talk_that_is_too_short_to_be_summed_up_is_refused_and_no_failure(
    storage: Storage, acme: Tenant
) -> None:
    talk = await Talk.of(storage, acme.owner, turns=0)
    for words in ("Hello.", "Good morning.", "How are you?"):
        await talk.append(says("user", words), says("assistant", "Fine."))
    before = await talk.active()
    for summarizer in (Scripted("Hi."), None):
        compactions = Compactions(storage, summarizer)
        with pytest.raises(NothingToCompact, match="too short"):
            await compactions.compact(talk.who, talk.id)
        assert (await compactions.attempts(talk.who, talk.id)).items == []
        assert summarizer is None or summarizer.asked == []
    assert await talk.active() == before
    # As soon as a summary is shorter than what it stands for, the one that needs no model makes one.
    await talk.append(says("user", "Which ships are there? " * 9), says("assistant", "Many."))
    await talk.append(says("user", "Thank you."))
    done = await Compactions(storage).compact(talk.who, talk.id)
    assert (done.status, done.reason) == ("activated", None)


async def test_what_is_too_large_and_can_not_be_compacted_is_told_apart_from_what_fits(
    storage: Storage, acme: Tenant
) -> None:
    talk = await Talk.of(storage, acme.owner, turns=1)
    summarizer = Scripted()
    compactions, who, id_ = talk.compactions(summarizer), talk.who, talk.id

    async def told(window: int, **more: Any) -> tuple[Any, Any, str | None]:
        found = await compactions.compact_if_due(who, id_, window=window, **more)
        return found.due, found.compaction, found.reason

    assert await told(100_000) == (None, None, None)
    due, made, reason = await told(100)
    assert (due, made) == ("window", None)
    assert "all of it is of the latest turns" in str(reason)
    for number in range(1, 4):
        await talk.append(*turn(number))
    due, made, reason = await told(100, keep_turns=4)
    assert (due, made) == ("window", None)
    for message in (await talk.active())[1:-4]:
        await compactions.pin(who, id_, message.position)
    due, made, reason = await told(100)
    assert (due, made) == ("window", None)
    assert "pinned" in str(reason)
    for message in (await talk.active())[1:-4]:
        await compactions.unpin(who, id_, message.position)
    assert summarizer.asked == []
    due, made, reason = await told(100)
    assert (due, made.status, reason) == ("window", "activated", None)
    due, made, reason = await told(100)
    assert (due, made) == ("window", None)
    assert "summed up already" in str(reason)
    assert len(summarizer.asked) == 1
    heavy = talk.compactions(budget=700)
    await talk.append(says("user", "Go on."))
    kept = await heavy.compact_if_due(who, id_, window=10**6, keep_turns=2)
    assert (kept.due, kept.compaction) == ("bytes", None)


async def test_it_is_due_by_the_window_or_by_its_bytes_and_not_before(talk: Talk) -> None:
    compactions = talk.compactions(budget=100_000)
    who, id_ = talk.who, talk.id
    found = await compactions.pressure(who, id_, window=10_000, room=100)
    full = found.input_tokens + 100
    fits = await compactions.compact_if_due(who, id_, window=full * 5 // 4 + 2, room=100)
    assert fits == MaybeCompacted(due=None, compaction=None, reason=None)
    done = (await compactions.compact_if_due(who, id_, window=full * 5 // 4, room=100)).compaction
    assert done is not None
    assert (done.status, done.cause) == ("activated", "window")
    for number in range(4):
        await talk.append(*turn(20 + number))
    # Old results make room first; what users and assistants said is what is left over.
    over = await talk.compactions(budget=1_500).compact_if_due(who, id_, window=10**6)
    assert over.due == "bytes"
    heavy = over.compaction
    assert heavy is not None
    assert (heavy.status, heavy.cause) == ("activated", "bytes")


async def test_the_built_in_summarizer_needs_no_model(talk: Talk) -> None:
    done = await Compactions(talk.storage).compact(talk.who, talk.id)
    assert (done.status, done.summarizer) == ("activated", "extractive")
    summary = (await talk.active())[1].content
    assert "- User: question 0 qqq" in summary
    assert "- Called look_up: {}" in summary


async def test_a_hosts_own_function_makes_the_summaries_once_it_is_handed_in(
    talk: Talk,
) -> None:
    talk.talks.compactions.use(lambda request: f"{len(request.messages)} in short")
    done = await talk.talks.compactions.compact(talk.who, talk.id)
    assert (done.status, done.summarizer) == ("activated", "own")
    assert (await talk.active())[1].content.endswith("\n12 in short")


async def test_listeners_are_told_once_it_is_committed(talk: Talk) -> None:
    told: list[Any] = []
    talk.talks.listen(told.append)
    await talk.talks.compactions.compact(talk.who, talk.id)
    assert [(each.action, each.conversation.length) for each in told] == [("compacted", 6)]
    with pytest.raises(NothingToCompact):
        await talk.talks.compactions.compact(talk.who, talk.id)
    assert len(told) == 1


@pytest.mark.parametrize("how", ["clear", "reset", "purge"])
async def test_what_was_put_away_goes_with_the_conversation(
    storage: Storage, acme: Tenant, how: str
) -> None:
    talk = await Talk.of(storage, acme.owner, workflow_id="ships")
    kept = await Talk.of(storage, acme.owner)
    for each in (talk, kept):
        await each.compactions().compact(each.who, each.id)
    if how == "clear":
        await talk.talks.clear(talk.who, talk.id)
    elif how == "reset":
        await talk.talks.resets.reset(talk.who, "ships")
    else:
        await talk.talks.resets.purge(talk.who, talk.id)
    if how == "purge":
        with pytest.raises(NotFound):
            await talk.archived()
    else:
        assert await talk.archived() == []
        assert (await talk.compactions().attempts(talk.who, talk.id)).items == []
    assert len(await kept.archived()) == 12


async def test_another_organizations_conversation_is_one_that_is_not_there(
    talk: Talk, storage: Storage
) -> None:
    other = await new_tenant(storage, "Other")
    mine = await Talk.of(storage, other.owner)
    await talk.compactions().compact(talk.who, talk.id)
    compactions, stranger = talk.compactions(), other.owner
    for attempt in (
        lambda: compactions.compact(stranger, talk.id),
        lambda: compactions.compact_if_due(stranger, talk.id, window=10),
        lambda: compactions.pressure(stranger, talk.id, window=10),
        lambda: compactions.attempts(stranger, talk.id),
        lambda: compactions.history(stranger, talk.id),
        lambda: compactions.pin(stranger, talk.id, 1),
        lambda: compactions.unpin(stranger, talk.id, 1),
    ):
        with pytest.raises(NotFound):
            await attempt()
    assert await mine.archived() == []
    assert len(await mine.active()) == 17
    assert not (await talk.active())[0].pinned


async def test_people_see_and_compact_their_own_and_a_reader_changes_nothing(
    storage: Storage, acme: Tenant
) -> None:
    anna, ben = acme.member(acme.anna), acme.member(acme.ben)
    hers = await Talk.of(storage, anna)
    done = await hers.compactions().compact(anna, hers.id)
    assert done.status == "activated"
    with pytest.raises(NotFound):
        await hers.compactions().history(ben, hers.id)
    with pytest.raises(NotFound):
        await hers.compactions().pin(ben, hers.id, 1)
    assert len((await hers.compactions().history(acme.reader, hers.id)).items) == 12
    with pytest.raises(ReadOnly):
        await hers.compactions().compact(acme.reader, hers.id)
    with pytest.raises(ReadOnly):
        await hers.compactions().pin(acme.reader, hers.id, 1)


async def test_what_can_not_be_meant_is_refused(talk: Talk) -> None:
    compactions = talk.compactions()
    for wrong in ({"keep_turns": 0}, {"keep_turns": 1_001}, {"provider": "acme"}):
        with pytest.raises(Invalid):
            await compactions.compact(talk.who, talk.id, **wrong)
    for wrong in ({"window": 0}, {"window": 10, "room": -1}):
        with pytest.raises(Invalid):
            await compactions.compact_if_due(talk.who, talk.id, **wrong)
    for verb in (compactions.attempts, compactions.history):
        with pytest.raises(Invalid):
            await verb(talk.who, talk.id, cursor="garbled")
        with pytest.raises(Invalid):
            await verb(talk.who, talk.id, limit=0)
    with pytest.raises(NotFound):
        await compactions.pin(talk.who, talk.id, 99)


async def test_keeping_more_turns_puts_fewer_away(talk: Talk) -> None:
    done = await talk.compactions().compact(talk.who, talk.id, keep_turns=3)
    assert done.messages == 4
    assert [bare(each) for each in await talk.active()][2:] == [*turn(1), *turn(2), *turn(3)]


async def test_a_conversation_without_compactions_is_unchanged_by_their_being_there(
    storage: Storage, acme: Tenant
) -> None:
    talk = await Talk.of(storage, acme.owner)
    before = await talk.active()
    assert await talk.archived() == []
    assert (await Conversations(storage).load(talk.who, talk.id)).messages == [
        bare(each) for each in before
    ]
