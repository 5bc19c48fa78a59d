"""What changing a memory promises on every database: edits, pins, moves, and versions that moved on."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from memoranda.memories.errors import StaleVersion
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.storage import Storage
from memoranda.words.errors import (
    Conflict,
    DuplicateMemory,
    Invalid,
    NotFound,
    OverLimit,
    ReadOnly,
    Refused,
)
from memoranda.words.ids import new_id
from tests.contract.clocks import SteppedClock
from tests.contract.memory_trail import (
    MODEL,
    actions,
    activities,
    made_of,
    make_vectors,
    told,
    vectors,
    words,
    words_versions,
)
from tests.contract.tenants import Tenant, new_tenant

TONE = "preference.tone"
UNTIL = datetime(2090, 5, 1, tzinfo=UTC)


@pytest.fixture
def memories(timed_storage: Storage) -> Memories:
    return Memories(timed_storage, Ways(models=(MODEL,)))


@pytest.fixture
async def acme(timed_storage: Storage) -> Tenant:
    return await new_tenant(timed_storage)


async def texts(memories: Memories, who, **filters) -> list[str | None]:
    return [each.text for each in (await memories.page(who, **filters, limit=200)).items]


# --- editing ---------------------------------------------------------------------------------


async def test_an_edit_is_one_whole_revision_of_what_is_given_and_what_stays(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    made = await memories.remember(
        acme.owner, "Likes tea", title="Drinks", category="food", tags=["a"], expires_at=UNTIL
    )
    clock.tick()
    edited = await memories.update(acme.owner, made.id, text="  Likes green tea ", tags=["a", "b"])
    assert (edited.id, edited.version, edited.text) == (made.id, 2, "Likes green tea")
    assert (edited.title, edited.category, edited.expires_at) == ("Drinks", "food", UNTIL)
    assert edited.tags == ("a", "b")
    assert (edited.created_at, edited.recorded_at) == (made.created_at, clock.now)
    assert edited == await memories.get(acme.owner, made.id)
    history = await memories.history(acme.owner, made.id)
    assert [(each.text, each.title, each.tags) for each in history] == [
        ("Likes tea", "Drinks", ("a",)),
        ("Likes green tea", "Drinks", ("a", "b")),
    ]


async def test_none_clears_what_may_be_empty(memories: Memories, acme: Tenant) -> None:
    made = await memories.remember(
        acme.owner, "Likes tea", title="Drinks", category="food", tags=["a"], expires_at=UNTIL
    )
    cleared = await memories.update(
        acme.owner, made.id, title=None, category=None, tags=(), expires_at=None
    )
    assert (cleared.title, cleared.category, cleared.tags, cleared.expires_at) == (
        None,
        None,
        (),
        None,
    )
    assert (cleared.text, cleared.version) == ("Likes tea", 2)


async def test_an_edit_that_changes_nothing_makes_no_revision(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Likes tea", title="Drinks")
    before = await told(timed_storage, acme)
    with pytest.raises(DuplicateMemory) as refused:
        await memories.update(acme.owner, made.id, text=" Likes tea", title="Drinks")
    assert refused.value.details == {"memory_id": str(made.id), "version": 1}
    assert await memories.update(acme.owner, made.id, title="Drinks", pinned=False) == made
    assert await memories.update(acme.owner, made.id, user_id=None) == made
    assert await told(timed_storage, acme) == before
    assert len(await memories.history(acme.owner, made.id)) == 1


async def test_an_edit_of_nothing_is_refused(memories: Memories, acme: Tenant) -> None:
    made = await memories.remember(acme.owner, "Likes tea")
    with pytest.raises(Invalid, match="at least one field"):
        await memories.update(acme.owner, made.id)
    with pytest.raises(Invalid, match="at least one field"):
        await memories.update(acme.owner, made.id, expected_version=1)


async def test_a_text_that_another_memory_of_the_audience_holds_is_refused_by_its_name(
    memories: Memories, acme: Tenant
) -> None:
    tea = await memories.remember(acme.owner, "Likes tea")
    keyed = await memories.remember(acme.owner, "Be brief", attribute=TONE)
    mine = await memories.remember(acme.owner, "Likes coffee")
    for text, holder in (("LIKES TEA", tea), ("be brief", keyed)):
        with pytest.raises(DuplicateMemory) as refused:
            await memories.update(acme.owner, mine.id, text=text)
        assert refused.value.details["memory_id"] == str(holder.id)
    assert (await memories.get(acme.owner, mine.id)).version == 1
    # A memory is no duplicate of itself: its case may be put right.
    assert (await memories.update(acme.owner, mine.id, text="likes coffee")).version == 2


async def test_a_text_of_another_audience_is_nobodys_duplicate(
    memories: Memories, acme: Tenant
) -> None:
    await memories.remember(acme.owner, "Likes tea", user_id=acme.ben.id)
    annas = await memories.remember(acme.owner, "Likes coffee", user_id=acme.anna.id)
    edited = await memories.update(acme.member(acme.anna), annas.id, text="Likes tea")
    assert edited.version == 2


async def test_an_expired_memory_gives_its_text_up_to_an_edit_and_goes_on_there(
    memories: Memories, timed_storage: Storage, acme: Tenant, clock: SteppedClock
) -> None:
    old = await memories.remember(
        acme.owner, "In Rome", pinned=True, expires_at=clock.now + timedelta(hours=1)
    )
    mine = await memories.remember(acme.owner, "In Oslo")
    clock.tick(timedelta(hours=1))
    assert (await memories.update(acme.owner, mine.id, text="in rome")).text == "in rome"
    assert (await memories.history(acme.owner, old.id))[-1].continued_by_id == mine.id
    assert await texts(memories, acme.owner) == ["in rome"]
    assert await texts(memories, acme.owner, status="forgotten") == []
    assert old.id not in await words(timed_storage, acme)
    stats = await memories.stats(acme.owner)
    assert (stats.active, stats.forgotten, stats.pinned) == (1, 0, 0)


async def test_an_edit_under_a_key_is_the_next_value_of_the_key(
    memories: Memories, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Be brief", attribute=TONE)
    await memories.update(acme.owner, made.id, text="Be very brief")
    with pytest.raises(DuplicateMemory):
        await memories.remember(acme.owner, "Be very brief", attribute=TONE)
    again = await memories.remember(acme.owner, "Be brief", attribute=TONE)
    assert (again.id, again.version) == (made.id, 3)


async def test_what_may_not_be_remembered_may_not_be_edited_in_either(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    made = await memories.remember(acme.owner, "Likes tea")
    for wrong in (
        {"text": " "},
        {"text": "a\0"},
        {"text": "\ud800"},
        {"title": "\0"},
        {"category": ""},
        {"tags": ["\0"]},
        {"tags": "tea"},
        {"expires_at": clock.now},
        {"expires_at": datetime(2090, 1, 1)},  # noqa: DTZ001 - a time without a zone is what is refused
    ):
        with pytest.raises(Invalid) as refused:
            await memories.update(acme.owner, made.id, **wrong)
        assert str(refused.value.details["field"]).split(".")[0] == next(iter(wrong))
    with pytest.raises(OverLimit):
        await memories.update(acme.owner, made.id, text="x" * 501)
    assert await memories.get(acme.owner, made.id) == made


async def test_what_is_gone_cannot_be_edited(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    soon = clock.now + timedelta(hours=1)
    forgotten = await memories.remember(acme.owner, "Likes tea")
    expired = await memories.remember(acme.owner, "On leave", expires_at=soon)
    await memories.forget(acme.owner, forgotten.id)
    clock.tick(timedelta(hours=1))
    with pytest.raises(Conflict, match="restore it first"):
        await memories.update(acme.owner, forgotten.id, text="x")
    for unknown in (expired.id, new_id(), (await memories.history(acme.owner, expired.id))[0].id):
        with pytest.raises(NotFound):
            await memories.update(acme.owner, unknown, text="x")
        with pytest.raises(NotFound):
            await memories.update(acme.owner, unknown, pinned=True)


# --- versions --------------------------------------------------------------------------------


async def test_a_stale_version_answers_the_current_one_and_changes_nothing(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Likes tea")
    await memories.update(acme.owner, made.id, text="Likes green tea", expected_version=1)
    before = await told(timed_storage, acme)
    for stale in (1, 3, 0):
        for change in ({"text": "Likes coffee"}, {"pinned": True}, {"user_id": acme.anna.id}):
            with pytest.raises(StaleVersion) as refused:
                await memories.update(acme.owner, made.id, expected_version=stale, **change)
            assert refused.value.details == {
                "memory_id": str(made.id),
                "version": 2,
                "text": "Likes green tea",
            }
        with pytest.raises(StaleVersion):
            await memories.forget(acme.owner, made.id, expected_version=stale)
    assert await told(timed_storage, acme) == before
    assert (await memories.get(acme.owner, made.id)).pinned is False
    assert (await memories.forget(acme.owner, made.id, expected_version=2)).version == 3


# --- pins ------------------------------------------------------------------------------------


async def test_a_pin_is_no_revision_and_renews_nothing(
    memories: Memories, timed_storage: Storage, acme: Tenant, clock: SteppedClock
) -> None:
    made = await memories.remember(acme.owner, "Likes tea")
    clock.tick()
    pinned = await memories.update(acme.owner, made.id, pinned=True)
    assert pinned == made.model_copy(update={"pinned": True})
    assert pinned == await memories.get(acme.owner, made.id)
    assert len(await memories.history(acme.owner, made.id)) == 1
    assert (await actions(timed_storage, acme))[1:] == [(str(made.id), 1, "pinned")]
    await memories.update(acme.owner, made.id, pinned=False)
    assert (await actions(timed_storage, acme))[2:] == [(str(made.id), 1, "unpinned")]
    assert [(each.type, each.metadata) for each in await activities(timed_storage, acme)][1:] == [
        ("memory_fact_updated", {"version": 1, "pinned": True}),
        ("memory_fact_updated", {"version": 1, "pinned": False}),
    ]


async def test_pinning_what_is_pinned_is_told_to_nobody(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Likes tea", pinned=True)
    before = await told(timed_storage, acme)
    assert await memories.update(acme.owner, made.id, pinned=True) == made
    assert await told(timed_storage, acme) == before
    assert (await memories.stats(acme.owner)).pinned == 1


async def test_an_edit_and_a_pin_together_are_one_change(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Likes tea")
    both = await memories.update(acme.owner, made.id, text="Likes green tea", pinned=True)
    assert (both.text, both.pinned, both.version) == ("Likes green tea", True, 2)
    assert (await actions(timed_storage, acme))[1:] == [(str(made.id), 2, "updated")]
    kept = await memories.update(acme.owner, made.id, title="Drinks")
    assert kept.pinned
    assert (await memories.stats(acme.owner)).pinned == 1
    # The same text may be sent along: the pin alone is the change.
    loose = await memories.update(acme.owner, made.id, text="Likes green tea", pinned=False)
    assert (loose.version, loose.pinned) == (3, False)


async def test_a_newer_statement_keeps_the_pin_and_forgetting_takes_it_away(
    memories: Memories, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Be brief", attribute=TONE, pinned=True)
    newer = await memories.remember(acme.owner, "Be very brief", attribute=TONE)
    assert (newer.id, newer.pinned) == (made.id, True)
    assert (await memories.forget(acme.owner, made.id)).pinned is False
    assert (await memories.stats(acme.owner)).pinned == 0
    again = await memories.remember(acme.owner, "Be brief", attribute=TONE)
    assert again.pinned is False
    assert (await memories.remember(acme.owner, "Be kind", attribute=TONE, pinned=True)).pinned
    assert (await memories.stats(acme.owner)).pinned == 1


# --- moves -----------------------------------------------------------------------------------


async def test_moving_ends_the_memory_and_begins_a_linked_one(
    memories: Memories, timed_storage: Storage, acme: Tenant, clock: SteppedClock
) -> None:
    made = await memories.remember(
        acme.owner, "Likes tea", title="Drinks", tags=["a"], expires_at=UNTIL, pinned=True
    )
    clock.tick()
    moved = await memories.update(acme.owner, made.id, user_id=acme.anna.id, agent_id=acme.scout.id)
    assert moved.id != made.id
    assert (moved.user_id, moved.agent_id, moved.version) == (acme.anna.id, acme.scout.id, 1)
    assert (moved.text, moved.title, moved.tags) == ("Likes tea", "Drinks", ("a",))
    assert (moved.expires_at, moved.pinned) == (UNTIL, True)
    assert moved == await memories.get(acme.owner, moved.id)
    assert (await memories.history(acme.owner, moved.id))[0].continues_id == made.id
    last = (await memories.history(acme.owner, made.id))[-1]
    assert (last.text, last.continued_by_id) == (None, moved.id)
    assert await texts(memories, acme.owner) == ["Likes tea"]
    assert await texts(memories, acme.owner, status="forgotten") == []
    stats = await memories.stats(acme.owner)
    assert (stats.active, stats.forgotten, stats.pinned) == (1, 0, 1)


async def test_a_move_is_one_activity_and_is_told_to_both_audiences(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Likes tea", user_id=acme.anna.id)
    moved = await memories.update(acme.owner, made.id, user_id=acme.ben.id)
    assert [(each.type, each.subject_id) for each in await activities(timed_storage, acme)] == [
        ("memory_fact_created", made.id),
        ("memory_fact_updated", moved.id),
    ]
    assert [(each.user_id, each.metadata) for each in (await told(timed_storage, acme))[1:]] == [
        (acme.ben.id, {"memory_id": str(moved.id), "version": 1, "action": "moved"}),
        (acme.anna.id, {"memory_id": str(made.id), "version": 2, "action": "moved"}),
    ]


async def test_a_key_is_made_anew_for_the_audience_that_a_memory_moves_to(
    memories: Memories, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Be brief", attribute=TONE, user_id=acme.anna.id)
    moved = await memories.update(acme.owner, made.id, user_id=None)
    assert moved.subject_key == f"organization:{acme.owner.organization_id}:{TONE}"
    newer = await memories.remember(acme.owner, "Be kind", attribute=TONE)
    assert (newer.id, newer.version) == (moved.id, 2)
    # Where it came from, the key is free: a statement there comes after the tombstone.
    back = await memories.remember(acme.owner, "Be brief", attribute=TONE, user_id=acme.anna.id)
    assert (back.id, back.version) == (made.id, 3)
    assert (await memories.stats(acme.owner)).forgotten == 0


async def test_a_memory_that_comes_back_goes_on_in_its_old_chain(
    memories: Memories, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Be brief", attribute=TONE)
    away = await memories.update(acme.owner, made.id, user_id=acme.anna.id)
    back = await memories.update(acme.owner, away.id, user_id=None)
    assert (back.id, back.version, back.text) == (made.id, 3, "Be brief")
    assert (await memories.history(acme.owner, away.id))[-1].continued_by_id == made.id
    assert await texts(memories, acme.owner) == ["Be brief"]
    stats = await memories.stats(acme.owner)
    assert (stats.active, stats.forgotten) == (1, 0)


@pytest.mark.parametrize("attribute", [None, TONE])
async def test_a_memory_is_not_moved_onto_one_that_says_it_there(
    memories: Memories, timed_storage: Storage, acme: Tenant, attribute: str | None
) -> None:
    there = await memories.remember(
        acme.owner, "be brief", attribute=attribute, user_id=acme.anna.id
    )
    made = await memories.remember(acme.owner, "Be brief", attribute=attribute)
    before = await told(timed_storage, acme)
    with pytest.raises(Conflict) as refused:
        await memories.update(acme.owner, made.id, user_id=acme.anna.id)
    assert refused.value.details["memory_id"] == str(there.id)
    assert await told(timed_storage, acme) == before
    assert (await memories.get(acme.owner, made.id)) == made
    # Once that one is forgotten, the way is free.
    await memories.forget(acme.owner, there.id)
    moved = await memories.update(acme.owner, made.id, user_id=acme.anna.id)
    assert (moved.id == there.id) == (attribute is not None)
    assert await texts(memories, acme.member(acme.anna)) == ["Be brief"]


async def test_an_edit_and_a_move_together_are_one_change_or_none(
    memories: Memories, acme: Tenant
) -> None:
    await memories.remember(acme.owner, "Likes coffee", user_id=acme.anna.id)
    made = await memories.remember(acme.owner, "Likes tea", pinned=True)
    with pytest.raises(Conflict):
        await memories.update(acme.owner, made.id, text="Likes coffee", user_id=acme.anna.id)
    assert await memories.get(acme.owner, made.id) == made
    moved = await memories.update(
        acme.owner, made.id, text="Likes mate", pinned=False, user_id=acme.anna.id
    )
    assert (moved.text, moved.pinned, moved.version) == ("Likes mate", False, 1)
    assert [each.text for each in await memories.history(acme.owner, made.id)] == [
        "Likes tea",
        None,
    ]


async def test_a_memory_that_was_moved_away_can_be_nothing_but_read(
    memories: Memories, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Likes tea", user_id=acme.anna.id)
    moved = await memories.update(acme.owner, made.id, user_id=acme.ben.id)
    for change in (
        memories.restore(acme.owner, made.id),
        memories.update(acme.owner, made.id, text="x"),
    ):
        with pytest.raises(Conflict) as refused:
            await change
        assert refused.value.details["continued_by_id"] == str(moved.id)
    # Anna learns that it went on, and not as which memory of another user.
    with pytest.raises(Conflict) as refused:
        await memories.restore(acme.member(acme.anna), made.id)
    assert "continued_by_id" not in refused.value.details
    assert str(moved.id) not in refused.value.message
    annas = await memories.history(acme.member(acme.anna), made.id)
    assert [each.continued_by_id for each in annas] == [None, None]
    bens = await memories.history(acme.member(acme.ben), moved.id)
    assert bens[0].continues_id is None


async def test_an_unknown_user_or_agent_is_no_audience(memories: Memories, acme: Tenant) -> None:
    made = await memories.remember(acme.owner, "Likes tea")
    for to in ({"user_id": new_id()}, {"agent_id": new_id()}):
        with pytest.raises(NotFound) as refused:
            await memories.update(acme.owner, made.id, **to)
        assert str(next(iter(to.values()))) in refused.value.message
    assert await memories.get(acme.owner, made.id) == made


# --- who may ---------------------------------------------------------------------------------


async def test_a_member_changes_its_own_users_memories_alone_and_keeps_them_there(
    memories: Memories, acme: Tenant
) -> None:
    anna, ben = acme.member(acme.anna), acme.member(acme.ben)
    mine = await memories.remember(anna, "Likes tea")
    shared = await memories.remember(acme.owner, "Opens at 9")
    bens = await memories.remember(ben, "Likes coffee")
    for change in ({"text": "x"}, {"pinned": True}, {"user_id": acme.anna.id}):
        with pytest.raises(Refused):
            await memories.update(anna, shared.id, **change)
        with pytest.raises(NotFound):
            await memories.update(anna, bens.id, **change)
        with pytest.raises(NotFound):
            await memories.restore(anna, bens.id)
    for to in ({"user_id": None}, {"user_id": acme.ben.id}):
        with pytest.raises(Refused):
            await memories.update(anna, mine.id, **to)
    assert (await memories.update(anna, mine.id, pinned=True)).pinned
    moved = await memories.update(anna, mine.id, agent_id=acme.scout.id)
    assert (moved.user_id, moved.agent_id) == (acme.anna.id, acme.scout.id)
    for who in (acme.reader, acme.key_of(acme.scout, acme.anna)):
        for write in (memories.update(who, moved.id, text="x"), memories.restore(who, moved.id)):
            with pytest.raises((ReadOnly, Refused)):
                await write


async def test_another_organization_changes_nothing(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:
    other = await new_tenant(timed_storage, "Other")
    made = await memories.remember(acme.owner, "Likes tea")
    gone = await memories.remember(acme.owner, "Likes coffee")
    await memories.forget(acme.owner, gone.id)
    for write in (
        memories.update(other.owner, made.id, text="x"),
        memories.update(other.owner, made.id, user_id=other.anna.id),
        memories.restore(other.owner, gone.id),
        memories.forget(other.owner, made.id),
    ):
        with pytest.raises(NotFound):
            await write
    with pytest.raises(NotFound):
        await memories.update(acme.owner, made.id, user_id=other.anna.id)
    assert await memories.get(acme.owner, made.id) == made


# --- the indexes -----------------------------------------------------------------------------


async def test_words_follow_every_change(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:
    made = await memories.remember(
        acme.owner, "Zanzibar", title="Quokka", category="xylem", tags=["yodel"]
    )
    assert {"zanzibar", "quokka", "xylem", "yodel"} <= (await words(timed_storage, acme))[made.id]
    await memories.update(acme.owner, made.id, text="Madagascar", tags=[])
    assert (await words(timed_storage, acme))[made.id] == {"madagascar", "quokka", "xylem"}
    moved = await memories.update(acme.owner, made.id, user_id=acme.anna.id)
    assert set(await words(timed_storage, acme)) == {moved.id}
    await memories.forget(acme.owner, moved.id)
    assert await words(timed_storage, acme) == {}
    assert set((await words_versions(timed_storage, acme)).values()) == {0}
    await memories.restore(acme.owner, moved.id)
    assert set(await words(timed_storage, acme)) == {moved.id}
    assert (await words_versions(timed_storage, acme))[moved.id] > 0


async def test_a_vector_is_wanted_of_a_new_text_and_kept_for_an_unchanged_one(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Likes tea")
    assert await vectors(timed_storage, acme) == await heads(memories, acme, made.id)
    await make_vectors(timed_storage, acme)
    await memories.update(acme.owner, made.id, title="Drinks", pinned=True)
    assert await made_of(timed_storage, acme) == await heads(memories, acme, made.id)
    moved = await memories.update(acme.owner, made.id, user_id=acme.anna.id)
    assert await made_of(timed_storage, acme) == await heads(memories, acme, moved.id)
    await memories.update(acme.owner, moved.id, text="Likes green tea")
    assert await made_of(timed_storage, acme) == {}
    assert await vectors(timed_storage, acme) == await heads(memories, acme, moved.id)
    await memories.forget(acme.owner, moved.id)
    assert await vectors(timed_storage, acme) == {}
    await memories.restore(acme.owner, moved.id)
    assert await vectors(timed_storage, acme) == await heads(memories, acme, moved.id)


async def test_a_move_that_says_something_else_takes_no_vector_along(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Likes tea")
    await make_vectors(timed_storage, acme)
    moved = await memories.update(acme.owner, made.id, text="Likes mate", user_id=acme.anna.id)
    assert await made_of(timed_storage, acme) == {}
    assert await vectors(timed_storage, acme) == await heads(memories, acme, moved.id)


async def test_without_an_embedder_no_vector_of_an_older_text_stays(
    memories: Memories, timed_storage: Storage, acme: Tenant
) -> None:
    made = await memories.remember(acme.owner, "Likes tea")
    await make_vectors(timed_storage, acme)
    plain = Memories(timed_storage)
    await plain.update(acme.owner, made.id, title="Drinks")
    assert await made_of(timed_storage, acme) == await heads(memories, acme, made.id)
    await plain.update(acme.owner, made.id, text="Likes green tea")
    assert await vectors(timed_storage, acme) == {}


async def heads(memories: Memories, acme: Tenant, memory_id: UUID) -> dict[UUID, UUID]:
    """The memory with the id of its newest revision."""
    return {memory_id: (await memories.history(acme.owner, memory_id))[-1].id}
