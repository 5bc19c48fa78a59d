"""Two editors, a run, a restore and a change of the load mode at once: nothing is lost, and every state is explained."""

import asyncio
import random
import threading
from dataclasses import dataclass, field
from itertools import pairwise
from uuid import UUID

import pytest

from memoranda.access.models import Principal
from memoranda.files.body import hash_of
from memoranda.files.errors import AlwaysLoadedFull, FileChanged
from memoranda.files.models import (
    Action,
    ContextFile,
    FileProposalStatus,
    LoadMode,
    RevisionText,
)
from memoranda.files.proposals import deciding
from memoranda.files.proposals.service import FileProposals
from memoranda.files.service import Files
from memoranda.storage import Storage, Transaction
from memoranda.words.errors import Conflict
from memoranda.words.subject import ContextSubject
from tests.contract.file_house import EMPTY, WORKSPACE, events
from tests.contract.tenants import Tenant, new_tenant

NAME = "people"
EDITS = 12
State = tuple[int, LoadMode | None, str]


@pytest.fixture
async def here(database_url: str, storage: Storage) -> list[Storage]:
    """The same database twice, as by two processes."""
    other = await Storage.open(database_url)
    yield [storage, other]
    await other.close()


@dataclass
class Seen:
    """What all who were at work were answered."""

    written: list[ContextFile] = field(default_factory=list)
    refused: list[FileChanged] = field(default_factory=list)
    read: list[State] = field(default_factory=list)


async def edit(files: Files, who: Principal, editor: str, seen: Seen) -> None:
    """Write one line after the other, each onto what was there, and look again where another was first."""
    file = await files.get(who, NAME)
    body, read = file.body, file.hash
    for number in range(EDITS):
        while True:
            await asyncio.sleep(0)
            try:
                written = await files.write(who, NAME, f"{body}{editor} {number}\n", read)
            except FileChanged as changed:
                seen.refused.append(changed)
                body = str(changed.details["current_body"])
                read = str(changed.details["current_hash"])
                continue
            seen.written.append(written)
            body, read = written.body, written.hash
            break


async def run(files: Files, subject: ContextSubject, seen: Seen, done: asyncio.Event) -> None:
    """Load the files again and again, as runs do."""
    while not done.is_set():
        view = await files.view(subject)
        for file in view.workspace:
            assert hash_of(file.body) == file.hash
            if file.name == NAME:
                seen.read.append((file.revision, file.load_mode, file.body))
        assert len(view.always_loaded) <= 3
        await asyncio.sleep(0)


async def change_modes(files: Files, who: Principal, seen: Seen) -> None:
    for number in range(EDITS):
        mode = LoadMode.ON_DEMAND if number % 2 else LoadMode.ALWAYS
        seen.written.append(await files.set_load_mode(who, NAME, mode))
        await asyncio.sleep(0)


async def restore(files: Files, who: Principal, seen: Seen) -> None:
    for number in range(1, EDITS // 2):
        newest = (await files.get(who, NAME)).revision
        seen.written.append(await files.restore(who, NAME, min(number, newest)))
        await asyncio.sleep(0)


async def states(files: Files, acme: Tenant) -> list[RevisionText]:
    """Every state that the file ever had, the first one first."""
    history = await files.history(acme.owner, NAME, limit=200)
    return [await files.revision(acme.owner, NAME, each.number) for each in history[::-1]]


async def test_nothing_is_written_over_unseen_and_every_state_is_explained(
    here: list[Storage], acme: Tenant
) -> None:
    zeta = await new_tenant(here[0], "Zeta")
    one, other = Files(here[0]), Files(here[1])
    subject = ContextSubject(organization_id=acme.owner.organization_id, agent_id=acme.scout.id)
    seen, done = Seen(), asyncio.Event()
    reader = asyncio.create_task(run(other, subject, seen, done))
    await asyncio.gather(
        edit(one, acme.owner, "one", seen),
        edit(other, acme.owner, "other", seen),
        change_modes(other, acme.owner, seen),
        restore(one, acme.owner, seen),
    )
    done.set()
    await reader
    found = await states(one, acme)
    assert [state.number for state in found] == list(range(1, len(found) + 1))
    explained = {(state.number, state.load_mode, state.body) for state in found}
    # What anybody read or was answered is a state that the revisions tell of.
    assert set(seen.read) <= explained
    assert {(each.revision, each.load_mode, each.body) for each in seen.written} <= explained
    for refused in seen.refused:
        told = (refused.details["revision"], refused.details["current_body"])
        assert told in {(state.number, state.body) for state in found}
    for before, after in pairwise(found):
        _check_step(before, after, found)
    edits = [state for state in found if state.action is Action.WRITTEN]
    assert len(edits) == 2 * EDITS
    heard = await events(here[0], acme.owner)
    assert [event.metadata["revision"] for event in heard] == [each.number for each in found[1:]]
    assert await events(here[0], zeta.owner) == []
    assert (await other.get(zeta.owner, NAME)).hash == EMPTY


def _check_step(before: RevisionText, after: RevisionText, found: list[RevisionText]) -> None:
    """Whether the one state came of the other by what it says that was done, and no word was lost."""
    assert before.replaced_at == after.written_at
    assert hash_of(after.body) == after.hash
    if after.action is Action.WRITTEN:
        # One editor's line onto all that was there.
        assert after.body.startswith(before.body)
        assert after.body.removeprefix(before.body).count("\n") == 1
        assert after.load_mode is before.load_mode
    elif after.action is Action.RESTORED:
        assert after.restored_from is not None
        assert after.body == found[after.restored_from - 1].body
        assert after.load_mode is before.load_mode
    else:
        assert after.action is Action.MODE_CHANGED
        assert after.body == before.body
        assert after.load_mode is not before.load_mode


async def test_of_many_first_writes_one_is_done(here: list[Storage], acme: Tenant) -> None:
    files = [Files(storage) for storage in here]
    writes = [
        files[number % 2].write(acme.owner, NAME, f"Writer {number}.", EMPTY)
        for number in range(10)
    ]
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    (done,) = [each for each in outcomes if isinstance(each, ContextFile)]
    refused = [each for each in outcomes if isinstance(each, FileChanged)]
    assert len(refused) == 9
    assert {each.details["current_body"] for each in refused} == {done.body}
    assert done.revision == 2


async def test_a_change_is_decided_once_however_many_decide(
    here: list[Storage], acme: Tenant
) -> None:
    files = Files(here[0])
    changes = [FileProposals(storage) for storage in here]
    await files.get(acme.owner, NAME)
    change = await changes[0].propose(acme.key_of(acme.scout), NAME, "Proposed.", EMPTY)
    decisions = [
        (changes[n % 2].apply if n % 3 else changes[n % 2].discard)(acme.owner, change.id)
        for n in range(9)
    ]
    outcomes = await asyncio.gather(*decisions, return_exceptions=True)
    assert sum(isinstance(each, Conflict) for each in outcomes) == 8
    decided = await changes[0].get(acme.owner, change.id)
    body = (await files.get(acme.owner, NAME)).body
    assert (decided.status is FileProposalStatus.APPLIED) == (body == "Proposed.")


async def test_who_decides_waits_for_whoever_is_just_deciding(
    here: list[Storage], acme: Tenant
) -> None:
    await Files(here[0]).get(acme.owner, NAME)
    change = await FileProposals(here[0]).propose(acme.owner, NAME, "Proposed.", EMPTY)
    decided, go = threading.Event(), threading.Event()

    def slowly(tx: Transaction) -> None:
        deciding.discard(tx, acme.owner, change.id)
        decided.set()
        go.wait(10)

    first = asyncio.create_task(here[0].write(_organization(acme), slowly))
    assert await asyncio.to_thread(decided.wait, 10)
    second = asyncio.create_task(FileProposals(here[1]).apply(acme.owner, change.id))
    await asyncio.sleep(0.3)
    go.set()
    await first
    with pytest.raises(Conflict):
        await second
    assert (await Files(here[0]).get(acme.owner, NAME)).body == ""


async def test_the_same_change_that_is_proposed_at_once_waits_once(
    here: list[Storage], acme: Tenant
) -> None:
    agent = acme.key_of(acme.scout)
    made = await asyncio.gather(
        *(FileProposals(here[n % 2]).propose(agent, NAME, "Ada.", EMPTY) for n in range(8))
    )
    assert len({change.id for change in made}) == 1


async def test_however_modes_change_at_once_three_files_at_most_are_always_loaded(
    here: list[Storage], acme: Tenant
) -> None:
    dice = random.Random(5)
    subject = ContextSubject(organization_id=_organization(acme))
    for _ in range(6):
        changes = [
            Files(dice.choice(here)).set_load_mode(acme.owner, name, dice.choice(list(LoadMode)))
            for name in dice.sample(WORKSPACE, 6)
        ]
        for outcome in await asyncio.gather(*changes, return_exceptions=True):
            assert isinstance(outcome, ContextFile | AlwaysLoadedFull)
        assert len((await Files(here[0]).view(subject)).always_loaded) <= 3


def _organization(acme: Tenant) -> UUID:
    assert acme.owner.organization_id is not None
    return acme.owner.organization_id
