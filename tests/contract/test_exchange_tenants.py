"""Nothing of another organization, user, agent or space comes out with an export or in with an import."""

import json
from typing import Any
from uuid import uuid4

import pytest

from memoranda.access.models import Principal, Role, Space
from memoranda.memories.audience import Audience
from memoranda.memories.candidate import Author, candidate_input
from memoranda.memories.proposals import inbox
from memoranda.memories.proposals.service import Proposals
from memoranda.memories.service import Memories
from memoranda.memories.store import forget, remember
from memoranda.memories.transfer.service import Transfer
from memoranda.memories.ways import DEFAULT_WAYS
from memoranda.storage import Storage
from memoranda.words.errors import ReadOnly, Refused
from tests.contract.copied_rows import rows_of
from tests.contract.exchanges import counts, exported, named_tenant, own, refusals, told
from tests.contract.tenants import Tenant


@pytest.fixture
def transfer(storage: Storage) -> Transfer:
    return Transfer(storage)


@pytest.fixture
async def acme(storage: Storage) -> Tenant:
    return await named_tenant(storage, "Acme")


@pytest.fixture
async def other(storage: Storage) -> Tenant:
    return await named_tenant(storage, "Other")


async def furnish(memories: Memories, proposals: Proposals, at: Tenant, word: str) -> None:
    """A memory, a forgotten one and a proposal for each audience; their texts tell for whom they are."""
    for user in (None, at.anna, at.ben):
        for agent in (None, at.scout, at.clerk):
            whose = {"user_id": user and user.id, "agent_id": agent and agent.id}
            name = f"{word} {user.name if user else 'all'} {agent.slug if agent else 'all'}"
            await memories.remember(at.owner, name, **whose)
            old = await memories.remember(at.owner, f"{name} forgotten", **whose)
            await memories.forget(at.owner, old.id)
            await proposals.propose(at.owner, f"{name} proposed", **whose)


async def seen(transfer: Transfer, who: Principal) -> set[str]:
    return {
        line["text"] for line in told(await exported(transfer, who, history=True)) if line["text"]
    }


def spelled(
    word: str, users: tuple[str, ...], agents: tuple[str, ...], *, proposed: bool
) -> set[str]:
    ends = ("", " forgotten", " proposed") if proposed else ("", " forgotten")
    return {f"{word} {user} {agent}{end}" for user in users for agent in agents for end in ends}


async def test_each_key_exports_what_it_may_know_and_nothing_else(
    transfer: Transfer, memories: Memories, proposals: Proposals, acme: Tenant, other: Tenant
) -> None:
    await furnish(memories, proposals, acme, "Acme")
    await furnish(memories, proposals, other, "Other")
    users, agents = ("all", "Anna", "Ben"), ("all", "scout", "clerk")
    everything = spelled("Acme", users, agents, proposed=True)
    assert await seen(transfer, acme.owner) == everything
    assert await seen(transfer, acme.reader) == everything
    annas = spelled("Acme", ("all", "Anna"), agents, proposed=True)
    assert await seen(transfer, acme.member(acme.anna)) == annas
    scouts = spelled("Acme", ("all",), ("all", "scout"), proposed=False)
    asked = {"Acme all scout proposed"}  # a host's proposal for an agent is the agent's
    assert await seen(transfer, acme.key_of(acme.scout)) == scouts | asked
    both = spelled("Acme", ("all", "Anna"), ("all", "scout"), proposed=False)
    asked |= {"Acme Anna scout proposed"}
    assert await seen(transfer, acme.key_of(acme.scout, acme.anna)) == both | asked


async def test_an_agent_exports_what_it_proposed_itself(
    transfer: Transfer, proposals: Proposals, acme: Tenant
) -> None:
    key = acme.key_of(acme.scout)
    await proposals.propose(key, "Scout asks.")
    await proposals.propose(acme.owner, "The owner asks.")
    assert await seen(transfer, key) == {"Scout asks."}


async def test_an_export_names_no_other_user_than_those_of_its_lines(
    transfer: Transfer, memories: Memories, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Tea.", user_id=acme.ben.id)
    await memories.update(acme.owner, made.id, user_id=acme.anna.id)
    lines = "".join(await exported(transfer, acme.member(acme.anna), history=True))
    assert "Tea." in lines
    assert not [part for part in ("Ben", str(acme.ben.id), str(made.id)) if part in lines]


def in_a_space(at: Tenant, role: Role) -> Principal:
    space = Space(id=uuid4(), name="flow/node", agent_id=at.scout.id, tools=("remember",))
    return Principal(
        organization_id=at.owner.organization_id,
        role=role,
        agent_id=at.scout.id,
        user_id=at.anna.id,
        space=space,
    )


@pytest.mark.parametrize("role", [Role.AGENT, Role.MEMBER, Role.READ_ONLY])
async def test_a_key_that_is_bound_to_a_space_neither_exports_nor_takes_in(
    transfer: Transfer, acme: Tenant, role: Role
) -> None:
    with pytest.raises(Refused):
        await exported(transfer, in_a_space(acme, role))
    with pytest.raises(Refused):
        await transfer.take_in(in_a_space(acme, role), b"Tea.")


async def test_memories_of_a_space_are_in_nobodys_export(
    transfer: Transfer, acme: Tenant, storage: Storage
) -> None:
    organization = acme.owner.organization_id
    assert organization is not None
    said: dict[str, Any] = dict.fromkeys(("title", "category", "expires_at", "attribute")) | {
        "tags": ()
    }

    def write(tx: Any, text: str) -> Any:
        audience = Audience(space="flow/node")
        candidate = candidate_input(
            organization, audience, Author(), text=text, text_chars=500, **said
        )
        if text == "proposed":
            return inbox.propose(tx, acme.owner, candidate, DEFAULT_WAYS)
        return remember(tx, candidate, DEFAULT_WAYS)

    await storage.write(organization, write, "spaced")
    old = await storage.write(organization, write, "spaced and forgotten")
    await storage.write(organization, forget, old.id, Author(), DEFAULT_WAYS)
    await storage.write(organization, write, "proposed")
    for who in (acme.owner, acme.reader, acme.member(acme.anna), acme.key_of(acme.scout)):
        assert len(await exported(transfer, who, history=True)) == 1


# --- in --------------------------------------------------------------------------------------


async def test_who_may_not_write_takes_nothing_in(transfer: Transfer, acme: Tenant) -> None:
    with pytest.raises(ReadOnly):
        await transfer.take_in(acme.reader, b"Tea.")
    for key in (acme.key_of(acme.scout), acme.key_of(acme.scout, acme.anna)):
        with pytest.raises(Refused):
            await transfer.take_in(key, b"Tea.")


async def test_a_members_import_is_its_own_users_alone(
    transfer: Transfer, memories: Memories, acme: Tenant
) -> None:
    who = acme.member(acme.anna)
    content = own(
        {"text": "mine", "user": {"external_id": "anna"}},
        {"text": "mine by id", "user": {"id": str(acme.anna.id)}},
        {"text": "with scout", "user": {"external_id": "anna"}, "agent": {"slug": "scout"}},
        {"text": "Ben's", "user": {"external_id": "ben"}},
        {"text": "Ben's by id", "user": {"id": str(acme.ben.id)}},
        {"text": "nobody's", "user": {"external_id": "nobody"}},
        {"text": "everybody's"},
        {"text": "scout's", "agent": {"slug": "scout"}},
        {"text": "mine and forgotten", "user": {"external_id": "anna"}, "status": "forgotten"},
        {"kind": "proposal", "text": "mine perhaps", "user": {"external_id": "anna"}},
    )
    report = await transfer.take_in(who, content)
    assert counts(report) == (5, 0, 0, 5)
    assert refusals(report) == dict.fromkeys((5, 6, 7, 8, 9), "not_yours")
    # Whether another user is there is not told.
    assert len({each.detail for each in report.examples if each.code == "not_yours"}) == 1
    taken = (await memories.page(acme.owner)).items
    assert {each.user_id for each in taken} == {acme.anna.id}
    plain = await transfer.take_in(who, b"Likes tea.\nLikes rain.\n")
    assert counts(plain) == (2, 0, 0, 0)
    assert {each.user_id for each in (await memories.page(acme.owner)).items} == {acme.anna.id}


async def test_a_member_may_give_all_of_a_file_to_itself_and_to_nobody_else(
    transfer: Transfer, memories: Memories, acme: Tenant
) -> None:
    who, content = (
        acme.member(acme.anna),
        own({"text": "a"}, {"text": "b", "user": {"external_id": "ben"}}),
    )
    with pytest.raises(Refused):
        await transfer.take_in(who, content, user_id=acme.ben.id)
    with pytest.raises(Refused):
        await transfer.take_in(who, content, users={"ben": acme.ben.id})
    assert counts(await transfer.take_in(who, content, user_id=acme.anna.id)) == (2, 0, 0, 0)
    assert {each.user_id for each in (await memories.page(acme.owner)).items} == {acme.anna.id}


async def test_what_others_know_is_not_told_by_what_is_known(
    transfer: Transfer, memories: Memories, acme: Tenant
) -> None:
    for whose in ({"user_id": acme.ben.id}, {"agent_id": acme.scout.id}, {}):
        await memories.remember(acme.owner, "A secret.", attribute="preference.secret", **whose)
    who = acme.member(acme.anna)
    report = await transfer.take_in(
        who,
        own(
            {"text": "A secret.", "user": {"external_id": "anna"}, "attribute": "preference.secret"}
        ),
    )
    assert counts(report) == (1, 0, 0, 0)


async def test_the_export_of_another_organization_neither_changes_nor_shows_anything_of_this_one(
    memories: Memories,
    proposals: Proposals,
    acme: Tenant,
    other: Tenant,
    storage: Storage,
) -> None:
    transfer = Transfer(storage)
    await furnish(memories, proposals, acme, "Same")
    await furnish(memories, proposals, other, "Other")
    assert acme.owner.organization_id
    assert other.owner.organization_id
    theirs = await storage.read(acme.owner.organization_id, rows_of)
    mine = {line["id"]: line for line in told(await exported(transfer, other.owner))}
    lines = await exported(transfer, acme.owner)
    # The same ids too, as somebody would write them who wants to reach the rows that have them.
    forged = [
        json.dumps({**json.loads(line), "id": reached, "text": f"forged {number}"}) + "\n"
        for number, (line, reached) in enumerate(zip(lines[1:], mine, strict=False))
    ]
    report = await transfer.take_in(other.owner, [*lines, *forged])
    assert report.refused == 0
    after = {line["id"]: line for line in told(await exported(transfer, other.owner))}
    assert {reached: after[reached] for reached in mine} == mine
    assert not set(after) & {line["id"] for line in told(lines)}
    assert await storage.read(acme.owner.organization_id, rows_of) == theirs
    said = report.model_dump_json()
    assert not [each for each in (acme.anna.id, acme.ben.id, acme.scout.id) if str(each) in said]


async def test_an_id_of_another_organizations_user_or_agent_means_nobody_here(
    transfer: Transfer, acme: Tenant, other: Tenant
) -> None:
    content = own(
        {"text": "a", "user": {"id": str(other.anna.id)}},
        {"text": "b", "agent": {"id": str(other.scout.id)}},
        {"text": "c", "user": {"id": str(uuid4())}},
    )
    report = await transfer.take_in(acme.owner, content)
    assert refusals(report) == {2: "unknown_user", 3: "unknown_agent", 4: "unknown_user"}
    details = [each.detail or "" for each in report.examples if each.code == "unknown_user"]
    assert details[0].replace(str(other.anna.id), "ID") == details[1].replace(
        json.loads(content.splitlines()[3])["user"]["id"], "ID"
    )


async def test_names_that_no_database_can_hold_are_nobodys(
    transfer: Transfer, acme: Tenant
) -> None:
    records = [{"memory": "x", "user_id": name} for name in ("\0", "\ud800", "n" * 500, "anna\0")]
    report = await transfer.take_in(acme.owner, json.dumps(records))
    assert report.reasons == {"unknown_user": 4}
    assert "n" * 100 not in report.model_dump_json()
