"""Where more memories are near than a search can show, it looks a few of them up and answers the same."""

from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest

from memoranda.memories.audience import Audience
from memoranda.memories.finding import reading, store
from memoranda.storage import Storage
from tests.contract.finding_desk import Desk, Synonyms

MANY = 40
QUERIES = (
    "physician",
    "vehicle alpha",
    "car",
    "medic",
    "word 7 automobile",
    "alpha beta",
    "absent",
)


@pytest.fixture
async def desk(shared_storage: Storage) -> AsyncIterator[Desk]:
    """Memories of which most are near each other, two in three of them not for everybody."""
    opened = await Desk.open(shared_storage, Synonyms())
    chance = Random(7)
    rest = ("", " alpha", " beta", " alpha beta gamma", " word")
    for audience in (Audience(), Audience(user_id=opened.acme.owner.user_id)):
        said = [f"automobile{chance.choice(rest)} {number}" for number in range(MANY)]
        await opened.remember_at_once(said, audience)
    await opened.remember_at_once([f"automobile {n}" for n in range(MANY)], Audience(space="desk"))
    await opened.remember_at_once(
        [f"{'medic ' * times} tea {times}" for times in range(1, MANY)], Audience()
    )
    # Found by its word, and far down by its meaning.
    await opened.remember("physician salt pepper")
    pinned = await opened.remember("physician alpha", "vehicle tax alpha")
    for memory in pinned:
        await opened.memories.update(opened.acme.owner, memory.id, pinned=True)
    yield opened
    await opened.close()


async def answers(desk: Desk) -> list[Any]:
    """What everybody finds and recalls, with every score and reason."""
    found: list[Any] = []
    for query in QUERIES:
        for limit in (1, 3, 50):
            given = await desk.search(query, limit=limit)
            found.append([(each.memory.id, each.match) for each in given.results])
            for user_id in (desk.acme.owner.user_id, None):
                recalled = await desk.finding.recall(
                    desk.acme.owner, query, user_id=user_id, limit=limit
                )
                found.append([(each.id, each.match) for each in recalled.memories])
    return found


async def test_looking_up_a_few_of_the_nearest_answers_what_looking_up_all_would(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_looked_up = await answers(desk)
    assert sum(map(len, all_looked_up)) > 100
    monkeypatch.setattr(reading, "AT_ONCE", 1)
    assert await answers(desk) == all_looked_up


async def test_no_more_is_looked_up_than_can_be_shown(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[int] = []
    near = store.near

    def watched(tx: Any, reader: Any, hits: Any) -> Any:
        looked_up.append(len(hits))
        return near(tx, reader, hits)

    monkeypatch.setattr(reading, "AT_ONCE", 1)
    monkeypatch.setattr(store, "near", watched)
    assert len((await desk.search("medical physician", limit=2)).results) == 2
    assert 0 < sum(looked_up) < MANY / 2
