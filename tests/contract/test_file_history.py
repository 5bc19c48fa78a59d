"""What files said before: every state is kept for as long as it is promised, and can be restored."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import update

from memoranda.files.body import hash_of
from memoranda.files.errors import FileChanged, RevisionGone
from memoranda.files.models import Action, AuthorKind, FileRevision, LoadMode
from memoranda.files.revisions import reading
from memoranda.files.service import Files
from memoranda.storage import ConstraintViolated, Storage, Transaction
from memoranda.storage.tables import context_file_revisions
from memoranda.words.errors import Invalid, NotFound, SecretFound
from tests.contract.clocks import SteppedClock
from tests.contract.file_house import EMPTY, written
from tests.contract.tenants import Tenant, new_tenant

DAY = timedelta(days=1)


@pytest.fixture
def storage(timed_storage: Storage) -> Storage:
    return timed_storage


@pytest.fixture
def files(storage: Storage) -> Files:
    return Files(storage)


async def numbers(files: Files, acme: Tenant, name: str = "voice") -> list[int]:
    return [each.number for each in await files.history(acme.owner, name, limit=200)]


async def test_every_write_keeps_what_the_file_said_before_with_its_author(
    files: Files, acme: Tenant, clock: SteppedClock
) -> None:
    made = clock.now
    await files.get(acme.owner, "NOTES.md", agent="scout")
    first = clock.tick()
    await written(files, acme.key_of(acme.scout), "NOTES.md", "One.", agent="scout")
    second = clock.tick()
    await written(files, acme.owner, "NOTES.md", "Two.", agent="scout")
    history = await files.history(acme.owner, "NOTES.md", agent="scout")
    assert [(each.number, each.author.kind, each.action) for each in history] == [
        (3, AuthorKind.USER, Action.WRITTEN),
        (2, AuthorKind.AGENT, Action.WRITTEN),
        (1, AuthorKind.SYSTEM, Action.CREATED),
    ]
    assert [(each.written_at, each.replaced_at) for each in history] == [
        *((second, None), (first, second), (made, first)),
    ]
    texts = [
        (await files.revision(acme.owner, "NOTES.md", number, agent="scout")).body
        for number in (1, 2, 3)
    ]
    assert texts == ["", "One.", "Two."]
    assert [each.hash for each in history] == [hash_of("Two."), hash_of("One."), EMPTY]


async def test_a_change_of_the_load_mode_is_a_state_too(files: Files, acme: Tenant) -> None:
    await written(files, acme.owner, "people", "Ada.")
    await files.set_load_mode(acme.owner, "people", LoadMode.ALWAYS)
    newest, before, _ = await files.history(acme.owner, "people")
    assert (newest.action, newest.load_mode) == (Action.MODE_CHANGED, LoadMode.ALWAYS)
    assert before.load_mode is LoadMode.ON_DEMAND
    assert newest.hash == before.hash


async def test_history_comes_in_parts_the_newest_first(files: Files, acme: Tenant) -> None:
    await written(files, acme.owner, "voice", *"abcdef")
    assert await numbers(files, acme) == [7, 6, 5, 4, 3, 2, 1]
    found: list[FileRevision] = []
    while part := await files.history(
        acme.owner, "voice", limit=3, before=found[-1].number if found else None
    ):
        assert len(part) <= 3
        found += part
    assert found == await files.history(acme.owner, "voice", limit=200)
    for wrong in ({"limit": 0}, {"limit": 201}, {"before": 0}, {"before": 2**31}):
        with pytest.raises(Invalid):
            await files.history(acme.owner, "voice", **wrong)


async def test_a_restored_text_is_a_new_revision_and_nothing_is_lost(
    files: Files, acme: Tenant
) -> None:
    await written(files, acme.owner, "voice", "One.", "Two.")
    await files.set_load_mode(acme.owner, "voice", LoadMode.ON_DEMAND)
    restored = await files.restore(acme.owner, "voice", 2)
    assert (restored.body, restored.revision) == ("One.", 5)
    assert restored.load_mode is LoadMode.ON_DEMAND
    newest, *_ = await files.history(acme.owner, "voice")
    assert (newest.action, newest.restored_from) == (Action.RESTORED, 2)
    assert (await files.revision(acme.owner, "voice", 3)).body == "Two."
    assert (await files.restore(acme.owner, "voice", 5)) == restored
    again = await written(files, acme.owner, "voice", "Three.")
    assert (await files.history(acme.owner, "voice"))[0].restored_from is None
    with pytest.raises(FileChanged):
        await files.restore(acme.owner, "voice", 2, expected_hash=restored.hash)
    assert (await files.get(acme.owner, "voice")) == again
    done = await files.restore(acme.owner, "voice", 2, expected_hash=again.hash)
    assert done.body == "One."


@pytest.mark.parametrize("number", [4, 2**31 - 1])
async def test_a_revision_that_never_was_is_not_there(
    files: Files, acme: Tenant, number: int
) -> None:
    await written(files, acme.owner, "voice", "One.", "Two.")
    for asked in (
        files.revision(acme.owner, "voice", number),
        files.restore(acme.owner, "voice", number),
    ):
        with pytest.raises(NotFound) as refused:
            await asked
        assert refused.value.details["newest"] == 3


async def test_a_number_of_a_revision_is_one(files: Files, acme: Tenant) -> None:
    for number in (0, -1, 2**31):
        with pytest.raises(Invalid):
            await files.restore(acme.owner, "voice", number)


async def test_a_text_that_would_be_refused_today_is_not_restored(
    files: Files, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a kind of credential was not known yet when it was written."""
    secret = "np" + "m_" + "aB3dE5gH7jK9mN1pQ2sT4vW6yZ8cF0hJ5kL7"
    with monkeypatch.context() as before:
        before.setattr("memoranda.files.body.check_no_secret", lambda *_: None)
        await written(files, acme.owner, "voice", secret, "Clean.")
    with pytest.raises(SecretFound):
        await files.restore(acme.owner, "voice", 2)
    assert (await files.get(acme.owner, "voice")).body == "Clean."


async def test_a_revision_never_changes(storage: Storage, files: Files, acme: Tenant) -> None:
    await written(files, acme.owner, "voice", "One.")

    def change(tx: Transaction) -> None:
        tx.run(update(context_file_revisions).values(body="Forged."))

    with pytest.raises(ConstraintViolated) as refused:
        await storage.write(acme.owner.organization_id, change)
    assert refused.value.name == "file_revisions_are_append_only"


# --- how it was at a time -----------------------------------------------------------------------


async def test_a_file_is_told_as_it_was_at_any_time(
    files: Files, acme: Tenant, clock: SteppedClock
) -> None:
    before = clock.now - timedelta(microseconds=1)
    times: list[tuple[datetime, str]] = [(clock.now, "")]
    await files.get(acme.owner, "voice")
    for body in "abc":
        times.append((clock.tick(DAY), body))
        await written(files, acme.owner, "voice", body)
    for moment, body in times:
        assert (await files.as_of(acme.owner, "voice", moment)).body == body
        later = moment + DAY - timedelta(microseconds=1)
        assert (await files.as_of(acme.owner, "voice", later)).body == body
    with pytest.raises(NotFound):
        await files.as_of(acme.owner, "voice", before)
    with pytest.raises(Invalid):
        await files.as_of(acme.owner, "voice", datetime(2026, 1, 2))  # noqa: DTZ001 - it names no zone


async def test_a_clock_that_is_set_back_mixes_no_states_up(
    files: Files, acme: Tenant, clock: SteppedClock
) -> None:
    await written(files, acme.owner, "voice", "One.")
    clock.tick(-DAY)
    await written(files, acme.owner, "voice", "Two.")
    history = await files.history(acme.owner, "voice")
    times = [each.written_at for each in history]
    assert times == sorted(times, reverse=True)
    assert (await files.as_of(acme.owner, "voice", times[0])).body == "Two."


# --- what is kept -------------------------------------------------------------------------------


async def test_the_newest_20_are_kept_and_all_of_the_last_30_days(
    files: Files, acme: Tenant, clock: SteppedClock
) -> None:
    organization = acme.owner.organization_id
    await written(files, acme.owner, "voice", *(f"Old {n}." for n in range(30)))
    await written(files, acme.owner, "people", *(f"Few {n}." for n in range(5)))
    assert await files.prune(organization) == 0
    clock.tick(reading.KEPT_FOR - timedelta(microseconds=1))
    assert await files.prune(organization) == 0
    assert await numbers(files, acme) == list(range(31, 0, -1))
    clock.tick(timedelta(microseconds=1))
    assert await files.prune(organization) == 10
    assert await numbers(files, acme) == list(range(31, 10, -1))
    assert await numbers(files, acme, "people") == list(range(6, 0, -1))
    await written(files, acme.owner, "voice", *(f"New {n}." for n in range(25)))
    assert await files.prune(organization) == 20  # the newest 20 are others now
    assert await numbers(files, acme) == list(range(56, 30, -1))
    assert await files.prune(organization) == 0


async def test_a_text_that_stood_for_long_is_kept_from_when_it_was_replaced(
    files: Files, acme: Tenant, clock: SteppedClock
) -> None:
    await written(files, acme.owner, "voice", "It stood for long.")
    clock.tick(reading.KEPT_FOR + DAY)
    await written(files, acme.owner, "voice", *(f"New {n}." for n in range(25)))
    clock.tick(reading.KEPT_FOR - DAY)
    assert await files.prune(acme.owner.organization_id) == 1  # the empty one of before
    assert (await files.revision(acme.owner, "voice", 2)).body == "It stood for long."


async def test_what_is_kept_no_longer_is_gone_and_said_to_be(
    files: Files, acme: Tenant, clock: SteppedClock
) -> None:
    made = clock.now
    await written(files, acme.owner, "voice", *(f"Old {n}." for n in range(30)))
    clock.tick(reading.KEPT_FOR + DAY)
    await files.prune(acme.owner.organization_id)
    for asked in (
        files.revision(acme.owner, "voice", 1),
        files.restore(acme.owner, "voice", 10),
    ):
        with pytest.raises(RevisionGone):
            await asked
    assert (await files.revision(acme.owner, "voice", 11)).body == "Old 9."
    assert (await files.as_of(acme.owner, "voice", made)).body == "Old 29."
    with pytest.raises(NotFound):
        await files.as_of(acme.owner, "voice", made - DAY)


async def test_a_time_of_which_nothing_is_kept_is_gone(
    files: Files, acme: Tenant, clock: SteppedClock
) -> None:
    made = clock.now
    await files.get(acme.owner, "voice")
    for number in range(30):
        clock.tick()
        await written(files, acme.owner, "voice", f"Old {number}.")
    clock.tick(reading.KEPT_FOR + DAY)
    await files.prune(acme.owner.organization_id)
    with pytest.raises(RevisionGone):
        await files.as_of(acme.owner, "voice", made)


async def test_one_organizations_night_takes_nothing_of_another(
    files: Files, acme: Tenant, storage: Storage, clock: SteppedClock
) -> None:
    zeta = await new_tenant(storage, "Zeta")
    for tenant in (acme, zeta):
        await written(files, tenant.owner, "voice", *(f"Old {n}." for n in range(30)))
    clock.tick(reading.KEPT_FOR + DAY)
    assert await files.prune(acme.owner.organization_id) == 10
    assert len(await numbers(files, zeta)) == 31
