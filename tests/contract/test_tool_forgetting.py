"""What an erasure takes along of tools on every database: no table holds a text that an agent asked for."""

from uuid import UUID

import pytest
from sqlalchemy import select

from memoranda.access.models import Principal
from memoranda.conversations.service import Conversations
from memoranda.memories.models import Memory
from memoranda.memories.removal.models import Elsewhere
from memoranda.memories.removal.service import Removal
from memoranda.storage import PLATFORM, Storage
from memoranda.storage.signals import SCRUB, signals
from memoranda.storage.tables import tool_approvals, tool_receipts
from memoranda.tools import forgetting
from memoranda.tools.models import Decision
from memoranda.words.errors import NotFound
from memoranda.words.ids import new_id
from tests.contract.deciding_house import DecidingHouse
from tests.contract.memory_trail import read
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.traces import Scanner
from tests.postgres import Postgres

SAID, ASKED, DENIED, LATER = (
    "keeps bees in Wexford",
    "keeps wasps in Athlone",
    "keeps hornets in Tralee",
    "keeps crickets in Sligo",
)
TEXTS = (SAID, ASKED, DENIED, LATER)
APPROVALS = select(tool_approvals.c.id)
RECEIPTS = select(tool_receipts.c.key, tool_receipts.c.digest, tool_receipts.c.answer)


@pytest.fixture
def house(storage: Storage) -> DecidingHouse:
    return DecidingHouse(storage)


@pytest.fixture
def removal(storage: Storage) -> Removal:
    return Removal(
        storage,
        quoting=Conversations(storage).quoting,
        elsewhere=Elsewhere(forgetting.clear, forgetting.clear_user),
    )


@pytest.fixture
def scanner(database_url: str, request: pytest.FixtureRequest) -> Scanner:
    server: Postgres | None = None
    if not database_url.startswith("sqlite:"):
        server = request.getfixturevalue("postgres")
    return Scanner(database_url, server)


async def through_all(
    house: DecidingHouse, acme: Tenant, agent: Principal, memory: Memory
) -> list[UUID]:
    """A memory, about which one call waits, one was denied and one was done."""
    denied = await house.waiting(agent, memory, DENIED, key="denied")
    await house.approvals.deny(acme.owner, denied)
    done = await house.waiting(agent, memory, LATER, key="done")
    await house.approvals.approve(acme.owner, done)
    now = await house.memories.get(acme.owner, memory.id)
    return [denied, done, await house.waiting(agent, now, ASKED, key="waiting")]


async def test_what_is_asked_for_is_in_the_database_until_it_is_erased(
    house: DecidingHouse, acme: Tenant, scanner: Scanner
) -> None:
    memory = await house.memories.remember(acme.owner, SAID, agent_id=acme.scout.id)
    await through_all(house, acme, acme.key_of(acme.scout), memory)
    assert {SAID, ASKED, LATER} <= scanner.found(TEXTS).keys()


async def test_with_a_memory_goes_all_that_was_asked_about_it(
    house: DecidingHouse, acme: Tenant, removal: Removal, scanner: Scanner, storage: Storage
) -> None:
    agent = acme.key_of(acme.scout)
    memory = await house.memories.remember(acme.owner, SAID, agent_id=acme.scout.id)
    other = await house.memories.remember(acme.owner, "has a boat", agent_id=acme.scout.id)
    kept = await house.waiting(agent, other, "has two boats", key="kept")
    gone = await through_all(house, acme, agent, memory)
    erased = await removal.erase(acme.owner, memory.id)
    assert erased.scrubbed
    assert scanner.found(TEXTS) == {}
    for approval_id in gone:
        with pytest.raises(NotFound):
            await house.approvals.get(acme.owner, approval_id)
    assert [each.id for each in await house.listed(acme.owner)] == [kept]
    left = {row.key: row.digest is not None for row in await read(storage, acme, RECEIPTS)}
    assert left == {"denied": False, "done": False, "waiting": False, "kept": True}


async def test_a_call_about_an_erased_memory_is_known_to_have_been_made_and_no_more(
    house: DecidingHouse, acme: Tenant, removal: Removal
) -> None:
    agent = acme.key_of(acme.scout)
    await house.policies.set(acme.owner, acme.scout.id, "remember", Decision.ALLOW)
    given = {"content": SAID}
    made = await house.answer(agent, "remember", "k", **given)
    await removal.erase(acme.owner, UUID(made["memory_id"]))
    assert await house.code(agent, "remember", "k", **given) == "erased"
    assert await house.code(agent, "remember", "k", content="else") == "erased"


async def test_with_a_users_memories_goes_all_that_was_asked_for_the_user(
    house: DecidingHouse, acme: Tenant, removal: Removal, scanner: Scanner, storage: Storage
) -> None:
    for_anna, for_ben = (acme.key_of(acme.scout, user) for user in (acme.anna, acme.ben))
    annas = await house.memories.remember(
        acme.owner, SAID, agent_id=acme.scout.id, user_id=acme.anna.id
    )
    shared = await house.memories.remember(acme.owner, "has a boat", agent_id=acme.scout.id)
    await through_all(house, acme, for_anna, annas)
    await house.waiting(for_anna, shared, f"{ASKED} too", key="shared")
    kept = await house.waiting(for_ben, shared, "has two boats", key="bens")
    erased = await removal.erase_user(acme.owner, acme.anna.id)
    assert erased.scrubbed
    assert scanner.found(TEXTS) == {}
    assert [row.id for row in await read(storage, acme, APPROVALS)] == [kept]
    assert [row.key for row in await read(storage, acme, RECEIPTS)] == ["bens"]
    assert (await house.memories.get(acme.owner, shared.id)).text == "has a boat"


async def test_a_user_without_memories_is_cleared_as_well(
    house: DecidingHouse, acme: Tenant, removal: Removal, scanner: Scanner
) -> None:
    shared = await house.memories.remember(acme.owner, "has a boat", agent_id=acme.scout.id)
    await house.waiting(acme.key_of(acme.scout, acme.anna), shared, ASKED)
    assert (await removal.erase_user(acme.owner, acme.anna.id)).scrubbed
    assert scanner.found(TEXTS) == {}
    assert await house.listed(acme.owner) == []


async def test_what_is_taken_away_is_also_to_leave_the_files_and_nothing_taken_calls_for_nothing(
    house: DecidingHouse, acme: Tenant, storage: Storage
) -> None:
    organization = acme.owner.organization_id
    memory = await house.memories.remember(acme.owner, SAID, agent_id=acme.scout.id)
    await house.waiting(acme.key_of(acme.scout, None), memory, ASKED)
    await storage.write(organization, forgetting.clear, [new_id()])
    await storage.write(organization, forgetting.clear, [])
    await storage.write(organization, forgetting.clear_user, acme.anna.id)
    assert await storage.read(PLATFORM, signals, SCRUB) == []
    assert len(await house.listed(acme.owner)) == 1
    await storage.write(organization, forgetting.clear, [memory.id])
    assert len(await storage.read(PLATFORM, signals, SCRUB)) == 1


async def test_nothing_of_another_organization_goes(
    house: DecidingHouse, acme: Tenant, storage: Storage
) -> None:
    other = await new_tenant(storage, "Other")
    memory = await house.memories.remember(acme.owner, SAID, agent_id=acme.scout.id)
    for_anna = acme.key_of(acme.scout, acme.anna)
    kept = await house.waiting(for_anna, memory, ASKED, key="k")
    await storage.write(other.owner.organization_id, forgetting.clear, [memory.id])
    await storage.write(other.owner.organization_id, forgetting.clear_user, acme.anna.id)
    assert [each.id for each in await house.listed(acme.owner)] == [kept]
    assert [row.digest is not None for row in await read(storage, acme, RECEIPTS)] == [True]
