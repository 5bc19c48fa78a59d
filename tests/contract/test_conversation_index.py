"""What leaves a conversation leaves the index with it, and what comes is read once, whoever reads and dies."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from memoranda.conversations.compaction.service import Compactions
from memoranda.conversations.finding import store
from memoranda.conversations.finding.passages import FULL
from memoranda.conversations.models import Conversation, Message
from memoranda.conversations.writing import purge_user
from memoranda.search.document import index_document
from memoranda.storage import Storage, Transaction
from memoranda.storage.signals import CONVERSATION_VECTORS, CONVERSATIONS, own_signal
from memoranda.storage.tables import (
    conversation_marks,
    conversation_segments,
    search_documents,
    search_postings,
    search_terms,
    search_totals,
)
from memoranda.words.errors import Unavailable
from memoranda.words.ids import new_id
from tests.contract.said_house import SaidHouse, new_said_house, user
from tests.contract.test_knowledge_meaning import Thesaurus

LEASE = timedelta(minutes=1)
COUNTS = {
    "segments": select(func.count().label("rows")).select_from(conversation_segments),
    "marks": select(func.count().label("rows")).select_from(conversation_marks),
    **{
        each.name: select(func.count().label("rows")).select_from(each)
        for each in (search_documents, search_postings, search_terms)
    },
    "totals": select(func.sum(search_totals.c.passages).label("rows")),
}


class Choosy(Thesaurus):
    """Refuses a text for what it says, and whatever comes with it."""

    async def embed(self, texts: Sequence[str]) -> Any:
        if any("cursed" in text for text in texts):
            raise Unavailable("I will not read that.", status=400)
        return await super().embed(texts)


@pytest.fixture
async def house(storage: Storage) -> SaidHouse:
    return await new_said_house(storage, Thesaurus("one"))


def _left(tx: Transaction) -> dict[str, int]:
    counted = {name: tx.one(statement) for name, statement in COUNTS.items()}
    return {name: int(row.rows or 0) for name, row in counted.items() if row and row.rows}


async def left(house: SaidHouse) -> dict[str, int]:
    """How many rows the index has of the house, by what they are."""
    return await house.storage.read(house.scope, _left)


async def save(house: SaidHouse, talk: Conversation, *texts: str) -> None:
    """Save a list in the place of what is there."""
    loaded = await house.talks.load(house.tenant.owner, talk.id)
    messages = [user(text) for text in texts]
    await house.talks.save(house.tenant.owner, talk.id, messages, fence=loaded.fence)


async def test_what_a_save_replaces_is_found_no_more_and_what_it_brings_is(
    house: SaidHouse,
) -> None:
    talk = await house.talk("walk one", "walk two", "walk three")
    await save(house, talk, "walk one", "walk four", "walk three")
    answer = await house.ask("walk")
    assert "walk two" not in {each.text for each in answer.results}
    assert answer.waiting > 0
    await house.serve()
    answer = await house.ask("walk")
    assert {each.text for each in answer.results} == {"walk one", "walk four", "walk three"}
    assert (answer.waiting, answer.words_alone) == (0, 0)


async def test_a_shorter_list_leaves_nothing_of_what_it_had_in_the_index(house: SaidHouse) -> None:
    said = [f"walk number{place}" for place in range(FULL + 10)]
    talk = await house.talk(*said)
    lone = await new_said_house(house.storage, Thesaurus("one"), name="Lone")
    await lone.talk(*said[:5])
    await save(house, talk, *said[:5])
    await house.serve()
    assert await left(house) == await left(lone)
    assert await house.found("walk number3") == await lone.found("walk number3")


async def test_a_message_that_a_save_puts_in_between_is_found(house: SaidHouse) -> None:
    talk = await house.talk("walk one", "walk two", "walk three")
    await save(house, talk, "walk one", "walk three")
    await house.serve()
    await save(house, talk, "walk one", "walk again", "walk three")
    await house.serve()
    assert await house.texts("walk") == {"walk one", "walk again", "walk three"}


async def test_a_cleared_conversation_leaves_no_row_in_the_index(house: SaidHouse) -> None:
    talk = await house.talk(*(f"walk number{place}" for place in range(FULL + 10)))
    await house.say(talk, "and one that waits")
    await house.talks.clear(house.tenant.owner, talk.id)
    assert await left(house) == {}
    answer = await house.ask("walk")
    assert (answer.results, answer.waiting) == ([], 0)
    await house.say(talk, "walk anew")
    await house.serve()
    assert await house.texts("walk") == {"walk anew"}


async def test_a_purged_conversation_leaves_no_row_and_others_are_found_as_ever(
    house: SaidHouse,
) -> None:
    kept = await house.talk("walk here", "ship there")
    before, rows = await house.found("walk ship"), await left(house)
    gone = await house.talk("walk there", "ship here", "zeppelin")
    # What left it before, and waits to be cleared, goes with it.
    await save(house, gone, "walk there")
    await house.talks.resets.purge(house.tenant.owner, gone.id)
    assert await left(house) == rows
    assert await house.found("walk ship") == before
    assert {each.conversation_id for each in (await house.ask("walk")).results} == {kept.id}


async def test_of_a_very_long_conversation_the_last_rows_go_in_steps_and_no_search_finds_them(
    house: SaidHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "CLEARED_AT_ONCE", 1)
    monkeypatch.setattr(store, "CLEARED", 20)
    owner, said = house.tenant.owner, [f"walk number{place}" for place in range(3 * FULL)]
    talk = await house.talk(*said)
    await house.talks.clear(owner, talk.id)
    assert (await left(house))["search_postings"] > 0
    assert (await house.ask("walk number7")).results == []
    await house.read()
    assert await left(house) == {}
    gone = await house.talk(*said)
    await house.talks.resets.purge(owner, gone.id)
    assert await left(house) == {}


async def test_a_reset_takes_the_workflows_conversations_out_of_the_index(house: SaidHouse) -> None:
    owner = house.tenant.owner
    talk = await house.talks.create(owner, workflow_id="orders")
    await house.say(talk, "walk one")
    await house.serve()
    await house.talks.resets.reset(owner, "orders")
    assert await left(house) == {}


async def test_what_a_worker_reads_while_it_is_taken_out_is_not_written(house: SaidHouse) -> None:
    talk = await house.say(await house.begin(), "walk one", "walk two")
    work = await house.storage.write(house.scope, store.claim, new_id(), LEASE)
    assert work is not None
    piece = await house.storage.read(house.scope, store.next_piece, talk.id)
    assert piece is not None
    await house.talks.clear(house.tenant.owner, talk.id)
    indexed = index_document(piece.segment.passages)
    assert not await house.storage.write(house.scope, store.put, work, piece, indexed, LEASE)
    assert await left(house) == {}


async def test_what_is_said_while_a_worker_reads_is_not_forgotten(house: SaidHouse) -> None:
    talk = await house.say(await house.begin(), "walk one")
    work = await house.storage.write(house.scope, store.claim, new_id(), LEASE)
    assert work is not None
    await house.say(talk, "walk two")
    await house.storage.write(house.scope, store.finish, work)
    await house.serve()
    assert await house.texts("walk") == {"walk one", "walk two"}
    assert "marks" not in await left(house)


async def test_a_conversation_is_one_workers_at_a_time_until_its_lease_ends(
    timed_storage: Storage, clock: Any
) -> None:
    house = await new_said_house(timed_storage)
    await house.say(await house.begin(), "walk one")
    held = await house.storage.write(house.scope, store.claim, new_id(), LEASE)
    assert held is not None
    assert await house.storage.write(house.scope, store.claim, new_id(), LEASE) is None
    assert await house.indexing.waiting(house.scope)
    clock.tick(timedelta(minutes=2))
    assert await house.read() == 1
    # The one that comes back too late changes nothing.
    await house.storage.write(house.scope, store.finish, held)
    assert await house.texts("walk") == {"walk one"}


async def test_every_append_raises_the_signal_and_a_worker_that_is_done_waits_for_nothing(
    house: SaidHouse,
) -> None:
    talk = await house.say(await house.begin(), "walk one")
    assert await house.storage.read(house.scope, own_signal, CONVERSATIONS) is not None
    await house.read()
    assert not await house.indexing.waiting(house.scope)
    assert await house.storage.read(house.scope, own_signal, CONVERSATION_VECTORS) is not None
    assert await house.embedding.waiting(house.scope)
    await house.embed()
    assert not await house.embedding.waiting(house.scope)
    await house.say(talk, Message(role="assistant", content=[]))
    await house.serve()
    assert not await house.indexing.waiting(house.scope)
    assert (await house.ask("walk")).waiting == 0


async def test_an_append_is_embedded_alone_and_not_what_came_before(house: SaidHouse) -> None:
    embedder = Thesaurus("one")
    house.use(house.embedders and type(house.embedders)(embedder))
    talk = await house.talk("walk one", "walk two")
    await house.say(talk, "walk three")
    await house.serve()
    assert embedder.asked == [["walk one", "walk two"], ["walk three"]]


async def test_only_the_vectors_of_the_model_that_is_set_are_compared(house: SaidHouse) -> None:
    await house.talk("My automobile broke down", "The dog ran")
    assert house.embedders is not None
    house.use(type(house.embedders)(Thesaurus("two"), (house.embedders.live,)))
    # Until a worker comes, the model before still answers.
    assert (await house.ask("car")).model == "one"
    assert await house.embed(most=1) == 1
    answer = await house.ask("car")
    assert (answer.results, answer.model, answer.words_alone) == ([], "two", 2)
    assert (await house.found("automobile"))[0][0] == "My automobile broke down"
    await house.embed()
    answer = await house.ask("car")
    assert answer.results[0].text == "My automobile broke down"
    assert (answer.model, answer.words_alone) == ("two", 0)


async def test_words_answer_where_the_serving_model_has_no_embedder_here(house: SaidHouse) -> None:
    await house.talk("My automobile broke down")
    house.use(None)
    answer = await house.ask("automobile")
    assert (len(answer.results), answer.semantic) == (1, False)


async def test_a_text_that_can_not_be_embedded_is_found_by_its_words_in_the_end(
    timed_storage: Storage, clock: Any
) -> None:
    house = await new_said_house(timed_storage, Choosy("one"))
    talk = await house.say(await house.begin(), "A cursed walk", "My automobile")
    for _ in range(3):
        await house.serve()
        clock.tick(timedelta(hours=1))
    assert not await house.embedding.waiting(house.scope)
    assert await house.texts("car") == {"My automobile"}
    assert "A cursed walk" in await house.texts("cursed walk")
    await house.say(talk, "My ship")
    await house.serve()
    assert "My ship" in await house.texts("boat")


async def test_an_embedder_that_is_away_is_no_failed_try(house: SaidHouse) -> None:
    assert house.embedders is not None
    embedder: Any = house.embedders.live
    embedder.failure = Unavailable("away", reason="ConnectError")
    await house.say(await house.begin(), "My automobile")
    await house.read()
    await house.embed(most=5)
    assert await house.embedding.waiting(house.scope)
    answer = await house.ask("automobile")
    assert (len(answer.results), answer.semantic) == (1, False)
    embedder.failure = None
    house.use(house.embedders)
    await house.embed()
    assert await house.texts("car") == {"My automobile"}


async def test_a_worker_looks_at_its_beginning_for_what_nobody_told_it_of(house: SaidHouse) -> None:
    await house.say(await house.begin(), "walk one")
    assert await house.search.take_up(house.scope) == 1
    await house.serve()
    assert await house.search.take_up(house.scope) == 0


async def test_what_was_compacted_goes_on_being_found_until_it_is_cleared(house: SaidHouse) -> None:
    owner = house.tenant.owner
    long = "It was a long day. " * 40
    turns = [
        message
        for place in range(6)
        for message in (
            user(f"Where is harbor{place}? {long}"),
            Message(role="assistant", content=f"At pier{place}. {long}"),
        )
    ]
    talk = await house.say(await house.begin(), *turns[:8])
    await house.serve()
    # What no worker has read before it is compacted is found all the same.
    await house.say(talk, *turns[8:])
    done = await Compactions(house.storage).compact(owner, talk.id)
    assert done.status == "activated"
    assert (await house.talks.get(owner, talk.id)).length < len(turns)
    assert (await house.ask("harbor0")).waiting == 4
    await house.serve()
    for place in range(5):
        found = (await house.ask(f"harbor{place} pier{place}", limit=2)).results
        assert {(each.position, each.compacted) for each in found} == {
            (2 * place + 1, True),
            (2 * place + 2, True),
        }
    latest = (await house.ask("harbor5")).results[0]
    assert (latest.position, latest.compacted) == (11, False)
    everything = await house.ask("harbor0 harbor1 harbor2 summary earlier", limit=100)
    assert not any("Summary" in each.text for each in everything.results)
    assert (everything.waiting, everything.words_alone) == (0, 0)
    await house.talks.clear(owner, talk.id)
    assert await left(house) == {}


async def test_an_erased_users_words_leave_the_index(house: SaidHouse) -> None:
    acme = house.tenant
    kept = await house.talk("walk by ben", by=acme.ben)
    rows = await left(house)
    await house.talk("walk by anna", by=acme.anna)
    await house.storage.write(house.scope, purge_user, acme.anna.id)
    assert await left(house) == rows
    assert {each.conversation_id for each in (await house.ask("walk")).results} == {kept.id}
