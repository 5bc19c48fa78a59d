"""Proposed changes of files: they wait for an owner, survive what others write, and leave no text behind."""

from datetime import datetime, timedelta

import pytest

from memoranda.files.body import hash_of
from memoranda.files.errors import (
    FileChanged,
    FileProposalsFull,
    FileTooLarge,
    NotYourFile,
    UnknownFile,
)
from memoranda.files.models import Action, Author, AuthorKind, FileProposalStatus, LoadMode
from memoranda.files.proposals import store
from memoranda.files.proposals.service import FileProposals
from memoranda.files.service import Files
from memoranda.storage import Storage
from memoranda.words.errors import Conflict, Invalid, NotFound, ReadOnly, Refused, SecretFound
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.copied_rows import rows_of
from tests.contract.file_house import EMPTY, activities, events, kinds, written
from tests.contract.tenants import Tenant, new_tenant

SECRET = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8cF0hJ5kL7"
WAITING, APPLIED, DISCARDED = FileProposalStatus


@pytest.fixture
def storage(timed_storage: Storage) -> Storage:
    return timed_storage


@pytest.fixture
def files(storage: Storage) -> Files:
    return Files(storage)


@pytest.fixture
def changes(storage: Storage) -> FileProposals:
    return FileProposals(storage)


async def test_a_proposed_change_shows_what_it_would_change_and_changes_nothing(
    files: Files, changes: FileProposals, acme: Tenant
) -> None:
    file = await written(files, acme.owner, "voice", "Short.\nWarm.\n")
    agent = acme.key_of(acme.scout, acme.anna)
    run = new_id()
    change = await changes.propose(agent, "voice", "Short.\nExact.\n", file.hash, run_id=run)
    assert change.diff == "--- voice\n+++ voice\n@@ -1,2 +1,2 @@\n Short.\n-Warm.\n+Exact.\n"
    assert (change.status, change.stale, change.body) == (WAITING, False, "Short.\nExact.\n")
    assert (change.base_revision, change.base_hash) == (2, file.hash)
    assert (change.file, change.agent_id, change.run_id) == ("voice", None, run)
    assert change.author == Author(
        kind=AuthorKind.AGENT, user_id=acme.anna.id, agent_id=acme.scout.id
    )
    assert await changes.get(acme.owner, change.id) == change
    assert await files.get(acme.owner, "voice") == file


async def test_an_owner_applies_a_change_and_both_are_named(
    files: Files, changes: FileProposals, acme: Tenant
) -> None:
    await files.get(acme.owner, "voice")
    change = await changes.propose(acme.key_of(acme.scout), "voice", "Exact.", EMPTY)
    applied = await changes.apply(acme.owner, change.id)
    assert (applied.body, applied.revision, applied.action) == ("Exact.", 2, Action.APPLIED)
    assert applied.author == Author(
        kind=AuthorKind.USER, user_id=acme.owner.user_id, agent_id=acme.scout.id
    )
    assert (await files.history(acme.owner, "voice"))[0].proposal_id == change.id
    decided = await changes.get(acme.owner, change.id)
    assert (decided.status, decided.revision, decided.body, decided.diff) == (
        *(APPLIED, 2, None, None),
    )
    assert decided.decided_by == acme.owner.user_id


async def test_a_change_that_waits_says_since_when_the_file_says_something_else(
    files: Files, changes: FileProposals, acme: Tenant, clock: SteppedClock
) -> None:
    read = await written(files, acme.owner, "voice", "Short.")
    agent = acme.key_of(acme.scout)
    change = await changes.propose(agent, "voice", "Exact.", read.hash)

    async def since() -> datetime | None:
        shown = await changes.get(acme.owner, change.id)
        [listed] = (await changes.page(acme.owner)).items
        assert shown.stale is listed.stale is (shown.stale_since is not None)
        return shown.stale_since

    assert await since() is None
    clock.tick(timedelta(hours=1))
    await files.set_load_mode(acme.owner, "voice", LoadMode.ON_DEMAND)
    assert await since() is None
    clock.tick(timedelta(hours=1))
    left = await written(files, acme.owner, "voice", "Loud.")
    clock.tick(timedelta(hours=1))
    await written(files, acme.owner, "voice", "Louder.")
    assert await since() == left.written_at
    await written(files, acme.owner, "voice", "Short.")
    assert await since() is None
    clock.tick(timedelta(hours=1))
    again = await written(files, acme.owner, "voice", "Loud.")
    assert await since() == again.written_at
    await changes.discard(acme.owner, change.id)
    decided = await changes.get(acme.owner, change.id)
    assert (decided.stale, decided.stale_since) == (False, None)


async def test_a_change_of_what_has_changed_waits_on_and_tells_what_is_there(
    files: Files, changes: FileProposals, acme: Tenant
) -> None:
    await files.get(acme.owner, "voice")
    change = await changes.propose(acme.key_of(acme.scout), "voice", "Exact.\n", EMPTY)
    now = await written(files, acme.owner, "voice", "Loud.\n")
    with pytest.raises(FileChanged) as refused:
        await changes.apply(acme.owner, change.id)
    assert refused.value.details["current_hash"] == now.hash
    assert refused.value.details["current_body"] == "Loud.\n"
    still = await changes.get(acme.owner, change.id)
    assert (still.status, still.stale, still.current_hash) == (WAITING, True, now.hash)
    assert still.diff == "--- voice\n+++ voice\n@@ -1 +1 @@\n-Loud.\n+Exact.\n"
    assert await files.get(acme.owner, "voice") == now
    with pytest.raises(FileChanged):
        await changes.apply(acme.owner, change.id, expected_hash=hash_of("other"))
    applied = await changes.apply(acme.owner, change.id, expected_hash=now.hash)
    assert applied.body == "Exact.\n"
    assert (await files.revision(acme.owner, "voice", now.revision)).body == "Loud.\n"


async def test_what_is_decided_is_not_decided_again(
    files: Files, changes: FileProposals, acme: Tenant
) -> None:
    await files.get(acme.owner, "voice")
    one = await changes.propose(acme.owner, "voice", "One.", EMPTY)
    two = await changes.propose(acme.owner, "voice", "Two.", EMPTY)
    await changes.apply(acme.owner, one.id)
    assert (await changes.discard(acme.owner, two.id)).status is DISCARDED
    for change, status in ((one, "applied"), (two, "discarded")):
        for decide in (changes.apply, changes.discard):
            with pytest.raises(Conflict) as refused:
                await decide(acme.owner, change.id)
            assert refused.value.details["status"] == status
    assert (await files.get(acme.owner, "voice")).body == "One."


async def test_the_same_change_by_the_same_author_waits_once(
    files: Files, changes: FileProposals, acme: Tenant
) -> None:
    await files.get(acme.owner, "voice")
    agent, other = acme.key_of(acme.scout), acme.key_of(acme.clerk)
    first = await changes.propose(agent, "voice", "One.", EMPTY)
    assert await changes.propose(agent, "voice", "One.", EMPTY) == first
    assert (await changes.propose(other, "voice", "One.", EMPTY)).id != first.id
    assert (await changes.propose(agent, "voice", "Two.", EMPTY)).id != first.id
    assert (await changes.propose(agent, "people", "One.", EMPTY)).id != first.id
    assert len((await changes.page(acme.owner)).items) == 4


async def test_what_can_be_no_change_is_refused(
    files: Files, changes: FileProposals, acme: Tenant
) -> None:
    agent = acme.key_of(acme.scout)
    await files.get(agent, "voice")
    for name, body, read, error in (
        ("voice", "", EMPTY, Invalid),
        ("voice", "x", hash_of("y"), FileChanged),
        ("voice", "x", "no hash", Invalid),
        ("voice", "x" * 65_537, EMPTY, FileTooLarge),
        ("voice", SECRET, EMPTY, SecretFound),
        ("voice", "\0", EMPTY, Invalid),
        ("tone", "x", EMPTY, UnknownFile),
    ):
        with pytest.raises(error) as refused:
            await changes.propose(agent, name, body, read)
        assert SECRET not in f"{refused.value.message}{refused.value.details}"
    with pytest.raises(NotYourFile):
        await changes.propose(agent, "SOUL.md", "x", EMPTY, agent="clerk")
    with pytest.raises(ReadOnly):
        await changes.propose(acme.reader, "voice", "x", EMPTY)
    assert (await changes.page(acme.owner)).items == []


async def test_an_agent_proposes_changes_of_its_own_files(
    files: Files, changes: FileProposals, acme: Tenant
) -> None:
    change = await changes.propose(
        acme.key_of(acme.scout), "SOUL.md", "You are calm.", EMPTY, agent="scout"
    )
    assert (change.file, change.agent_id) == ("SOUL.md", acme.scout.id)
    applied = await changes.apply(acme.owner, change.id)
    assert (applied.agent_id, applied.body) == (acme.scout.id, "You are calm.")


async def test_owners_decide_and_others_see_what_they_proposed(
    files: Files, changes: FileProposals, acme: Tenant
) -> None:
    agent, anna, ben = acme.key_of(acme.scout), acme.member(acme.anna), acme.member(acme.ben)
    await files.get(acme.owner, "voice")
    by_agent = await changes.propose(agent, "voice", "Agent.", EMPTY)
    by_anna = await changes.propose(anna, "voice", "Anna.", EMPTY)
    for who, seen in (
        (acme.owner, [by_anna.id, by_agent.id]),
        (acme.reader, [by_anna.id, by_agent.id]),
        (anna, [by_anna.id]),
        (ben, []),
        (agent, [by_agent.id]),
        (acme.key_of(acme.clerk), []),
    ):
        assert [each.id for each in (await changes.page(who)).items] == seen
        for change in (by_anna, by_agent):
            if change.id in seen:
                assert (await changes.get(who, change.id)).id == change.id
            else:
                with pytest.raises(NotFound):
                    await changes.get(who, change.id)
    for who, change in ((anna, by_anna), (agent, by_agent), (acme.reader, by_agent)):
        for decide in (changes.apply, changes.discard):
            with pytest.raises(Refused):
                await decide(who, change.id)
    with pytest.raises(NotFound):
        await changes.apply(ben, by_anna.id)
    assert (await files.get(acme.owner, "voice")).body == ""


async def test_changes_are_listed_in_pages(
    files: Files, changes: FileProposals, acme: Tenant
) -> None:
    await files.get(acme.owner, "voice")
    made = [(await changes.propose(acme.owner, "voice", str(n), EMPTY)).id for n in range(5)]
    found, cursor = [], None
    while True:
        page = await changes.page(acme.owner, limit=2, cursor=cursor)
        found += [each.id for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == made[::-1]
    assert (await changes.page(acme.owner, status="applied")).items == []
    for wrong in ({"cursor": "x"}, {"limit": 0}, {"status": "gone"}):
        with pytest.raises(Invalid):
            await changes.page(acme.owner, **wrong)


async def test_no_more_changes_wait_than_may(
    files: Files, changes: FileProposals, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert store.MOST_WAITING == 200
    monkeypatch.setattr(store, "MOST_WAITING", 2)
    await files.get(acme.owner, "voice")
    first = await changes.propose(acme.owner, "voice", "1", EMPTY)
    await changes.propose(acme.owner, "voice", "2", EMPTY)
    with pytest.raises(FileProposalsFull) as refused:
        await changes.propose(acme.owner, "voice", "3", EMPTY)
    assert refused.value.details == {"limit": 2}
    assert refused.value.kind == "conflict"
    await changes.discard(acme.owner, first.id)
    await changes.propose(acme.owner, "voice", "3", EMPTY)


async def test_what_becomes_of_a_change_is_told_without_its_text(
    files: Files, changes: FileProposals, acme: Tenant, storage: Storage
) -> None:
    agent = acme.key_of(acme.scout)
    await files.get(acme.owner, "voice")
    one = await changes.propose(agent, "voice", "Whispered one.", EMPTY)
    two = await changes.propose(agent, "voice", "Whispered two.", EMPTY)
    await changes.apply(acme.owner, one.id)
    await changes.discard(acme.owner, two.id)
    told, heard = await activities(storage, acme), await events(storage, acme.owner)
    assert kinds(told) == [
        *("file_change_proposed", "file_change_proposed", "context_file_updated"),
        *("file_change_applied", "file_change_discarded"),
    ]
    assert told[2].metadata["proposal_id"] == str(one.id)
    assert [(each.type, each.metadata["action"]) for each in heard] == [
        ("file_proposal.updated", "proposed"),
        ("file_proposal.updated", "proposed"),
        ("file.updated", "applied"),
        ("file_proposal.updated", "applied"),
        ("file_proposal.updated", "discarded"),
    ]
    assert {each.agent_id for each in heard if each.type != "file.updated"} == {acme.scout.id}
    assert "Whispered" not in f"{told}{heard}"
    assert len(await events(storage, acme.key_of(acme.clerk))) == 1  # the file's own


async def test_what_was_discarded_is_in_no_row(
    files: Files, changes: FileProposals, acme: Tenant, storage: Storage
) -> None:
    await files.get(acme.owner, "voice")
    change = await changes.propose(acme.owner, "voice", "A discarded whisper.", EMPTY)
    await changes.discard(acme.owner, change.id)
    decided = await changes.get(acme.owner, change.id)
    assert (decided.body, decided.diff) == (None, None)
    assert "whisper" not in str(decided)
    rows = await storage.read(acme.owner.organization_id, rows_of)
    assert "context_file_proposals" in rows
    assert "whisper" not in str(rows)


async def test_what_was_decided_long_ago_is_deleted_at_night(
    files: Files, changes: FileProposals, acme: Tenant, clock: SteppedClock
) -> None:
    await files.get(acme.owner, "voice")
    old = await changes.propose(acme.owner, "voice", "1", EMPTY)
    waits = await changes.propose(acme.owner, "voice", "2", EMPTY)
    await changes.discard(acme.owner, old.id)
    clock.tick(timedelta(days=31))
    assert await files.prune(acme.owner.organization_id) == 1
    with pytest.raises(NotFound):
        await changes.get(acme.owner, old.id)
    assert (await changes.get(acme.owner, waits.id)).status is WAITING


async def test_no_organization_knows_of_anothers_changes(
    files: Files, changes: FileProposals, acme: Tenant, storage: Storage
) -> None:
    zeta = await new_tenant(storage, "Zeta")
    await files.get(acme.owner, "voice")
    change = await changes.propose(acme.owner, "voice", "Acme speaks.", EMPTY)
    assert (await changes.page(zeta.owner)).items == []
    for decide in (changes.get, changes.apply, changes.discard):
        with pytest.raises(NotFound) as hidden:
            await decide(zeta.owner, change.id)
        missing = new_id()
        with pytest.raises(NotFound) as nothing:
            await decide(zeta.owner, missing)
        assert hidden.value.message.replace(str(change.id), "") == (
            nothing.value.message.replace(str(missing), "")
        )
    assert (await changes.get(acme.owner, change.id)).status is WAITING
