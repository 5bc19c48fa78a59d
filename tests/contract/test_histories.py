"""Histories that branch: entries are kept once, records by their revision, and each owner's apart."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

import pytest

from memoranda.access.models import Principal
from memoranda.app import Memoranda
from memoranda.conversations.errors import ConversationTooLarge
from memoranda.conversations.histories.errors import HistoryChanged
from memoranda.conversations.histories.models import History, HistoryEntry
from memoranda.conversations.histories.service import Histories
from memoranda.storage import Storage
from memoranda.words.errors import Invalid, NotFound, ReadOnly, Refused
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant, new_tenant

NOON = datetime(2027, 1, 31, 12, tzinfo=UTC)


@pytest.fixture
def histories(storage: Storage) -> Histories:
    return Histories(storage, max_bytes=1_000)


@pytest.fixture
async def acme(storage: Storage) -> Tenant:
    return await new_tenant(storage)


def line(*names: str, after: str | None = None) -> list[HistoryEntry]:
    """Entries of these names, each after the one before it."""
    parents = [after, *names]
    return [
        HistoryEntry(name=name, parent=parent, content=f"says {name}")
        for name, parent in zip(names, parents, strict=False)
    ]


async def put(
    histories: Histories,
    who: Principal,
    revision: str,
    tips: Sequence[str],
    entries: Sequence[HistoryEntry] = (),
    *,
    over: str | None = None,
    name: str = "talk",
    user_id: UUID | None = None,
    scope: str | None = None,
    at: datetime = NOON,
) -> None:
    record = History(
        name=name,
        scope=scope,
        revision=revision,
        record=f'{{"of": "{revision}"}}',
        tips=tuple(tips),
        updated_at=at,
    )
    await histories.write(who, record, entries, expected_revision=over, user_id=user_id)


async def path(histories: Histories, who: Principal, head: str, **asked) -> list[str] | None:
    found = await histories.path(who, head, **asked)
    if found is None:
        return None
    assert [each.content for each in found] == [f"says {each.name}" for each in found]
    assert [each.parent for each in found[1:]] == [each.name for each in found[:-1]]
    return [each.name for each in found]


async def test_a_history_reads_back_in_its_order_from_every_branch(
    histories: Histories, acme: Tenant
) -> None:
    who = acme.owner
    await put(histories, who, "1", ["c"], line("a", "b", "c"))
    await put(histories, who, "2", ["c", "y"], line("x", "y", after="a"), over="1")
    await put(
        histories,
        who,
        "3",
        ["d", "y", "z"],
        [*line("d", after="c"), *line("z", after="x")],
        over="2",
    )
    assert await path(histories, who, "d") == ["a", "b", "c", "d"]
    assert await path(histories, who, "y") == ["a", "x", "y"]
    assert await path(histories, who, "z") == ["a", "x", "z"]
    assert await path(histories, who, "x") == ["a", "x"]
    [first, *_] = await histories.path(who, "d") or []
    assert first.parent is None
    assert await path(histories, who, "nothing") is None
    entry = await histories.entry(who, "x")
    assert entry == HistoryEntry(name="x", parent="a", content="says x")
    assert await histories.entry(who, "nothing") is None
    found = await histories.find(who, "talk")
    assert found is not None
    assert (found.revision, found.record, found.tips) == ("3", '{"of": "3"}', ("d", "y", "z"))
    assert found.updated_at == NOON


@pytest.mark.parametrize(
    ("limit", "names", "before"),
    [
        (0, [], None),
        (1, ["z"], "y"),
        (2, ["y", "z"], "b"),
        (3, ["b", "y", "z"], "a"),
        (9, ["a", "b", "y", "z"], None),
    ],
)
async def test_the_last_entries_of_a_history_come_alone(
    histories: Histories, acme: Tenant, limit: int, names: list[str], before: str | None
) -> None:
    await put(
        histories, acme.owner, "1", ["c", "z"], [*line("a", "b", "c"), *line("y", "z", after="b")]
    )
    assert await path(histories, acme.owner, "z", limit=limit) == names
    found = await histories.path(acme.owner, "z", limit=limit) or []
    assert [each.parent for each in found[:1]] == [before][: len(names)]


async def test_another_revision_than_the_present_one_writes_nothing(
    histories: Histories, acme: Tenant
) -> None:
    who = acme.owner
    with pytest.raises(HistoryChanged):
        await put(histories, who, "1", ["a"], line("a"), over="0")
    assert await histories.entry(who, "a") is None
    await put(histories, who, "1", ["a"], line("a"))
    for over in ("0", None):
        with pytest.raises(HistoryChanged):
            await put(histories, who, "2", ["b"], line("b", after="a"), over=over)
        with pytest.raises(HistoryChanged):
            await histories.delete(who, "talk", expected_revision="0")
    assert await histories.entry(who, "b") is None
    found = await histories.find(who, "talk")
    assert found is not None
    assert found.revision == "1"


async def test_what_is_not_there_can_not_be_gone_on_from_or_pointed_at(
    histories: Histories, acme: Tenant
) -> None:
    who = acme.owner
    for tips, entries in (
        (["b"], line("b", after="nothing")),
        (["nothing"], line("b")),
        (["b", "nothing"], line("b")),
        (["b"], [*line("b"), *line("b", after="b")]),
    ):
        with pytest.raises(HistoryChanged):
            await put(histories, who, "1", tips, entries)
        assert await histories.find(who, "talk") is None
        assert await histories.entry(who, "b") is None


async def test_of_writers_at_once_one_gets_through(histories: Histories, acme: Tenant) -> None:
    await put(histories, acme.owner, "0", ["a"], line("a"))
    done = await asyncio.gather(
        *(
            put(histories, acme.owner, f"r{n}", [f"b{n}"], line(f"b{n}", after="a"), over="0")
            for n in range(5)
        ),
        return_exceptions=True,
    )
    assert sum(each is None for each in done) == 1
    assert all(each is None or isinstance(each, HistoryChanged) for each in done)
    won = await histories.find(acme.owner, "talk")
    assert won is not None
    assert await path(histories, acme.owner, won.tips[0]) == ["a", won.tips[0]]


async def test_two_histories_that_go_on_from_one_entry_at_once_both_stand(
    histories: Histories, acme: Tenant
) -> None:
    await put(histories, acme.owner, "0", ["a"], line("a"))
    await asyncio.gather(
        *(
            put(histories, acme.owner, "1", [f"b{n}"], line(f"b{n}", after="a"), name=f"fork {n}")
            for n in range(4)
        )
    )
    for n in range(4):
        assert await path(histories, acme.owner, f"b{n}") == ["a", f"b{n}"]


async def test_a_deletion_takes_what_no_other_history_comes_by(
    histories: Histories, acme: Tenant
) -> None:
    who = acme.owner
    await put(histories, who, "1", ["c", "y"], [*line("a", "b", "c"), *line("y", after="a")])
    await put(histories, who, "2", ["b"], name="fork")
    await histories.delete(who, "talk", expected_revision="1")
    assert await histories.find(who, "talk") is None
    assert await path(histories, who, "b") == ["a", "b"]
    assert [await histories.entry(who, name) for name in ("c", "y")] == [None, None]
    await put(histories, who, "3", ["d"], line("d", after="b"), name="fork", over="2")
    assert await path(histories, who, "d") == ["a", "b", "d"]
    await histories.delete(who, "fork", expected_revision="3")
    assert [await histories.entry(who, name) for name in ("a", "b", "d")] == [None] * 3


async def test_histories_are_listed_by_their_scope_the_last_written_first(
    histories: Histories, acme: Tenant
) -> None:
    who = acme.owner
    for hour, name in enumerate(["one", "two", "three"]):
        scope = "support" if name != "two" else "sales"
        await put(histories, who, "1", [], name=name, scope=scope, at=NOON.replace(hour=hour))
    await put(histories, who, "2", [], name="one", scope="support", over="1")
    assert [each.name for each in await histories.page(who)] == ["one", "three", "two"]
    assert [each.name for each in await histories.page(who, limit=2)] == ["one", "three"]
    found = await histories.page(who, scope="support")
    assert [each.name for each in found] == ["one", "three"]
    assert await histories.page(who, scope="support%") == []
    assert await histories.page(who, limit=0) == []


async def test_names_are_each_owners_own_and_nobody_comes_by_anothers(
    histories: Histories, acme: Tenant, storage: Storage
) -> None:
    other = await new_tenant(storage, "Other")
    everybody = [
        (acme.owner, None),
        (acme.owner, acme.anna.id),
        (acme.owner, acme.ben.id),
        (other.owner, None),
        (other.owner, other.anna.id),
    ]
    for number, (who, user_id) in enumerate(everybody):
        await put(histories, who, str(number), ["b"], line("a", "b"), user_id=user_id)
    for number, (who, user_id) in enumerate(everybody):
        [found] = await histories.page(who, user_id=user_id)
        assert found.revision == str(number)
    # Nobody goes on from what another owner has.
    await put(histories, acme.owner, "1", ["own"], line("own"), name="mine", user_id=acme.anna.id)
    for who, user_id in ((acme.owner, acme.ben.id), (acme.owner, None), (other.owner, None)):
        assert await histories.entry(who, "own", user_id=user_id) is None
        assert await histories.path(who, "own", user_id=user_id) is None
        with pytest.raises(HistoryChanged):
            await put(
                histories, who, "2", ["c"], line("c", after="own"), name="theirs", user_id=user_id
            )
    await histories.delete(other.owner, "talk", expected_revision="3")
    assert len(await histories.page(acme.owner)) == 1


async def test_a_member_has_its_own_histories_and_an_agent_and_a_reader_write_none(
    histories: Histories, acme: Tenant
) -> None:
    anna = acme.member(acme.anna)
    await put(histories, anna, "1", ["a"], line("a"))
    assert await histories.find(acme.owner, "talk") is None
    found = await histories.find(acme.owner, "talk", user_id=acme.anna.id)
    assert found is not None
    assert await histories.find(acme.reader, "talk", user_id=acme.anna.id) == found
    assert await histories.find(anna, "talk") == found
    assert await histories.find(acme.member(acme.ben), "talk") is None
    with pytest.raises(Refused):
        await histories.find(anna, "talk", user_id=acme.ben.id)
    with pytest.raises(ReadOnly):
        await put(histories, acme.reader, "2", [], name="new")
    for agent in (acme.key_of(acme.scout), acme.key_of(acme.scout, acme.anna)):
        with pytest.raises(Refused, match="host"):
            await histories.find(agent, "talk")
        with pytest.raises(Refused, match="host"):
            await put(histories, agent, "2", [], name="new")
    with pytest.raises(NotFound):
        await put(histories, acme.owner, "1", [], name="new", user_id=new_id())


async def test_a_path_holds_as_many_bytes_as_it_may(histories: Histories, acme: Tenant) -> None:
    half = HistoryEntry(name="a", parent=None, content="é" * 250)
    await put(histories, acme.owner, "1", ["a"], [half])
    full = HistoryEntry(name="b", parent="a", content="x" * 500)
    over = HistoryEntry(name="c", parent="b", content="x")
    with pytest.raises(ConversationTooLarge):
        await put(histories, acme.owner, "2", ["c"], [full, over], over="1")
    assert await histories.entry(acme.owner, "b") is None
    await put(histories, acme.owner, "2", ["b"], [full], over="1")
    with pytest.raises(ConversationTooLarge):
        await put(histories, acme.owner, "3", ["c"], [over], over="2")
    # Another branch has room of its own.
    await put(histories, acme.owner, "3", ["b", "d"], line("d", after="a"), over="2")


async def test_what_no_database_holds_is_refused_by_its_field(
    histories: Histories, acme: Tenant
) -> None:
    for entry in (
        HistoryEntry(name="a", parent=None, content="\0"),
        HistoryEntry(name="", parent=None, content="{}"),
    ):
        with pytest.raises(Invalid):
            await put(histories, acme.owner, "1", [], [entry])
    with pytest.raises(Invalid):
        await put(histories, acme.owner, "1", [], at=NOON.replace(tzinfo=None))
    with pytest.raises(Invalid):
        await put(histories, acme.owner, "1", ["a\0"], line("b"))
    for asked in (
        histories.find(acme.owner, "a\0"),
        histories.page(acme.owner, scope="a\0"),
        histories.path(acme.owner, "a\0"),
        histories.entry(acme.owner, "\ud83d"),
        histories.delete(acme.owner, "a\0", expected_revision="1"),
    ):
        with pytest.raises(Invalid):
            await asked


async def test_erasing_a_user_deletes_its_histories_and_no_other(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    async with Memoranda.open(database_url, migrate=False) as memoranda:
        histories = Histories(memoranda.storage, max_bytes=1_000)
        acme = await new_tenant(memoranda.storage)
        for user in (acme.anna, acme.ben):
            await put(histories, acme.owner, "1", ["b"], line("a", "b"), user_id=user.id)
        await put(histories, acme.owner, "1", ["b"], line("a", "b"))
        await memoranda.removal.erase_user(acme.owner, acme.anna.id)
        assert await histories.page(acme.owner, user_id=acme.anna.id) == []
        assert await histories.entry(acme.owner, "a", user_id=acme.anna.id) is None
        assert await path(histories, acme.owner, "b", user_id=acme.ben.id) == ["a", "b"]
        assert await path(histories, acme.owner, "b") == ["a", "b"]
