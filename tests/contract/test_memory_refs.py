"""What a memory is about: told to a run only while the row is there for its organization."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from sqlalchemy import bindparam, update

from memoranda.briefs.models import ContextRequest, ContextSourceSpec
from memoranda.briefs.sources.memory import MemorySource
from memoranda.memories.proposals.service import Proposals
from memoranda.memories.service import Memories
from memoranda.memories.transfer.service import Transfer
from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import memories as table
from memoranda.words.errors import Invalid, NotFound, OverLimit
from memoranda.words.ref import ResourceRef
from memoranda.words.subject import ContextSubject
from tests.contract.tenants import Tenant, new_tenant

ACME = ResourceRef(kind="crm.company", id="acme")
GONE = ResourceRef(kind="crm.company", id="gone")
ANN = ResourceRef(kind="crm.person", id="ann")
SET_REFS = (
    update(table).where(table.c.id == bindparam("memory")).values(subject_refs=bindparam("refs"))
)


class Rows:
    """A resolver that knows some rows of one organization, and counts what it is asked."""

    def __init__(self, *refs: ResourceRef) -> None:
        self.refs = set(refs)
        self.asked: list[list[ResourceRef]] = []
        self.fails = False

    def knows(self, kind: str) -> bool:
        return kind in {"crm.company", "crm.person"}

    async def exists(
        self, subject: ContextSubject, refs: Iterable[ResourceRef]
    ) -> set[ResourceRef]:
        self.asked.append(list(refs))
        if self.fails:
            raise RuntimeError("no answer")
        return self.refs.intersection(refs)


@pytest.fixture
def rows() -> Rows:
    return Rows(ACME, ANN)


@pytest.fixture
def guarded(storage: Storage, rows: Rows) -> Memories:
    return Memories(storage, resolver=rows)


async def test_who_reads_everything_is_told_how_many_memories_are_kept_from_a_run(
    storage: Storage, rows: Rows
) -> None:
    guarded = Memories(storage, resolver=rows)
    acme, other = await new_tenant(storage, "Acme"), await new_tenant(storage, "Other")
    anna = acme.anna.id
    for about in (None, ACME, GONE, ANN):
        await guarded.remember(acme.owner, f"Tea, {about}.", user_id=anna, about=about)
    await guarded.remember(other.owner, "Tea.", user_id=other.anna.id, about=GONE)
    named = await guarded.page(acme.owner, user_id=anna)
    assert (len(named.items), named.hidden) == (3, 1)
    found = await guarded.search(acme.owner, "Tea", user_id=anna)
    assert (len(found.results), found.hidden) == (3, 1)
    whole = await guarded.page(acme.owner)
    assert (len(whole.items), whole.hidden) == (4, 0)
    assert (await guarded.search(acme.owner, "Tea")).hidden == 0
    # Whoever is shown a run's part is not told that there is more.
    for who in (acme.member(acme.anna), acme.key_of(acme.scout, acme.anna)):
        assert (await guarded.page(who)).hidden == 0
        assert (await guarded.search(who, "Tea")).hidden == 0


def subject_of(tenant: Tenant) -> ContextSubject:
    assert tenant.owner.organization_id is not None
    return ContextSubject(organization_id=tenant.owner.organization_id, agent_id=tenant.scout.id)


async def told(memories: Memories, tenant: Tenant) -> dict[str, list[str]]:
    """What each way of reading for a run answers."""
    agent, subject = tenant.key_of(tenant.scout), subject_of(tenant)
    spec = ContextSourceSpec(name="memory", token_budget=500)
    request = ContextRequest(subject=subject, query="plums")
    items = await MemorySource(memories).retrieve(request, spec)
    page = await memories.page(agent)
    named = await memories.page(tenant.owner, agent_id=tenant.scout.id)
    search = await memories.search(agent, "plums")
    recall = await memories.recall(agent, "plums")
    return {
        "source": sorted(item.body for item in items),
        "page": sorted(memory.text or "" for memory in page.items),
        "page of a subject": sorted(memory.text or "" for memory in named.items),
        "search": sorted(found.memory.text or "" for found in search.results),
        "recall": sorted(memory.text for memory in recall.memories),
    }


async def test_a_memory_about_a_row_is_told_to_runs_only_while_the_row_is_there(
    guarded: Memories, rows: Rows, acme: Tenant
) -> None:
    await guarded.remember(acme.owner, "Of nobody: plums.", pinned=True)
    kept = await guarded.remember(acme.owner, "Acme likes plums.", about=ACME, pinned=True)
    lost = await guarded.remember(acme.owner, "Gone likes plums.", about=GONE, pinned=True)
    there = ["Acme likes plums.", "Of nobody: plums."]
    assert set(map(tuple, (await told(guarded, acme)).values())) == {tuple(there)}
    agent = acme.key_of(acme.scout)
    assert (await guarded.get(agent, kept.id)).subject_refs == (ACME,)
    for read in (guarded.get, guarded.history):
        with pytest.raises(NotFound):
            await read(agent, lost.id)
    rows.refs.clear()
    assert set(map(tuple, (await told(guarded, acme)).values())) == {("Of nobody: plums.",)}
    rows.refs.add(GONE)
    assert "Gone likes plums." in (await told(guarded, acme))["source"]


async def test_a_memory_about_a_kind_that_nobody_declared_says_so(
    guarded: Memories, storage: Storage, acme: Tenant
) -> None:
    odd = ResourceRef(kind="crm.widget", id="7")
    made = await guarded.remember(acme.owner, "Widget 7 is blue.", about=odd)
    assert made.hint is not None
    assert "crm.widget" in made.hint
    assert (await guarded.get(acme.owner, made.id)).hint == made.hint
    assert [each.hint for each in (await guarded.page(acme.owner)).items] == [made.hint]
    assert (await guarded.update(acme.owner, made.id, title="Widget")).hint == made.hint
    await guarded.forget(acme.owner, made.id)
    assert (await guarded.restore(acme.owner, made.id)).hint == made.hint
    # Of a row that is not there nothing is said: that would tell whether it is.
    assert (await guarded.remember(acme.owner, "Gone likes plums.", about=GONE)).hint is None
    assert (await guarded.remember(acme.owner, "Plums are blue.")).hint is None
    alone = Memories(storage)
    assert (await alone.remember(acme.owner, "Acme likes figs.", about=ACME)).hint is not None


async def test_people_see_what_runs_are_not_told(guarded: Memories, acme: Tenant) -> None:
    lost = await guarded.remember(acme.owner, "Gone likes plums.", about=GONE)
    for who in (acme.owner, acme.member(acme.anna)):
        assert [each.id for each in (await guarded.page(who)).items] == [lost.id]
        assert [each.memory.id for each in (await guarded.search(who, "plums")).results] == [
            lost.id
        ]
        assert (await guarded.get(who, lost.id)).subject_refs == (GONE,)
        assert len(await guarded.history(who, lost.id)) == 1


async def test_all_rows_are_asked_for_at_once_and_none_where_nothing_is_about_one(
    guarded: Memories, rows: Rows, acme: Tenant
) -> None:
    await guarded.remember(acme.owner, "Of nobody: plums.")
    await guarded.recent(subject_of(acme), personal=False, limit=20)
    assert rows.asked == []
    for number, ref in enumerate((ACME, GONE, ANN, ACME)):
        await guarded.remember(acme.owner, f"No. {number}", about=ref)
    await guarded.recent(subject_of(acme), personal=False, limit=20)
    assert [sorted(ref.id for ref in asked) for asked in rows.asked] == [["acme", "ann", "gone"]]


async def test_what_is_dropped_is_not_replaced(guarded: Memories, acme: Tenant) -> None:
    await guarded.remember(acme.owner, "Older.")
    await guarded.remember(acme.owner, "Newer, of what is gone.", about=GONE)
    assert await guarded.recent(subject_of(acme), personal=False, limit=1) == []


@pytest.mark.parametrize("resolver", [None, "failing"])
async def test_without_an_answer_nothing_about_rows_is_told(
    resolver: str | None, storage: Storage, rows: Rows, acme: Tenant
) -> None:
    rows.fails = True
    memories = Memories(storage, resolver=rows if resolver else None)
    await memories.remember(acme.owner, "Acme likes plums.", about=ACME)
    await memories.remember(acme.owner, "Of nobody: plums.")
    assert set(map(tuple, (await told(memories, acme)).values())) == {("Of nobody: plums.",)}


@pytest.mark.parametrize(
    "stored",
    [
        [{"kind": "crm.company"}],
        [{"kind": "crm.company", "id": 7}],
        [{"kind": "crm.company", "id": " "}],
        [{"kind": "a:b", "id": "acme"}],
        [ACME.model_dump(), ACME.model_dump()],
        ["crm.company:acme"],
        {"kind": "crm.company", "id": "acme"},
    ],
)
async def test_what_can_not_be_read_costs_its_own_memory_alone(
    stored: Any, storage: Storage, guarded: Memories, acme: Tenant
) -> None:
    assert acme.owner.organization_id is not None
    spoiled = await guarded.remember(acme.owner, "Spoiled plums.", about=ACME)
    await guarded.remember(acme.owner, "Acme likes plums.", about=ACME)

    def spoil(tx: Transaction) -> None:
        tx.run(SET_REFS, memory=spoiled.id, refs=stored)

    await storage.write(acme.owner.organization_id, spoil)
    assert set(map(tuple, (await told(guarded, acme)).values())) == {("Acme likes plums.",)}
    assert len((await guarded.page(acme.owner)).items) == 2
    await guarded.forget(acme.owner, spoiled.id)


async def test_the_key_is_made_of_the_row_and_the_attribute(
    guarded: Memories, acme: Tenant
) -> None:
    first = await guarded.remember(
        acme.owner, "Buys in spring.", about=ACME, attribute="observation.buying"
    )
    second = await guarded.remember(
        acme.owner, "Buys in autumn.", about=ACME, attribute="observation.buying"
    )
    other = await guarded.remember(
        acme.owner, "Buys never.", about=GONE, attribute="observation.buying"
    )
    assert second.subject_key == "crm.company:acme:observation.buying"
    assert (second.id, second.version) == (first.id, 2)
    assert other.id != first.id


async def test_what_it_is_about_goes_with_a_memory_that_changes_moves_or_comes_back(
    guarded: Memories, acme: Tenant
) -> None:
    made = await guarded.remember(acme.owner, "Acme likes plums.", about=ACME)
    changed = await guarded.update(acme.owner, made.id, text="Acme likes figs.")
    moved = await guarded.update(acme.owner, made.id, user_id=acme.anna.id)
    await guarded.forget(acme.owner, moved.id)
    restored = await guarded.restore(acme.owner, moved.id)
    assert {changed.subject_refs, moved.subject_refs, restored.subject_refs} == {(ACME,)}
    assert (await guarded.get(acme.owner, moved.id)).subject_refs == (ACME,)


async def test_a_proposal_keeps_what_it_is_about_and_tidy_up_leaves_it_alone(
    storage: Storage, guarded: Memories, acme: Tenant
) -> None:
    proposals = Proposals(storage)
    proposed = await proposals.propose(acme.owner, "Acme likes plums.", about=ACME)
    assert proposed.proposal is not None
    assert proposed.proposal.subject_refs == (ACME,)
    accepted = await proposals.accept(acme.owner, proposed.proposal.id)
    assert accepted.subject_refs == (ACME,)
    await guarded.remember(acme.owner, "Acme likes the plums.", about=GONE)
    assert await proposals.tidy_up(acme.owner) == []


async def test_an_export_says_what_it_is_about_and_an_agents_leaves_it_out(
    storage: Storage, guarded: Memories, acme: Tenant
) -> None:
    await guarded.remember(acme.owner, "Acme likes plums.", about=ACME)
    transfer = Transfer(storage)
    lines = [json.loads(line) async for line in transfer.export(acme.owner)]
    assert lines[1]["about"] == {"kind": "crm.company", "id": "acme"}
    assert len([line async for line in transfer.export(acme.key_of(acme.scout))]) == 1
    other = await new_tenant(storage, "Other")
    await transfer.take_in(other.owner, "\n".join(map(json.dumps, lines)).encode())
    [taken] = (await guarded.page(other.owner)).items
    assert taken.subject_refs == (ACME,)


@pytest.mark.parametrize(
    ("ref", "error"),
    [
        (ResourceRef(kind="a:b", id="1"), Invalid),
        (ResourceRef(kind="a", id="1:2"), Invalid),
        (ResourceRef(kind="a" * 65, id="1"), OverLimit),
        (ResourceRef(kind="a", id="1" * 201), OverLimit),
    ],
)
async def test_a_ref_that_could_make_no_key_is_refused(
    ref: ResourceRef, error: type[Exception], guarded: Memories, acme: Tenant
) -> None:
    with pytest.raises(error):
        await guarded.remember(acme.owner, "Plums.", about=ref)
