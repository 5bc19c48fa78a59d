"""An id that names nothing, or nothing for the caller, is answered in one way by every verb, and changes nothing."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from memoranda.access.models import Principal
from memoranda.memories import store
from memoranda.memories.audience import Audience
from memoranda.memories.candidate import Author, Candidate
from memoranda.memories.errors import NotRestorable
from memoranda.memories.ways import Ways
from memoranda.storage import Storage
from memoranda.words.errors import Conflict, MemorandaError, NotFound, Refused
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.memory_house import House, changed
from tests.contract.tenants import new_tenant

Verb = Callable[[House, Principal, UUID], Awaitable[Any]]
ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

MEMORY_READS: dict[str, Verb] = {
    "get": lambda house, who, id_: house.memories.get(who, id_),
    "history": lambda house, who, id_: house.memories.history(who, id_),
}
MEMORY_WRITES: dict[str, Verb] = {
    "edit": lambda house, who, id_: house.memories.update(who, id_, text="new"),
    "edit at a version": lambda house, who, id_: house.memories.update(
        who, id_, title="new", expected_version=1
    ),
    "pin": lambda house, who, id_: house.memories.update(who, id_, pinned=True),
    "move": lambda house, who, id_: house.memories.update(who, id_, agent_id=house.acme.scout.id),
    "forget": lambda house, who, id_: house.memories.forget(who, id_),
    "restore": lambda house, who, id_: house.memories.restore(who, id_),
}
PROPOSAL_VERBS: dict[str, Verb] = {
    "get proposal": lambda house, who, id_: house.proposals.get(who, id_),
    "accept": lambda house, who, id_: house.proposals.accept(who, id_),
    "accept with a text": lambda house, who, id_: house.proposals.accept(who, id_, text="new"),
    "discard": lambda house, who, id_: house.proposals.discard(who, id_),
    "restore proposal": lambda house, who, id_: house.proposals.restore(who, id_),
}
ERASE: dict[str, Verb] = {"erase": lambda house, who, id_: house.removal.erase(who, id_)}


@dataclass(frozen=True)
class Ids:
    """One id of each sort, in the order in which they were made."""

    live: UUID
    revision: UUID
    tombstone: UUID
    forgotten: UUID
    expired: UUID
    purged: UUID
    bens: UUID
    space: UUID
    waiting: UUID
    bens_waiting: UUID
    theirs: UUID
    theirs_waiting: UUID


@pytest.fixture
async def house(timed_storage: Storage, clock: SteppedClock) -> House:
    return House(timed_storage, await new_tenant(timed_storage), clock)


async def furnish(house: House) -> Ids:
    acme, memories, clock = house.acme, house.memories, house.clock
    anna = {"user_id": acme.anna.id}
    purged = await memories.remember(acme.owner, "purged", **anna)
    await memories.forget(acme.owner, purged.id)
    clock.tick(timedelta(days=31))
    await house.removal.purge_due(house.organization)
    live = await memories.remember(acme.owner, "live", **anna)
    await memories.update(acme.owner, live.id, text="live on")
    forgotten = await memories.remember(acme.owner, "forgotten", **anna)
    await memories.forget(acme.owner, forgotten.id)
    soon = clock.now + timedelta(minutes=1)
    expired = await memories.remember(acme.owner, "expired", expires_at=soon, **anna)
    clock.tick(timedelta(minutes=2))
    space = Candidate(Audience(space="a"), None, "space", None, None, (), None, Author())
    theirs = House(house.storage, await new_tenant(house.storage, "Globex"), clock)
    return Ids(
        live=live.id,
        revision=(await memories.history(acme.owner, live.id))[-1].id,
        tombstone=(await memories.history(acme.owner, forgotten.id))[-1].id,
        forgotten=forgotten.id,
        expired=expired.id,
        purged=purged.id,
        bens=(await memories.remember(acme.owner, "secret", user_id=acme.ben.id)).id,
        space=(await house.storage.write(house.organization, store.remember, space, Ways())).id,
        waiting=await proposed(house, acme.anna.id),
        bens_waiting=await proposed(house, acme.ben.id),
        theirs=(await theirs.memories.remember(theirs.acme.owner, "secret")).id,
        theirs_waiting=await proposed(theirs, theirs.acme.anna.id),
    )


async def proposed(house: House, user_id: UUID) -> UUID:
    made = await house.proposals.propose(
        house.acme.owner, "secret wish", user_id=user_id, agent_id=house.acme.scout.id
    )
    assert made.proposal is not None
    return made.proposal.id


async def refusal(house: House, verb: Verb, who: Principal, id_: UUID) -> MemorandaError:
    """How a verb refuses an id; a verb that takes it is the failure of the test."""
    try:
        answer = await verb(house, who, id_)
    except MemorandaError as refused:
        return refused
    pytest.fail(f"answered {answer!r}")


async def check(house: House, who: Principal, verbs: dict[str, Verb], ids: dict[str, UUID]) -> None:
    """Each verb refuses each id as it refuses one that was never dealt out, and no row is touched."""
    before = await house.rows()
    for name, verb in verbs.items():
        unknown = await refusal(house, verb, who, new_id())
        assert type(unknown) is NotFound, name
        for sort, id_ in ids.items():
            refused = await refusal(house, verb, who, id_)
            assert said(refused) == said(unknown), f"{name} of {sort}: {refused.message}"
            assert str(id_) in refused.message, "the caller is told which id is wrong"
    assert changed(before, await house.rows()) == set()


def said(refused: MemorandaError) -> tuple[str, str, str]:
    """All that a refusal tells, but for the id."""
    details = ID.sub("ID", str(sorted(refused.details.items())))
    return refused.code, ID.sub("ID", refused.message), details


async def test_a_wrong_id_is_not_found_by_any_verb_and_changes_nothing(house: House) -> None:
    ids = await furnish(house)
    never_a_memory = {
        "a revision": ids.revision,
        "a tombstone's revision": ids.tombstone,
        "a proposal": ids.waiting,
        "another organization's": ids.theirs,
        "a user": house.acme.anna.id,
        "no id at all": UUID(int=0),
        "the last id": UUID(int=2**128 - 1),
    }
    owner = house.acme.owner
    for who in (owner, house.acme.member(house.acme.anna)):
        await check(house, who, MEMORY_READS | MEMORY_WRITES, never_a_memory)
    await check(house, owner, ERASE, never_a_memory)
    never_a_proposal = {
        "a memory": ids.live,
        "another organization's": ids.theirs_waiting,
        "no id at all": UUID(int=0),
    }
    for who in (owner, house.acme.member(house.acme.anna)):
        await check(house, who, PROPOSAL_VERBS, never_a_proposal)


async def test_what_is_not_for_a_member_is_answered_like_what_is_not_there(house: House) -> None:
    ids = await furnish(house)
    anna = house.acme.member(house.acme.anna)
    hidden = {"another user's": ids.bens, "a space's": ids.space}
    await check(house, anna, MEMORY_READS | MEMORY_WRITES, hidden)
    await check(house, anna, PROPOSAL_VERBS, {"another user's": ids.bens_waiting})
    # Ben's, purged: that there was one is told to Ben alone.
    await house.memories.forget(house.acme.owner, ids.bens)
    await house.removal.erase(house.acme.owner, ids.bens)
    await check(house, anna, MEMORY_READS | MEMORY_WRITES, hidden)
    with pytest.raises(NotRestorable):
        await house.memories.restore(house.acme.member(house.acme.ben), ids.bens)


async def test_what_has_ended_is_refused_by_the_verbs_that_need_it_live(house: House) -> None:
    ids = await furnish(house)
    owner = house.acme.owner
    before = await house.rows()
    for name, verb in MEMORY_WRITES.items():
        told: dict[UUID, type[MemorandaError]] = {
            ids.forgotten: Conflict,
            ids.expired: NotFound,
            ids.purged: NotFound,
        }
        if name == "restore":
            told = {ids.live: Conflict, ids.expired: NotFound, ids.purged: NotRestorable}
        if name == "forget":  # what nobody sees any more may still be made to go
            del told[ids.expired]
        for id_, kind in told.items():
            refused = await refusal(house, verb, owner, id_)
            assert type(refused) is kind, (name, refused)
            assert str(id_) in refused.message
    for gone in (ids.forgotten, ids.expired, ids.purged):
        with pytest.raises(NotFound):
            await house.memories.get(owner, gone)
    assert changed(before, await house.rows()) == set()


async def test_a_key_that_may_not_write_is_refused_before_any_id_is_looked_up(
    house: House,
) -> None:
    ids = await furnish(house)
    acme = house.acme
    before = await house.rows()
    for who in (acme.reader, acme.key_of(acme.scout, acme.anna)):
        for verb in (MEMORY_WRITES | ERASE).values():
            told = [said(await refusal(house, verb, who, id_)) for id_ in (ids.live, new_id())]
            assert told[0] == told[1]
            assert isinstance(await refusal(house, verb, who, ids.live), Refused)
    with pytest.raises(Refused):
        await house.removal.erase(acme.member(acme.anna), ids.live)
    assert changed(before, await house.rows()) == set()
