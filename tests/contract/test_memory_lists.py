"""The lists that people see of memories, on every database: filters, orders, what is forgotten, and the past."""

from datetime import datetime, timedelta

import pytest

from memoranda.memories.service import Memories
from memoranda.storage import Storage
from memoranda.words.errors import Invalid, OverLimit, Refused
from tests.contract.clocks import SteppedClock
from tests.contract.tenants import Tenant, new_tenant

DAY = timedelta(days=1)


@pytest.fixture
def memories(timed_storage: Storage) -> Memories:
    return Memories(timed_storage)


@pytest.fixture
async def acme(timed_storage: Storage) -> Tenant:
    return await new_tenant(timed_storage)


async def texts(memories: Memories, who, **filters) -> list[str | None]:
    return [each.text for each in (await memories.page(who, **filters, limit=200)).items]


async def test_a_list_shows_what_fits_every_filter(memories: Memories, acme: Tenant) -> None:
    await memories.remember(acme.owner, "a", category="food", tags=["x", "y"], pinned=True)
    await memories.remember(acme.owner, "b", category="food", tags=["x"])
    await memories.remember(acme.owner, "c", category="work", tags=["x"], pinned=True)
    await memories.remember(acme.owner, "d", pinned=True, user_id=acme.anna.id)
    assert await texts(memories, acme.owner, pinned_only=True) == ["d", "c", "a"]
    assert await texts(memories, acme.owner, categories=["food"]) == ["b", "a"]
    assert await texts(memories, acme.owner, tags=["x"]) == ["c", "b", "a"]
    assert await texts(memories, acme.owner, tags=[" y "]) == ["a"]
    assert await texts(memories, acme.owner, categories=["food"], tags=["x"], pinned_only=True) == [
        "a"
    ]
    assert await texts(memories, acme.member(acme.ben), pinned_only=True) == ["c", "a"]
    assert await texts(memories, acme.owner, user_id=acme.anna.id, pinned_only=True) == [
        *("d", "c", "a")
    ]
    assert await texts(memories, acme.owner, oldest_first=True) == ["a", "b", "c", "d"]
    for nothing in ({"categories": ["Food", "foo"]}, {"tags": ["X", "xy"]}):
        assert await texts(memories, acme.owner, **nothing) == []


@pytest.mark.parametrize(
    "tag",
    ['"', ",", '","', "\\", "a,b", "%", "_", "a:b", "日本", "é", "it's", "</x>", "a\nb", "👩‍🚀"],
)
async def test_a_tag_is_found_by_itself_and_by_nothing_alike(
    memories: Memories, acme: Tenant, tag: str
) -> None:
    await memories.remember(acme.owner, "others", tags=["one", "two", f"{tag}z", f"z{tag}"])
    await memories.remember(acme.owner, "it", tags=["one", tag, "two"])
    assert await texts(memories, acme.owner, tags=[tag]) == ["it"]


async def test_a_filter_that_drops_a_row_does_not_end_the_list(
    memories: Memories, acme: Tenant
) -> None:
    """A comma as a tag looks like any two tags to the database."""
    await memories.remember(acme.owner, "it", tags=[","])
    for number in range(5):
        await memories.remember(acme.owner, f"other {number}", tags=["a", "b"])
    found, cursor = [], None
    while True:
        page = await memories.page(acme.owner, tags=[","], limit=2, cursor=cursor)
        found += [each.text for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == ["it"]


async def test_a_list_takes_one_of_several_names(memories: Memories, acme: Tenant) -> None:
    for number, category in enumerate(["food", "work", "play"]):
        await memories.remember(
            acme.owner, f"fact {number}", category=category, tags=[f"x{number}"]
        )
    assert await texts(memories, acme.owner, categories=["play", "food"]) == ["fact 2", "fact 0"]
    assert await texts(memories, acme.owner, tags=["x1", "x0", "y"]) == ["fact 1", "fact 0"]
    assert await texts(memories, acme.owner, categories=["food"], tags=["x1"]) == []
    with pytest.raises(OverLimit):
        await memories.page(acme.owner, tags=[str(number) for number in range(21)])


async def test_a_page_is_full_however_rare_a_tag_is(memories: Memories, acme: Tenant) -> None:
    for number in range(40):
        tags = ["rare"] if number % 10 == 0 else ["usual"]
        await memories.remember(acme.owner, f"fact {number}", tags=tags)
    page = await memories.page(acme.owner, tags=["rare"], limit=3)
    assert [each.text for each in page.items] == ["fact 30", "fact 20", "fact 10"]
    assert page.next_cursor is not None


@pytest.mark.parametrize("wrong", [{"categories": [""]}, {"tags": ["\0"]}, {"tags": ["\ud800"]}])
async def test_a_filter_that_nothing_could_fit_is_refused(
    memories: Memories, acme: Tenant, wrong: dict[str, list[str]]
) -> None:
    with pytest.raises(Invalid) as refused:
        await memories.page(acme.owner, **wrong)
    assert refused.value.details["field"] == next(iter(wrong))


async def test_a_status_that_there_is_not_is_refused(memories: Memories, acme: Tenant) -> None:
    with pytest.raises(Invalid, match="active or forgotten"):
        await memories.page(acme.owner, status="purged")


async def test_what_is_forgotten_is_listed_to_those_who_could_know_it(
    memories: Memories, acme: Tenant
) -> None:
    for name, scope in (
        ("shared", {}),
        ("Anna's", {"user_id": acme.anna.id}),
        ("Ben's", {"user_id": acme.ben.id}),
        ("the scout's", {"agent_id": acme.scout.id}),
    ):
        made = await memories.remember(acme.owner, name, category=name[:3], tags=["x"], **scope)
        await memories.forget(acme.owner, made.id)
    gone = {"status": "forgotten"}
    assert await texts(memories, acme.owner, **gone) == ["the scout's", "Ben's", "Anna's", "shared"]
    assert await texts(memories, acme.member(acme.anna), **gone) == [
        *("the scout's", "Anna's", "shared")
    ]
    assert await texts(memories, acme.key_of(acme.clerk), **gone) == ["shared"]
    assert await texts(memories, acme.owner, **gone, categories=["Ann"], tags=["x"]) == ["Anna's"]
    assert await texts(memories, acme.owner, **gone, pinned_only=True) == []
    assert await texts(memories, acme.owner) == []


async def test_a_page_of_what_is_forgotten_goes_on_where_it_ended(
    memories: Memories, acme: Tenant
) -> None:
    ids = [(await memories.remember(acme.owner, f"fact {n}")).id for n in range(5)]
    for memory_id in ids:
        await memories.forget(acme.owner, memory_id)
    first = await memories.page(acme.owner, status="forgotten", limit=2)
    await memories.restore(acme.owner, first.items[-1].id)
    second = await memories.page(acme.owner, status="forgotten", limit=2, cursor=first.next_cursor)
    assert [each.id for each in (*first.items, *second.items)] == ids[:0:-1]


async def test_a_cursor_is_of_use_to_its_own_list_alone(memories: Memories, acme: Tenant) -> None:
    for number in range(3):
        made = await memories.remember(acme.owner, f"gone {number}")
        await memories.forget(acme.owner, made.id)
        await memories.remember(acme.owner, f"here {number}")
    lists = [{}, {"status": "forgotten"}, {"oldest_first": True}]
    for one in lists:
        cursor = (await memories.page(acme.owner, limit=1, **one)).next_cursor
        assert (await memories.page(acme.owner, limit=1, cursor=cursor, **one)).items
        for other in lists:
            if other != one:
                with pytest.raises(Invalid):
                    await memories.page(acme.owner, cursor=cursor, **other)


async def test_pages_of_the_oldest_neither_skip_nor_repeat(
    memories: Memories, acme: Tenant
) -> None:
    ids = [(await memories.remember(acme.owner, f"fact {n}")).id for n in range(7)]
    seen, cursor = [], None
    while True:
        page = await memories.page(acme.owner, oldest_first=True, limit=2, cursor=cursor)
        seen += [each.id for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
        if len(seen) == 4:
            await memories.forget(acme.owner, seen[-1])
            await memories.forget(acme.owner, ids[5])
    assert seen == [*ids[:5], ids[6]]


# --- the past --------------------------------------------------------------------------------


async def test_any_past_moment_shows_what_was_active_then(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    start = clock.now
    home = await memories.remember(acme.owner, "Lives in Rome", attribute="observation.home")
    leave = await memories.remember(acme.owner, "On leave", expires_at=start + 3 * DAY)
    clock.tick(DAY)
    await memories.remember(acme.owner, "Lives in Oslo", attribute="observation.home")
    annas = await memories.remember(acme.owner, "Likes tea", user_id=acme.anna.id)
    clock.tick(DAY)
    await memories.forget(acme.owner, home.id)
    await memories.update(acme.owner, annas.id, user_id=acme.ben.id)
    clock.tick(DAY)
    await memories.restore(acme.owner, home.id)

    async def then(days: float, who=acme.owner) -> list[str | None]:
        return await texts(memories, who, as_of=start + days * DAY, oldest_first=True)

    assert await then(-0.1) == []
    assert await then(0) == ["Lives in Rome", "On leave"]
    assert await then(0.9) == ["Lives in Rome", "On leave"]
    assert await then(1) == ["Lives in Oslo", "On leave", "Likes tea"]
    assert await then(2.5) == ["On leave", "Likes tea"]
    assert await then(3) == ["Lives in Oslo", "Likes tea"]
    anna, ben = acme.member(acme.anna), acme.member(acme.ben)
    assert await then(1, anna) == ["Lives in Oslo", "On leave", "Likes tea"]
    assert await then(1, ben) == ["Lives in Oslo", "On leave"]
    assert await then(2.5, ben) == ["On leave", "Likes tea"]
    assert await then(2.5, anna) == ["On leave"]
    shown = (await memories.page(acme.owner, as_of=start + DAY / 2)).items
    assert [(each.id, each.version, each.recorded_at) for each in shown] == [
        (leave.id, 1, start),
        (home.id, 1, start),
    ]
    assert shown[0].expires_at == start + 3 * DAY


async def test_the_past_shows_a_memory_as_it_was(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    made = await memories.remember(
        acme.owner, "Likes tea", title="A", tags=["a"], expires_at=clock.now + DAY
    )
    clock.tick()
    await memories.update(
        acme.owner, made.id, text="Likes mate", title=None, tags=[], expires_at=None, pinned=True
    )
    then = clock.now
    clock.tick()
    await memories.forget(acme.owner, made.id)
    assert (await memories.page(acme.owner, as_of=made.created_at)).items == [made]
    shown = (await memories.page(acme.owner, as_of=then)).items[0]
    assert (shown.text, shown.title, shown.tags, shown.expires_at) == ("Likes mate", None, (), None)
    assert (shown.version, shown.recorded_at) == (2, then)


async def test_the_past_goes_by_versions_where_a_clock_went_back(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    made = await memories.remember(acme.owner, "one")
    clock.tick(-DAY)
    await memories.update(acme.owner, made.id, text="two")
    clock.tick(2 * DAY)
    assert await texts(memories, acme.owner, as_of=clock.now) == ["two"]
    assert await texts(memories, acme.owner, as_of=clock.now - 2 * DAY) == ["two"]


async def test_the_past_takes_filters_and_pages(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    for number in range(4):
        await memories.remember(
            acme.owner, f"fact {number}", category="odd" if number % 2 else "even"
        )
    then = clock.now
    clock.tick()
    for each in (await memories.page(acme.owner)).items:
        await memories.update(acme.owner, each.id, category="new")
    assert await texts(memories, acme.owner, as_of=then, categories=["odd"]) == ["fact 3", "fact 1"]
    assert await texts(memories, acme.owner, categories=["odd"]) == []
    first = await memories.page(acme.owner, as_of=then, limit=3)
    second = await memories.page(acme.owner, as_of=then, limit=3, cursor=first.next_cursor)
    assert [each.text for each in (*first.items, *second.items)] == [
        f"fact {number}" for number in (3, 2, 1, 0)
    ]
    with pytest.raises(Invalid):
        await memories.page(acme.owner, as_of=then + DAY, cursor=first.next_cursor)


async def test_a_time_that_cannot_be_read_is_refused(memories: Memories, acme: Tenant) -> None:
    with pytest.raises(Invalid, match="time zone"):
        await memories.page(acme.owner, as_of=datetime(2026, 1, 1))  # noqa: DTZ001 - a time without a zone is what is refused
    with pytest.raises(Invalid, match="was active"):
        await memories.page(acme.owner, as_of=datetime.now().astimezone(), status="forgotten")


async def test_no_agent_is_told_what_was_known_once_and_forgotten_since(
    memories: Memories, acme: Tenant, clock: SteppedClock
) -> None:
    made = await memories.remember(acme.owner, "Likes tea", agent_id=acme.scout.id)
    then = clock.now
    clock.tick()
    await memories.forget(acme.owner, made.id)
    for agent in (acme.key_of(acme.scout), acme.key_of(acme.scout, acme.anna)):
        with pytest.raises(Refused):
            await memories.page(agent, as_of=then)
    assert await texts(memories, acme.reader, as_of=then) == ["Likes tea"]
