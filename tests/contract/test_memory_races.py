"""Many writers on one chain, and the promises that the database itself keeps about chains."""

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import bindparam, select, update

from memoranda.memories.changes import store as writing
from memoranda.memories.heads import store as heads
from memoranda.memories.models import Memory
from memoranda.memories.service import Memories
from memoranda.storage import ConstraintViolated, Storage, StorageBusy, Transaction
from memoranda.storage.tables import memories, memory_revisions
from memoranda.words.errors import Conflict, DuplicateMemory, MemorandaError
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant, new_tenant

WRITERS = 8


@pytest.fixture
async def writers(database_url: str, storage: Storage) -> AsyncIterator[list[Memories]]:
    """Eight openings of one database, as eight processes would have."""
    opened = [await Storage.open(database_url) for _ in range(WRITERS)]
    yield [Memories(each) for each in opened]
    for each in opened:
        await each.close()


def without_waiting(statement: Any) -> Any:
    """The same look at a chain's row, by somebody who does not hold it."""
    looking = statement._generate()
    looking._for_update_arg = None
    return looking


def assert_whole(history: list) -> None:
    """One root, each revision after the one before it, nothing missing."""
    assert [each.version for each in history] == list(range(1, len(history) + 1))
    assert [each.supersedes_id for each in history] == [None, *(each.id for each in history[:-1])]
    assert len({each.memory_id for each in history}) == 1


async def test_eight_writers_on_one_key_make_one_linear_chain_and_lose_nothing(
    writers: list[Memories], acme: Tenant
) -> None:
    async def write(number: int, memories: Memories) -> list[Memory]:
        return [
            await memories.remember(acme.owner, f"{number} says {turn}", attribute="observation.a")
            for turn in range(12)
        ]

    made = await asyncio.gather(*[write(n, each) for n, each in enumerate(writers)])
    answers = [memory for each in made for memory in each]
    history = await writers[0].history(acme.owner, answers[0].id)
    assert_whole(history)
    # Every acknowledged write is there, under the version that its writer was told.
    assert {(each.version, each.text) for each in answers} == {
        (each.version, each.text) for each in history
    }
    assert (await writers[0].get(acme.owner, answers[0].id)).text == history[-1].text


async def test_eight_writers_of_one_storage_do_likewise(storage: Storage, acme: Tenant) -> None:
    memories = Memories(storage)
    made = await asyncio.gather(
        *[
            memories.remember(acme.owner, f"says {n}", attribute="observation.a")
            for n in range(WRITERS * 8)
        ]
    )
    history = await memories.history(acme.owner, made[0].id)
    assert_whole(history)
    assert {each.text for each in history} == {each.text for each in made}


async def test_writers_who_remember_and_forget_get_only_the_named_refusals(
    writers: list[Memories], acme: Tenant
) -> None:
    first = await writers[0].remember(acme.owner, "start", attribute="observation.a")
    refusals: list[MemorandaError] = []
    acknowledged = 1

    async def write(number: int, memories: Memories) -> None:
        nonlocal acknowledged
        for turn in range(10):
            try:
                if number % 2:
                    await memories.forget(acme.owner, first.id)
                else:
                    await memories.remember(acme.owner, f"{turn % 3}", attribute="observation.a")
                acknowledged += 1
            except (DuplicateMemory, Conflict) as refusal:
                refusals.append(refusal)

    await asyncio.gather(*[write(n, each) for n, each in enumerate(writers)])
    history = await writers[0].history(acme.owner, first.id)
    assert_whole(history)
    assert len(history) == acknowledged
    assert {each.code for each in refusals} <= {"duplicate_memory", "conflict"}
    assert all(
        one.text is not None or other.text is not None for one, other in pairwise(history)
    ), "no tombstone follows a tombstone"
    assert all(one.text != other.text for one, other in pairwise(history)), "no text follows itself"


@pytest.mark.parametrize("attribute", [None, "preference.tea"])
async def test_two_identical_adds_at_one_instant_are_one_row_and_the_second_learns_its_id(
    writers: list[Memories], acme: Tenant, attribute: str | None
) -> None:
    for turn in range(10):
        outcomes = await asyncio.gather(
            *[
                each.remember(
                    acme.owner, f"likes tea {turn}", attribute=attribute and attribute + str(turn)
                )
                for each in writers
            ],
            return_exceptions=True,
        )
        made = [each for each in outcomes if isinstance(each, Memory)]
        refused = [each for each in outcomes if isinstance(each, DuplicateMemory)]
        assert (len(made), len(refused)) == (1, WRITERS - 1)
        assert {each.details["memory_id"] for each in refused} == {str(made[0].id)}
        assert len(await writers[0].history(acme.owner, made[0].id)) == 1


async def test_the_constraints_alone_keep_a_chain_whole_when_nobody_waits(
    writers: list[Memories], acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its lock a writer can only lose a race, and then it looks again."""
    monkeypatch.setattr(heads, "HELD_BY_KEY", without_waiting(heads.HELD_BY_KEY))

    async def write(number: int, memories: Memories) -> int:
        done = 0
        for turn in range(6):
            try:
                await memories.remember(acme.owner, f"{number}.{turn}", attribute="observation.a")
                done += 1
            except StorageBusy:  # it lost every one of its tries, and nothing was written
                continue
        return done

    done = sum(await asyncio.gather(*[write(n, each) for n, each in enumerate(writers)]))
    found = (await writers[0].page(acme.owner)).items
    history = await writers[0].history(acme.owner, found[0].id)
    assert_whole(history)
    assert (len(found), len(history)) == (1, done)


async def test_readers_meet_no_error_and_only_whole_states_while_others_write(
    writers: list[Memories], acme: Tenant
) -> None:
    first = await writers[0].remember(acme.owner, "v1", attribute="observation.a")
    busy = True

    async def read(memories: Memories) -> int:
        count = 0
        while busy:
            seen = await memories.get(acme.owner, first.id)
            assert seen.text == f"v{seen.version}"
            count += 1
        return count

    readers = [asyncio.create_task(read(each)) for each in writers[1:]]
    for number in range(2, 40):
        await writers[0].remember(acme.owner, f"v{number}", attribute="observation.a")
    busy = False
    assert min(await asyncio.gather(*readers)) > 0


# --- the constraints, tried directly ---------------------------------------------------------


@pytest.fixture
async def pair(storage: Storage, acme: Tenant) -> tuple[Memory, UUID]:
    """A memory of two revisions, and the id of the first of them."""
    memories = Memories(storage)
    await memories.remember(acme.owner, "one", attribute="observation.a")
    made = await memories.remember(acme.owner, "two", attribute="observation.a")
    return made, (await memories.history(acme.owner, made.id))[0].id


def revision(
    memory_id: UUID, version: int, supersedes_id: UUID | None, tx: Transaction
) -> dict[str, Any]:
    return {
        "id": new_id(),
        "memory_id": memory_id,
        "version": version,
        "supersedes_id": supersedes_id,
        "text": "x",
        "tags": [],
        "origin": "user",
        "created_at": tx.now,
    }


async def refusal(storage: Storage, acme: Tenant, write) -> str:
    with pytest.raises(ConstraintViolated) as refused:
        await storage.write(acme.owner.organization_id, write)
    return refused.value.name


async def test_a_second_root_is_refused_by_name(storage: Storage, acme: Tenant, pair) -> None:
    memory, _ = pair
    name = await refusal(
        storage,
        acme,
        lambda tx: tx.run(writing.INSERT_REVISION, **revision(memory.id, 1, None, tx)),
    )
    assert name in {"one_root_per_memory", "one_revision_per_version"}
    name = await refusal(
        storage,
        acme,
        lambda tx: tx.run(writing.INSERT_REVISION, **revision(memory.id, 9, None, tx)),
    )
    assert name in {"one_root_per_memory", "only_the_root_has_no_parent"}


async def test_a_second_child_is_refused_by_name(storage: Storage, acme: Tenant, pair) -> None:
    memory, root = pair
    name = await refusal(
        storage,
        acme,
        lambda tx: tx.run(writing.INSERT_REVISION, **revision(memory.id, 3, root, tx)),
    )
    assert name == "one_child_per_revision"


async def test_a_revision_of_a_version_that_is_there_is_refused_by_name(
    storage: Storage, acme: Tenant, pair
) -> None:
    memory, _ = pair
    head = (await Memories(storage).history(acme.owner, memory.id))[-1].id
    name = await refusal(
        storage,
        acme,
        lambda tx: tx.run(writing.INSERT_REVISION, **revision(memory.id, 2, head, tx)),
    )
    assert name == "one_revision_per_version"


async def test_a_revision_that_follows_itself_is_refused_by_name(
    storage: Storage, acme: Tenant, pair
) -> None:
    memory, _ = pair

    def loop(tx: Transaction) -> None:
        row = revision(memory.id, 3, None, tx)
        tx.run(writing.INSERT_REVISION, **row | {"supersedes_id": row["id"]})

    assert await refusal(storage, acme, loop) == "no_revision_follows_itself"


async def test_only_an_end_points_onward_and_only_a_beginning_points_back(
    storage: Storage, acme: Tenant, pair
) -> None:
    memory, _ = pair
    head = (await Memories(storage).history(acme.owner, memory.id))[-1].id
    for link, name in (
        ("continued_by_id", "only_a_tombstone_points_onward"),
        ("continues_id", "only_a_root_continues_another_memory"),
    ):

        def write(tx: Transaction, link: str = link) -> None:
            row = revision(memory.id, 3, head, tx)
            tx.run(writing.INSERT_REVISION, **row | {link: new_id()})

        assert await refusal(storage, acme, write) == name


async def test_a_child_in_another_memory_is_refused(storage: Storage, acme: Tenant, pair) -> None:
    memory, _ = pair
    head = (await Memories(storage).history(acme.owner, memory.id))[-1].id
    other = await Memories(storage).remember(acme.owner, "other")
    name = await refusal(
        storage, acme, lambda tx: tx.run(writing.INSERT_REVISION, **revision(other.id, 2, head, tx))
    )
    assert name == "a_child_stays_in_its_memory"


async def test_a_revision_in_another_organization_is_refused(
    storage: Storage, acme: Tenant, pair
) -> None:
    memory, _ = pair
    other = await new_tenant(storage, "Other")
    head = (await Memories(storage).history(acme.owner, memory.id))[-1].id
    name = await refusal(
        storage,
        other,
        lambda tx: tx.run(writing.INSERT_REVISION, **revision(memory.id, 3, head, tx)),
    )
    assert name in {"a_revision_stays_in_its_organization", "unknown"}


@pytest.mark.parametrize("column", ["audience", "subject_key", "user_id", "agent_id", "space"])
async def test_a_chain_keeps_its_audience_and_key(
    storage: Storage, acme: Tenant, pair, column: str
) -> None:
    memory, _ = pair
    value = {"user_id": acme.ben.id, "agent_id": acme.clerk.id}.get(column, "another")
    statement = (
        update(memories)
        .where(memories.c.id == bindparam("memory"))
        .values({column: bindparam("given")})
    )
    name = await refusal(storage, acme, lambda tx: tx.run(statement, memory=memory.id, given=value))
    assert name == "a_memory_keeps_its_audience_and_key"


async def test_a_revision_is_never_changed(storage: Storage, acme: Tenant, pair) -> None:
    _, root = pair
    statement = (
        update(memory_revisions)
        .where(memory_revisions.c.id == bindparam("revision"))
        .values(text=bindparam("given"))
    )
    name = await refusal(
        storage, acme, lambda tx: tx.run(statement, revision=root, given="another past")
    )
    assert name == "revisions_are_append_only"


async def test_two_memories_never_share_a_head_or_a_key(
    storage: Storage, acme: Tenant, pair
) -> None:
    memory, _ = pair
    columns = [each.name for each in memories.columns if each.name != "organization_id"]
    whole = select(*(memories.c[name] for name in columns)).where(
        memories.c.id == bindparam("memory")
    )

    def twin(tx: Transaction, **changes: Any) -> None:
        row = tx.one(whole, memory=memory.id)
        assert row is not None
        tx.run(writing.INSERT_MEMORY, **row._asdict() | {"id": new_id()} | changes)

    assert (
        await refusal(storage, acme, lambda tx: twin(tx, head_id=new_id())) == "one_memory_per_key"
    )
    assert (
        await refusal(storage, acme, lambda tx: twin(tx, subject_key="k")) == "one_head_per_memory"
    )
    assert (
        await refusal(
            storage,
            acme,
            lambda tx: twin(tx, subject_key="k", head_id=new_id(), folded_digest=None),
        )
        == "a_text_comes_with_its_digest"
    )


async def test_one_text_without_a_key_lives_once_per_audience(
    storage: Storage, acme: Tenant
) -> None:
    made = await Memories(storage).remember(acme.owner, "likes tea")
    columns = [each.name for each in memories.columns if each.name != "organization_id"]
    whole = select(*(memories.c[name] for name in columns)).where(
        memories.c.id == bindparam("memory")
    )

    def twin(tx: Transaction) -> None:
        row = tx.one(whole, memory=made.id)
        assert row is not None
        tx.run(writing.INSERT_MEMORY, **row._asdict() | {"id": new_id(), "head_id": new_id()})

    assert await refusal(storage, acme, twin) == "one_live_memory_per_text"
