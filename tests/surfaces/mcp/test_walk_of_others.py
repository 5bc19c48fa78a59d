"""What is anybody else's is as if it were not there: named, written beside, or not made at all."""

import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest

from memoranda.access.models import Principal
from memoranda.app import Memoranda
from memoranda.surfaces.mcp import resources
from memoranda.surfaces.mcp.door import Room
from memoranda.tools.models import Course
from memoranda.words.cursor import make_seen_cursor
from memoranda.words.errors import MemorandaError, NotFound
from memoranda.words.ids import new_id
from tests.surfaces.mcp.walk_house import (
    CALLERS,
    PHRASE,
    ROWS,
    WORD,
    Caller,
    House,
    asks,
    finds,
    furnish,
    lists,
    sees_all,
    takes_part,
    writes_for,
)
from tests.surfaces.mcp.walk_steps import (
    READING,
    WALK,
    hidden_from,
    named_by,
    pages,
    plain,
    snapshot,
    unchanged,
    without_ids,
)

REFUSED: Final = {"not_found", "read_only", "unknown_tool"}
WRITERS: Final = [name for name, caller in CALLERS.items() if caller.role != "read_only"]
COUNTED: Final = frozenset(
    {"memory_counts", "event_counters", "search_models", "search_totals", "search_terms"}
)
"""Tables of numbers about all of an organization."""
KINDS_OF_KEYS: Final = (
    *("owner", "reader", "anna", "scout", "clerk for anna"),
    *("one", "one for anna", "three"),
)
SAME: Final = "The key is under the mat."


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    async with Memoranda.open(database_url, migrate=False) as opened:
        yield opened


@pytest.fixture
async def houses(memoranda: Memoranda) -> list[House]:
    """Two organizations, furnished alike."""
    return [await furnish(memoranda, name) for name in ("acme", "zeta")]


@pytest.fixture
def new_database(
    request: pytest.FixtureRequest, database_url: str, tmp_path: Path
) -> Iterator[Callable[[], str]]:
    """Makes databases of the same kind in which nothing is yet."""
    made: list[str] = []
    sqlite = database_url.startswith("sqlite")
    template: Any = request.getfixturevalue("migrated_sqlite" if sqlite else "migrated_postgres")
    server: Any = None if sqlite else request.getfixturevalue("postgres")

    def make() -> str:
        path = tmp_path / f"alone-{len(made)}.db"
        if sqlite:
            shutil.copyfile(template, path)
        made.append(f"sqlite:///{path}" if sqlite else server.new_database(template=template))
        return made[-1]

    yield make
    for url in [] if sqlite else made:
        server.drop_database(url)


# --- named --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mine", [0, 1], ids=["first", "second"])
async def test_an_id_of_anybody_else_is_refused_like_one_that_never_was_and_nothing_is_written(
    memoranda: Memoranda, houses: list[House], mine: int
) -> None:
    house = houses[mine]
    async with (
        unchanged(memoranda, houses[1 - mine]),
        unchanged(memoranda, house, but={"tool_calls"}),
    ):
        for name, who in house.callers.items():
            hidden = hidden_from(house, name, houses)
            for identity in hidden:
                await _unread(memoranda, who, identity)
            for tool in [tool for tool, step in WALK.items() if step.names_memory]:
                given = hidden if tool == "get" else hidden & may_be_changed(name, house, houses)
                never = await _refusal(memoranda, who, tool, str(new_id()))
                for identity in given:
                    assert await _refusal(memoranda, who, tool, identity) == never, (name, tool)


def may_be_changed(caller: str, house: House, houses: list[House]) -> set[str]:
    """The ids that a change might find: of memories and proposals, but for what the caller saw forgotten."""
    found = set(named_by("update", houses))
    for each in houses:
        found |= {str(value) for key, value in each.others.items() if key.startswith("proposed")}
        if each is not house or CALLERS[caller].space is not None:
            found.add(str(each.others["gone"]))
    return found


async def _refusal(memoranda: Memoranda, who: Principal, tool: str, identity: str) -> str:
    asked, key = WALK[tool].asked(identity), None if tool == "get" else "once"
    result = await memoranda.tools.call(who, tool, asked, key=key)
    assert result.refusal is not None
    assert result.refusal.code in ({"not_found"} if tool == "get" else REFUSED)
    return plain(result, identity)


async def _unread(memoranda: Memoranda, who: Principal, identity: str) -> None:
    """Hold what is not the caller's, as a resource, to one refusal for all."""
    with pytest.raises(NotFound, match="There is nothing at this address") as refused:
        await resources.read(Room(who, memoranda.tools), f"{resources.URI}{identity}")
    assert refused.value.details == {}


async def test_a_run_or_conversation_of_anybody_else_is_answered_like_one_that_never_was(
    memoranda: Memoranda, houses: list[House]
) -> None:
    house, other = houses
    counted = {"tool_calls", "tool_counts"}
    async with unchanged(memoranda, other), unchanged(memoranda, house, but=counted):
        for name, who in house.callers.items():
            for tool in READING:
                asked = WALK[tool].asked(str(house.memories["all"]))
                for kind, of in courses(house, other, CALLERS[name]):
                    course, missing = Course(**{kind: of}), new_id()
                    never = await memoranda.tools.call(
                        who, tool, asked, course=Course(**{kind: missing})
                    )
                    said = await memoranda.tools.call(who, tool, asked, course=course)
                    # Who may read what was said there finds it anyway, whatever a call names.
                    found = plain(never, missing).replace(str(of), "named")
                    assert plain(said, of) == found, (name, tool)


def courses(house: House, other: House, caller: Caller) -> list[tuple[str, UUID]]:
    """The runs and conversations that the caller may not build a brief for."""
    hidden = [("run_id", other.others["run anna"])]
    hidden += [("conversation_id", other.others["conversation anna"])]
    for user in house.people:
        if not takes_part(caller, user):
            hidden.append(("conversation_id", house.others[f"conversation {user}"]))
            if not sees_all(caller):
                hidden.append(("run_id", house.others[f"run {user}"]))
    return hidden


async def test_a_name_or_cursor_of_anybody_else_is_answered_like_one_that_never_was(
    memoranda: Memoranda, houses: list[House]
) -> None:
    house, other = houses

    async def said(who: Principal, tool: str, named: object, **more: Any) -> str:
        result = await memoranda.tools.call(who, tool, WALK[tool].asked("") | more)
        return plain(result, named)

    async with unchanged(memoranda, other), unchanged(memoranda, house, but={"tool_calls"}):
        for name, who in house.callers.items():
            theirs, nobodys = "only-zeta", "only-kilo"
            policy = await said(who, "build_brief", theirs, policy_name=theirs)
            assert policy == await said(who, "build_brief", nobodys, policy_name=nobodys)
            seen = [*map(UUID, hidden_from(house, name, houses) & set(named_by("get", houses)))]
            for identity in seen:
                beside = UUID(int=identity.int + 1)
                listed, next_to_it = [
                    await said(who, "list", "-", cursor=memoranda.memories.cursor_after(each))
                    for each in (identity, beside)
                ]
                assert listed == next_to_it, name
            cursor = make_seen_cursor(f"recall of {PHRASE}", seen)
            assert await said(who, "recall", "-", cursor=cursor) == await said(who, "recall", "-")


# --- written beside -----------------------------------------------------------------------------


async def test_what_each_key_remembers_is_known_to_exactly_those_whom_it_is_for(
    memoranda: Memoranda, houses: list[House]
) -> None:
    for house in houses:
        for name in WRITERS:
            said = {"content": house.text(f"new{name.replace(' ', '')}")}
            result = await memoranda.tools.call(house.callers[name], "remember", said, key="once")
            assert result.answer is not None
            assert not result.replayed
            expected = "proposed" if asks(CALLERS[name]) else "done"
            assert (result.answer["outcome"], result.answer["version"] or 1) == (expected, 1)
    for house in houses:
        for name, who in house.callers.items():
            for tool, may in (("list", lists), ("recall", finds)):
                answer, _ = await memoranda.tools.invoke(who, tool, WALK[tool].asked(""))
                news = {
                    f"new{writer.replace(' ', '')}"
                    for writer in WRITERS
                    if not asks(CALLERS[writer]) and may(CALLERS[name], writes_for(CALLERS[writer]))
                }
                assert set(WORD.findall(str(answer))) == house.words(name, may, *news), name


async def test_the_same_words_attribute_key_and_run_as_others_have_change_nothing_of_theirs(
    memoranda: Memoranda, houses: list[House]
) -> None:
    house, other = houses
    before = await snapshot(memoranda, house)
    async with unchanged(memoranda, other):
        for name in WRITERS:
            who = house.callers[name]
            hidden = [of for kind, of in courses(house, other, CALLERS[name]) if kind == "run_id"]
            for more in ({}, {"attribute": "preference.mat"}):
                said = {"content": SAME} | more
                answer, replayed = await memoranda.tools.invoke(
                    who,
                    "remember",
                    said,
                    key=f"once {len(more)}",
                    course=Course(run_id=hidden[-1]),
                )
                assert not replayed
                if not asks(CALLERS[name]):
                    assert (answer["outcome"], answer["version"]) == ("done", 1), name
                    await _change_and_forget(memoranda, who, answer["memory_id"], len(more))
    after = await snapshot(memoranda, house)
    for table in before.keys() - COUNTED:
        lost = [row for row in before[table] if row not in after[table]]
        assert not lost, table
    assert after["run_logs"] == before["run_logs"]
    heard = [row for row in after["events"] if row not in before["events"]]
    assert {whose(row) for row in heard} == {whose_of(house, name) for name in WRITERS}


async def _change_and_forget(memoranda: Memoranda, who: Principal, memory: str, key: int) -> None:
    change = {"memory_id": memory, "expected_version": 1, "patch": {"content": "It is at Ben's."}}
    changed, _ = await memoranda.tools.invoke(who, "update", change, key=f"change {key}")
    ending = {"memory_id": memory, "expected_version": changed["version"]}
    await memoranda.tools.invoke(who, "forget", ending, key=f"end {key}")


def whose(event: dict[str, Any]) -> tuple[Any, ...]:
    """For whom an event is, a space by that it is one's."""
    return event["user_id"], event["agent_id"], event["space"] is not None


def whose_of(house: House, caller: str) -> tuple[Any, ...]:
    row = writes_for(CALLERS[caller])
    return house.people.get(row.user or ""), house.agents.get(row.agent or ""), bool(row.space)


async def test_a_journal_has_the_calls_of_its_own_organization_alone(
    memoranda: Memoranda, houses: list[House]
) -> None:
    house, other = houses
    before = (await snapshot(memoranda, house))["tool_calls"]
    async with unchanged(memoranda, other):
        for who in house.callers.values():
            for tool, step in WALK.items():
                await memoranda.tools.call(who, tool, step.asked(str(other.memories["all"])))
    after = (await snapshot(memoranda, house))["tool_calls"]
    lines = [line for line in after if line not in before]
    assert len(lines) == len(after) - len(before) == len(WALK) * len(CALLERS)
    expected = {
        (who.user_id, who.agent_id, who.space and who.space.id) for who in house.callers.values()
    }
    found = {(line["user_id"], line["agent_id"], line["space_id"]) for line in lines}
    assert found == expected


# --- not made at all ----------------------------------------------------------------------------


async def told(memoranda: Memoranda, house: House, name: str) -> dict[str, str]:
    """All that a caller is told by reading, without its ids: what, in which order, how well it matched."""
    who, caller = house.callers[name], CALLERS[name]
    found: dict[str, Any] = {"recall": await pages(memoranda, who, "recall")}
    for words in ("Mondays", "third floor acmeqallx", "acmeqannax", "acmeqonex", "zetaqallx"):
        found[words], _ = await memoranda.tools.invoke(who, "recall", {"query": words})
    if not sees_all(caller):
        found["list"] = await pages(memoranda, who, "list")
        found["tagged"] = await pages(memoranda, who, "list", tags=["kettle"])
        listed = await resources.listed(Room(who, memoranda.tools), None)
        found["resources"] = [each.model_dump(mode="json") for each in listed.resources]
    found["documents"] = await _answer(memoranda, who, "search_knowledge", Course())
    own = [user for user in house.people if takes_part(caller, user)]
    talks = [house.others[f"conversation {user}"] for user in own]
    for talk in (None, *talks):
        course = Course(conversation_id=talk)
        found[f"brief {talk is None}"] = await _answer(memoranda, who, "build_brief", course)
    return {what: without_ids(said) for what, said in found.items()}


async def _answer(memoranda: Memoranda, who: Principal, tool: str, course: Course) -> Any:
    with suppress(MemorandaError):
        return (await memoranda.tools.invoke(who, tool, WALK[tool].asked(""), course=course)).answer
    return None


async def test_counts_order_scores_and_pages_are_those_of_a_house_without_anybody_else(
    memoranda: Memoranda, houses: list[House], new_database: Callable[[], str]
) -> None:
    for name in KINDS_OF_KEYS:
        caller = CALLERS[name]
        async with Memoranda.open(new_database(), migrate=False) as lonely:
            alone = await furnish(lonely, "acme", alone=caller)
            assert len(alone.memories) == len([row for row in ROWS.values() if finds(caller, row)])
            expected = await told(lonely, alone, name)
        said = await told(memoranda, houses[0], name)
        for what, answers in expected.items():
            assert said[what] == answers, (name, what)
