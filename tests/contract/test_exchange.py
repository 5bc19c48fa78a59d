"""What is exported, what an import makes of it, and that neither loses, repeats or changes anything."""

import asyncio
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from memoranda.conversations.service import Conversations
from memoranda.memories.limits import MemoryLimits
from memoranda.memories.models import MemoryStatus, Origin, ProposalStatus
from memoranda.memories.proposals.service import Proposals
from memoranda.memories.service import Memories
from memoranda.memories.transfer import service
from memoranda.memories.transfer.errors import UnreadableImport
from memoranda.memories.transfer.service import Transfer
from memoranda.memories.ways import Ways
from memoranda.runs.events.service import Events
from memoranda.storage import Storage
from memoranda.words.errors import DuplicateMemory, Invalid, NotFound
from tests.contract.conversation_desk import KEY
from tests.contract.conversation_desk import said as spoken
from tests.contract.copied_rows import rows_of
from tests.contract.exchanges import counts, exported, named_tenant, own, refusals, said, told
from tests.contract.tenants import Tenant
from tests.memories.transfer.readings import file

LATER = datetime(2999, 1, 31, 9, 0, 0, 123456, UTC)


@pytest.fixture
def transfer(storage: Storage) -> Transfer:
    return Transfer(storage)


@pytest.fixture
async def acme(storage: Storage) -> Tenant:
    return await named_tenant(storage, "Acme")


@pytest.fixture
async def other(storage: Storage) -> Tenant:
    return await named_tenant(storage, "Other")


async def furnish(memories: Memories, proposals: Proposals, at: Tenant) -> None:
    """Memories for every audience, forgotten ones, a corrected one, and proposals that wait."""
    remember = memories.remember
    await remember(
        at.owner,
        "Orders ship from Leipzig.",
        title="Ship",
        category="work",
        tags=("b", "a"),
        expires_at=LATER,
    )
    await remember(at.owner, "Anna takes milk.", user_id=at.anna.id, attribute="preference.milk")
    await remember(
        at.owner,
        "Anna takes oat milk.",
        user_id=at.anna.id,
        attribute="preference.milk",
        pinned=True,
    )
    await remember(at.owner, "Scout is terse.", agent_id=at.scout.id, attribute="preference.tone")
    await remember(
        at.owner, "Ben and clerk meet on Mondays.", user_id=at.ben.id, agent_id=at.clerk.id
    )
    for text in ("An old address.", "Another old one."):
        old = await remember(at.owner, text, user_id=at.ben.id)
        await memories.forget(at.owner, old.id)
    await proposals.propose(at.owner, "Anna may move.", user_id=at.anna.id, tags=("home",))


async def texts(memories: Memories, at: Tenant) -> list[str | None]:
    return [each.text for each in (await memories.page(at.owner, limit=200)).items]


# --- out -------------------------------------------------------------------------------------


async def test_an_export_holds_all_that_there_is_and_two_of_the_same_state_are_the_same_bytes(
    transfer: Transfer, memories: Memories, proposals: Proposals, acme: Tenant
) -> None:
    await furnish(memories, proposals, acme)
    first = await exported(transfer, acme.owner)
    assert first[0] == '{"format": "memoranda-memories", "version": 1}\n'
    assert await exported(transfer, acme.owner) == first
    lines = told(first)
    kinds = [(line["kind"], line.get("status")) for line in lines]
    assert (
        kinds == [("proposal", None)] + [("memory", "active")] * 4 + [("memory", "forgotten")] * 2
    )
    milk = next(line for line in lines if line["text"] == "Anna takes oat milk.")
    assert (milk["version"], milk["attribute"], milk["pinned"]) == (2, "preference.milk", True)
    assert milk["user"] == {"id": str(acme.anna.id), "external_id": "anna", "name": "Anna"}
    clerk = next(line for line in lines if line["agent"] and line["user"])
    assert clerk["agent"] == {"id": str(acme.clerk.id), "slug": "clerk", "external_id": "the-clerk"}
    assert all(line["restorable_until"] for line in lines if line.get("status") == "forgotten")


async def test_no_word_of_a_conversation_is_exported(
    transfer: Transfer, storage: Storage, memories: Memories, acme: Tenant
) -> None:
    talks = Conversations(storage)
    talk = await talks.save(acme.owner, KEY, spoken("a secret", "another secret"), fence=0)
    await memories.remember(acme.owner, "Orders ship.", conversation_id=talk.id)
    await talks.save(acme.owner, KEY, spoken("a secret", "one more secret"), fence=0)
    lines = await exported(transfer, acme.owner)
    assert [line["text"] for line in told(lines)] == ["Orders ship."]
    assert "secret" not in "".join(lines)
    assert KEY.workflow_id not in "".join(lines)


async def test_a_history_stands_behind_its_memory_whole_and_in_order(
    transfer: Transfer, memories: Memories, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "PAGE", 3)
    monkeypatch.setattr(service, "MOST_REVISIONS", 2)
    for number in range(7):
        for version in range(number + 1):
            await memories.remember(
                acme.owner, f"{number} says {version}", attribute=f"observation.n{number}"
            )
    lines = told(await exported(transfer, acme.owner, history=True))
    want = []
    for number in range(7):
        want.append(("memory", f"{number} says {number}"))
        want += [("revision", f"{number} says {version}") for version in range(number + 1)]
    assert [(line["kind"], line["text"]) for line in lines] == want
    plain = await exported(transfer, acme.owner)
    assert [line for line in lines if line["kind"] == "memory"] == told(plain)


async def test_what_is_written_while_it_is_exported_makes_no_memory_come_twice_or_be_left_out(
    transfer: Transfer, memories: Memories, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "PAGE", 2)
    made = [await memories.remember(acme.owner, f"Fact {number}") for number in range(9)]
    seen: list[str] = []
    async for line in transfer.export(acme.owner):
        seen.append(line)
        for place in {3: (0, 5), 5: (1, 6), 7: (2, 8)}.get(len(seen), ()):
            await memories.forget(acme.owner, made[place].id)
        if len(seen) in {3, 5, 7}:
            await memories.remember(acme.owner, f"Late {len(seen)}")
    ids = [line["id"] for line in told(seen)]
    assert len(ids) == len(set(ids))
    assert {str(each.id) for each in made} <= set(ids)


async def test_neither_expired_nor_purged_nor_merged_memories_are_exported(
    transfer: Transfer, memories: Memories, acme: Tenant, storage: Storage
) -> None:
    moved = await memories.remember(acme.owner, "Moves on.")
    await memories.update(acme.owner, moved.id, user_id=acme.anna.id)
    await memories.remember(
        acme.owner, "Soon over.", expires_at=datetime.now(UTC) + timedelta(seconds=0.3)
    )
    await asyncio.sleep(0.4)
    lines = told(await exported(transfer, acme.owner))
    assert [(line["text"], line["user"]["external_id"]) for line in lines] == [
        ("Moves on.", "anna")
    ]


# --- in --------------------------------------------------------------------------------------


async def test_what_came_out_of_one_organization_goes_into_another_and_says_the_same(
    transfer: Transfer, memories: Memories, proposals: Proposals, acme: Tenant, other: Tenant
) -> None:
    await furnish(memories, proposals, acme)
    lines = await exported(transfer, acme.owner, history=True)
    report = await transfer.take_in(other.owner, lines)
    assert counts(report) == (7, 0, 0, 0)
    assert (report.written, report.forgotten, report.proposals) == (7, 2, 1)
    assert said(await exported(transfer, other.owner)) == said(lines)
    taken = (await memories.page(other.owner)).items
    assert {each.origin for each in taken} == {Origin.IMPORT}
    assert [each.text for each in taken] == await texts(memories, acme)  # as recent as they were
    waiting = (await proposals.page(other.owner, status=ProposalStatus.WAITING)).items
    assert [(each.text, each.origin) for each in waiting] == [("Anna may move.", Origin.IMPORT)]
    stats = await memories.stats(other.owner)
    assert (stats.active, stats.pinned, stats.forgotten, stats.proposed) == (4, 1, 2, 1)
    gone = (await memories.page(other.owner, status=MemoryStatus.FORGOTTEN)).items
    assert (await memories.restore(other.owner, gone[0].id)).text == gone[0].text


async def test_importing_twice_changes_nothing_and_names_what_says_the_same(
    memories: Memories, proposals: Proposals, acme: Tenant, other: Tenant, storage: Storage
) -> None:
    transfer = Transfer(storage)
    await furnish(memories, proposals, acme)
    lines = await exported(transfer, acme.owner)
    await transfer.take_in(other.owner, lines)
    assert other.owner.organization_id is not None
    before = await storage.read(other.owner.organization_id, rows_of)
    report = await transfer.take_in(other.owner, lines)
    assert counts(report) == (0, 0, 7, 0)
    known = {str(each.memory_id) for each in report.examples}
    assert len(known) == 5  # examples enough
    assert known < {line["id"] for line in told(await exported(transfer, other.owner))}
    assert await storage.read(other.owner.organization_id, rows_of) == before
    again = await transfer.take_in(acme.owner, lines)  # where it came from
    assert counts(again) == (0, 0, 7, 0)


@pytest.mark.parametrize("batch", [1, 4, 100])
async def test_a_dry_run_writes_nothing_and_reports_what_the_real_one_does(
    storage: Storage, acme: Tenant, other: Tenant, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "BATCH", batch)
    memories, proposals = Memories(storage), Proposals(storage)
    limits = MemoryLimits(active=11, pinned=1, waiting=1)
    transfer = Transfer(storage, Ways(limits))
    await furnish(memories, proposals, acme)
    await memories.remember(other.owner, "Orders ship from Leipzig.")
    hostile = own(
        {"text": "a"},
        {"text": " A "},
        {"text": "b", "attribute": "preference.b"},
        {"text": "b2", "attribute": "preference.b"},
        {"text": "c", "pinned": True},
        {"text": "d", "pinned": True},
        {"text": "One. " * 150},
        {"text": "e", "expires_at": "2020-01-01T00:00:00Z"},
        {"text": "f", "status": "forgotten"},
        {"text": "f", "status": "forgotten"},
        {"text": "g", "status": "forgotten", "attribute": "preference.b"},
        {"text": "h", "user": {"external_id": "nobody"}},
        *({"text": f"n{number}"} for number in range(5)),
        *({"kind": "proposal", "text": f"p{number}"} for number in range(2)),
    )
    lines = "".join(await exported(transfer, acme.owner)) + hostile + "{broken\n"
    assert other.owner.organization_id is not None
    before = await storage.read(other.owner.organization_id, rows_of)
    dry = await transfer.take_in(other.owner, lines, dry_run=True)
    assert await storage.read(other.owner.organization_id, rows_of) == before
    real = await transfer.take_in(other.owner, lines)
    assert dry.dry_run
    assert dry.model_copy(update={"dry_run": False}) == real
    assert real.reasons == {
        "broken_line": 1,
        "conflict": 1,
        "expired": 1,
        "memories_full": 4,
        "proposals_full": 2,
        "unknown_user": 1,
    }
    assert real.changes.keys() >= {"pin_left_out", "split"}
    assert (await memories.stats(other.owner)).active == 11


async def test_an_import_that_is_killed_amid_its_batches_can_be_run_again(
    transfer: Transfer, memories: Memories, acme: Tenant
) -> None:
    content = own(*({"text": f"Fact {number}."} for number in range(350)))

    def killed(done: int, total: int) -> None:
        assert total == 350
        if done >= 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await transfer.take_in(acme.owner, content, progress=killed)
    assert (await memories.stats(acme.owner)).active == 200
    progress: list[tuple[int, int]] = []
    report = await transfer.take_in(
        acme.owner, content, progress=lambda *told: progress.append(told)
    )
    assert counts(report) == (150, 0, 200, 0)
    assert progress == [(100, 350), (200, 350), (300, 350), (350, 350)]
    assert (await memories.stats(acme.owner)).active == 350


async def test_the_limit_of_memories_holds_and_is_told_once(
    memories: Memories, acme: Tenant, storage: Storage
) -> None:
    transfer = Transfer(storage, Ways(MemoryLimits(active=250)))
    content = own(*({"text": f"Fact {number}."} for number in range(300)))
    report = await transfer.take_in(acme.owner, content)
    assert (counts(report), report.reasons) == ((250, 0, 0, 50), {"memories_full": 50})
    assert len([each for each in report.examples if each.code == "memories_full"]) == 1
    assert (await memories.stats(acme.owner)).active == 250
    again = await transfer.take_in(acme.owner, content)
    assert counts(again) == (0, 0, 250, 50)


async def test_of_a_text_that_becomes_several_memories_all_have_room_or_none(
    acme: Tenant, storage: Storage, memories: Memories
) -> None:
    transfer = Transfer(storage, Ways(MemoryLimits(active=2)))
    long = " ".join(f"Sentence {number} is said here." for number in range(30))
    report = await transfer.take_in(acme.owner, own({"text": "a"}, {"text": long}, {"text": "b"}))
    assert (counts(report), refusals(report)) == ((2, 0, 0, 1), {3: "memories_full"})
    assert await texts(memories, acme) == ["b", "a"]


async def test_no_memory_that_is_there_is_changed(
    transfer: Transfer, memories: Memories, acme: Tenant
) -> None:
    kept = await memories.remember(acme.owner, "Tea.", attribute="preference.drink", title="Mine")
    lines = await exported(transfer, acme.owner)
    await memories.remember(acme.owner, "Coffee.", attribute="preference.drink")
    report = await transfer.take_in(acme.owner, lines)
    assert refusals(report) == {2: "conflict"}
    assert str(kept.id) in str(report.examples[0].detail)
    assert (await memories.get(acme.owner, kept.id)).text == "Coffee."
    same = own(
        {"text": "COFFEE.", "title": "Theirs"}, {"text": "Coffee.", "attribute": "preference.drink"}
    )
    assert counts(await transfer.take_in(acme.owner, same)) == (0, 0, 2, 0)
    assert (await memories.get(acme.owner, kept.id)).version == 2


async def test_an_id_in_a_file_selects_nothing(
    transfer: Transfer, memories: Memories, acme: Tenant
) -> None:
    kept = await memories.remember(acme.owner, "Tea.")
    report = await transfer.take_in(
        acme.owner,
        own({"id": str(kept.id), "text": "Coffee."}, {"id": str(kept.id), "text": "Milk."}),
    )
    assert counts(report) == (2, 0, 0, 0)
    assert (await memories.get(acme.owner, kept.id)).text == "Tea."
    assert sorted(map(str, await texts(memories, acme))) == ["Coffee.", "Milk.", "Tea."]


async def test_the_same_text_under_a_key_and_without_one_goes_in_whichever_was_first(
    transfer: Transfer, memories: Memories, acme: Tenant, other: Tenant
) -> None:
    keyed = await memories.remember(acme.owner, "Coffee.", attribute="preference.drink")
    await memories.remember(acme.owner, "Tea.")
    await memories.update(acme.owner, keyed.id, text="Tea.")
    lines = await exported(transfer, acme.owner)
    assert counts(await transfer.take_in(other.owner, lines)) == (2, 0, 0, 0)
    assert said(await exported(transfer, other.owner)) == said(lines)
    assert counts(await transfer.take_in(other.owner, lines)) == (0, 0, 2, 0)


@pytest.mark.parametrize("batch", [1, 2, 100])
async def test_what_was_forgotten_several_times_and_is_said_again_goes_in_as_it_was(
    memories: Memories, acme: Tenant, other: Tenant, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "BATCH", batch)
    transfer = Transfer(memories._storage)
    for _ in range(3):
        made = await memories.remember(acme.owner, "Tea.")
        await memories.forget(acme.owner, made.id)
    again = await memories.remember(acme.owner, "Coffee.")
    late = await memories.remember(acme.owner, "Milk.")
    await memories.forget(acme.owner, late.id)
    await memories.update(acme.owner, again.id, text="Milk.")
    lines = await exported(transfer, acme.owner)
    assert counts(await transfer.take_in(other.owner, lines)) == (5, 0, 0, 0)
    assert said(await exported(transfer, other.owner)) == said(lines)
    assert counts(await transfer.take_in(other.owner, lines)) == (0, 0, 5, 0)


async def test_everybody_is_told_of_what_came_in_once_it_is_there(
    memories: Memories, acme: Tenant, storage: Storage
) -> None:
    woken: list[object] = []
    transfer = Transfer(storage, changed=woken.append)
    events = Events(storage)
    begun = (await events.page(acme.owner, None)).number
    await transfer.take_in(acme.owner, own({"text": "a"}, {"text": "b"}))
    assert woken == [acme.owner.organization_id]
    page = await events.page(acme.owner, begun)
    assert [each.metadata["action"] for each in page.items] == ["created", "created"]
    assert "text" not in str([each.metadata for each in page.items])


async def test_what_came_in_is_found_by_its_words(
    transfer: Transfer, memories: Memories, acme: Tenant
) -> None:
    await transfer.take_in(acme.owner, file("chatgpt_list.txt"))
    found = await memories.search(acme.owner, "Catalan grammar")
    assert [each.memory.text for each in found.results] == [
        "Is learning Catalan and likes short grammar notes."
    ]


async def test_a_report_says_how_much_of_it_is_for_everybody(
    transfer: Transfer, acme: Tenant, other: Tenant
) -> None:
    told = b"Likes tea.\nSkis.\n"
    for dry_run in (True, False):
        report = await transfer.take_in(acme.owner, told, dry_run=dry_run)
        assert (report.written, report.for_everybody) == (2, 2)
    assert (await transfer.take_in(acme.owner, told)).for_everybody == 0  # known by then
    for named in ({"user_id": other.anna.id}, {"agent_id": other.scout.id}):
        report = await transfer.take_in(other.owner, told, **named)
        assert (report.written, report.for_everybody) == (2, 0)
    report = await transfer.take_in(other.member(other.ben), told)
    assert (report.written, report.for_everybody) == (2, 0)


# --- from elsewhere --------------------------------------------------------------------------


async def test_all_of_a_file_can_be_given_to_one_user_and_agent(
    transfer: Transfer, memories: Memories, acme: Tenant
) -> None:
    report = await transfer.take_in(
        acme.owner, file("mem0_get_all.json"), user_id=acme.anna.id, agent_id=acme.scout.id
    )
    assert counts(report) == (3, 0, 0, 1)
    taken = (await memories.page(acme.owner)).items
    assert {(each.user_id, each.agent_id) for each in taken} == {(acme.anna.id, acme.scout.id)}


async def test_names_of_a_file_can_be_told_whom_they_mean(
    transfer: Transfer, memories: Memories, acme: Tenant
) -> None:
    content = file("mem0_get_all.json")
    unknown = await transfer.take_in(acme.owner, content, dry_run=True)
    assert set(refusals(unknown).values()) == {"unknown_user", "invalid_input"}
    mapped = await transfer.take_in(
        acme.owner,
        content,
        users={"mira": acme.anna.id},
        agents={"concierge": acme.clerk.id},
    )
    assert counts(mapped) == (3, 0, 0, 1)
    taken = {each.text: each for each in (await memories.page(acme.owner)).items}
    assert taken["Is allergic to walnuts"].agent_id == acme.clerk.id
    assert {each.user_id for each in taken.values()} == {acme.anna.id}


async def test_a_namespace_that_names_nobody_here_is_given_to_nobody_and_not_to_everybody(
    transfer: Transfer, memories: Memories, acme: Tenant
) -> None:
    content = json.dumps(
        [
            {"namespace": space, "key": str(number), "value": {"text": f"Fact {number}"}}
            for number, space in enumerate(
                (
                    ["memories", "anna"],
                    ["memories"],
                    ["scout"],
                    ["anna", "scout", "x"],
                    ["x"],
                    ["anna", "ben"],
                )
            )
        ]
    )
    report = await transfer.take_in(acme.owner, content)
    assert refusals(report) == {5: "unknown_user", 6: "unknown_user"}
    taken = {
        each.text: (each.user_id, each.agent_id) for each in (await memories.page(acme.owner)).items
    }
    assert taken == {
        "Fact 0": (acme.anna.id, None),
        "Fact 1": (None, None),
        "Fact 2": (None, acme.scout.id),
        "Fact 3": (acme.anna.id, acme.scout.id),
    }


async def test_a_text_that_is_too_long_becomes_several_memories_once(
    transfer: Transfer, memories: Memories, acme: Tenant
) -> None:
    content = json.dumps([{"memory": " ".join(f"Sentence {n} is said here." for n in range(60))}])
    report = await transfer.take_in(acme.owner, content)
    assert (counts(report), report.changes) == ((0, 1, 0, 0), {"split": 1})
    kept = await texts(memories, acme)
    assert (report.written, len(kept)) == (4, 4)
    assert all(text and text.endswith("here.") and len(text) <= 500 for text in kept)
    again = await transfer.take_in(acme.owner, content)
    assert (counts(again), again.written) == ((0, 0, 1, 0), 0)


async def test_a_report_keeps_few_examples_of_many(transfer: Transfer, acme: Tenant) -> None:
    content = own(*({"text": 5} for _ in range(300)), *({"text": f"{n}"} for n in range(300)))
    report = await transfer.take_in(acme.owner, content)
    assert counts(report) == (300, 0, 0, 300)
    assert len(report.examples) == 10


async def test_what_is_wrong_with_the_whole_call_is_told_before_anything_is_read(
    transfer: Transfer, acme: Tenant
) -> None:
    with pytest.raises(Invalid, match="source"):
        await transfer.take_in(acme.owner, b"x", source="notion")
    with pytest.raises(NotFound):
        await transfer.take_in(acme.owner, b"x", user_id=uuid4())
    with pytest.raises(NotFound):
        await transfer.take_in(acme.owner, b"x", agents={"a": uuid4()})
    with pytest.raises(UnreadableImport):
        await transfer.take_in(acme.owner, b"")


async def test_others_who_write_at_the_same_time_lose_nothing_and_nothing_comes_twice(
    transfer: Transfer, memories: Memories, acme: Tenant
) -> None:
    content = own(*({"text": f"Fact {number}."} for number in range(60)))
    keyed = own(*({"text": f"k{n}", "attribute": f"preference.k{n}"} for n in range(30)))

    async def write(number: int) -> None:
        with suppress(DuplicateMemory):
            await memories.remember(acme.owner, f"Fact {number}.")

    contents = (content, content, keyed, keyed)
    reports, _ = await asyncio.gather(
        asyncio.gather(*(transfer.take_in(acme.owner, each) for each in contents)),
        asyncio.gather(*(write(number) for number in range(0, 60, 7))),
    )
    assert sum(report.refused for report in reports) == 0
    assert 80 <= sum(report.written for report in reports) <= 90
    found = await texts(memories, acme)
    assert len(found) == len(set(found)) == 90
