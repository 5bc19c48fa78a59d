"""A document is embedded before it opens, under the model that serves; killed or kept waiting, it goes on."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from memoranda import Memoranda
from memoranda.access.models import LOCAL_OPERATOR
from memoranda.knowledge.embedding import making
from memoranda.settings import Settings
from memoranda.storage import Storage
from memoranda.words.errors import Unavailable
from tests.contract.document_house import (
    DocumentHouse,
    embedders,
    new_document_house,
    platform_of,
    words,
)
from tests.contract.embedding_house import Clock
from tests.search.made_up_embedder import MadeUp

AWAY = Unavailable("The endpoint could not be reached.", reason="ConnectError")
REFUSED = Unavailable("The endpoint answered 400.", status=400)


class Killed(BaseException):
    """What no code of the product catches: as if the process had ended."""


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


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "BATCH", 2)


async def test_without_an_embedder_documents_are_found_by_words_and_leave_no_other_row(
    storage,
) -> None:
    house = await new_document_house(storage)
    [source] = await house.take_in(words(1))
    assert source.status == "ready"
    answer = await house.knowledge.search(house.who, "document1")
    assert (answer.semantic, answer.model) == (False, None)
    assert answer.results
    assert await house.settings() is None
    assert await house.rows() == []
    assert await house.serve() == 0


async def test_the_first_document_takes_the_configured_model_and_is_found_by_it(storage) -> None:
    house = await new_document_house(storage, MadeUp("old"), MadeUp("new"))
    [source] = await house.take_in(words(1))
    assert (source.status, source.chunks) == ("ready", 3)
    assert await house.vectors() == {"old": 3}
    answer = await house.knowledge.search(house.who, "stone1x2")
    assert (answer.semantic, answer.model) == (True, "old")
    status = await house.knowledge.model(house.who)
    assert (status.active, status.next) == ("old", None)
    assert (status.sources, status.ready, status.chunks, status.embedded) == (1, 1, 3, 3)
    assert status.at_hand == ["old", "new"]


async def test_a_document_that_is_killed_while_it_is_embedded_takes_up_the_vectors_it_has(
    storage, clock
) -> None:
    model = MadeUp("old")
    house = await new_document_house(storage, model)
    source = await house.add(words(1, 12))

    async def dies_at(call: int) -> None:
        calls = 0
        embed = model.embed

        async def counted(texts):
            nonlocal calls
            calls += 1
            if calls == call:
                raise Killed
            return await embed(texts)

        model.embed = counted
        with pytest.raises(Killed):
            await house.take_in_one()
        model.embed = embed
        clock.passes(minutes=2)

    await dies_at(3)
    assert await house.vectors() == {"old": 4}
    answer = await house.knowledge.search(house.who, "harbor")
    assert answer.results == []
    await dies_at(3)
    assert await house.vectors() == {"old": 8}
    await house.take_in_one()
    assert (await house.get(source.id)).status == "ready"
    assert await house.vectors() == {"old": 12}
    embedded = [text for text in model.texts if "harbor" in text and len(text) > 20]
    assert len(embedded) == len(set(embedded)) == 12


async def test_other_bytes_begin_anew_and_nothing_of_the_earlier_ones_is_left(
    storage, clock
) -> None:
    model = MadeUp("old")
    house = await new_document_house(storage, model)
    source = await house.add(words(1, 12), "k")
    model.failure = Killed()
    with pytest.raises(Killed):
        await house.take_in_one()
    model.failure = None
    clock.passes(minutes=2)
    await house.take_in()
    again = await house.add(words(2, 5), "k")
    assert again.id == source.id
    await house.take_in()
    assert await house.vectors() == {"old": 5}
    found = await house.knowledge.search(house.who, "stone1x3")
    assert all("document2" in result.text for result in found.results)
    await house.knowledge.remove(house.who, source.id)
    assert await house.vectors() == {}
    assert await house.rows() == []


async def test_while_the_embedder_is_away_a_document_waits_and_says_for_what(
    storage, clock
) -> None:
    model = MadeUp("old")
    house = await new_document_house(storage, model)
    source = await house.add(words(1))
    model.failure = AWAY
    for _ in range(5):
        await house.take_in_one()
        clock.passes(minutes=2)
    waiting = await house.get(source.id)
    assert (waiting.status, waiting.attempts) == ("pending", 0)
    assert waiting.progress is not None
    assert waiting.progress.step == "waiting"
    assert waiting.progress.waits_for == (
        "The embedder of old is away. The endpoint could not be reached."
    )
    assert waiting in (await house.knowledge.page(house.who)).items
    model.failure = None
    await house.take_in_one()
    assert (await house.get(source.id)).status == "ready"


async def test_after_an_hour_a_document_fails_for_its_embedder_by_name_and_can_be_tried_again(
    storage, clock
) -> None:
    model = MadeUp("old")
    house = await new_document_house(storage, model)
    source = await house.add(words(1))
    model.failure = AWAY
    await house.take_in_one()
    clock.passes(minutes=61)
    assert await house.knowledge.give_up_overdue(house.scope, house.worker_id)
    failed = await house.get(source.id)
    assert failed.status == "failed"
    assert failed.reason is not None
    assert "embedder of old is away" in failed.reason
    assert "The endpoint could not be reached" in failed.reason
    model.failure = None
    await house.knowledge.retry(house.who, source.id)
    await house.take_in_one()
    assert (await house.get(source.id)).status == "ready"


async def test_an_embedder_that_is_away_is_asked_for_one_word_before_the_next_document_is_read(
    storage, clock
) -> None:
    model = MadeUp("old")
    house = await new_document_house(storage, model)
    for number in range(3):
        await house.add(words(number))
    model.failure = AWAY
    for _ in range(3):
        await house.take_in_one()
    assert [len(texts) for texts in model.asked] == [2, 1, 1]


async def test_a_document_that_the_embedder_refuses_fails_with_the_chunk_and_the_reason(
    storage,
) -> None:
    model = MadeUp("old")
    house = await new_document_house(storage, model)
    embed = model.embed

    async def refusing(texts):
        if any("stone1x2" in text for text in texts):
            raise REFUSED
        return await embed(texts)

    model.embed = refusing
    bad, good = await house.take_in(words(1), words(2))
    assert (bad.status, good.status) == ("failed", "ready")
    assert bad.reason == ("The embedder of old could not read chunk 3. The endpoint answered 400.")
    answer = await house.knowledge.search(house.who, "document1")
    assert all("document2" in result.text for result in answer.results)


async def test_what_breaks_an_embedder_without_a_word_is_tried_three_times(storage, clock) -> None:
    model = MadeUp("old")
    house = await new_document_house(storage, model)
    source = await house.add(words(1))
    model.failure = RuntimeError("secret")
    for _ in range(3):
        await house.take_in_one()
        clock.passes(minutes=10)
    failed = await house.get(source.id)
    assert (failed.status, failed.attempts) == ("failed", 3)
    assert failed.reason is not None
    assert "RuntimeError" in failed.reason
    assert "secret" not in failed.reason


async def test_progress_tells_the_step_and_how_many_vectors_are_made(storage) -> None:
    model = MadeUp("old")
    house = await new_document_house(storage, model)
    source = await house.add(words(1, 6))
    before = await house.get(source.id)
    assert before.progress is not None
    assert (before.progress.step, before.progress.of) == ("waiting", 0)
    model.gate = asyncio.Event()
    task = asyncio.create_task(house.take_in_one())
    seen = []
    for _ in range(3):
        async with asyncio.timeout(30):
            await model.calls.get()
        now = (await house.get(source.id)).progress
        assert now is not None
        seen.append((now.step, now.done, now.of))
        model.gate.set()
        model.gate = asyncio.Event()
    model.gate.set()
    await task
    assert seen == [("embedding", 0, 6), ("embedding", 2, 6), ("embedding", 4, 6)]
    assert (await house.get(source.id)).progress is None


async def test_documents_from_before_there_was_an_embedder_are_found_by_words_until_all_are_embedded(
    storage,
) -> None:
    house = await new_document_house(storage)
    await house.take_in(*(words(number) for number in range(4)))
    model = MadeUp("old")
    house.use(embedders(model))
    embed = model.embed

    async def refusing(texts):
        if any("document3" in text for text in texts):
            raise REFUSED
        answer = await house.knowledge.search(house.who, "document1")
        assert (answer.semantic, answer.model) == (False, None)
        assert len(answer.results) == 3
        return await embed(texts)

    model.embed = refusing
    assert await house.embedding.take_up(house.scope) == 1
    await house.serve()
    model.embed = embed
    status = await house.knowledge.model(house.who)
    # What the model refuses does not keep the others from being found by meaning.
    assert (status.active, status.next, status.ready, status.failed) == ("old", None, 3, 1)
    [failure] = status.failures
    assert "chunk 1" in failure.reason
    assert (await house.knowledge.search(house.who, "document1")).model == "old"
    assert (await house.knowledge.search(house.who, "document3")).results
    assert await house.embedding.take_up(house.scope) == 0


async def test_a_worker_that_starts_takes_up_the_documents_of_organizations_and_of_the_platform(
    database_url,
) -> None:
    without, bundled = Settings.load(embedder="none"), Settings.load(embedder="bundled")
    async with Memoranda.open(database_url, settings=without, migrate=False) as memoranda:
        for who, platform in ((memoranda.owner, False), (LOCAL_OPERATOR, True)):
            content = b"The harbor has a lighthouse."
            await memoranda.knowledge.add(who, content, title="a.txt", platform=platform)
        await memoranda.worker.drain()
    async with Memoranda.open(database_url, settings=bundled, migrate=False) as memoranda:
        asked = {"include_platform": True}
        before = await memoranda.knowledge.search(memoranda.owner, "harbor", **asked)
        assert (before.semantic, len(before.results)) == (False, 2)
        await memoranda.worker.drain()
        after = await memoranda.knowledge.search(memoranda.owner, "where ships see light", **asked)
        assert (after.semantic, len(after.results)) == (True, 2)
        for who, platform in ((memoranda.owner, False), (LOCAL_OPERATOR, True)):
            status = await memoranda.knowledge.model(who, platform=platform)
            assert (status.active, status.next, status.ready) == (after.model, None, 1)


async def test_what_came_in_while_there_was_no_embedder_is_embedded_once_there_is_one_again(
    storage,
) -> None:
    house = await new_document_house(storage, MadeUp("old"))
    [first] = await house.take_in(words(1))
    renewed = await house.add(words(4), "k")
    await house.take_in()
    house.use(None)
    await house.take_in(words(2))
    await house.add(words(3), "k")
    await house.take_in()
    assert (await house.get(renewed.id)).status == "ready"
    house.use(embedders(MadeUp("old")))
    # The vectors of the version before are nobody's any more.
    assert (await house.knowledge.model(house.who)).ready == 1
    _, _, before = await house.settings()
    assert await house.embedding.take_up(house.scope) == 1
    await house.serve()
    assert await house.vectors() == {"old": 9}
    assert (await house.settings())[2] >= before + 2
    assert first.status == "ready"


async def test_two_organizations_and_the_platform_have_each_its_own_model(storage) -> None:
    one = await new_document_house(storage, MadeUp("old"), MadeUp("new"))
    other = await new_document_house(storage, MadeUp("new"), MadeUp("old"))
    platform = platform_of(one)
    for house in (one, other, platform):
        await house.take_in(words(1))
    await platform.switch("new")
    await platform.serve()
    assert [await house.vectors() for house in (one, other, platform)] == [
        {"old": 3},
        {"new": 3},
        {"new": 3},
    ]
    both = await one.knowledge.search(one.who, "stone1x1", include_platform=True)
    assert both.model == "old, new"
    ids = {result.source_id for result in both.results}
    theirs = (await other.knowledge.page(other.who)).items[0].id
    assert theirs not in ids
    assert len(ids) == 2
    alone = await other.knowledge.search(other.who, "stone1x1")
    assert {result.source_id for result in alone.results} == {theirs}


async def test_changes_grow_with_whatever_changes_what_is_found_and_with_nothing_else(
    storage,
) -> None:
    house: DocumentHouse = await new_document_house(storage, MadeUp("old"), MadeUp("new"))

    async def changes() -> int:
        settings = await house.settings()
        assert settings is not None
        return settings[2]

    [source] = await house.take_in(words(1))
    seen = [await changes()]
    waiting = await house.add(words(2), "k")
    assert await changes() == seen[-1]
    await house.take_in()
    seen.append(await changes())
    await house.add(words(3), "k")
    seen.append(await changes())
    await house.take_in()
    seen.append(await changes())
    await house.knowledge.describe(house.who, waiting.id, summary="about stones")
    assert await changes() == seen[-1]
    await house.knowledge.remove(house.who, source.id)
    seen.append(await changes())
    await house.switch("new")
    begun = await changes()
    await house.embedding.serve(house.scope, house.worker_id)
    assert await changes() == begun
    await house.serve()
    seen.append(await changes())
    assert seen == sorted(set(seen))
