"""A switch of the documents' model: the old one serves in full until one change of one row, whatever happens."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

from memoranda.knowledge.active import store as active
from memoranda.knowledge.embedding import making
from memoranda.knowledge.embedding import store as work
from memoranda.knowledge.embedding.service import DocumentEmbedding
from memoranda.knowledge.errors import UnknownModel
from memoranda.knowledge.readiness import store as readiness
from memoranda.search.vectors.asking import TRIES
from memoranda.storage import PLATFORM, Storage, Transaction
from memoranda.storage.signals import KNOWLEDGE_VECTORS, signals
from memoranda.words.errors import ReadOnly, Refused, Unavailable
from tests.contract.document_house import (
    DocumentHouse,
    embedders,
    new_document_house,
    platform_of,
    words,
)
from tests.contract.embedding_house import Clock
from tests.contract.switching_load import Load
from tests.contract.tenants import new_tenant
from tests.contract.test_model_switch import Killed, Mortal
from tests.search.synonyms import Synonyms

REFUSED = Unavailable("The endpoint answered 400.", status=400)
AWAY = Unavailable("The endpoint could not be reached.", reason="ConnectError")


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
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "BATCH", 4)
    monkeypatch.setattr(readiness, "AT_ONCE", 25)


async def filled(storage: Storage, documents: int, parts: int = 3) -> DocumentHouse:
    house = await new_document_house(storage, Synonyms("old"), Synonyms("new", 48))
    await house.take_in(*(words(number, parts) for number in range(documents)))
    assert await house.vectors() == {"old": documents * parts}
    return house


async def refusing(house: DocumentHouse, model: str, word: str, why: Exception) -> None:
    """Let an embedder fail for every text with the word."""
    assert house.embedders is not None
    embedder: Any = house.embedders.of(model)
    embed = embedder.embed

    async def refuse(texts: Any) -> Any:
        if any(word in text for text in texts):
            raise why
        return await embed(texts)

    embedder.embed = refuse


@pytest.mark.parametrize("seed", range(2))
async def test_a_switch_under_load_that_is_killed_five_times_is_never_empty_mixed_or_failing(
    storage, clock, seed
) -> None:
    house = await filled(storage, 30, 10)
    load = Load(house, [*range(1, 30)], 10, ("old", "new"))
    gone = (await house.knowledge.page(house.who, limit=100)).items[-1]
    chance = random.Random(seed)
    async with load.running():
        await house.switch("new")
        for life in range(5):
            await killed_once(house, chance, clock)
            if life == 1:
                await house.take_in(words(77, 10))
            if life == 2:
                await house.knowledge.remove(house.who, gone.id)
        await house.serve()
        await asyncio.sleep(0.05)
    assert {models[-1] for models in load.seen} == {"new"}
    assert load.searches > 50
    assert (await house.settings())[:2] == ("new", None)
    assert await house.vectors() == {"new": 300}
    assert await house.rows() == [("new", "ready")] * 30
    added = await house.knowledge.search(house.who, "zzstone77x3")
    assert "document77 part3 " in added.results[0].text


async def killed_once(house: DocumentHouse, chance: random.Random, clock: Clock) -> None:
    """A worker that is stopped in the middle of a step, or whose process ends before or after a commit."""
    if chance.random() < 0.5:
        worker = asyncio.create_task(house.serve())
        await asyncio.sleep(chance.random() * 0.2)
        worker.cancel()
        with suppress(asyncio.CancelledError):
            await worker
        return
    mortal: Any = Mortal(house.storage, at=chance.randint(1, 60), after=chance.random() < 0.5)
    doomed = DocumentEmbedding(mortal, house.embedders, rest_s=0)
    with suppress(Killed):
        while await doomed.serve(house.scope, house.worker_id):
            pass
    clock.passes(minutes=4)


async def test_killed_at_each_step_in_turn_a_switch_goes_on_and_its_end_is_the_same(
    storage, clock
) -> None:
    house = await filled(storage, 4)
    load = Load(house, [0, 1, 2, 3], 3, ("old", "new"))
    chance, model = random.Random(1), "old"
    for there in ("new", "old"):
        await house.switch(there)
        load.models = (model, there)
        for step in range(1, 400):
            mortal: Any = Mortal(storage, at=1 + step % 9, after=step % 2 == 0)
            doomed = DocumentEmbedding(mortal, house.embedders, rest_s=0)
            try:
                while await doomed.serve(house.scope, house.worker_id):
                    pass
                break
            except Killed:
                clock.passes(minutes=4)
            assert await load.ask(chance) in {model, there}
        assert step > 5
        await house.serve()
        assert await load.ask(chance) == there
        assert await house.vectors() == {there: 12}
        model = there


async def test_the_flip_changes_one_row_once_and_nothing_else(storage, monkeypatch) -> None:
    house = await filled(storage, 3)
    await house.switch("new")
    written: list[tuple[str, int]] = []
    flip, run = work.flip, Transaction.run

    def counted(self: Transaction, statement: Any, /, **values: Any) -> int:
        rows = run(self, statement, **values)
        written.append((statement.table.name, rows))
        return rows

    def watched(tx: Transaction, to: str) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(Transaction, "run", counted)
            flip(tx, to)

    monkeypatch.setattr(work, "flip", watched)
    await house.serve()
    assert written == [("knowledge_settings", 1)]
    assert (await house.settings())[:2] == ("new", None)


async def test_a_document_added_meanwhile_is_embedded_under_both_models_before_it_opens(
    storage,
) -> None:
    house = await filled(storage, 2)
    await house.switch("new")
    [source] = await house.take_in(words(7))
    assert source.status == "ready"
    assert await house.vectors() == {"old": 9, "new": 3}
    assert await Load(house, [7], 3, ("old",)).ask(random.Random(1)) == "old"
    await house.serve()
    assert await Load(house, [0, 1, 7], 3, ("new",)).ask(random.Random(1)) == "new"


async def test_a_document_that_was_being_embedded_when_the_switch_began_gets_the_new_model_too(
    storage,
) -> None:
    house = await filled(storage, 2)
    old: Any = house.embedders.of("old")
    old.gate = asyncio.Event()
    await house.add(words(7))
    while not old.calls.empty():
        old.calls.get_nowait()
    task = asyncio.create_task(house.take_in_one())
    async with asyncio.timeout(30):
        await old.calls.get()
    await house.switch("new")
    await house.serve()  # nothing that is ready lacks the new model: it serves
    assert (await house.settings())[:2] == ("new", None)
    old.gate.set()
    await task
    assert await Load(house, [7], 3, ("new",)).ask(random.Random(1)) == "new"
    await house.serve()
    assert await house.vectors() == {"new": 9}


async def test_a_query_embedded_for_a_model_that_is_gone_by_then_is_embedded_for_the_one_that_serves(
    storage,
) -> None:
    house = await filled(storage, 3)
    old: Any = house.embedders.of("old")
    embed, asked = old.embed, []

    async def meanwhile(texts: Any) -> Any:
        rows = await embed(texts)
        if not asked:
            asked.append(texts)
            await house.switch("new")
            await house.serve()  # the old vectors are gone before they are asked for
        return rows

    old.embed = meanwhile
    assert await Load(house, [1], 3, ("new",)).ask(random.Random(1)) == "new"
    assert len(asked) == 1
    assert await house.vectors() == {"new": 9}


async def test_where_the_model_is_another_each_time_words_alone_answer_and_say_so(storage) -> None:
    models = ["old", "new", "third"]
    house = await new_document_house(storage, *(Synonyms(each) for each in models))
    await house.take_in(words(1))
    flips = 0

    def moving(embedder: Any, to: str) -> None:
        embed = embedder.embed

        async def then_another_serves(texts: Any) -> Any:
            nonlocal flips
            rows = await embed(texts)
            flips += 1
            await storage.write(house.scope, active.choose, to, None)
            return rows

        embedder.embed = then_another_serves

    for model, following in zip(models, [*models[1:], "old"], strict=True):
        moving(house.embedders.of(model), following)
    answer = await house.knowledge.search(house.who, "stone1x2")
    assert flips == TRIES == len(models)
    assert (answer.semantic, answer.model) == (False, None)
    assert [result.text.split()[2] for result in answer.results][:1] == ["part2"]


async def test_a_document_that_the_new_model_refuses_blocks_the_flip_and_is_named(storage) -> None:
    house = await filled(storage, 3)
    await refusing(house, "new", "document1 part2", REFUSED)
    await house.switch("new")
    await house.serve()
    status = await house.knowledge.model(house.who)
    assert (status.active, status.next, status.forced) == ("old", "new", False)
    assert (status.sources, status.ready, status.failed, status.waiting) == (3, 2, 1, 0)
    [failure] = status.failures
    assert (
        failure.reason == "The embedder of new could not read chunk 3. The endpoint answered 400."
    )
    assert failure.title == "a.txt"
    assert not await house.embedding.waiting(house.scope)
    assert await Load(house, [0, 1, 2], 3, ("old",)).ask(random.Random(1)) == "old"


async def test_a_forced_switch_flips_and_what_failed_is_found_by_its_words(storage) -> None:
    house = await filled(storage, 3)
    await refusing(house, "new", "document1 part2", REFUSED)
    await house.switch("new")
    await house.serve()
    await house.switch("new", force=True)
    await house.serve()
    status = await house.knowledge.model(house.who)
    assert (status.active, status.next, status.ready, status.failed) == ("new", None, 2, 1)
    assert await Load(house, [0, 2], 3, ("new",)).ask(random.Random(1)) == "new"
    by_words = await house.knowledge.search(house.who, "stone1x2")
    assert "document1 part2 " in by_words.results[0].text
    assert set(await house.vectors()) == {"new"}


async def test_the_verb_again_lets_failed_documents_be_tried_again(storage) -> None:
    house = await filled(storage, 3)
    new: Any = house.embedders.of("new")
    embed = new.embed
    await refusing(house, "new", "document1", REFUSED)
    await house.switch("new")
    await house.serve()
    new.embed = embed
    await house.serve()
    assert (await house.knowledge.model(house.who)).failed == 1
    await house.switch("new")
    await house.serve()
    assert (await house.settings())[:2] == ("new", None)


async def test_while_the_new_embedder_is_away_documents_come_in_and_the_old_one_serves(
    storage, clock
) -> None:
    house = await filled(storage, 2)
    await refusing(house, "new", "", AWAY)
    await house.switch("new")
    await house.embedding.serve(house.scope, house.worker_id)
    [source] = await house.take_in(words(7))
    assert source.status == "ready"
    status = await house.knowledge.model(house.who)
    assert (status.active, status.waiting, status.failed) == ("old", 3, 0)
    assert status.waits_for == "The embedder of new is away. The endpoint could not be reached."
    assert await house.embedding.waiting(house.scope)
    assert await Load(house, [0, 1, 7], 3, ("old",)).ask(random.Random(1)) == "old"


async def test_a_cancelled_switch_leaves_the_old_model_and_nothing_of_the_new_one(storage) -> None:
    house = await filled(storage, 3)
    await house.switch("new")
    await house.embedding.serve(house.scope, house.worker_id)
    assert "new" in await house.vectors()
    await house.knowledge.cancel_switch(house.who)
    await house.knowledge.cancel_switch(house.who)
    await house.serve()
    assert (await house.settings())[:2] == ("old", None)
    assert await house.vectors() == {"old": 9}
    assert await house.rows() == [("old", "ready")] * 3


async def test_words_alone_can_be_chosen_at_once_and_stay_chosen(storage) -> None:
    house = await filled(storage, 3)
    await house.switch("none")
    answer = await house.knowledge.search(house.who, "stone1x2")
    assert (answer.semantic, answer.model) == (False, None)
    assert answer.results
    await house.serve()
    assert await house.vectors() == {}
    await house.take_in(words(7))
    assert await house.embedding.take_up(house.scope) == 0
    assert await house.serve() == 0
    assert await house.rows() == []
    await house.switch("new")
    await house.serve()
    assert await Load(house, [0, 7], 3, ("new",)).ask(random.Random(1)) == "new"


async def test_a_scope_without_documents_switches_at_once(storage) -> None:
    house = await new_document_house(storage, Synonyms("old"), Synonyms("new", 48))
    await house.switch("new")
    assert (await house.settings())[:2] == ("new", None)
    await house.take_in(words(1))
    assert await house.vectors() == {"new": 3}


async def test_an_unknown_model_is_refused_with_those_at_hand(storage) -> None:
    house = await filled(storage, 1)
    with pytest.raises(UnknownModel) as refused:
        await house.switch("newer")
    assert "old, new, none" in refused.value.message
    assert refused.value.details["models"] == ["old", "new", "none"]
    assert (await house.settings())[:2] == ("old", None)


async def test_only_an_owner_switches_its_organization_and_only_the_operator_the_platform(
    storage,
) -> None:
    tenant = await new_tenant(storage)
    house = DocumentHouse(storage, tenant.owner, embedders(Synonyms("old")))
    for who, wrong in (
        (tenant.member(tenant.anna), Refused),
        (tenant.key_of(tenant.scout), Refused),
        (tenant.reader, ReadOnly),
    ):
        with pytest.raises(wrong):
            await house.knowledge.switch_model(who, "old")
        with pytest.raises(wrong):
            await house.knowledge.cancel_switch(who)
        assert (await house.knowledge.model(who)).active is None
    for verb in (house.knowledge.model, house.knowledge.cancel_switch):
        with pytest.raises(Refused):
            await verb(tenant.owner, platform=True)
    with pytest.raises(Refused):
        await house.knowledge.switch_model(tenant.owner, "old", platform=True)


async def test_two_organizations_and_the_platform_switch_each_for_itself(storage) -> None:
    one, other = await filled(storage, 3), await filled(storage, 3)
    platform = platform_of(one)
    await platform.take_in(*(words(number) for number in range(3)))
    await one.switch("new")
    await one.serve()
    await platform.switch("new")
    raised = await storage.read(PLATFORM, signals, KNOWLEDGE_VECTORS)
    assert {PLATFORM, one.scope} <= {each.scope for each in raised}
    found = [await house.vectors() for house in (one, other, platform)]
    assert found == [{"new": 9}, {"old": 9}, {"old": 9}]
    await platform.serve()
    found = [await house.vectors() for house in (one, other, platform)]
    assert found == [{"new": 9}, {"old": 9}, {"new": 9}]
    chance = random.Random(1)
    assert await Load(one, [0, 1, 2], 3, ("new",)).ask(chance) == "new"
    assert await Load(other, [0, 1, 2], 3, ("old",)).ask(chance) == "old"
    assert await Load(platform, [0, 1, 2], 3, ("new",)).ask(chance) == "new"


async def test_a_document_renewed_or_removed_while_it_is_embedded_again_is_lost_to_the_worker(
    storage,
) -> None:
    house = await filled(storage, 1, 8)
    [source] = (await house.knowledge.page(house.who)).items
    renewed = await house.add(words(5, 8), "k")
    await house.take_in()
    new: Any = house.embedders.of("new")
    for change in ("renew", "remove"):
        await house.switch("new")
        new.gate = asyncio.Event()
        while not new.calls.empty():
            new.calls.get_nowait()
        worker = asyncio.create_task(house.serve())
        async with asyncio.timeout(30):
            await new.calls.get()
        if change == "renew":
            await house.add(words(6, 8), "k")
        else:
            await house.knowledge.remove(house.who, source.id)
        new.gate.set()
        await worker
        await house.take_in()
        await house.serve()
        assert (await house.settings())[:2] == ("new", None)
        await house.switch("old")
        await house.serve()
    assert await house.vectors() == {"old": 8}
    assert (await house.get(renewed.id)).status == "ready"
    assert await Load(house, [6], 8, ("old",)).ask(random.Random(1)) == "old"
