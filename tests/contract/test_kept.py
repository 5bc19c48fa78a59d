"""What frameworks keep is seen by whom it concerns: listed, shown piece by piece, exported, counted."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from memoranda.access.models import Principal
from memoranda.access.reach import EVERYBODY
from memoranda.access.roles import organization_of
from memoranda.app import Memoranda
from memoranda.conversations.histories.kept import service as histories
from memoranda.conversations.sessions.kept import service as sessions
from memoranda.graphs.checkpoints.models import At, Write
from memoranda.graphs.items.models import PutItem
from memoranda.kept.models import KeptCounts
from memoranda.words.errors import Invalid, NotFound, Refused
from memoranda.words.ids import new_id
from tests.contract.kept_house import Keeping, packed
from tests.contract.tenants import Tenant, new_tenant

NOTHING = KeptCounts(**dict.fromkeys(KeptCounts.model_fields, 0))


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    async with Memoranda.open(database_url) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


async def told(memoranda: Memoranda, who: Principal, **asked: Any) -> str:
    """All that any list, look or export tells the caller."""
    graphs, hosts = memoranda.graphs, memoranda.kept
    seen: list[Any] = []
    threads = (await graphs.threads.page(who, **asked)).items
    for each in threads:
        whose = {"user_id": each.user_id, "agent_id": each.agent_id}
        steps = (await graphs.threads.checkpoints(who, each.thread_id, **whose)).items
        seen += [each, *steps]
        for step in steps:
            at = At(each.thread_id, step.namespace, step.checkpoint_id)
            seen.append(await graphs.threads.checkpoint(who, at, **whose))
    items = (await graphs.namespaces.items(who, **asked)).items
    seen += [await graphs.namespaces.item(who, each.id) for each in items]
    seen += (await graphs.namespaces.page(who, **asked)).items
    seen += (await memoranda.conversations.branches.page(who, **asked)).items
    user = {"user_id": asked.get("user_id")}
    for history in (await hosts.histories.page(who, **user)).items:
        seen.append(await hosts.histories.get(who, history.id))
        seen += (await hosts.histories.entries(who, history.id)).items
    for session in (await hosts.sessions.page(who, **user)).items:
        seen.append(await hosts.sessions.get(who, session.id))
        seen += (await hosts.sessions.events(who, session.id)).items
    seen += (await hosts.sessions.states(who, **user)).items
    return "\n".join(each.model_dump_json() for each in seen)


async def export(memoranda: Memoranda, who: Principal, **asked: Any) -> list[dict[str, Any]]:
    return [json.loads(each) async for each in memoranda.kept.export(who, **asked)]


async def test_an_owner_sees_all_and_a_member_what_is_its_own(
    memoranda: Memoranda, acme: Tenant
) -> None:
    anna = Keeping(memoranda, acme.owner, "annas", acme.anna.id)
    ben = Keeping(memoranda, acme.owner, "bens", acme.ben.id, acme.scout.id)
    for each in (anna, ben):
        await each.everything()
    for who, words in (
        (acme.owner, {"annas", "bens"}),
        (acme.reader, {"annas", "bens"}),
        (acme.member(acme.anna), {"annas"}),
        (acme.member(acme.ben), {"bens"}),
    ):
        seen, lines = await told(memoranda, who), str(await export(memoranda, who))
        for said in (seen, lines):
            assert {word for word in ("annas", "bens") if word in said} == words
        counts = await memoranda.kept.counts(who)
        assert counts.checkpoints == counts.items == counts.histories == len(words)
        assert counts.sessions == counts.session_events == counts.branches == len(words)
        assert counts.history_entries == 3 * len(words)
    only = await told(memoranda, acme.owner, user_id=acme.anna.id)
    assert "annas" in only
    assert "bens" not in only
    assert "bens" not in str(await export(memoranda, acme.owner, user_id=acme.anna.id))
    mine = await memoranda.kept.counts(acme.owner, user_id=acme.anna.id)
    assert mine == await memoranda.kept.counts(acme.member(acme.anna))


async def test_a_member_names_nobody_else_and_finds_no_row_of_anothers(
    memoranda: Memoranda, acme: Tenant
) -> None:
    await Keeping(memoranda, acme.owner, "bens", acme.ben.id).everything()
    anna, owner, kept = acme.member(acme.anna), acme.owner, memoranda.kept
    [item] = (await memoranda.graphs.namespaces.items(owner)).items
    [history] = (await kept.histories.page(owner)).items
    [session] = (await kept.sessions.page(owner)).items
    before = await kept.counts(owner)
    for asked in (
        memoranda.graphs.namespaces.item(anna, item.id),
        memoranda.graphs.namespaces.purge_item(anna, item.id),
        memoranda.graphs.namespaces.purge(anna, ("bens",)),
        memoranda.graphs.threads.checkpoints(anna, "bens-thread"),
        memoranda.graphs.threads.checkpoint(anna, At("bens-thread", "bens")),
        memoranda.graphs.threads.purge(anna, "bens-thread"),
        kept.histories.get(anna, history.id),
        kept.histories.entries(anna, history.id),
        kept.histories.purge(anna, history.id),
        kept.sessions.get(anna, session.id),
        kept.sessions.events(anna, session.id),
        kept.sessions.purge(anna, session.id),
        kept.sessions.purge_state(anna, "desk", str(acme.ben.id)),
        kept.sessions.purge_state(anna, "desk"),
    ):
        with pytest.raises(NotFound):
            await asked
    for asked in (
        memoranda.graphs.threads.page(anna, user_id=acme.ben.id),
        memoranda.graphs.namespaces.items(anna, user_id=acme.ben.id),
        kept.histories.page(anna, user_id=acme.ben.id),
        kept.sessions.page(anna, user_id=acme.ben.id),
        kept.counts(anna, user_id=acme.ben.id),
        memoranda.conversations.branches.page(anna, user_id=acme.ben.id),
    ):
        with pytest.raises(Refused):
            await asked
    assert await kept.counts(owner) == before


async def test_what_nobody_is_named_for_is_the_organizations(
    memoranda: Memoranda, acme: Tenant
) -> None:
    nobodys = Keeping(memoranda, acme.owner, "nobodys", None)
    await nobodys.graph()
    await nobodys.history()
    await nobodys.branches()
    assert "nobodys" in await told(memoranda, acme.owner)
    assert "nobodys" not in await told(memoranda, acme.member(acme.anna))
    assert await memoranda.kept.counts(acme.member(acme.anna)) == NOTHING


async def test_an_agents_key_sees_exactly_its_own_of_graphs_and_no_histories(
    memoranda: Memoranda, acme: Tenant
) -> None:
    for word, user, agent in (
        ("own", None, acme.scout.id),
        ("for-anna", acme.anna.id, acme.scout.id),
        ("clerks", None, acme.clerk.id),
        ("annas", acme.anna.id, None),
    ):
        kept = Keeping(memoranda, acme.owner, word, user, agent)
        await kept.graph()
        await kept.branches()
    await Keeping(memoranda, acme.owner, "annas", acme.anna.id).history()
    for who, own in (
        (acme.key_of(acme.scout), "own"),
        (acme.key_of(acme.scout, acme.anna), "for-anna"),
    ):
        threads = (await memoranda.graphs.threads.page(who)).items
        items = (await memoranda.graphs.namespaces.items(who)).items
        branches = (await memoranda.conversations.branches.page(who)).items
        assert [each.thread_id for each in threads] == [f"{own}-thread"]
        assert [each.key for each in items] == [f"{own}-key"]
        assert [each.name for each in branches] == [f"{own}-way"]
        lines = str(await export(memoranda, who))
        assert own in lines
        assert not [each for each in ("clerks", "annas-") if each in lines]
        for refused in (memoranda.kept.histories.page(who), memoranda.kept.sessions.page(who)):
            with pytest.raises(Refused):
                await refused
        counts = await memoranda.kept.counts(who)
        assert (counts.checkpoints, counts.histories, counts.branches) == (1, 0, 1)


async def test_another_organization_sees_nothing_of_it(memoranda: Memoranda, acme: Tenant) -> None:
    await Keeping(memoranda, acme.owner, "acmes", acme.anna.id).everything()
    other = await new_tenant(memoranda.storage, "Other")
    assert await told(memoranda, other.owner) == ""
    assert await memoranda.kept.counts(other.owner) == NOTHING
    assert [each.get("kind") for each in await export(memoranda, other.owner)] == [None, "end"]
    [item] = (await memoranda.graphs.namespaces.items(acme.owner)).items
    [history] = (await memoranda.kept.histories.page(acme.owner)).items
    [session] = (await memoranda.kept.sessions.page(acme.owner)).items
    for asked in (
        memoranda.graphs.namespaces.purge_item(other.owner, item.id),
        memoranda.kept.histories.purge(other.owner, history.id),
        memoranda.kept.sessions.purge(other.owner, session.id),
        memoranda.graphs.threads.purge(other.owner, "acmes-thread", user_id=acme.anna.id),
        memoranda.graphs.namespaces.purge(other.owner, ("acmes",), user_id=acme.anna.id),
        memoranda.kept.sessions.purge_state(other.owner, "desk", str(acme.anna.id)),
    ):
        with pytest.raises(NotFound):
            await asked


async def test_lists_go_on_where_their_pages_end(memoranda: Memoranda, acme: Tenant) -> None:
    graphs, kept, who = memoranda.graphs, memoranda.kept, acme.owner
    words = [f"word{n}" for n in range(5)]
    for word in words:
        await Keeping(memoranda, who, word, acme.anna.id).everything()
        await Keeping(memoranda, who, word, acme.ben.id, acme.scout.id).graph()
    for page, many, name in (
        (graphs.threads.page, 10, lambda each: (each.thread_id, each.user_id)),
        (graphs.namespaces.page, 10, lambda each: (tuple(each.namespace), each.user_id)),
        (graphs.namespaces.items, 10, lambda each: each.id),
        (kept.histories.page, 5, lambda each: each.id),
        (kept.sessions.page, 5, lambda each: each.id),
        (kept.sessions.states, 2, lambda each: (each.application, each.person)),
        (memoranda.conversations.branches.page, 5, lambda each: each.id),
    ):
        seen, cursor = [], None
        while True:
            found = await page(who, limit=1, cursor=cursor)
            seen += map(name, found.items)
            cursor = found.next_cursor
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == many
        assert seen == [name(each) for each in (await page(who, limit=10)).items]
        for wrong in ("", "x", "\ud800", seen and "A" * 44):
            with pytest.raises(Invalid):
                await page(who, cursor=wrong)


async def test_a_checkpoint_is_shown_piece_by_piece_and_nothing_is_left_out(
    memoranda: Memoranda, acme: Tenant
) -> None:
    kept = Keeping(memoranda, acme.owner, "word", acme.anna.id)
    await kept.graph()
    whose = {"user_id": acme.anna.id}
    large = kept.checkpoint("2", size=5_000)
    await memoranda.graphs.checkpoints.keep(acme.owner, large, **whose)
    threads = memoranda.graphs.threads
    steps = (await threads.checkpoints(acme.owner, kept.thread, **whose)).items
    assert [each.checkpoint_id for each in steps] == ["2", "1"]
    found: dict[str, bytes] = {}
    asked = 0
    while True:
        shown = await threads.checkpoint(
            acme.owner, At(kept.thread, "word"), after=asked * 700, most=700, **whose
        )
        for each in shown.parts:
            assert each.begin == len(found.get(each.name, b""))
            found[each.name] = found.get(each.name, b"") + base64.b64decode(each.body)
        asked += 1
        if shown.next_after is None:
            break
        assert shown.next_after == asked * 700
    assert shown.checkpoint_id == "2"
    assert asked > 7
    assert found == {
        "state": large.state.body,
        "metadata": large.metadata.body,
        "values.word-channel": large.values[0].value.body,
    }
    first = await threads.checkpoint(acme.owner, At(kept.thread, "word", "1"), **whose)
    assert first.next_after is None
    assert {each.name for each in first.parts} == {
        "state",
        "metadata",
        "values.word-channel",
        "writes.word-task.0.word-channel",
    }
    assert (
        "word writes"
        in {each.name: each.text for each in first.parts}["writes.word-task.0.word-channel"]
    )
    [thread] = (await threads.page(acme.owner)).items
    assert thread.checkpoints == 2
    everything = [*first.parts, *shown.parts]
    assert thread.bytes == first.bytes + shown.bytes, everything


async def test_a_thread_without_a_checkpoint_is_seen_and_can_be_forgotten(
    memoranda: Memoranda, acme: Tenant
) -> None:
    await Keeping(memoranda, acme.owner, "word", acme.anna.id).graph()
    graphs, whose = memoranda.graphs, {"user_id": acme.anna.id}
    write = Write(0, "channel", packed("before"))
    await graphs.checkpoints.write(acme.owner, At("early", "", "1"), "task", [write], **whose)
    early = (await graphs.threads.page(acme.owner)).items[0]
    assert (early.thread_id, early.checkpoints, early.last_at) == ("early", 0, None)
    assert early.bytes > 0
    assert (await graphs.threads.checkpoints(acme.owner, "early", **whose)).items == []
    lines = await export(memoranda, acme.owner)
    of_it = [each for each in lines if each.get("thread_id") == "early"]
    assert ["before" in each.get("text", "") for each in of_it] == [False, True]
    assert (await graphs.threads.purge(acme.owner, "early", **whose)).rows == 1
    with pytest.raises(NotFound):
        await graphs.threads.checkpoints(acme.owner, "early", **whose)


async def test_a_page_of_what_was_said_ends_before_it_is_too_large(
    memoranda: Memoranda, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Keeping(memoranda, acme.owner, "word", acme.anna.id)
    await kept.everything()
    for room in (histories, sessions):
        monkeypatch.setattr(room, "PAGE_BYTES", 40)
    [history] = (await memoranda.kept.histories.page(acme.owner)).items
    names, cursor = [], None
    while True:
        page = await memoranda.kept.histories.entries(acme.owner, history.id, cursor=cursor)
        assert len(page.items) == 1
        names += [each.name for each in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert names == ["word-a", "word-b", "word-c"]
    other = await new_tenant(memoranda.storage, "Other")
    with pytest.raises(NotFound):
        await memoranda.kept.histories.entries(other.owner, history.id)


async def test_an_item_that_has_expired_is_not_there(memoranda: Memoranda, acme: Tenant) -> None:
    put = PutItem(("a",), "k", {"v": 1}, ttl_ms=1)
    await memoranda.graphs.items.batch(acme.owner, [put])
    organization = organization_of(acme.owner)
    [item] = [each async for each in memoranda.graphs.namespaces.kept(organization, EVERYBODY)]
    await asyncio.sleep(0.01)
    namespaces = memoranda.graphs.namespaces
    assert (await namespaces.page(acme.owner)).items == []
    assert (await namespaces.items(acme.owner)).items == []
    with pytest.raises(NotFound):
        await namespaces.item(acme.owner, item.id)
    assert (await namespaces.purge(acme.owner, ("a",))).rows == 1


async def test_a_namespace_takes_what_is_below_it_and_not_its_neighbors(
    memoranda: Memoranda, acme: Tenant
) -> None:
    puts = [PutItem(each, "k", {"v": 1}) for each in (("a",), ("a", "b"), ("ab",), ("b",))]
    await memoranda.graphs.items.batch(acme.owner, puts)
    namespaces = memoranda.graphs.namespaces
    below = (await namespaces.items(acme.owner, ("a",))).items
    assert sorted(each.namespace for each in below) == [["a"], ["a", "b"]]
    assert (await namespaces.purge(acme.owner, ("a",))).rows == 2
    left = (await namespaces.page(acme.owner)).items
    assert [each.namespace for each in left] == [["ab"], ["b"]]
    for wrong in ((), ("",), ("a.b",), ("\0",)):
        with pytest.raises(Invalid):
            await namespaces.purge(acme.owner, wrong)
    with pytest.raises(NotFound):
        await namespaces.purge(acme.owner, ("a",))
    with pytest.raises(NotFound):
        await namespaces.purge_item(acme.owner, new_id())


async def test_whoever_names_nobody_is_told_that_the_organizations_own_was_looked_for(
    memoranda: Memoranda, acme: Tenant
) -> None:
    """Not whether there is such a thing of somebody's: it reads the same where nothing is."""
    graphs, told = memoranda.graphs, []
    for word in ("annas", "nobodys"):
        if word == "annas":
            await Keeping(memoranda, acme.owner, word, acme.anna.id).graph()
        for asked in (
            graphs.threads.checkpoints(acme.owner, f"{word}-thread"),
            graphs.threads.purge(acme.owner, f"{word}-thread"),
            graphs.threads.checkpoint(acme.owner, At(f"{word}-thread", word)),
            graphs.namespaces.purge(acme.owner, (word,)),
        ):
            with pytest.raises(NotFound) as refused:
                await asked
            assert "for the organization itself" in refused.value.message
            assert "user_id" in refused.value.message
            told.append(refused.value.message.replace(word, ""))
    assert told[:4] == told[4:]
    with pytest.raises(NotFound, match="kept for this user and agent"):
        await graphs.threads.purge(
            acme.owner, "annas-thread", user_id=acme.anna.id, agent_id=acme.scout.id
        )
    with pytest.raises(NotFound, match=r"kept for this user\."):
        await graphs.threads.purge(acme.member(acme.ben), "annas-thread")
