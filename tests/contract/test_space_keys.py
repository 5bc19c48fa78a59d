"""What keys of spaces promise on every database: they open one space and nothing else, for as long as it is theirs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from uuid import UUID

import pytest

from memoranda.access.models import NewKey, Principal, Role, Space
from memoranda.access.service import Access
from memoranda.storage import Storage
from memoranda.tools.models import ToolSpace
from memoranda.tools.spaces.spelling import spelled
from memoranda.words.errors import Invalid, NotFound, Refused, Unauthenticated
from memoranda.words.ids import new_id
from tests.contract.deciding_house import DecidingHouse
from tests.contract.tenants import Tenant, new_tenant

FLOW, NODE = "orders", "ask"
ALL = ["remember", "recall", "list", "get", "update", "forget"]
READS = ["recall", "list", "get"]


@pytest.fixture
def house(storage: Storage) -> DecidingHouse:
    return DecidingHouse(storage)


@pytest.fixture
def access(storage: Storage) -> Access:
    return Access(storage)


@pytest.fixture
async def space(house: DecidingHouse, acme: Tenant) -> ToolSpace:
    return await house.spaces.publish(acme.owner, FLOW, NODE, agent_id=acme.scout.id, tools=ALL)


async def key_of(
    access: Access, acme: Tenant, space: ToolSpace, user_id: UUID | None = None
) -> NewKey:
    return await access.create_key(
        acme.owner, Role.AGENT, agent_id=acme.scout.id, user_id=user_id, space_id=space.id
    )


async def opens(access: Access, key: NewKey) -> bool:
    try:
        await access.authenticate(key.key)
    except Unauthenticated:
        return False
    return True


async def test_a_key_of_a_space_speaks_for_it_and_for_its_agent_and_user(
    access: Access, acme: Tenant, space: ToolSpace
) -> None:
    for user_id in (None, acme.anna.id):
        key = await key_of(access, acme, space, user_id)
        assert key.space_id == space.id
        assert await access.authenticate(key.key) == Principal(
            organization_id=acme.owner.organization_id,
            role=Role.AGENT,
            user_id=user_id,
            agent_id=acme.scout.id,
            key_id=key.id,
            space=Space(
                id=space.id, name=spelled(FLOW, NODE), agent_id=acme.scout.id, tools=tuple(ALL)
            ),
        )


async def test_it_is_what_a_node_in_this_process_is_bound_to(
    access: Access, house: DecidingHouse, acme: Tenant, space: ToolSpace
) -> None:
    key = await key_of(access, acme, space, acme.anna.id)
    bound = await house.spaces.bound(acme.owner, FLOW, NODE, user_id=acme.anna.id)
    assert (await access.authenticate(key.key)).model_copy(update={"key_id": None}) == bound


async def test_other_keys_speak_for_no_space(
    access: Access, acme: Tenant, space: ToolSpace
) -> None:
    key = await access.create_key(acme.owner, Role.AGENT, agent_id=acme.scout.id)
    assert key.space_id is None
    assert (await access.authenticate(key.key)).space is None


async def test_lists_of_keys_say_which_space_a_key_opens(
    access: Access, acme: Tenant, space: ToolSpace
) -> None:
    bound = await key_of(access, acme, space)
    free = await access.create_key(acme.owner, Role.READ_ONLY)
    found = {key.id: key.space_id for key in (await access.keys(acme.owner)).items}
    assert (found[bound.id], found[free.id]) == (space.id, None)


async def test_a_key_knows_the_tools_that_its_space_has_now(
    access: Access, house: DecidingHouse, acme: Tenant, space: ToolSpace
) -> None:
    key = await key_of(access, acme, space)
    await house.spaces.publish(acme.owner, FLOW, NODE, agent_id=acme.scout.id, tools=READS)
    who = await access.authenticate(key.key)
    assert who.space is not None
    assert who.space.tools == tuple(READS)


async def test_a_key_is_its_spaces_agents_or_a_reader_where_it_has_none(
    access: Access, house: DecidingHouse, acme: Tenant, space: ToolSpace
) -> None:
    for role, agent_id in ((Role.AGENT, acme.clerk.id), (Role.READ_ONLY, None)):
        with pytest.raises(Invalid) as refusal:
            await access.create_key(acme.owner, role, agent_id=agent_id, space_id=space.id)
        assert refusal.value.details["field"] == "agent_id"
    reading = await house.spaces.publish(acme.owner, FLOW, "read", tools=READS)
    with pytest.raises(Invalid):
        await access.create_key(acme.owner, Role.AGENT, agent_id=acme.scout.id, space_id=reading.id)
    key = await access.create_key(acme.owner, Role.READ_ONLY, space_id=reading.id)
    who = await access.authenticate(key.key)
    assert (who.role, who.agent_id) == (Role.READ_ONLY, None)
    assert await house.code(who, "remember", content="x") == "unknown_tool"


@pytest.mark.parametrize("role", [Role.OWNER, Role.MEMBER])
async def test_a_persons_key_is_bound_to_no_space(
    role: Role, access: Access, acme: Tenant, space: ToolSpace
) -> None:
    with pytest.raises(Invalid):
        await access.create_key(acme.owner, role, user_id=acme.anna.id, space_id=space.id)


async def test_a_space_of_another_organization_is_none(
    access: Access, acme: Tenant, space: ToolSpace, storage: Storage
) -> None:
    other = await new_tenant(storage, "Other")
    for space_id in (space.id, new_id()):
        with pytest.raises(NotFound):
            await access.create_key(
                other.owner, Role.AGENT, agent_id=other.scout.id, space_id=space_id
            )
    assert all(key.space_id is None for key in (await access.keys(other.owner)).items)


async def test_a_key_of_a_space_opens_nothing_else(
    access: Access, house: DecidingHouse, acme: Tenant, space: ToolSpace
) -> None:
    who = await access.authenticate((await key_of(access, acme, space, acme.anna.id)).key)
    for verb in (
        access.agents(who),
        access.agent(who, "scout"),
        access.users(who),
        access.keys(who),
        access.create_key(who, Role.READ_ONLY),
        house.approvals.page(who),
        house.policies.page(who),
        house.spaces.page(who),
    ):
        with pytest.raises(Refused):
            await verb
    with pytest.raises(NotFound):
        await access.user(who, acme.ben.id)
    reading = await house.spaces.publish(acme.owner, FLOW, "read", tools=READS)
    key = await access.create_key(acme.owner, Role.READ_ONLY, space_id=reading.id)
    with pytest.raises(NotFound):
        await access.user(await access.authenticate(key.key), acme.anna.id)


async def test_a_space_that_is_withdrawn_takes_its_keys_along_and_no_others(
    access: Access, house: DecidingHouse, acme: Tenant, space: ToolSpace
) -> None:
    other = await house.spaces.publish(acme.owner, FLOW, "b", agent_id=acme.scout.id, tools=ALL)
    free = await access.create_key(acme.owner, Role.AGENT, agent_id=acme.scout.id)
    kept = [await key_of(access, acme, other), free]
    gone = [await key_of(access, acme, space), await key_of(access, acme, space, acme.anna.id)]
    await house.spaces.withdraw(acme.owner, space.id)
    assert [await opens(access, key) for key in kept] == [True, True]
    assert [await opens(access, key) for key in gone] == [False, False]
    # Nor do they come back with the node.
    await house.spaces.publish(acme.owner, FLOW, NODE, agent_id=acme.scout.id, tools=ALL)
    assert [await opens(access, key) for key in gone] == [False, False]


async def test_a_space_that_is_given_to_another_agent_shuts_out_the_first(
    access: Access, house: DecidingHouse, acme: Tenant, space: ToolSpace
) -> None:
    old = await key_of(access, acme, space)
    await house.spaces.publish(acme.owner, FLOW, NODE, agent_id=acme.scout.id, tools=READS)
    assert await opens(access, old)
    await house.spaces.publish(acme.owner, FLOW, NODE, agent_id=acme.clerk.id, tools=ALL)
    assert not await opens(access, old)
    new = await access.create_key(acme.owner, Role.AGENT, agent_id=acme.clerk.id, space_id=space.id)
    await house.spaces.publish(acme.owner, FLOW, NODE, tools=READS)
    assert not await opens(access, new)


@pytest.fixture
async def beside(database_url: str, storage: Storage) -> AsyncIterator[DecidingHouse]:
    """Another opening of the same database, as another process would have."""
    opened = await Storage.open(database_url)
    yield DecidingHouse(opened)
    await opened.close()


@pytest.mark.parametrize("how", ["withdrawn", "given away"])
async def test_no_key_outlives_what_happens_to_its_space_while_it_is_made(
    how: str, access: Access, house: DecidingHouse, beside: DecidingHouse, acme: Tenant
) -> None:
    for turn in range(12):
        space = await house.spaces.publish(
            acme.owner, FLOW, f"{turn}", agent_id=acme.scout.id, tools=ALL
        )
        change = (
            beside.spaces.withdraw(acme.owner, space.id)
            if how == "withdrawn"
            else beside.spaces.publish(
                acme.owner, FLOW, f"{turn}", agent_id=acme.clerk.id, tools=ALL
            )
        )
        made, changed = await asyncio.gather(
            key_of(access, acme, space), change, return_exceptions=True
        )
        assert isinstance(changed, ToolSpace)
        if isinstance(made, NewKey):
            assert not await opens(access, made)
        else:
            assert isinstance(made, NotFound | Invalid)
    with suppress(NotFound):
        await house.spaces.withdraw(acme.owner, new_id())
