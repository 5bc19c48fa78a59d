"""What access promises on every database: keys, roles, and one organization apart from another."""

import asyncio
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from memoranda.access.keys import mint
from memoranda.access.models import LOCAL_OPERATOR, NewOrganization, Principal, Role
from memoranda.access.service import Access
from memoranda.storage import PLATFORM, Storage
from memoranda.words.errors import Conflict, Invalid, NotFound, Refused, Unauthenticated
from memoranda.words.ids import new_id


@pytest.fixture
def access(storage: Storage) -> Access:
    return Access(storage)


@pytest.fixture
async def owner(access: Access) -> Principal:
    return await access.ensure_default()


async def organization(access: Access, name: str = "Acme") -> NewOrganization:
    return await access.create_organization(LOCAL_OPERATOR, name)


async def refusal(access: Access, key: str) -> str:
    with pytest.raises(Unauthenticated) as refused:
        await access.authenticate(key)
    return refused.value.message


async def test_a_key_speaks_for_whom_it_was_made(access: Access, owner: Principal) -> None:
    anna = await access.create_user(owner, "Anna")
    scout = await access.create_agent(owner, "scout")
    key = await access.create_key(owner, Role.AGENT, user_id=anna.id, agent_id=scout.id)
    assert await access.authenticate(key.key) == Principal(
        organization_id=owner.organization_id,
        role=Role.AGENT,
        user_id=anna.id,
        agent_id=scout.id,
        key_id=key.id,
    )


async def test_an_operators_key_stands_outside_every_organization(access: Access) -> None:
    key = await access.create_key(LOCAL_OPERATOR, Role.OPERATOR)
    who = await access.authenticate(key.key)
    assert (who.organization_id, who.role) == (None, Role.OPERATOR)
    assert [each.id for each in (await access.keys(who)).items] == [key.id]


async def test_every_refused_key_hears_the_same(access: Access, owner: Principal) -> None:
    home = owner.organization_id
    assert home is not None
    soon = datetime.now(UTC) + timedelta(milliseconds=300)
    expiring = await access.create_key(owner, Role.READ_ONLY, expires_at=soon)
    revoked = await access.create_key(owner, Role.READ_ONLY)
    await access.revoke_key(owner, revoked.id)
    assert (await access.authenticate(expiring.key)).key_id == expiring.id
    await asyncio.sleep(0.31)
    refusals = {
        await refusal(access, key)
        for key in (
            expiring.key,
            revoked.key,
            mint(home),
            mint(new_id()),
            mint(PLATFORM),
            mint(UUID(int=0)),
            "",
            "garbled",
            "nul\0",
            "\ud800",
        )
    }
    assert len(refusals) == 1


async def test_a_key_with_another_organizations_prefix_opens_neither(access: Access) -> None:
    ours, theirs = await organization(access), await organization(access, "Other")
    crossed = ours.key.key.replace(ours.organization.id.hex, theirs.organization.id.hex)
    outside = ours.key.key.replace(ours.organization.id.hex, "platform")
    await refusal(access, crossed)
    await refusal(access, outside)
    assert (await access.authenticate(ours.key.key)).organization_id == ours.organization.id


async def test_a_key_that_ends_before_it_begins_is_not_made(
    access: Access, owner: Principal
) -> None:
    with pytest.raises(Invalid):
        await access.create_key(
            owner, Role.READ_ONLY, expires_at=datetime.now(UTC) - timedelta(seconds=1)
        )
    assert (await access.keys(owner)).items == []


async def test_a_revoked_key_keeps_the_time_of_its_end(access: Access, owner: Principal) -> None:
    key = await access.create_key(owner, Role.READ_ONLY)
    first = await access.revoke_key(owner, key.id)
    again = await access.revoke_key(owner, key.id)
    assert first.revoked_at is not None
    assert again == first
    assert (await access.keys(owner)).items == [first]


async def test_no_organization_lists_or_revokes_anothers_keys(access: Access) -> None:
    ours, theirs = await organization(access), await organization(access, "Other")
    us = await access.authenticate(ours.key.key)
    assert [key.id for key in (await access.keys(us)).items] == [ours.key.id]
    with pytest.raises(NotFound):
        await access.revoke_key(us, theirs.key.id)
    with pytest.raises(NotFound):
        await access.revoke_key(LOCAL_OPERATOR, theirs.key.id)
    await access.authenticate(theirs.key.key)


async def test_a_key_is_never_bound_to_another_organizations_user_or_agent(
    access: Access, owner: Principal
) -> None:
    us = await access.authenticate((await organization(access)).key.key)
    anna = await access.create_user(owner, "Anna")
    scout = await access.create_agent(owner, "scout")
    with pytest.raises(NotFound):
        await access.create_key(us, Role.MEMBER, user_id=anna.id)
    with pytest.raises(NotFound):
        await access.create_key(us, Role.AGENT, agent_id=scout.id)


async def test_however_many_start_at_once_one_default_organization_is_made(
    storage: Storage, database_url: str
) -> None:
    others = [await Storage.open(database_url) for _ in range(3)]
    try:
        doors = [Access(each) for each in (storage, *others)]
        found = await asyncio.gather(*(door.ensure_default() for door in doors * 4))
    finally:
        for each in others:
            await each.close()
    assert len(set(map(str, found))) == 1
    organizations = (await doors[0].organizations(LOCAL_OPERATOR)).items
    assert [each.is_default for each in organizations] == [True]
    assert [user.id for user in (await doors[0].users(found[0])).items] == [found[0].user_id]


async def test_an_organization_comes_with_its_owner_and_the_owners_key(access: Access) -> None:
    made = await access.create_organization(LOCAL_OPERATOR, " Acme ", external_id="acme")
    who = await access.authenticate(made.key.key)
    assert (who.role, who.user_id) == (Role.OWNER, made.owner.id)
    assert await access.organization(who) == made.organization
    assert (made.organization.name, made.organization.external_id) == ("Acme", "acme")
    assert made.organization.owner_id == made.owner.id


async def test_a_taken_external_id_is_named_and_leaves_nothing_behind(access: Access) -> None:
    first = await access.create_organization(LOCAL_OPERATOR, "Acme", external_id="acme")
    with pytest.raises(Conflict, match="'acme'"):
        await access.create_organization(LOCAL_OPERATOR, "Again", external_id="acme")
    assert (await access.organizations(LOCAL_OPERATOR)).items == [first.organization]


async def test_a_taken_slug_or_external_id_is_named(access: Access, owner: Principal) -> None:
    await access.create_agent(owner, "scout", external_id="s1")
    await access.create_user(owner, "Anna", external_id="u1")
    with pytest.raises(Conflict, match="'scout'") as slug:
        await access.create_agent(owner, "scout")
    with pytest.raises(Conflict, match="'s1'") as agent:
        await access.create_agent(owner, "clerk", external_id="s1")
    with pytest.raises(Conflict, match="'u1'") as user:
        await access.create_user(owner, "Ben", external_id="u1")
    fields = [refused.value.details["field"] for refused in (slug, agent, user)]
    assert fields == ["slug", "external_id", "external_id"]
    assert len((await access.agents(owner)).items) == 1


async def test_two_organizations_may_use_the_same_names(access: Access, owner: Principal) -> None:
    us = await access.authenticate((await organization(access)).key.key)
    for who in (owner, us):
        await access.create_agent(who, "scout", external_id="s1")
        await access.create_user(who, "Anna", external_id="u1")
    assert (await access.agent(us, "scout")).id != (await access.agent(owner, "scout")).id
    assert (await access.user(us, "u1")).id != (await access.user(owner, "u1")).id


async def test_an_agent_is_found_by_id_then_slug_then_external_id(
    access: Access, owner: Principal
) -> None:
    one = await access.create_agent(owner, "one", external_id="two")
    two = await access.create_agent(owner, "two", external_id="one")
    three = await access.create_agent(owner, "three", external_id=str(one.id))
    for name in (one.id, str(one.id), "one"):
        assert await access.agent(owner, name) == one
    assert await access.agent(owner, "two") == two
    await access.create_agent(owner, "four", external_id="fourth")
    assert (await access.agent(owner, "fourth")).slug == "four"
    assert await access.agent(owner, three.id) == three
    with pytest.raises(NotFound, match="memoranda agents create"):
        await access.agent(owner, "fifth")


async def test_a_user_is_found_by_id_or_external_id(access: Access, owner: Principal) -> None:
    anna = await access.create_user(owner, "Anna", external_id="crm:7")
    assert await access.user(owner, str(anna.id)) == await access.user(owner, "crm:7") == anna
    with pytest.raises(NotFound, match="memoranda users create"):
        await access.user(owner, "Anna")


async def test_another_organizations_user_or_agent_is_not_there(
    access: Access, owner: Principal
) -> None:
    us = await access.authenticate((await organization(access)).key.key)
    anna = await access.create_user(owner, "Anna", external_id="u1")
    scout = await access.create_agent(owner, "scout")
    for name in (anna.id, "u1"):
        with pytest.raises(NotFound):
            await access.user(us, name)
    for agent in (scout.id, "scout"):
        with pytest.raises(NotFound):
            await access.agent(us, agent)


async def test_a_member_knows_of_no_other_user(access: Access, owner: Principal) -> None:
    anna, ben = [await access.create_user(owner, name) for name in ("Anna", "Ben")]
    key = await access.create_key(owner, Role.MEMBER, user_id=anna.id)
    member = await access.authenticate(key.key)
    assert await access.user(member, anna.id) == anna
    with pytest.raises(NotFound) as hidden:
        await access.user(member, ben.id)
    missing = new_id()
    with pytest.raises(NotFound) as absent:
        await access.user(member, missing)
    assert hidden.value.message.replace(str(ben.id), "") == absent.value.message.replace(
        str(missing), ""
    )
    with pytest.raises(Refused):
        await access.users(member)


async def test_the_operator_reads_no_organizations_rows(access: Access, owner: Principal) -> None:
    for reading in (
        access.users(LOCAL_OPERATOR),
        access.agents(LOCAL_OPERATOR),
        access.user(LOCAL_OPERATOR, new_id()),
        access.agent(LOCAL_OPERATOR, "scout"),
        access.organization(LOCAL_OPERATOR),
        access.create_user(LOCAL_OPERATOR, "Anna"),
    ):
        with pytest.raises(Refused):
            await reading
    assert (await access.keys(LOCAL_OPERATOR)).items == []


async def test_only_the_operator_makes_or_lists_organizations(
    access: Access, owner: Principal
) -> None:
    with pytest.raises(Refused):
        await access.create_organization(owner, "Mine")
    with pytest.raises(Refused):
        await access.organizations(owner)


async def test_a_list_goes_on_where_a_page_ended_and_ends_with_its_last_row(
    access: Access, owner: Principal
) -> None:
    made = [await access.create_agent(owner, f"agent-{number}") for number in range(6)]
    first = await access.agents(owner, limit=3)
    assert first.items == made[:3]
    rest = await access.agents(owner, limit=3, cursor=first.next_cursor)
    assert (rest.items, rest.next_cursor) == (made[3:], None)
    for limit in (0, -1, 501):
        with pytest.raises(Invalid):
            await access.agents(owner, limit=limit)


async def test_a_list_takes_no_cursor_but_its_own(access: Access, owner: Principal) -> None:
    for number in range(2):
        await access.create_agent(owner, f"agent-{number}")
    of_agents = (await access.agents(owner, limit=1)).next_cursor
    for reading in (
        access.users(owner, cursor=of_agents),
        access.keys(owner, cursor=of_agents),
        access.organizations(LOCAL_OPERATOR, cursor=of_agents),
        access.agents(owner, cursor=str(new_id())),
    ):
        with pytest.raises(Invalid) as refused:
            await reading
        assert refused.value.details == {"field": "cursor"}


@pytest.mark.parametrize("slug", ["", " ", "Scout", "a b", "-a", "a-", "ä", "a\n", "a" * 65, "a\0"])
async def test_a_slug_is_a_name_for_addresses(access: Access, owner: Principal, slug: str) -> None:
    with pytest.raises(Invalid):
        await access.create_agent(owner, slug)


@pytest.mark.parametrize("name", ["", "  ", "nul\0", "half \ud800"])
async def test_a_name_that_can_not_be_stored_is_refused_by_its_field(
    access: Access, owner: Principal, name: str
) -> None:
    for making, field in (
        (access.create_user(owner, name), "name"),
        (access.create_user(owner, "Anna", external_id=name), "external_id"),
        (access.create_organization(LOCAL_OPERATOR, name), "name"),
    ):
        with pytest.raises(Invalid) as refused:
            await making
        assert refused.value.details["field"] == field
    for looking in (access.user(owner, name), access.agent(owner, name)):
        with pytest.raises((Invalid, NotFound)):
            await looking


async def test_a_key_is_shown_once_and_never_written(
    sqlite_database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    storage = await Storage.open(sqlite_database)
    access = Access(storage)
    owner = await access.ensure_default()
    made = [await access.create_key(owner, Role.READ_ONLY) for _ in range(3)]
    made.append((await organization(access)).key)
    for key in made:
        assert key.key not in repr(key)
    await storage.close()
    path = Path(sqlite_database.removeprefix("sqlite:///"))
    written = b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
    assert made[0].id.hex.encode() in written or made[0].id.bytes in written
    for key in made:
        assert key.key.rpartition("_")[2].encode() not in written
    with sqlite3.connect(path) as connection:
        kept = {row[0] for row in connection.execute("SELECT secret_hash FROM api_keys")}
    assert len(kept) == len(made)
    assert all(len(each) == 64 for each in kept)
