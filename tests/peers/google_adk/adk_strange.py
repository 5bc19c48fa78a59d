"""What nobody should send and somebody will: it is kept, or refused in words, and nothing else of ours is raised."""

import asyncio
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from google.adk.errors import StaleSessionError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from memoranda import Memoranda
from memoranda.access.models import Principal
from memoranda.integrations.google_adk import MemorandaMemoryService, MemorandaSessionService
from memoranda.words.errors import Invalid, MemorandaError, OverLimit, Refused, SecretFound
from tests.contract.tenants import Tenant
from tests.integrations.house import acme, memoranda, other
from tests.peers.google_adk.scripted_llm import asked
from tests.peers.google_adk.unhurried import unhurried

__all__ = ["acme", "memoranda", "other", "unhurried"]

APP: dict[str, Any] = {"app_name": "app", "user_id": "u1"}


@pytest.fixture
def service(memoranda: Memoranda, acme: Tenant) -> MemorandaSessionService:
    return MemorandaSessionService(memoranda, acme.owner)


@pytest.fixture
def memory(memoranda: Memoranda, acme: Tenant, unhurried: None) -> MemorandaMemoryService:
    return MemorandaMemoryService(memoranda, acme.owner)


def deep(levels: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(levels):
        made = [made]
    return made


def answered(value: Any) -> types.Content:
    part = types.Part(function_response=types.FunctionResponse(name="f", response={"v": value}))
    return types.Content(role="user", parts=[part])


ENDLESS: dict[str, Any] = {}
ENDLESS["x"] = ENDLESS
HALF = "a\ud800b"
TOLD: dict[str, tuple[Any, str | None]] = {
    "a value of no kind that JSON knows": (
        answered(print),
        "kept",
    ),
    "bytes": (answered(b"\xff\x00"), "kept"),
    "a set": (answered({1}), "kept"),
    "a time": (answered(datetime(2026, 1, 1, tzinfo=UTC)), "kept"),
    "a NUL": (asked("a\0b"), "kept"),
    "lines of another kind": (asked("a\u2028b\x85\x0b"), "kept"),
    "half of a pair": (asked(HALF), None),
    "nests of lists": (answered(deep(900)), None),
    "what holds itself": (answered(ENDLESS), None),
}


@pytest.mark.parametrize("what", TOLD)
async def test_what_an_event_says_is_kept_or_refused(
    service: MemorandaSessionService, what: str
) -> None:
    content, kept = TOLD[what]
    session = await service.create_session(**APP)
    event = Event(author="user", content=content, actions=EventActions(state_delta={"k": 1}))
    if kept is None:
        with pytest.raises(Invalid):
            await service.append_event(session, event)
        assert (session.events, session.state) == ([], {})
    else:
        await service.append_event(session, event)
    got = await service.get_session(**APP, session_id=session.id)
    assert got is not None
    assert (len(got.events), got.state) == ((1, {"k": 1}) if kept else (0, {}))
    # It goes on as before.
    await service.append_event(got, Event(author="user", content=asked("Go on.")))


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (b"\xff", "_w=="),
        (b"abc", "abc"),
        ((1, {2}), [1, [2]]),
        ({1: None}, {"1": None}),
        (math.inf, math.inf),
        ("\0", "\0"),
        ("", ""),
        (HALF, None),
        (deep(900), None),
        (ENDLESS, None),
    ],
)
async def test_a_value_of_a_state_is_kept_or_refused(
    service: MemorandaSessionService, value: Any, kept: Any
) -> None:
    # Through an event and at the beginning alike, in all three scopes.
    for key in ("k", "app:k", "user:k"):
        session = await service.create_session(**APP)
        event = Event(author="user", actions=EventActions(state_delta={}))
        event.actions.state_delta[key] = value
        if kept is None:
            with pytest.raises(Invalid):
                await service.append_event(session, event)
            with pytest.raises(Invalid):
                await service.create_session(**APP, session_id="new", state={key: value})
            assert await service.get_session(**APP, session_id="new") is None
            continue
        await service.append_event(session, event)
        got = await service.get_session(**APP, session_id=session.id)
        made = await service.create_session(**APP, state={key: value})
        assert got is not None
        assert got.state[key] == made.state[key] == kept


async def test_a_state_names_its_values_by_texts(service: MemorandaSessionService) -> None:
    odd: dict[Any, Any] = {1: 2}
    with pytest.raises(Invalid, match="names its values by texts"):
        await service.create_session(**APP, state=odd)
    for key in ("", ":", "app:", "user:", "app:app:x", "user:temp:x", "a\0b", "é" * 500):
        made = await service.create_session(**APP, state={key: key})
        got = await service.get_session(**APP, session_id=made.id)
        assert got is not None
        assert got.state[key] == key


@pytest.mark.parametrize("at", [-1e9, 0.0, 1e18, math.inf, -math.inf])
async def test_a_time_that_no_calendar_has_is_a_time(
    service: MemorandaSessionService, memory: MemorandaMemoryService, at: float
) -> None:
    session = await service.create_session(**APP)
    await service.append_event(session, Event(author="user", content=asked("harbor"), timestamp=at))
    got = await service.get_session(**APP, session_id=session.id)
    assert got is not None
    assert (got.events[0].timestamp, got.last_update_time) == (at, at)
    await service.append_event(got, Event(author="user"))
    await memory.add_session_to_memory(got)
    [entry] = (await memory.search_memory(**APP, query="harbor")).memories
    assert entry.timestamp


async def test_more_than_a_session_may_hold_is_refused_and_nothing_is_kept(
    service: MemorandaSessionService,
) -> None:
    session = await service.create_session(**APP)
    large = Event(author="user", content=asked("x" * 9_000_000))
    large.actions.state_delta["user:k"] = 1
    with pytest.raises(OverLimit, match="The session would have 9"):
        await service.append_event(session, large)
    with pytest.raises(OverLimit, match="The state would have 9"):
        await service.create_session(**APP, session_id="new", state={"app:k": "x" * 9_000_000})
    assert session.events == []
    assert await service.get_session(**APP, session_id="new") is None
    assert await service.get_user_state(**APP) == {}
    await service.append_event(session, Event(author="user", content=asked("x" * 5_000_000)))


async def test_blanks_around_any_name_are_no_part_of_it(
    memoranda: Memoranda,
    acme: Tenant,
    service: MemorandaSessionService,
    memory: MemorandaMemoryService,
) -> None:
    padded: dict[str, Any] = {"app_name": " app\n", "user_id": "\tu1 "}
    made = await service.create_session(**padded, session_id=" s ", state={"user:k": 1})
    for at in (APP, padded):
        assert await service.get_session(**at, session_id="s") == made
        assert (await service.list_sessions(**at)).sessions == [made]
        assert await service.get_user_state(**at) == {"k": 1}
    event = Event(author="user", content=asked("The harbor is open."))
    await service.append_event(made, event)
    fact = MemoryEntry(content=asked("Ada likes the harbor."))
    await memory.add_session_to_memory(made.model_copy(update=padded))
    await memory.add_events_to_memory(**padded, session_id=" s", events=[event])
    await memory.add_memory(**padded, memories=[fact])
    for at in (APP, padded):
        assert len((await memory.search_memory(**at, query="harbor")).memories) == 2
    users = (await memoranda.access.users(acme.owner)).items
    assert [each.external_id for each in users if each.external_id] == ["u1"]
    await service.delete_session(**padded, session_id="s ")
    assert (await service.list_sessions(**APP)).sessions == []


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\0", "\ud800"])
async def test_a_name_that_nobody_can_have_is_refused_and_makes_nobody(
    memoranda: Memoranda,
    acme: Tenant,
    service: MemorandaSessionService,
    memory: MemorandaMemoryService,
    name: str,
) -> None:
    before = len((await memoranda.access.users(acme.owner)).items)
    said = Session(id="s", app_name="app", user_id=name, events=[])
    for refused in (
        service.create_session(app_name="app", user_id=name),
        service.create_session(app_name=name, user_id="u1"),
        memory.add_session_to_memory(said),
        memory.add_events_to_memory(app_name="app", user_id=name, events=[]),
        memory.add_memory(app_name="app", user_id=name, memories=[]),
    ):
        with pytest.raises(MemorandaError) as error:
            await refused
        assert isinstance(error.value, Invalid | OverLimit)
    assert len((await memoranda.access.users(acme.owner)).items) == before


async def test_nothing_is_found_of_who_is_nobody_yet_and_to_add_makes_a_user(
    memoranda: Memoranda, acme: Tenant, memory: MemorandaMemoryService
) -> None:
    at = {"app_name": "app", "user_id": "new"}
    await memoranda.memories.remember(acme.owner, "The harbor is everybody's.")
    assert (await memory.search_memory(**at, query="harbor")).memories == []
    await memory.delete_memory(**at, memory_id="memory:none")
    events = [Event(author="user", content=asked("The harbor is wide."))]
    await asyncio.gather(
        *(memory.add_events_to_memory(**at, session_id=f"s{n}", events=events) for n in range(4))
    )
    found = (await memory.search_memory(**at, query="harbor")).memories
    assert len(found) == 5
    users = (await memoranda.access.users(acme.owner)).items
    assert [each.external_id for each in users].count("new") == 1


async def test_who_may_make_no_user_is_told_what_to_do(memoranda: Memoranda, acme: Tenant) -> None:
    fact = [MemoryEntry(content=asked("Tea."))]
    told = "is no user that this key knows of"

    async def tried(who: Principal, user: str) -> str:
        service = MemorandaMemoryService(memoranda, who)
        assert (await service.search_memory(app_name="a", user_id=user, query="tea")).memories == []
        with pytest.raises(Refused) as error:
            await service.add_memory(app_name="a", user_id=user, memories=fact)
        return error.value.message

    for who in (acme.member(acme.anna), acme.reader, acme.key_of(acme.scout, acme.anna)):
        assert told in await tried(who, "new")
    # Of another's name a member hears the same as of nobody's.
    await memoranda.access.create_user(acme.owner, "Zoe", "zoe")
    said = {await tried(acme.member(acme.anna), each) for each in ("zoe", "zoo")}
    [one] = {each.replace("zoe", "zoo") for each in said}
    assert one == (
        "'zoo' is no user that this key knows of, and it may not make users: name the key's own user, "
        "or use an owner's key."
    )
    sessions = MemorandaSessionService(memoranda, acme.member(acme.anna))
    with pytest.raises(Refused, match=told):
        await sessions.create_session(app_name="app", user_id="new")
    with pytest.raises(Refused, match="an agent's key for none"):
        MemorandaMemoryService(memoranda, acme.key_of(acme.scout))


@pytest.mark.parametrize(
    ("bad", "error"),
    [("x" * 600, OverLimit), ("\u200b", Invalid), ("ghp_" + "a1B2c3D4e5" * 4, SecretFound)],
)
async def test_of_facts_of_which_one_is_refused_none_is_remembered(
    memoranda: Memoranda, acme: Tenant, memory: MemorandaMemoryService, bad: str, error: Any
) -> None:
    facts = [MemoryEntry(content=asked(text)) for text in ("Ada takes tea.", bad)]
    with pytest.raises(error):
        await memory.add_memory(**APP, memories=facts)
    assert (await memoranda.memories.page(acme.owner)).items == []


async def test_what_no_store_can_hold_is_left_out_of_what_was_said(
    memory: MemorandaMemoryService,
) -> None:
    events = [
        Event(author="a\0b", id="e\0", content=asked("The \0harbor\ud800 is open.")),
        Event(author="", id="\ud800", content=asked("No author of the harbor.")),
        Event(author="x" * 5_000, content=asked("A long name in the harbor.")),
    ]
    for _ in range(2):
        await memory.add_events_to_memory(**APP, session_id="s\0", events=events)
    found = (await memory.search_memory(**APP, query="\0harbor\ud800")).memories
    assert len(found) == 3
    assert "The harbor\ufffd is open." in {
        part.text for each in found for part in each.content.parts or []
    }


@pytest.mark.parametrize("query", ["", " ", "\0", "\u200b", "?!", "*", '"', "a OR b", "x" * 20_000])
async def test_any_query_is_a_question(memory: MemorandaMemoryService, query: str) -> None:
    await memory.add_events_to_memory(**APP, events=[Event(content=asked("harbor"), author="user")])
    assert (await memory.search_memory(**APP, query=query)).memories == []
    long = "harbor " * 3_000  # as a whole message of a user's may be
    assert len((await memory.search_memory(**APP, query=long)).memories) == 1


@pytest.mark.parametrize("limit", [0, -1, 101])
async def test_how_many_are_found_at_most_is_a_count(memoranda: Memoranda, limit: int) -> None:
    with pytest.raises(Invalid, match="limit"):
        MemorandaMemoryService(memoranda, limit=limit)


async def test_what_was_said_elsewhere_takes_no_room(memory: MemorandaMemoryService) -> None:
    there = [Event(author="user", content=asked(f"harbor harbor {n}")) for n in range(120)]
    await memory.add_events_to_memory(app_name="app2", user_id="u1", session_id="s", events=there)
    here = Event(author="user", content=asked("There is a harbor, among much else in this town."))
    await memory.add_events_to_memory(**APP, session_id="s", events=[here])
    assert len((await memory.search_memory(**APP, query="harbor")).memories) == 1


async def test_an_answer_that_was_lost_is_made_up_for_when_the_event_is_given_again(
    memoranda: Memoranda, acme: Tenant, service: MemorandaSessionService
) -> None:
    made = await service.create_session(**APP)
    behind = await service.get_session(**APP, session_id=made.id)
    assert behind is not None
    event = Event(author="user", actions=EventActions(state_delta={"k": 1, "temp:t": 1}))
    await service.append_event(made, event.model_copy(deep=True))
    # The session that is given never heard that it was kept.
    await service.append_event(behind, event)
    assert (behind.state, len(behind.events)) == ({"k": 1, "temp:t": 1}, 1)
    await service.append_event(behind, Event(author="clerk"))
    got = await service.get_session(**APP, session_id=made.id)
    assert got is not None
    assert got.events == behind.events
    with pytest.raises(StaleSessionError):
        await service.append_event(made, Event(author="late"))


async def test_an_append_that_is_stopped_is_whole_or_nothing(
    service: MemorandaSessionService,
) -> None:
    session = await service.create_session(**APP)
    for pause in (0, 1, 2, 4, 8):
        event = Event(
            author="user", actions=EventActions(state_delta={"n": pause, "user:n": pause})
        )
        task = asyncio.ensure_future(service.append_event(session, event))
        for _ in range(pause):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        got = await service.get_session(**APP, session_id=session.id)
        assert got is not None
        kept = any(each.id == event.id for each in got.events)
        assert (got.state.get("n") == got.state.get("user:n") == pause) == kept
        # Whoever tries again has it once, and goes on.
        await service.append_event(session, event)
        got = await service.get_session(**APP, session_id=session.id)
        assert got is not None
        assert [each.id for each in got.events] == [each.id for each in session.events]
        assert got.state["n"] == pause


async def test_anothers_organization_sees_no_strange_name_of_ours(
    memoranda: Memoranda, acme: Tenant, other: Tenant, service: MemorandaSessionService
) -> None:
    strangers = MemorandaSessionService(memoranda, other.owner)
    made = await service.create_session(app_name="%", user_id="_", session_id="'; --")
    for app, user in (("%", "_"), ("_", "%"), ("%", None)):
        assert (await strangers.list_sessions(app_name=app, user_id=user)).sessions == []
    assert (await service.list_sessions(app_name="_", user_id="%")).sessions == []
    assert await service.get_session(app_name="%", user_id="_", session_id="'; --") == made
