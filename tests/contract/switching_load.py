"""Searches that run all the time while a model is switched, and what they may never see."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from memoranda.knowledge.models import SearchAnswer
from tests.contract.document_house import DocumentHouse
from tests.search.synonyms import MEANS


@dataclass
class Load:
    """Asks by meaning alone for documents that are always there; each answer is whole and of one model."""

    house: DocumentHouse
    numbers: list[int]
    parts: int
    models: tuple[str | None, ...]
    seen: list[list[str | None]] = field(default_factory=list)
    """The models that answered each searcher, in order."""

    @property
    def searches(self) -> int:
        return sum(map(len, self.seen))

    async def ask(self, chance: random.Random) -> str | None:
        number, part = chance.choice(self.numbers), chance.randrange(self.parts)
        answer = await self.house.knowledge.search(
            self.house.who,
            f"{MEANS}stone{number}x{part}",
            include_organization=not self.house.platform,
            include_platform=self.house.platform,
        )
        check_whole(answer, self.models, f"document{number} part{part} ")
        return answer.model

    @asynccontextmanager
    async def running(self, searchers: int = 3) -> AsyncIterator[None]:
        """Searchers in the background; the first wrong answer is raised at the end."""
        tasks = [asyncio.create_task(self._search(each)) for each in range(searchers)]
        try:
            yield
            for task in tasks:
                if task.done():
                    await task
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        for each in ended:
            if isinstance(each, Exception):
                raise each

    async def _search(self, number: int) -> None:
        chance = random.Random(number)
        mine: list[str | None] = []
        self.seen.append(mine)
        while True:
            mine.append(await self.ask(chance))
            # Once the next model has answered, the one before never does again.
            places = [self.models.index(model) for model in mine[-2:]]
            assert places == sorted(places), mine[-2:]
            await asyncio.sleep(0.001)


def check_whole(answer: SearchAnswer, models: tuple[str | None, ...], first: str) -> None:
    assert answer.model in models
    assert answer.semantic
    assert answer.results, f"nothing was found for {first}"
    assert first in answer.results[0].text
