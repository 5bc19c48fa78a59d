"""Which document is which: one source per object and organization, and a chunk is whose its source is."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from memoranda import Memoranda
from memoranda.access.models import LOCAL_OPERATOR, Principal
from memoranda.knowledge.models import Source
from memoranda.storage.scope import Through, tenancy_of
from memoranda.storage.tables import knowledge_chunks, knowledge_uploads
from memoranda.words.errors import NotFound, OverLimit
from memoranda.words.ids import new_id

NAMES = ("object_key", "uri")


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    async with Memoranda.open(database_url, migrate=False) as opened:
        yield opened


def home(who: Principal) -> UUID:
    assert who.organization_id is not None
    return who.organization_id


async def add(
    memoranda: Memoranda, who: Principal, text: str, *, named: str, name: str = "docs/a.md"
) -> Source:
    platform = who.organization_id is None
    return await memoranda.knowledge.add(
        who, text.encode(), title="a.md", platform=platform, **{named: name}
    )


@pytest.mark.parametrize("named", NAMES)
async def test_one_name_is_one_source_in_each_organization_and_one_of_the_platforms(
    memoranda: Memoranda, named: str
) -> None:
    made = await memoranda.access.create_organization(LOCAL_OPERATOR, "Other")
    them = await memoranda.access.authenticate(made.key.key)
    everybody = (memoranda.owner, them, LOCAL_OPERATOR)
    first = [
        await add(memoranda, who, f"The harbor of {n}", named=named)
        for n, who in enumerate(everybody)
    ]
    assert len({source.id for source in first}) == 3
    await memoranda.worker.drain()
    again = [
        await add(memoranda, who, f"The bridge of {n}", named=named)
        for n, who in enumerate(everybody)
    ]
    assert [source.id for source in again] == [source.id for source in first]
    await memoranda.worker.drain()
    for number, who in enumerate((memoranda.owner, them)):
        found = (await memoranda.knowledge.search(who, "harbor bridge")).results
        assert [result.text for result in found] == [f"The bridge of {number}"]
        assert len((await memoranda.knowledge.page(who)).items) == 1
    await memoranda.knowledge.remove(them, first[1].id)
    assert (await memoranda.knowledge.get(memoranda.owner, first[0].id)).status == "ready"
    assert (await memoranda.knowledge.get(them, first[2].id)).status == "ready", "the platform's"


@pytest.mark.parametrize("named", NAMES)
@pytest.mark.parametrize("platform", [False, True])
async def test_many_who_add_one_object_at_once_get_one_source(
    memoranda: Memoranda, named: str, platform: bool
) -> None:
    who = LOCAL_OPERATOR if platform else memoranda.owner
    made = await asyncio.gather(
        *[add(memoranda, who, f"The harbor, version {n % 3}", named=named) for n in range(8)]
    )
    assert len({source.id for source in made}) == 1
    await memoranda.worker.drain()
    found = await memoranda.knowledge.search(memoranda.owner, "harbor", include_platform=platform)
    assert len(found.results) == 1


async def test_a_name_in_one_column_is_no_name_in_the_other(memoranda: Memoranda) -> None:
    made = [await add(memoranda, memoranda.owner, "x", named=named) for named in NAMES]
    assert made[0].id != made[1].id


@pytest.mark.parametrize("child", [knowledge_chunks, knowledge_uploads])
def test_what_is_made_of_a_source_stores_no_organization_of_its_own(child) -> None:
    assert tenancy_of(child) == Through("source_id", "knowledge_sources")
    assert not [each.name for each in child.columns if "organization" in each.name]


async def test_a_chunk_is_whose_its_source_is(memoranda: Memoranda) -> None:
    made = await memoranda.access.create_organization(LOCAL_OPERATOR, "Other")
    them = await memoranda.access.authenticate(made.key.key)
    source = await add(memoranda, memoranda.owner, "The harbor opens.", named="uri")
    await memoranda.worker.drain()
    found = (await memoranda.knowledge.search(memoranda.owner, "harbor")).results
    assert [result.source_id for result in found] == [source.id]
    for scopes in ({}, {"include_platform": True}, {"source_ids": [source.id]}):
        assert (await memoranda.knowledge.search(them, "harbor", **scopes)).results == []
    with pytest.raises(NotFound):
        await memoranda.knowledge.get(them, source.id)


SAID = [
    ("東京", "昨日は東京タワーに行きました。"),
    ("数据", "我们把数据存在数据库里"),
    ("猫", "白い猫が好き"),
    ("GPU", "最新のGPUを買った"),
    ("加速", "用CUDA加速计算"),
    ("memory:safe", "Rust is a memory safe language."),
    ("foo AND bar", "The foo stands beside the bar."),
    ("GB/s", "It reads 3 GB/s from the disk."),
    ("don't", "They don't deliver on Sunday."),
    ('"unclosed quote', "An unclosed quote is a quote."),
    ("NEAR(x* OR", "Look near the x marks."),
    ("100%_off'; --", "Everything is 100 percent off."),
]


@pytest.mark.parametrize(("query", "text"), SAID)
async def test_a_query_in_any_script_and_of_any_signs_finds_the_words(
    memoranda: Memoranda, query: str, text: str
) -> None:
    await memoranda.knowledge.add(memoranda.owner, text.encode(), title="said.txt")
    await memoranda.knowledge.add(memoranda.owner, b"Something else entirely.", title="else.txt")
    await memoranda.worker.drain()
    found = (await memoranda.knowledge.search(memoranda.owner, query)).results
    assert [result.text for result in found] == [text]
    brief = await memoranda.briefs.build(memoranda.owner, query)
    assert text in brief.text


async def test_a_document_that_workers_keep_dying_of_has_failed_within_the_hour_and_says_why(
    database_url: str,
) -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    now = began
    async with Memoranda.open(database_url, clock=lambda: now, migrate=False) as memoranda:
        who = memoranda.owner
        source = await memoranda.knowledge.add(who, b"The harbor opens.", title="a.txt")
        while (await memoranda.knowledge.get(who, source.id)).status == "pending":
            now += timedelta(seconds=20)
            assert now - began < timedelta(hours=1)
            worker = new_id()
            claimed = await memoranda.knowledge.claim(home(who), worker)
            if claimed is not None and (await memoranda.knowledge.get(who, source.id)).attempts > 3:
                await memoranda.knowledge.ingest(home(who), claimed, worker)
        failed = await memoranda.knowledge.get(who, source.id)
    assert failed.status == "failed"
    assert "3 tries" in (failed.reason or "")


@pytest.mark.parametrize("letter", ["a", "\u00e9", "\u6f22", "\U0002f81a"])
@pytest.mark.parametrize("named", NAMES)
async def test_a_name_of_any_script_is_stored_or_refused_for_its_length_and_never_blamed_on_the_database(
    memoranda: Memoranda, named: str, letter: str
) -> None:
    # Not one letter again and again: PostgreSQL would press that into its index.
    varied = "".join(chr(ord(letter) + n * 7 % 20) for n in range(1_000))
    longest = varied[: min(1_000, 2_000 // len(letter.encode()))]
    too_long = varied if longest != varied else varied + letter
    source = await add(memoranda, memoranda.owner, "words", named=named, name=longest)
    assert getattr(source, named) == longest
    with pytest.raises(OverLimit) as refused:
        await add(memoranda, memoranda.owner, "words", named=named, name=too_long)
    assert refused.value.details["field"] == named
