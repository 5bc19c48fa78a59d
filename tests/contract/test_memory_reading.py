"""What lists and context sources read of memories, on every database: scope, order, pages."""

import random
from datetime import timedelta
from uuid import UUID

import pytest

from memoranda.memories import store
from memoranda.memories.audience import Audience
from memoranda.memories.candidate import Author, Candidate
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.storage import Storage
from memoranda.words.errors import Invalid
from memoranda.words.subject import ContextSubject
from tests.contract.clocks import SteppedClock
from tests.contract.tenants import Tenant, new_tenant


@pytest.fixture
def memories(timed_storage: Storage) -> Memories:
    return Memories(timed_storage)


@pytest.fixture
async def acme(timed_storage: Storage) -> Tenant:
    return await new_tenant(timed_storage)


async def one_in_each_audience(memories: Memories, acme: Tenant) -> None:
    """Eleven memories, one per audience, each with its audience as its text."""
    for user in (None, acme.anna, acme.ben):
        for agent in (None, acme.scout, acme.clerk):
            await memories.remember(
                acme.owner,
                f"{user.name if user else 'all'}/{agent.slug if agent else 'all'}",
                user_id=user.id if user else None,
                agent_id=agent.id if agent else None,
            )


def subject(
    acme: Tenant, user_id: UUID | None = None, agent_id: UUID | None = None
) -> ContextSubject:
    assert acme.owner.organization_id is not None
    return ContextSubject(
        organization_id=acme.owner.organization_id, user_id=user_id, agent_id=agent_id
    )


async def read(memories: Memories, subject: ContextSubject, *, personal: bool) -> set[str | None]:
    return {each.text for each in await memories.recent(subject, personal=personal, limit=99)}


async def test_a_run_reads_exactly_the_memories_whose_audience_covers_it(
    memories: Memories, acme: Tenant
) -> None:
    await one_in_each_audience(memories, acme)
    run = subject(acme, acme.anna.id, acme.scout.id)
    assert await read(memories, run, personal=False) == {"all/all", "all/scout", "Anna/scout"}
    assert await read(memories, run, personal=True) == {"Anna/all"}


async def test_a_trigger_run_reads_only_what_is_no_users(memories: Memories, acme: Tenant) -> None:
    await one_in_each_audience(memories, acme)
    run = subject(acme, None, acme.scout.id)
    assert await read(memories, run, personal=False) == {"all/all", "all/scout"}
    assert await read(memories, run, personal=True) == set()


async def test_without_an_agent_the_agent_filter_drops_and_nothing_else(
    memories: Memories, acme: Tenant
) -> None:
    await one_in_each_audience(memories, acme)
    shared = {"all/all", "all/scout", "all/clerk"}
    anna = subject(acme, acme.anna.id)
    assert await read(memories, anna, personal=False) == shared | {"Anna/scout", "Anna/clerk"}
    assert await read(memories, anna, personal=True) == {"Anna/all"}
    assert await read(memories, subject(acme), personal=False) == shared


async def test_what_sql_reads_is_what_the_rule_covers(memories: Memories, acme: Tenant) -> None:
    await one_in_each_audience(memories, acme)
    everything = (await memories.page(acme.owner, limit=99)).items
    assert len(everything) == 9
    for user in (None, acme.anna.id, acme.ben.id):
        for agent in (None, acme.scout.id, acme.clerk.id):
            run = subject(acme, user, agent)
            covered = {
                each.id
                for each in everything
                if Audience(user_id=each.user_id, agent_id=each.agent_id).covers(run)
            }
            both = [
                each.id
                for personal in (True, False)
                for each in await memories.recent(run, personal=personal, limit=99)
            ]
            assert sorted(both) == sorted(covered)
            if user or agent:
                page = await memories.page(acme.owner, user_id=user, agent_id=agent)
                assert {each.id for each in page.items} == covered


async def test_a_space_is_in_no_list_and_no_context(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:

    note = Candidate(Audience(space="flow:node"), None, "x", None, None, (), None, Author())
    made = await timed_storage.write(acme.owner.organization_id, store.remember, note, Ways())
    run = subject(acme, acme.anna.id)
    assert await read(memories, run, personal=False) == set()
    assert (await memories.page(acme.member(acme.anna))).items == []
    assert (await memories.page(acme.owner, agent_id=acme.scout.id)).items == []
    assert made.text == "x"


@pytest.mark.parametrize(
    ("one", "other"), [("a", "ab"), ("john_doe", "john-doe"), ("%", "x"), ("_", "x"), ("a:b", "a")]
)
async def test_scopes_and_attributes_named_alike_do_not_meet(
    memories: Memories, acme: Tenant, timed_storage: Storage, one: str, other: str
) -> None:

    def saved(space: str) -> Candidate:
        return Candidate(Audience(space=space), "k", "same", None, None, (), None, Author())

    organization = acme.owner.organization_id
    first = await timed_storage.write(organization, store.remember, saved(one), Ways())
    second = await timed_storage.write(organization, store.remember, saved(other), Ways())
    assert first.id != second.id
    if ":" not in one:
        keyed = [
            await memories.remember(acme.owner, "same", attribute=f"preference.{name}")
            for name in (one, other)
        ]
        assert keyed[0].id != keyed[1].id


async def test_the_last_recorded_comes_first_and_ids_break_ties(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    run = subject(acme)
    moved = await memories.remember(acme.owner, "moved", attribute="observation.a")
    tied = [await memories.remember(acme.owner, f"tied {number}") for number in range(4)]
    expected = sorted((each.id for each in [moved, *tied]), reverse=True)
    assert [each.id for each in await memories.recent(run, personal=False, limit=9)] == expected
    clock.tick()
    await memories.remember(acme.owner, "moved again", attribute="observation.a")
    newest = (await memories.recent(run, personal=False, limit=1))[0]
    assert (newest.id, newest.text) == (moved.id, "moved again")


async def test_versions_and_not_clocks_order_a_chain(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    first = await memories.remember(acme.owner, "one", attribute="observation.a")
    await memories.remember(acme.owner, "two", attribute="observation.a")
    clock.now -= timedelta(days=1)
    await memories.remember(acme.owner, "three", attribute="observation.a")
    assert (await memories.get(acme.owner, first.id)).text == "three"
    history = await memories.history(acme.owner, first.id)
    assert [(each.version, each.text) for each in history] == [(1, "one"), (2, "two"), (3, "three")]


async def test_a_limit_of_zero_reads_nothing_and_a_negative_one_is_refused() -> None:
    unopened = Memories(None)  # type: ignore[arg-type]  # a read would fail on it
    someone = ContextSubject(organization_id=UUID(int=1))
    assert await unopened.recent(someone, personal=False, limit=0) == []
    assert await unopened.recent(someone, personal=True, limit=5) == []
    with pytest.raises(Invalid):
        await unopened.recent(someone, personal=False, limit=-1)


async def test_pages_neither_skip_nor_repeat_while_rows_come_and_go(
    memories: Memories, acme: Tenant
) -> None:
    """All rows share one time, and between pages memories are added, changed and forgotten."""
    choice = random.Random(20)
    made = [
        await memories.remember(acme.owner, f"fact {n}", attribute=f"observation.f{n}")
        for n in range(40)
    ]
    forgotten: set[UUID] = set()
    seen: list[UUID] = []
    cursor = None
    while True:
        page = await memories.page(acme.owner, limit=7, cursor=cursor)
        seen += [each.id for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
        await memories.remember(acme.owner, f"new {len(seen)}")
        changed, gone = choice.sample(range(40), 2)
        if made[changed].id not in forgotten:
            await memories.remember(
                acme.owner, f"changed {len(seen)}", attribute=f"observation.f{changed}"
            )
        if made[gone].id not in forgotten:
            forgotten.add((await memories.forget(acme.owner, made[gone].id)).id)
        if (
            choice.random() < 0.5 and seen[-1] not in forgotten
        ):  # the very row that the cursor names
            forgotten.add((await memories.forget(acme.owner, seen[-1])).id)
    assert len(seen) == len(set(seen))
    assert {each.id for each in made} - forgotten <= set(seen)
    assert forgotten, "the test did what it says"


async def test_a_page_ends_where_the_list_ends(memories: Memories, acme: Tenant) -> None:
    for number in range(4):
        await memories.remember(acme.owner, f"fact {number}")
    first = await memories.page(acme.owner, limit=2)
    second = await memories.page(acme.owner, limit=2, cursor=first.next_cursor)
    assert [len(first.items), len(second.items), second.next_cursor] == [2, 2, None]
    for wrong in ("", "garbled", (first.next_cursor or "")[:-1] + "%"):
        with pytest.raises(Invalid, match="start again without a cursor"):
            await memories.page(acme.owner, cursor=wrong)
    for wrong_limit in (0, -1, 201):
        with pytest.raises(Invalid):
            await memories.page(acme.owner, limit=wrong_limit)
