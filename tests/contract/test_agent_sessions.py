"""Sessions of agent frameworks: events in order, state in three scopes, and each user's apart."""

import asyncio

import pytest

from memoranda.access.models import Principal
from memoranda.access.service import Access
from memoranda.app import Memoranda
from memoranda.conversations.errors import ConversationTooLarge
from memoranda.conversations.sessions.errors import SessionExists, SessionWentOn
from memoranda.conversations.sessions.models import (
    Seen,
    Session,
    SessionEvent,
    SessionName,
    States,
)
from memoranda.conversations.sessions.service import Sessions
from memoranda.storage import Storage
from memoranda.words.errors import Invalid, NotFound, ReadOnly, Refused
from tests.contract.tenants import Tenant, new_tenant


@pytest.fixture
def sessions(storage: Storage) -> Sessions:
    return Sessions(storage, max_bytes=1_000)


@pytest.fixture
async def acme(storage: Storage) -> Tenant:
    return await new_tenant(storage)


def named(name: str = "s", person: str = "p1", application: str = "app") -> SessionName:
    return SessionName(application=application, person=person, name=name)


def event(name: str, at: float = 2.0, content: str = "{}") -> SessionEvent:
    return SessionEvent(name=name, at=at, content=content)


async def make(
    sessions: Sessions, who: Principal, name: SessionName, states: States | None = None
) -> Session:
    return await sessions.create(who, name, states or States(), updated=1.0)


async def test_events_come_back_in_their_order_all_or_the_last_or_those_since(
    sessions: Sessions, acme: Tenant
) -> None:
    name = named()
    await make(sessions, acme.owner, name)
    times = [3.5, 1.25, 3.5]
    for number, at in enumerate(times):
        done = await sessions.append(
            acme.owner, name, event(f"e{number}", at), States(), seen=Seen(number, 0)
        )
        assert (done.revision, done.updated, done.known) == (number + 1, at, False)
    found = await sessions.find(acme.owner, name)
    assert found is not None
    assert [(each.name, each.at) for each in found.events] == [
        (f"e{number}", at) for number, at in enumerate(times)
    ]
    assert (found.revision, found.updated) == (3, 3.5)
    for asked, names in (
        ({"limit": 2}, ["e1", "e2"]),
        ({"limit": 0}, []),
        ({"since": 3.5}, ["e0", "e2"]),
        ({"since": 3.5, "limit": 1}, ["e2"]),
    ):
        some = await sessions.find(acme.owner, name, **asked)
        assert some is not None
        assert [each.name for each in some.events] == names


async def test_state_is_the_sessions_or_its_persons_or_its_applications(
    sessions: Sessions, acme: Tenant
) -> None:
    first = States(application={"a": 1, "b": 1}, person={"a": 2}, session={"a": 3, "z": [1]})
    await make(sessions, acme.owner, named(), first)
    changed = States(application={"b": None}, person={"c": {"d": "é"}}, session={"a": 4})
    await sessions.append(acme.owner, named(), event("e"), changed, seen=Seen(0, 0))
    found = await sessions.find(acme.owner, named())
    assert found is not None
    assert found.states == States(
        application={"a": 1, "b": None},
        person={"a": 2, "c": {"d": "é"}},
        session={"a": 4, "z": [1]},
    )
    # Another session of the person, another person, another application.
    second = await make(sessions, acme.owner, named("s2"))
    assert second.states == found.states.model_copy(update={"session": {}})
    other = await make(sessions, acme.owner, named(person="p2"))
    assert other.states == States(application=found.states.application)
    away = await make(sessions, acme.owner, named(application="app2"))
    assert away.states == States()
    assert await sessions.state(acme.owner, "app", "p1") == found.states.person
    assert await sessions.state(acme.owner, "app", "p2") == {}
    assert await sessions.state(acme.owner, "app", "nobody") == {}
    # A session goes, and what outlives sessions stays.
    await sessions.delete(acme.owner, named())
    await sessions.delete(acme.owner, named())
    assert await sessions.find(acme.owner, named()) is None
    again = await make(sessions, acme.owner, named())
    assert (again.states, again.events) == (second.states, [])


async def test_a_second_session_of_a_name_is_refused_and_changes_no_state(
    sessions: Sessions, acme: Tenant
) -> None:
    await make(sessions, acme.owner, named(), States(person={"a": 1}))
    with pytest.raises(SessionExists):
        await make(sessions, acme.owner, named(), States(person={"a": 2}))
    assert await sessions.state(acme.owner, "app", "p1") == {"a": 1}
    done = await asyncio.gather(
        *(make(sessions, acme.owner, named("new", "p9")) for _ in range(4)), return_exceptions=True
    )
    assert sum(isinstance(each, Session) for each in done) == 1
    assert sum(isinstance(each, SessionExists) for each in done) == 3


async def test_an_event_for_what_the_session_was_changes_nothing(
    sessions: Sessions, acme: Tenant
) -> None:
    name = named()
    await make(sessions, acme.owner, name)
    await sessions.append(acme.owner, name, event("e1", 5.0), States(), seen=Seen(0, 0))
    late = States(application={"a": 1}, person={"a": 1}, session={"a": 1})
    for seen in (Seen(0, 9.0), Seen(2, 9.0), Seen(None, 4.9)):
        with pytest.raises(SessionWentOn):
            await sessions.append(acme.owner, name, event("e2"), late, seen=seen)
    found = await sessions.find(acme.owner, name)
    assert found is not None
    assert (found.states, len(found.events)) == (States(), 1)
    # Who knows no revision goes by the time or, where that was rounded, by the last event.
    done = await sessions.append(acme.owner, name, event("e2"), States(), seen=Seen(None, 5.0))
    assert done.revision == 2
    for rounded in (Seen(None, 1.9, "e1"), Seen(None, 1.9)):
        with pytest.raises(SessionWentOn):
            await sessions.append(acme.owner, name, event("e3"), late, seen=rounded)
    rounded = Seen(None, 1.9, "e2")
    done = await sessions.append(acme.owner, name, event("e3"), States(), seen=rounded)
    assert done == (3, 2.0, 3, False)


async def test_blanks_around_a_name_are_no_part_of_it(sessions: Sessions, acme: Tenant) -> None:
    padded = named(" s\n", "\tp1 ", " app ")
    made = await make(sessions, acme.owner, padded, States(person={"a": 1}))
    assert made.name == named()
    assert await sessions.find(acme.owner, padded) == await sessions.find(acme.owner, named())
    assert await sessions.page(acme.owner, " app", person="p1 ") == [made]
    assert await sessions.page(acme.owner, "app ", person=" ") == []
    assert await sessions.state(acme.owner, " app", " p1") == {"a": 1}
    await sessions.append(acme.owner, padded, event("e"), States(), seen=Seen(0, 0))
    with pytest.raises(SessionExists):
        await make(sessions, acme.owner, named("s "))
    await sessions.delete(acme.owner, padded)
    assert await sessions.find(acme.owner, named()) is None


async def test_who_may_make_no_user_is_told_whom_to_name(sessions: Sessions, acme: Tenant) -> None:
    with pytest.raises(Refused, match="'new' is no user that this key knows of"):
        await make(sessions, acme.member(acme.anna), named(person="new"))


async def test_of_events_at_once_one_gets_through_and_all_do_in_the_end(
    sessions: Sessions, acme: Tenant
) -> None:
    name = named()
    await make(sessions, acme.owner, name)

    async def add(number: int) -> None:
        while True:
            found = await sessions.find(acme.owner, name)
            assert found is not None
            seen = Seen(found.revision, found.updated)
            states = States(application={f"k{number}": number}, person={f"k{number}": number})
            try:
                await sessions.append(acme.owner, name, event(f"e{number}"), states, seen=seen)
            except SessionWentOn:
                continue
            return

    await asyncio.gather(*map(add, range(4)))
    found = await sessions.find(acme.owner, name)
    assert found is not None
    assert sorted(each.name for each in found.events) == ["e0", "e1", "e2", "e3"]
    assert found.states.application == found.states.person == {f"k{n}": n for n in range(4)}


async def test_the_same_event_again_does_nothing_and_another_of_its_name_is_added(
    sessions: Sessions, acme: Tenant
) -> None:
    name = named()
    await make(sessions, acme.owner, name)
    once = States(person={"count": 1})
    await sessions.append(acme.owner, name, event("e", content="{}"), once, seen=Seen(0, 0))
    await sessions.append(
        acme.owner, name, event("e2"), States(person={"count": 2}), seen=Seen(1, 0)
    )
    again = await sessions.append(acme.owner, name, event("e"), once, seen=Seen(0, 0))
    assert again == (2, 2.0, 1, True)
    assert await sessions.state(acme.owner, "app", "p1") == {"count": 2}
    other = await sessions.append(
        acme.owner, name, event("e", content='{"a": 1}'), States(), seen=Seen(2, 0)
    )
    assert (other.known, other.revision) == (False, 3)


async def test_a_session_and_a_state_hold_as_many_bytes_as_they_may(
    sessions: Sessions, acme: Tenant
) -> None:
    name = named()
    await make(sessions, acme.owner, name)
    await sessions.append(
        acme.owner, name, event("e", content="é" * 500), States(), seen=Seen(0, 0)
    )
    large = {"a": "x" * 1_000}
    for content, states in (
        ("x", States()),
        ("", States(session=large)),
        ("", States(person=large)),
        ("", States(application=large)),
    ):
        with pytest.raises(ConversationTooLarge, match="would have 10"):
            await sessions.append(
                acme.owner, name, event("f", content=content), states, seen=Seen(1, 0)
            )
    found = await sessions.find(acme.owner, name)
    assert found is not None
    assert (found.states, len(found.events)) == (States(), 1)


async def test_a_person_is_a_user_by_id_or_external_id_or_becomes_one(
    sessions: Sessions, acme: Tenant, storage: Storage
) -> None:
    access = Access(storage)
    known = await access.create_user(acme.owner, "Cleo", "cleo")
    await make(sessions, acme.owner, named(person="cleo"))
    await make(sessions, acme.owner, named(person=str(acme.anna.id)))
    await make(sessions, acme.owner, named(person="new"))
    users = {user.external_id: user for user in (await access.users(acme.owner)).items}
    assert users["cleo"].id == known.id
    assert users["new"].name == "new"
    assert await sessions.find(acme.member(known), named(person="cleo")) is not None
    assert await sessions.find(acme.member(acme.anna), named(person="cleo")) is None
    # To look makes nobody.
    await sessions.find(acme.owner, named(person="other"))
    await sessions.page(acme.owner, "app", person="other")
    assert "other" not in {each.external_id for each in (await access.users(acme.owner)).items}


async def test_a_member_has_its_own_sessions_and_an_agent_and_a_reader_write_none(
    sessions: Sessions, acme: Tenant
) -> None:
    anna, name = acme.member(acme.anna), named(person=str(acme.anna.id))
    bens = named(person=str(acme.ben.id))
    await make(sessions, anna, name)
    await make(sessions, acme.owner, bens)
    assert [each.name for each in await sessions.page(anna, "app")] == [name]
    assert {each.name for each in await sessions.page(acme.reader, "app")} == {name, bens}
    assert await sessions.find(anna, bens) is None
    assert await sessions.state(anna, "app", bens.person) == {}
    await sessions.delete(anna, bens)
    with pytest.raises(NotFound):
        await sessions.append(anna, bens, event("e"), States(), seen=Seen(0, 0))
    assert await sessions.find(acme.owner, bens) is not None
    with pytest.raises(Refused):
        await make(sessions, anna, named("s2", str(acme.ben.id)))
    with pytest.raises(Refused):
        await make(sessions, anna, named("s2", "nobody yet"))
    with pytest.raises(ReadOnly):
        await make(sessions, acme.reader, named("s2", str(acme.ben.id)))
    for agent in (acme.key_of(acme.scout), acme.key_of(acme.scout, acme.anna)):
        with pytest.raises(Refused, match="host"):
            await sessions.find(agent, name)
        with pytest.raises(Refused, match="host"):
            await sessions.append(agent, name, event("e"), States(), seen=Seen(0, 0))


async def test_another_organization_has_other_sessions_of_the_same_names(
    sessions: Sessions, acme: Tenant, storage: Storage
) -> None:
    other = await new_tenant(storage, "Other")
    await make(sessions, acme.owner, named(), States(application={"a": 1}, person={"a": 1}))
    assert await sessions.find(other.owner, named()) is None
    assert await sessions.page(other.owner, "app") == []
    made = await make(sessions, other.owner, named())
    assert made.states == States()
    await sessions.delete(other.owner, named())
    found = await sessions.find(acme.owner, named())
    assert found is not None
    assert found.states.application == {"a": 1}


async def test_sessions_are_listed_by_when_they_went_on_and_without_events(
    sessions: Sessions, acme: Tenant
) -> None:
    for name in ("b", "a", "c"):
        await make(sessions, acme.owner, named(name), States(person={"k": 1}))
    await make(sessions, acme.owner, named("a", "p2"))
    await sessions.append(acme.owner, named("a"), event("e", 9.0), States(), seen=Seen(0, 0))
    listed = await sessions.page(acme.owner, "app", person="p1")
    assert [each.name.name for each in listed] == ["b", "c", "a"]
    assert [each.events for each in listed] == [[], [], []]
    assert listed[0].states.person == {"k": 1}
    everybody = await sessions.page(acme.owner, "app")
    assert [(each.name.person, each.name.name) for each in everybody] == [
        *(("p1", "b"), ("p1", "c"), ("p2", "a"), ("p1", "a"))
    ]
    assert await sessions.page(acme.owner, "ap_") == []


async def test_what_no_database_holds_is_refused_by_its_field(
    sessions: Sessions, acme: Tenant
) -> None:
    for name in (named(""), named("a\0"), named(person=" "), named(application="x" * 300)):
        with (
            pytest.raises((Invalid, Refused))
            if name.application == "app"
            else pytest.raises(Exception, match="application")
        ):
            await make(sessions, acme.owner, name)
    odd_name = named("a\0")
    for asked in (
        sessions.find(acme.owner, odd_name),
        sessions.page(acme.owner, "app", person="\0"),
        sessions.state(acme.owner, "app", "\ud83d"),
        sessions.append(acme.owner, odd_name, event("e"), States(), seen=Seen(0, 0)),
        sessions.delete(acme.owner, odd_name),
    ):
        with pytest.raises(Invalid):
            await asked
    await make(sessions, acme.owner, named())
    # A state takes every text that JSON has.
    odd = States(session={"nul\0": "\ud83d"})
    await sessions.append(acme.owner, named(), event("e"), odd, seen=Seen(0, 0))
    found = await sessions.find(acme.owner, named())
    assert found is not None
    assert found.states == odd
    with pytest.raises(Invalid):
        await sessions.append(
            acme.owner, named(), event("f", content="\0"), States(), seen=Seen(1, 0)
        )


async def test_erasing_a_user_deletes_its_sessions_and_state_and_no_other(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    async with Memoranda.open(database_url, migrate=False) as memoranda:
        sessions = Sessions(memoranda.storage, max_bytes=1_000)
        acme = await new_tenant(memoranda.storage)
        anna, ben = named(person=str(acme.anna.id)), named(person=str(acme.ben.id))
        for name in (anna, ben):
            await make(sessions, acme.owner, name, States(person={"a": 1}, application={"b": 1}))
            await sessions.append(acme.owner, name, event("e"), States(), seen=Seen(0, 0))
        await memoranda.removal.erase_user(acme.owner, acme.anna.id)
        assert await sessions.find(acme.owner, anna) is None
        assert await sessions.state(acme.owner, "app", anna.person) == {}
        found = await sessions.find(acme.owner, ben)
        assert found is not None
        assert found.states == States(person={"a": 1}, application={"b": 1})
        assert len(found.events) == 1
