"""Whatever happens to documents and to their model, in any order and with kills between: what is ready is found whole."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

import pytest
from hypothesis import HealthCheck, Phase, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from memoranda.knowledge.embedding import making
from memoranda.knowledge.embedding.service import DocumentEmbedding
from memoranda.knowledge.models import Source
from memoranda.knowledge.readiness import store as readiness
from memoranda.knowledge.service import Knowledge
from memoranda.storage import Storage
from memoranda.words.errors import Conflict, Unavailable
from tests.contract.document_house import DocumentHouse, new_document_house
from tests.contract.embedding_house import Clock
from tests.contract.test_model_switch import Killed, Mortal
from tests.search.synonyms import MEANS, Synonyms

MODELS = {"old": 64, "new": 48, "third": 32}
NUMBER = st.integers(0, 3)
MODEL = st.sampled_from(list(MODELS))
AT = st.integers(1, 14)


class Picky(Synonyms):
    """Refuses documents of some numbers."""

    def __init__(self, model: str, dimensions: int) -> None:
        super().__init__(model, dimensions)
        self.refused: set[int] = set()

    async def embed(self, texts: Any) -> Any:
        if any(f"document{number} " in text for number in self.refused for text in texts):
            raise Unavailable("The endpoint answered 400.", status=400)
        return await super().embed(texts)


def text_of(number: int, version: int) -> str:
    return "\n\n".join(
        f"harbor document{number} version{version} part{part} "
        + f"stone{number}v{version}x{part} " * 35
        for part in range(number + 1)
    )


@dataclass
class Place:
    """An open storage, its clock, and the loop that it lives on."""

    url: str
    clock: Clock = field(default_factory=Clock)
    runner: asyncio.Runner = field(default_factory=asyncio.Runner)

    def __post_init__(self) -> None:
        self.storage: Storage = self.run(Storage.open(self.url, clock=self.clock))

    def run(self, work: Any) -> Any:
        return self.runner.run(work)

    def close(self) -> None:
        self.run(self.storage.close())
        self.runner.close()


@pytest.fixture(scope="module")
def place(module_database_url: str) -> Iterator[Place]:
    """One database for all examples, each of which has an organization of its own."""
    opened = Place(module_database_url)
    yield opened
    opened.close()


class Switching(RuleBasedStateMachine):
    """What is known by itself: which version of each document was added last, and what was chosen."""

    place: Place

    @initialize()
    def open(self) -> None:
        self.models = {name: Picky(name, size) for name, size in MODELS.items()}
        self.house: DocumentHouse = self.place.run(
            new_document_house(self.place.storage, *self.models.values())
        )
        self.ids: dict[int, UUID] = {}
        self.versions: dict[int, int] = {}
        self.active: str | None = None
        self.next: str | None = None
        self.forced = False

    @rule(number=NUMBER, version=st.integers(0, 1), ends=st.sampled_from([True, True, False]))
    def add(self, number: int, version: int, ends: bool) -> None:
        source = self.place.run(self.house.add(text_of(number, version), f"k{number}"))
        self.ids[number], self.versions[number] = source.id, version
        if ends:
            self.take_in()

    @rule()
    def take_in(self) -> None:
        self.place.run(self.house.take_in())

    @rule(at=AT, after=st.booleans())
    def take_in_killed(self, at: int, after: bool) -> None:
        mortal: Any = Mortal(self.place.storage, at=at, after=after)
        doomed = DocumentEmbedding(mortal, self.house.embedders, rest_s=0)
        knowledge = Knowledge(mortal, max_bytes=10**7, embedding=doomed)
        with suppress(Killed):
            self.place.run(_take_in(knowledge, self.house))
        self.place.clock.passes(minutes=4)

    @rule(number=NUMBER)
    def remove(self, number: int) -> None:
        if number in self.ids:
            self.place.run(self.house.knowledge.remove(self.house.who, self.ids.pop(number)))
            del self.versions[number]

    @rule(number=NUMBER)
    def retry(self, number: int) -> None:
        if number in self.ids:
            with suppress(Conflict):
                self.place.run(self.house.knowledge.retry(self.house.who, self.ids[number]))

    @rule(model=MODEL, number=NUMBER)
    def refuse(self, model: str, number: int) -> None:
        self.models[model].refused ^= {number}

    @rule(model=MODEL, force=st.booleans())
    def switch(self, model: str, force: bool) -> None:
        self.place.run(self.house.switch(model, force=force))
        if model == self.active:
            self.next, self.forced = None, False
        else:
            self.forced = force or (self.next == model and self.forced)
            self.next = model

    @rule()
    def choose_words(self) -> None:
        self.place.run(self.house.switch("none"))
        self.active, self.next, self.forced = None, None, False

    @rule()
    def cancel(self) -> None:
        self.place.run(self.house.knowledge.cancel_switch(self.house.who))
        self.next, self.forced = None, False

    @rule()
    def serve(self) -> None:
        self.place.run(self.house.serve())

    @rule(at=AT, after=st.booleans())
    def serve_killed(self, at: int, after: bool) -> None:
        mortal: Any = Mortal(self.place.storage, at=at, after=after)
        doomed = DocumentEmbedding(mortal, self.house.embedders, rest_s=0)
        with suppress(Killed):
            self.place.run(_serve(doomed, self.house))
        self.place.clock.passes(minutes=4)

    @invariant()
    def what_is_ready_is_found_and_nothing_else(self) -> None:
        if hasattr(self, "house"):
            self.place.run(self._look())

    def teardown(self) -> None:
        if hasattr(self, "house"):
            self.place.run(self._settle())

    async def _look(self) -> None:
        await self._follow()
        page = await self.house.knowledge.page(self.house.who)
        assert {source.id for source in page.items} == set(self.ids.values())
        failed = await self._without_vectors()
        for number, source_id in self.ids.items():
            source = next(each for each in page.items if each.id == source_id)
            await self._check(number, source, by_meaning=source_id not in failed)

    async def _follow(self) -> None:
        """The model may have flipped to what was next, and to nothing else; the first document takes one."""
        active, coming, _ = (await self.house.settings()) or (None, None, 0)
        if active != self.active:
            first = self.active is None and self.next is None and active == "old"
            assert first or active == self.next, (active, self.active, self.next)
            if not first:
                note(f"flipped to {active}")
                self.next, self.forced = None, False
            self.active = active
        assert coming == self.next

    async def _without_vectors(self) -> set[UUID]:
        """Documents that the serving model refused, for which a switch was forced, or that came in as it flipped."""
        status = await self.house.knowledge.model(self.house.who)
        if status.active is None or status.next is not None:
            return set()
        return {failure.source_id for failure in status.failures}

    async def _check(self, number: int, source: Source, *, by_meaning: bool) -> None:
        version = self.versions[number]
        for part in range(number + 1):
            mark = f"stone{number}v{version}x{part}"
            there = source.status == "ready"
            said = await self.house.knowledge.search(self.house.who, mark)
            assert said.model == self.active
            texts = [result.text for result in said.results]
            assert any(mark in text for text in texts) == there, (mark, source.status)
            stale = f"stone{number}v{1 - version}x"
            assert not any(stale in text for text in texts)
            if there and by_meaning and self.active is not None and self.next is None:
                meant = await self.house.knowledge.search(self.house.who, MEANS + mark)
                assert meant.results, mark
                assert mark in meant.results[0].text

    async def _settle(self) -> None:
        """With nothing refused any more, all ends as it should."""
        for model in self.models.values():
            model.refused.clear()
        for number in self.ids:
            with suppress(Conflict):
                await self.house.knowledge.retry(self.house.who, self.ids[number])
        self.place.clock.passes(minutes=30)
        await self.house.take_in()
        await self._follow()
        if (self.next or self.active) is not None:
            await self.house.switch(cast("str", self.next or self.active))
        await self.house.serve()
        active, coming, _ = (await self.house.settings()) or (None, None, 0)
        assert (active, coming) == (self.next or self.active, None)
        chunks = sum(number + 1 for number in self.ids)
        assert await self.house.vectors() == ({active: chunks} if active and chunks else {})
        self.active, self.next = active, None
        await self._look()
        assert not await self.house.embedding.waiting(self.house.scope)


async def _take_in(knowledge: Knowledge, house: DocumentHouse) -> None:
    while (claimed := await knowledge.claim(house.scope, house.worker_id)) is not None:
        await knowledge.ingest(house.scope, claimed, house.worker_id)


async def _serve(embedding: DocumentEmbedding, house: DocumentHouse) -> None:
    while await embedding.serve(house.scope, house.worker_id):
        pass


@pytest.mark.slow
def test_in_any_order_what_is_ready_is_found_by_one_model_and_all_ends_as_it_should(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "BATCH", 2)
    monkeypatch.setattr(readiness, "AT_ONCE", 2)
    Switching.place = place
    run_state_machine_as_test(
        Switching,
        settings=settings(
            max_examples=40,
            stateful_step_count=30,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
