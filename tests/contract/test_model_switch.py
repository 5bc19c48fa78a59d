"""A switch of models: the old one answers in full until the new one can, and nothing in between is ever seen."""

import random
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from memoranda.memories.embedding import service
from memoranda.memories.embedding.service import Embedding
from memoranda.memories.limits import COLLECTION
from memoranda.search.embedders.choice import Embedders, choose
from memoranda.search.vectors import store
from memoranda.search.vectors.service import Vectors
from memoranda.settings import Settings
from memoranda.storage import PLATFORM, Storage
from memoranda.storage.signals import EMBEDDING, settle, signal, signals
from memoranda.words.errors import Unavailable
from tests.contract.embedding_house import Clock, House, new_house
from tests.search.embeddings_server import DIMENSIONS, Script, serving
from tests.search.made_up_embedder import MadeUp

TEXTS = [
    "We never quote a delivery date shorter than ten working days",
    "Salaries are paid on the 25th",
    "The oak mill in Hexham wants to be paid within a week",
    "Varnish is stored in the shed behind the workshop",
    "Mrs. Patel prefers to be called in the morning",
    "The kayak in the yard is not for sale",
    "Invoices carry the number of the order",
]
BUNDLED = "all-MiniLM-L6-v2-int8"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def storage(database_url: str, clock: Clock) -> AsyncIterator[Storage]:
    opened = await Storage.open(database_url, clock=clock)
    try:
        yield opened
    finally:
        await opened.close()


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "BATCH", 2)
    monkeypatch.setattr(service, "AT_ONCE", 3)


@pytest.fixture
def server() -> Iterator[Script]:
    with serving() as script:
        yield script


async def answering_model(house: House, memories: dict[str, Any]) -> str:
    """The model that answers now, after a look at whether its answers are whole and its own alone."""
    models = set()
    for text, memory_id in memories.items():
        nearest = await house.vectors.nearest(house.organization_id, text, at_least=0.55, most=50)
        assert nearest is not None
        assert nearest.hits[0].item_id == memory_id, text
        assert nearest.hits[0].score > 0.99, text
        assert {hit.item_id for hit in nearest.hits} <= set(memories.values())
        models.add(nearest.model)
    [model] = models
    return model


async def rows_of(house: House, model: str) -> int:
    return sum(await house.storage.read(house.organization_id, store.progress, COLLECTION, model))


async def test_from_the_bundled_model_to_a_server_and_back_each_answers_until_the_next_is_whole(
    storage, server, small_steps
) -> None:
    at_server = {"embedder_url": server.url, "embedder_model": "other"}
    bundled = choose(Settings.load(embedder="bundled", **at_server))
    endpoint = choose(Settings.load(embedder="endpoint", **at_server))
    assert bundled is not None
    assert endpoint is not None
    house = await new_house(storage, bundled.live)
    house.use(bundled)
    memories = dict(zip(TEXTS, await house.remember(*TEXTS), strict=True))
    await house.serve()
    for embedders, old, new in ((endpoint, BUNDLED, "other"), (bundled, "other", BUNDLED)):
        house.use(embedders)
        assert await answering_model(house, memories) == old
        await storage.write(house.organization_id, signal, EMBEDDING)
        answered = []
        while await house.embedding.serve(house.organization_id, house.worker_id):
            answered.append(await answering_model(house, memories))
        flipped = answered.index(new)
        assert answered == [old] * flipped + [new] * (len(answered) - flipped)
        assert flipped >= len(TEXTS) / 2
        assert await rows_of(house, old) == 0
        assert await house.progress() == (len(TEXTS), 0, 0)
    assert len(server.texts) >= len(TEXTS)
    assert DIMENSIONS != 384
    await endpoint.close()
    await bundled.close()


async def test_what_is_written_meanwhile_is_found_by_the_old_model_and_then_by_the_new(
    storage, small_steps
) -> None:
    old, new = MadeUp("old"), MadeUp("new", dimensions=48)
    house = await new_house(storage, old)
    memories = dict(zip(TEXTS, await house.remember(*TEXTS), strict=True))
    await house.serve()
    house.use(Embedders(new, (old,)))
    answered, number = [], 0
    while await house.embedding.serve(house.organization_id, house.worker_id):
        answered.append(await answering_model(house, memories))
        if number < 3 and answered[-1] == "old":
            [memories[f"new note {number}"]] = await house.remember(f"new note {number}")
            changed = TEXTS[number]
            await house.edit(memories[changed], text=f"{changed} and more")
            memories[f"{changed} and more"] = memories.pop(changed)
            await house.forget(memories.pop(TEXTS[-1 - number]))
            while await _waits_for(house, "old"):
                await house.embedding.serve(house.organization_id, house.worker_id)
            number += 1
    assert number == 3
    assert answered[0] == "old"
    assert await answering_model(house, memories) == "new"
    assert await rows_of(house, "old") == 0


class Killed(BaseException):
    """The process ends here; nothing else of it runs."""


class Mortal:
    """A storage whose process is killed at its n-th transaction, before it or just after its commit."""

    def __init__(self, storage: Storage, *, at: int, after: bool) -> None:
        self._storage = storage
        self._left = at
        self._after = after

    async def _do(self, kind: str, *args: Any, **kwargs: Any) -> Any:
        self._left -= 1
        if self._left == 0 and not self._after:
            raise Killed
        done = await getattr(self._storage, kind)(*args, **kwargs)
        if self._left == 0:
            raise Killed
        return done

    async def read(self, *args: Any, **kwargs: Any) -> Any:
        return await self._do("read", *args, **kwargs)

    async def write(self, *args: Any, **kwargs: Any) -> Any:
        return await self._do("write", *args, **kwargs)

    async def take(self, *args: Any, **kwargs: Any) -> Any:
        return await self._do("take", *args, **kwargs)


@pytest.mark.parametrize("seed", range(4))
async def test_a_switch_that_is_killed_at_any_step_goes_on_and_nothing_in_between_is_seen(
    storage, clock, small_steps, seed
) -> None:
    old, new = MadeUp("old"), MadeUp("new", dimensions=48)
    house = await new_house(storage, old)
    memories = dict(zip(TEXTS, await house.remember(*TEXTS), strict=True))
    await house.serve()
    chance = random.Random(seed)
    model = "old"
    for there, here in (((new, (old,)), "new"), ((old, (new,)), "old")):
        house.use(Embedders(*there))
        lives = 0
        while await house.progress() != (len(TEXTS), 0, 0) or model != here:
            lives += 1
            assert lives < 200
            mortal = Mortal(storage, at=chance.randint(1, 9), after=chance.random() < 0.5)
            doomed = Embedding(mortal, house.embedders, rest_s=0)
            try:
                while await doomed.serve(house.organization_id, house.worker_id):
                    pass
            except Killed:
                pass
            answering = await answering_model(house, memories)
            assert answering in {model, here}
            model = answering
            clock.passes(minutes=3)
        await house.serve()
        assert lives > 2
        gone = "old" if here == "new" else "new"
        assert await rows_of(house, gone) == 0
        assert len(old.texts) + len(new.texts) < 400


async def test_a_flip_that_another_process_made_is_seen_by_the_next_search(
    storage, small_steps
) -> None:
    old, new = MadeUp("old"), MadeUp("new")
    house = await new_house(storage, old)
    memories = dict(zip(TEXTS, await house.remember(*TEXTS), strict=True))
    await house.serve()
    elsewhere = Vectors(storage, Embedders(new, (old,)), COLLECTION)
    watching = House(storage, house.organization_id, Embedders(new, (old,)))
    watching.vectors = elsewhere
    assert await answering_model(watching, memories) == "old"
    for embedders, model in (((new, (old,)), "new"), ((old, (new,)), "old")):
        house.use(Embedders(*embedders))
        gone = next(iter(memories))
        await house.forget(memories.pop(gone))
        await house.serve()
        # The very vectors that it has in memory are of this model, but of an earlier time.
        assert await answering_model(watching, memories) == model
        nearest = await elsewhere.nearest(house.organization_id, gone, at_least=0.99, most=9)
        assert nearest.hits == []


async def test_without_the_old_embedder_words_alone_answer_until_the_new_model_is_whole(
    storage, small_steps
) -> None:
    house = await new_house(storage, MadeUp("old"))
    memories = dict(zip(TEXTS, await house.remember(*TEXTS), strict=True))
    await house.serve()
    house.use(Embedders(MadeUp("new")))
    answers = []
    while await house.embedding.serve(house.organization_id, house.worker_id):
        answers.append(await house.found(TEXTS[0]))
    whole = answers.index([memories[TEXTS[0]]])
    assert answers[:whole] == [None] * whole
    assert whole >= len(TEXTS) / 2
    assert await answering_model(house, memories) == "new"


async def test_a_new_model_that_mostly_failed_does_not_serve_and_is_tried_again_at_night(
    storage, clock
) -> None:
    old, new = MadeUp("old"), MadeUp("new")
    house = await new_house(storage, old)
    memories = dict(zip(TEXTS, await house.remember(*TEXTS), strict=True))
    await house.serve()
    house.use(Embedders(new, (old,)))
    new.failure = Unavailable("The endpoint could not be reached.", reason="ConnectError")
    for _ in range(6):
        await house.serve()
        clock.passes(hours=1)
    assert await house.progress() == (0, 0, len(TEXTS))
    assert not await house.embedding.waiting(house.organization_id)
    assert await answering_model(house, memories) == "old"
    new.failure = None
    await house.embedding.sweep(house.organization_id)
    await house.serve()
    assert await answering_model(house, memories) == "new"


async def test_a_text_that_was_given_up_holds_no_switch_up(storage, clock) -> None:
    old, new = MadeUp("old"), MadeUp("new")
    house = await new_house(storage, old)
    memories = dict(zip(TEXTS, await house.remember(*TEXTS), strict=True))
    await house.serve()
    house.use(Embedders(new, (old,)))
    well = new.embed

    async def embed(texts):
        if TEXTS[2] in texts:
            raise Unavailable("The embeddings endpoint answered 400.", status=400)
        return await well(texts)

    new.embed = embed
    for _ in range(4):
        await house.serve()
        clock.passes(hours=1)
    assert await house.progress() == (len(TEXTS) - 1, 0, 1)
    memories.pop(TEXTS[2])
    assert await answering_model(house, memories) == "new"


async def test_a_search_sets_a_switch_going_where_nobody_writes(storage) -> None:
    old, new = MadeUp("old"), MadeUp("new")
    house = await new_house(storage, old)
    memories = dict(zip(TEXTS, await house.remember(*TEXTS), strict=True))
    await house.serve()
    for raised in await storage.read(PLATFORM, signals, EMBEDDING):
        await storage.write(PLATFORM, settle, EMBEDDING, raised)
    assert await answering_model(house, memories) == "old"
    assert await storage.read(PLATFORM, signals, EMBEDDING) == []
    house.use(Embedders(new, (old,)))
    assert await answering_model(house, memories) == "old"
    await house.vectors.close()
    [raised] = await storage.read(PLATFORM, signals, EMBEDDING)
    assert raised.scope == house.organization_id
    await house.serve()
    house.use(Embedders(new, (old,)))
    assert await answering_model(house, memories) == "new"


async def test_an_organization_without_memories_switches_at_once(storage) -> None:
    old, new = MadeUp("old"), MadeUp("new")
    house = await new_house(storage, old)
    await house.serve()
    house.use(Embedders(new, (old,)))
    await house.serve()
    assert await house.embedding.serving(house.organization_id) == "new"


async def test_another_organizations_switch_is_its_own(storage) -> None:
    old, new = MadeUp("old"), MadeUp("new")
    house, other = await new_house(storage, old), await new_house(storage, old)
    await house.remember(*TEXTS)
    memories = dict(zip(TEXTS, await other.remember(*TEXTS), strict=True))
    await house.serve()
    await other.serve()
    house.use(Embedders(new, (old,)))
    await house.serve()
    assert await house.embedding.serving(house.organization_id) == "new"
    assert await answering_model(other, memories) == "old"
    assert new.texts == TEXTS


async def _waits_for(house: House, model: str) -> bool:
    return await house.storage.read(house.organization_id, store.waiting, COLLECTION, [model])
