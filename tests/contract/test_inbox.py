"""The inbox shows each caller what it may know of what waits, once, in pages that lose nothing."""

from uuid import UUID

import pytest

from memoranda.app import Memoranda
from memoranda.sync import Memoranda as SyncMemoranda
from memoranda.tools.inbox.models import DECISIONS, Waiting, WaitingKind
from memoranda.words.errors import Invalid
from tests.contract.file_house import EMPTY
from tests.contract.tenants import Tenant, new_tenant

MEMORY, CALL, FILE = WaitingKind


async def _fill(memoranda: Memoranda, tenant: Tenant, word: str) -> dict[WaitingKind, UUID]:
    """One of each kind, for Anna by the agent scout."""
    agent = tenant.key_of(tenant.scout, tenant.anna)
    proposed = await memoranda.proposals.propose(agent, f"{word} likes tea.")
    assert proposed.proposal is not None
    kept = await memoranda.memories.remember(
        tenant.owner, f"{word} walks.", user_id=tenant.anna.id, agent_id=tenant.scout.id
    )
    wish = {"memory_id": str(kept.id), "expected_version": 1}
    asked = (await memoranda.tools.invoke(agent, "forget", wish)).answer["approval_id"]
    await memoranda.files.get(tenant.owner, "voice")
    change = await memoranda.file_proposals.propose(agent, "voice", f"{word}.", EMPTY)
    return {MEMORY: proposed.proposal.id, CALL: UUID(str(asked)), FILE: change.id}


async def test_each_caller_sees_what_it_may_know_and_the_ways_that_are_its_own(
    database_url: str,
) -> None:
    async with Memoranda.open(database_url) as memoranda:
        acme = await new_tenant(memoranda.storage, "Acme")
        other = await new_tenant(memoranda.storage, "Other")
        made = await _fill(memoranda, acme, "Anna")
        foreign = await _fill(memoranda, other, "Zoe")

        async def seen(who: object) -> dict[WaitingKind, Waiting]:
            page = await memoranda.inbox.page(who)  # type: ignore[arg-type] # one of the callers below
            assert page.next_cursor is None
            assert not {each.id for each in page.items} & set(foreign.values())
            return {each.kind: each for each in page.items}

        owner = await seen(acme.owner)
        assert {kind: each.id for kind, each in owner.items()} == made
        for kind, each in owner.items():
            assert [way.decision for way in each.ways] == list(DECISIONS[kind])
            assert (each.user_id, each.agent_id) == (acme.anna.id, acme.scout.id)
        anna = await seen(acme.member(acme.anna))
        assert {kind: bool(each.ways) for kind, each in anna.items()} == {
            MEMORY: True,
            CALL: True,
            FILE: False,
        }
        assert await seen(acme.member(acme.ben)) == {}
        reader = await seen(acme.reader)
        assert set(reader) == {MEMORY, CALL, FILE}
        assert not any(each.ways for each in reader.values())
        scout = await seen(acme.key_of(acme.scout, acme.anna))
        assert set(scout) == {MEMORY, CALL, FILE}
        assert not any(each.ways for each in scout.values())


async def test_pages_show_each_once_and_in_the_order_of_their_times(database_url: str) -> None:
    async with Memoranda.open(database_url) as memoranda:
        acme = await new_tenant(memoranda.storage)
        for word in ("One", "Two", "Three"):
            agent = acme.key_of(acme.scout, acme.anna)
            await memoranda.proposals.propose(agent, f"{word} likes tea.")
            await memoranda.files.get(acme.owner, "voice")
            await memoranda.file_proposals.propose(agent, "voice", f"{word}.", EMPTY)
        whole = [each.id for each in (await memoranda.inbox.page(acme.owner)).items]
        assert len(whole) == 6
        for limit in (1, 2, 4, 5):
            found: list[UUID] = []
            cursor = None
            while True:
                page = await memoranda.inbox.page(acme.owner, limit=limit, cursor=cursor)
                assert len(page.items) <= limit
                found += [each.id for each in page.items]
                cursor = page.next_cursor
                if cursor is None:
                    break
            assert found == whole
        with pytest.raises(Invalid):
            await memoranda.inbox.page(acme.owner, cursor="x" * 32)
        with pytest.raises(Invalid):
            await memoranda.inbox.page(acme.owner, limit=101)


async def test_what_waits_is_found_by_its_id_and_what_is_decided_is_not(database_url: str) -> None:
    async with Memoranda.open(database_url) as memoranda:
        acme = await new_tenant(memoranda.storage, "Acme")
        other = await new_tenant(memoranda.storage, "Other")
        made = await _fill(memoranda, acme, "Anna")
        for kind, id_ in made.items():
            found = await memoranda.inbox.find(acme.owner, id_)
            assert found is not None
            assert found.kind is kind
            assert await memoranda.inbox.find(other.owner, id_) is None
        await memoranda.proposals.discard(acme.owner, made[MEMORY])
        await memoranda.tools.approvals.deny(acme.owner, made[CALL])
        await memoranda.file_proposals.discard(acme.owner, made[FILE])
        for id_ in made.values():
            assert await memoranda.inbox.find(acme.owner, id_) is None


def test_a_script_sees_the_same_list(sqlite_database: str) -> None:
    with SyncMemoranda(sqlite_database) as memoranda:
        memoranda.propose("Tea is at four.")
        assert [each.kind for each in memoranda.inbox().items] == [MEMORY]
