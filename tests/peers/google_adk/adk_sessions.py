"""What ADK promises of a session service, its own in-memory one as the model, and what ours promises beyond."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.errors import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.runners import Runner
from google.adk.sessions import BaseSessionService, InMemorySessionService
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.session import Session
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda import Memoranda
from memoranda.integrations.google_adk import MemorandaSessionService
from memoranda.settings import Settings
from memoranda.storage import Storage
from memoranda.words.errors import MemorandaError, Refused
from memoranda.words.ids import new_id
from tests.contract.tenants import Tenant, new_tenant
from tests.integrations.house import acme, memoranda, other
from tests.peers.google_adk.scripted_llm import ScriptedLlm, asked

__all__ = ["acme", "memoranda", "other"]

APP: dict[str, Any] = {"app_name": "app", "user_id": "u1"}


@pytest.fixture
def service(memoranda: Memoranda, acme: Tenant) -> MemorandaSessionService:
    return MemorandaSessionService(memoranda, acme.owner)


async def found(service: BaseSessionService, session: Session, **config: Any) -> Session:
    got = await service.get_session(
        app_name=session.app_name,
        user_id=session.user_id,
        session_id=session.id,
        config=GetSessionConfig(**config) if config else None,
    )
    assert got is not None
    return got


def said(text: str, **given: Any) -> Event:
    given = {"author": "user", "invocation_id": "i1", "id": text, **given}
    return Event(content=asked(text), **given)


async def test_state_goes_to_the_application_the_user_or_the_session_and_temp_to_nobody(
    service: MemorandaSessionService,
) -> None:
    state = {"k": 1, "app:a": {"x": [1]}, "user:u": None, "temp:t": 4}
    made = await service.create_session(**APP, state=state)
    kept = {"k": 1, "app:a": {"x": [1]}, "user:u": None}
    assert made.state == (await found(service, made)).state == kept
    second = await service.create_session(**APP)
    assert second.state == {"app:a": {"x": [1]}, "user:u": None}
    third = await service.create_session(app_name="app", user_id="u2")
    assert third.state == {"app:a": {"x": [1]}}
    assert (await service.create_session(app_name="app2", user_id="u1")).state == {}
    assert await service.get_user_state(**APP) == {"u": None}
    assert await service.get_user_state(app_name="app", user_id="nobody") == {}


async def test_a_session_has_the_id_that_it_is_given_or_one_of_its_own(
    service: MemorandaSessionService,
) -> None:
    one, two = await service.create_session(**APP), await service.create_session(**APP)
    assert one.id != two.id
    named = await service.create_session(**APP, session_id="  s1 ")
    assert named.id == "s1"
    assert (await service.get_session(**APP, session_id=" s1")) == named
    with pytest.raises(AlreadyExistsError):
        await service.create_session(**APP, session_id="s1", state={"user:k": 1})
    assert await service.get_user_state(**APP) == {}
    # Another user's, and another application's, are others.
    await service.create_session(app_name="app", user_id="u2", session_id="s1")
    await service.create_session(app_name="app2", user_id="u1", session_id="s1")
    assert await service.get_session(**APP, session_id="none") is None
    assert await service.get_session(app_name="app", user_id="u3", session_id="s1") is None


async def test_an_event_comes_back_equal_whatever_is_in_it(
    service: MemorandaSessionService,
) -> None:
    session = await service.create_session(**APP)
    parts = [
        types.Part(text="thinking", thought=True, thought_signature=b"\x00\xff"),
        types.Part(inline_data=types.Blob(data=b"\x00\x01", mime_type="image/png")),
        types.Part(function_call=types.FunctionCall(id="c1", name="f", args={"z": 1, "a": "é\0"})),
    ]
    event = Event(
        author="agent",
        invocation_id="i1",
        id="e1",
        content=types.Content(role="model", parts=parts),
        actions=EventActions(
            state_delta={"k": [1, None]}, artifact_delta={"f.txt": 2}, transfer_to_agent="b"
        ),
        long_running_tool_ids={"c1"},
        branch="a.b",
        error_code="E",
        custom_metadata={"m": {"n": 1.5}},
        turn_complete=True,
        timestamp=1_700_000_000.123456,
    )
    assert await service.append_event(session, event) is event
    got = await found(service, session)
    assert got.events == [event] == session.events
    assert got.last_update_time == session.last_update_time == event.timestamp


async def test_an_event_changes_state_here_and_there_and_temp_here_alone(
    service: MemorandaSessionService,
) -> None:
    session = await service.create_session(**APP, state={"k": 1})
    delta = {"k": 2, "app:a": 1, "user:u": 1, "temp:t": 1}
    event = await service.append_event(session, said("e", state=dict(delta)))
    kept = {"k": 2, "app:a": 1, "user:u": 1}
    assert session.state == {**kept, "temp:t": 1}
    assert event.actions.state_delta == kept
    got = await found(service, session)
    assert (got.state, got.events[0].actions.state_delta) == (kept, kept)
    partial = said("p", partial=True, state={"k": 9})
    assert await service.append_event(session, partial) is partial
    assert await found(service, session) == got


async def test_events_are_given_as_many_as_are_asked_for(service: MemorandaSessionService) -> None:
    session = await service.create_session(**APP)
    for number in range(5):
        await service.append_event(session, said(f"e{number}", timestamp=1_000.0 + number))
    for config, ids in (
        ({"num_recent_events": 2}, ["e3", "e4"]),
        ({"num_recent_events": 0}, []),
        ({"num_recent_events": 9}, ["e0", "e1", "e2", "e3", "e4"]),
        ({"after_timestamp": 1_003.0}, ["e3", "e4"]),
        ({"after_timestamp": 1_003.0, "num_recent_events": 1}, ["e4"]),
        ({"after_timestamp": 9_999.0}, []),
    ):
        got = await found(service, session, **config)
        assert [event.id for event in got.events] == ids
        # Whoever saw a part appends all the same.
    part = await found(service, session, num_recent_events=1)
    await service.append_event(part, said("e5", timestamp=1_005.0))
    assert len((await found(service, session)).events) == 6


async def test_sessions_are_listed_without_events_the_last_one_to_go_on_at_the_end(
    service: MemorandaSessionService,
) -> None:
    first, *_ = [
        await service.create_session(
            app_name="app", user_id=user, session_id=name, state={"k": name}
        )
        for user, name in (("u1", "a"), ("u1", "b"), ("u2", "c"))
    ]
    await service.append_event(first, said("e", timestamp=first.last_update_time + 1_000))
    all_of_them = (await service.list_sessions(app_name="app")).sessions
    assert [each.id for each in all_of_them] == ["b", "c", "a"]
    assert [each.events for each in all_of_them] == [[], [], []]
    mine = (await service.list_sessions(**APP)).sessions
    assert [(each.id, each.state) for each in mine] == [("b", {"k": "b"}), ("a", {"k": "a"})]
    assert (await service.list_sessions(app_name="app2")).sessions == []
    await service.delete_session(**APP, session_id="a")
    await service.delete_session(**APP, session_id="none")
    assert [each.id for each in (await service.list_sessions(**APP)).sessions] == ["b"]


async def test_an_event_for_a_session_that_went_on_or_is_gone_changes_nothing(
    service: MemorandaSessionService,
) -> None:
    made = await service.create_session(**APP)
    one, two = await found(service, made), await found(service, made)
    # Clocks of hosts differ: an event may be older than the session that it goes on with.
    await service.append_event(one, said("e1", timestamp=1.0))
    with pytest.raises(StaleSessionError):
        await service.append_event(two, said("e2", state={"k": 1, "user:u": 1, "temp:t": 1}))
    assert (two.events, two.state) == ([], {})
    assert (await found(service, made)).state == {}
    again = await found(service, made)
    await service.append_event(again, said("e2"))
    # A session that came from elsewhere has no mark: its time is what it is known by.
    copied = Session.model_validate_json((await found(service, made)).model_dump_json())
    await service.append_event(copied, said("e3", timestamp=copied.last_update_time + 1))
    with pytest.raises(StaleSessionError):
        await service.append_event(
            Session(id=made.id, app_name="app", user_id="u1", last_update_time=1.0), said("e4")
        )
    assert [event.id for event in (await found(service, made)).events] == ["e1", "e2", "e3"]
    await service.delete_session(**APP, session_id=made.id)
    with pytest.raises(SessionNotFoundError):
        await service.append_event(again, said("e5"))


async def test_agents_side_by_side_append_to_one_session(service: MemorandaSessionService) -> None:
    session = await service.create_session(**APP)
    await asyncio.gather(
        *(service.append_event(session, said(f"e{n}", state={f"k{n}": n})) for n in range(6))
    )
    got = await found(service, session)
    assert got.events == session.events
    assert got.state == session.state == {f"k{n}": n for n in range(6)}


async def test_an_event_that_comes_again_is_kept_once(service: MemorandaSessionService) -> None:
    session = await service.create_session(**APP)
    event = said("e", state={"n": 1})
    await service.append_event(session, event.model_copy(deep=True))
    await service.append_event(session, event)
    assert len(session.events) == len((await found(service, session)).events) == 1


async def test_what_json_can_not_say_is_kept_as_text_and_logged(
    service: MemorandaSessionService, caplog: pytest.LogCaptureFixture
) -> None:
    made = await service.create_session(**APP, state={"f": print, "ok": (1, 2)})
    assert (await found(service, made)).state == {"f": str(print), "ok": [1, 2]}
    assert "kept as text" in caplog.text


async def test_a_runner_keeps_its_turns_and_takes_them_back(
    service: MemorandaSessionService,
) -> None:
    model = ScriptedLlm(script=["Ten.", "Twelve."], windows=[])
    agent = LlmAgent(name="clerk", model=model, output_key="answer")
    runner = Runner(app_name="app", agent=agent, session_service=service)
    made = await service.create_session(**APP)
    turns = []
    for question in ("How many?", "Sure?"):
        run = runner.run_async(user_id="u1", session_id=made.id, new_message=asked(question))
        turns.append([event.invocation_id async for event in run][-1])
    got = await found(service, made)
    assert [event.author for event in got.events] == ["user", "clerk", "user", "clerk"]
    assert got.state["answer"] == "Twelve."
    assert [part.text for each in model.windows[1] for part in each.parts or []] == [
        *("How many?", "Ten.", "Sure?")
    ]
    await runner.rewind_async(
        user_id="u1", session_id=made.id, rewind_before_invocation_id=turns[1]
    )
    assert (await found(service, made)).state["answer"] == "Ten."


async def test_another_organization_and_another_user_have_sessions_of_their_own(
    memoranda: Memoranda, acme: Tenant, other: Tenant, service: MemorandaSessionService
) -> None:
    strangers = MemorandaSessionService(memoranda, other.owner)
    made = await service.create_session(**APP, session_id="s", state={"app:a": 1, "user:u": 1})
    assert await strangers.get_session(**APP, session_id="s") is None
    assert (await strangers.list_sessions(app_name="app")).sessions == []
    assert await strangers.get_user_state(**APP) == {}
    await strangers.delete_session(**APP, session_id="s")
    with pytest.raises(SessionNotFoundError):
        await strangers.append_event(made, said("e"))
    theirs = await strangers.create_session(**APP, session_id="s")
    assert theirs.state == {}
    annas = MemorandaSessionService(memoranda, acme.member(acme.anna))
    assert await annas.get_session(**APP, session_id="s") is None
    assert (await annas.list_sessions(app_name="app")).sessions == []
    own = await annas.create_session(app_name="app", user_id=str(acme.anna.id))
    assert own.state == {"app:a": 1}
    with pytest.raises(Refused):
        await annas.create_session(app_name="app", user_id=str(acme.ben.id))
    with pytest.raises(MemorandaError):
        await service.create_session(app_name="", user_id="u1")


async def test_erasing_a_user_erases_its_sessions(
    memoranda: Memoranda, acme: Tenant, service: MemorandaSessionService
) -> None:
    await service.create_session(**APP, session_id="s", state={"user:u": 1})
    await service.create_session(app_name="app", user_id="u2", session_id="s")
    user = await memoranda.access.user(acme.owner, "u1")
    await memoranda.removal.erase_user(acme.owner, user.id)
    assert await service.get_session(**APP, session_id="s") is None
    assert await service.get_user_state(**APP) == {}
    assert len((await service.list_sessions(app_name="app")).sessions) == 1


Act = tuple[str, str, str, dict[str, int | None]]
KEYS = ("k", "app:k", "user:k", "temp:k")


async def played(service: BaseSessionService, acts: list[Act]) -> list[Any]:
    """What a service shows after each of these acts; what it makes up itself is left out."""
    seen: list[Any] = []
    for number, (verb, user, name, state) in enumerate(acts):
        at = {"app_name": "app", "user_id": user}
        got = await service.get_session(**at, session_id=name)
        try:
            if verb == "create":
                await service.create_session(**at, session_id=name, state=dict(state))
            elif verb == "append" and got is not None:
                # Later than any session was made, so that both order them alike.
                event = said(f"e{number}", state=dict(state), timestamp=3e9 + number)
                await service.append_event(got, event)
                seen.append((got.state, [each.id for each in got.events]))
            elif verb == "delete":
                await service.delete_session(**at, session_id=name)
        except AlreadyExistsError:
            seen.append("exists")
        for who in ("u1", "u2"):
            seen.append(await service.get_user_state(app_name="app", user_id=who))
            for session in (await service.list_sessions(app_name="app", user_id=who)).sessions:
                config = GetSessionConfig(num_recent_events=2)
                some = await service.get_session(
                    app_name="app", user_id=who, session_id=session.id, config=config
                )
                assert some is not None
                seen.append((session.id, session.state, some.state, some.events))
    return seen


class House:
    """One database for all examples, each of which has an organization of its own."""

    def __init__(self, url: str) -> None:
        self.runner = asyncio.Runner()
        self.storage = self.runner.run(Storage.open(url))

    def shown(self, acts: list[Act]) -> tuple[list[Any], list[Any]]:
        return self.runner.run(self._both(acts))

    async def _both(self, acts: list[Act]) -> tuple[list[Any], list[Any]]:
        owner = (await new_tenant(self.storage, f"Organization {new_id()}")).owner
        opened: Any = SimpleNamespace(storage=self.storage, settings=Settings(), owner=owner)
        ours = MemorandaSessionService(opened)
        return await played(ours, acts), await played(InMemorySessionService(), acts)


@pytest.fixture(scope="module")
def house(module_database_url: str) -> Iterator[House]:
    opened = House(module_database_url)
    yield opened
    opened.runner.run(opened.storage.close())
    opened.runner.close()


@settings(max_examples=15)
@given(
    acts=st.lists(
        st.tuples(
            st.sampled_from(["create", "append", "append", "delete"]),
            st.sampled_from(["u1", "u2"]),
            st.sampled_from(["s1", "s2"]),
            st.dictionaries(st.sampled_from(KEYS), st.none() | st.integers(0, 2), max_size=3),
        ),
        min_size=3,
        max_size=10,
    )
)
def test_whatever_is_done_it_shows_what_adks_own_service_shows(
    house: House, acts: list[Act]
) -> None:
    ours, theirs = house.shown(acts)
    assert ours == theirs
