"""What the dossier promises on every database: one text, seen at once by every process, told in one order."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from memoranda import Memoranda
from memoranda.access.models import Principal
from memoranda.briefs.dossier import DossierReader
from memoranda.briefs.models import ContextItem, ContextRequest, ContextSourceSpec
from memoranda.briefs.sources.dossier import DossierSource
from memoranda.knowledge.service import Knowledge
from memoranda.state.dossier import service as dossier_service
from memoranda.state.dossier.building import organization_facts
from memoranda.state.dossier.models import Company, DossierText, Entry, Fact, UserSection
from memoranda.state.dossier.service import Dossier
from memoranda.storage import PLATFORM, Storage
from memoranda.words.errors import Conflict, Invalid, NotFound, OverLimit, ReadOnly, Refused
from memoranda.words.subject import ContextSubject
from tests.contract.clocks import SteppedClock
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.traces import Scanner

ACME = DossierText(
    company=Company(name="Acme", website="acme.test", description="Makes anvils.", size="11-50"),
    services=[Entry(name="Delivery", description="By train."), Entry(name="Repair")],
    ideal_customer_profiles=[
        Entry(name="Smiths", description="With a forge."),
        Entry(name="Foxes"),
    ],
    offers=[Entry(name="Starter", description="One anvil."), Entry(name="Yard")],
)
FACTS = [
    "Company: Acme; Makes anvils.; website: acme.test; size: 11-50",
    "Services: Delivery: By train.; Repair",
    "Ideal customer profile: Smiths: With a forge.",
    "Ideal customer profile: Foxes",
    "Offer: Starter: One anvil.",
    "Offer: Yard",
]


@pytest.fixture
def storage(timed_storage: Storage) -> Storage:
    """Time stands still here until a test moves it."""
    return timed_storage


@pytest.fixture
def dossier(storage: Storage) -> Dossier:
    return Dossier(storage)


@pytest.fixture
def knowledge(storage: Storage) -> Knowledge:
    return Knowledge(storage, max_bytes=10_000)


@pytest.fixture
def source(dossier: Dossier, knowledge: Knowledge) -> DossierSource:
    return DossierSource(DossierReader(dossier, knowledge))


def subject(who: Principal, **given: object) -> ContextSubject:
    return ContextSubject(organization_id=who.organization_id, **given)


async def told(
    source: DossierSource,
    who: Principal,
    *,
    limit: int | None = None,
    options: dict[str, object] | None = None,
    **given: object,
) -> list[ContextItem]:
    spec = ContextSourceSpec(name="dossier", token_budget=1_000, limit=limit, options=options or {})
    return await source.retrieve(ContextRequest(subject=subject(who, **given), query="Q"), spec)


def lines(items: list[ContextItem]) -> list[str]:
    return [f"{item.title}: {item.body}" for item in items]


async def ready(knowledge: Knowledge, who: Principal, title: str, **given: object) -> None:
    added = await knowledge.add(who, title.encode(), title=title, **given)
    scope = who.organization_id or PLATFORM
    worker = uuid4()
    assert await knowledge.claim(scope, worker) == added.id
    ingested = await knowledge.ingest(scope, added.id, worker)
    assert ingested is not None
    assert ingested.status == "ready"


# --- what is written --------------------------------------------------------------------------


async def test_what_an_owner_writes_is_read_back_with_its_version(
    dossier: Dossier, acme: Tenant, clock: SteppedClock
) -> None:
    before = await dossier.get(acme.owner)
    assert (before.version, before.company, before.services) == (0, Company(), [])
    written = await dossier.put(acme.owner, ACME, 0)
    assert (written.version, written.updated_at) == (1, clock.now)
    for who in (acme.owner, acme.reader, acme.member(acme.anna), acme.key_of(acme.scout)):
        read = await dossier.get(who)
        assert (
            DossierText(**{name: getattr(read, name) for name in DossierText.model_fields}) == ACME
        )
    assert (await dossier.put(acme.owner, DossierText(), 1)).version == 2


async def test_a_text_that_somebody_else_changed_meanwhile_is_a_conflict_with_its_version(
    dossier: Dossier, acme: Tenant
) -> None:
    await dossier.put(acme.owner, ACME, 0)
    for stale in (0, 2, 2**31 - 1):
        with pytest.raises(Conflict) as refusal:
            await dossier.put(acme.owner, DossierText(), stale)
        assert refusal.value.details == {"version": 1}
    assert (await dossier.get(acme.owner)).offers == ACME.offers
    for wrong in (-1, 2**31, 10**30):
        with pytest.raises(Invalid):
            await dossier.put(acme.owner, ACME, wrong)


async def test_of_many_who_write_at_once_one_does_each_time(dossier: Dossier, acme: Tenant) -> None:
    for version in (0, 1):
        results = await asyncio.gather(
            *(dossier.put(acme.owner, ACME, version) for _ in range(8)), return_exceptions=True
        )
        kept = [each for each in results if not isinstance(each, BaseException)]
        assert [each.version for each in kept] == [version + 1]
        assert sum(isinstance(each, Conflict) for each in results) == 7


async def test_only_an_owner_writes_the_dossier(dossier: Dossier, acme: Tenant) -> None:
    for who in (acme.member(acme.anna), acme.key_of(acme.scout, acme.anna)):
        with pytest.raises(Refused):
            await dossier.put(who, ACME, 0)
    with pytest.raises(ReadOnly):
        await dossier.put(acme.reader, ACME, 0)


LONG = "x" * 4_001


@pytest.mark.parametrize(
    ("text", "error", "field"),
    [
        (DossierText(company=Company(name="x" * 201)), OverLimit, "company.name"),
        (DossierText(company=Company(description=LONG)), OverLimit, "company.description"),
        (DossierText(company=Company(country="a\0b")), Invalid, "company.country"),
        (DossierText(services=[Entry(name=" ")]), Invalid, "services.0.name"),
        (
            DossierText(offers=[Entry(name="a"), Entry(name="b", description=LONG)]),
            OverLimit,
            "offers.1.description",
        ),
        (
            DossierText(offers=[Entry(name="a", description="\ud800")]),
            Invalid,
            "offers.0.description",
        ),
        (
            DossierText(ideal_customer_profiles=[Entry(name="a")] * 51),
            OverLimit,
            "ideal_customer_profiles",
        ),
    ],
)
async def test_a_text_that_can_not_be_kept_is_refused_by_its_field(
    dossier: Dossier, acme: Tenant, text: DossierText, error: type[Exception], field: str
) -> None:
    with pytest.raises(error) as refusal:
        await dossier.put(acme.owner, text, 0)
    assert refusal.value.details["field"] == field  # type: ignore[attr-defined]  # of the errors above
    assert (await dossier.get(acme.owner)).version == 0


# --- users' sections --------------------------------------------------------------------------


async def test_a_section_is_written_by_its_user_and_by_owners_alone(
    dossier: Dossier, acme: Tenant
) -> None:
    anna = acme.anna.id
    assert (await dossier.get_user(acme.owner, anna)).version == 0
    mine = await dossier.put_user(acme.member(acme.anna), anna, " Works in sales. ", 0)
    assert (mine.text, mine.version) == ("Works in sales.", 1)
    assert (await dossier.put_user(acme.owner, anna, "Leads sales.", 1)).version == 2
    with pytest.raises(NotFound):
        await dossier.put_user(acme.member(acme.ben), anna, "x", 2)
    with pytest.raises(Refused):
        await dossier.put_user(acme.key_of(acme.scout, acme.anna), anna, "x", 2)
    with pytest.raises(ReadOnly):
        await dossier.put_user(acme.reader, anna, "x", 2)
    with pytest.raises(Conflict) as stale:
        await dossier.put_user(acme.owner, anna, "x", 0)
    assert stale.value.details == {"version": 2}
    assert (await dossier.get_user(acme.member(acme.anna), anna)).text == "Leads sales."


async def test_a_section_is_shown_to_its_user_and_to_owners_and_readers_alone(
    dossier: Dossier, acme: Tenant
) -> None:
    await dossier.put_user(acme.owner, acme.anna.id, "Works in sales.", 0)
    for who in (acme.owner, acme.reader, acme.key_of(acme.scout, acme.anna)):
        assert (await dossier.get_user(who, acme.anna.id)).text == "Works in sales."
        found = await dossier.get(who, user_id=acme.anna.id)
        assert found.user_section is not None
        assert found.user_section.text == "Works in sales."
    assert (await dossier.get(acme.owner)).user_section is None
    assert (await dossier.get(acme.member(acme.anna))).user_section is not None
    for stranger in (acme.member(acme.ben), acme.key_of(acme.scout)):
        with pytest.raises(NotFound):
            await dossier.get_user(stranger, acme.anna.id)
        with pytest.raises(Refused):
            await dossier.get(stranger, user_id=acme.anna.id)


async def test_a_user_of_another_organization_is_not_there(
    dossier: Dossier, storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    await dossier.put_user(other.owner, other.anna.id, "Secret.", 0)
    for call in (
        dossier.get_user(acme.owner, other.anna.id),
        dossier.put_user(acme.owner, other.anna.id, "x", 0),
        dossier.put_user(acme.owner, other.anna.id, "x", 1),
        dossier.get(acme.owner, user_id=other.anna.id),
    ):
        with pytest.raises(NotFound):
            await call
    assert (await dossier.get_user(other.owner, other.anna.id)).text == "Secret."


# --- what is told -----------------------------------------------------------------------------


async def test_facts_are_told_in_one_order_without_refs_or_keys(
    source: DossierSource, dossier: Dossier, knowledge: Knowledge, acme: Tenant
) -> None:
    await dossier.put(acme.owner, ACME, 0)
    await dossier.put_user(acme.owner, acme.anna.id, "Works in sales.", 0)
    await ready(knowledge, acme.owner, "old.txt")
    await ready(knowledge, acme.owner, "new.txt", summary="What is new.")
    items = await told(source, acme.owner, user_id=acme.anna.id, options={"include_user": True})
    assert lines(items) == [
        *FACTS,
        "About the user: Works in sales.",
        "Document: new.txt: What is new.",
        "Document: old.txt",
        "Documents: 2 documents in all",
    ]
    assert {(item.source, item.kind) for item in items} == {("dossier", "dossier")}
    assert not any(item.ref or item.subject_key or item.body_refs for item in items)


async def test_people_read_what_a_model_reads(
    source: DossierSource, dossier: Dossier, knowledge: Knowledge, acme: Tenant
) -> None:
    await dossier.put(acme.owner, ACME, 0)
    await dossier.put_user(acme.owner, acme.anna.id, "Works in sales.", 0)
    await ready(knowledge, acme.owner, "a.txt", summary="About A.")
    page = await DossierReader(dossier, knowledge).page(acme.owner, user_id=acme.anna.id)
    items = await told(source, acme.owner, user_id=acme.anna.id, options={"include_user": True})
    assert [f"{fact.title}: {fact.body}" for fact in page.facts] == lines(items)
    assert (page.version, page.offers) == (1, ACME.offers)
    without = await DossierReader(dossier, knowledge).page(acme.owner)
    assert [f"{f.title}: {f.body}" for f in without.facts] == lines(await told(source, acme.owner))


async def test_a_users_section_is_told_only_where_it_is_asked_for_and_to_its_user(
    source: DossierSource, dossier: Dossier, acme: Tenant
) -> None:
    await dossier.put_user(acme.owner, acme.anna.id, "Works in sales.", 0)
    wanted = {"include_user": True}
    assert await told(source, acme.owner, user_id=acme.anna.id) == []
    assert await told(source, acme.owner, options=wanted) == []
    assert await told(source, acme.owner, user_id=acme.ben.id, options=wanted) == []
    assert await told(source, acme.owner, trigger_id=uuid4(), options=wanted) == []
    found = await told(source, acme.owner, user_id=acme.anna.id, options=wanted)
    assert lines(found) == ["About the user: Works in sales."]
    await dossier.put_user(acme.owner, acme.anna.id, "  ", 1)
    assert await told(source, acme.owner, user_id=acme.anna.id, options=wanted) == []


async def test_a_limit_cuts_documents_alone_and_the_count_tells_of_all(
    source: DossierSource, dossier: Dossier, knowledge: Knowledge, acme: Tenant
) -> None:
    await dossier.put(acme.owner, ACME, 0)
    for number in range(3):
        await ready(knowledge, acme.owner, f"{number}.txt")
    found = await told(source, acme.owner, limit=1)
    assert lines(found) == [*FACTS, "Document: 2.txt", "Documents: 3 documents in all"]
    kept = await told(source, acme.owner, limit=1, options={"include_documents": False})
    assert lines(kept) == FACTS


async def test_a_limit_of_none_reads_nothing(acme: Tenant) -> None:
    class Unreadable:
        def __getattr__(self, name: str) -> object:
            raise AssertionError(f"{name} was read")

    assert await told(DossierSource(Unreadable()), acme.owner, limit=0) == []  # type: ignore[arg-type]  # it is never called


async def test_only_documents_that_are_ready_and_the_organizations_own_are_told(
    source: DossierSource, knowledge: Knowledge, storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    await ready(knowledge, other.owner, "theirs.txt")
    await knowledge.add(acme.owner, b"Waits.", title="waits.txt")
    assert await told(source, acme.owner) == []
    assert lines(await told(source, other.owner)) == [
        "Document: theirs.txt",
        "Documents: 1 document in all",
    ]


async def test_a_dossier_is_told_to_its_own_organization_alone(
    source: DossierSource, dossier: Dossier, storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    await dossier.put(acme.owner, ACME, 0)
    assert await told(source, other.owner) == []
    assert (await dossier.get(other.owner)).version == 0
    await dossier.put(other.owner, DossierText(company=Company(name="Other")), 0)
    assert lines(await told(source, other.owner)) == ["Company: Other"]
    assert lines(await told(source, acme.owner)) == FACTS


# --- what is kept -----------------------------------------------------------------------------


async def test_what_another_process_writes_is_told_at_once(
    database_url: str, clock: SteppedClock, storage: Storage, acme: Tenant
) -> None:
    elsewhere = await Storage.open(database_url, clock=clock)
    try:
        here, there = Dossier(storage), Dossier(elsewhere)
        assert acme.owner.organization_id is not None
        asked = ContextSubject(organization_id=acme.owner.organization_id)
        for version, name in enumerate(("One", "Two", "Three")):
            writer, reader = (here, there) if version % 2 else (there, here)
            await reader.told(asked, include_user=False)
            await writer.put(acme.owner, DossierText(company=Company(name=name)), version)
            for each in (reader, writer):
                facts = (await each.told(asked, include_user=False)).organization
                assert [fact.body for fact in facts] == [name]
    finally:
        await elsewhere.close()


async def test_facts_are_made_once_a_minute_while_nobody_writes(
    dossier: Dossier, acme: Tenant, clock: SteppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[DossierText] = []

    def make(text: DossierText) -> list[Fact]:
        made.append(text)
        return organization_facts(text)

    monkeypatch.setattr(dossier_service, "organization_facts", make)
    await dossier.put(acme.owner, ACME, 0)
    asked = subject(acme.owner)
    for moved, times in ((0, 1), (59, 1), (1, 2), (-10, 3)):
        clock.tick(timedelta(seconds=moved))
        assert (await dossier.told(asked, include_user=False)).organization
        assert len(made) == times
    await dossier.put(acme.owner, ACME, 1)
    await dossier.told(asked, include_user=False)
    assert len(made) == 4


# --- what is erased ---------------------------------------------------------------------------


async def test_erasing_a_user_takes_its_section_along_and_no_trace_stays(
    database_url: str, scanner: Scanner
) -> None:
    async with Memoranda.open(database_url, migrate=False) as memoranda:
        who = memoranda.owner
        anna, ben = [(await memoranda.access.create_user(who, name)).id for name in ("A", "B")]
        await memoranda.dossier.put_user(who, anna, "Collects swordfish.", 0)
        await memoranda.dossier.put_user(who, anna, "Collects seahorses.", 1)
        await memoranda.dossier.put_user(who, ben, "Collects herrings.", 0)
        erased = await memoranda.removal.erase_user(who, anna)
        assert erased.scrubbed
        assert await memoranda.dossier.get_user(who, anna) == UserSection(user_id=anna)
        assert (await memoranda.dossier.get_user(who, ben)).text == "Collects herrings."
    assert set(scanner.found(["swordfish", "seahorses", "herrings"])) == {"herrings"}


# --- what is erased and quoted here -----------------------------------------------------------------


async def test_whoever_erases_is_told_where_the_dossier_quotes_it(database_url: str) -> None:
    async with Memoranda.open(database_url, migrate=False) as memoranda:
        acme, other = [await new_tenant(memoranda.storage, name) for name in ("Acme", "Other")]
        said = "We never ship on Fridays."
        quoting = DossierText(offers=[Entry(name="Post", description=f"Note: {said.upper()}")])
        for tenant in (acme, other):
            await memoranda.dossier.put(tenant.owner, quoting, 0)
            for user in (tenant.anna, tenant.ben):
                await memoranda.dossier.put_user(
                    tenant.owner, user.id, f"{user.name} knows:\n we  never ship on Fridays.", 0
                )
        made = await memoranda.memories.remember(acme.owner, said)
        done = await memoranda.removal.erase(acme.owner, made.id)
        assert sorted(done.quoted_in_sections) == sorted([acme.anna.id, acme.ben.id])
        assert done.quoted_in_dossier
        assert (await memoranda.dossier.get(acme.owner)).offers == quoting.offers
        made = await memoranda.memories.remember(acme.owner, "Ships on Mondays.")
        done = await memoranda.removal.erase(acme.owner, made.id)
        assert (done.quoted_in_sections, done.quoted_in_dossier) == ([], False)
        await memoranda.memories.remember(acme.owner, said, user_id=acme.anna.id)
        done = await memoranda.removal.erase_user(acme.owner, acme.anna.id)
        assert done.quoted_in_sections == [acme.ben.id]  # her own went with it
        assert done.quoted_in_dossier


async def test_sections_are_looked_through_to_the_last(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.state.dossier.service.LOOKED_THROUGH", 1)
    async with Memoranda.open(database_url, migrate=False) as memoranda:
        acme = await new_tenant(memoranda.storage)
        users = [acme.anna, acme.ben]
        for user in users:
            await memoranda.dossier.put_user(acme.owner, user.id, "Likes green tea.", 0)
        sections, organization = await memoranda.dossier.quoting(
            acme.owner.organization_id, ["green tea"]
        )
        assert (sorted(sections), organization) == (sorted(user.id for user in users), False)
