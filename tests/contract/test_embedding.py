"""Every memory gets its vector, once, of the text that it has now, whatever happens on the way."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import update

from memoranda.access.models import Principal, Role
from memoranda.access.service import Access
from memoranda.memories.audience import Audience
from memoranda.memories.embedding.service import BATCH, LEASE, Embedding
from memoranda.memories.limits import COLLECTION
from memoranda.search.terms import read_query
from memoranda.search.texts import store as words
from memoranda.search.vectors import store
from memoranda.search.vectors.matrix import Changes, pack
from memoranda.storage import PLATFORM, Storage, Transaction
from memoranda.storage.signals import EMBEDDING, signals
from memoranda.storage.tables import memories
from memoranda.words.errors import Unavailable
from memoranda.words.ids import new_id
from tests.contract.embedding_house import Clock, House, add_many, new_house
from tests.search.made_up_embedder import MadeUp
from tests.search.made_vectors import Watched, put, vectors_of

READ_OTHERWISE = update(memories).values(words_version=0)
DOWN = Unavailable("The embeddings endpoint could not be reached.", reason="ConnectError")


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
def embedder() -> MadeUp:
    return MadeUp()


@pytest.fixture
async def house(storage: Storage, embedder: MadeUp) -> AsyncIterator[House]:
    made = await new_house(storage, embedder)
    yield made
    await made.vectors.close()


# --- each once ------------------------------------------------------------------------------------


async def test_what_is_remembered_is_found_by_meaning_once_a_worker_has_been_there(
    house, storage, embedder
) -> None:
    [tea, kayak] = await house.remember("oolong is in the tin", "the kayak is green")
    assert await house.found("oolong tin") == []
    assert await house.embedding.waiting(house.organization_id)
    raised = await storage.read(PLATFORM, signals, EMBEDDING)
    assert [each.scope for each in raised] == [house.organization_id]
    await house.serve()
    assert not await house.embedding.waiting(house.organization_id)
    assert await house.found("oolong tin") == [tea]
    assert await house.found("green kayak") == [kayak]


async def test_ten_thousand_are_embedded_in_batches_and_the_figures_tell_how_far_it_is(
    house, embedder
) -> None:
    await house.storage.write(house.organization_id, add_many, 10_000)
    embedder.of = lambda text: np.eye(1, 64, int(text[5:]) % 64, dtype=np.float32)[0]
    assert await house.progress() == (0, 10_000, 0)
    while len(embedder.asked) < 2:
        assert await house.embedding.serve(house.organization_id, house.worker_id)
    assert await house.progress() == (2 * BATCH, 10_000 - 2 * BATCH, 0)
    await house.serve()
    assert await house.progress() == (10_000, 0, 0)
    assert len(embedder.asked) <= 10_000 / BATCH + 20
    assert len(set(embedder.texts)) == len(embedder.texts) == 10_000


async def test_two_workers_share_the_work_and_make_no_vector_twice(house, embedder) -> None:
    await house.remember(*(f"note {number}" for number in range(600)))
    others = [Embedding(house.storage, house.embedders) for _ in range(3)]

    async def work(embedding: Embedding) -> None:
        worker_id = new_id()
        while await embedding.serve(house.organization_id, worker_id):
            pass

    await asyncio.gather(*(work(each) for each in [house.embedding, *others]))
    assert await house.progress() == (600, 0, 0)
    assert sorted(embedder.texts) == sorted(f"note {number}" for number in range(600))


async def test_what_a_killed_worker_held_is_anothers_once_its_lease_is_over(
    house, embedder, clock
) -> None:
    [tea] = await house.remember("oolong is in the tin")
    embedder.gate = asyncio.Event()
    killed = asyncio.create_task(house.serve())
    await embedder.calls.get()
    other = new_id()
    clock.passes(seconds=LEASE.total_seconds() - 30)
    assert not await house.embedding.serve(house.organization_id, other)
    assert await house.embedding.waiting(house.organization_id)
    clock.passes(seconds=60)
    taken_over = asyncio.create_task(house.serve(other))
    await embedder.calls.get()
    embedder.gate.set()
    await asyncio.gather(killed, taken_over)
    assert await house.progress() == (1, 0, 0)
    assert await house.found("oolong tin") == [tea]


async def test_the_last_batch_takes_its_signal_with_it_in_one_commit(house, storage) -> None:
    await house.remember("oolong is in the tin")
    await house.serve()  # from now on the organization is known to lack nothing
    await house.remember("sencha is in the jar")
    watched = Watched(storage)
    house.embedding._storage = watched
    assert await house.embedding.serve(house.organization_id, house.worker_id)
    assert watched.writes == 2  # taken, and kept
    assert house.organization_id not in await _signalled(storage)
    assert await house.progress() == (2, 0, 0)


async def test_what_is_remembered_while_the_last_batch_is_made_stays_signalled(
    house, embedder, storage
) -> None:
    await house.remember("oolong is in the tin")
    await house.serve()
    await embedder.calls.get()
    await house.remember("sencha is in the jar")
    embedder.gate = asyncio.Event()
    serving = asyncio.create_task(house.embedding.serve(house.organization_id, house.worker_id))
    await embedder.calls.get()
    await house.remember("hojicha is in the bag")
    embedder.gate.set()
    assert await serving
    assert house.organization_id in await _signalled(storage)
    await house.serve()
    assert house.organization_id not in await _signalled(storage)
    assert await house.progress() == (3, 0, 0)


async def test_a_text_that_failed_keeps_its_signal(house, embedder, storage) -> None:
    await house.remember("oolong is in the tin")
    await house.serve()
    await house.remember("sencha is in the jar")
    embedder.failure = DOWN
    assert await house.embedding.serve(house.organization_id, house.worker_id)
    assert house.organization_id in await _signalled(storage)


async def test_who_lost_a_claim_keeps_nothing(house, embedder, clock) -> None:
    await house.remember("oolong is in the tin")
    embedder.gate = asyncio.Event()
    late = asyncio.create_task(house.embedding.serve(house.organization_id, house.worker_id))
    await embedder.calls.get()
    clock.passes(seconds=LEASE.total_seconds() + 1)
    gate, embedder.gate = embedder.gate, None
    await house.serve(new_id())
    before = await _changes(house)
    gate.set()
    assert await late
    assert await _changes(house) == before


async def test_a_worker_that_is_stopped_keeps_nobody_waiting_and_has_not_failed(
    house, embedder
) -> None:
    await house.remember("oolong is in the tin")
    for _ in range(4):
        embedder.gate = asyncio.Event()
        stopped = asyncio.create_task(house.serve())
        await embedder.calls.get()
        stopped.cancel()
        with suppress(asyncio.CancelledError):
            await stopped
    embedder.gate = None
    await house.serve(new_id())
    assert await house.progress() == (1, 0, 0)


# --- of the text that it has now -------------------------------------------------------------------


async def while_embedding(house: House, embedder: MadeUp, change) -> None:
    """Do something while a worker waits for the vectors of what was remembered."""
    embedder.gate = asyncio.Event()
    working = asyncio.create_task(house.embedding.serve(house.organization_id, house.worker_id))
    await embedder.calls.get()
    await change
    embedder.gate.set()
    await working


async def test_a_text_that_changes_while_it_is_embedded_never_gets_the_old_vector(
    house, embedder
) -> None:
    [tea] = await house.remember("oolong is in the tin")
    await while_embedding(house, embedder, house.edit(tea, text="the kayak is green"))
    assert await house.found("oolong tin") == []
    await house.serve()
    assert await house.found("oolong tin") == []
    assert await house.found("green kayak") == [tea]
    assert embedder.asked[0] == ["oolong is in the tin"]
    assert ["the kayak is green"] in embedder.asked


async def test_what_is_forgotten_while_it_is_embedded_gets_no_vector(house, embedder) -> None:
    [tea] = await house.remember("oolong is in the tin")
    await while_embedding(house, embedder, house.forget(tea))
    await house.serve()
    assert await house.found("oolong tin") == []
    assert await house.progress() == (0, 0, 0)


async def test_what_moves_while_it_is_embedded_gets_its_vector_where_it_is(house, embedder) -> None:
    [tea] = await house.remember("oolong is in the tin")
    user = await _user_of(house)
    moved: list[UUID] = []

    async def move() -> None:
        moved.append(await house.move(tea, Audience(user_id=user)))

    await while_embedding(house, embedder, move())
    await house.serve()
    assert await house.found("oolong tin") == moved


async def test_an_unchanged_text_is_not_embedded_again(house, embedder) -> None:
    [tea] = await house.remember("oolong is in the tin")
    await house.serve()
    await house.edit(tea, title="Tea")
    moved = await house.move(tea, Audience(user_id=await _user_of(house)))
    await house.edit(moved, category="kitchen")
    await house.serve()
    assert await house.found("oolong tin") == [moved]
    assert embedder.texts == ["oolong is in the tin", "oolong tin"]
    assert await house.progress() == (1, 0, 0)


async def test_a_title_that_changes_while_the_text_is_embedded_costs_no_vector(
    house, embedder
) -> None:
    [tea] = await house.remember("oolong is in the tin")
    await while_embedding(house, embedder, house.edit(tea, title="Tea"))
    await house.serve()
    assert await house.found("oolong tin") == [tea]
    assert await house.progress() == (1, 0, 0)


async def test_what_changed_while_there_was_no_embedder_is_made_up_for(house, embedder) -> None:
    [tea, kayak, canoe] = await house.remember("oolong is in the tin", "the kayak is green", "x")
    await house.serve()
    house_without = House(house.storage, house.organization_id, house.embedders)
    house_without.embedders = _Nobody()
    await house_without.edit(tea, text="darjeeling is on the shelf")
    await house_without.forget(canoe)
    [new] = await house.remember("the ladder is in the barn", models=())
    assert await house.embedding.sweep(house.organization_id) == 2
    await house.serve()
    assert await house.found("oolong tin") == []
    assert await house.found("darjeeling shelf") == [tea]
    assert await house.found("ladder barn") == [new]
    assert await house.found("green kayak") == [kayak]
    assert await house.progress() == (3, 0, 0)


async def test_a_vector_of_what_is_not_said_any_more_is_work(house, embedder, storage) -> None:
    [tea] = await house.remember("darjeeling is on the shelf")
    other_text = {tea: embedder.of("oolong is in the tin")}
    await storage.write(house.organization_id, put, other_text, embedder.model, text=new_id())
    assert await house.progress() == (0, 1, 0)
    assert await house.embedding.sweep(house.organization_id) == 1
    await house.serve()
    assert await house.found("oolong tin") == []
    assert await house.found("darjeeling shelf") == [tea]


async def test_a_claim_of_what_is_not_said_any_more_is_put_right(house, storage, embedder) -> None:
    [tea] = await house.remember("oolong is in the tin")
    want = (store.want, COLLECTION)
    await storage.write(house.organization_id, *want, tea, new_id(), (embedder.model,))
    await storage.write(house.organization_id, *want, new_id(), new_id(), (embedder.model,))
    await house.serve()
    assert embedder.texts == ["oolong is in the tin"]
    assert not await house.embedding.waiting(house.organization_id)
    assert await house.found("oolong tin") == [tea]
    assert await house.progress() == (1, 0, 0)


async def test_among_many_writers_and_workers_each_memory_ends_with_the_vector_of_its_own_text(
    house, embedder, storage, database_url
) -> None:
    other = await Storage.open(database_url) if "postgres" in database_url else storage
    homes = [house, House(other, house.organization_id, house.embedders)]
    says: dict[UUID, str] = {}
    busy = asyncio.Event()

    async def write(number: int) -> None:
        chance, at = random.Random(number), homes[number % 2]
        mine: list[UUID] = []
        for turn in range(12):
            text = f"writer {number} turn {turn}"
            act = chance.choice(["say", "edit", "title", "forget"]) if mine else "say"
            if act == "say":
                mine += await at.remember(text)
                says[mine[-1]] = text
            elif act == "forget":
                gone = mine.pop(chance.randrange(len(mine)))
                await at.forget(gone)
                del says[gone]
            else:
                memory_id = chance.choice(mine)
                await at.edit(memory_id, **{"text" if act == "edit" else "title": text})
                says[memory_id] = text if act == "edit" else says[memory_id]

    async def work(number: int) -> None:
        while not busy.is_set():
            await homes[number % 2].serve(new_id())
            await homes[number % 2].embedding.sweep(house.organization_id)

    working = [asyncio.create_task(work(number)) for number in range(3)]
    await asyncio.gather(*(write(number) for number in range(6)))
    busy.set()
    await asyncio.gather(*working)
    await house.serve()
    assert await house.progress() == (len(says), 0, 0)
    changes = await storage.read(
        house.organization_id, store.changes, COLLECTION, embedder.model, 0, 999
    )
    assert vectors_of(changes) == {
        memory_id: pack(embedder.of(text)[None])[0] for memory_id, text in says.items()
    }
    if other is not storage:
        await other.close()


# --- when the embedder fails ----------------------------------------------------------------------


async def test_a_memory_is_kept_whatever_ails_the_embedder_and_tried_three_times(
    house, embedder, clock, caplog
) -> None:
    embedder.failure = DOWN
    await house.remember("oolong is in the tin")
    with caplog.at_level(logging.WARNING):
        for pause in (timedelta(minutes=1), timedelta(minutes=10)):
            assert await house.serve() == 1
            assert await house.progress() == (0, 1, 0)
            clock.passes(seconds=pause.total_seconds() - 5)
            assert await house.serve() == 0
            clock.passes(seconds=10)
        assert not caplog.records
        assert await house.serve() == 1
        clock.passes(days=30)
        assert await house.serve() == 0
    assert len(embedder.asked) == 3
    assert await house.progress() == (0, 0, 1)
    assert not await house.embedding.waiting(house.organization_id)
    assert len(caplog.records) == 1
    assert "oolong" not in caplog.text


async def test_what_waits_for_another_try_costs_no_write(house, embedder, storage) -> None:
    embedder.failure = DOWN
    await house.remember("oolong is in the tin")
    await house.serve()
    watched = Watched(storage)
    idle = Embedding(watched, house.embedders)
    for _ in range(5):
        assert not await idle.serve(house.organization_id, house.worker_id)
    assert watched.writes == 0


async def test_an_organization_that_lacks_nothing_costs_no_write(house, storage) -> None:
    await house.remember("oolong is in the tin")
    await house.serve()
    watched = Watched(storage)
    idle = Embedding(watched, house.embedders)
    assert not await idle.serve(house.organization_id, house.worker_id)
    before = watched.writes
    for _ in range(5):
        assert not await idle.serve(house.organization_id, house.worker_id)
    assert watched.writes == before


async def test_the_nightly_sweep_takes_up_what_was_given_up(house, embedder, clock) -> None:
    embedder.failure = DOWN
    [tea] = await house.remember("oolong is in the tin")
    for _ in range(3):
        await house.serve()
        clock.passes(hours=1)
    assert await house.progress() == (0, 0, 1)
    embedder.failure = None
    assert await house.embedding.sweep(house.organization_id) == 1
    assert await house.embedding.sweep(house.organization_id) == 0
    assert await house.embedding.waiting(house.organization_id)
    await house.serve()
    assert await house.found("oolong tin") == [tea]


async def test_a_start_takes_up_what_lacks_a_vector_or_words_and_writes_nothing_where_nothing_does(
    house, storage, embedder, clock
) -> None:
    await house.remember(*(f"note {number}" for number in range(25)), models=())
    taken = [await house.embedding.take_up(house.organization_id, 10) for _ in range(4)]
    assert taken == [10, 10, 5, 0]
    await house.serve()
    await storage.write(house.organization_id, _forget_words_version)
    assert await house.embedding.take_up(house.organization_id) == 25
    watched = Watched(storage)
    assert await Embedding(watched, house.embedders).take_up(house.organization_id) == 0
    assert await Embedding(watched, None).take_up(house.organization_id) == 0
    assert watched.writes == 0


async def test_what_was_given_up_is_left_to_the_night_by_a_start(house, embedder, clock) -> None:
    embedder.failure = DOWN
    await house.remember("oolong is in the tin")
    for _ in range(3):
        await house.serve()
        clock.passes(hours=1)
    assert await house.embedding.take_up(house.organization_id) == 0


async def test_a_sweep_takes_up_as_much_as_it_is_told(house, embedder) -> None:
    await house.remember(*(f"note {number}" for number in range(25)), models=())
    assert [await house.embedding.sweep(house.organization_id, 10) for _ in range(4)] == [
        10,
        10,
        5,
        0,
    ]


@pytest.mark.parametrize(
    "ailment",
    [
        {"answer": np.zeros((1, 64), np.float32)},
        {"answer": np.full((2, 64), np.nan, np.float32)},
        {"failure": MemoryError()},
        {"failure": Unavailable("The embeddings endpoint answered 503.", status=503)},
    ],
)
async def test_what_an_embedder_answers_wrongly_is_a_failure_like_any_other(
    house, embedder, clock, ailment
) -> None:
    vars(embedder).update(ailment)
    await house.remember("oolong is in the tin", "the kayak is green")
    await house.serve()
    if "answer" not in ailment or len(ailment["answer"]) != 1:
        assert await house.progress() == (0, 2, 0)
    vars(embedder).update(answer=None, failure=None)
    clock.passes(minutes=2)
    await house.serve()
    assert (await house.progress())[0] == 2


async def test_one_text_that_can_not_be_embedded_fails_alone(house, embedder, clock) -> None:
    texts = [f"note {number}" for number in range(BATCH)]
    texts[23] = "poison"
    well = MadeUp.embed

    async def embed(given):
        if "poison" in given:
            embedder.asked.append(list(given))
            raise Unavailable("The embeddings endpoint answered 400.", status=400)
        return await well(embedder, given)

    embedder.embed = embed
    await house.remember(*texts)
    await house.serve()
    assert await house.progress() == (BATCH - 1, 1, 0)
    for _ in range(2):
        clock.passes(hours=1)
        await house.serve()
    assert await house.progress() == (BATCH - 1, 0, 1)
    assert len(embedder.asked) < 24


async def test_an_embedder_that_is_away_is_asked_once_and_left_alone(
    house, embedder, storage
) -> None:
    embedder.failure = DOWN
    await house.remember(*(f"note {number}" for number in range(3 * BATCH)))
    resting = Embedding(storage, house.embedders, rest_s=60)
    assert await resting.serve(house.organization_id, house.worker_id)
    assert not await resting.serve(house.organization_id, house.worker_id)
    assert await resting.waiting(house.organization_id)
    assert len(embedder.asked) == 1


async def test_a_text_in_a_script_that_the_model_can_not_read_counts_as_made(
    house, embedder
) -> None:
    embedder.unreadable = lambda text: "ชา" in text
    await house.remember("ลูกค้าดื่มชา", "oolong is in the tin")
    await house.serve()
    assert await house.progress() == (2, 0, 0)
    assert await house.embedding.sweep(house.organization_id) == 0
    assert await house.found("ลูกค้าดื่มชา") == []


# --- words, and what is nobody's -------------------------------------------------------------------


async def test_words_that_were_read_otherwise_are_read_anew(house, storage) -> None:
    [tea] = await house.remember("oolong is in the tin")
    await storage.write(house.organization_id, words.drop, COLLECTION, [tea])
    await storage.write(house.organization_id, _forget_words_version)
    query = read_query("oolong")
    find = (words.find, COLLECTION, query)
    assert await storage.read(house.organization_id, *find, total=1) == []
    assert await house.embedding.sweep(house.organization_id) == 1
    [hit] = await storage.read(house.organization_id, *find, total=1)
    assert hit.item_id == tea
    assert await house.embedding.sweep(house.organization_id) == 0


async def test_words_are_read_anew_without_an_embedder_too(house, storage) -> None:
    await house.remember("oolong is in the tin")
    await storage.write(house.organization_id, _forget_words_version)
    without = Embedding(storage, None)
    assert await without.sweep(house.organization_id) == 1
    assert await without.sweep(house.organization_id) == 0
    assert not await without.serve(house.organization_id, new_id())
    assert not await without.waiting(house.organization_id)
    assert await without.progress(house.organization_id) is None


async def test_one_organizations_work_is_never_done_for_another(house, storage, embedder) -> None:
    other = await new_house(storage, embedder)
    await house.remember("oolong is in the tin")
    assert not await other.embedding.serve(other.organization_id, new_id())
    assert not await other.embedding.serve(PLATFORM, new_id())
    assert await other.embedding.sweep(other.organization_id) == 0
    assert embedder.asked == []
    assert await other.progress() == (0, 0, 0)


async def test_rows_of_what_was_forgotten_go_after_some_days(house, clock) -> None:
    [tea] = await house.remember("oolong is in the tin")
    await house.serve()
    await house.forget(tea)
    clock.passes(days=1)
    assert await house.embedding.sweep(house.organization_id) == 0
    clock.passes(days=3)
    assert await house.embedding.sweep(house.organization_id) == 1
    assert not (await _changes(house)).vectors


class _Nobody:
    models = ()


async def _user_of(house: House) -> UUID:
    owner = Principal(organization_id=house.organization_id, role=Role.OWNER)
    return (await Access(house.storage).create_user(owner, "Anna")).id


async def _signalled(storage: Storage) -> set[UUID]:
    return {signal.scope for signal in await storage.read(PLATFORM, signals, EMBEDDING)}


async def _changes(house: House) -> Changes:
    model = house.embedders.live.model
    return await house.storage.read(
        house.organization_id, store.changes, COLLECTION, model, 1, 1_000
    )


def _forget_words_version(tx: Transaction) -> None:
    tx.run(READ_OTHERWISE)
