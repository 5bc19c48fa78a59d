"""The same rows give the same brief: on both databases, later in the day, and whoever else moved in."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from memoranda import Memoranda
from memoranda.access.models import LOCAL_OPERATOR, Principal
from memoranda.briefs.models import ContextBrief
from memoranda.conversations.models import Message
from memoranda.state.definitions.models import DefinitionKind, DefinitionText, Viewers
from memoranda.state.dossier.models import DossierText, Entry
from memoranda.storage import PLATFORM, Storage
from tests.contract.copied_rows import copy_rows, rows_of

MORNING = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)
EVENING = MORNING + timedelta(hours=19, minutes=7)

MANUAL = """# Harbor

The harbor opens at six and the bridge at seven.

## Refunds

A refund takes two weeks. 返金は二週間かかります。

## Prices

Prices for visitors: harbor 12, bakery 4, garden 7.
"""
TALK = "\n".join(
    f'{{"speaker": "{who}", "text": "{what}", "id": "t{number}"}}'
    for number, (who, what) in enumerate(
        [
            ("Ana", "When does the harbor open on sunday?"),
            ("Ben", "At six, but the bakery is closed."),
            ("Ana", "The refund never came."),
            ("Ben", "It takes two weeks."),
        ]
    )
)
QUERIES = ["When does the harbor open?", "refund", "返金", "prices AND bakery", "nothing of it: ☃"]


@asynccontextmanager
async def opened(url: str, now: datetime = MORNING) -> AsyncIterator[Memoranda]:
    async with Memoranda.open(url, clock=lambda: now, migrate=False) as memoranda:
        yield memoranda


async def furnish(memoranda: Memoranda) -> list[dict[str, Any]]:
    """Rows for every source, most of them of one instant; answers the subjects to ask for."""
    who = memoranda.owner
    anna, ben = [(await memoranda.access.create_user(who, n)).id for n in ("Anna", "Ben")]
    scout = (await memoranda.access.create_agent(who, "scout")).id
    for number in range(30):
        await memoranda.memories.remember(
            who,
            f"Fact {number}: the harbor café № {number} opens at {number}.",
            user_id=(None, anna, ben)[number % 3],
            agent_id=(None, None, scout)[number % 3] if number % 2 else None,
            attribute=f"observation.fact{number % 7}" if number % 4 == 0 else None,
            title="Harbor" if number % 5 == 0 else None,
            expires_at=MORNING + timedelta(days=9) if number % 6 == 0 else None,
        )
    gone = await memoranda.memories.remember(who, "Forget the harbor.")
    await memoranda.memories.forget(who, gone.id)
    for title, text in (("manual.md", MANUAL), ("talk.jsonl", TALK), ("twin.md", MANUAL)):
        await memoranda.knowledge.add(who, text.encode(), title=title)
    await memoranda.knowledge.add(
        LOCAL_OPERATOR, b"Every harbor has prices.", title="all.txt", platform=True
    )
    await memoranda.worker.drain()
    await describe(memoranda, Viewers(user_ids=[anna], agent_ids=[scout]))
    talk = await memoranda.conversations.create(who, user_id=anna)
    said = [Message(role="user", content=f"Say {n} about the harbor") for n in range(40)]
    await memoranda.conversations.append(who, talk.id, said)
    return [
        {},
        {"user_id": anna, "conversation": talk.id},
        {"user_id": ben, "agent_id": scout},
        {"agent_id": scout, "budget": 300},
        {"user_id": anna, "policy_name": "front_door"},
    ]


async def describe(memoranda: Memoranda, some: Viewers) -> None:
    """What the organization says of itself, and definitions whose names databases would order differently."""
    who = memoranda.owner
    offers = [Entry(name=name) for name in ("zebra", "Harbor", "été")]
    await memoranda.dossier.put(who, DossierText(offers=offers, services=offers), 0)
    for number, name in enumerate(("zoo", "Zoo", "_zoo", "étude", "Harbor", "harbor", "港")):
        text = DefinitionText(name=name, summary="Same.", viewers=some if number % 3 else None)
        made = await memoranda.definitions.create(who, DefinitionKind.SKILL, f"s{number}", text)
        await memoranda.definitions.publish(who, made.id)


async def briefs(memoranda: Memoranda, subjects: list[dict[str, Any]]) -> list[ContextBrief]:
    return [
        await memoranda.briefs.build(memoranda.owner, query, explain=True, **subject)
        for subject in subjects
        for query in QUERIES
    ]


def home(who: Principal) -> UUID:
    assert who.organization_id is not None
    return who.organization_id


def assert_worth_comparing(made: list[ContextBrief]) -> None:
    """Each class, several outcomes and many refs occur, so that equal is not merely empty."""
    entries = [entry for brief in made for entry in brief.explain or []]
    assert {e.kind for e in entries} == {
        *("conversation", "personal_memory", "dossier", "definition_summary"),
        *("knowledge", "memory"),
    }
    assert {"kept", "over_total_budget"} <= {entry.outcome for entry in entries}
    assert len({ref for brief in made for ref in brief.items}) > 20


@pytest.mark.parametrize("first", ["sqlite", "postgres"])
async def test_both_databases_make_the_same_brief_of_the_same_rows(
    sqlite_database: str, postgres_database: str, first: str
) -> None:
    urls = [sqlite_database, postgres_database]
    here, there = urls if first == "sqlite" else urls[::-1]
    async with opened(here) as memoranda:
        owner = memoranda.owner
        subjects = await furnish(memoranda)
        made = await briefs(memoranda, subjects)
        copy = await Storage.open(there)
        try:
            await copy_rows(memoranda.storage, copy, PLATFORM, home(owner))
        finally:
            await copy.close()
    async with opened(there, EVENING) as memoranda:
        assert memoranda.owner == owner
        again = await briefs(memoranda, subjects)
    assert [brief.digest for brief in again] == [brief.digest for brief in made]
    assert [brief.items for brief in again] == [brief.items for brief in made]
    assert again == made
    assert_worth_comparing(made)


async def test_no_clock_and_no_chance_is_in_a_brief(database_url: str) -> None:
    async with opened(database_url) as memoranda:
        subjects = await furnish(memoranda)
        made = await briefs(memoranda, subjects)
        rows = await memoranda.storage.read(home(memoranda.owner), rows_of)
    async with opened(database_url, EVENING) as memoranda:
        assert await briefs(memoranda, subjects) == made
        assert await memoranda.storage.read(home(memoranda.owner), rows_of) == rows, (
            "to build a brief writes nothing"
        )


async def test_every_figure_of_a_brief_is_true_of_its_text(database_url: str) -> None:
    async with opened(database_url) as memoranda:
        made = await briefs(memoranda, await furnish(memoranda))
    for brief in made:
        lines = [line for line in brief.text.split("\n") if line.startswith("- ")]
        kept = [entry for entry in brief.explain or [] if entry.outcome == "kept"]
        assert len(lines) == len(kept)
        assert brief.tokens == -(-len(brief.text.encode()) // 4)
        assert sum(brief.per_source_tokens.values()) == sum(entry.tokens for entry in kept)
        assert sum(brief.dropped.values()) == len(brief.explain or []) - len(kept)
        cited = [line.partition("] ")[0].removeprefix("- [") for line in lines if "- [" in line]
        assert sorted(cited) == sorted(f"{ref.kind}:{ref.id}" for ref in brief.items)


async def test_fifty_organizations_beside_it_change_nothing_of_a_brief(database_url: str) -> None:
    async with opened(database_url) as memoranda:
        subjects = await furnish(memoranda)
        before = await briefs(memoranda, subjects)
        neighbor = memoranda.owner
        for number in range(50):
            made = await memoranda.access.create_organization(LOCAL_OPERATOR, f"Harbor {number}")
            neighbor = await memoranda.access.authenticate(made.key.key)
            await memoranda.memories.remember(neighbor, f"Their harbor opens at {number}.")
            await memoranda.knowledge.add(
                neighbor, f"The harbor, refund and bakery of {number}.".encode(), title="t.txt"
            )
        await memoranda.worker.drain()
        assert (await memoranda.knowledge.search(neighbor, "harbor")).results
        assert await briefs(memoranda, subjects) == before
        assert_worth_comparing(before)
