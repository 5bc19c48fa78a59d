"""What is said of a document in a sentence, on every database: kept with it, and nobody else's to change."""

import pytest

from memoranda.access.models import LOCAL_OPERATOR
from memoranda.knowledge.service import Knowledge
from memoranda.storage import Storage
from memoranda.words.errors import Invalid, NotFound, OverLimit, ReadOnly, Refused
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant, new_tenant


@pytest.fixture
def knowledge(storage: Storage) -> Knowledge:
    return Knowledge(storage, max_bytes=10_000)


async def test_a_summary_is_kept_until_another_is_said(knowledge: Knowledge, acme: Tenant) -> None:
    async def add(content: bytes, summary: str | None = None) -> str | None:
        source = await knowledge.add(
            acme.owner, content, title="a.md", object_key="a", summary=summary
        )
        return source.summary

    assert await add(b"One.") is None
    assert await add(b"One.", " About one. ") == "About one."
    assert await add(b"One.") == "About one."
    assert await add(b"Two.") == "About one."
    assert await add(b"Three.", "About three.") == "About three."
    assert (await knowledge.page(acme.owner)).items[0].summary == "About three."


async def test_a_source_is_described_and_the_description_taken_back(
    knowledge: Knowledge, acme: Tenant
) -> None:
    source = await knowledge.add(acme.owner, b"One.", title="a.md")
    described = await knowledge.describe(acme.owner, source.id, summary="About one.")
    assert described.summary == "About one."
    assert described.status == source.status
    assert (await knowledge.describe(acme.owner, source.id, summary=None)).summary is None
    for wrong, error in (("x" * 1_001, OverLimit), (" ", Invalid), ("\0", Invalid)):
        with pytest.raises(error):
            await knowledge.describe(acme.owner, source.id, summary=wrong)


async def test_only_owners_describe_and_only_their_own(
    knowledge: Knowledge, storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    theirs = await knowledge.add(other.owner, b"One.", title="a.md", summary="Theirs.")
    for source_id in (theirs.id, new_id()):
        with pytest.raises(NotFound):
            await knowledge.describe(acme.owner, source_id, summary="Ours.")
    for who, error in ((other.reader, ReadOnly), (other.member(other.anna), Refused)):
        with pytest.raises(error):
            await knowledge.describe(who, theirs.id, summary="Mine.")
    assert (await knowledge.get(other.owner, theirs.id)).summary == "Theirs."
    shared = await knowledge.add(LOCAL_OPERATOR, b"One.", title="a.md", platform=True)
    with pytest.raises(Refused):
        await knowledge.describe(acme.owner, shared.id, summary="Ours.")
    described = await knowledge.describe(LOCAL_OPERATOR, shared.id, summary="For all.")
    assert described.summary == "For all."
