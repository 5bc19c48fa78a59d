"""Meaning is looked for beside words, on a thread of its own, and both answer of one moment."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from memoranda.knowledge import hits, store
from memoranda.knowledge.hits import _CHUNKS
from memoranda.search import store as index
from memoranda.search.fusion import Meaning
from memoranda.search.terms import read_query
from memoranda.storage import Storage, Transaction
from tests.contract.document_house import new_document_house
from tests.contract.test_knowledge_meaning import TURNS, Thesaurus, add_talk

PATIENCE_S = 20


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hits, "MANY", 0)


def before_the_aside(patch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    """Let something happen between the moments that the two see; of the owner's thread nothing changes."""
    owner: list[int] = []
    version = type(_CHUNKS).version

    def moved(self: Any, tx: Transaction) -> object | None:
        if not owner:
            owner.append(threading.get_ident())
        elif threading.get_ident() != owner[0]:
            do()
        return version(self, tx)

    patch.setattr(type(_CHUNKS), "version", moved)


@pytest.mark.parametrize("what", ["removed", "added", "nothing"])
async def test_a_change_between_the_two_moments_is_in_neither_answer(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    model = Thesaurus("m")
    house = await new_document_house(storage, model)
    first, _ = await add_talk(house, TURNS), await add_talk(house, TURNS[:2], "other.jsonl")
    meaning = Meaning("m", model.of("car"), model.calibration)
    asked = read_query("car"), 8, None, meaning
    scope = house.who.organization_id
    assert scope is not None
    before = await storage.read(scope, store.search, *asked)
    assert {each.source_id for each in before} > {first.id}

    async def change() -> None:
        if what == "removed":
            await house.knowledge.remove(house.who, first.id)
        elif what == "added":
            await add_talk(house, [("Ada", "My automobile is new")], "new.jsonl")

    loop, changed, on_the_way = asyncio.get_running_loop(), threading.Event(), threading.Event()

    def wait_for_change() -> None:
        on_the_way.set()
        asyncio.run_coroutine_threadsafe(change(), loop).result(PATIENCE_S)
        changed.set()

    judge = index.judge

    def judge_later(*given: Any, **named: Any) -> Any:
        assert on_the_way.wait(PATIENCE_S)  # else few words are done before a thread has begun
        return judge(*given, **named)

    def search(tx: Transaction) -> object:
        house_is_seen = store.get(tx, first.id)  # from here on this transaction sees one moment
        assert house_is_seen is not None
        before_the_aside(monkeypatch, wait_for_change)
        monkeypatch.setattr(index, "judge", judge_later)
        found = store.search(tx, *asked)
        assert changed.is_set()
        return found

    assert await storage.read(scope, search) == before


async def test_many_searches_at_once_answer_as_each_alone(storage: Storage) -> None:
    house = await new_document_house(storage, Thesaurus("m"))
    await add_talk(house, TURNS)
    queries = ["car", "boat", "puppy", "Ada", "a long walk"] * 8
    alone = [await house.knowledge.search(house.who, each) for each in queries[:5]]
    async with asyncio.timeout(60):
        found = await asyncio.gather(*(house.knowledge.search(house.who, each) for each in queries))
    assert found == alone * 8
