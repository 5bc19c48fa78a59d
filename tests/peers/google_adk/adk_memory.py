"""What ADK's agents remember through ours: what their sessions said, and what is known of the user."""

from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.runners import Runner
from google.adk.sessions.session import Session
from google.adk.tools import load_memory
from google.genai import types

from memoranda import Memoranda
from memoranda.integrations.google_adk import MemorandaMemoryService, MemorandaSessionService
from memoranda.words.errors import Invalid, SecretFound
from tests.contract.tenants import Tenant
from tests.integrations.house import acme, memoranda, other
from tests.peers.google_adk.scripted_llm import ScriptedLlm, asked
from tests.peers.google_adk.unhurried import unhurried

__all__ = ["acme", "memoranda", "other", "unhurried"]

APP: dict[str, Any] = {"app_name": "app", "user_id": "u1"}


@pytest.fixture
def service(memoranda: Memoranda, acme: Tenant, unhurried: None) -> MemorandaMemoryService:
    return MemorandaMemoryService(memoranda, acme.owner)


def said(text: str, author: str = "user", **given: Any) -> Event:
    event = {"author": author, "invocation_id": "i", "id": text, "timestamp": 1_700_000_000.0}
    return Event(**{**event, "content": asked(text), **given})


def session(*events: Event, name: str = "s", **given: Any) -> Session:
    return Session(id=name, events=list(events), **{**APP, **given})


async def found(service: MemorandaMemoryService, query: str, **given: Any) -> list[str]:
    answer = await service.search_memory(**{**APP, **given}, query=query)
    texts = [entry.content.parts[0].text or "" for entry in answer.memories if entry.content.parts]
    return sorted(texts)


async def test_what_a_session_said_is_found_by_its_user_in_its_application(
    memoranda: Memoranda, service: MemorandaMemoryService, other: Tenant
) -> None:
    await service.add_session_to_memory(
        session(
            said("The harbor tour leaves at nine."),
            said("Noted, the harbor.", author="guide"),
            said(
                "thinking of a harbor",
                content=types.Content(parts=[types.Part(text="harbor", thought=True)]),
            ),
            said("p", partial=True, content=asked("harbor half")),
        )
    )
    both = ["Noted, the harbor.", "The harbor tour leaves at nine."]
    assert await found(service, "harbor") == both
    assert await found(service, "harbor", app_name="app2") == []
    assert await found(service, "harbor", user_id="u2") == []
    strangers = MemorandaMemoryService(memoranda, other.owner)
    assert await found(strangers, "harbor") == []
    assert await found(service, "glacier") == []
    assert await found(service, "  ") == []
    [first, second] = (await service.search_memory(**APP, query="harbor")).memories
    assert {first.author, second.author} == {"user", "guide"}
    assert first.timestamp == "2023-11-14T22:13:20+00:00"


async def test_a_session_that_is_added_again_is_there_once_with_what_it_says_by_now(
    service: MemorandaMemoryService,
) -> None:
    events = [said("The harbor tour leaves at nine.")]
    for more in ("The harbor is closed.", "The harbor opens again."):
        await service.add_session_to_memory(session(*events))
        events.append(said(more))
    await service.add_session_to_memory(session(*events))
    assert len(await found(service, "harbor")) == 3
    await service.add_session_to_memory(session(events[-1]))
    assert await found(service, "harbor") == ["The harbor opens again."]


async def test_events_are_added_to_what_is_there_each_once(service: MemorandaMemoryService) -> None:
    one, two = said("The harbor tour leaves at nine."), said("The harbor is closed.")
    await service.add_events_to_memory(**APP, events=[one, one], session_id="s")
    await service.add_events_to_memory(**APP, events=[one, two], session_id="s")
    await service.add_events_to_memory(**APP, events=[], session_id="s")
    await service.add_events_to_memory(**APP, events=[said("A harbor elsewhere.")])
    assert await found(service, "harbor") == [
        *("A harbor elsewhere.", "The harbor is closed.", "The harbor tour leaves at nine.")
    ]


async def test_a_log_says_that_fields_of_a_caller_s_own_are_not_kept(
    service: MemorandaMemoryService, caplog: pytest.LogCaptureFixture
) -> None:
    fields = {"until": "swordfish", "swordfish": 1}
    fact = MemoryEntry(content=asked("Ada is tall."), custom_metadata={"swordfish": 2})
    await service.add_events_to_memory(**APP, events=[said("Nine.")], custom_metadata=fields)
    await service.add_memory(**APP, memories=[fact], custom_metadata=fields)
    told = "Of custom_metadata nothing is kept: {} fields were left out."
    assert [each.getMessage() for each in caplog.records if "kept" in each.getMessage()] == [
        *(told.format(2), told.format(3))
    ]
    assert "swordfish" not in caplog.text
    caplog.clear()
    await service.add_events_to_memory(**APP, events=[said("Ten.")], custom_metadata={})
    await service.add_memory(**APP, memories=[MemoryEntry(content=asked("Ada is kind."))])
    assert "custom_metadata" not in caplog.text


async def test_names_that_run_together_are_other_sessions(service: MemorandaMemoryService) -> None:
    names = [
        ("a", "b", "c"),
        ('a", "b', "c", "d"),
        ("a", 'b", "c', "d"),
        ("x" * 90, "y" * 90, "z" * 90),
    ]
    for number, (app, user, name) in enumerate(names):
        event = said(f"harbor {number}")
        await service.add_session_to_memory(session(event, name=name, app_name=app, user_id=user))
    for number, (app, user, _) in enumerate(names):
        assert await found(service, "harbor", app_name=app, user_id=user) == [f"harbor {number}"]


async def test_what_is_remembered_of_the_user_is_found_by_every_application(
    memoranda: Memoranda, acme: Tenant, service: MemorandaMemoryService
) -> None:
    facts = [MemoryEntry(content=asked(text)) for text in ("Ada takes oat milk.", "Ada is tall.")]
    await service.add_memory(**APP, memories=facts)
    await service.add_memory(**APP, memories=facts[:1])
    user = await memoranda.access.user(acme.owner, "u1")
    kept = (await memoranda.memories.page(acme.owner, user_id=user.id)).items
    assert sorted(each.text or "" for each in kept) == ["Ada is tall.", "Ada takes oat milk."]
    assert await found(service, "oat milk") == ["Ada takes oat milk."]
    assert await found(service, "oat milk", app_name="app2") == ["Ada takes oat milk."]
    assert await found(service, "oat milk", user_id="u2") == []
    # What is for everybody is known of this user, too.
    await memoranda.memories.remember(acme.owner, "Oat milk is in the cellar.")
    assert len(await found(service, "oat milk")) == 2
    few = MemorandaMemoryService(memoranda, acme.owner, limit=1)
    assert len(await found(few, "oat milk")) == 1
    for bad, error in (("", Invalid), ("ghp_" + "a1B2c3D4e5" * 4, SecretFound)):
        with pytest.raises(error):
            await service.add_memory(**APP, memories=[MemoryEntry(content=asked(bad))])


async def test_the_best_comes_first_whether_it_was_said_or_is_remembered(
    service: MemorandaMemoryService,
) -> None:
    await service.add_memory(**APP, memories=[MemoryEntry(content=asked("Ada takes oat milk."))])
    await service.add_session_to_memory(session(said("The harbor has oat milk.")))
    for query, first in (("Ada oat milk", "memory:"), ("harbor oat milk", "said:")):
        entries = (await service.search_memory(**APP, query=query)).memories
        assert len(entries) == 2
        assert (entries[0].id or "").startswith(first)


async def test_a_memory_is_forgotten_by_the_id_that_a_search_gave(
    memoranda: Memoranda, acme: Tenant, service: MemorandaMemoryService
) -> None:
    await service.add_memory(**APP, memories=[MemoryEntry(content=asked("Ada takes oat milk."))])
    await service.add_session_to_memory(session(said("Is there oat milk?")))
    everybodys = await memoranda.memories.remember(acme.owner, "Oat milk is in the cellar.")
    entries = (await service.search_memory(**APP, query="oat milk")).memories
    ids = {entry.content.parts[0].text: entry.id for entry in entries if entry.content.parts}
    assert len(ids) == 3
    await service.delete_memory(app_name="app", user_id="u2", memory_id=ids["Ada takes oat milk."])
    await service.delete_memory(**APP, memory_id=ids["Oat milk is in the cellar."])
    for nothing in (None, "memory:none", f"memory:{acme.anna.id}"):
        await service.delete_memory(**APP, memory_id=nothing)
    assert len(await found(service, "oat milk")) == 3
    await service.delete_memory(**APP, memory_id=ids["Ada takes oat milk."])
    with pytest.raises(NotImplementedError):
        await service.delete_memory(**APP, memory_id=ids["Is there oat milk?"])
    assert await found(service, "oat milk") == ["Is there oat milk?", "Oat milk is in the cellar."]
    assert (await memoranda.memories.get(acme.owner, everybodys.id)).version == 1


async def test_to_search_makes_nobody_a_user(
    memoranda: Memoranda, acme: Tenant, service: MemorandaMemoryService
) -> None:
    assert await found(service, "harbor", user_id="nobody") == []
    known = (await memoranda.access.users(acme.owner)).items
    assert "nobody" not in {each.external_id for each in known}


async def test_erasing_the_user_erases_what_its_sessions_said(
    memoranda: Memoranda, acme: Tenant, service: MemorandaMemoryService
) -> None:
    await service.add_session_to_memory(session(said("The harbor tour leaves at nine.")))
    user = await memoranda.access.user(acme.owner, "u1")
    await memoranda.removal.erase_user(acme.owner, user.id)
    assert await found(service, "harbor") == []


async def test_an_agent_of_adks_loads_what_an_earlier_session_said(
    memoranda: Memoranda, acme: Tenant, service: MemorandaMemoryService
) -> None:
    sessions = MemorandaSessionService(memoranda, acme.owner)
    script = ["Noted.", ("load_memory", {"query": "harbor tour"}), "At nine."]
    model = ScriptedLlm(script=script, windows=[])
    runner = Runner(
        app_name="app",
        agent=LlmAgent(name="guide", model=model, tools=[load_memory]),
        session_service=sessions,
        memory_service=service,
    )
    said_last = []
    for question in ("The harbor tour leaves at nine.", "When does it leave?"):
        made = await sessions.create_session(**APP)
        run = runner.run_async(user_id="u1", session_id=made.id, new_message=asked(question))
        said_last.append([event async for event in run][-1])
        kept = await sessions.get_session(**APP, session_id=made.id)
        assert kept is not None
        await service.add_session_to_memory(kept)
    assert said_last[-1].content == types.Content(role="model", parts=[types.Part(text="At nine.")])
    [answer] = [
        part.function_response
        for each in model.windows[2]
        for part in each.parts or []
        if part.function_response
    ]
    assert "The harbor tour leaves at nine." in str(answer.response)
