"""What a search of memories promises on every database: meaning, words and letters, and nobody else's rows."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import insert

from memoranda.access.models import LOCAL_OPERATOR, Principal
from memoranda.access.roles import subject_of
from memoranda.memories.audience import Audience, sees_everything
from memoranda.memories.candidate import digest
from memoranda.memories.finding import service
from memoranda.memories.finding.service import Finding
from memoranda.memories.models import MemorySearch
from memoranda.search.embedders.bundled import find_bundled
from memoranda.search.texts import store as texts
from memoranda.search.texts.plan import Limits
from memoranda.search.vectors.service import AtHand, Nearest, Vectors
from memoranda.storage import Storage, Transaction
from memoranda.storage.tables import memory_proposals
from memoranda.words.errors import Invalid, OverLimit, Refused, Unavailable
from memoranda.words.ids import new_id
from tests.contract.finding_desk import Desk, SetClock, Synonyms
from tests.contract.tenants import new_tenant
from tests.search.made_vectors import Watched

NAMED = Path(__file__).parents[2] / "bench" / "data" / "memories.txt"


@pytest.fixture
async def desk(shared_storage: Storage) -> AsyncIterator[Desk]:
    """An organization of the test's own, in a database that others share."""
    opened = await Desk.open(shared_storage, Synonyms())
    yield opened
    await opened.close()


@pytest.fixture
async def plain(shared_storage: Storage) -> Desk:
    """The same without an embedder."""
    return await Desk.open(shared_storage)


# --- what finds ---


async def test_meaning_finds_what_shares_no_word_and_says_so(desk: Desk) -> None:
    await desk.remember("automobile", "Orders ship from Leipzig")
    found = await desk.search("vehicle")
    assert [each.memory.text for each in found.results] == ["automobile"]
    match = found.results[0].match
    assert match.meaning == match.score >= 0.55
    assert (match.words, match.literal) == ((), False)
    assert (found.semantic, found.model) == (True, "made-up")


async def test_words_find_in_any_form_and_say_which(plain: Desk) -> None:
    await plain.remember("Deliveries went to Leeds", "Prices are in pounds")
    only = await plain.only("delivery Leeds going")
    assert only.memory.text == "Deliveries went to Leeds"
    assert [word.lower() for word in only.match.words] == ["delivery", "leeds", "going"]
    assert (only.match.meaning, only.match.literal) == (None, False)
    assert only.match.score >= 0.55


async def test_what_meaning_found_tells_the_words_that_it_holds_too(desk: Desk) -> None:
    await desk.remember("automobile delta")
    only = await desk.only("vehicle epsilon delta zeta")
    assert only.match.meaning == only.match.score
    assert only.match.words == ("delta",)


async def test_title_category_and_tags_are_found_by_their_words(plain: Desk) -> None:
    await plain.remember("Use British English", title="Spelling", category="style", tags=["Oxford"])
    for query in ("spelling", "style", "oxford"):
        assert await plain.found(query) == ["Use British English"], query


async def test_meaning_and_words_are_one_ranking(desk: Desk) -> None:
    await desk.remember("automobile", "vehicle tax forms", "vehicle", "unrelated text")
    found = (await desk.search("vehicle")).results
    assert found[0].memory.text == "vehicle"
    assert {each.memory.text for each in found} == {"vehicle", "automobile", "vehicle tax forms"}
    scores = [each.match.score for each in found]
    assert scores == sorted(scores, reverse=True)
    for each in found:
        assert each.match.score >= max(0.55, each.match.meaning or 0)


LITERALS = [
    ("Appendicitis in 2019", "pendic"),
    ("私は京都に住んでいます", "京都"),
    ("東京都の事務所", "京都"),
    ("北京大学的老师", "大学"),
    ("使うAPIキーは三つ", "API"),
    ("使うAPIキーは三つ", "iキ"),
    ("Crème brûlée on Fridays", "BRÛL"),
    ("Crème brûlée on Fridays", "bru\u0302le\u0301e"),
    ("Hauptstraße 5", "HAUPTSTRASSE"),
    ("ΣΊΣΥΦΟΣ", "σίσυφος"),
    ("Lunch is 🍕 on Fridays", "🍕"),
    ("👩‍👩‍👧 comes along", "👩‍👩‍👧"),
    ("رقم حساب البنك", "بنك"),
    ("Привет из Омска", "ивет"),
    ("the disk reads 3 GB/s", "GB/s"),
    ("it is memory:safe by design", "memory:safe"),
    ("Don't call before ten", "don't"),
    ("select foo AND bar", "foo AND bar"),
    ("always 100 % wool", "100 %"),
    ("snake_case_names", "e_c"),
    ("backslash C:\\temp", "C:\\t"),
    ('they say "hello', '"hello'),
    ("a NEAR(b) c* -d ^e", "NEAR(b) c* -d ^e"),
    ("{json: [1, 2]}", "[1, 2]"),
]


@pytest.mark.parametrize(("text", "query"), LITERALS)
async def test_a_literal_hit_is_always_found_in_any_script_and_inside_words(
    plain: Desk, text: str, query: str
) -> None:
    await plain.remember(text, "nothing of this", "ganz anderes")
    only = await plain.only(query)
    assert only.memory.text == text
    assert only.match.literal
    assert only.match.score >= 0.55


@pytest.mark.parametrize(
    "query",
    [
        "%",
        "_",
        "*",
        "?",
        "memory:safe",
        "foo AND bar",
        "GB/s",
        "don't",
        '"',
        "'",
        "(",
        "a OR",
        "^$",
    ],
)
async def test_no_character_of_a_query_is_syntax(desk: Desk, query: str) -> None:
    await desk.remember("tea", "coffee", "water")
    assert await desk.found(query) == []


async def test_accents_that_are_left_out_do_not_hide_a_word(plain: Desk) -> None:
    await plain.remember("Crème brûlée on Fridays")
    assert not (await plain.only("creme brulee")).match.literal


async def test_a_literal_hit_is_floored_at_the_bar_and_stands_below_better_ones(desk: Desk) -> None:
    await desk.remember("the carpet is red", "automobile")
    found = (await desk.search("car")).results
    assert [(each.memory.text, each.match.literal) for each in found] == [
        ("automobile", False),
        ("the carpet is red", True),
    ]
    assert found[1].match.score == 0.55


# --- limits ---


async def test_at_most_fifty_and_literal_hits_first(desk: Desk) -> None:
    await desk.remember_at_once([f"automobile {'.' * n}" for n in range(30)], Audience())
    await desk.remember_at_once([f"scarlet {n}" for n in range(60)], Audience())
    found = (await desk.search("car")).results
    assert len(found) == 50
    assert all(each.match.literal for each in found), "sixty of them hold the letters"
    assert len((await desk.search("scarlet", limit=3)).results) == 3
    said = [each.memory.text for each in found]
    assert said == [f"scarlet {n}" for n in reversed(range(10, 60))], "the newest of equals"


async def test_of_too_many_literal_hits_the_best_are_kept_however_old(plain: Desk) -> None:
    (best,) = await plain.remember("tea")
    await plain.remember_at_once([f"steam of kettle number {n}" for n in range(60)], Audience())
    found = (await plain.search("tea")).results
    assert (found[0].memory.id, len(found)) == (best.id, 50)
    assert all(each.match.literal for each in found)


@pytest.mark.parametrize("limit", [0, 51, -1])
async def test_a_limit_beyond_the_bounds_is_refused(plain: Desk, limit: int) -> None:
    with pytest.raises(Invalid, match="limit"):
        await plain.search("tea", limit=limit)


@pytest.mark.parametrize("query", ["", " \n ", "a\0b", "\ud800"])
async def test_a_query_that_is_no_text_is_refused_by_its_name(plain: Desk, query: str) -> None:
    with pytest.raises(Invalid, match="query"):
        await plain.search(query)


async def test_a_query_longer_than_any_memory_is_refused_and_the_longest_is_read(
    plain: Desk,
) -> None:
    await plain.remember("tea")
    assert await plain.found(f"tea {'x' * 7_996}") == ["tea"]
    with pytest.raises(OverLimit, match="query"):
        await plain.search("x" * 8_001)


# --- without an embedder ---


async def test_without_an_embedder_words_and_letters_find_and_it_says_so(plain: Desk) -> None:
    await plain.remember("automobile", "vehicle tax")
    found = await plain.search("vehicle")
    assert [each.memory.text for each in found.results] == ["vehicle tax"]
    assert (found.semantic, found.model) == (False, None)


async def test_an_embedder_that_fails_is_no_error_and_is_told(desk: Desk) -> None:
    await desk.remember("automobile", "vehicle tax")
    embedder = desk.embedder
    embedder.failure = Unavailable("The endpoint is away.")
    found = await desk.search("vehicle")
    assert ([each.memory.text for each in found.results], found.semantic) == (
        ["vehicle tax"],
        False,
    )
    embedder.failure = RuntimeError("and so is this")
    assert not (await desk.search("vehicles")).semantic


async def test_an_embedder_that_is_slow_is_not_waited_for(desk: Desk) -> None:
    await desk.remember("automobile", "vehicle tax")
    desk.embedder.gate = asyncio.Event()
    vectors = Vectors(desk.storage, desk.embedders, "memories", timeout_s=0.3)
    began = time.perf_counter()
    found = await Finding(desk.storage, vectors).search(desk.acme.owner, "vehicle")
    assert time.perf_counter() - began < 2
    assert ([each.memory.text for each in found.results], found.semantic) == (
        ["vehicle tax"],
        False,
    )
    desk.embedder.gate.set()
    await vectors.close()


async def test_before_the_first_vector_is_made_a_search_says_that_meaning_was_no_part_of_it(
    desk: Desk,
) -> None:
    nothing = await desk.search("vehicle")
    assert (nothing.results, nothing.semantic) == ((), True)
    await desk.memories.remember(desk.acme.owner, "automobile")
    found = await desk.search("vehicle")
    assert (found.results, found.semantic, found.model) == ((), False, None)
    assert not (await desk.finding.recall(desk.acme.owner, "vehicle")).semantic
    await desk.embed()
    found = await desk.search("vehicle")
    assert (len(found.results), found.semantic) == (1, True)


class Stuck(Vectors):
    """Never answers, and does not let itself be cancelled for a while."""

    async def nearest(self, *_: object, **__: object) -> Nearest | None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(3)
            raise
        return None


async def test_a_search_by_meaning_that_hangs_is_left_behind(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "TIMEOUT_S", 0.2)
    await desk.remember("vehicle tax")
    began = time.perf_counter()
    finding = Finding(desk.storage, Stuck(desk.storage, desk.embedders, "memories"))
    found = await finding.search(desk.acme.owner, "vehicle")
    assert time.perf_counter() - began < 1.5
    assert (len(found.results), found.semantic) == (1, False)


# --- whose ---


def everybody_of(desk: Desk) -> list[Audience]:
    users = (None, desk.acme.anna.id, desk.acme.ben.id)
    agents = (None, desk.acme.scout.id, desk.acme.clerk.id)
    return [Audience(user, agent) for user, agent in itertools.product(users, agents)]


async def test_every_reader_finds_what_covers_it_and_nothing_else(desk: Desk) -> None:
    said: dict[str, Audience] = {}
    for number, audience in enumerate(everybody_of(desk)):
        (made,) = await desk.remember_at_once([f"automobile tea {number}"], audience)
        said[made.text or ""] = audience
    await desk.remember_at_once(["automobile tea apart"], Audience(space="flow:node"))
    await desk.remember_at_once(
        ["automobile tea apart too"], Audience(desk.acme.anna.id, desk.acme.scout.id, "flow:node")
    )
    other = Desk(desk.storage, await new_tenant(desk.storage, "Globex"), desk.embedder)
    await other.remember("automobile tea elsewhere")
    acme, finding = desk.acme, desk.finding
    readers: list[tuple[Principal, dict[str, UUID]]] = [
        (acme.owner, {}),
        (acme.reader, {}),
        (acme.owner, {"user_id": acme.anna.id}),
        (acme.reader, {"agent_id": acme.scout.id}),
        (acme.owner, {"user_id": acme.ben.id, "agent_id": acme.clerk.id}),
        (acme.member(acme.anna), {}),
        (acme.member(acme.ben), {"agent_id": acme.scout.id}),
        (acme.key_of(acme.scout), {}),
        (acme.key_of(acme.clerk, acme.anna), {}),
    ]
    for who, named in readers:
        subject = subject_of(who, **named)
        all_of_it = sees_everything(who) and not named
        known = {text for text, audience in said.items() if all_of_it or audience.covers(subject)}
        for query in ("tea", "vehicle", "ea"):
            found = await finding.search(who, query, **named)
            assert {each.memory.text for each in found.results} == known, (query, who, named)
    await other.close()


async def test_a_caller_searches_for_nobody_else(plain: Desk) -> None:
    acme = plain.acme
    with pytest.raises(Refused):
        await plain.search("tea", acme.member(acme.anna), user_id=acme.ben.id)
    with pytest.raises(Refused):
        await plain.search("tea", acme.key_of(acme.scout), agent_id=acme.clerk.id)
    with pytest.raises(Refused):
        await plain.search("tea", LOCAL_OPERATOR)


CROWD = 120


async def crowd_around(desk: Desk, text: str) -> Desk:
    """Hundreds of others' memories, each nearer to any query than a memory with one more word."""
    for number, audience in enumerate(
        (
            Audience(desk.acme.ben.id),
            Audience(desk.acme.anna.id, desk.acme.clerk.id),
            Audience(space="flow:node"),
        )
    ):
        said = [f"{text} {'.' * (n + CROWD * number + 1)}" for n in range(CROWD)]
        await desk.remember_at_once(said, audience)
    other = Desk(desk.storage, await new_tenant(desk.storage, "Globex"), desk.embedder)
    await other.remember_at_once([f"{text} {n}" for n in range(CROWD)], Audience())
    return other


QUERIES = ["vehicle", "tea", "ea", "vehicle tea", "tea kettle", "automobile tea kettle lid"]


async def test_better_memories_of_others_take_no_place_and_move_no_score(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many: what others have is left out before anything is cut or counted."""
    few = Limits(count=50, counts=100, rows=40, items=20)
    monkeypatch.setattr(texts, "find", partial(texts.find, limits=few))
    acme, words_only = desk.acme, Finding(desk.storage)
    anna, ben = acme.member(acme.anna), acme.member(acme.ben)
    hers = ["automobile tea 0", "the doctor is in", "kettle lid", "tea"]
    await desk.remember(*hers, user_id=acme.anna.id)

    async def seen(finding: Finding, query: str) -> MemorySearch:
        return await finding.search(anna, query, agent_id=acme.scout.id)

    both = (desk.finding, words_only)
    before = [[await seen(finding, query) for query in QUERIES] for finding in both]
    assert all(each.results for part in before for each in part[1:])
    other = await crowd_around(desk, "automobile tea")
    for finding, part in zip(both, before, strict=True):
        for query, found in zip(QUERIES, part, strict=True):
            assert await seen(finding, query) == found, (query, found.semantic)
    assert len((await desk.search("vehicle", ben)).results) == 50
    await other.close()


async def test_only_what_lives_is_found(database_url: str) -> None:
    clock = SetClock()
    storage = await Storage.open(database_url, clock=clock)
    desk = await Desk.open(storage, Synonyms())
    (_, gone, changed) = await desk.remember(
        "automobile tea", "automobile teas", "automobile coffee"
    )
    until = clock.now + timedelta(days=2)
    await desk.remember("vehicle tea for a while", expires_at=until)
    await desk.memories.forget(desk.acme.owner, gone.id)
    await desk.memories.update(desk.acme.owner, changed.id, text="automobile tea later")
    await desk.embed()
    live = {"automobile tea", "automobile tea later"}
    for query in ("vehicle", "tea", "ea"):
        assert set(await desk.found(query)) == live | {"vehicle tea for a while"}, query
    clock.pass_days(3)
    for query in ("vehicle", "tea", "ea"):
        assert set(await desk.found(query)) == live, query
    await desk.close()
    await storage.close()


async def test_a_proposal_is_never_found(desk: Desk) -> None:
    await desk.storage.write(desk.organization, _propose, "automobile tea")
    for query in ("vehicle", "tea", "ea", "automobile tea"):
        assert await desk.found(query) == [], query


INSERT_PROPOSAL = insert(memory_proposals)


def _propose(tx: Transaction, text: str) -> None:
    tx.run(
        INSERT_PROPOSAL,
        id=new_id(),
        audience="all",
        kind="memory",
        status="waiting",
        text=text,
        tags=[],
        folded_digest=digest(text),
        merges=[],
        origin="agent",
        created_at=tx.now,
    )


# --- meaning of the present text alone ---


async def test_a_new_text_is_not_found_by_what_the_old_one_meant(desk: Desk) -> None:
    (made,) = await desk.remember("automobile")
    assert await desk.found("vehicle") == ["automobile"]
    await desk.memories.update(desk.acme.owner, made.id, text="physician")
    assert await desk.found("vehicle") == [], "nor before its own vector is made"
    await desk.embed()
    assert await desk.found("vehicle") == []
    assert await desk.found("medic") == ["physician"]


class Meanwhile(Vectors):
    """Something happens between what is near and the read of what it says."""

    then: Callable[[], Awaitable[object]]

    async def nearest(self, *given, **named) -> Nearest | None:
        found = await super().nearest(*given, **named)
        await self.then()
        return found


async def test_a_text_that_changes_while_it_is_searched_is_not_matched_by_its_old_meaning(
    desk: Desk,
) -> None:
    (made, gone) = await desk.remember("automobile", "vehicle")
    vectors = Meanwhile(desk.storage, desk.embedders, "memories")

    async def change() -> None:
        await desk.memories.update(desk.acme.owner, made.id, text="physician")
        await desk.memories.forget(desk.acme.owner, gone.id)

    vectors.then = change
    found = await Finding(desk.storage, vectors).search(desk.acme.owner, "car")
    assert (found.results, found.semantic) == ((), True)
    await vectors.close()


class WhileLooked(Vectors):
    """Something happens once what is at hand was looked at, and before it is used."""

    then: Callable[[], Awaitable[object]]

    async def look(self, *given, **named) -> AtHand | Nearest | None:
        found = await super().look(*given, **named)
        if isinstance(found, AtHand):
            await self.then()
        return found


async def test_a_search_is_one_transaction_while_no_vector_changes(desk: Desk) -> None:
    await desk.remember("automobile", "physician")
    watched = Watched(desk.storage)
    vectors = Vectors(watched, desk.embedders, "memories")
    finding = Finding(watched, vectors)

    async def found(query: str) -> tuple[list[str | None], int]:
        before = watched.reads
        results = (await finding.search(desk.acme.owner, query)).results
        return [each.memory.text for each in results], watched.reads - before

    assert await found("vehicle") == (["automobile"], 2)
    assert await found("vehicle") == (["automobile"], 1)
    assert await found("medic") == (["physician"], 1)
    await desk.remember("vehicle")
    texts, reads = await found("car")
    assert (set(texts), reads) == (
        {"automobile", "vehicle"},
        3,
    )  # looked, read on, and looked again
    assert (await found("car"))[1] == 1
    await vectors.close()


@pytest.mark.parametrize("how", ["text", "forgotten", "added", "moved"])
async def test_what_changes_once_it_is_at_hand_is_found_as_it_is(desk: Desk, how: str) -> None:
    (made, _) = await desk.remember("automobile", "oak")
    vectors = WhileLooked(desk.storage, desk.embedders, "memories")
    finding = Finding(desk.storage, vectors)
    owner = desk.acme.owner
    assert len((await finding.search(owner, "car")).results) == 1

    async def change() -> None:
        if how == "text":
            await desk.memories.update(owner, made.id, text="physician")
        elif how == "forgotten":
            await desk.memories.forget(owner, made.id)
        elif how == "added":
            await desk.remember("vehicle")
        else:
            await desk.memories.update(owner, made.id, user_id=desk.acme.anna.id)

    vectors.then = change
    found = await finding.search(owner, "car")
    said = {each.memory.text for each in found.results}
    left: set[str] = set()
    expected = {"added": {"automobile", "vehicle"}, "moved": {"automobile"}}
    assert (said, found.semantic) == (expected.get(how, left), True)
    await vectors.close()


async def test_what_is_at_hand_for_a_day_is_no_older_for_being_used(
    database_url: str,
) -> None:
    clock = SetClock()
    storage = await Storage.open(database_url, clock=clock)
    desk = await Desk.open(storage, Synonyms())
    await desk.remember("automobile")
    watched = Watched(storage)
    vectors = Vectors(watched, desk.embedders, "memories")
    finding = Finding(watched, vectors)
    await finding.search(desk.acme.owner, "car")
    # In steps of less than a day each is one look; what nobody used for a day is read anew.
    for hours, reads in ((20, 1), (20, 1), (20, 1), (25, 3)):
        clock.now += timedelta(hours=hours)
        before = watched.reads
        assert len((await finding.search(desk.acme.owner, "car")).results) == 1
        assert watched.reads == before + reads
    await vectors.close()
    await storage.close()


async def test_a_new_title_or_pin_keeps_the_meaning_without_asking_again(desk: Desk) -> None:
    (made,) = await desk.remember("automobile")
    asked = len(desk.embedder.asked)
    await desk.memories.update(desk.acme.owner, made.id, title="A note", tags=["b"], pinned=True)
    assert await desk.found("vehicle") == ["automobile"]
    assert desk.embedder.asked[asked:] == [["vehicle"]]


# --- narrowed ---


async def test_categories_and_tags_narrow_a_search_before_its_limit(desk: Desk) -> None:
    await desk.remember("automobile tea", category="a", tags=["x", 'y"z'])
    await desk.remember("automobile teas", category="b", tags=["x,"])
    await desk.remember_at_once([f"automobile tea {n}" for n in range(70)], Audience())
    for query in ("vehicle", "tea", "ea"):
        assert await desk.found(query, categories=["a"]) == ["automobile tea"]
        assert set(await desk.found(query, categories=["a", "b"])) == {
            *("automobile tea", "automobile teas"),
        }
        assert await desk.found(query, tags=['y"z']) == ["automobile tea"]
        assert await desk.found(query, tags=["x,", "none"]) == ["automobile teas"]
        assert await desk.found(query, tags=["z"]) == []
        assert await desk.found(query, categories=["b"], tags=["x"]) == []
    with pytest.raises(Invalid, match="tags"):
        await desk.search("tea", tags="x")


# --- with the bundled embedder ---


async def test_delivery_promises_are_among_the_first_three_and_refund_policy_means_nothing(
    shared_storage: Storage,
) -> None:
    desk = await Desk.open(shared_storage, find_bundled())
    await desk.remember_at_once(NAMED.read_text("utf-8").splitlines(), Audience())
    found = (await desk.search("delivery promises")).results
    wanted = "we never quote a delivery date shorter than ten working days"
    first = {each.memory.text: each.match for each in found[:3]}
    assert wanted in first
    assert first[wanted].meaning is not None
    assert first[wanted].meaning >= 0.55
    assert first[wanted].score >= 0.55
    other = await desk.search("refund policy")
    assert other.semantic
    assert [each.match.meaning for each in other.results if each.match.meaning is not None] == []
    await desk.close()
