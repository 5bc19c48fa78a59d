"""An owner takes away what an earlier revision said: nothing of it stays, and everything else does."""

import asyncio
from contextlib import suppress
from datetime import timedelta

import pytest

from memoranda import Memoranda
from memoranda.files.errors import FileChanged, NotYourFile, RevisionGone, UnknownFile
from memoranda.files.models import ErasedRevision
from memoranda.files.proposals.service import FileProposals
from memoranda.files.service import Files
from memoranda.storage import Storage
from memoranda.words.errors import Conflict, Invalid, NotFound, ReadOnly, Refused
from tests.contract.clocks import SteppedClock
from tests.contract.copied_rows import rows_of
from tests.contract.file_house import activities, events, written
from tests.contract.tenants import Tenant, new_tenant
from tests.contract.traces import Scanner


@pytest.fixture
def storage(timed_storage: Storage) -> Storage:
    return timed_storage


@pytest.fixture
def files(storage: Storage) -> Files:
    return Files(storage)


async def test_an_erased_revision_is_gone_and_all_others_stay(
    storage: Storage, files: Files, acme: Tenant
) -> None:
    now = await written(files, acme.owner, "voice", "One.", "Swordfish.", "Three.")
    erased = await files.erase_revision(acme.owner, "voice", 3)
    assert erased == ErasedRevision(file="voice", agent_id=None, number=3, scrubbed=erased.scrubbed)
    assert await files.get(acme.owner, "voice") == now
    history = await files.history(acme.owner, "voice")
    assert [each.number for each in history] == [4, 2, 1]
    for asked in (
        files.revision(acme.owner, "voice", 3),
        files.restore(acme.owner, "voice", 3),
        files.erase_revision(acme.owner, "voice", 3),
    ):
        with pytest.raises(RevisionGone):
            await asked
    assert (await files.restore(acme.owner, "voice", 2)).body == "One."
    assert "Swordfish" not in str(await storage.read(acme.owner.organization_id, rows_of))
    [told] = [each for each in await activities(storage, acme) if "erased" in each.type]
    assert (told.type, told.subject_id) == ("file_revision_erased", now.id)
    assert told.metadata == {"file": "voice", "revision": 3}
    heard = [each for each in await events(storage, acme.owner) if "erased" in str(each)]
    assert len(heard) == 1


async def test_a_time_at_which_it_stood_is_gone_too_and_no_older_text_is_told_for_it(
    files: Files, acme: Tenant, clock: SteppedClock
) -> None:
    times = []
    for body in ("One.", "Swordfish.", "Three."):
        clock.tick(timedelta(hours=1))
        await written(files, acme.owner, "voice", body)
        times.append(clock.now)
    await files.erase_revision(acme.owner, "voice", 3)
    assert (await files.as_of(acme.owner, "voice", times[0])).body == "One."
    for moment in (times[1], times[1] + timedelta(minutes=30)):
        with pytest.raises(RevisionGone):
            await files.as_of(acme.owner, "voice", moment)
    assert (await files.as_of(acme.owner, "voice", times[2])).body == "Three."


async def test_only_an_owner_erases_and_only_an_earlier_revision(
    files: Files, acme: Tenant
) -> None:
    agent = acme.key_of(acme.scout)
    await written(files, agent, "NOTES.md", "One.", "Two.", agent="scout")
    await written(files, acme.owner, "voice", "One.", "Two.")
    for who, name, of, refusal in (
        (agent, "NOTES.md", "scout", Refused),
        (acme.key_of(acme.clerk), "NOTES.md", "scout", NotYourFile),
        (acme.member(acme.anna), "voice", None, Refused),
        (acme.reader, "voice", None, ReadOnly),
        (acme.owner, "tone", None, UnknownFile),
    ):
        with pytest.raises(refusal):
            await files.erase_revision(who, name, 2, agent=of)
    for number, refusal in ((3, Conflict), (4, NotFound), (0, Invalid)):
        with pytest.raises(refusal):
            await files.erase_revision(acme.owner, "voice", number)
    erased = await files.erase_revision(acme.owner, "NOTES.md", 2, agent="scout")
    assert erased.agent_id == acme.scout.id
    assert len(await files.history(acme.owner, "voice")) == 3


async def test_another_organizations_revisions_stay(
    storage: Storage, files: Files, acme: Tenant
) -> None:
    other = await new_tenant(storage, "Other")
    for tenant in (acme, other):
        await written(files, tenant.owner, "voice", "One.", "Two.")
    await files.erase_revision(acme.owner, "voice", 2)
    assert (await files.revision(other.owner, "voice", 2)).body == "One."
    with pytest.raises(NotFound):
        await files.erase_revision(acme.owner, "SOUL.md", 1, agent=other.scout.id)


async def test_what_was_told_to_quote_an_erased_memory_leaves_no_trace_in_the_end(
    database_url: str, scanner: Scanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    async with Memoranda.open(database_url, migrate=False) as memoranda:
        acme = await new_tenant(memoranda.storage)
        who, files = acme.owner, memoranda.files
        await written(files, who, "voice", "Ada collects swordfish.", "Ada collects stamps.")
        await written(files, who, "people", "Note: Ada collects swordfish.")
        read = (await files.get(who, "people")).hash
        again = "Ada collects swordfish. Still."
        await memoranda.file_proposals.propose(who, "people", again, read)
        made = await memoranda.memories.remember(who, "Ada collects swordfish.")
        done = await memoranda.removal.erase(who, made.id)
        for quoting in done.quoted_in_files:
            if quoting.now:
                file = await written(files, who, quoting.file, "Nothing.")
                quoting.revisions.append(file.revision - 1)
            for number in quoting.revisions:
                await files.erase_revision(who, quoting.file, number)
            for proposal_id in quoting.proposals:
                await memoranda.file_proposals.discard(who, proposal_id)
        await memoranda.storage.scrub()
    assert set(scanner.found(["swordfish", "stamps"])) == {"stamps"}


async def test_who_erases_while_others_write_takes_each_revision_once_and_nothing_else(
    storage: Storage, database_url: str, acme: Tenant
) -> None:
    elsewhere = await Storage.open(database_url)
    one, other = Files(storage), Files(elsewhere)
    proposals = FileProposals(elsewhere)
    await one.get(acme.owner, "voice")
    erased: list[int] = []

    async def edit(files: Files, editor: str) -> None:
        for number in range(10):
            await over_what_is_there(files, acme, f"{editor} {number}")

    async def erase(files: Files) -> None:
        for number in range(1, 16):
            try:
                done = await files.erase_revision(acme.owner, "voice", number)
            except (RevisionGone, NotFound, Conflict):
                continue
            erased.append(done.number)

    async def propose_and_apply() -> None:
        for number in range(5):
            read = await other.get(acme.owner, "voice")
            with suppress(FileChanged):
                change = await proposals.propose(
                    acme.key_of(acme.scout), "voice", f"Proposed {number}.", read.hash
                )
                await proposals.apply(acme.owner, change.id)

    async def look() -> None:
        for _ in range(10):
            await other.quoting(acme.owner.organization_id, ["one 3"])

    try:
        await asyncio.gather(
            *(edit(one, "one"), edit(other, "other"), erase(one), erase(other)),
            *(propose_and_apply(), look()),
        )
    finally:
        await elsewhere.close()
    now = await one.get(acme.owner, "voice")
    kept = [each.number for each in await one.history(acme.owner, "voice", limit=200)]
    assert len(erased) == len(set(erased))
    assert sorted([*kept, *erased]) == list(range(1, now.revision + 1))
    assert now.revision >= 21


async def over_what_is_there(files: Files, acme: Tenant, body: str) -> None:
    while True:
        read = await files.get(acme.owner, "voice")
        with suppress(FileChanged):
            await files.write(acme.owner, "voice", body, read.hash)
            return
