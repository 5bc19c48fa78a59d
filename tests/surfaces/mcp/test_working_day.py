"""A day of four clients at once, two of which die in the middle of it: what they were told is so, and nothing else."""

import sqlite3
from collections import Counter, defaultdict
from contextlib import closing
from typing import Any, Final
from uuid import UUID

import pytest

from memoranda.app import Memoranda
from memoranda.tools.journal.line import UNKNOWN
from memoranda.tools.models import ToolCall
from tests.surfaces.mcp.tenants import Tenant
from tests.surfaces.mcp.whole_day import CALLS, CLIENTS, KILLED, Day, changed, whole_day
from tests.surfaces.mcp.working_day import SHARES, WRITES, Delivery

ROOM: Final = 700
"""How many memories there may be, few enough that the clients come to the end of it."""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def day(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Day:
    """The whole day, once per backend, with memories that are found by words alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMORANDA_MAX_MEMORIES", str(ROOM))
        patch.setenv("MEMORANDA_EMBEDDER", "none")
        return whole_day(module_database_url, tmp_path_factory.mktemp("ledgers"))


def test_every_step_of_the_day_came_to_an_answer(day: Day) -> None:
    ended = {(each.client, each.step) for each in day.deliveries if each.final}
    assert len(ended) == CALLS
    assert all(day.cut_off.get(name) for name in KILLED), day.cut_off
    assert sum(each.given_up for each in day.deliveries) > 10
    tools = {each.request.tool for each in day.deliveries if each.done}
    assert tools == SHARES.keys() - {"again", "wrong", "reuse"}
    codes = Counter(each.said["code"] for each in day.deliveries if each.refused)
    expected = {"stale_version", "duplicate_memory", "invalid_input", "memories_full"}
    assert expected | {"unknown_tool", "idempotency_key_reused"} <= codes.keys(), codes


def test_every_change_that_was_acknowledged_is_there_exactly_once(day: Day) -> None:
    revisions = day.revisions()
    receipts = {row.key: row for row in day.kept.receipts}
    answers = day.answers()
    for call, delivery in answers.items():
        [row] = revisions.pop(call)
        assert delivery.said["outcome"] == "done"
        assert (str(row.memory_id), row.version) == _place(delivery.said)
        assert row.text == _text(delivery)
        assert (
            row.version == delivery.request.arguments.get("expected_version", row.version - 1) + 1
        )
        assert receipts.pop(str(delivery.request.key)).answer == delivery.said
    # What is left was done for somebody who gave up before the answer came, and was refused later.
    unheard = {
        each.request.call: each.request.key
        for each in day.deliveries
        if not each.heard and each.request.call not in answers
    }
    assert revisions.keys() <= unheard.keys()
    assert receipts.keys() == {unheard[call] for call in revisions}
    assert len({_place(each.said) for each in answers.values()}) == len(answers)


def test_chains_are_lines_with_one_head_and_no_version_is_missing(day: Day) -> None:
    chains = defaultdict(list)
    for row in sorted(day.kept.revisions, key=lambda row: row.version):
        chains[row.memory_id].append(row)
    assert chains.keys() == {row.id for row in day.kept.memories}
    for head in day.kept.memories:
        chain = chains[head.id]
        assert [row.version for row in chain] == list(range(1, head.version + 1))
        assert [row.supersedes_id for row in chain] == [None, *(row.id for row in chain[:-1])]
        assert head.head_id == chain[-1].id
        assert head.live is (chain[-1].text is not None)


async def test_the_product_itself_shows_every_change(day: Day) -> None:
    rows = {(row.memory_id, row.version): row.text for row in day.kept.revisions}
    owner, shown, listed, cursor = day.two.acme.owner, {}, {}, None
    async with Memoranda.open(day.two.url, migrate=False) as product:
        for memory in day.kept.memories:
            for each in await product.memories.history(owner, memory.id):
                shown[memory.id, each.version] = each.text
        while True:
            page = await product.memories.page(owner, limit=200, cursor=cursor)
            listed.update({memory.id: (memory.version, memory.text) for memory in page.items})
            cursor = page.next_cursor
            if cursor is None:
                break
    assert shown == rows
    assert listed == {
        row.id: (row.version, rows[row.id, row.version]) for row in day.kept.memories if row.live
    }


def test_the_same_call_again_is_answered_the_same_and_does_nothing(day: Day) -> None:
    replays = 0
    for call, deliveries in day.writes().items():
        done = [each for each in deliveries if changed(each)]
        assert all(each.said == done[0].said for each in done)
        fresh = [each for each in done if not each.replayed]
        unheard = [each for each in deliveries if not each.heard]
        assert len(fresh) <= 1, call
        assert len(fresh) == 1 or not done or unheard, call
        replays += len(done) - len(fresh)
        for first in done:
            assert all(_again(each) for each in deliveries if _after(first, each)), call
    assert replays > 100


def test_the_journal_has_a_line_for_each_answer_and_none_that_nobody_called(day: Day) -> None:
    noted, told, unheard = Counter(), Counter(), Counter()
    people = {name: _people(name, day.two.acme) for name in CLIENTS}
    for line in day.journal:
        noted[_noted(line)] += 1
    for each in day.deliveries:
        place = (*_called(each), *people[each.client])
        if each.heard:
            told[(*place, *_ended(each))] += 1
        else:
            unheard[place] += 1
    assert told - noted == Counter(), "answered, and not noted"
    more = Counter()
    for line, times in (noted - told).items():
        more[line[:4]] += times
    assert more - unheard == Counter(), "noted, and never called"
    done = Counter(line[0] for line in noted.elements() if line[4] == "done" and line[1] in WRITES)
    assert done == Counter(day.revisions().keys())


async def test_counts_and_events_say_what_the_rows_say(day: Day) -> None:
    kept = day.kept
    [counts] = kept.counts
    live = sum(row.live for row in kept.memories)
    assert (counts.active, counts.forgotten) == (live, len(kept.memories) - live)
    assert (counts.pinned, counts.waiting, counts.discarded, counts.dropped) == (0, 0, 0, 0)
    assert live <= ROOM
    async with Memoranda.open(day.two.url, migrate=False) as product:
        stats = await product.memories.stats(day.two.acme.owner)
    assert (stats.active, stats.forgotten, stats.proposed) == (live, counts.forgotten, 0)
    changes = Counter((str(row.memory_id), row.version) for row in kept.revisions)
    told = [row for row in kept.events if row.type == "memory.updated"]
    assert Counter(_place(row.metadata) for row in told) == changes
    active = [row for row in kept.activities if row.type.startswith("memory_fact_")]
    assert Counter((str(row.subject_id), row.metadata["version"]) for row in active) == changes
    numbers = sorted(row.number for row in kept.events)
    assert numbers == list(range(1, kept.last_event[0].last + 1))


def test_whatever_a_client_read_was_so(day: Day) -> None:
    said = {(str(row.memory_id), row.version): row.text for row in day.kept.revisions}
    bound = {str(row.id): (row.user_id, row.agent_id) for row in day.kept.memories}
    acme, read = day.two.acme, 0
    for delivery in day.deliveries:
        for memory_id, version, text in delivery.said.get("memories", []) if delivery.done else ():
            assert said[memory_id, version] == text
            user, agent = bound[memory_id]
            if delivery.client == "anna":
                assert user in {None, acme.anna.id}
            if delivery.client == "scout":
                assert (user, agent in {None, acme.scout.id}) == (None, True)
            read += 1
    assert read > 1_000


def test_nothing_waits_and_the_file_is_whole(day: Day) -> None:
    assert (day.kept.approvals, day.kept.proposals, day.kept.signals) == ([], [], [])
    if day.two.url.startswith("sqlite"):
        with closing(sqlite3.connect(day.two.url.removeprefix("sqlite:///"))) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert raw.execute("PRAGMA foreign_key_check").fetchall() == []


def _place(said: Any) -> tuple[str, int]:
    return said["memory_id"], said["version"]


def _text(delivery: Delivery) -> str | None:
    """What the memory says once this is done; nothing where it is forgotten."""
    arguments = delivery.request.arguments
    said = arguments.get("content") or arguments.get("patch", {}).get("content")
    return None if said is None else str(said)


def _after(first: Delivery, other: Delivery) -> bool:
    """Whether the same client sent the other once it had its answer."""
    return (
        first.answered_at is not None
        and first.client == other.client
        and other.sent_at > first.answered_at
    )


def _again(delivery: Delivery) -> bool:
    return delivery.replayed or not delivery.final


def _people(client: str, acme: Tenant) -> tuple[UUID | None, UUID | None]:
    """Of which user and of which agent a client's calls are."""
    known = {"anna": (acme.anna.id, None), "scout": (None, acme.scout.id)}
    return known.get(client, (acme.owner.user_id, None))


def _called(delivery: Delivery) -> tuple[str | None, str]:
    """Which request, and which tool, as the journal has them."""
    request = delivery.request
    known = request.tool in SHARES
    call = None if request.tool == "build_brief" else request.call
    return call, request.tool if known else UNKNOWN


def _ended(delivery: Delivery) -> tuple[str, str | None, str | None, int | None]:
    """The outcome, the code, the memory and its version that the journal has to have of an answer."""
    said, request = delivery.said, delivery.request
    if not delivery.refused:
        outcome = "replayed" if delivery.replayed else "done"
        return (outcome, None, *(_place(said) if request.tool in WRITES else (None, None)))
    outcome = "failed" if said["kind"] == "unavailable" else "refused"
    understood = said["code"] not in {"invalid_input", "unknown_tool"}
    about = request.arguments.get("memory_id") if understood and request.tool in WRITES else None
    return outcome, said["code"], about, None


def _noted(line: ToolCall) -> tuple[Any, ...]:
    call = None if line.conversation_id is None else str(line.conversation_id)
    about = None if line.memory_id is None else str(line.memory_id)
    return (
        *(call, line.tool, line.user_id, line.agent_id),
        *(line.outcome, line.code, about, line.version),
    )
