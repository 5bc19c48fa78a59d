"""What has ended is on no path by which anybody is shown a memory, in whatever way it ended."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from memoranda.memories import store
from memoranda.memories.audience import Audience
from memoranda.memories.candidate import Author, Candidate
from memoranda.memories.models import Memory
from memoranda.memories.ways import Ways
from memoranda.storage import Storage
from memoranda.words.errors import NotFound
from tests.contract.clocks import SteppedClock
from tests.contract.finding_desk import Synonyms
from tests.contract.memory_house import House
from tests.contract.tenants import new_tenant

TEXT = "automobile"
# Its whole text, letters out of its middle, and a word that shares no letter with it.
QUERIES = {"words": "automobile", "letters": "tomobi", "meaning": "vehicle"}
# A context of one kind does not show the other; some letters are not near enough for a run.
NOT_FOR_IT = {True: {"shared context"}, False: {"shared context", "pinned", "recall by letters"}}
TONE = "preference.tone"

Ending = Callable[[House, Memory], Awaitable[Any]]


@pytest.fixture
async def house(timed_storage: Storage, clock: SteppedClock) -> AsyncIterator[House]:
    made = House(timed_storage, await new_tenant(timed_storage), clock, Synonyms())
    yield made
    await made.close()


async def of_anna(house: House, text: str = TEXT, **given: Any) -> Memory:
    """A memory of Anna's that every path shows: in a category, with a tag, embedded."""
    made = await house.memories.remember(
        house.acme.owner,
        text,
        user_id=house.acme.anna.id,
        category="kind",
        tags=["label"],
        **given,
    )
    await house.embed()
    return made


async def paths_with(house: House, memory_id: UUID, text: str = TEXT) -> set[str]:
    """The paths on which Anna, or somebody who asks for her, is shown this memory or its text."""
    acme = house.acme
    shown = {
        "Anna": await house.shown(acme.member(acme.anna), QUERIES),
        "owner for Anna": await house.shown(acme.owner, QUERIES, user_id=acme.anna.id),
        "agent of Anna": await house.shown(acme.key_of(acme.scout, acme.anna), QUERIES),
    }
    return {
        f"{path} ({who})"
        for who, paths in shown.items()
        for path, said in paths.items()
        if str(memory_id) in repr(said) or text in repr(said).lower()
    }


async def corrected(house: House, made: Memory) -> None:
    await house.memories.update(house.acme.owner, made.id, text="bicycle", pinned=False)


async def superseded(house: House, _: Memory) -> None:
    acme = house.acme
    await house.memories.remember(acme.owner, "bicycle", user_id=acme.anna.id, attribute=TONE)


async def forgotten(house: House, made: Memory) -> None:
    await house.memories.forget(house.acme.member(house.acme.anna), made.id)


async def forgotten_with_all(house: House, _: Memory) -> None:
    assert await house.removal.forget_all(house.acme.owner, "FORGET ALL") == 1


async def expired(house: House, _: Memory) -> None:
    house.clock.tick(timedelta(days=2))


async def moved(house: House, made: Memory) -> None:
    await house.memories.update(house.acme.owner, made.id, user_id=house.acme.ben.id)


async def merged(house: House, made: Memory) -> None:
    acme = house.acme
    other = await house.memories.remember(acme.owner, "Automobile!", user_id=acme.anna.id)
    (merge,) = await house.proposals.tidy_up(acme.owner)
    assert {merge.memory_id, *(each.id for each in merge.merges)} == {made.id, other.id}
    await house.proposals.accept(acme.owner, merge.id, text="bicycle")


async def erased(house: House, made: Memory) -> None:
    assert (await house.removal.erase(house.acme.owner, made.id)).memories == 1


async def erased_with_user(house: House, _: Memory) -> None:
    assert (await house.removal.erase_user(house.acme.owner, house.acme.anna.id)).memories == 1


async def purged(house: House, made: Memory) -> None:
    await forgotten(house, made)
    house.clock.tick(timedelta(days=31))
    assert await house.removal.purge_due(house.organization) == 1


STAYS = (corrected, superseded, merged)  # the memory lives on, and says something else
ENDINGS: dict[Ending, dict[str, Any]] = {
    corrected: {},
    superseded: {"attribute": TONE},
    forgotten: {},
    forgotten_with_all: {},
    expired: {"expires_in": timedelta(days=1)},
    moved: {},
    merged: {},
    erased: {},
    erased_with_user: {},
    purged: {},
}


CASES = [(end, False) for end in ENDINGS]
CASES += [(end, True) for end in (forgotten, expired, moved, forgotten_with_all)]


@pytest.mark.parametrize(
    ("end", "pinned"), CASES, ids=[f"{end.__name__}{' pin' * pin}" for end, pin in CASES]
)
async def test_what_has_ended_is_on_no_path_in_whatever_way_it_ended(
    house: House, end: Ending, pinned: bool
) -> None:
    given = {**ENDINGS[end], "pinned": pinned}
    if lasting := given.pop("expires_in", None):
        given["expires_at"] = house.clock.now + lasting
    made = await of_anna(house, **given)
    before = await paths_with(house, made.id)
    every = await house.shown(house.acme.member(house.acme.anna), QUERIES)
    assert {path.partition(" (")[0] for path in before} == set(every) - NOT_FOR_IT[pinned]
    house.clock.tick()
    await end(house, made)
    for _ in range(2):  # before a worker has been there, and after
        shown = await paths_with(house, new_id_of(end, made))
        assert shown == set()
        await house.embed()
    if end not in STAYS:
        with pytest.raises(NotFound):
            await house.memories.get(house.acme.member(house.acme.anna), made.id)
        stats = await house.memories.stats(house.acme.member(house.acme.anna))
        assert (stats.active, stats.pinned) == (0, 0)
    if end in {erased, erased_with_user, purged}:
        with pytest.raises(NotFound):
            await house.memories.history(house.acme.owner, made.id)
    else:
        history = await house.memories.history(house.acme.owner, made.id)
        assert history[0].text == TEXT


def new_id_of(end: Ending, made: Memory) -> UUID:
    """The id that may not be shown: where the memory lives on, only its text may not."""
    return UUID(int=0) if end in STAYS else made.id


async def test_a_spaces_memory_is_on_no_path_of_anybody(house: House) -> None:
    acme = house.acme
    spaces = [Audience(space="flow:node"), Audience(acme.anna.id, acme.scout.id, "flow:node")]
    made: list[Memory] = []
    for space in spaces:
        note = Candidate(space, None, TEXT, None, "kind", ("label",), None, Author(), pinned=True)
        ways = Ways(models=house.vectors.models if house.vectors else ())
        made.append(await house.storage.write(house.organization, store.remember, note, ways))
    await house.embed()
    for each in made:
        assert await paths_with(house, each.id) == set()
    for who in (acme.member(acme.anna), acme.key_of(acme.scout, acme.anna)):
        assert (await house.memories.stats(who)).active == 0
        for each in made:
            for verb in (house.memories.get, house.memories.history):
                with pytest.raises(NotFound):
                    await verb(who, each.id)
