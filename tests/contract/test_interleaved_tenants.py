"""Organizations that write at once in one process, and names that look alike, never meet."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import pytest

from memoranda import Memoranda
from memoranda.access.models import LOCAL_OPERATOR, Principal
from memoranda.conversations.models import Message
from memoranda.settings import Settings
from memoranda.words.errors import MemorandaError, NotFound
from tests.contract.copied_rows import rows_of

HOUSES = ("marigold", "wisteria", "foxglove")
ROUNDS = 6


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    patient = Settings.load(source_timeout_s=30)  # it looks at what sources say, and not when
    async with Memoranda.open(database_url, migrate=False, settings=patient) as opened:
        yield opened


async def new_house(memoranda: Memoranda, name: str) -> Principal:
    made = await memoranda.access.create_organization(LOCAL_OPERATOR, name)
    return await memoranda.access.authenticate(made.key.key)


def home(who: Principal) -> UUID:
    assert who.organization_id is not None
    return who.organization_id


async def live(memoranda: Memoranda, who: Principal, word: str, number: int) -> None:
    """One of everything, each with the house's own word in it, under names that all houses share."""
    user = await memoranda.access.create_user(who, f"{word} {number}", external_id=f"u{number}")
    agent = await memoranda.access.create_agent(who, f"agent-{number}")
    await asyncio.gather(
        memoranda.memories.remember(who, f"{word} {number}", attribute="observation.a"),
        memoranda.memories.remember(who, f"{word} of {number}", user_id=user.id),
        memoranda.knowledge.add(
            who,
            f"The {word} grows in spring.".encode(),
            title=f"{word}.md",
            object_key=f"k{number}",
        ),
        memoranda.runs.create(who, agent_id=agent.id, user_id=user.id, input={"word": word}),
        memoranda.briefs.publish(
            who, word, {"sources": [{"name": "memory", "token_budget": 9}], "total_token_budget": 9}
        ),
    )
    talk = await memoranda.conversations.create(who, workflow_id=f"flow {number}", user_id=user.id)
    said = Message(role="user", content=f"{word} says {number}")
    await memoranda.conversations.append(who, talk.id, [said])
    brief = await memoranda.briefs.build(
        who, "grows in spring", user_id=user.id, conversation=talk.id
    )
    assert word in brief.text
    assert not [other for other in HOUSES if other != word and other in brief.text]


async def test_whatever_is_written_at_once_is_filed_under_its_own_organization(
    memoranda: Memoranda,
) -> None:
    houses = {word: await new_house(memoranda, word) for word in HOUSES}
    working = asyncio.create_task(memoranda.worker.run())
    await asyncio.gather(
        *[
            live(memoranda, who, word, number)
            for number in range(ROUNDS)
            for word, who in houses.items()
        ]
    )
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    await memoranda.worker.drain()
    for word, who in houses.items():
        held = await memoranda.storage.read(home(who), rows_of)
        counts = {name: len(rows) for name, rows in held.items()}
        assert counts["memories"] == 1 + ROUNDS
        assert counts["memory_revisions"] == 2 * ROUNDS
        assert counts["knowledge_sources"] == counts["knowledge_chunks"] == ROUNDS
        assert counts["conversations"] == counts["conversation_messages"] == ROUNDS
        assert counts["runs"] == counts["agents"] == ROUNDS
        assert counts["context_policies"] == ROUNDS
        assert not [other for other in HOUSES if other != word and other in str(held)]
        found = (await memoranda.knowledge.search(who, "grows", limit=50)).results
        assert len(found) == ROUNDS


LOOKALIKES = [("a", "ab"), ("john_doe", "john-doe"), ("a_", "ab"), ("a%", "ab"), ("a:b", "a")]


@pytest.mark.parametrize(("one", "other"), LOOKALIKES)
async def test_a_name_is_found_as_a_whole_and_never_as_a_pattern_or_a_part(
    memoranda: Memoranda, one: str, other: str
) -> None:
    who, access = memoranda.owner, memoranda.access
    first = {name: await make(memoranda, who, name) for name in (one, other)}
    for name, (user, agent, talk, source) in first.items():
        assert (await access.user(who, name)).id == user
        assert (await access.agent(who, f"for {name}")).id == agent
        with pytest.raises(MemorandaError) as taken:
            await memoranda.conversations.create(who, workflow_id=name)
        assert str(talk) in str(taken.value.details)
        again = await memoranda.knowledge.add(who, b"x", title="x.txt", object_key=name)
        assert again.id == source
    assert not set(first[one]) & set(first[other])
    for nearly in {one[:-1] + "%", "%", "_", one + ":", one + " x"} - {one, other}:
        for looked_for in (access.user(who, nearly), access.agent(who, f"for {nearly}")):
            with pytest.raises(NotFound):
                await looked_for


async def make(memoranda: Memoranda, who: Principal, name: str) -> tuple[UUID, UUID, UUID, UUID]:
    """A user, agent, conversation and document that are known by `name`."""
    number = len((await memoranda.access.agents(who)).items)
    return (
        (await memoranda.access.create_user(who, "Same", external_id=name)).id,
        (await memoranda.access.create_agent(who, f"agent-{number}", external_id=f"for {name}")).id,
        (await memoranda.conversations.create(who, workflow_id=name)).id,
        (await memoranda.knowledge.add(who, b"x", title="x.txt", object_key=name)).id,
    )
