"""What proposals promise on every database: an inbox beside the truth, which only a person empties."""

import json
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import select

from memoranda.access.roles import ToolPolicyRequired
from memoranda.memories.counts import store as counts
from memoranda.memories.errors import MemoriesFull, NotRestorable
from memoranda.memories.finding.service import Finding
from memoranda.memories.limits import MemoryLimits
from memoranda.memories.models import MemoryStatus, Origin, Proposal, ProposalKind, ProposalStatus
from memoranda.memories.proposals.service import Proposals
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.runs.models import LogLevel, RunLog
from memoranda.runs.service import Runs
from memoranda.storage import Storage
from memoranda.storage.tables import memory_proposals
from memoranda.words.errors import (
    Conflict,
    DuplicateMemory,
    Invalid,
    NotFound,
    OverLimit,
    ReadOnly,
    Refused,
)
from memoranda.words.ids import new_id
from memoranda.words.subject import ContextSubject
from tests.contract.clocks import SteppedClock
from tests.contract.memory_trail import activities, read, told
from tests.contract.tenants import Tenant, new_tenant

TEA = "likes tea"
DRINK = "preference.drink"
FEW = Ways(MemoryLimits(active=3, waiting=3))


@pytest.fixture
def storage(timed_storage: Storage) -> Storage:
    """Time stands still here until a test moves it."""
    return timed_storage


async def proposed(proposals: Proposals, who, text: str = TEA, **given) -> Proposal:
    """A proposal that waits."""
    answer = await proposals.propose(who, text, **given)
    assert answer.outcome == "waiting"
    assert answer.proposal is not None
    return answer.proposal


async def listed(proposals: Proposals, who, status=ProposalStatus.WAITING) -> list[UUID]:
    page = await proposals.page(who, status=status, limit=200)
    assert page.next_cursor is None
    return [each.id for each in page.items]


async def captured(storage: Storage, who, run_id: UUID) -> list[RunLog]:
    """What the run's log says of memories."""
    return (await Runs(storage).logs(who, run_id)).items


async def counted(storage: Storage, tenant: Tenant) -> counts.Counts:
    return await storage.read(tenant.owner.organization_id, counts.counts)


# --- proposing --------------------------------------------------------------------------------


async def test_what_an_agent_proposes_waits_as_it_was_said(
    proposals: Proposals, acme: Tenant, clock: SteppedClock
) -> None:
    run, talk = new_id(), new_id()
    ends = clock.now + timedelta(days=90)
    made = await proposed(
        proposals,
        acme.key_of(acme.scout, acme.anna),
        "  Likes   tea ",
        title="Tea",
        category="drinks",
        tags=["tea", "tea", "hot"],
        expires_at=ends,
        attribute=DRINK,
        run_id=run,
        conversation_id=talk,
    )
    assert made.model_dump(exclude={"id"}) == {
        "kind": ProposalKind.MEMORY,
        "status": ProposalStatus.WAITING,
        "user_id": acme.anna.id,
        "agent_id": acme.scout.id,
        "space": None,
        "subject_key": f"user:{acme.anna.id}:{DRINK}",
        "text": "Likes   tea",
        "title": "Tea",
        "category": "drinks",
        "tags": ("tea", "hot"),
        "subject_refs": (),
        "expires_at": ends,
        "merges": (),
        "memory_id": None,
        "origin": Origin.AGENT,
        "author_user_id": acme.anna.id,
        "author_agent_id": acme.scout.id,
        "run_id": run,
        "conversation_id": talk,
        "decided_by": None,
        "decided_at": None,
        "created_at": clock.now,
        "restorable_until": None,
        "replaces": None,
    }
    assert await proposals.get(acme.owner, made.id) == made


async def test_an_owner_and_a_member_may_propose_for_an_agent(
    proposals: Proposals, acme: Tenant
) -> None:
    by_owner = await proposed(proposals, acme.owner, agent_id=acme.scout.id, user_id=acme.anna.id)
    assert (by_owner.origin, by_owner.author_agent_id) == (Origin.AGENT, acme.scout.id)
    by_member = await proposed(proposals, acme.member(acme.ben), agent_id=acme.scout.id)
    assert (by_member.user_id, by_member.author_user_id) == (acme.ben.id, acme.ben.id)
    by_itself = await proposed(proposals, acme.owner, "opens at nine")
    assert (by_itself.origin, by_itself.author_agent_id) == (Origin.USER, None)


@pytest.mark.parametrize(
    "given",
    [
        {"text": "  "},
        {"text": "a\0"},
        {"text": "a\ud800"},
        {"text": "\u200b"},
        {"tags": "tea"},
        {"attribute": "name"},
        {"attribute": "preference.a:b"},
        {"title": ""},
        {"category": "\0"},
    ],
)
async def test_bad_input_is_refused_with_its_field_and_nothing_waits(
    proposals: Proposals, acme: Tenant, given
) -> None:
    with pytest.raises(Invalid) as refused:
        await proposals.propose(acme.owner, **{"text": TEA} | given)
    assert str(refused.value.details["field"]).split(".")[0] in given
    assert await listed(proposals, acme.owner) == []


async def test_too_long_a_text_and_a_time_that_has_passed_are_refused(
    proposals: Proposals, acme: Tenant, clock: SteppedClock
) -> None:
    with pytest.raises(OverLimit):
        await proposals.propose(acme.owner, "a" * 501)
    with pytest.raises(Invalid, match="expires_at"):
        await proposals.propose(acme.owner, TEA, expires_at=clock.now)
    await proposed(proposals, acme.owner, "a" * 500)


async def test_an_unknown_user_or_agent_is_not_found(
    storage: Storage, proposals: Proposals, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    for given in (
        {"user_id": new_id()},
        {"agent_id": new_id()},
        {"user_id": other.anna.id},
        {"agent_id": other.scout.id},
    ):
        with pytest.raises(NotFound):
            await proposals.propose(acme.owner, TEA, **given)


async def test_a_reader_proposes_nothing_and_a_bound_key_for_nobody_else(
    proposals: Proposals, acme: Tenant
) -> None:
    with pytest.raises(ReadOnly):
        await proposals.propose(acme.reader, TEA)
    with pytest.raises(Refused):
        await proposals.propose(acme.member(acme.anna), TEA, user_id=acme.ben.id)
    with pytest.raises(Refused):
        await proposals.propose(acme.key_of(acme.scout), TEA, agent_id=acme.clerk.id)


# --- what is known already --------------------------------------------------------------------


async def test_a_proposal_equal_to_a_live_memory_is_answered_with_that_one(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    held = await memories.remember(acme.owner, "Likes tea", agent_id=acme.scout.id)
    answer = await proposals.propose(acme.key_of(acme.scout), "  LIKES TEA ")
    assert (answer.outcome, answer.memory, answer.proposal) == ("known", held, None)
    assert await listed(proposals, acme.owner) == []


async def test_a_proposal_equal_to_a_waiting_one_is_answered_with_that_one(
    proposals: Proposals, acme: Tenant
) -> None:
    scout = acme.key_of(acme.scout)
    for given in ({}, {"attribute": DRINK}):
        first = await proposed(proposals, scout, **given)
        answer = await proposals.propose(scout, "Likes TEA", **given)
        assert (answer.outcome, answer.proposal, answer.memory) == ("known", first, None)
    assert len(await listed(proposals, acme.owner)) == 2


async def test_the_same_text_for_another_audience_or_under_another_attribute_waits_too(
    proposals: Proposals, acme: Tenant
) -> None:
    for given in (
        {},
        {"user_id": acme.anna.id},
        {"agent_id": acme.scout.id},
        {"user_id": acme.anna.id, "agent_id": acme.scout.id},
        {"attribute": DRINK},
        {"attribute": "preference.hot"},
    ):
        await proposed(proposals, acme.owner, **given)
    assert len(await listed(proposals, acme.owner)) == 6


async def test_under_an_attribute_the_same_text_is_known_and_another_one_waits(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    held = await memories.remember(acme.owner, TEA, attribute=DRINK)
    assert (await proposals.propose(acme.owner, TEA, attribute=DRINK)).memory == held
    await proposed(proposals, acme.owner, "likes coffee", attribute=DRINK)


async def test_a_forgotten_and_an_expired_memory_make_nothing_known(
    memories: Memories, proposals: Proposals, acme: Tenant, clock: SteppedClock
) -> None:
    held = await memories.remember(acme.owner, TEA)
    await memories.forget(acme.owner, held.id)
    await memories.remember(acme.owner, "tired", expires_at=clock.now + timedelta(hours=1))
    clock.tick(timedelta(hours=2))
    await proposed(proposals, acme.owner, TEA)
    await proposed(proposals, acme.owner, "tired")


async def test_what_was_discarded_may_be_proposed_again(proposals: Proposals, acme: Tenant) -> None:
    first = await proposed(proposals, acme.owner)
    await proposals.discard(acme.owner, first.id)
    assert (await proposed(proposals, acme.owner)).id != first.id


async def test_a_waiting_proposal_that_expired_makes_room_for_the_same_again(
    storage: Storage, proposals: Proposals, acme: Tenant, clock: SteppedClock
) -> None:
    first = await proposed(proposals, acme.owner, expires_at=clock.now + timedelta(hours=1))
    clock.tick(timedelta(hours=1))
    with pytest.raises(Conflict, match="expired"):
        await proposals.accept(acme.owner, first.id)
    again = await proposed(proposals, acme.owner)
    assert await listed(proposals, acme.owner) == [again.id]
    present = await counted(storage, acme)
    assert (present.waiting, present.discarded) == (1, 1)


# --- the limit --------------------------------------------------------------------------------


async def test_the_next_beyond_the_limit_is_dropped_counted_and_logged_once(
    storage: Storage, acme: Tenant
) -> None:
    proposals, scout = Proposals(storage, FEW), acme.key_of(acme.scout)
    run = await Runs(storage).create(scout)
    for number in range(3):
        await proposed(proposals, scout, f"fact {number}")
    dropped = await proposals.propose(scout, "one more", run_id=run.id)
    assert (dropped.outcome, dropped.proposal, dropped.memory) == ("dropped", None, None)
    assert len(await listed(proposals, acme.owner)) == 3
    present = await counted(storage, acme)
    assert (present.waiting, present.dropped) == (3, 1)
    (line,) = await captured(storage, scout, run.id)
    assert (line.step, line.level) == ("memory-capture", LogLevel.WARNING)
    assert line.metadata == {"outcome": "dropped", "reason": "proposals_full"}
    # What is known already needs no room, and what is decided makes some.
    assert (await proposals.propose(scout, "fact 0")).outcome == "known"
    await proposals.discard(acme.owner, (await listed(proposals, acme.owner))[0])
    await proposed(proposals, scout, "one more")


async def test_200_that_expired_leave_room_for_a_good_one(
    storage: Storage, memories: Memories, proposals: Proposals, acme: Tenant, clock: SteppedClock
) -> None:
    anna, scout = acme.member(acme.anna), acme.key_of(acme.scout)
    ends = clock.now + timedelta(hours=1)
    made = [await proposed(proposals, scout, f"fact {n}", expires_at=ends) for n in range(200)]
    assert (await proposals.propose(scout, "a good one")).outcome == "dropped"
    assert (await memories.stats(acme.owner)).proposed == 200
    clock.tick(timedelta(hours=1))
    for who in (acme.owner, anna, scout):
        assert await listed(proposals, who) == []
        assert (await memories.stats(who)).proposed == 0
    good = await proposed(proposals, scout, "a good one")
    present = await counted(storage, acme)
    assert (present.waiting, present.discarded) == (1, 200)
    for who in (acme.owner, anna, scout):
        assert await listed(proposals, who) == [good.id]
        assert (await memories.stats(who)).proposed == 1
    assert await listed(proposals, acme.owner, ProposalStatus.DISCARDED) == []
    with pytest.raises(NotRestorable):
        await proposals.restore(acme.owner, made[0].id)


async def test_what_expired_leaves_room_for_a_merge_too(
    storage: Storage, memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    proposals = Proposals(storage, FEW)
    for number in range(3):
        ends = clock.now + timedelta(hours=1)
        await proposed(proposals, acme.owner, f"fact {number}", expires_at=ends)
    for text in ("opens at nine.", "opens at nine!"):
        await memories.remember(acme.owner, text)
    assert await proposals.tidy_up(acme.owner) == []
    clock.tick(timedelta(hours=1))
    (merge,) = await proposals.tidy_up(acme.owner)
    assert await listed(proposals, acme.owner) == [merge.id]
    present = await counted(storage, acme)
    assert (present.waiting, present.discarded) == (1, 3)


async def test_200_wait_unless_a_setting_says_otherwise() -> None:
    assert MemoryLimits().waiting == 200


async def test_the_log_of_the_run_says_what_became_of_a_proposal(
    storage: Storage, memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    scout = acme.key_of(acme.scout)
    run = await Runs(storage).create(scout)
    held = await memories.remember(acme.owner, "opens at nine", agent_id=acme.scout.id)
    made = await proposed(proposals, scout, run_id=run.id)
    await proposals.propose(scout, TEA, run_id=run.id)
    await proposals.propose(scout, "opens at nine", run_id=run.id)
    assert [line.metadata for line in await captured(storage, scout, run.id)] == [
        {"outcome": "proposed", "proposal_id": str(made.id)},
        {"outcome": "known", "proposal_id": str(made.id)},
        {"outcome": "known", "memory_id": str(held.id)},
    ]


async def test_the_log_of_a_run_that_the_caller_may_not_know_is_left_alone(
    storage: Storage, proposals: Proposals, acme: Tenant
) -> None:
    run = await Runs(storage).create(acme.key_of(acme.clerk))
    await proposed(proposals, acme.key_of(acme.scout), run_id=run.id)
    await proposed(proposals, acme.key_of(acme.scout), "another", run_id=new_id())
    assert await captured(storage, acme.owner, run.id) == []


# --- beside the truth -------------------------------------------------------------------------


async def test_no_read_of_memories_can_meet_a_proposal(
    storage: Storage, memories: Memories, proposals: Proposals, acme: Tenant, clock: SteppedClock
) -> None:
    scout = acme.key_of(acme.scout, acme.anna)
    made = await proposed(proposals, scout, "unaccepted secret", attribute=DRINK)
    gone = await proposed(proposals, scout, "discarded secret")
    await proposals.discard(acme.owner, gone.id)
    finding = Finding(storage)
    subject = ContextSubject(
        organization_id=acme.owner.organization_id, user_id=acme.anna.id, agent_id=acme.scout.id
    )
    for who in (acme.owner, acme.reader, acme.member(acme.anna), scout):
        for query in ("secret", "unaccepted secret", "discarded", str(made.id)):
            assert (await finding.search(who, query)).results == ()
            recalled = await finding.recall(who, query, user_id=None)
            assert recalled.memories == ()
            assert "secret" not in (recalled.block or "").replace(query, "")
        for status in MemoryStatus:
            assert (await memories.page(who, status=status)).items == []
        if who is not scout:
            assert (await memories.page(who, as_of=clock.now)).items == []
        for proposal_id in (made.id, gone.id):
            with pytest.raises(NotFound):
                await memories.get(who, proposal_id)
            with pytest.raises(NotFound):
                await memories.history(who, proposal_id)
    for personal in (True, False):
        assert await memories.recent(subject, personal=personal, limit=99) == []
    for change in (memories.forget, memories.restore):
        with pytest.raises(NotFound):
            await change(acme.owner, made.id)


# --- accepting --------------------------------------------------------------------------------


async def test_an_accepted_proposal_becomes_the_memory_of_the_same_id(
    memories: Memories, proposals: Proposals, acme: Tenant, clock: SteppedClock
) -> None:
    run = new_id()
    made = await proposed(proposals, acme.key_of(acme.scout), title="Tea", tags=["hot"], run_id=run)
    clock.tick()
    memory = await proposals.accept(acme.owner, made.id)
    assert await memories.get(acme.owner, made.id) == memory
    assert (memory.id, memory.version, memory.text) == (made.id, 1, TEA)
    assert (memory.title, memory.tags, memory.agent_id) == ("Tea", ("hot",), acme.scout.id)
    assert (memory.origin, memory.author_agent_id, memory.run_id) == (
        Origin.AGENT,
        acme.scout.id,
        run,
    )
    after = await proposals.get(acme.owner, made.id)
    assert (after.status, after.memory_id) == (ProposalStatus.ACCEPTED, memory.id)
    assert (after.decided_by, after.decided_at) == (acme.owner.user_id, clock.now)
    assert await listed(proposals, acme.owner) == []


async def test_what_was_accepted_stands_nowhere_but_in_its_chain(
    storage: Storage, proposals: Proposals, acme: Tenant
) -> None:
    made = await proposed(proposals, acme.owner, title="Tea", category="drinks", tags=["hot"])
    await proposals.accept(acme.owner, made.id)

    names = ("text", "title", "category", "tags", "folded_digest", "merges")
    whole = select(*(memory_proposals.c[name] for name in names))
    (row,) = await read(storage, acme, whole)
    assert tuple(row) == (None, None, None, [], None, [])


async def test_an_accepted_proposal_is_found_and_recalled_like_any_memory(
    storage: Storage, proposals: Proposals, acme: Tenant
) -> None:
    made = await proposed(proposals, acme.owner, "the depot opens at nine")
    await proposals.accept(acme.owner, made.id)
    (found,) = (await Finding(storage).search(acme.owner, "depot")).results
    assert found.memory.id == made.id


async def test_accepting_twice_is_a_conflict_that_names_the_memory(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    made = await proposed(proposals, acme.owner)
    memory = await proposals.accept(acme.owner, made.id)
    for again in (proposals.accept, proposals.discard, proposals.restore):
        with pytest.raises(Conflict) as refused:
            await again(acme.owner, made.id)
        assert refused.value.details["memory_id"] == str(memory.id)
    assert len(await memories.history(acme.owner, memory.id)) == 1


async def test_a_text_may_be_corrected_while_it_is_accepted(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    run = new_id()
    made = await proposed(proposals, acme.key_of(acme.scout), "likes te", run_id=run)
    memory = await proposals.accept(acme.owner, made.id, text="  Likes tea ")
    assert (memory.id, memory.text, memory.run_id) == (made.id, "Likes tea", run)
    assert (memory.origin, memory.author_user_id) == (Origin.USER, acme.owner.user_id)
    assert memory.author_agent_id is None
    assert (await memories.get(acme.owner, made.id)).text == "Likes tea"


async def test_a_correction_that_breaks_a_rule_leaves_the_proposal_waiting(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    held = await memories.remember(acme.owner, "Likes coffee")
    made = await proposed(proposals, acme.owner)
    with pytest.raises(Invalid):
        await proposals.accept(acme.owner, made.id, text=" ")
    with pytest.raises(OverLimit):
        await proposals.accept(acme.owner, made.id, text="a" * 501)
    with pytest.raises(DuplicateMemory) as refused:
        await proposals.accept(acme.owner, made.id, text="likes COFFEE")
    assert refused.value.details["memory_id"] == str(held.id)
    assert await listed(proposals, acme.owner) == [made.id]


async def test_with_an_attribute_it_replaces_what_is_said_by_then(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    held = await memories.remember(acme.owner, "likes coffee", attribute=DRINK)
    made = await proposed(proposals, acme.owner, attribute=DRINK)
    await memories.remember(acme.owner, "likes cocoa", attribute=DRINK)
    memory = await proposals.accept(acme.owner, made.id)
    assert (memory.id, memory.version, memory.text) == (held.id, 3, TEA)
    history = await memories.history(acme.owner, held.id)
    assert [each.text for each in history] == ["likes coffee", "likes cocoa", TEA]
    assert (await proposals.get(acme.owner, made.id)).memory_id == held.id


async def test_it_follows_in_the_chain_of_its_attribute_though_that_was_forgotten(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    held = await memories.remember(acme.owner, "likes coffee", attribute=DRINK)
    made = await proposed(proposals, acme.owner, attribute=DRINK)
    await memories.forget(acme.owner, held.id)
    memory = await proposals.accept(acme.owner, made.id)
    assert (memory.id, memory.version, memory.status) == (held.id, 3, MemoryStatus.ACTIVE)


@pytest.mark.parametrize("attribute", [None, DRINK])
async def test_where_the_same_is_remembered_meanwhile_it_waits_on_and_that_one_is_named(
    memories: Memories, proposals: Proposals, acme: Tenant, attribute: str | None
) -> None:
    made = await proposed(proposals, acme.owner, attribute=attribute)
    held = await memories.remember(acme.owner, TEA, attribute=attribute)
    with pytest.raises(DuplicateMemory) as refused:
        await proposals.accept(acme.owner, made.id)
    assert refused.value.details["memory_id"] == str(held.id)
    assert await listed(proposals, acme.owner) == [made.id]
    assert len(await memories.history(acme.owner, held.id)) == 1


async def test_at_capacity_it_is_refused_and_waits_on(storage: Storage, acme: Tenant) -> None:
    memories, proposals = Memories(storage, FEW), Proposals(storage, FEW)
    kept = [await memories.remember(acme.owner, f"fact {n}") for n in range(3)]
    made = await proposed(proposals, acme.owner)
    with pytest.raises(MemoriesFull) as refused:
        await proposals.accept(acme.owner, made.id)
    assert refused.value.details["limit"] == 3
    assert await listed(proposals, acme.owner) == [made.id]
    assert (await counted(storage, acme)).active == 3
    await memories.forget(acme.owner, kept[0].id)
    assert (await proposals.accept(acme.owner, made.id)).id == made.id


async def test_each_decision_is_recorded_once_by_whoever_made_it_and_told_once(
    storage: Storage, proposals: Proposals, acme: Tenant
) -> None:
    scout = acme.key_of(acme.scout)
    kept, dropped = await proposed(proposals, scout, TEA), await proposed(proposals, scout, "no")
    await proposals.propose(scout, TEA)
    assert await activities(storage, acme) == []
    await proposals.accept(acme.owner, kept.id)
    await proposals.discard(acme.owner, dropped.id)
    await proposals.restore(acme.owner, dropped.id)
    found = await activities(storage, acme)
    assert [(each.type, each.subject_id) for each in found] == [
        ("memory_fact_accepted", kept.id),
        ("memory_fact_discarded", dropped.id),
        ("memory_fact_restored", dropped.id),
    ]
    assert {(each.user_id, each.agent_id) for each in found} == {(acme.owner.user_id, None)}
    events = [row.metadata for row in await told(storage, acme)]
    assert [each["action"] for each in events] == [
        "proposed",
        "proposed",
        "accepted",
        "discarded",
        "restored",
    ]
    assert events[2] == {"memory_id": str(kept.id), "version": 1, "action": "accepted"}
    assert events[3] == {"proposal_id": str(dropped.id), "action": "discarded"}
    assert {row.agent_id for row in await told(storage, acme)} == {acme.scout.id}
    written = json.dumps([*events, *(each.metadata for each in found)])
    assert TEA not in written


async def test_listeners_hear_of_a_change_once_it_is_committed_and_can_not_fail_it(
    storage: Storage, acme: Tenant
) -> None:
    heard: list[UUID] = []

    def deaf(organization_id: UUID) -> None:
        heard.append(organization_id)
        raise RuntimeError

    proposals = Proposals(storage, changed=deaf)
    made = await proposed(proposals, acme.owner)
    await proposals.discard(acme.owner, made.id)
    await proposals.restore(acme.owner, made.id)
    assert heard == [acme.owner.organization_id] * 3


# --- discarding and restoring ----------------------------------------------------------------


async def test_what_is_discarded_is_kept_for_30_days(
    storage: Storage, memories: Memories, proposals: Proposals, acme: Tenant, clock: SteppedClock
) -> None:
    made = await proposed(proposals, acme.owner)
    discarded = await proposals.discard(acme.owner, made.id)
    assert discarded.status is ProposalStatus.DISCARDED
    assert (discarded.text, discarded.decided_by) == (TEA, acme.owner.user_id)
    assert discarded.restorable_until == clock.now + timedelta(days=30)
    assert await listed(proposals, acme.owner) == []
    clock.tick(timedelta(days=30) - timedelta(seconds=1))
    assert await listed(proposals, acme.owner, ProposalStatus.DISCARDED) == [made.id]
    memory = await proposals.restore(acme.owner, made.id)
    assert (memory.id, memory.text) == (made.id, TEA)
    assert await memories.get(acme.owner, made.id) == memory
    assert await listed(proposals, acme.owner, ProposalStatus.DISCARDED) == []
    present = await counted(storage, acme)
    assert (present.active, present.waiting, present.discarded) == (1, 0, 0)


async def test_after_30_days_it_can_not_be_restored_and_is_not_listed(
    proposals: Proposals, acme: Tenant, clock: SteppedClock
) -> None:
    made = await proposed(proposals, acme.owner)
    await proposals.discard(acme.owner, made.id)
    clock.tick(timedelta(days=30))
    assert await listed(proposals, acme.owner, ProposalStatus.DISCARDED) == []
    with pytest.raises(NotRestorable):
        await proposals.restore(acme.owner, made.id)


async def test_what_would_have_expired_can_not_be_restored(
    proposals: Proposals, acme: Tenant, clock: SteppedClock
) -> None:
    ends = clock.now + timedelta(days=1)
    made = await proposed(proposals, acme.owner, expires_at=ends)
    assert (await proposals.discard(acme.owner, made.id)).restorable_until == ends
    clock.tick(timedelta(days=1))
    with pytest.raises(NotRestorable):
        await proposals.restore(acme.owner, made.id)


async def test_only_what_is_discarded_is_restored_and_only_what_waits_is_discarded(
    proposals: Proposals, acme: Tenant
) -> None:
    made = await proposed(proposals, acme.owner)
    with pytest.raises(Conflict, match="waits"):
        await proposals.restore(acme.owner, made.id)
    await proposals.discard(acme.owner, made.id)
    for again in (proposals.discard, proposals.accept):
        with pytest.raises(Conflict, match="discarded already"):
            await again(acme.owner, made.id)


async def test_restoring_is_refused_at_capacity_and_where_the_same_lives_by_now(
    storage: Storage, acme: Tenant
) -> None:
    memories, proposals = Memories(storage, FEW), Proposals(storage, FEW)
    made = await proposed(proposals, acme.owner)
    await proposals.discard(acme.owner, made.id)
    held = await memories.remember(acme.owner, "Likes TEA")
    with pytest.raises(DuplicateMemory) as refused:
        await proposals.restore(acme.owner, made.id)
    assert refused.value.details["memory_id"] == str(held.id)
    await memories.forget(acme.owner, held.id)
    kept = [await memories.remember(acme.owner, f"fact {n}") for n in range(3)]
    with pytest.raises(MemoriesFull):
        await proposals.restore(acme.owner, made.id)
    assert await listed(proposals, acme.owner, ProposalStatus.DISCARDED) == [made.id]
    await memories.forget(acme.owner, kept[0].id)
    await proposals.restore(acme.owner, made.id)


async def test_a_restored_proposal_replaces_nothing_that_stands_under_its_attribute(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    made = await proposed(proposals, acme.owner, attribute=DRINK)
    await proposals.discard(acme.owner, made.id)
    held = await memories.remember(acme.owner, "likes coffee", attribute=DRINK)
    with pytest.raises(Conflict) as refused:
        await proposals.restore(acme.owner, made.id)
    assert refused.value.details["memory_id"] == str(held.id)
    await memories.forget(acme.owner, held.id)
    memory = await proposals.restore(acme.owner, made.id)
    assert (memory.id, memory.version, memory.text) == (held.id, 3, TEA)


# --- who may -----------------------------------------------------------------------------------


async def test_an_agent_decides_nothing(proposals: Proposals, acme: Tenant) -> None:
    scout = acme.key_of(acme.scout)
    made = await proposed(proposals, scout)
    for decide in (proposals.accept, proposals.discard, proposals.restore):
        with pytest.raises(ToolPolicyRequired):
            await decide(scout, made.id)
        with pytest.raises(ReadOnly):
            await decide(acme.reader, made.id)
    assert await listed(proposals, acme.owner) == [made.id]


async def test_an_agent_sees_what_it_proposed_itself_and_nothing_else(
    proposals: Proposals, acme: Tenant
) -> None:
    own = await proposed(proposals, acme.key_of(acme.scout, acme.anna))
    others = [
        await proposed(proposals, acme.key_of(acme.scout, acme.ben)),
        await proposed(proposals, acme.key_of(acme.scout)),
        await proposed(proposals, acme.key_of(acme.clerk, acme.anna)),
        await proposed(proposals, acme.owner),
        await proposed(proposals, acme.owner, user_id=acme.anna.id),
    ]
    scout = acme.key_of(acme.scout, acme.anna)
    # For Anna and for nobody in particular: both were this agent's own.
    assert set(await listed(proposals, scout)) == {own.id, others[1].id}
    assert await listed(proposals, acme.key_of(acme.scout)) == [others[1].id]
    for each in (others[0], *others[2:]):
        with pytest.raises(NotFound):
            await proposals.get(scout, each.id)
    assert await proposals.get(scout, own.id) == own


async def test_a_member_sees_what_the_memory_would_be_known_to_and_decides_on_its_own_user_s(
    proposals: Proposals, acme: Tenant
) -> None:
    anna = acme.member(acme.anna)
    own = await proposed(proposals, acme.key_of(acme.scout, acme.anna))
    shared = await proposed(proposals, acme.key_of(acme.scout))
    bens = await proposed(proposals, acme.key_of(acme.scout, acme.ben))
    assert set(await listed(proposals, anna)) == {own.id, shared.id}
    assert await proposals.get(anna, shared.id) == shared
    for act in (proposals.get, proposals.accept, proposals.discard, proposals.restore):
        with pytest.raises(NotFound):
            await act(anna, bens.id)
    for decide in (proposals.accept, proposals.discard, proposals.restore):
        with pytest.raises(Refused):
            await decide(anna, shared.id)
    assert (await proposals.accept(anna, own.id)).user_id == acme.anna.id
    assert set(await listed(proposals, acme.reader)) == {shared.id, bens.id}


async def test_two_organizations_know_nothing_of_each_other(
    storage: Storage, memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    made = await proposed(proposals, acme.owner)
    await memories.remember(acme.owner, "opens at nine")
    # The same texts are new there.
    await proposed(proposals, other.owner)
    await proposed(proposals, other.owner, "opens at nine")
    assert made.id not in await listed(proposals, other.owner)
    for who in (other.owner, other.reader):
        with pytest.raises(NotFound) as unknown:
            await proposals.get(who, made.id)
        with pytest.raises(NotFound) as never:
            await proposals.get(who, new_id())
        assert set(unknown.value.details) == set(never.value.details)
    for decide in (proposals.accept, proposals.discard, proposals.restore):
        with pytest.raises(NotFound):
            await decide(other.owner, made.id)
    assert await listed(proposals, acme.owner) == [made.id]
    assert (await counted(storage, acme)).waiting == 1


# --- lists -------------------------------------------------------------------------------------


async def test_a_list_goes_on_where_it_ended_whatever_is_added_or_decided_meanwhile(
    proposals: Proposals, acme: Tenant
) -> None:
    made = [await proposed(proposals, acme.owner, f"fact {n}") for n in range(5)]
    first = await proposals.page(acme.owner, limit=2)
    assert [each.id for each in first.items] == [made[4].id, made[3].id]
    await proposals.accept(acme.owner, made[4].id)
    await proposals.discard(acme.owner, made[1].id)
    await proposed(proposals, acme.owner, "later")
    second = await proposals.page(acme.owner, limit=2, cursor=first.next_cursor)
    assert [each.id for each in second.items] == [made[2].id, made[0].id]
    assert second.next_cursor is None


async def test_a_cursor_of_another_list_and_a_bad_limit_or_status_are_refused(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    for number in range(2):
        await memories.remember(acme.owner, f"fact {number}")
        await proposed(proposals, acme.owner, f"wish {number}")
    theirs = (await memories.page(acme.owner, limit=1)).next_cursor
    ours = (await proposals.page(acme.owner, limit=1)).next_cursor
    for given in (
        {"cursor": theirs},
        {"cursor": "x"},
        {"cursor": ours, "status": ProposalStatus.DISCARDED},
        {"limit": 0},
        {"limit": 201},
        {"status": "open"},
    ):
        with pytest.raises(Invalid):
            await proposals.page(acme.owner, **given)


async def test_unknown_ids_are_not_found_and_change_nothing(
    storage: Storage, memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    held = await memories.remember(acme.owner, TEA)
    for proposal_id in (new_id(), held.id, UUID(int=0)):
        for act in (proposals.get, proposals.accept, proposals.discard, proposals.restore):
            with pytest.raises(NotFound):
                await act(acme.owner, proposal_id)
    assert len(await memories.history(acme.owner, held.id)) == 1
