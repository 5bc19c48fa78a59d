"""Many who propose and decide at once: one inbox, one winner, and numbers that stay true."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from itertools import pairwise

import pytest
from sqlalchemy import func, select

from memoranda.memories.counts import store as counts
from memoranda.memories.errors import MemoriesFull, StaleVersion
from memoranda.memories.limits import MemoryLimits
from memoranda.memories.models import Memory, Proposal, ProposalStatus, Proposed
from memoranda.memories.proposals.service import Proposals
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import memories as memories_table
from memoranda.storage.tables import memory_proposals
from memoranda.words.errors import Conflict, DuplicateMemory
from tests.contract.memory_trail import activities, told
from tests.contract.tenants import Tenant

PEOPLE = 6
LIMITS = Ways(MemoryLimits(active=50, waiting=10))

STATUSES = select(memory_proposals.c.status, func.count().label("rows")).group_by(
    memory_proposals.c.status
)
LIVE = select(memories_table.c.live)


@pytest.fixture
async def opened(database_url: str, storage: Storage) -> AsyncIterator[list[Storage]]:
    """Six openings of one database, as six processes would have."""
    every = [await Storage.open(database_url) for _ in range(PEOPLE)]
    yield every
    for each in every:
        await each.close()


@pytest.fixture
def people(opened: list[Storage]) -> list[Proposals]:
    return [Proposals(each, LIMITS) for each in opened]


async def waiting(proposals: Proposals, acme: Tenant, text: str, **given) -> Proposal:
    answer = await proposals.propose(acme.owner, text, **given)
    assert answer.proposal is not None
    return answer.proposal


async def at_once(calls) -> tuple[list, list[Conflict]]:
    """What was answered and what was refused; nothing else may come of it."""
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    for each in outcomes:
        if isinstance(each, BaseException) and not isinstance(each, Conflict):
            raise each
    refused = [each for each in outcomes if isinstance(each, Conflict)]
    return [each for each in outcomes if not isinstance(each, BaseException)], refused


async def assert_counts_are_true(storage: Storage, acme: Tenant) -> counts.Counts:
    """The row of counts says what there is."""

    def look(tx: Transaction) -> tuple[counts.Counts, dict[str, int], int, int]:
        of_status = {row.status: row.rows for row in tx.all(STATUSES)}
        live = [row.live for row in tx.all(LIVE)]
        return counts.counts(tx), of_status, live.count(True), live.count(False)

    kept, of_status, live, gone = await storage.read(acme.owner.organization_id, look)
    assert kept.waiting == of_status.get("waiting", 0)
    assert kept.discarded == of_status.get("discarded", 0)
    assert kept.active == live
    assert kept.forgotten <= gone
    return kept


async def test_of_all_who_accept_at_once_exactly_one_does(
    storage: Storage, people: list[Proposals], acme: Tenant
) -> None:
    for turn in range(8):
        made = await waiting(people[0], acme, f"fact {turn}")
        won, lost = await at_once(each.accept(acme.owner, made.id) for each in people)
        assert [memory.id for memory in won] == [made.id]
        assert {each.details["memory_id"] for each in lost} == {str(made.id)}
        assert len(lost) == PEOPLE - 1
        assert len(await Memories(storage).history(acme.owner, made.id)) == 1
    present = await assert_counts_are_true(storage, acme)
    assert (present.active, present.waiting) == (8, 0)
    assert len(await activities(storage, acme)) == 8


async def test_of_one_who_accepts_and_one_who_discards_exactly_one_does(
    storage: Storage, people: list[Proposals], acme: Tenant
) -> None:
    for turn in range(10):
        made = await waiting(people[0], acme, f"fact {turn}")
        won, lost = await at_once(
            [people[1].accept(acme.owner, made.id), people[2].discard(acme.owner, made.id)]
        )
        assert (len(won), len(lost)) == (1, 1)
        after = await people[0].get(acme.owner, made.id)
        accepted = isinstance(won[0], Memory)
        assert after.status == ("accepted" if accepted else "discarded")
        assert [each.id for each in (await Memories(storage).page(acme.owner)).items].count(
            made.id
        ) == int(accepted)
    await assert_counts_are_true(storage, acme)


async def test_of_all_who_restore_at_once_exactly_one_does(
    storage: Storage, people: list[Proposals], acme: Tenant
) -> None:
    for turn in range(5):
        made = await waiting(people[0], acme, f"fact {turn}")
        await people[0].discard(acme.owner, made.id)
        won, lost = await at_once(each.restore(acme.owner, made.id) for each in people)
        assert (len(won), len(lost)) == (1, PEOPLE - 1)
    present = await assert_counts_are_true(storage, acme)
    assert (present.active, present.discarded) == (5, 0)


@pytest.mark.parametrize("attribute", [None, "preference.drink"])
async def test_two_who_propose_the_same_at_one_instant_make_one_and_learn_its_id(
    storage: Storage, people: list[Proposals], acme: Tenant, attribute: str | None
) -> None:
    for turn in range(8):
        answers: list[Proposed]
        answers, refused = await at_once(
            each.propose(acme.owner, f"likes tea {turn}", attribute=attribute) for each in people
        )
        assert not refused
        assert sorted(each.outcome for each in answers) == ["known"] * (PEOPLE - 1) + ["waiting"]
        assert len({each.proposal.id for each in answers}) == 1
    assert (await assert_counts_are_true(storage, acme)).waiting == 8


async def test_the_inbox_never_holds_more_than_it_may_and_every_drop_is_counted(
    storage: Storage, people: list[Proposals], acme: Tenant
) -> None:
    async def propose(number: int, proposals: Proposals) -> list[Proposed]:
        return [await proposals.propose(acme.owner, f"fact {number}.{n}") for n in range(5)]

    made = await asyncio.gather(*[propose(n, each) for n, each in enumerate(people)])
    outcomes = [each.outcome for some in made for each in some]
    assert outcomes.count("waiting") == LIMITS.limits.waiting
    assert outcomes.count("dropped") == PEOPLE * 5 - LIMITS.limits.waiting
    present = await assert_counts_are_true(storage, acme)
    assert (present.waiting, present.dropped) == (10, PEOPLE * 5 - 10)


async def test_the_last_room_for_a_memory_is_given_once(
    storage: Storage, opened: list[Storage], acme: Tenant
) -> None:
    tight = [Proposals(each, Ways(MemoryLimits(active=1))) for each in opened]
    made = [await waiting(tight[0], acme, f"fact {n}") for n in range(PEOPLE)]
    won, lost = await at_once(
        each.accept(acme.owner, proposal.id) for each, proposal in zip(tight, made, strict=True)
    )
    assert len(won) == 1
    assert {type(each) for each in lost} == {MemoriesFull}
    present = await assert_counts_are_true(storage, acme)
    assert (present.active, present.waiting) == (1, PEOPLE - 1)


async def test_accepting_under_an_attribute_while_others_write_it_makes_one_linear_chain(
    storage: Storage, opened: list[Storage], people: list[Proposals], acme: Tenant
) -> None:
    key = {"attribute": "preference.drink"}
    made = [await waiting(people[0], acme, f"likes tea {n}", **key) for n in range(6)]
    memories = [Memories(each, LIMITS) for each in opened]
    writes = [
        memories[n % PEOPLE].remember(acme.owner, f"likes coffee {n}", **key) for n in range(12)
    ]
    accepts = [people[n].accept(acme.owner, each.id) for n, each in enumerate(made)]
    won, lost = await at_once([*writes, *accepts])
    assert not lost
    (memory_id,) = {memory.id for memory in won}
    history = await memories[0].history(acme.owner, memory_id)
    assert [each.version for each in history] == list(range(1, 19))
    assert {(each.version, each.text) for each in won} == {(h.version, h.text) for h in history}
    assert all(one.id == other.supersedes_id for one, other in pairwise(history))


async def test_a_text_that_is_remembered_and_accepted_at_once_lives_once(
    storage: Storage, opened: list[Storage], people: list[Proposals], acme: Tenant
) -> None:
    for turn in range(8):
        made = await waiting(people[0], acme, f"likes tea {turn}")
        won, lost = await at_once(
            [
                people[1].accept(acme.owner, made.id),
                Memories(opened[2], LIMITS).remember(acme.owner, f"Likes TEA {turn}"),
            ]
        )
        assert (len(won), [type(each) for each in lost]) == (1, [DuplicateMemory])
        assert lost[0].details["memory_id"] == str(won[0].id)
    assert len((await Memories(storage).page(acme.owner)).items) == 8
    await assert_counts_are_true(storage, acme)


async def test_a_merge_and_a_change_of_what_it_joins_never_both_happen_unseen(
    storage: Storage, opened: list[Storage], people: list[Proposals], acme: Tenant
) -> None:
    memories = Memories(storage, LIMITS)
    for turn in range(8):
        kept = [
            await memories.remember(acme.owner, f"The user likes tea {turn}{end}")
            for end in ("", ".", "!")
        ]
        (merge,) = await people[0].tidy_up(acme.owner)
        won, lost = await at_once(
            [
                people[1].accept(acme.owner, merge.id),
                Memories(opened[2], LIMITS).update(acme.owner, kept[1].id, text=f"coffee {turn}"),
            ]
        )
        texts = {each.text for each in (await memories.page(acme.owner)).items}
        if isinstance(won[0], Memory) and won[0].text != f"coffee {turn}":
            assert f"coffee {turn}" not in texts
            assert type(lost[0]) is Conflict
        else:
            assert f"coffee {turn}" in texts
            assert type(lost[0]) is StaleVersion
            assert merge.id in {each.id for each in (await people[0].page(acme.owner)).items}
            await people[0].discard(acme.owner, merge.id)
        for each in (await memories.page(acme.owner)).items:
            await memories.forget(acme.owner, each.id)
    await assert_counts_are_true(storage, acme)


async def test_two_who_tidy_up_at_once_propose_each_merge_once(
    storage: Storage, people: list[Proposals], acme: Tenant
) -> None:
    memories = Memories(storage, LIMITS)
    for number in range(4):
        for end in ("", ".", "!"):
            await memories.remember(acme.owner, f"The user likes tea {number}{end}")
    answers, refused = await at_once(each.tidy_up(acme.owner) for each in people)
    assert not refused
    assert sum(len(each) for each in answers) == 4
    assert (await assert_counts_are_true(storage, acme)).waiting == 4


async def test_many_who_do_everything_at_once_meet_only_named_refusals_and_leave_true_counts(
    storage: Storage, opened: list[Storage], people: list[Proposals], acme: Tenant
) -> None:
    texts = ["likes tea", "Likes tea.", "likes tea!", "likes coffee", "opens at nine"]

    async def live(number: int) -> None:
        dice = random.Random(number)
        proposals, memories = people[number], Memories(opened[number], LIMITS)
        for _ in range(25):
            text, key = dice.choice(texts), dice.choice([None, None, "preference.a"])
            inbox = (await proposals.page(acme.owner)).items
            bin_ = (await proposals.page(acme.owner, status=ProposalStatus.DISCARDED)).items
            held = (await memories.page(acme.owner)).items
            of = acme.owner
            choices = [
                partial(proposals.propose, of, text, attribute=key),
                partial(memories.remember, of, text, attribute=key),
                partial(proposals.tidy_up, of),
                *(partial(proposals.accept, of, each.id) for each in inbox),
                *(partial(proposals.discard, of, each.id) for each in inbox[:1]),
                *(partial(proposals.restore, of, each.id) for each in bin_[:2]),
                *(partial(memories.forget, of, each.id) for each in held[:2]),
            ]
            with suppress(Conflict):
                await dice.choice(choices)()

    await asyncio.gather(*[live(number) for number in range(PEOPLE)])
    await assert_counts_are_true(storage, acme)
    numbers = [row.metadata["action"] for row in await told(storage, acme)]
    decided = [each.type for each in await activities(storage, acme)]
    for action in ("accepted", "discarded", "restored"):
        assert numbers.count(action) == decided.count(f"memory_fact_{action}")


async def test_without_the_inbox_s_lock_the_constraints_still_keep_one_of_each_text(
    storage: Storage, people: list[Proposals], acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Transaction, "lock", lambda self, key: None)
    for turn in range(5):
        answers, refused = await at_once(
            each.propose(acme.owner, f"likes tea {turn}") for each in people
        )
        assert not refused
        assert len({each.proposal.id for each in answers}) == 1
    assert (await assert_counts_are_true(storage, acme)).waiting == 5
