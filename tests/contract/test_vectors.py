"""Vectors stay within one organization and one model, are seen as soon as they are committed, and never cost a search."""

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator
from datetime import timedelta

import numpy as np
import pytest

from memoranda.search.embedders.choice import Embedders
from memoranda.search.vectors import store
from memoranda.search.vectors.cache import VectorCache
from memoranda.search.vectors.making import store as making
from memoranda.search.vectors.matrix import pack
from memoranda.search.vectors.service import Vectors
from memoranda.search.vectors.store import Progress
from memoranda.storage import PLATFORM, Storage, Transaction
from memoranda.words.errors import Unavailable
from memoranda.words.ids import new_id
from tests.search.made_up_embedder import MadeUp
from tests.search.made_vectors import COLLECTION, current, put

TEA = "oolong tea is kept in the tin"
QUERY = "oolong tea in the tin"
NEAR = {"at_least": 0.55, "most": 10}


@pytest.fixture
def embedder() -> MadeUp:
    return MadeUp()


@pytest.fixture
async def vectors(storage: Storage, embedder: MadeUp) -> AsyncIterator[Vectors]:
    made = Vectors(storage, Embedders(embedder), COLLECTION, timeout_s=10.0, rest_s=60)
    yield made
    await made.close()


async def kept(storage: Storage, organization_id, embedder: MadeUp, *texts: str) -> list:
    """The ids of items whose vectors are of these texts."""
    items = {new_id(): embedder.of(text) for text in texts}
    await storage.write(organization_id, put, items, embedder.model)
    return list(items)


async def found(vectors: Vectors, organization_id, query: str = QUERY) -> list | None:
    nearest = await vectors.nearest(organization_id, query, **NEAR)
    return None if nearest is None else [hit.item_id for hit in nearest.hits]


# --- whose vectors, and which ---------------------------------------------------------------------


async def test_another_organizations_vectors_are_never_compared(storage, vectors, embedder) -> None:
    ours, theirs, nobodys = new_id(), new_id(), new_id()
    [own] = await kept(storage, ours, embedder, TEA)
    [other] = await kept(storage, theirs, embedder, TEA)
    assert await found(vectors, ours) == [own]
    assert await found(vectors, theirs) == [other]
    assert await found(vectors, nobodys) == []


async def test_the_same_ids_in_two_organizations_are_two_items(storage, vectors, embedder) -> None:
    ours, theirs, item_id = new_id(), new_id(), new_id()
    await storage.write(ours, put, {item_id: embedder.of(TEA)}, embedder.model)
    await storage.write(theirs, put, {item_id: embedder.of("kayaks are green")}, embedder.model)
    assert await found(vectors, theirs) == []
    await storage.write(theirs, store.drop, COLLECTION, [item_id])
    await storage.write(theirs, store.carry, COLLECTION, item_id, new_id(), new_id())
    await storage.write(theirs, store.want_again, COLLECTION, embedder.model, {item_id: item_id})
    assert await found(vectors, ours) == [item_id]


async def test_one_organizations_claim_keeps_and_ends_nothing_in_another(storage, embedder) -> None:
    ours, theirs, item_id, worker_id = new_id(), new_id(), new_id(), new_id()
    for organization_id in (ours, theirs):
        await storage.write(
            organization_id, store.want, COLLECTION, item_id, item_id, (embedder.model,)
        )
    claim = await _claim(storage, ours, embedder.model, worker_id)
    vector = pack(embedder.of(TEA)[None])
    for scope in (theirs, PLATFORM):
        assert await storage.write(scope, making.keep, claim, vector) == 0
        assert await storage.write(scope, making.fail, claim) == 0
        of = (COLLECTION, embedder.model)
        assert await storage.read(scope, current, *of, [item_id]) == {}
        assert not (await storage.read(scope, store.changes, *of, 0, 10)).vectors
    assert await storage.write(ours, making.keep, claim, vector) == 1


async def test_organizations_that_search_at_the_same_time_meet_their_own_alone(
    storage, vectors, embedder
) -> None:
    homes = {}
    for number in range(6):
        homes[new_id()] = f"oolong tea number {number} in the tin"
    own = {each: await kept(storage, each, embedder, text) for each, text in homes.items()}

    async def busy(organization_id) -> None:
        for turn in range(15):
            own[organization_id] += await kept(
                storage, organization_id, embedder, f"{QUERY} {turn}"
            )
            assert set(await found(vectors, organization_id, QUERY)) <= set(own[organization_id])
            vectors.evict(organization_id)

    await asyncio.gather(*(busy(each) for each in homes))


async def test_another_models_vectors_are_never_compared(storage, vectors, embedder) -> None:
    organization_id, item_id = new_id(), new_id()
    [own] = await kept(storage, organization_id, embedder, TEA)
    # As near as can be, and under another model.
    await storage.write(organization_id, put, {item_id: embedder.of(QUERY)}, "another")
    assert await found(vectors, organization_id) == [own]
    of = (COLLECTION, embedder.model)
    assert await storage.read(organization_id, current, *of, [item_id, own]) == {own: own}


async def test_a_query_is_embedded_for_each_model_by_its_own_embedder(storage) -> None:
    old, new = MadeUp("old"), MadeUp("new", dimensions=32)
    vectors = Vectors(storage, Embedders(new, (old,)), COLLECTION)
    before, after = new_id(), new_id()
    [aged] = await kept(storage, before, old, TEA)
    [fresh] = await kept(storage, after, new, TEA)
    for organization_id, model, item_id in ((before, "old", aged), (after, "new", fresh)) * 2:
        nearest = await vectors.nearest(organization_id, QUERY, **NEAR)
        assert nearest.model == model
        assert [hit.item_id for hit in nearest.hits] == [item_id]
    assert (old.texts, new.texts) == ([QUERY], [QUERY])


async def test_a_model_without_an_embedder_at_hand_answers_nothing(
    storage, vectors, embedder
) -> None:
    organization_id = new_id()
    await kept(storage, organization_id, MadeUp("gone"), TEA)
    assert await found(vectors, organization_id) is None
    assert embedder.asked == []


async def test_a_model_that_answers_with_another_size_answers_nothing(
    storage, vectors, embedder, caplog
) -> None:
    organization_id = new_id()
    await kept(storage, organization_id, MadeUp(embedder.model, dimensions=16), TEA)
    with caplog.at_level(logging.WARNING):
        assert await found(vectors, organization_id) is None
    assert "MEMORANDA_EMBEDDER_DIMENSIONS" in caplog.text


# --- as soon as they are committed -----------------------------------------------------------------


async def test_a_change_is_never_committed_before_one_with_an_earlier_stamp(
    storage, database_url, vectors, embedder
) -> None:
    organization_id = new_id()
    slow_id, quick_id = await kept(storage, organization_id, embedder, TEA, TEA)
    assert set(await found(vectors, organization_id)) == {slow_id, quick_id}
    entered, leave = threading.Event(), threading.Event()

    def drop_slowly(tx: Transaction) -> None:
        store.drop(tx, COLLECTION, [slow_id])
        entered.set()
        leave.wait(10)

    slow = asyncio.create_task(storage.write(organization_id, drop_slowly))
    await asyncio.to_thread(entered.wait, 10)
    other = await Storage.open(database_url) if "postgres" in database_url else storage
    quick = asyncio.create_task(other.write(organization_id, store.drop, COLLECTION, [quick_id]))
    await asyncio.wait([quick], timeout=0.3)
    # Were the second one committed by now, this search would read past the first one's stamp.
    assert set(await found(vectors, organization_id)) == {slow_id, quick_id}
    leave.set()
    await asyncio.gather(slow, quick)
    assert await found(vectors, organization_id) == []
    if other is not storage:
        await other.close()


async def test_a_cache_among_many_writers_ends_with_what_the_database_has(
    storage, database_url, embedder
) -> None:
    organization_id = new_id()
    others = [await Storage.open(database_url)] if "postgres" in database_url else []
    cache, done = VectorCache(storage, COLLECTION, max_bytes=10**8), asyncio.Event()
    looks = 0

    async def write(number: int) -> None:
        random = np.random.default_rng(number)
        at = [storage, *others][number % (1 + len(others))]
        mine = [new_id() for _ in range(6)]
        for turn in range(25):
            item_id = mine[random.integers(6)]
            act = random.integers(4)
            if act == 0:
                await at.write(organization_id, store.drop, COLLECTION, [item_id])
            elif act == 1:
                moved = new_id()
                await at.write(organization_id, store.carry, COLLECTION, item_id, moved, new_id())
                mine.append(moved)
            else:
                vector = embedder.of(f"writer {number} turn {turn}")
                await at.write(organization_id, put_one, item_id, vector, embedder.model)

    async def look() -> None:
        nonlocal looks
        while not done.is_set():
            await cache.fresh(organization_id)
            looks += 1
            await asyncio.sleep(0)

    looking = asyncio.create_task(look())
    await asyncio.gather(*(write(number) for number in range(8)))
    done.set()
    await looking
    snapshot = await cache.fresh(organization_id)
    anew = await VectorCache(storage, COLLECTION, max_bytes=10**8).fresh(organization_id)
    assert _held(snapshot) == _held(anew)
    assert looks > 5
    for other in others:
        await other.close()


def put_one(tx: Transaction, item_id, vector: np.ndarray, model: str) -> None:
    """As `put`, beside others who claim at the same time."""
    worker_id = new_id()
    store.want(tx, COLLECTION, item_id, new_id(), (model,))
    claim = making.claim(tx, COLLECTION, model, worker_id, lease=timedelta(seconds=0), most=999)
    ours = [text for text in claim.texts if text.item_id == item_id]
    assert making.keep(tx, claim._replace(texts=ours), pack(vector[None])) == 1


# --- what a search costs ----------------------------------------------------------------------------


async def test_a_query_is_embedded_outside_of_any_transaction(storage, vectors, embedder) -> None:
    organization_id = new_id()
    [item_id] = await kept(storage, organization_id, embedder, TEA)
    embedder.gate = asyncio.Event()
    search = asyncio.create_task(found(vectors, organization_id))
    await embedder.calls.get()
    for number in range(20):  # more than there are connections
        await kept(storage, organization_id, embedder, f"kayak {number}")
        await storage.read(organization_id, store.serving, COLLECTION)
    embedder.gate.set()
    assert await search == [item_id]


async def test_a_query_is_embedded_once_for_all_who_ask(storage, vectors, embedder) -> None:
    organization_id = new_id()
    await kept(storage, organization_id, embedder, TEA)
    await asyncio.gather(*(found(vectors, organization_id) for _ in range(20)))
    await found(vectors, organization_id)
    assert embedder.asked == [[QUERY]]


async def test_how_quickly_one_is_answered_does_not_tell_what_another_organization_asked(
    storage, vectors, embedder
) -> None:
    homes = [new_id() for _ in range(3)]
    for organization_id in homes:
        await kept(storage, organization_id, embedder, TEA)
        await found(vectors, organization_id)
    assert embedder.asked == [[QUERY]] * 3


async def test_only_recent_queries_are_remembered(storage, vectors, embedder, monkeypatch) -> None:
    monkeypatch.setattr("memoranda.search.vectors.queries.REMEMBERED", 2)
    organization_id = new_id()
    await kept(storage, organization_id, embedder, TEA)
    for query in ("a", "b", "a", "c", "a", "b"):
        await found(vectors, organization_id, query)
    assert embedder.texts == ["a", "b", "c", "b"]


async def test_a_caller_that_goes_away_takes_the_vector_from_nobody(
    storage, vectors, embedder
) -> None:
    organization_id = new_id()
    [item_id] = await kept(storage, organization_id, embedder, TEA)
    embedder.gate = asyncio.Event()
    callers = [asyncio.create_task(found(vectors, organization_id)) for _ in range(3)]
    await embedder.calls.get()
    callers[0].cancel()
    await asyncio.gather(callers[0], return_exceptions=True)
    embedder.gate.set()
    assert await asyncio.gather(*callers[1:]) == [[item_id]] * 2
    assert embedder.asked == [[QUERY]]


NO_ANSWERS = {
    "down": {"failure": Unavailable("The endpoint could not be reached.", reason="ConnectError")},
    "broken": {"failure": RuntimeError("segment of the query")},
    "a row too few": {"answer": np.zeros((0, 64), np.float32)},
    "no matrix": {"answer": np.zeros(64, np.float32)},
    "no numbers": {"answer": np.full((1, 64), np.nan, np.float32)},
    "too long": {"answer": np.full((1, 64), 9.0, np.float32)},
    "nothing at all": {"answer": None, "failure": TypeError()},
}


@pytest.mark.parametrize("ailment", NO_ANSWERS)
async def test_whatever_ails_the_embedder_is_no_error_and_is_said_once(
    storage, vectors, embedder, caplog, ailment
) -> None:
    organization_id = new_id()
    [item_id] = await kept(storage, organization_id, embedder, TEA)
    vars(embedder).update(NO_ANSWERS[ailment])
    with caplog.at_level(logging.WARNING):
        queries = [f"{QUERY} {number}" for number in range(10)]
        searches = (found(vectors, organization_id, query) for query in queries)
        assert await asyncio.gather(*searches) == [None] * 10
        asked = len(embedder.asked)
        for query in queries:
            assert await found(vectors, organization_id, query) is None
    # One that is away is left alone for a while; a wrong answer may be about the text alone.
    assert len(embedder.asked) == (asked if ailment == "down" else 2 * asked)
    assert len(caplog.records) == 1
    assert "segment" not in caplog.text
    assert QUERY not in caplog.text
    vars(embedder).update(failure=None, answer=None)
    vectors._queries._resting.clear()
    assert await found(vectors, organization_id) == [item_id]


async def test_a_slow_embedder_holds_no_search_up_for_long(storage, embedder) -> None:
    vectors = Vectors(storage, Embedders(embedder), COLLECTION, timeout_s=0.5, rest_s=60)
    organization_id = new_id()
    [item_id] = await kept(storage, organization_id, embedder, TEA)
    await vectors.nearest(organization_id, "warm", **NEAR)
    embedder.gate = asyncio.Event()
    begun = time.monotonic()
    assert await found(vectors, organization_id) is None
    assert 0.45 < time.monotonic() - begun < 3.0
    asked = len(embedder.asked)
    assert await found(vectors, organization_id, "another") is None
    assert len(embedder.asked) == asked  # it is left alone for a while
    embedder.gate.set()
    vectors._queries._resting.clear()
    assert await found(vectors, organization_id) == [item_id]


@pytest.mark.parametrize("status", [400, 403, 413, 422])
async def test_a_text_that_is_refused_switches_nobody_elses_search_by_meaning_off(
    storage, vectors, embedder, monkeypatch, status
) -> None:
    ours, theirs = new_id(), new_id()
    await kept(storage, ours, embedder, TEA)
    [item_id] = await kept(storage, theirs, embedder, TEA)
    well = embedder.embed

    async def embed(texts):
        if any(len(text) > 1_000 for text in texts):
            raise Unavailable(f"The embeddings endpoint answered {status}.", status=status)
        return await well(texts)

    monkeypatch.setattr(embedder, "embed", embed)
    for number in range(3):
        assert await found(vectors, ours, f"{number} {'long ' * 320}") is None
        assert await found(vectors, theirs, f"{QUERY} {number}"[:-2]) == [item_id]
        assert await found(vectors, ours) is not None


async def open_calls(embedder: MadeUp, monkeypatch) -> set:
    """The embedder's calls that are under way, from now on; none of them ends by itself."""
    under_way = set()

    async def hang(_):
        under_way.add(asyncio.current_task())
        try:
            await asyncio.Event().wait()
        finally:
            under_way.discard(asyncio.current_task())

    monkeypatch.setattr(embedder, "embed", hang)
    return under_way


async def test_an_embedder_that_callers_give_up_on_sooner_is_left_alone_and_its_calls_are_closed(
    storage, embedder, monkeypatch
) -> None:
    vectors = Vectors(storage, Embedders(embedder), COLLECTION, timeout_s=1.0, rest_s=60)
    organization_id = new_id()
    await kept(storage, organization_id, embedder, TEA)
    await found(vectors, organization_id, "warm")
    under_way = await open_calls(embedder, monkeypatch)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.7):
            await found(vectors, organization_id)
    begun = time.monotonic()
    assert await found(vectors, organization_id) is None
    assert await found(vectors, organization_id, "another") is None
    assert time.monotonic() - begun < 0.4
    await asyncio.sleep(0.05)
    assert not under_way
    await vectors.close()


async def test_a_caller_who_hardly_waits_rests_no_embedder_that_answers_in_time(
    storage, vectors, embedder
) -> None:
    organization_id, other = new_id(), new_id()
    await kept(storage, organization_id, embedder, TEA)
    [item_id] = await kept(storage, other, embedder, TEA)
    embedder.gate = asyncio.Event()
    hasty = asyncio.create_task(found(vectors, organization_id))
    await embedder.calls.get()
    hasty.cancel()
    await asyncio.gather(hasty, return_exceptions=True)
    embedder.gate.set()
    assert await found(vectors, other) == [item_id]


async def test_calls_that_hasty_callers_left_behind_do_not_pile_up(
    storage, embedder, monkeypatch
) -> None:
    vectors = Vectors(storage, Embedders(embedder), COLLECTION, timeout_s=0.6, rest_s=60)
    organization_id = new_id()
    await kept(storage, organization_id, embedder, TEA)
    under_way = await open_calls(embedder, monkeypatch)
    callers = [asyncio.create_task(found(vectors, organization_id, f"q {n}")) for n in range(20)]
    while len(under_way) < 20:  # noqa: ASYNC110 - another task's work has no event
        await asyncio.sleep(0.01)
    for caller in callers:
        caller.cancel()
    await asyncio.sleep(0.5)
    assert not under_way
    assert await found(vectors, organization_id, "another") is None
    assert not under_way
    await vectors.close()


async def test_zeros_are_near_nothing_on_either_side(storage, vectors, embedder) -> None:
    organization_id = new_id()
    embedder.unreadable = lambda text: "ชา" in text
    [item_id] = await kept(storage, organization_id, embedder, TEA)
    await storage.write(organization_id, put, {new_id(): np.zeros(64, np.float32)}, embedder.model)
    assert await found(vectors, organization_id) == [item_id]
    assert await found(vectors, organization_id, "ชา") == []
    done = await storage.read(organization_id, store.progress, COLLECTION, embedder.model)
    assert done == Progress(made=2, waiting=0, given_up=0)


# --- what a write leaves ----------------------------------------------------------------------------


async def test_what_is_wanted_again_has_no_vector_until_it_is_made(storage, embedder) -> None:
    organization_id = new_id()
    [item_id] = await kept(storage, organization_id, embedder, TEA)
    text_id = new_id()
    await storage.write(
        organization_id, store.want, COLLECTION, item_id, text_id, (embedder.model,)
    )
    of = (COLLECTION, embedder.model)
    assert await storage.read(organization_id, current, *of, [item_id]) == {}
    claim = await _claim(storage, organization_id, embedder.model, new_id())
    assert [(each.item_id, each.text_id) for each in claim.texts] == [(item_id, text_id)]


async def test_without_an_embedder_nothing_is_wanted(storage) -> None:
    organization_id = new_id()
    await storage.write(organization_id, store.want, COLLECTION, new_id(), new_id(), ())
    assert await storage.read(organization_id, store.serving, COLLECTION) is None
    await storage.write(organization_id, store.drop, COLLECTION, [new_id()])
    await storage.write(organization_id, store.carry, COLLECTION, new_id(), new_id(), new_id())
    assert await storage.read(organization_id, store.serving, COLLECTION) is None


async def test_an_item_that_moves_takes_its_vector_along_and_leaves_none_behind(
    storage, embedder
) -> None:
    organization_id, to_id, text_id = new_id(), new_id(), new_id()
    [from_id] = await kept(storage, organization_id, embedder, TEA)
    await storage.write(organization_id, store.carry, COLLECTION, from_id, to_id, text_id)
    of = (COLLECTION, embedder.model)
    assert await storage.read(organization_id, current, *of, [from_id, to_id]) == {to_id: text_id}
    done = await storage.read(organization_id, store.progress, *of)
    assert done == Progress(made=1, waiting=0, given_up=0)


async def test_an_item_that_moves_before_its_vector_is_made_still_gets_one(
    storage, embedder
) -> None:
    organization_id, from_id, to_id, text_id = new_id(), new_id(), new_id(), new_id()
    await storage.write(
        organization_id, store.want, COLLECTION, from_id, new_id(), (embedder.model,)
    )
    held = await _claim(storage, organization_id, embedder.model, new_id())
    await storage.write(organization_id, store.carry, COLLECTION, from_id, to_id, text_id)
    assert await storage.write(organization_id, making.keep, held, [b"\0\0"]) == 0
    claim = await _claim(storage, organization_id, embedder.model, new_id())
    assert [(each.item_id, each.text_id) for each in claim.texts] == [(to_id, text_id)]


async def test_a_worker_that_took_a_text_again_keeps_no_vector_of_what_it_said_before(
    storage, embedder
) -> None:
    organization_id, item_id, worker_id = new_id(), new_id(), new_id()
    want = (store.want, COLLECTION, item_id)
    await storage.write(organization_id, *want, new_id(), (embedder.model,))
    before = await _claim(storage, organization_id, embedder.model, worker_id)
    await storage.write(organization_id, *want, new_id(), (embedder.model,))
    again = await _claim(storage, organization_id, embedder.model, worker_id)
    assert await storage.write(organization_id, making.keep, before, [b"\0\0"]) == 0
    assert await storage.write(organization_id, making.fail, before) == 0
    assert await storage.write(organization_id, making.keep, again, [b"\0\0"]) == 1


async def test_what_was_dropped_is_nobodys_work_and_no_longer_counted(storage, embedder) -> None:
    organization_id, item_id = new_id(), new_id()
    await storage.write(
        organization_id, store.want, COLLECTION, item_id, new_id(), (embedder.model,)
    )
    held = await _claim(storage, organization_id, embedder.model, new_id())
    await storage.write(organization_id, store.drop, COLLECTION, [item_id])
    assert await storage.write(organization_id, making.keep, held, [b"\0\0"]) == 0
    assert not (await _claim(storage, organization_id, embedder.model, new_id())).texts
    assert not await storage.read(organization_id, store.waiting, COLLECTION, [embedder.model])
    done = await storage.read(organization_id, store.progress, COLLECTION, embedder.model)
    assert done == Progress(made=0, waiting=0, given_up=0)


async def _claim(storage: Storage, organization_id, model: str, worker_id) -> making.Claim:
    return await storage.write(
        organization_id,
        making.claim,
        COLLECTION,
        model,
        worker_id,
        lease=timedelta(minutes=1),
        most=100,
    )


def _held(snapshot) -> dict:
    gone = set(snapshot.gone.tolist())
    return {
        item_id: (snapshot.texts[place], snapshot.rows[place].tobytes())
        for place, item_id in enumerate(snapshot.items[: len(snapshot.rows)])
        if place not in gone
    }
