"""What tidying up promises on every database: it proposes, and a person lets it happen."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import numpy as np
import pytest

from memoranda.access.roles import ToolPolicyRequired
from memoranda.memories.counts import store as counts
from memoranda.memories.errors import StaleVersion
from memoranda.memories.finding.service import Finding
from memoranda.memories.limits import COLLECTION, MemoryLimits
from memoranda.memories.models import Memory, Origin, ProposalKind, ProposalStatus
from memoranda.memories.proposals import inbox, store
from memoranda.memories.proposals.service import Proposals
from memoranda.memories.proposals.tidy import merges
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.search.calibration import Calibration
from memoranda.search.embedders.choice import Embedders
from memoranda.search.vectors.making import store as making
from memoranda.search.vectors.matrix import pack
from memoranda.search.vectors.service import Vectors
from memoranda.storage import Storage, Transaction
from memoranda.words.errors import Conflict, DuplicateMemory, NotFound, ReadOnly
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.memory_trail import MODEL, activities, made_of, told, words
from tests.contract.tenants import Tenant, new_tenant
from tests.memories.tidy_texts import FITTED

NINE = FITTED[0].said
THREE = ("The user likes tea", "User likes tea.", "I like tea!")


@pytest.fixture
def storage(timed_storage: Storage) -> Storage:
    """Time stands still here until a test moves it."""
    return timed_storage


async def remembered(
    memories: Memories, acme: Tenant, texts: Sequence[str] = THREE, **given
) -> list[Memory]:
    return [await memories.remember(acme.owner, text, **given) for text in texts]


async def live(memories: Memories, acme: Tenant) -> set[UUID]:
    return {each.id for each in (await memories.page(acme.owner)).items}


# --- what is proposed ---------------------------------------------------------------------------


async def test_nine_restatements_make_one_proposal_and_change_nothing(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    held = await remembered(memories, acme, NINE)
    (merge,) = await proposals.tidy_up(acme.owner)
    assert (merge.kind, merge.status) == (ProposalKind.MERGE, ProposalStatus.WAITING)
    assert (merge.origin, merge.author_user_id) == (Origin.CONSOLIDATION, acme.owner.user_id)
    assert (merge.memory_id, merge.text) == (held[0].id, NINE[0])
    assert {(each.id, each.version) for each in merge.merges} == {(e.id, 1) for e in held[1:]}
    assert [each.id for each in (await proposals.page(acme.owner)).items] == [merge.id]
    assert await live(memories, acme) == {each.id for each in held}
    assert [len(await memories.history(acme.owner, each.id)) for each in held] == [1] * 9


async def test_two_that_contradict_each_other_are_left_alone(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    await remembered(
        memories,
        acme,
        ("The user likes tea", "The user doesn't like tea", "Opens at 9", "Opens at 10"),
    )
    assert await proposals.tidy_up(acme.owner) == []


async def test_what_is_for_others_is_never_merged(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    audiences = [
        {},
        {"user_id": acme.anna.id},
        {"user_id": acme.ben.id},
        {"agent_id": acme.scout.id},
        {"user_id": acme.anna.id, "agent_id": acme.scout.id},
    ]
    for text, given in zip(NINE, audiences, strict=False):
        await remembered(memories, acme, (text,), **given)
    assert await proposals.tidy_up(acme.owner) == []
    for given in audiences:
        await remembered(memories, acme, (NINE[-1],), **given)
    made = await proposals.tidy_up(acme.owner)
    assert [(each.user_id, each.agent_id) for each in made] != []
    assert {(each.user_id, each.agent_id) for each in made} == {
        (given.get("user_id"), given.get("agent_id")) for given in audiences
    }


async def test_forgotten_and_expired_memories_are_not_looked_at(
    memories: Memories, proposals: Proposals, acme: Tenant, clock: SteppedClock
) -> None:
    ends = clock.now + timedelta(hours=1)
    await remembered(memories, acme, expires_at=ends)
    held = await remembered(memories, acme, ("likes cocoa", "Likes cocoa."))
    await memories.forget(acme.owner, held[0].id)
    clock.tick(timedelta(hours=1))
    assert await proposals.tidy_up(acme.owner) == []


async def test_tidying_up_again_proposes_nothing_twice(
    storage: Storage, memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    await remembered(memories, acme)
    (merge,) = await proposals.tidy_up(acme.owner)
    assert await proposals.tidy_up(acme.owner) == []
    await proposals.discard(acme.owner, merge.id)
    # A person said no to just this.
    assert await proposals.tidy_up(acme.owner) == []
    await remembered(memories, acme, ("likes tea - the user",))
    await memories.remember(acme.owner, "User likes tea?")
    changed = await memories.remember(acme.owner, "The user really likes tea")
    (again,) = await proposals.tidy_up(acme.owner)
    assert changed.id in {each.id for each in again.merges}
    assert len((await proposals.page(acme.owner)).items) == 1


async def test_a_waiting_merge_of_memories_that_have_changed_makes_room_for_a_new_one(
    storage: Storage, memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    first, second, third = await remembered(memories, acme)
    (stale,) = await proposals.tidy_up(acme.owner)
    await memories.update(acme.owner, second.id, text="The user likes coffee")
    (fresh,) = await proposals.tidy_up(acme.owner)
    assert (fresh.memory_id, [each.id for each in fresh.merges]) == (first.id, [third.id])
    after = await proposals.get(acme.owner, stale.id)
    assert (after.status, after.decided_by) == (ProposalStatus.DISCARDED, acme.owner.user_id)
    kept = await storage.read(acme.owner.organization_id, counts.counts)
    assert (kept.waiting, kept.discarded) == (1, 1)
    assert [each.type for each in await activities(storage, acme)][-1] == "memory_fact_discarded"


async def test_only_as_many_are_proposed_as_there_is_room_for(
    storage: Storage, memories: Memories, acme: Tenant
) -> None:
    proposals = Proposals(storage, Ways(MemoryLimits(waiting=2)))
    await proposals.propose(acme.owner, "something else")
    for thing in ("tea", "coffee", "cocoa"):
        await remembered(memories, acme, (f"likes {thing}", f"Likes {thing}."))
    assert len(await proposals.tidy_up(acme.owner)) == 1
    kept = await storage.read(acme.owner.organization_id, counts.counts)
    assert (kept.waiting, kept.dropped) == (2, 0)


async def test_a_member_tidies_up_what_is_its_users_own_and_an_agent_or_a_reader_nothing(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    await remembered(memories, acme)
    await remembered(memories, acme, user_id=acme.ben.id)
    own = await remembered(memories, acme, user_id=acme.anna.id)
    (merge,) = await proposals.tidy_up(acme.member(acme.anna))
    assert (merge.user_id, merge.memory_id) == (acme.anna.id, own[0].id)
    with pytest.raises(ToolPolicyRequired):
        await proposals.tidy_up(acme.key_of(acme.scout))
    with pytest.raises(ReadOnly):
        await proposals.tidy_up(acme.reader)
    assert len(await proposals.tidy_up(acme.owner)) == 2


async def test_another_organization_s_memories_are_never_merged_or_proposed_to(
    storage: Storage, memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    await remembered(memories, acme, THREE[:1])
    await memories.remember(other.owner, THREE[1])
    assert await proposals.tidy_up(acme.owner) == []
    await remembered(memories, acme, THREE[1:2])
    (merge,) = await proposals.tidy_up(acme.owner)
    assert await proposals.tidy_up(other.owner) == []
    with pytest.raises(NotFound):
        await proposals.accept(other.owner, merge.id)


class Near:
    """An embedder that finds all texts alike, and is called `MODEL`."""

    model = MODEL
    dimensions = 2
    calibration = Calibration(slope=200.0, middle=0.5)

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.tile(np.array([1, 0], np.float32), (len(texts), 1))


async def make_vectors(storage: Storage, acme: Tenant) -> None:
    """What the worker does: make every vector that is wanted."""

    def make(tx: Transaction) -> None:
        claim = making.claim(tx, COLLECTION, MODEL, new_id(), lease=timedelta(minutes=1), most=99)
        making.keep(tx, claim, pack(np.tile(np.array([1, 0], np.float32), (len(claim.texts), 1))))

    await storage.write(acme.owner.organization_id, make)


async def test_where_there_are_vectors_an_embedder_vouches_for_what_adds_nothing(
    storage: Storage, acme: Tenant
) -> None:
    memories = Memories(storage, Ways(models=(MODEL,)))
    await remembered(memories, acme, ("The user works as a nurse", "User is a nurse"))
    near = Vectors(storage, Embedders(Near()), COLLECTION)
    assert await Proposals(storage, vectors=near).tidy_up(acme.owner) == []
    await make_vectors(storage, acme)
    assert await Proposals(storage).tidy_up(acme.owner) == []
    (merge,) = await Proposals(storage, vectors=near).tidy_up(acme.owner)
    assert merge.text == "The user works as a nurse"
    await near.close()


# --- accepting a merge ------------------------------------------------------------------------


async def test_accepting_appends_to_the_one_that_stays_and_ends_the_others_in_it(
    storage: Storage, memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    held = await remembered(memories, acme, NINE)
    (merge,) = await proposals.tidy_up(acme.owner)
    memory = await proposals.accept(acme.owner, merge.id)
    assert (memory.id, memory.version, memory.text) == (held[0].id, 2, NINE[0])
    assert (memory.origin, memory.author_user_id) == (Origin.CONSOLIDATION, acme.owner.user_id)
    assert await memories.get(acme.owner, memory.id) == memory
    assert await live(memories, acme) == {memory.id}
    for other in held[1:]:
        last = (await memories.history(acme.owner, other.id))[-1]
        assert (last.text, last.continued_by_id) == (None, memory.id)
        with pytest.raises(Conflict) as refused:
            await memories.restore(acme.owner, other.id)
        assert refused.value.details["continued_by_id"] == str(memory.id)
    after = await proposals.get(acme.owner, merge.id)
    assert (after.status, after.text, after.memory_id) == ("accepted", None, memory.id)
    kept = await storage.read(acme.owner.organization_id, counts.counts)
    assert (kept.active, kept.forgotten, kept.waiting) == (1, 0, 0)
    assert (await memories.page(acme.owner, status="forgotten")).items == []


async def test_the_words_and_vectors_of_the_others_go_and_an_unchanged_text_keeps_its_own(
    storage: Storage, acme: Tenant
) -> None:
    ways = Ways(models=(MODEL,))
    memories, proposals = Memories(storage, ways), Proposals(storage, ways)
    await remembered(memories, acme)
    await make_vectors(storage, acme)
    (merge,) = await proposals.tidy_up(acme.owner)
    memory = await proposals.accept(acme.owner, merge.id)
    assert set(await words(storage, acme)) == {memory.id}
    newest = (await memories.history(acme.owner, memory.id))[-1]
    assert await made_of(storage, acme) == {memory.id: newest.id}
    (found,) = (await Finding(storage).search(acme.owner, "tea")).results
    assert found.memory == memory


async def test_a_merge_is_one_activity_and_every_memory_in_it_is_told(
    storage: Storage, memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    held = await remembered(memories, acme)
    (merge,) = await proposals.tidy_up(acme.owner)
    await proposals.accept(acme.owner, merge.id)
    last = (await activities(storage, acme))[len(held) :]
    assert [(each.type, each.subject_id) for each in last] == [("memory_fact_accepted", held[0].id)]
    assert last[0].metadata["merged"] == [str(each.id) for each in held[1:]]
    events = [row.metadata for row in await told(storage, acme)][len(held) + 1 :]
    assert sorted((each["memory_id"], each["action"]) for each in events) == sorted(
        [
            (str(held[0].id), "accepted"),
            (str(held[1].id), "merged"),
            (str(held[2].id), "merged"),
        ]
    )


async def test_pins_uses_tags_and_a_key_stay_with_the_one_that_stays(
    storage: Storage, memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    await remembered(memories, acme, THREE[:1], tags=["a"], title="Tea")
    await remembered(memories, acme, THREE[1:2], tags=["b"], pinned=True)
    keyed = await memories.remember(
        acme.owner, THREE[2], attribute="preference.drink", tags=["c"], pinned=True
    )
    (merge,) = await proposals.tidy_up(acme.owner)
    assert (merge.memory_id, merge.subject_key) == (keyed.id, keyed.subject_key)
    memory = await proposals.accept(acme.owner, merge.id)
    assert (memory.id, memory.pinned, memory.title) == (keyed.id, True, "Tea")
    assert set(memory.tags) == {"a", "b", "c"}
    kept = await storage.read(acme.owner.organization_id, counts.counts)
    assert (kept.active, kept.pinned) == (1, 1)


async def test_a_merge_may_say_it_in_another_s_words_or_in_a_person_s(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    held = await remembered(memories, acme)
    (merge,) = await proposals.tidy_up(acme.owner)
    memory = await proposals.accept(acme.owner, merge.id, text=f"  {held[1].text.upper()} ")
    assert (memory.id, memory.text) == (held[0].id, held[1].text.upper())


async def test_a_text_that_another_memory_holds_is_refused_and_the_merge_waits_on(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    held = await remembered(memories, acme)
    other = await memories.remember(acme.owner, "likes cocoa")
    (merge,) = await proposals.tidy_up(acme.owner)
    with pytest.raises(DuplicateMemory) as refused:
        await proposals.accept(acme.owner, merge.id, text="Likes cocoa")
    assert refused.value.details["memory_id"] == str(other.id)
    assert await live(memories, acme) == {other.id, *(each.id for each in held)}
    assert [each.id for each in (await proposals.page(acme.owner)).items] == [merge.id]


async def test_an_expired_memory_s_text_may_be_taken_over(
    memories: Memories, proposals: Proposals, acme: Tenant, clock: SteppedClock
) -> None:
    await remembered(memories, acme)
    ends = clock.now + timedelta(hours=1)
    await memories.remember(acme.owner, "Likes cocoa", expires_at=ends)
    clock.tick(timedelta(hours=1))
    (merge,) = await proposals.tidy_up(acme.owner)
    memory = await proposals.accept(acme.owner, merge.id, text="likes cocoa")
    assert await live(memories, acme) == {memory.id}


@pytest.mark.parametrize("which", [0, 1])
async def test_a_member_that_changed_makes_it_stale_with_what_it_says_now(
    storage: Storage, memories: Memories, proposals: Proposals, acme: Tenant, which: int
) -> None:
    held = await remembered(memories, acme)
    (merge,) = await proposals.tidy_up(acme.owner)
    await memories.update(acme.owner, held[which].id, text="likes cocoa")
    with pytest.raises(StaleVersion) as stale:
        await proposals.accept(acme.owner, merge.id)
    assert stale.value.details == {
        "memory_id": str(held[which].id),
        "version": 2,
        "text": "likes cocoa",
    }
    assert await live(memories, acme) == {each.id for each in held}
    assert [each.id for each in (await proposals.page(acme.owner)).items] == [merge.id]


@pytest.mark.parametrize("which", [0, 1])
async def test_a_member_that_was_forgotten_is_a_conflict_that_names_it(
    memories: Memories, proposals: Proposals, acme: Tenant, which: int
) -> None:
    held = await remembered(memories, acme)
    (merge,) = await proposals.tidy_up(acme.owner)
    await memories.forget(acme.owner, held[which].id)
    with pytest.raises(Conflict) as refused:
        await proposals.accept(acme.owner, merge.id)
    assert type(refused.value) is Conflict
    assert refused.value.details == {"memory_id": str(held[which].id)}
    assert len(await live(memories, acme)) == 2


async def test_a_merge_of_what_has_expired_since_is_a_conflict_too(
    memories: Memories, proposals: Proposals, acme: Tenant, clock: SteppedClock
) -> None:
    ends = clock.now + timedelta(hours=1)
    held = await remembered(memories, acme, expires_at=ends)
    (merge,) = await proposals.tidy_up(acme.owner)
    clock.tick(timedelta(hours=1))
    with pytest.raises(Conflict, match="expired"):
        await proposals.accept(acme.owner, merge.id)
    assert {len(await memories.history(acme.owner, each.id)) for each in held} == {1}


async def test_what_changes_while_it_is_compared_is_not_proposed(
    storage: Storage, memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    held = await remembered(memories, acme)
    organization = acme.owner.organization_id
    compared = await storage.read(organization, store.compared, None, 99)
    found = [(of, merge) for of, some in compared.items() for merge in merges(some)]
    await memories.update(acme.owner, held[1].id, text="likes cocoa")
    made = await storage.write(organization, inbox.propose_merges, acme.owner, found, Ways())
    assert made == []
    assert (await proposals.page(acme.owner)).items == []


async def test_a_pin_makes_nothing_stale(
    memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    held = await remembered(memories, acme)
    (merge,) = await proposals.tidy_up(acme.owner)
    await memories.update(acme.owner, held[0].id, pinned=True)
    assert (await proposals.accept(acme.owner, merge.id)).pinned


async def test_a_discarded_merge_may_be_restored_while_nothing_has_changed(
    storage: Storage, memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    held = await remembered(memories, acme)
    (merge,) = await proposals.tidy_up(acme.owner)
    await proposals.discard(acme.owner, merge.id)
    assert (await proposals.restore(acme.owner, merge.id)).id == held[0].id
    assert await live(memories, acme) == {held[0].id}
    kept = await storage.read(acme.owner.organization_id, counts.counts)
    assert (kept.active, kept.waiting, kept.discarded) == (1, 0, 0)
