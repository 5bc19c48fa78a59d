"""LangGraph's store over Memoranda keeps the promises that LangGraph's own stores keep."""

import asyncio
from collections import UserDict
from collections.abc import AsyncIterator
from itertools import count
from types import MappingProxyType
from typing import Any

import anyio.to_thread
import pytest
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from memoranda import Memoranda
from memoranda.access.models import Principal, Role
from memoranda.integrations.langgraph import MemorandaStore
from memoranda.words.errors import NotFound, OverLimit, Refused
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant, new_tenant
from tests.peers.rooms import Hands, Letters, opened, with_letters

NUMBERS = count(1)
DOCS = ("test", "docs")


@pytest.fixture(scope="module")
def hands() -> Hands:
    return Hands()


@pytest.fixture(scope="module")
async def memoranda(module_database_url: str, hands: Hands) -> AsyncIterator[Memoranda]:
    async with opened(module_database_url, hands) as product:
        yield product


@pytest.fixture(scope="module")
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


@pytest.fixture
async def made(memoranda: Memoranda, acme: Tenant) -> dict[str, Any]:
    """A user of this test's own, for whom a store may be made."""
    user = await memoranda.access.create_user(acme.owner, f"User {next(NUMBERS)}")
    return {"who": acme.owner, "user_id": user.id}


@pytest.fixture
async def store(memoranda: Memoranda, made: dict[str, Any]) -> MemorandaStore:
    return MemorandaStore(memoranda, **made)


@pytest.fixture
def letters() -> Letters:
    return Letters()


async def keys(store: BaseStore, *prefix: str, **asked: Any) -> list[str]:
    return [item.key for item in await store.asearch(prefix, **asked)]


async def test_what_is_put_is_there_under_its_key_until_it_is_deleted(
    store: MemorandaStore,
) -> None:
    value = {"title": "Wörter 字", "n": 1, "deep": {"list": [1, None, True, {"b": 0.5, "a": ""}]}}
    assert await store.aget(DOCS, "one") is None
    await store.aput(DOCS, "one", value)
    first = await store.aget(DOCS, "one")
    assert first is not None
    assert (first.namespace, first.key, first.value) == (DOCS, "one", value)
    assert list(first.value["deep"]["list"][3]) == ["b", "a"]
    await store.aput(DOCS, "one", {"title": "Second"})
    second = await store.aget(DOCS, "one")
    assert second is not None
    assert second.value == {"title": "Second"}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    assert await store.aget(("test", "other"), "one") is None
    await store.adelete(DOCS, "one")
    assert await store.aget(DOCS, "one") is None
    await store.adelete(DOCS, "one")


async def test_any_mapping_may_be_a_value(store: MemorandaStore) -> None:
    for value in (UserDict({"a": 1}), MappingProxyType({"a": 1})):
        await store.aput(DOCS, "mapped", value)  # type: ignore[arg-type]  # what callers do
        item = await store.aget(DOCS, "mapped")
        assert item is not None
        assert item.value == {"a": 1}


async def test_a_batch_answers_in_its_order_and_reads_before_it_puts(
    store: MemorandaStore,
) -> None:
    await store.aput(("test", "foo"), "key1", {"data": "value1"})
    await store.aput(("test", "bar"), "key2", {"data": "value2"})
    got, put, found, listed, missing, again = await store.abatch(
        [
            GetOp(("test", "foo"), "key1"),
            PutOp(("test", "foo"), "key1", {"data": "new"}),
            SearchOp(("test",), {"data": "value1"}),
            ListNamespacesOp(),
            GetOp(("test",), "key3"),
            PutOp(("test", "foo"), "key1", {"data": "newest"}),
        ]
    )
    assert got.value == {"data": "value1"}
    assert (put, missing, again) == (None, None, None)
    assert [item.key for item in found] == ["key1"]
    assert listed == [("test", "bar"), ("test", "foo")]
    last = await store.aget(("test", "foo"), "key1")
    assert last is not None
    assert last.value == {"data": "newest"}
    assert await store.abatch([]) == []


@pytest.mark.parametrize("namespace", [("foo.bar",), ("foo", ""), ("foo", 1)])
@pytest.mark.parametrize("kind", ["get", "put", "search", "list"])
async def test_a_wrong_namespace_lets_a_whole_batch_fail(
    store: MemorandaStore, namespace: Any, kind: str
) -> None:
    op: Any = {
        "get": GetOp(namespace, "key"),
        "put": PutOp(namespace, "key", {"changed": True}),
        "search": SearchOp(namespace),
        "list": ListNamespacesOp((MatchCondition("suffix", namespace),)),
    }[kind]
    await store.aput(("foo", "bar"), "key", {"original": True})
    with pytest.raises(InvalidNamespaceError):
        await store.abatch([PutOp(("valid",), "key", {}), op])
    kept = await store.aget(("foo", "bar"), "key")
    assert kept is not None
    assert kept.value == {"original": True}
    assert await store.aget(("valid",), "key") is None
    with pytest.raises(InvalidNamespaceError):
        await store.aput((), "key", {})


async def test_no_namespace_shows_what_is_in_one_that_only_begins_like_it(
    store: MemorandaStore,
) -> None:
    spaces = [
        ("foo",),
        ("foo", "child"),
        ("foo", "child", "deep"),
        ("foobar", "baz"),
        ("foo2",),
        ("user_1",),
        ("userX1",),
        ("a%b",),
        ("axxb",),
        ("alice",),
        ("alice\n",),
        ("ümlaut", "字"),
    ]
    for namespace in spaces:
        await store.aput(namespace, "k", {"v": 1})

    async def found(*prefix: str) -> set[tuple[str, ...]]:
        return {item.namespace for item in await store.asearch(prefix, limit=100)}

    assert await found("foo") == {("foo",), ("foo", "child"), ("foo", "child", "deep")}
    assert await found("foo", "child") == {("foo", "child"), ("foo", "child", "deep")}
    assert await found("fo") == set()
    assert await found("user_1") == {("user_1",)}
    assert await found("a%b") == {("a%b",)}
    assert await found("alice") == {("alice",)}
    assert await found("ümlaut") == {("ümlaut", "字")}
    assert await found() == set(spaces)


async def test_namespaces_are_listed_by_beginning_end_wildcard_and_depth(
    store: MemorandaStore,
) -> None:
    spaces = [
        ("a", "b", "c"),
        ("a", "b", "d", "e"),
        ("a", "b", "d", "i"),
        ("a", "b", "f"),
        ("a", "c", "f"),
        ("b", "a", "f"),
        ("uid", "users", "alice"),
        ("uid", "users", "malice"),
    ]
    for namespace in reversed(spaces):
        await store.aput(namespace, "k", {})
    listed = store.alist_namespaces
    assert await listed() == spaces
    assert await listed(prefix=("a", "b"), max_depth=3) == [
        ("a", "b", "c"),
        ("a", "b", "d"),
        ("a", "b", "f"),
    ]
    assert await listed(suffix=("f",)) == [("a", "b", "f"), ("a", "c", "f"), ("b", "a", "f")]
    assert await listed(prefix=("a", "*", "f")) == [("a", "b", "f"), ("a", "c", "f")]
    assert await listed(prefix=("*", "a")) == [("b", "a", "f")]
    assert await listed(suffix=("users", "*"), limit=1) == [("uid", "users", "alice")]
    assert await listed(prefix=("a",), suffix=("f",)) == [("a", "b", "f"), ("a", "c", "f")]
    assert await listed(suffix=("alice",)) == [("uid", "users", "alice")]
    assert await listed(limit=2, offset=3) == spaces[3:5]
    assert await listed(prefix=("nowhere",)) == []
    await store.adelete(("b", "a", "f"), "k")
    assert ("b", "a", "f") not in await listed()


async def test_a_search_shows_the_newest_first_page_by_page(store: MemorandaStore) -> None:
    for number in range(5):
        await store.aput(("page", str(number % 2)), f"k{number}", {"n": number})
    await store.aput(("page", "1"), "k1", {"n": 10})
    newest = ["k1", "k4", "k3", "k2", "k0"]
    assert await keys(store, "page") == newest
    assert [await keys(store, "page", limit=2, offset=at) for at in (0, 2, 4, 6)] == [
        newest[:2],
        newest[2:4],
        newest[4:],
        [],
    ]
    assert await keys(store, "page", limit=0) == []
    items = await store.asearch(("page",))
    assert all(item.score is None for item in items)


async def test_filters_compare_numbers_with_numbers_and_texts_with_texts(
    store: MemorandaStore,
) -> None:
    values: dict[str, dict[str, Any]] = {
        "a": {"score": 4.5, "color": "red", "tags": ["x", "y"], "in": {"city": "Rome", "n": 1}},
        "b": {"score": 10, "color": "green", "tags": ["x"], "in": {"city": "Bern", "n": 2}},
        "c": {"score": "9", "color": "red", "on": True},
        "d": {"color": None, "on": 1},
    }
    for key, value in values.items():
        await store.aput(("f",), key, value)

    async def meant(**wanted: Any) -> str:
        return "".join(sorted(await keys(store, "f", filter=wanted)))

    assert await meant(color="red") == "ac"
    assert await meant(color="red", score=4.5) == "a"
    assert await meant(score={"$gt": 4.5}) == "b"
    assert await meant(score={"$gte": 4.5, "$lt": 11}) == "ab"
    assert await meant(score={"$lte": "9"}) == "c"
    assert await meant(color={"$ne": "red"}) == "bd"
    assert await meant(color={"$eq": None}) == "d"
    assert await meant(tags=["x"]) == "b"
    assert await meant(**{"in": {"city": "Rome"}}) == "a"
    assert await meant(**{"in": {"n": {"$gte": 1}}}) == "ab"
    assert await meant(on=True) == "c"
    assert await meant(on=1) == "d"
    assert await meant(nothing="there") == ""
    assert await keys(store, "f", filter={"color": "red"}, limit=1, offset=1) == ["a"]
    with pytest.raises(ValueError, match=r"\$regex"):
        await meant(color={"$regex": "r.*"})


async def test_a_filter_looks_at_everything_and_not_at_a_first_page(
    store: MemorandaStore,
) -> None:
    await store.aput(("many",), "rare", {"rare": True})
    await store.abatch([PutOp(("many",), f"k{n}", {"rare": False}) for n in range(450)])
    assert await keys(store, "many", filter={"rare": True}) == ["rare"]
    assert len(await keys(store, "many", limit=1_000)) == 451


async def test_an_item_lives_on_from_when_it_was_last_asked_for(
    store: MemorandaStore, hands: Hands
) -> None:
    await store.aput(("t",), "short", {"n": 1}, ttl=10)
    await store.aput(("t",), "ever", {"n": 2})
    hands.move(minutes=8)
    assert await store.aget(("t",), "short") is not None
    hands.move(minutes=8)
    assert await keys(store, "t") == ["ever", "short"]
    hands.move(minutes=8)
    assert await store.aget(("t",), "short", refresh_ttl=False) is not None
    hands.move(minutes=3)
    assert await store.aget(("t",), "short") is None
    assert await keys(store, "t") == ["ever"]
    await store.aput(("gone",), "k", {}, ttl=1)
    assert ("gone",) in await store.alist_namespaces()
    hands.move(minutes=2)
    assert ("gone",) not in await store.alist_namespaces()
    assert await store.asweep_ttl() == 1
    assert await store.asweep_ttl() == 0


async def test_what_expired_is_made_anew_and_not_brought_back(
    store: MemorandaStore, hands: Hands
) -> None:
    await store.aput(("t",), "k", {"n": 1}, ttl=1)
    before = hands.now
    hands.move(minutes=2)
    await store.aput(("t",), "k", {"n": 2}, ttl=None)
    item = await store.aget(("t",), "k")
    assert item is not None
    assert item.created_at > before
    hands.move(days=400)
    assert await store.aget(("t",), "k") is not None
    for wrong in (0, -1, 1e12):
        with pytest.raises(ValueError, match="ttl"):
            await store.aput(("t",), "k", {}, ttl=wrong)


async def test_a_stores_own_ttl_is_that_of_items_without_one(
    memoranda: Memoranda, made: dict[str, Any], hands: Hands
) -> None:
    own = MemorandaStore(memoranda, **made, ttl={"default_ttl": 5, "refresh_on_read": False})
    await own.aput(("t",), "default", {})
    await own.aput(("t",), "never", {}, ttl=None)
    hands.move(minutes=4)
    assert await own.aget(("t",), "default") is not None
    hands.move(minutes=2)
    assert await own.aget(("t",), "default") is None
    assert await own.aget(("t",), "never") is not None


async def test_a_night_deletes_what_expired(
    memoranda: Memoranda, acme: Tenant, store: MemorandaStore, hands: Hands
) -> None:
    await store.aput(("t",), "k", {}, ttl=1)
    hands.move(minutes=2)
    assert acme.owner.organization_id is not None
    assert await memoranda.graphs.items.prune(acme.owner.organization_id) >= 1
    assert await memoranda.graphs.items.prune(acme.owner.organization_id) == 0


async def test_a_query_finds_the_nearest_first_and_then_what_has_no_vector(
    memoranda: Memoranda, made: dict[str, Any], letters: Letters
) -> None:
    store = MemorandaStore(with_letters(memoranda, letters), **made, fields=["text"])
    docs = {"zebra": "zany zebra Xerxes", "dogs": "something about dogs", "birds": "text of birds"}
    for key, text in docs.items():
        await store.aput(("q",), key, {"text": text, "kind": "long" if len(text) > 15 else "short"})
    await store.aput(("q",), "bare", {"text": "zany Xerxes"}, index=False)
    found = await store.asearch(("q",), query="Zany Xerxes")
    assert found[0].key == "zebra"
    assert [item.key for item in found][-1] == "bare"
    scores: list[Any] = [item.score for item in found]
    assert scores[-1] is None
    assert scores[:-1] == sorted(scores[:-1], reverse=True)
    assert await keys(store, "q", query="birds", filter={"kind": "long"}) == ["dogs", "zebra"] or (
        await keys(store, "q", query="birds", filter={"kind": "long"}) == ["zebra", "dogs"]
    )
    pages = [await keys(store, "q", query="dogs", limit=2, offset=at) for at in (0, 2)]
    assert sorted(pages[0] + pages[1]) == ["bare", "birds", "dogs", "zebra"]
    assert pages[0][0] == "dogs"
    await store.aput(("q",), "zebra", {"text": "new text about dogs"})
    after = {item.key: item.score for item in await store.asearch(("q",), query="Zany Xerxes")}
    assert after["zebra"] < scores[0]
    assert await keys(store, "q", query="  ") == await keys(store, "q")


async def test_an_item_is_found_by_the_nearest_of_its_fields(
    memoranda: Memoranda, made: dict[str, Any], letters: Letters
) -> None:
    store = MemorandaStore(
        with_letters(memoranda, letters), **made, fields=["key0", "key1", "key3"]
    )
    await store.aput(("p",), "doc1", {"key1": "xxx", "key2": "yyy", "key3": "zzz"})
    await store.aput(("p",), "doc2", {"key0": "uuu", "key1": "vvv", "key2": "www", "key3": "xxx"})
    one, other = await store.asearch(("p",), query="xxx")
    assert one.score == other.score == 1
    for query, first in (("uuu", "doc2"), ("zzz", "doc1")):
        found = await store.asearch(("p",), query=query)
        assert (found[0].key, found[0].score) == (first, 1)
        assert found[1].score == 0
    assert {item.score for item in await store.asearch(("p",), query="www")} == {0}
    value = {"parts": [{"text": "aaa"}, {"text": "bbb"}], "meta": {"title": "ccc"}}
    await store.aput(("own",), "doc3", value, index=["parts[*].text", "meta.title"])
    for query in ("aaa", "bbb", "ccc"):
        [item] = await store.asearch(("own",), query=query)
        assert item.score == 1


async def test_without_fields_all_of_a_value_is_what_it_is_found_by(
    memoranda: Memoranda, made: dict[str, Any], letters: Letters
) -> None:
    store = MemorandaStore(with_letters(memoranda, letters), **made)
    texts = ["这是中文", "これは日本語です", "이건 한국어야", "Это русский", "यह रूसी है"]
    for number, text in enumerate(texts):
        await store.aput(("u", "memories"), str(number), {"text": text})
    for number, text in enumerate(texts):
        assert (await keys(store, "u", "memories", query=text))[0] == str(number)


async def test_an_embedder_that_is_away_keeps_nothing_from_being_put_or_found(
    memoranda: Memoranda, made: dict[str, Any], letters: Letters
) -> None:
    store = MemorandaStore(with_letters(memoranda, letters), **made)
    await store.aput(("w",), "near", {"text": "aaa"})
    letters.away = True
    await store.aput(("w",), "late", {"text": "aaa"})
    assert await keys(store, "w", query="aaa") == ["late", "near"]
    letters.away = False
    found = await store.asearch(("w",), query="aaa")
    assert [item.key for item in found] == ["near", "late"]
    assert found[1].score is None


async def test_without_an_embedder_a_query_shows_the_newest_items(store: MemorandaStore) -> None:
    await store.aput(("n",), "a", {"text": "apples"})
    await store.aput(("n",), "b", {"text": "pears"})
    assert await keys(store, "n", query="apples") == ["b", "a"]


async def test_two_subjects_and_two_organizations_see_nothing_of_each_other(
    memoranda: Memoranda, acme: Tenant
) -> None:
    other = await new_tenant(memoranda.storage, "Globex")
    stores = [
        MemorandaStore(memoranda, acme.owner),
        MemorandaStore(memoranda, acme.owner, user_id=acme.anna.id),
        MemorandaStore(memoranda, acme.member(acme.ben)),
        MemorandaStore(memoranda, acme.owner, agent_id=acme.scout.id),
        MemorandaStore(memoranda, acme.key_of(acme.scout, acme.anna)),
        MemorandaStore(memoranda, other.owner),
    ]
    for number, each in enumerate(stores):
        await each.aput(("same",), "key", {"n": number})
    for number, each in enumerate(stores):
        [item] = await each.asearch(())
        assert item.value == {"n": number}
        assert await each.alist_namespaces() == [("same",)]
    as_anna = MemorandaStore(memoranda, acme.member(acme.anna))
    seen = await as_anna.aget(("same",), "key")
    assert seen is not None
    assert seen.value == {"n": 1}
    await stores[5].adelete(("same",), "key")
    assert await as_anna.aget(("same",), "key") is not None
    with pytest.raises(Refused):
        await MemorandaStore(memoranda, acme.member(acme.anna), user_id=acme.ben.id).aget(DOCS, "k")
    for stranger in ({"user_id": other.anna.id}, {"user_id": new_id()}):
        with pytest.raises(NotFound):
            await MemorandaStore(memoranda, acme.owner, **stranger).aput(DOCS, "k", {})


async def test_a_reader_reads_and_writes_nothing_not_even_by_reading(
    memoranda: Memoranda, acme: Tenant, made: dict[str, Any], store: MemorandaStore, hands: Hands
) -> None:
    await store.aput(("t",), "k", {"n": 1}, ttl=10)
    reader = MemorandaStore(memoranda, acme.reader, user_id=made["user_id"])
    hands.move(minutes=8)
    assert await reader.aget(("t",), "k") is not None
    with pytest.raises(Refused):
        await reader.aput(("t",), "k", {})
    hands.move(minutes=3)
    assert await store.aget(("t",), "k") is None
    operator = Principal(organization_id=None, role=Role.OPERATOR)
    with pytest.raises(Refused):
        await MemorandaStore(memoranda, operator).aget(("t",), "k")


async def test_what_no_store_could_give_back_is_refused_by_name(store: MemorandaStore) -> None:
    wrong: list[tuple[Any, Any]] = [
        ("k", {"a": float("nan")}),
        ("k", {"a": object()}),
        ("k", {"a": "nul \0"}),
        ("k", {"a": "\ud800"}),
        ("k\0", {}),
    ]
    for key, value in wrong:
        with pytest.raises(ValueError, match=r"value|key"):
            await store.aput(DOCS, key, value)
    with pytest.raises(OverLimit):
        await store.aput(DOCS, "k", {"a": "x" * 1_000_001})
    with pytest.raises(OverLimit):
        await store.aput(DOCS, "k" * 501, {})
    with pytest.raises(OverLimit):
        await store.aput(("字" * 400,), "k", {})
    with pytest.raises(OverLimit):
        await store.aput(("x" * 99,) * 11, "k", {})
    await store.aput(("字" * 332,), "字" * 166, {"a": 1})
    assert len(await store.asearch(("字" * 332,))) == 1
    for asked in ({"limit": -1}, {"offset": -1}, {"limit": 10_001}):
        with pytest.raises(ValueError, match=r"limit|offset"):
            await store.asearch(DOCS, **asked)
    assert await store.asearch(DOCS) == []


async def test_writers_at_once_lose_nothing(store: MemorandaStore) -> None:
    async def write(number: int) -> None:
        spaces = [("w", str(n)) for n in range(4)]
        order = spaces if number % 2 else spaces[::-1]
        await store.abatch([PutOp(each, "shared", {"n": number}) for each in order])
        await store.aput(("w", "own"), str(number), {"n": number})

    await asyncio.gather(*(write(number) for number in range(12)))
    assert len(await keys(store, "w", "own", limit=100)) == 12
    shared = [
        item.value["n"] for item in await store.asearch(("w",), limit=100) if item.key == "shared"
    ]
    assert len(shared) == 4
    assert len(set(shared)) == 1  # whole batches, one after the other


async def test_threads_call_the_synchronous_methods_and_the_loops_own_is_told_to_await(
    store: MemorandaStore,
) -> None:
    def work() -> list[str]:
        store.put(("sync",), "k", {"n": 1})
        assert store.get(("sync",), "k") is not None
        assert store.list_namespaces() == [("sync",)]
        assert store.sweep_ttl() == 0
        return [item.key for item in store.search(("sync",))]

    assert await anyio.to_thread.run_sync(work) == ["k"]
    for kind in (RuntimeError, asyncio.InvalidStateError):  # the second is LangGraph's own
        with pytest.raises(kind, match="begins with an a"):
            store.get(("sync",), "k")
    with pytest.raises(RuntimeError, match=r"sync\.Memoranda"):
        await anyio.to_thread.run_sync(MemorandaStore, store._home.memoranda)


async def test_a_users_removal_takes_items_along(
    memoranda: Memoranda, acme: Tenant, made: dict[str, Any], store: MemorandaStore
) -> None:
    await store.aput(("t",), "k", {"secret": "apricot"})
    await memoranda.removal.erase_user(acme.owner, made["user_id"])
    assert await store.asearch(()) == []


async def test_memorandas_own_embedder_finds_by_meaning(sqlite_database: str) -> None:
    async with Memoranda.open(sqlite_database, migrate=False) as memoranda:
        store = MemorandaStore(memoranda, fields=["text"])
        for key, text in {
            "car": "The automobile needs new tires.",
            "food": "We had pasta for dinner.",
            "sky": "Stars are best seen far from cities.",
        }.items():
            await store.aput(("m",), key, {"text": text})
        assert (await keys(store, "m", query="vehicle maintenance"))[0] == "car"
        assert (await keys(store, "m", query="astronomy at night"))[0] == "sky"
