"""Whoever says, saves and clears while workers read: in the end the index holds what the conversations hold."""

import asyncio
import random

from memoranda.conversations.errors import LateSave
from memoranda.conversations.models import Conversation
from memoranda.storage import Storage
from memoranda.words.errors import Conflict
from memoranda.words.ids import new_id
from tests.contract.said_house import SaidHouse, new_said_house, user
from tests.contract.test_conversation_index import left
from tests.contract.test_knowledge_meaning import Thesaurus

WORDS = ["walk", "ship", "dog", "island", "harbor", "automobile", "hill", "ball"]
QUERIES = ["car", "boat island", "walk the puppy", "harbor hill ball"]
STEPS = 25


def text(dice: random.Random) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(6))


async def talking(house: SaidHouse, talk: Conversation, dice: random.Random) -> None:
    """Append, save over what is there, clear."""
    owner = house.tenant.owner
    for _ in range(STEPS):
        chance = dice.random()
        if chance < 0.7:
            await house.say(talk, *(text(dice) for _ in range(dice.randint(1, 12))))
        elif chance < 0.95:
            loaded = await house.talks.load(owner, talk.id)
            kept = loaded.messages[: dice.randint(0, len(loaded.messages))]
            try:
                await house.talks.save(
                    owner, talk.id, [*kept, user(text(dice))], fence=loaded.fence
                )
            except (Conflict, LateSave):
                continue
        else:
            await house.talks.clear(owner, talk.id)


async def working(house: SaidHouse, done: asyncio.Event) -> None:
    worker_id = new_id()
    while not done.is_set():
        for chore in (house.indexing, house.embedding):
            await chore.serve(house.scope, worker_id)
        await asyncio.sleep(0)


async def test_the_index_holds_what_is_said_whoever_reads_meanwhile(storage: Storage) -> None:
    house = await new_said_house(storage, Thesaurus("one"))
    talks = [await house.begin() for _ in range(3)]
    done = asyncio.Event()
    workers = [asyncio.create_task(working(house, done)) for _ in range(3)]
    await asyncio.gather(
        *(talking(house, talk, random.Random(seed)) for seed, talk in enumerate(talks)),
        *(talking(house, talk, random.Random(seed)) for seed, talk in enumerate(talks, 10)),
    )
    done.set()
    await asyncio.gather(*workers)
    await house.serve()
    fresh = await new_said_house(storage, Thesaurus("one"), name="Fresh")
    for talk in talks:
        held = (await house.talks.load(house.tenant.owner, talk.id)).messages
        await fresh.say(await fresh.begin(), *held)
    await fresh.serve()
    assert await left(house) == await left(fresh)
    answer = await house.ask("walk")
    assert (answer.semantic, answer.waiting, answer.words_alone) == (True, 0, 0)
    # By words alone, because among many that are equally near, ids say which are looked at.
    house.use(None)
    fresh.use(None)
    for query in QUERIES:
        scores = [score for _, score in await house.found(query, limit=50)]
        assert scores == [score for _, score in await fresh.found(query, limit=50)]
