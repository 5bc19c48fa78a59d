"""What ADK's own tests ask of every session service, in our words and held to ADK's own service too.

Those tests are in no archive that the package index has: neither the wheel nor the source of google-adk carries them.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from google.adk.errors import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions import BaseSessionService, InMemorySessionService
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.sessions.session import Session
from google.adk.tools.tool_confirmation import ToolConfirmation
from google.genai import types

from memoranda import Memoranda
from memoranda.integrations.google_adk import MemorandaSessionService
from tests.contract.tenants import Tenant
from tests.integrations.house import acme, memoranda

__all__ = ["acme", "memoranda"]

Promise = Callable[[BaseSessionService], Awaitable[None]]
ADA: dict[str, Any] = {"app_name": "desk", "user_id": "ada"}
BEN: dict[str, Any] = {"app_name": "desk", "user_id": "ben"}


def event(**given: Any) -> Event:
    return Event(**{"author": "user", "invocation_id": "i", **given})


def changing(**delta: Any) -> Event:
    return event(
        actions=EventActions(state_delta={k.replace("__", ":"): v for k, v in delta.items()})
    )


async def again(service: BaseSessionService, session: Session, **config: Any) -> Session:
    """The session as it is kept."""
    got = await service.get_session(
        app_name=session.app_name,
        user_id=session.user_id,
        session_id=session.id,
        config=GetSessionConfig(**config) if config else None,
    )
    assert got is not None
    return got


async def ids(service: BaseSessionService, app: str, user: str | None = None) -> list[str]:
    return [s.id for s in (await service.list_sessions(app_name=app, user_id=user)).sessions]


async def nothing_is_found_where_nothing_was_made(service: BaseSessionService) -> None:
    assert await service.get_session(**ADA, session_id="none") is None
    assert await ids(service, "desk") == await ids(service, "desk", "ada") == []
    assert not await service.get_user_state(**ADA)
    await service.delete_session(**ADA, session_id="none")


async def a_session_comes_back_as_it_was_made_until_it_is_deleted(
    service: BaseSessionService,
) -> None:
    made = await service.create_session(**ADA, state={"k": "v"})
    assert (made.app_name, made.user_id, made.state) == ("desk", "ada", {"k": "v"})
    assert made.id
    assert made.last_update_time <= time.time()
    assert await again(service, made) == made
    await service.delete_session(**ADA, session_id=made.id)
    assert await service.get_session(**ADA, session_id=made.id) is None


async def all_sessions_are_listed_each_with_its_state(service: BaseSessionService) -> None:
    for at, name in ((ADA, "a"), (ADA, "b"), (BEN, "c")):
        await service.create_session(**at, session_id=name, state={"is": name})
    for user, names in (("ada", {"a", "b"}), ("ben", {"c"}), (None, {"a", "b", "c"}), ("", set())):
        listed = (await service.list_sessions(app_name="desk", user_id=user)).sessions
        assert {each.id for each in listed} == names
        assert all(each.state == {"is": each.id} and not each.events for each in listed)


async def the_session_that_went_on_last_is_listed_last(service: BaseSessionService) -> None:
    made = [await service.create_session(**ADA, session_id=name) for name in ("a", "b", "c")]
    latest = max(each.last_update_time for each in made)
    for number, at in ((2, latest + 10), (0, latest + 30), (1, latest + 20)):
        await service.append_event(made[number], event(timestamp=at))
    assert await ids(service, "desk", "ada") == await ids(service, "desk") == ["c", "b", "a"]


async def an_applications_state_is_every_users(service: BaseSessionService) -> None:
    first = await service.create_session(**ADA, state={"app:a": 1})
    await service.append_event(first, changing(app__b=2))
    second = await service.create_session(**BEN)
    assert second.state == (await again(service, first)).state == {"app:a": 1, "app:b": 2}
    assert (await service.create_session(app_name="shop", user_id="ada")).state == {}


async def a_users_state_is_in_all_of_the_users_sessions_alone(service: BaseSessionService) -> None:
    first = await service.create_session(**ADA, state={"user:a": 1})
    await service.append_event(first, changing(user__b=2))
    assert (await service.create_session(**ADA)).state == {"user:a": 1, "user:b": 2}
    assert (await service.create_session(**BEN)).state == {}


async def a_sessions_state_is_its_own(service: BaseSessionService) -> None:
    first = await service.create_session(**ADA, state={"a": 1})
    await service.append_event(first, changing(b=None))
    assert (await again(service, first)).state == {"a": 1, "b": None}
    assert (await service.create_session(**ADA)).state == {}


async def temporary_state_is_seen_by_the_next_step_and_kept_by_nobody(
    service: BaseSessionService,
) -> None:
    session = await service.create_session(**ADA, state={"temp:x": 0})
    told = changing(temp__t=1, k=2)
    await service.append_event(session, told)
    assert (session.state["temp:t"], session.state["k"]) == (1, 2)
    assert told.actions.state_delta == {"k": 2}
    await service.append_event(session, event())
    assert session.state["temp:t"] == 1
    kept = await again(service, session)
    assert (kept.state, kept.events[0].actions.state_delta) == ({"k": 2}, {"k": 2})


async def two_users_may_have_a_session_of_one_id(service: BaseSessionService) -> None:
    adas = await service.create_session(**ADA, session_id="s")
    await service.append_event(adas, event())
    await service.create_session(**BEN, session_id="s")
    bens = await service.get_session(**BEN, session_id="s")
    assert bens is not None
    assert (bens.user_id, bens.events) == ("ben", [])


async def a_second_session_of_an_id_is_refused(service: BaseSessionService) -> None:
    await service.create_session(**ADA, session_id="s", state={"k": 1})
    with pytest.raises(AlreadyExistsError):
        await service.create_session(**ADA, session_id="s", state={"k": 2, "user:k": 2})
    kept = await service.get_session(**ADA, session_id="s")
    assert kept is not None
    assert kept.state == {"k": 1}


async def blanks_around_a_sessions_id_are_no_part_of_it(service: BaseSessionService) -> None:
    made = await service.create_session(**ADA, session_id=" s\n")
    assert made.id == "s"
    for name in ("s", " s ", "s\t"):
        assert await service.get_session(**ADA, session_id=name) == made
    with pytest.raises(AlreadyExistsError):
        await service.create_session(**ADA, session_id="\ts")
    await service.delete_session(**ADA, session_id=" s ")
    assert await ids(service, "desk") == []
    assert (await service.create_session(**ADA, session_id="  ")).id.strip()


async def bytes_come_back(service: BaseSessionService) -> None:
    session = await service.create_session(**ADA)
    picture = types.Part.from_bytes(data=b"\x00\xff\x7fpng", mime_type="image/png")
    found = types.SearchEntryPoint(sdk_blob=b"\xfe\x00")
    told = event(
        content=types.Content(role="user", parts=[picture]),
        grounding_metadata=types.GroundingMetadata(search_entry_point=found),
    )
    await service.append_event(session, told)
    kept = await again(service, session)
    assert kept.events == session.events == [told]


async def every_field_of_an_event_comes_back(service: BaseSessionService) -> None:
    session = await service.create_session(**ADA)
    said = types.Transcription(text="said", finished=True)
    confirm = {
        "c1": ToolConfirmation(confirmed=False, hint="Sure?"),
        "c2": ToolConfirmation(confirmed=True, payload={"n": None, "é": [1.5, "\0"]}),
    }
    told = event(
        content=types.Content(role="user", parts=[types.Part(text="text")]),
        actions=EventActions(
            artifact_delta={"file": 0},
            transfer_to_agent="other",
            escalate=True,
            requested_tool_confirmations=confirm,
        ),
        turn_complete=True,
        partial=False,
        interrupted=True,
        long_running_tool_ids={"t1", "t2"},
        error_code="code",
        error_message="message",
        grounding_metadata=types.GroundingMetadata(web_search_queries=["q"]),
        usage_metadata=types.GenerateContentResponseUsageMetadata(total_token_count=2),
        citation_metadata=types.CitationMetadata(),
        custom_metadata={"k": {"deep": [None]}},
        input_transcription=said,
        output_transcription=said,
        timestamp=1_700_000_000.123,
    )
    await service.append_event(session, told)
    await service.append_event(session, event(actions=EventActions()))
    assert await again(service, session) == session


async def a_session_is_as_new_as_its_last_event(service: BaseSessionService) -> None:
    session = await service.create_session(**ADA)
    at = session.last_update_time + 10
    await service.append_event(session, event(timestamp=at))
    kept = await again(service, session)
    assert session.last_update_time == kept.last_update_time == pytest.approx(at, abs=1e-6)


async def as_many_events_are_given_as_are_asked_for(service: BaseSessionService) -> None:
    session = await service.create_session(**ADA)
    for number in range(1, 6):
        await service.append_event(session, event(timestamp=float(number)))
    for config, times in (
        ({}, [1, 2, 3, 4, 5]),
        ({"num_recent_events": 0}, []),
        ({"num_recent_events": 3}, [3, 4, 5]),
        ({"num_recent_events": 50}, [1, 2, 3, 4, 5]),
        ({"after_timestamp": 4.0}, [4, 5]),
        ({"after_timestamp": 4.5}, [5]),
        ({"after_timestamp": 50.0}, []),
        ({"after_timestamp": 4.0, "num_recent_events": 3}, [4, 5]),
        ({"after_timestamp": 2.0, "num_recent_events": 1}, [5]),
    ):
        kept = await again(service, session, **config)
        assert [each.timestamp for each in kept.events] == times


async def a_part_of_an_event_is_kept_by_nobody(service: BaseSessionService) -> None:
    session = await service.create_session(**ADA)
    part = changing(k=1)
    part.partial = True
    assert await service.append_event(session, part) is part
    assert (session.events, session.state) == ([], {})
    kept = await again(service, session)
    assert (kept.events, kept.state) == ([], {})


async def a_users_state_is_read_without_a_session(service: BaseSessionService) -> None:
    session = await service.create_session(**ADA)
    await service.append_event(session, changing(user__count=1, user__who={"name": "Ada"}, k=1))
    await service.append_event(session, changing(user__count=2))
    assert await service.get_user_state(**ADA) == {"count": 2, "who": {"name": "Ada"}}
    assert not await service.get_user_state(**BEN)
    assert not await service.get_user_state(app_name="shop", user_id="ada")
    await service.delete_session(**ADA, session_id=session.id)
    assert (await service.get_user_state(**ADA))["count"] == 2


async def an_event_that_is_given_again_is_kept_once(service: BaseSessionService) -> None:
    session = await service.create_session(**ADA)
    told = changing(k=1)
    await service.append_event(session, told)
    await service.append_event(session, told.model_copy(deep=True))
    # Another event that happens to have the same id is another event.
    await service.append_event(session, told.model_copy(update={"author": "clerk"}))
    kept = await again(service, session)
    assert [each.author for each in kept.events] == ["user", "clerk"]


async def no_event_is_kept_of_a_session_that_is_not_there(service: BaseSessionService) -> None:
    session = await service.create_session(**ADA)
    await service.delete_session(**ADA, session_id=session.id)
    with pytest.raises(SessionNotFoundError):
        await service.append_event(session, changing(app__k=1))
    assert await service.get_session(**ADA, session_id=session.id) is None
    assert (await service.create_session(**ADA)).state == {}


async def what_is_given_out_is_nobodys_to_change(service: BaseSessionService) -> None:
    made = await service.create_session(**ADA, state={"k": [1], "user:u": {"n": 1}})
    made.state["k"].append(3)
    got = await again(service, made)
    got.state["user:u"]["n"] = 2
    (await service.get_user_state(**ADA))["u"]["n"] = 3
    assert (await again(service, made)).state == {"k": [1], "user:u": {"n": 1}}


async def sessions_are_made_side_by_side(service: BaseSessionService) -> None:
    made = await asyncio.gather(
        *(service.create_session(app_name=f"app{n}", user_id="ada") for n in range(5)),
        *(service.create_session(**ADA, state={f"app:{n}": n}) for n in range(5)),
    )
    assert len({each.id for each in made}) == 10
    assert (await again(service, made[-1])).state == {f"app:{n}": n for n in range(5)}


OF_EVERY_SERVICE: tuple[Promise, ...] = (
    nothing_is_found_where_nothing_was_made,
    a_session_comes_back_as_it_was_made_until_it_is_deleted,
    all_sessions_are_listed_each_with_its_state,
    the_session_that_went_on_last_is_listed_last,
    an_applications_state_is_every_users,
    a_users_state_is_in_all_of_the_users_sessions_alone,
    a_sessions_state_is_its_own,
    temporary_state_is_seen_by_the_next_step_and_kept_by_nobody,
    two_users_may_have_a_session_of_one_id,
    a_second_session_of_an_id_is_refused,
    blanks_around_a_sessions_id_are_no_part_of_it,
    bytes_come_back,
    every_field_of_an_event_comes_back,
    a_session_is_as_new_as_its_last_event,
    as_many_events_are_given_as_are_asked_for,
    a_part_of_an_event_is_kept_by_nobody,
    a_users_state_is_read_without_a_session,
    an_event_that_is_given_again_is_kept_once,
    no_event_is_kept_of_a_session_that_is_not_there,
    what_is_given_out_is_nobodys_to_change,
    sessions_are_made_side_by_side,
)


@pytest.mark.parametrize("promise", OF_EVERY_SERVICE, ids=lambda each: each.__name__)
async def test_our_service_keeps(memoranda: Memoranda, acme: Tenant, promise: Promise) -> None:
    await promise(MemorandaSessionService(memoranda, acme.owner))


@pytest.mark.parametrize("promise", OF_EVERY_SERVICE, ids=lambda each: each.__name__)
async def test_adks_own_service_keeps(promise: Promise) -> None:
    await promise(InMemorySessionService())


# What follows ADK's tests ask of its services that outlive a process.


@pytest.fixture
def service(memoranda: Memoranda, acme: Tenant) -> MemorandaSessionService:
    return MemorandaSessionService(memoranda, acme.owner)


async def test_of_two_who_go_on_with_one_session_the_second_is_refused(
    memoranda: Memoranda, acme: Tenant, service: MemorandaSessionService
) -> None:
    made = await service.create_session(**ADA)
    other = MemorandaSessionService(memoranda, acme.owner)  # as that of another process
    for turn in range(8):
        latest = await again(service, made)
        copies = [latest.model_copy(deep=True) for _ in range(2)]
        done = await asyncio.gather(
            service.append_event(copies[0], changing(**{f"k{turn}": 0})),
            other.append_event(copies[1], changing(**{f"k{turn}": 1})),
            return_exceptions=True,
        )
        refused = [type(each) for each in done if isinstance(each, Exception)]
        assert refused == [StaleSessionError]
        [lost] = [n for n, each in enumerate(done) if isinstance(each, Exception)]
        assert copies[lost] == latest
        assert (await again(service, made)).state[f"k{turn}"] == 1 - lost
    assert len((await again(service, made)).events) == 8


async def test_a_session_is_known_by_its_mark_or_else_by_its_time_and_its_last_event(
    service: MemorandaSessionService,
) -> None:
    session = await service.create_session(**ADA)
    await service.append_event(session, event(id="e1", timestamp=session.last_update_time + 10))
    # Rounded on its way, it has its mark, or its last event.
    for name, mark in (("e2", session._storage_update_marker), ("e3", None)):
        session._storage_update_marker = mark
        session.last_update_time -= 0.0001
        await service.append_event(session, event(id=name))
        assert (await again(service, session)).events == session.events
    late = await again(service, session, num_recent_events=2)
    late.events.pop()
    late._storage_update_marker, late.last_update_time = None, late.last_update_time - 0.0001
    with pytest.raises(StaleSessionError):
        await service.append_event(late, event(id="e4"))
    assert [each.id for each in (await again(service, session)).events] == ["e1", "e2", "e3"]
