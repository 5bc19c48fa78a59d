"""What definitions promise on every database: written by owners, told once published, to those who may see them."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from memoranda import Memoranda
from memoranda.access.models import Principal
from memoranda.briefs.models import ContextItem, ContextRequest, ContextSourceSpec
from memoranda.briefs.sources.definition_summary import DefinitionSummarySource
from memoranda.state.definitions.models import (
    Definition,
    DefinitionKind,
    DefinitionText,
    Node,
    Viewers,
)
from memoranda.state.definitions.summaries import DefinitionSummaries
from memoranda.tools.errors import UnknownTool, WriterNeedsAgent
from memoranda.words.errors import Conflict, Invalid, NotFound, OverLimit, ReadOnly, Refused
from memoranda.words.subject import ContextSubject
from tests.contract.tenants import Tenant, new_tenant

NOW = datetime(2026, 1, 1, tzinfo=UTC)
AGENT, WORKFLOW, SKILL = DefinitionKind.AGENT, DefinitionKind.WORKFLOW, DefinitionKind.SKILL


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    async with Memoranda.open(database_url, clock=lambda: NOW, migrate=False) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


async def made(
    memoranda: Memoranda,
    acme: Tenant,
    name: str = "Research",
    *,
    kind: DefinitionKind = SKILL,
    publish: bool = True,
    slug: str | None = None,
    **text: Any,
) -> Definition:
    """A definition, published unless it should not be."""
    definition = await memoranda.definitions.create(
        acme.owner, kind, slug or f"s{uuid4().hex}", DefinitionText(name=name, **text)
    )
    if publish:
        return await memoranda.definitions.publish(acme.owner, definition.id)
    return definition


async def told(
    memoranda: Memoranda,
    who: Principal,
    *,
    limit: int | None = None,
    kinds: list[str] | None = None,
    **subject: UUID,
) -> list[ContextItem]:
    source = DefinitionSummarySource(DefinitionSummaries(memoranda.storage))
    spec = ContextSourceSpec(
        name="definition_summary",
        token_budget=1_000,
        limit=limit,
        options={} if kinds is None else {"kinds": kinds},
    )
    asked = ContextSubject(organization_id=who.organization_id, **subject)
    return await source.retrieve(ContextRequest(subject=asked, query="Q"), spec)


async def names(memoranda: Memoranda, who: Principal, **asked: Any) -> list[str]:
    return [item.title for item in await told(memoranda, who, **asked)]


# --- writing ----------------------------------------------------------------------------------


async def test_a_definition_is_kept_as_it_was_written(memoranda: Memoranda, acme: Tenant) -> None:
    nodes = [Node(id="find", agent="scout", tools=["recall", "remember", "recall"]), Node(id="say")]
    text = DefinitionText(name=" Intake ", summary=" Takes orders. ", nodes=nodes)
    definition = await memoranda.definitions.create(acme.owner, WORKFLOW, "intake", text)
    assert definition == Definition(
        id=definition.id,
        kind=WORKFLOW,
        slug="intake",
        name="Intake",
        summary="Takes orders.",
        nodes=[Node(id="find", agent="scout", tools=["recall", "remember"]), Node(id="say")],
        version=1,
        created_at=NOW,
        updated_at=NOW,
        published_at=None,
    )
    assert await memoranda.definitions.get(acme.reader, definition.id) == definition
    assert (await memoranda.definitions.page(acme.owner)).items == [definition]


async def test_a_slug_is_one_of_its_kind_and_organization(
    memoranda: Memoranda, acme: Tenant
) -> None:
    other = await new_tenant(memoranda.storage, "Other")
    await made(memoranda, acme, slug="research")
    await made(memoranda, other, slug="research")
    await made(memoranda, acme, slug="research", kind=WORKFLOW)
    with pytest.raises(Conflict) as refusal:
        await made(memoranda, acme, slug="research")
    assert refusal.value.details == {"field": "slug", "value": "research"}


async def test_what_makes_no_definition_is_refused_by_its_field(
    memoranda: Memoranda, acme: Tenant
) -> None:
    async def refused(kind: DefinitionKind, slug: str = "x", **text: Any) -> object:
        with pytest.raises((Invalid, OverLimit)) as refusal:
            await memoranda.definitions.create(
                acme.owner, kind, slug, DefinitionText(**{"name": "X", **text})
            )
        return refusal.value.details["field"]

    assert await refused(SKILL, "No slug") == "slug"
    assert await refused(SKILL, name=" ") == "name"
    assert await refused(SKILL, summary="x" * 1_001) == "summary"
    assert await refused(SKILL, summary="\0") == "summary"
    assert await refused(AGENT) == "agent_id"
    assert await refused(SKILL, agent_id=acme.scout.id) == "agent_id"
    assert await refused(SKILL, nodes=[Node(id="a")]) == "nodes"
    assert await refused(WORKFLOW, nodes=[Node(id="a"), Node(id="a ")]) == "nodes.1.id"
    assert await refused(WORKFLOW, nodes=[Node(id="")]) == "nodes.0.id"
    assert await refused(WORKFLOW, nodes=[Node(id=str(n)) for n in range(201)]) == "nodes"
    many = [Node(id="a", tools=["recall"] * 101)]
    assert await refused(WORKFLOW, nodes=many) == "nodes.0.tools"
    assert (
        await refused(SKILL, viewers=Viewers(user_ids=[uuid4() for _ in range(501)])) == "viewers"
    )
    assert (await memoranda.definitions.page(acme.owner)).items == []


async def test_only_owners_write(memoranda: Memoranda, acme: Tenant) -> None:
    definition = await made(memoranda, acme)
    text = DefinitionText(name="Mine")
    verbs = memoranda.definitions
    for who in (acme.member(acme.anna), acme.key_of(acme.scout), acme.reader):
        for call in (
            verbs.create(who, SKILL, "x", text),
            verbs.update(who, definition.id, text, definition.version),
            verbs.publish(who, definition.id),
            verbs.unpublish(who, definition.id),
            verbs.remove(who, definition.id),
        ):
            with pytest.raises(ReadOnly if who == acme.reader else Refused):
                await call
    assert await verbs.get(acme.owner, definition.id) == definition


async def test_an_update_says_all_anew_and_keeps_what_it_is(
    memoranda: Memoranda, acme: Tenant
) -> None:
    verbs = memoranda.definitions
    definition = await made(
        memoranda, acme, summary="Old.", viewers=Viewers(user_ids=[acme.anna.id])
    )
    changed = await verbs.update(
        acme.owner, definition.id, DefinitionText(name="Search"), definition.version
    )
    assert changed == definition.model_copy(
        update={"name": "Search", "summary": "", "viewers": None, "version": definition.version + 1}
    )
    with pytest.raises(Conflict) as stale:
        await verbs.update(acme.owner, definition.id, DefinitionText(name="X"), definition.version)
    assert stale.value.details == {"version": changed.version}
    with pytest.raises(Conflict):
        await verbs.publish(acme.owner, definition.id, expected_version=definition.version)
    for wrong in (0, -1, 2**31):
        with pytest.raises(Invalid):
            await verbs.update(acme.owner, definition.id, DefinitionText(name="X"), wrong)
    assert await verbs.get(acme.owner, definition.id) == changed


async def test_of_many_who_update_at_once_one_does(memoranda: Memoranda, acme: Tenant) -> None:
    definition = await made(memoranda, acme)
    text = DefinitionText(name="Search")
    results = await asyncio.gather(
        *(
            memoranda.definitions.update(acme.owner, definition.id, text, definition.version)
            for _ in range(6)
        ),
        return_exceptions=True,
    )
    assert sum(isinstance(each, Definition) for each in results) == 1
    assert sum(isinstance(each, Conflict) for each in results) == 5


# --- publishing -------------------------------------------------------------------------------


async def test_what_is_published_is_told_until_it_is_withdrawn(
    memoranda: Memoranda, acme: Tenant
) -> None:
    verbs = memoranda.definitions
    definition = await made(memoranda, acme, publish=False)
    assert await told(memoranda, acme.owner) == []
    published = await verbs.publish(acme.owner, definition.id)
    assert (published.published_at, published.version) == (NOW, 2)
    assert await verbs.publish(acme.owner, definition.id) == published
    assert await names(memoranda, acme.owner) == ["Skill Research"]
    withdrawn = await verbs.unpublish(acme.owner, definition.id)
    assert withdrawn.published_at is None
    assert await verbs.unpublish(acme.owner, definition.id) == withdrawn
    assert await told(memoranda, acme.owner) == []


@pytest.mark.parametrize("writer", ["remember", "update", "forget"])
async def test_a_node_that_writes_memories_without_an_agent_is_not_published(
    memoranda: Memoranda, acme: Tenant, writer: str
) -> None:
    nodes = [Node(id="look", tools=["recall"]), Node(id="keep", tools=["recall", writer])]
    definition = await made(memoranda, acme, kind=WORKFLOW, publish=False, nodes=nodes)
    with pytest.raises(WriterNeedsAgent) as refusal:
        await memoranda.definitions.publish(acme.owner, definition.id)
    assert refusal.value.code == "writer_needs_an_agent"
    assert refusal.value.details == {"field": "nodes", "node": "keep", "tools": [writer]}
    assert (await memoranda.definitions.get(acme.owner, definition.id)).published_at is None
    named = [nodes[0], nodes[1].model_copy(update={"agent": "scout"})]
    text = DefinitionText(name="Intake", nodes=named)
    await memoranda.definitions.update(acme.owner, definition.id, text, 1)
    published = await memoranda.definitions.publish(acme.owner, definition.id)
    # What is published can't be led past the check by a change.
    with pytest.raises(WriterNeedsAgent):
        await memoranda.definitions.update(
            acme.owner, definition.id, DefinitionText(name="X", nodes=nodes), published.version
        )
    assert (await memoranda.definitions.get(acme.owner, definition.id)).nodes == named


async def test_a_node_names_tools_and_agents_that_there_are(
    memoranda: Memoranda, acme: Tenant
) -> None:
    other = await new_tenant(memoranda.storage, "Other")
    await memoranda.access.create_agent(other.owner, "theirs")
    for node, error in (
        (Node(id="a", tools=["erase"]), UnknownTool),
        (Node(id="a", agent="nobody", tools=["recall"]), NotFound),
        (Node(id="a", agent="theirs", tools=["remember"]), NotFound),
    ):
        definition = await made(memoranda, acme, kind=WORKFLOW, publish=False, nodes=[node])
        with pytest.raises(error):
            await memoranda.definitions.publish(acme.owner, definition.id)


# --- who sees what ----------------------------------------------------------------------------


async def test_a_definition_for_some_is_told_to_them_alone(
    memoranda: Memoranda, acme: Tenant
) -> None:
    anna, scout = acme.anna.id, acme.scout.id
    await made(memoranda, acme, "All")
    await made(memoranda, acme, "Anna", viewers=Viewers(user_ids=[anna]))
    await made(memoranda, acme, "Scout", viewers=Viewers(agent_ids=[scout]))
    await made(memoranda, acme, "None", viewers=Viewers())

    async def seen(**subject: UUID) -> list[str]:
        return [
            title.removeprefix("Skill ") for title in await names(memoranda, acme.owner, **subject)
        ]

    assert await seen() == ["All"]
    assert await seen(user_id=anna) == ["All", "Anna"]
    assert await seen(user_id=acme.ben.id) == ["All"]
    assert await seen(agent_id=scout) == ["All", "Scout"]
    assert await seen(user_id=anna, agent_id=scout) == ["All", "Anna", "Scout"]
    assert await seen(user_id=scout, agent_id=anna, trigger_id=anna) == ["All"]


async def test_bound_keys_read_what_is_published_for_them_and_of_its_viewers_only_themselves(
    memoranda: Memoranda, acme: Tenant
) -> None:
    verbs = memoranda.definitions
    both = Viewers(user_ids=[acme.anna.id, acme.ben.id], agent_ids=[acme.scout.id])
    limited = await made(memoranda, acme, viewers=both)
    draft = await made(memoranda, acme, publish=False)
    for who, own in (
        (acme.member(acme.anna), Viewers(user_ids=[acme.anna.id])),
        (acme.key_of(acme.scout), Viewers(agent_ids=[acme.scout.id])),
    ):
        found = await verbs.get(who, limited.id)
        assert found == limited.model_copy(update={"viewers": own})
        assert (await verbs.page(who)).items == [found]
        with pytest.raises(NotFound):
            await verbs.get(who, draft.id)
    stranger = acme.key_of(acme.clerk)
    assert (await verbs.page(stranger)).items == []
    with pytest.raises(NotFound):
        await verbs.get(stranger, limited.id)
    for who in (acme.owner, acme.reader):
        assert (await verbs.page(who)).items == [draft, limited]


async def test_nothing_of_another_organization_is_seen_told_or_named(
    memoranda: Memoranda, acme: Tenant
) -> None:
    other = await new_tenant(memoranda.storage, "Other")
    verbs, text = memoranda.definitions, DefinitionText(name="X")
    theirs = await made(memoranda, other)
    assert await told(memoranda, acme.owner) == []
    assert (await verbs.page(acme.owner)).items == []
    for call in (
        verbs.get(acme.owner, theirs.id),
        verbs.update(acme.owner, theirs.id, text, theirs.version),
        verbs.publish(acme.owner, theirs.id),
        verbs.unpublish(acme.owner, theirs.id),
        verbs.remove(acme.owner, theirs.id),
        made(memoranda, acme, kind=AGENT, agent_id=other.scout.id),
        made(memoranda, acme, viewers=Viewers(user_ids=[acme.anna.id, other.anna.id])),
        made(memoranda, acme, viewers=Viewers(agent_ids=[other.scout.id])),
    ):
        with pytest.raises(NotFound):
            await call
    assert await verbs.get(other.owner, theirs.id) == theirs


# --- what is told -----------------------------------------------------------------------------


async def test_summaries_are_told_by_name_with_their_row_and_no_key(
    memoranda: Memoranda, acme: Tenant
) -> None:
    nodes = [Node(id="secret-node", tools=["recall"])]
    names_given = ["zebra", "Étude", "apple", "Banana", "_x"]
    for name in names_given:
        await made(memoranda, acme, name, kind=WORKFLOW, summary=f"Does {name}.", nodes=nodes)
    scout = await made(
        memoranda, acme, "Scout", kind=AGENT, agent_id=acme.scout.id, summary="Looks."
    )
    items = await told(memoranda, acme.owner)
    assert [item.title for item in items] == [
        "Workflow _x",
        "Workflow apple",
        "Workflow Banana",
        "Agent Scout",
        "Workflow zebra",
        "Workflow Étude",
    ]
    agent = items[3]
    assert agent.ref is not None
    assert (agent.ref.kind, agent.ref.id, agent.body) == ("definition", str(scout.id), "Looks.")
    assert not any(item.subject_key or item.body_refs for item in items)
    assert "secret-node" not in str(items)


async def test_kinds_and_a_limit_say_what_is_told(memoranda: Memoranda, acme: Tenant) -> None:
    for number in range(21):
        await made(memoranda, acme, f"{number:02}")
    await made(memoranda, acme, "A flow", kind=WORKFLOW)
    assert len(await told(memoranda, acme.owner)) == 20
    assert await names(memoranda, acme.owner, limit=2) == ["Skill 00", "Skill 01"]
    assert await names(memoranda, acme.owner, kinds=["workflow", "agent"]) == ["Workflow A flow"]
    assert await told(memoranda, acme.owner, kinds=[]) == []


async def test_a_limit_of_none_reads_nothing(acme: Tenant) -> None:
    source = DefinitionSummarySource(DefinitionSummaries(None))  # type: ignore[arg-type]  # nothing is read
    spec = ContextSourceSpec(name="definition_summary", token_budget=1_000, limit=0)
    asked = ContextSubject(organization_id=acme.owner.organization_id)
    assert await source.retrieve(ContextRequest(subject=asked, query="Q"), spec) == []


# --- lists and ends ---------------------------------------------------------------------------


async def test_a_list_pages_through_all_of_a_kind(memoranda: Memoranda, acme: Tenant) -> None:
    wanted = [(await made(memoranda, acme, str(number))).id for number in range(5)]
    await made(memoranda, acme, kind=WORKFLOW)
    found, cursor = [], None
    while True:
        page = await memoranda.definitions.page(acme.owner, kind=SKILL, limit=2, cursor=cursor)
        found += [each.id for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == wanted[::-1]
    with pytest.raises(Invalid):
        await memoranda.definitions.page(acme.owner, cursor="x")


async def test_what_is_removed_is_gone_and_its_slug_is_free(
    memoranda: Memoranda, acme: Tenant
) -> None:
    verbs = memoranda.definitions
    definition = await made(memoranda, acme, slug="x", viewers=Viewers(user_ids=[acme.anna.id]))
    await verbs.remove(acme.owner, definition.id)
    for call in (verbs.get(acme.owner, definition.id), verbs.remove(acme.owner, definition.id)):
        with pytest.raises(NotFound):
            await call
    await made(memoranda, acme, slug="x")


async def test_the_default_brief_holds_the_dossier_and_definitions(
    memoranda: Memoranda, acme: Tenant
) -> None:
    await made(memoranda, acme, "Research", summary="Finds sources.")
    brief = await memoranda.briefs.build(acme.owner, "What is there?")
    assert "## Definitions" in brief.text
    assert "Skill Research: Finds sources." in brief.text
