"""Fills a database with made-up rows of every kind that a brief reads, the same ones each time."""

import asyncio
import json
import random
from dataclasses import dataclass
from itertools import accumulate
from typing import Final
from uuid import UUID

from memoranda.app import Memoranda
from memoranda.conversations.models import Message
from memoranda.words.subject import ContextSubject

MEMORIES: Final = 2_000
DOCUMENTS: Final = 40
CHUNKS_OF_EACH: Final = 250
MESSAGES: Final = 200
VOCABULARY: Final = 8_000
QUERIES: Final = 24
SYLLABLES: Final = (
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ha",
    "je",
    "ki",
    "lo",
    "mu",
    "na",
    "pe",
    "ro",
    "su",
    "ta",
)


@dataclass(frozen=True)
class Filled:
    """Whom a brief is built for, the conversation it belongs to, and what is asked."""

    subject: ContextSubject
    conversation_id: UUID
    queries: tuple[str, ...]


class Speech:
    """Says words as people do: a few of them most of the time, most of them hardly ever."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._words = ["".join(self._chance.choices(SYLLABLES, k=3)) for _ in range(VOCABULARY)]
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))

    def say(self, words: int) -> str:
        return " ".join(self._chance.choices(self._words, cum_weights=self._weights, k=words))

    def ask(self) -> str:
        """A question of common and rarer words."""
        return f"What did {self.say(4)} say about {' '.join(self._chance.choices(self._words[50:2_000], k=3))}?"


async def fill(product: Memoranda) -> Filled:
    """Add 2,000 memories, 10,000 chunks and a conversation of 200 messages; returns what to ask."""
    speech, who = Speech(11), product.owner
    user = await product.access.create_user(who, "Ada")
    agent = await product.access.create_agent(who, "concierge")
    audiences = [(None, None), (user.id, None), (None, agent.id), (user.id, agent.id)]
    await asyncio.gather(
        *(
            product.memories.remember(
                who, f"{number}: {speech.say(15)}", user_id=audience[0], agent_id=audience[1]
            )
            for number in range(MEMORIES)
            for audience in [audiences[number % 4]]
        )
    )
    for number in range(DOCUMENTS):
        await product.knowledge.add(
            who, transcript(speech), kind="transcript", title=f"Talk {number}"
        )
    await product.worker.drain()
    talk = await product.conversations.create(who, user_id=user.id, agent_id=agent.id)
    said = [Message(role="user", content=speech.say(30)) for _ in range(MESSAGES)]
    await product.conversations.append(who, talk.id, said)
    assert who.organization_id is not None
    subject = ContextSubject(
        organization_id=who.organization_id, user_id=user.id, agent_id=agent.id
    )
    return Filled(subject, talk.id, tuple(speech.ask() for _ in range(QUERIES)))


def transcript(speech: Speech) -> bytes:
    turns = [
        {"speaker": ("Ada", "Grace")[number % 2], "text": speech.say(35)}
        for number in range(CHUNKS_OF_EACH)
    ]
    return "".join(json.dumps(turn) + "\n" for turn in turns).encode()
