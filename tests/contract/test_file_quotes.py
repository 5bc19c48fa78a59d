"""Whoever erases a memory is told which context files quote it, and nothing is changed in them."""

from collections.abc import AsyncIterator

import pytest

from memoranda import Memoranda
from memoranda.files import quoting
from memoranda.memories.removal.models import QuotingFile
from tests.contract.file_house import written
from tests.contract.tenants import Tenant, new_tenant

SAID = "We never ship on Fridays."
QUOTED = "# Shipping\r\n\r\nNote: WE  NEVER\r\nship on fridays.\r\n"


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    async with Memoranda.open(database_url, migrate=False) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


async def erased(memoranda: Memoranda, acme: Tenant, text: str = SAID) -> list[QuotingFile]:
    made = await memoranda.memories.remember(acme.owner, text)
    return (await memoranda.removal.erase(acme.owner, made.id)).quoted_in_files


async def test_files_that_quote_it_now_before_or_in_a_change_that_waits_are_told(
    memoranda: Memoranda, acme: Tenant
) -> None:
    files, owner = memoranda.files, acme.owner
    agent = acme.key_of(acme.scout)
    now = await written(files, owner, "voice", "Short.", QUOTED)
    await written(files, owner, "people", QUOTED, "Ada.", f"{QUOTED}Ada.", "Ben.")
    notes = await written(files, agent, "NOTES.md", QUOTED, agent=acme.scout.id)
    glossary = await files.get(owner, "glossary")
    waits = await memoranda.file_proposals.propose(agent, "glossary", QUOTED, glossary.hash)
    gone = await memoranda.file_proposals.propose(agent, "roster", QUOTED, glossary.hash)
    await memoranda.file_proposals.discard(owner, gone.id)
    assert await erased(memoranda, acme) == [
        QuotingFile(file="people", agent_id=None, now=False, revisions=[2, 4], proposals=[]),
        QuotingFile(file="glossary", agent_id=None, now=False, revisions=[], proposals=[waits.id]),
        QuotingFile(file="voice", agent_id=None, now=True, revisions=[], proposals=[]),
        QuotingFile(file="NOTES.md", agent_id=acme.scout.id, now=True, revisions=[], proposals=[]),
    ]
    assert await files.get(owner, "voice") == now
    assert await files.get(agent, "NOTES.md", agent=acme.scout.id) == notes
    assert (await memoranda.file_proposals.get(owner, waits.id)).body == QUOTED
    assert await erased(memoranda, acme, "We ship on Mondays.") == []


async def test_erasing_a_user_tells_it_too(memoranda: Memoranda, acme: Tenant) -> None:
    await written(memoranda.files, acme.owner, "about-you", QUOTED)
    annas = acme.key_of(acme.scout, acme.anna)
    notes = await written(memoranda.files, annas, "NOTES.md", QUOTED, agent=acme.scout.id)
    await memoranda.memories.remember(acme.owner, SAID, user_id=acme.anna.id)
    done = await memoranda.removal.erase_user(acme.owner, acme.anna.id)
    assert [(each.file, each.now) for each in done.quoted_in_files] == [
        *(("about-you", True), ("NOTES.md", True))
    ]
    assert await memoranda.files.get(annas, "NOTES.md", agent=acme.scout.id) == notes
    assert notes.author.user_id == acme.anna.id
    again = await memoranda.removal.erase_user(acme.owner, acme.anna.id)
    assert again.quoted_in_files == []


async def test_files_of_another_organization_are_never_looked_at(
    memoranda: Memoranda, acme: Tenant
) -> None:
    other = await new_tenant(memoranda.storage, "Other")
    await written(memoranda.files, other.owner, "voice", QUOTED, "Short.")
    await written(
        memoranda.files, other.key_of(other.scout), "NOTES.md", QUOTED, agent=other.scout.id
    )
    assert await erased(memoranda, acme) == []
    assert [each.file for each in await erased(memoranda, other)] == ["voice", "NOTES.md"]


async def test_files_are_looked_through_to_the_last(
    memoranda: Memoranda, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quoting, "LOOKED_THROUGH", 1)
    names = ["about-you", "organization", "people", "glossary", "voice", "roster"]
    agents = [acme.key_of(acme.scout), acme.key_of(acme.clerk)]
    for name in names:
        await written(memoranda.files, acme.owner, name, QUOTED, "Else.", f"Else: {QUOTED}")
        file = await memoranda.files.get(acme.owner, name)
        for agent in agents:
            await memoranda.file_proposals.propose(agent, name, f"> {QUOTED}", file.hash)
    found = await erased(memoranda, acme)
    assert [each.file for each in found] == names
    assert [(each.now, each.revisions, len(each.proposals)) for each in found] == [
        (True, [2], 2) for _ in names
    ]
