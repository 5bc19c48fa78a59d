"""What calls used is added up for good, and has nothing to do with how full a window is."""

import pytest
from sqlalchemy import bindparam, update

from memoranda.conversations.models import ConversationKey
from memoranda.conversations.usage.models import CallUsage, Usage
from memoranda.storage import ConstraintViolated, Storage, Transaction
from memoranda.storage.tables import conversation_usage
from memoranda.words.errors import Invalid, NotFound, ReadOnly, Refused
from tests.contract.talking_house import USED, Scripted, Talk, says, turn
from tests.contract.tenants import Tenant, new_tenant

CHEAPER = update(conversation_usage).values(cost_micros=bindparam("less"))
CALL = CallUsage(
    provider="anthropic",
    model="claude",
    input_tokens=1_000,
    output_tokens=50,
    cached_tokens=800,
    cost_micros=4_200,
)


def counts(usage: Usage) -> tuple[int, ...]:
    return (
        usage.calls,
        usage.input_tokens,
        usage.output_tokens,
        usage.cached_tokens,
        usage.cost_micros,
    )


@pytest.fixture
async def talk(storage: Storage, acme: Tenant) -> Talk:
    return await Talk.of(storage, acme.owner, workflow_id="ships")


async def test_calls_and_compactions_are_added_up_and_told_apart(talk: Talk) -> None:
    ledger = talk.talks.usage
    for _ in range(3):
        await ledger.record(talk.who, talk.id, CALL)
    await ledger.record(talk.who, talk.id, CALL.model_copy(update={"model": "other"}))
    await talk.compactions(Scripted()).compact(talk.who, talk.id)
    found = await ledger.of(talk.who, talk.id)
    assert counts(found) == (5, 4_900, 240, 3_200, 16_807)
    assert [(each.kind, each.provider, each.model, each.calls) for each in found.totals] == [
        ("call", "anthropic", "claude", 3),
        ("call", "anthropic", "other", 1),
        ("compaction", USED.provider, USED.model, 1),
    ]


async def test_what_a_failed_compaction_used_is_counted_too(talk: Talk) -> None:
    done = await talk.compactions(Scripted("long " * 2_000)).compact(talk.who, talk.id)
    assert done.status == "failed"
    assert counts(await talk.talks.usage.of(talk.who, talk.id)) == (1, 900, 40, 0, 7)


async def test_the_same_call_is_counted_once(talk: Talk, storage: Storage, acme: Tenant) -> None:
    ledger, named = talk.talks.usage, CALL.model_copy(update={"call_id": "resp_1"})
    first = await ledger.record(talk.who, talk.id, named)
    again = named.model_copy(update={"input_tokens": 5})
    assert await ledger.record(talk.who, talk.id, again) == first
    assert (await ledger.of(talk.who, talk.id)).calls == 1
    # In another conversation it is another call.
    other = await Talk.of(storage, acme.owner, turns=0)
    assert (await ledger.record(other.who, other.id, named)).id != first.id


async def test_usage_and_pressure_are_never_mixed(talk: Talk) -> None:
    compactions, ledger = talk.compactions(Scripted(usage=None)), talk.talks.usage
    before = await compactions.pressure(talk.who, talk.id, window=10_000)
    await ledger.record(talk.who, talk.id, CALL)
    assert await compactions.pressure(talk.who, talk.id, window=10_000) == before
    used = await ledger.of(talk.who, talk.id)
    await compactions.compact(talk.who, talk.id)
    assert (await compactions.pressure(talk.who, talk.id, window=10_000)).share < before.share
    assert await ledger.of(talk.who, talk.id) == used


async def test_what_was_used_stays_when_the_conversation_goes(talk: Talk) -> None:
    ledger = talk.talks.usage
    await ledger.record(talk.who, talk.id, CALL)
    await talk.talks.clear(talk.who, talk.id)
    assert (await ledger.of(talk.who, talk.id)).calls == 1
    await talk.talks.resets.reset(talk.who, "ships")
    key = ConversationKey(workflow_id="ships", generation=2)
    made = await talk.talks.append(talk.who, key, [says("user", "hello")])
    await ledger.record(talk.who, made.id, CALL)
    await talk.talks.resets.purge(talk.who, talk.id)
    with pytest.raises(NotFound):
        await ledger.of(talk.who, talk.id)
    assert (await ledger.of_workflow(talk.who, "ships")).calls == 2
    assert (await ledger.total(talk.who)).calls == 2


async def test_everybody_sees_the_totals_of_what_is_theirs(storage: Storage, acme: Tenant) -> None:
    other = await new_tenant(storage, "Other")
    anna, ben, scout = (
        acme.member(acme.anna),
        acme.member(acme.ben),
        acme.key_of(acme.scout, acme.anna),
    )
    theirs = await Talk.of(storage, other.owner, turns=0, workflow_id="ships")
    await theirs.talks.usage.record(theirs.who, theirs.id, CALL)
    ledger = theirs.talks.usage
    talk = theirs
    for who, more in ((anna, {}), (anna, {"agent_id": acme.scout.id}), (ben, {}), (acme.owner, {})):
        talk = await Talk.of(storage, who, turns=0, **more)
        await ledger.record(who, talk.id, CALL)
    assert (await ledger.total(anna)).calls == 2
    assert (await ledger.total(ben)).calls == 1
    assert (await ledger.total(scout)).calls == 1
    assert (await ledger.total(acme.key_of(acme.scout))).calls == 0
    assert (await ledger.total(acme.owner)).calls == 4
    assert (await ledger.total(acme.owner, user_id=acme.anna.id)).calls == 2
    assert (await ledger.total(acme.owner, agent_id=acme.scout.id)).calls == 1
    assert (await ledger.total(acme.owner, user_id=acme.anna.id, agent_id=acme.scout.id)).calls == 1
    assert (await ledger.of_workflow(acme.owner, "ships")).calls == 0
    assert (await ledger.total(other.owner)).calls == 1
    with pytest.raises(NotFound):
        await ledger.record(acme.owner, theirs.id, CALL)
    with pytest.raises(NotFound):
        await ledger.of(ben, talk.id)
    with pytest.raises(ReadOnly):
        await ledger.record(acme.reader, talk.id, CALL)
    with pytest.raises(Refused):
        await ledger.of_workflow(anna, "ships")


async def test_a_row_is_never_changed(talk: Talk, storage: Storage) -> None:
    await talk.talks.usage.record(talk.who, talk.id, CALL)

    def cheat(tx: Transaction) -> None:
        tx.run(CHEAPER, less=0)

    with pytest.raises(ConstraintViolated) as refused:
        await storage.write(talk.who.organization_id, cheat)
    assert refused.value.name == "usage_is_append_only"


async def test_what_can_not_be_counted_is_refused(talk: Talk) -> None:
    for wrong in (
        {"provider": " "},
        {"model": "a\0"},
        {"call_id": ""},
        {"input_tokens": -1},
        {"output_tokens": 2**60},
        {"cost_micros": 1.5},
    ):
        with pytest.raises(Invalid):
            await talk.talks.usage.record(talk.who, talk.id, CALL.model_copy(update=wrong))
    assert (await talk.talks.usage.of(talk.who, talk.id)).calls == 0


async def test_totals_of_nothing_are_zero(talk: Talk) -> None:
    await talk.append(*turn(9))
    assert counts(await talk.talks.usage.of(talk.who, talk.id)) == (0, 0, 0, 0, 0)
