"""What ADK's own tests ask of its memory service in words alone, in our words and held to that service too.

As those of sessions, they are in no archive that the package index has.
"""

import asyncio
import unicodedata
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from google.adk.events.event import Event
from google.adk.memory import BaseMemoryService, InMemoryMemoryService
from google.adk.sessions.session import Session
from google.genai import types

from memoranda import Memoranda
from memoranda.integrations.google_adk import MemorandaMemoryService
from tests.contract.tenants import Tenant
from tests.integrations.house import acme, memoranda
from tests.peers.google_adk.scripted_llm import asked
from tests.peers.google_adk.unhurried import unhurried

__all__ = ["acme", "memoranda", "unhurried"]

Promise = Callable[[BaseMemoryService], Awaitable[None]]
ADA: dict[str, Any] = {"app_name": "desk", "user_id": "ada"}
TOUR, NOTED = "The harbor tour leaves at nine.", "Noted: tours of the Old Harbor (OH) leave daily."


def said(text: str | None, author: str = "user", name: str | None = None) -> Event:
    content = None if text is None else asked(text)
    return Event(id=name or text or "none", author=author, invocation_id="i", content=content)


def session(*events: Event, name: str = "s", **given: Any) -> Session:
    return Session(id=name, events=list(events), **{**ADA, **given})


async def found(service: BaseMemoryService, query: str, **given: Any) -> list[str]:
    """The texts that a search finds, the best first."""
    answer = await service.search_memory(**{**ADA, **given}, query=query)
    texts = [each.content.parts[0].text for each in answer.memories if each.content.parts]
    return [text or "" for text in texts]


async def what_a_session_said_is_found_and_what_says_nothing_is_left(
    service: BaseMemoryService,
) -> None:
    await service.add_session_to_memory(session(said(TOUR), said(None), said(NOTED, "guide")))
    await service.add_session_to_memory(session(name="empty"))
    assert sorted(await found(service, "harbor")) == sorted([TOUR, NOTED])
    assert sorted(await found(service, "How about the harbor?")) == sorted([TOUR, NOTED])
    assert await found(service, "glacier") == []
    [entry] = (await service.search_memory(**ADA, query="DAILY")).memories
    assert (entry.author, bool(entry.timestamp), bool(entry.id)) == ("guide", True, True)


async def events_are_added_to_those_that_are_there(service: BaseMemoryService) -> None:
    await service.add_session_to_memory(session(said(TOUR)))
    more = {**ADA, "session_id": "s"}
    await service.add_events_to_memory(**more, events=[said(NOTED), said(NOTED)])
    # One that is there is left, whatever it says by now.
    await service.add_events_to_memory(**more, events=[said("harbor, changed", name=TOUR)])
    await service.add_events_to_memory(**ADA, events=[said("A harbor of no session.")])
    await service.add_events_to_memory(**ADA, events=[])
    assert sorted(await found(service, "harbor")) == sorted(
        [TOUR, NOTED, "A harbor of no session."]
    )


async def a_session_that_is_added_again_says_what_it_says_by_now(
    service: BaseMemoryService,
) -> None:
    await service.add_session_to_memory(session(said(TOUR)))
    await service.add_session_to_memory(session(said(TOUR), said(NOTED)))
    await service.add_session_to_memory(session(said(NOTED)))
    assert await found(service, "harbor") == [NOTED]


async def each_user_and_each_application_has_its_own(service: BaseMemoryService) -> None:
    await service.add_session_to_memory(session(said(TOUR)))
    await service.add_session_to_memory(session(said("The harbor is a secret."), user_id="ben"))
    assert await found(service, "secret") == []
    assert await found(service, "secret", user_id="ben") == ["The harbor is a secret."]
    assert await found(service, "harbor", app_name="shop") == []
    odd = session(said("harbor of a slash"), app_name="desk/x", user_id="y")
    await service.add_session_to_memory(odd)
    assert await found(service, "harbor", app_name="desk", user_id="x/y") == []
    assert await found(service, "harbor", user_id="nobody") == []


async def what_has_more_words_of_the_query_comes_first(service: BaseMemoryService) -> None:
    texts = ["The deploy is ready.", "Ready.", "The deploy status is ready."]
    await service.add_session_to_memory(session(*map(said, texts)))
    assert await found(service, "deploy status ready") == [texts[2], texts[0], texts[1]]


async def ten_are_found_at_most_the_best_of_all(service: BaseMemoryService) -> None:
    texts = [f"note {number} about work" for number in range(20)]
    best = "the backlog note about work"
    await service.add_session_to_memory(session(*map(said, [*texts, best])))
    first, *rest = await found(service, "work backlog note")
    assert first == best
    assert len(rest) == 9
    assert set(rest) <= set(texts)


async def what_was_added_follows_nobodys_later_change(service: BaseMemoryService) -> None:
    event, other = said("I prefer jasmine tea."), said("Jasmine is out.")
    await service.add_session_to_memory(session(event))
    await service.add_events_to_memory(**ADA, events=[other])
    for each in (event, other):
        assert each.content is not None
        assert each.content.parts
        each.author, each.content.parts[0].text = "changed", "I prefer coffee."
    for _ in range(2):
        answer = await service.search_memory(**ADA, query="jasmine")
        assert [each.author for each in answer.memories] == ["user", "user"]
        for entry in answer.memories:
            assert entry.content.parts
            entry.content.parts.clear()
    assert await found(service, "coffee") == []


async def searches_and_additions_go_side_by_side(service: BaseMemoryService) -> None:
    add = service.add_session_to_memory
    await asyncio.gather(
        *(add(session(said(f"fact {n} of the harbor"), name=f"s{n}")) for n in range(8)),
        *(found(service, "harbor") for _ in range(4)),
    )
    assert len(await found(service, "harbor")) == 8


async def what_was_never_there_is_deleted_by_nobody(service: BaseMemoryService) -> None:
    await service.add_session_to_memory(session(said(TOUR)))
    for name in (None, "", "memory:none"):
        await service.delete_memory(**ADA, memory_id=name)
        await service.delete_memory(app_name="desk", user_id="nobody", memory_id=name)
    assert await found(service, "harbor") == [TOUR]


def decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


WORDS = (
    *(("猫は窓辺で眠る", "窓辺", True), ("猫は窓辺で眠る", "天気", False)),
    *(("我们明天去博物馆", "博物馆", True), ("我们明天去博物馆", "天气预报", False)),
    *(("고양이는 창가에서 잔다", "창가에서", True), ("Кот спит у окна", "окна", True)),
    *(("花子 of Foo Ltd", "花子", True), ("花子 of Foo Ltd", "foo", True)),
    *(("私はRubyで地図を書く", "Ruby", True), ("私はRubyで地図を書く", "ruby", True)),
    *(("私はRubyで地図を書く", "地図", True), ("私はRubyで地図を書く", "Perl", False)),
    *(("I write maps in Ruby.", "rub", False), ("我用Ruby画地图", "ruby", True)),
    *((decomposed("Lunch at the Bistró"), "bistró", True), ("Bistró", decomposed("Bistró"), True)),
    *(
        (decomposed("私はBistróで書く"), "Bistró", True),
        (decomposed("프로그램을 배우다"), "배우다", True),
    ),
)


OF_EVERY_SERVICE: tuple[Promise, ...] = (
    what_a_session_said_is_found_and_what_says_nothing_is_left,
    events_are_added_to_those_that_are_there,
    a_session_that_is_added_again_says_what_it_says_by_now,
    each_user_and_each_application_has_its_own,
    what_has_more_words_of_the_query_comes_first,
    ten_are_found_at_most_the_best_of_all,
    what_was_added_follows_nobodys_later_change,
    searches_and_additions_go_side_by_side,
    what_was_never_there_is_deleted_by_nobody,
)


@pytest.mark.parametrize("promise", OF_EVERY_SERVICE, ids=lambda each: each.__name__)
async def test_our_memory_keeps(
    memoranda: Memoranda, acme: Tenant, unhurried: None, promise: Promise
) -> None:
    await promise(MemorandaMemoryService(memoranda, acme.owner))


@pytest.mark.parametrize("promise", OF_EVERY_SERVICE, ids=lambda each: each.__name__)
async def test_adks_own_memory_keeps(promise: Promise) -> None:
    await promise(InMemoryMemoryService())


async def test_a_word_of_any_script_is_found_and_a_part_of_a_latin_word_is_not(
    memoranda: Memoranda, acme: Tenant, unhurried: None
) -> None:
    ours, theirs = MemorandaMemoryService(memoranda, acme.owner), InMemoryMemoryService()
    for number, (text, query, there) in enumerate(WORDS):
        at = {"app_name": f"app{number}", "user_id": "ada"}
        for service in (ours, theirs):
            await service.add_session_to_memory(session(said(text), **at))
            assert await found(service, query, **at) == ([text] if there else []), (service, query)


async def test_a_thought_is_no_word(memoranda: Memoranda, acme: Tenant, unhurried: None) -> None:
    service = MemorandaMemoryService(memoranda, acme.owner)
    thought = types.Content(parts=[types.Part(text="harbor", thought=True)])
    await service.add_session_to_memory(session(Event(author="guide", content=thought)))
    assert await found(service, "harbor") == []
