"""What others remember moves nothing that a caller is told: no row, count, score, refusal or event."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memoranda.access.models import Agent, Principal, User
from memoranda.access.service import Access
from memoranda.memories.limits import MemoryLimits
from memoranda.storage import Storage
from memoranda.words.errors import Conflict, DuplicateMemory, Invalid, NotFound
from tests.contract.clocks import SteppedClock
from tests.contract.finding_desk import Synonyms
from tests.contract.memory_house import PATIENCE_S, House, changed
from tests.contract.tenants import new_tenant

QUERIES = {"words": "automobile", "letters": "tomobi", "meaning": "vehicle"}


@pytest.fixture
async def house(timed_storage: Storage, clock: SteppedClock) -> AsyncIterator[House]:
    made = House(timed_storage, await new_tenant(timed_storage), clock, Synonyms())
    yield made
    await made.close()


# --- one user and another ------------------------------------------------------------------------


async def live_a_little(house: House, who: Principal, said: str, **scope: Any) -> None:
    """Memories and proposals in every state, all of which the queries would find."""
    memories, proposals = house.memories, house.proposals
    keep = {"category": "kind", "tags": ["label"], **scope}
    await memories.remember(who, said, **keep)
    await memories.remember(who, f"{said} pinned", pinned=True, **keep)
    await memories.remember(who, f"{said} keyed", attribute="preference.car", **keep)
    edited = await memories.remember(who, f"{said} before", **keep)
    await memories.update(who, edited.id, text=f"{said} after", expected_version=1)
    gone = await memories.remember(who, f"{said} gone", **keep)
    await memories.forget(who, gone.id)
    lasting = house.clock.now + timedelta(days=400)
    await memories.remember(who, f"{said} for now", expires_at=lasting, **keep)
    made = [await proposals.propose(who, f"{said} wish {number}", **scope) for number in range(3)]
    first, second, _ = [each.proposal for each in made]
    assert first is not None
    assert second is not None
    await proposals.accept(who, first.id)
    await proposals.discard(who, second.id)
    await house.embed()


async def test_what_another_user_remembers_moves_nothing_that_a_member_is_told(
    house: House,
) -> None:
    acme = house.acme
    anna, ben = acme.member(acme.anna), acme.member(acme.ben)
    agent = acme.key_of(acme.scout, acme.anna)
    await live_a_little(house, anna, "automobile")
    await house.memories.remember(acme.owner, "automobile for all")
    await house.embed()
    before = {who: await house.everything(who, QUERIES) for who in (anna, agent)}
    # A path that shows nothing would prove nothing.
    assert {path for path, said in before[anna].items() if not said} == set()
    await live_a_little(house, ben, "automobile")
    await live_a_little(house, acme.owner, "vehicle", user_id=acme.ben.id, agent_id=acme.scout.id)
    for who, told in before.items():
        assert await house.everything(who, QUERIES) == told


async def test_another_organizations_memories_move_nothing_that_anybody_is_told(
    house: House,
) -> None:
    acme = house.acme
    everybody = (acme.owner, acme.reader, acme.member(acme.anna), acme.key_of(acme.scout))
    await live_a_little(house, acme.owner, "automobile")
    await live_a_little(house, acme.owner, "automobile", user_id=acme.anna.id)
    before = {who: await house.everything(who, QUERIES) for who in everybody}
    globex = await new_tenant(house.storage, "Globex")
    other = House(house.storage, globex, house.clock, Synonyms())
    rows = await house.rows()
    await live_a_little(other, globex.owner, "automobile")
    await other.removal.forget_all(globex.owner, "FORGET ALL")
    await live_a_little(other, globex.member(globex.anna), "vehicle")
    await other.removal.erase_user(globex.owner, globex.anna.id)
    await other.proposals.tidy_up(globex.owner)
    assert changed(rows, await house.rows()) == set()
    for who, told in before.items():
        assert await house.everything(who, QUERIES) == told
    await other.close()


async def test_what_another_user_remembers_is_no_duplicate_and_takes_no_attribute(
    house: House,
) -> None:
    acme = house.acme
    ben = await house.memories.remember(
        acme.member(acme.ben), "automobile", attribute="preference.car"
    )
    await house.memories.remember(acme.member(acme.ben), "bicycle")
    anna = acme.member(acme.anna)
    mine = await house.memories.remember(anna, "automobile", attribute="preference.car")
    also = await house.memories.remember(anna, "bicycle")
    proposed = await house.proposals.propose(anna, "bicycle", agent_id=acme.scout.id)
    assert {mine.id, also.id}.isdisjoint({ben.id})
    assert (mine.version, proposed.outcome) == (1, "waiting")
    with pytest.raises(DuplicateMemory) as refused:
        await house.memories.remember(anna, "Bicycle")
    assert str(also.id) in refused.value.message
    changed = await house.memories.update(anna, also.id, text="tram")
    assert (changed.text, changed.version) == ("tram", 2)


async def test_a_memory_that_went_to_another_user_is_not_named_to_the_one_it_left(
    house: House,
) -> None:
    acme = house.acme
    anna = acme.member(acme.anna)
    made = await house.memories.remember(anna, "automobile")
    moved = await house.memories.update(acme.owner, made.id, user_id=acme.ben.id)
    assert str(moved.id) not in repr(await house.everything(anna, QUERIES))
    assert str(moved.id) not in repr(await house.memories.history(anna, made.id))
    assert str(moved.id) in repr(await house.memories.history(acme.owner, made.id))
    for verb in (
        house.memories.forget(anna, made.id),
        house.memories.restore(anna, made.id),
        house.memories.update(anna, made.id, text="tram"),
    ):
        with pytest.raises(Conflict) as refused:
            await verb
        assert str(moved.id) not in f"{refused.value.message} {refused.value.details}"


# --- names that look alike -----------------------------------------------------------------------

NAMES = (
    "a",
    'a"b',
    "ab",
    "A",
    "john_doe",
    "john-doe",
    "%",
    "_",
    "a:b",
    "a%",
    "a_",
    "b",
    'a"',
    "a\\",
    "ä",
)


async def test_users_agents_categories_and_tags_named_alike_do_not_meet(
    timed_storage: Storage, clock: SteppedClock
) -> None:
    house = House(timed_storage, await new_tenant(timed_storage), clock)
    access, owner, memories = Access(timed_storage), house.acme.owner, house.memories
    made: dict[str, tuple[User, Agent]] = {}
    for number, name in enumerate(NAMES):
        user = await access.create_user(owner, name, external_id=name)
        agent = await access.create_agent(owner, f"agent-{number}", external_id=name)
        made[name] = user, agent
        for scope in ({"user_id": user.id}, {"agent_id": agent.id}):
            await memories.remember(owner, f"said of <{name}>", category=name, tags=[name], **scope)
    for name, (user, agent) in made.items():
        assert (await access.user(owner, name)).id == user.id
        said = [f"said of <{name}>"]
        for scope in ({"user_id": user.id, "agent_id": agent.id}, {}):
            both = said * 2
            for narrowed in ({"categories": [name]}, {"tags": [name]}):
                page = await memories.page(owner, **scope, **narrowed)
                assert [each.text for each in page.items] == both, (name, narrowed)
            for sort in ("categories", "tags"):
                found = await memories.search(owner, "said", **{sort: (name,)}, **scope)
                assert [each.memory.text for each in found.results] == both, (name, sort)
        # Of everything that was said for somebody, a run for this user and agent is given its own.
        recalled = await memories.recall(
            owner, "said of", user_id=user.id, agent_id=agent.id, timeout_s=PATIENCE_S
        )
        assert {each.text for each in recalled.memories} <= set(said)
        literal = await memories.search(owner, f"<{name}>")
        hits = {each.memory.text for each in literal.results if each.match.literal}
        assert hits == {f"said of <{other}>" for other in NAMES if other.lower() == name.lower()}


# --- organizations that write at once ------------------------------------------------------------


async def test_all_verbs_of_two_organizations_at_once_misfile_nothing(storage: Storage) -> None:
    limits = MemoryLimits(active=200, pinned=100)
    clock = SteppedClock()
    clock.now = datetime.now(UTC)
    houses = {
        word: House(storage, await new_tenant(storage, word), clock, limits=limits)
        for word in ("marigold", "wisteria")
    }
    # One set of services for both: what a verb keeps between two calls, the other would meet.
    shared = houses["marigold"]

    async def live(word: str, number: int) -> None:
        owner = houses[word].acme.owner
        user = {"user_id": houses[word].acme.anna.id}
        kept = await shared.memories.remember(owner, f"{word} {number}", pinned=True, **user)
        await shared.memories.update(owner, kept.id, text=f"{word} {number} anew")
        await shared.memories.update(owner, kept.id, user_id=None)
        gone = await shared.memories.remember(owner, f"{word} {number} gone")
        await shared.memories.forget(owner, gone.id)
        await shared.memories.restore(owner, gone.id)
        wish = await shared.proposals.propose(owner, f"{word} {number} wish", **user)
        assert wish.proposal is not None
        await shared.proposals.accept(owner, wish.proposal.id)
        found = await shared.memories.search(owner, f"{number}")
        recalled = await shared.memories.recall(
            owner, f"{word} {number} anew", timeout_s=PATIENCE_S
        )
        for other in set(houses) - {word}:
            assert other not in repr((found, recalled))
        assert word in (recalled.block or "")

    await asyncio.gather(*[live(word, number) for number in range(5) for word in houses])
    await shared.memories.settled()
    for word, house in houses.items():
        rows = await house.rows()
        (other,) = set(houses) - {word}
        assert other not in repr(rows)
        assert len(rows["memories"]) == 5 * 4  # the moved one is two
        stats = await house.memories.stats(house.acme.owner)
        assert (stats.active, stats.pinned, stats.proposed, stats.forgotten) == (15, 5, 0, 0)


# --- times ---------------------------------------------------------------------------------------

BERLIN = ZoneInfo("Europe/Berlin")
TIMES = [
    datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN),  # twice that night: this is the first
    datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1),  # and this the second
    datetime(2026, 3, 29, 2, 30, tzinfo=BERLIN),  # never shown by a clock
    datetime(2026, 6, 1, 12, 0, 0, 123456, tzinfo=timezone(timedelta(hours=5, minutes=45))),
    datetime(2026, 12, 31, 23, 59, 59, 999999, tzinfo=timezone(timedelta(hours=-12))),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
]


async def test_a_time_is_read_back_as_the_instant_that_was_written(house: House) -> None:
    owner = house.acme.owner
    for number, time in enumerate(TIMES):
        made = await house.memories.remember(owner, f"until {number}", expires_at=time)
        read = (await house.memories.get(owner, made.id)).expires_at
        assert read == made.expires_at == time.astimezone(UTC)
        assert read is not None
        assert read.utcoffset() == timedelta(0)
    first, second = [
        (await house.memories.page(owner, oldest_first=True)).items[place].expires_at
        for place in (0, 1)
    ]
    assert first is not None
    assert second is not None
    assert second - first == timedelta(hours=1)


async def test_a_memory_ends_at_its_instant_whatever_zone_that_was_named_in(house: House) -> None:
    owner, until = house.acme.owner, TIMES[1]
    made = await house.memories.remember(owner, "automobile", expires_at=until)
    house.clock.now = until.astimezone(UTC) - timedelta(microseconds=1)
    assert (await house.memories.get(owner, made.id)).id == made.id
    assert (await house.memories.page(owner, as_of=until - timedelta(days=1))).items
    house.clock.now = until.astimezone(UTC)
    with pytest.raises(NotFound):
        await house.memories.get(owner, made.id)
    for zone in (UTC, BERLIN, timezone(timedelta(hours=14))):
        just_before = (until.astimezone(UTC) - timedelta(seconds=1)).astimezone(zone)
        shown = [
            (await house.memories.page(owner, as_of=at)).items
            for at in (just_before, until.astimezone(UTC).astimezone(zone))
        ]
        assert [len(each) for each in shown] == [1, 0]


@pytest.mark.parametrize(
    "time",
    [
        datetime(2026, 6, 1),  # noqa: DTZ001 - no zone is what is tried
        datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-12))),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=12))),
        datetime(1, 1, 1, tzinfo=UTC),
    ],
    ids=["no zone", "after the last year", "before the first year", "the past"],
)
async def test_a_time_that_can_not_be_kept_is_refused_by_its_name(
    house: House, time: datetime
) -> None:
    owner = house.acme.owner
    kept = await house.memories.remember(owner, "automobile")
    before = await house.rows()
    for verb in (
        house.memories.remember(owner, "bicycle", expires_at=time),
        house.memories.update(owner, kept.id, expires_at=time),
        house.proposals.propose(owner, "bicycle", expires_at=time),
    ):
        with pytest.raises(Invalid) as refused:
            await verb
        assert refused.value.details["field"] == "expires_at"
    assert changed(before, await house.rows()) == set()
