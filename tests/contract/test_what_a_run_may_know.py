"""Promises of what a run may know that join several rooms, on every database."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from memoranda import Memoranda
from memoranda.access.models import LOCAL_OPERATOR, Principal, Role
from memoranda.briefs.models import ContextItem, ContextRequest, ContextSourceSpec
from memoranda.briefs.sources.application import ApplicationSource
from memoranda.settings import Settings
from memoranda.state.service import StateReader
from memoranda.storage import Transaction
from memoranda.storage.tables import memories, memory_revisions
from memoranda.tools.models import Decision, Effect
from memoranda.words.errors import Refused
from memoranda.words.ids import new_id
from memoranda.words.ref import ResourceRef
from memoranda.words.subject import ContextSubject
from tests.contract.host_house import ACME, GLOBEX, build, crm, put
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.test_state import Heard
from tests.postgres import Postgres


@pytest.fixture
def host_url(request: pytest.FixtureRequest, database_url: str, tmp_path: Path) -> str:
    """A host's database of the kind of our own, with rows of two tenants."""
    if database_url.startswith("sqlite"):
        url = f"sqlite:///{tmp_path / 'host.db'}"
    else:
        server: Postgres = request.getfixturevalue("postgres")
        url = server.new_database()
    build(url)
    return url


@pytest.fixture
async def memoranda(database_url: str, host_url: str) -> AsyncIterator[Memoranda]:
    # Patient, because it is the answers that count here and not their time.
    settings = Settings.load(db=database_url, embedder="none", source_timeout_s=20)
    async with Memoranda.open(settings=settings, state=crm(host_url), migrate=False) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Principal:
    made = await memoranda.access.create_organization(LOCAL_OPERATOR, "Acme", external_id=ACME)
    return Principal(organization_id=made.organization.id, role=Role.OWNER, user_id=made.owner.id)


def ref(kind: str, row: str) -> ResourceRef:
    return ResourceRef(kind=kind, id=row)


async def offered(
    state: StateReader, who: Principal, query: str, *refs: ResourceRef, limit: int | None = None
) -> list[ContextItem]:
    assert who.organization_id is not None
    subject = ContextSubject(organization_id=who.organization_id)
    request = ContextRequest(subject=subject, query=query, entities=list(refs))
    spec = ContextSourceSpec(name="application", token_budget=9, limit=limit)
    return await ApplicationSource(state).retrieve(request, spec)


# --- application state ------------------------------------------------------------------------


async def test_a_query_that_names_a_row_reads_none_without_its_ref(
    memoranda: Memoranda, acme: Principal
) -> None:
    heard = Heard(memoranda.state)
    assert await offered(memoranda.state, acme, "Acme Ltd crm.company:Acme-c Acme-c") == []
    assert heard.statements == []
    brief = await memoranda.briefs.build(acme, "Acme Ltd crm.company:Acme-c")
    assert "Application state" not in brief.text
    assert heard.statements == []
    assert await offered(memoranda.state, acme, "", ref("crm.company", "Acme-c"))


async def test_without_a_cap_every_field_of_every_row_is_offered(
    memoranda: Memoranda, acme: Principal, host_url: str
) -> None:
    rows = [{"id": f"c{n}", "organization_id": ACME, "name": f"Company {n}"} for n in range(60)]
    put(host_url, "crm_companies", *rows)
    refs = [ref("crm.company", row["id"]) for row in rows]
    items = await offered(memoranda.state, acme, "q", *refs)
    assert [item.body for item in items] == [row["name"] for row in rows]
    assert len(await offered(memoranda.state, acme, "q", *refs, limit=7)) == 7


# --- memories ---------------------------------------------------------------------------------


async def test_a_memory_about_a_kind_that_no_resolver_owns_is_in_no_brief(
    memoranda: Memoranda, acme: Principal
) -> None:
    await memoranda.memories.remember(acme, "Widgets are blue.", about=ref("crm.widget", "1"))
    await memoranda.memories.remember(acme, "They pay late.", about=ref("crm.company", "Acme-c"))
    await memoranda.memories.remember(
        acme, "They pay at once.", about=ref("crm.company", "Globex-c")
    )
    text = (await memoranda.briefs.build(acme, "q")).text
    assert "They pay late." in text
    assert "Widgets" not in text
    assert "at once" not in text, "the row is another tenant's"


async def test_one_reading_of_memories_asks_once_for_each_kind_and_never_for_each_memory(
    memoranda: Memoranda, acme: Principal, host_url: str
) -> None:
    rows = [{"id": f"c{n}", "organization_id": ACME, "name": f"Company {n}"} for n in range(8)]
    put(host_url, "crm_companies", *rows)
    about = [ref("crm.company", row["id"]) for row in rows]
    about += [ref("crm.deal", "Acme-d"), ref("crm.widget", "1")]
    for place, row in enumerate(about):
        await memoranda.memories.remember(acme, f"Fact {place}.", about=row)
    heard = Heard(memoranda.state)
    assert acme.organization_id is not None
    subject = ContextSubject(organization_id=acme.organization_id)
    found = await memoranda.memories.recent(subject, personal=False, limit=20)
    assert len(found) == 9
    assert len(heard.statements) == 2
    assert all(ACME in str(values) and GLOBEX not in str(values) for _, values in heard.statements)


async def test_a_run_of_a_trigger_is_told_the_organizations_memories_alone(
    memoranda: Memoranda,
) -> None:
    tenant = await new_tenant(memoranda.storage)
    for text, named in (
        ("For everybody.", {}),
        ("For the scout.", {"agent_id": tenant.scout.id}),
        ("For Anna.", {"user_id": tenant.anna.id}),
        ("For Anna's scout.", {"user_id": tenant.anna.id, "agent_id": tenant.scout.id}),
    ):
        await memoranda.memories.remember(tenant.owner, text, **named)
    run = await memoranda.runs.create(tenant.owner, trigger_id=new_id(), agent_id=tenant.scout.id)
    text = (await memoranda.briefs.for_run(tenant.owner, run.id, "q")).brief.text
    assert ("For everybody." in text, "For the scout." in text) == (True, True)
    assert "Anna" not in text


# --- a model writes memories through the tools that say so, and in no other way ----------------

WRITE_MEMORIES = {"remember", "update", "forget"}


def _calls(memory: str) -> dict[str, dict[str, Any]]:
    """A call of every other tool that there is; one that comes later has to be thought of here."""
    return {
        "recall": {"query": "tea"},
        "list": {},
        "get": {"memory_id": memory},
        "search_knowledge": {"query": "Remember that tea is at six."},
        "search_conversations": {"query": "Remember that tea is at six."},
        "build_brief": {"query": "Remember that tea is at six."},
        "get_context_file": {"slug": "notes"},
        "update_context_file": {
            "slug": "notes",
            "body": "Remember that tea is at six.",
            "expected_hash": "0" * 64,
        },
        "get_file_load": {"slug": "voice", "body": "Remember that tea is at six."},
    }


async def stored(memoranda: Memoranda, tenant: Tenant) -> str:
    """What a model would have to change: every memory with all that it ever said."""

    def read(tx: Transaction) -> list[Any]:
        shown = [memories.c.id, memories.c.head_id, memories.c.version, memories.c.live]
        chains = tx.all(memories.select().with_only_columns(*shown).order_by(memories.c.id))
        return [chains, tx.all(memory_revisions.select().order_by(memory_revisions.c.id))]

    assert tenant.owner.organization_id is not None
    return str(await memoranda.storage.read(tenant.owner.organization_id, read))


async def test_no_other_tool_writes_a_memory_even_where_everything_is_allowed(
    memoranda: Memoranda,
) -> None:
    tenant = await new_tenant(memoranda.storage)
    kept = await memoranda.memories.remember(tenant.owner, "Tea.", agent_id=tenant.scout.id)
    agent = tenant.key_of(tenant.scout)
    names = {offer.name: offer.effect for offer in await memoranda.tools.offers(tenant.owner)}
    assert {name for name in WRITE_MEMORIES if names[name] is Effect.WRITES} == WRITE_MEMORIES
    for name in names:
        await memoranda.tools.policies.set(tenant.owner, "scout", name, Decision.ALLOW)
    before = await stored(memoranda, tenant)
    for name in names.keys() - WRITE_MEMORIES:
        await memoranda.tools.call(agent, name, _calls(str(kept.id))[name])
        assert await stored(memoranda, tenant) == before, name
    await memoranda.tools.call(agent, "remember", {"content": "Tea is at six."})
    assert await stored(memoranda, tenant) != before


async def test_an_agents_own_key_reaches_no_verb_that_writes_a_memory(
    memoranda: Memoranda,
) -> None:
    tenant = await new_tenant(memoranda.storage)
    kept = await memoranda.memories.remember(tenant.owner, "Tea.", agent_id=tenant.scout.id)
    waits = (
        await memoranda.proposals.propose(tenant.owner, "Milk.", agent_id=tenant.scout.id)
    ).proposal
    assert waits is not None
    agent = tenant.key_of(tenant.scout)
    verbs: list[Callable[[], Awaitable[object]]] = [
        lambda: memoranda.memories.remember(agent, "Tea is at six."),
        lambda: memoranda.memories.update(agent, kept.id, text="Tea is at six."),
        lambda: memoranda.memories.forget(agent, kept.id),
        lambda: memoranda.memories.restore(agent, kept.id),
        lambda: memoranda.proposals.accept(agent, waits.id),
        lambda: memoranda.proposals.tidy_up(agent),
        lambda: memoranda.removal.erase(agent, kept.id),
        lambda: memoranda.removal.erase_user(agent, tenant.anna.id),
        lambda: memoranda.removal.forget_all(agent, "FORGET ALL"),
        lambda: memoranda.transfer.take_in(agent, "Tea is at six."),
    ]
    before = await stored(memoranda, tenant)
    for verb in verbs:
        with pytest.raises(Refused):
            await verb()
    assert await stored(memoranda, tenant) == before


# --- a stage that is over, and one that failed ------------------------------------------------


async def test_a_replay_of_a_stage_reads_nothing_and_a_stage_that_failed_is_built_again(
    memoranda: Memoranda, acme: Principal
) -> None:
    given = {"refs": [{"kind": "crm.company", "id": "Acme-c"}, {"kind": "crm.company"}, 7]}
    run = await memoranda.runs.create(acme, input=given)
    first = await memoranda.briefs.for_run(acme, run.id, "q")
    assert "Acme Ltd" in first.brief.text
    heard = Heard(memoranda.state)
    again = await memoranda.briefs.for_run(acme, run.id, "q")
    assert (again.built, heard.statements) == (False, [])
    await memoranda.runs.fail(acme, run.id, "It broke")
    await memoranda.memories.remember(acme, "It broke once.")
    retried = await memoranda.briefs.for_run(acme, run.id, "q", refresh=True)
    assert (retried.built, retried.stage) == (True, 0)
    assert "It broke once." in retried.brief.text
    assert heard.statements
    done = await memoranda.runs.create(acme, input=given)
    await memoranda.briefs.for_run(acme, done.id, "q")
    await memoranda.runs.complete(acme, done.id)
    heard.statements.clear()
    replayed = await memoranda.briefs.for_run(acme, done.id, "q", refresh=True)
    assert (replayed.built, heard.statements) == (False, [])
