"""What holds a query letter for letter is found the same whether a process tells the few that can, or all are read."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta

import pytest

from memoranda.access.models import Principal
from memoranda.memories.limits import COLLECTION
from memoranda.memories.models import MemorySearch
from memoranda.memories.service import Memories
from memoranda.memories.ways import Ways
from memoranda.search.vectors import holders
from memoranda.search.vectors.holders import Holders
from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import search_models, search_vectors
from memoranda.words.errors import MemorandaError
from tests.contract.finding_desk import LIMITS, Desk, SetClock, Synonyms
from tests.contract.tenants import new_tenant

PARTS = (
    *("oolong", "Tea ", "STRASSE", "Straße ", "İzmir ", "ınce", "ﬁne ", "50 %_", "a\\b"),
    *(
        "茶烏龍",
        "烏龍茶",
        "東京都",
        "ไทย",
        "한국어 ",
        "क्षि",
        "e\u0301t\u00e9 ",
        "\u0301",
        "ΣΊΣΥΦΟΣ ς",
    ),
    *("🙂", "👩\u200d🚀", "🇩🇪🇫🇷", "\u200d", "x", " ", "1234", "İ", "ß"),
)


class Heard:
    """What was answered from memory: the items, or that all texts have to be read."""

    def __init__(self) -> None:
        self.told: list[int] = []
        self.off = False


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Heard:
    """Nothing is too few or too many to be asked of memory."""
    monkeypatch.setattr(holders, "FEW", 0)
    monkeypatch.setattr(holders, "SHARE", 1 / 100)
    made, asked = Heard(), Holders.among

    def among(self: Holders, tx: Transaction, folded: str):
        found = None if made.off else asked(self, tx, folded)
        if found is not None:
            made.told.append(len(found))
        return found

    monkeypatch.setattr(Holders, "among", among)
    return made


class ClockedDesk(Desk):
    """A desk whose time is moved by hand."""

    clock: SetClock


@pytest.fixture
async def desk(module_database_url: str) -> AsyncIterator[ClockedDesk]:
    clock = SetClock()
    storage = await Storage.open(module_database_url, clock=clock)
    opened = ClockedDesk(storage, await new_tenant(storage), Synonyms())
    opened.clock = clock
    opened.vectors._queries._timeout_s = 30.0  # a busy machine is no reason to do without
    yield opened
    await opened.close()
    await storage.close()


async def both(desk: Desk, heard: Heard, query: str, who: Principal | None = None, **given) -> list:
    """What is found with what is in memory, which is the same as without."""
    with_it = await desk.search(query, who, **given)
    heard.off = True
    without = await desk.search(query, who, **given)
    heard.off = False
    assert shown(with_it) == shown(without), query
    return [each.memory.text for each in with_it.results if each.match.literal]


async def warm(desk: Desk, heard: Heard) -> None:
    """Have the vectors and the letters in memory."""
    await desk.search("warm")
    heard.told.clear()


def shown(search: MemorySearch) -> list:
    return [(each.memory.id, each.memory.version, each.match) for each in search.results]


def said(chance: random.Random) -> str:
    return "".join(chance.choices(PARTS, k=chance.randint(1, 7))).strip("\u200d \u0301") + "."


def part_of(chance: random.Random, text: str) -> str:
    start = chance.randrange(len(text))
    found = text[start : start + chance.choice([1, 2, 2, 3, 5, 9, 20])].strip()
    return chance.choice([found, found.upper(), found.casefold()]) or "x"


async def change(desk: ClockedDesk, chance: random.Random, ids: list, texts: list) -> None:
    """One of the things that people do to memories."""
    who, memories, one = desk.acme.owner, desk.memories, chance.choice(ids or [None])
    texts.append(said(chance))
    people = [{}, {"user_id": desk.acme.anna.id}, {"agent_id": desk.acme.scout.id}]
    whose = chance.choice(people)
    match chance.randrange(9):
        case 0 if one:
            await memories.update(who, one, text=texts[-1])
        case 1 if one:
            await memories.update(who, one, title=f"T{chance.random()}")
        case 2 if one:
            await memories.forget(who, one)
        case 3 if one:
            await memories.restore(who, one)
        case 4 if one:
            moved = await memories.update(who, one, **(whose or {"user_id": desk.acme.ben.id}))
            ids.append(moved.id)
        case 5:
            later = desk.clock() + timedelta(days=1)
            ids.append((await memories.remember(who, texts[-1], expires_at=later, **whose)).id)
        case _:
            ids.append((await memories.remember(who, texts[-1], **whose)).id)


@pytest.mark.parametrize("seed", range(3))
async def test_what_memory_tells_changes_no_answer(
    desk: ClockedDesk, heard: Heard, seed: int
) -> None:
    chance, ids, texts = random.Random(seed), [], ["oolong"]
    without = Memories(desk.storage, Ways(LIMITS))
    other = Memories(desk.storage, Ways(LIMITS, ("another",)))
    own = desk.memories
    readers = [desk.acme.owner, desk.acme.member(desk.acme.anna), desk.acme.member(desk.acme.ben)]
    for step in range(60):
        # Processes with no embedder, or with another's, write beside ours.
        desk.memories = chance.choices([own, without, other], [12, 1, 1])[0]
        with suppress(MemorandaError):
            await change(desk, chance, ids, texts)
        if chance.random() < 0.5:
            await desk.embed()
        if step % 20 == 19:
            desk.clock.pass_days(2)
            await desk.embedding.sweep(desk.organization)
            await desk.embed()
        query = part_of(chance, chance.choice(texts))
        await both(desk, heard, query, chance.choice(readers), limit=chance.choice([1, 3, 50]))
    assert len(heard.told) > 10


async def test_few_are_looked_at_and_all_that_hold_it_are_found(desk: Desk, heard: Heard) -> None:
    await desk.remember(*(f"note {number} of the mill" for number in range(30)), "茶 oolong")
    await warm(desk, heard)
    assert await both(desk, heard, "Oolo") == ["茶 oolong"]
    assert await both(desk, heard, "茶") == ["茶 oolong"]
    assert heard.told == [1, 1]
    assert len(await both(desk, heard, "te 2")) == 11


async def test_a_text_without_its_vector_is_found_by_its_letters(desk: Desk, heard: Heard) -> None:
    await desk.remember("The mill in Hexham")
    await warm(desk, heard)
    await desk.memories.remember(desk.acme.owner, "oolong")
    assert await both(desk, heard, "olon") == ["oolong"]
    assert heard.told


async def test_a_text_whose_vector_is_of_zeros_is_found_by_its_letters(
    desk: Desk, heard: Heard
) -> None:
    desk.embedder.unreadable = lambda text: text == "oolong"
    await desk.remember("The mill in Hexham", "oolong")
    await warm(desk, heard)
    assert await both(desk, heard, "olon") == ["oolong"]
    assert heard.told


async def test_what_a_process_without_an_embedder_wrote_is_found(desk: Desk, heard: Heard) -> None:
    [kept] = await desk.remember("The mill in Hexham")
    await warm(desk, heard)
    without = Memories(desk.storage, Ways(LIMITS))
    await without.remember(desk.acme.owner, "oolong")
    assert await both(desk, heard, "olon") == ["oolong"]
    await without.update(desk.acme.owner, kept.id, text="Darjeeling")
    assert await both(desk, heard, "arje") == ["Darjeeling"]
    assert heard.told == []
    await desk.embedding.sweep(desk.organization)
    await desk.embedding.sweep(desk.organization)
    await desk.embed()
    await warm(desk, heard)
    assert await both(desk, heard, "arje") == ["Darjeeling"]
    assert heard.told == [1]


async def test_rows_from_before_there_were_letters_get_theirs(desk: Desk, heard: Heard) -> None:
    await desk.remember(*(f"note {number}" for number in range(5)), "oolong")
    await desk.storage.write(desk.organization, _forget_letters)
    await warm(desk, heard)
    assert await both(desk, heard, "olon") == ["oolong"]
    assert heard.told == []
    while await desk.embedding.take_up(desk.organization, most=2):
        pass
    await warm(desk, heard)
    assert await both(desk, heard, "olon") == ["oolong"]
    assert heard.told == [1]


def _forget_letters(tx: Transaction) -> None:
    """As a migration leaves it; the stamps are none that a cache has read."""
    tx.run(search_models.update().values(whole=False, stamp=search_models.c.stamp + 1))
    stamp = search_models.select().with_only_columns(search_models.c.stamp).scalar_subquery()
    tx.run(search_vectors.update().values(letters=None, stamp=stamp))


async def test_what_changed_since_memory_was_read_is_looked_up(desk: Desk, heard: Heard) -> None:
    [kept] = await desk.remember("The mill in Hexham")
    await warm(desk, heard)
    assert desk.vectors is not None
    held = desk.vectors._cache.held(desk.organization)
    assert held is not None
    before = Holders(COLLECTION, held.seen, held.snapshot)
    [new] = await desk.remember("oolong")
    await desk.memories.update(desk.acme.owner, kept.id, text="more oolong")
    await desk.embed()
    found = await desk.storage.read(desk.organization, before.among, "olon")
    assert set(found or ()) == {kept.id, new.id}


async def test_a_forgotten_text_leaves_no_letters(desk: Desk) -> None:
    [memory] = await desk.remember("oolong")
    await desk.memories.forget(desk.acme.owner, memory.id)
    rows = await desk.storage.read(desk.organization, lambda tx: tx.all(search_vectors.select()))
    assert [row.letters for row in rows] == [None]


async def test_another_organizations_letters_lead_nowhere(desk: Desk, heard: Heard) -> None:
    others = await Desk.open(desk.storage, Synonyms())
    await others.remember("oolong of theirs")
    await desk.remember("oolong of ours")
    await warm(desk, heard)
    assert await both(desk, heard, "olon") == ["oolong of ours"]
    assert heard.told == [1]
    await others.close()


async def test_what_is_edited_while_it_is_searched_is_always_found(
    desk: Desk, heard: Heard
) -> None:
    """Every text that the memory ever has holds the query, wherever in it."""
    memories = await desk.remember(*(f"oolong {number} at the mill" for number in range(6)))
    other = Desk(desk.storage, desk.acme, Synonyms())
    other.vectors._queries._timeout_s = 30.0
    done = False

    async def edit(memory, number: int) -> None:
        for turn in range(12):
            text = f"{'abcdefgh'[turn % 8] * number}oolong{turn}"
            await desk.memories.update(desk.acme.owner, memory.id, text=text)

    async def embed() -> None:
        while not done:
            await desk.embed()
            await asyncio.sleep(0.002)

    async def search(at: Desk) -> None:
        while not done:
            found = await at.search("OLON")
            assert {each.memory.id for each in found.results if each.match.literal} == {
                memory.id for memory in memories
            }

    watching = [asyncio.create_task(each) for each in (embed(), search(desk), search(other))]
    await asyncio.gather(*(edit(memory, number) for number, memory in enumerate(memories)))
    done = True
    await asyncio.gather(*watching)
    await other.close()
    assert heard.told
