"""An export of what frameworks keep says of each line what and whose it is, leaves out what went meanwhile, and ends with its counts."""

import base64
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final

import pytest

from memoranda.app import Memoranda
from memoranda.conversations.sessions.models import SessionName, States
from memoranda.conversations.sessions.service import Sessions
from memoranda.graphs.checkpoints.models import NewCheckpoint, Part
from memoranda.graphs.threads import service as threads
from memoranda.kept.models import KeptEnd
from memoranda.words.errors import Invalid
from tests.contract.kept_house import ROOMY, Keeping, packed
from tests.contract.tenants import Tenant, new_tenant

Line = dict[str, Any]
KINDS: Final = {
    "item": "items",
    "thread": "threads",
    "part": "parts",
    "history": "histories",
    "history_entry": "history_entries",
    "session": "sessions",
    "session_event": "session_events",
    "session_state": "session_states",
    "branch": "branches",
    "branch_message": "branch_messages",
}
WITH_AGENT: Final = {"item", "thread", "part", "branch", "branch_message"}


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    async with Memoranda.open(database_url) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


async def export(
    memoranda: Memoranda,
    acme: Tenant,
    at: Callable[[Line], bool] = lambda _: False,
    do: Callable[[], Awaitable[object]] | None = None,
) -> list[Line]:
    """The lines of an export, during which something is done once, at the first line of which that is so."""
    lines = []
    async for each in memoranda.kept.export(acme.owner):
        lines.append(json.loads(each.encode()))
        if do is not None and at(lines[-1]):
            await do()
            do = None
    return lines


def counted(lines: list[Line]) -> Line:
    """How many lines there are of each kind, as the last one should say it."""
    kinds = Counter(each["kind"] for each in lines[1:-1])
    return {"kind": "end", **{name: kinds[kind] for kind, name in KINDS.items()}}


async def test_each_line_says_what_and_whose_it_is_and_the_last_how_many_there_were(
    memoranda: Memoranda, acme: Tenant
) -> None:
    await Keeping(memoranda, acme.owner, "annas", acme.anna.id, acme.scout.id).everything()
    await Keeping(memoranda, acme.owner, "bens", acme.ben.id).everything()
    lines = await export(memoranda, acme)
    assert {each["kind"] for each in lines[1:]} == {*KINDS, "end"}
    assert set(KINDS.values()) == set(KeptEnd.model_fields)
    for word, user, agent in (("annas", acme.anna, acme.scout.id), ("bens", acme.ben, None)):
        own = [each for each in lines if each.get("user_id") == str(user.id)]
        assert {each["kind"] for each in own} == set(KINDS)
        for each in own:
            other = "bens" if word == "annas" else "annas"
            assert other not in str(each)
            if each["kind"] in WITH_AGENT:
                assert each["agent_id"] == (agent and str(agent)), each
    assert lines[-1] == counted(lines)
    others = [each for each in lines[1:-1] if each["user_id"] is None]
    assert [(each["kind"], each["person"]) for each in others] == [("session_state", "")]


async def test_a_part_says_its_thread_and_its_serializer_beside_its_kind(
    memoranda: Memoranda, acme: Tenant
) -> None:
    """The organization's own thread of the same id is told apart from a user's."""
    for user in (None, acme.anna.id):
        await Keeping(memoranda, acme.owner, "word", user).graph()
    parts = [each for each in await export(memoranda, acme) if each.get("kind") == "part"]
    assert Counter((each["thread_id"], each["user_id"], each["agent_id"]) for each in parts) == {
        ("word-thread", None, None): 4,
        ("word-thread", str(acme.anna.id), None): 4,
    }
    assert {each["format"] for each in parts} == {"msgpack", "json"}
    assert {each["namespace"] for each in parts} == {"word"}


async def test_what_goes_while_it_is_written_down_is_left_out(
    memoranda: Memoranda, acme: Tenant
) -> None:
    """Each is purged once its list was read, and before it is looked at or while it is."""
    gone = Keeping(memoranda, acme.owner, "gone", acme.anna.id)
    await gone.everything()
    await Keeping(memoranda, acme.owner, "stays", acme.ben.id).everything()
    kept = memoranda.kept
    [history] = (await kept.histories.page(acme.owner, user_id=acme.anna.id)).items
    [session] = (await kept.sessions.page(acme.owner, user_id=acme.anna.id)).items
    for kind, do in (
        ("branch", lambda: purge_branch(memoranda, acme, gone)),
        ("session", lambda: kept.sessions.purge(acme.owner, session.id)),
        ("history", lambda: kept.histories.purge(acme.owner, history.id)),
    ):
        # Those of Ben, made later, are told of first, when the page with both was read.
        lines = await export(memoranda, acme, first(kind), do)
        found = [each for each in lines if each.get("kind") == kind]
        assert len(found) == 1, kind
        assert lines[-1] == counted(lines)


def first(kind: str) -> Callable[[Line], bool]:
    return lambda line: line.get("kind") == kind


async def purge_branch(memoranda: Memoranda, acme: Tenant, of: Keeping) -> None:
    [branch] = (await memoranda.conversations.branches.page(acme.owner, user_id=of.user_id)).items
    await memoranda.conversations.resets.purge(acme.owner, branch.id)


async def test_of_a_thread_that_goes_amid_its_parts_no_empty_one_is_written(
    memoranda: Memoranda, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "MOST_SHOWN", 10)
    await Keeping(memoranda, acme.owner, "gone", acme.anna.id).graph()
    lines = await export(
        memoranda,
        acme,
        lambda line: line.get("kind") == "part" and line["begin"] == 0,
        lambda: memoranda.graphs.threads.purge(acme.owner, "gone-thread", user_id=acme.anna.id),
    )
    assert len([each for each in lines if each.get("kind") == "part"]) == 1
    assert lines[-1] == counted(lines)


async def test_a_part_without_a_byte_is_written(memoranda: Memoranda, acme: Tenant) -> None:
    empty = Part("null", b"")
    new = NewCheckpoint("t", "", "1", None, None, {}, packed("x"), empty, [])
    await memoranda.graphs.checkpoints.keep(acme.owner, new)
    parts = {
        each["name"]: (each["format"], base64.b64decode(each["body"]))
        for each in await export(memoranda, acme)
        if each.get("kind") == "part"
    }
    assert parts["metadata.1"] == ("null", b"")


async def test_state_that_no_wire_can_hold_is_shown_and_exported_as_what_comes_closest(
    memoranda: Memoranda, acme: Tenant
) -> None:
    """The framework itself gets back what it gave."""
    name = SessionName(application="desk", person=str(acme.anna.id), name="talk")
    odd = {"half": "a\ud800", "\udc00": [float("inf"), "whole 😀 \\ud800"]}
    states = States(application=odd, person=odd, session=odd)
    service = Sessions(memoranda.storage, max_bytes=ROOMY)
    await service.create(acme.owner, name, states, updated=1.0)
    found = await service.find(acme.owner, name)
    assert found is not None
    assert found.states == states
    shown = {"half": "a\ufffd", "\ufffd": [None, "whole 😀 \\ud800"]}
    lines = await export(memoranda, acme)
    assert [each["state"] for each in lines if "state" in each] == [shown] * 3
    [session] = (await memoranda.kept.sessions.page(acme.owner)).items
    seen = await memoranda.kept.sessions.get(acme.owner, session.id)
    assert json.loads(seen.model_dump_json())["state"] == shown


@pytest.mark.parametrize("value", [10**5000, {1}, b"x"], ids=["digits", "set", "bytes"])
async def test_state_that_is_no_json_is_refused_and_nothing_is_kept(
    memoranda: Memoranda, acme: Tenant, value: object
) -> None:
    name = SessionName(application="desk", person=str(acme.anna.id), name="talk")
    service = Sessions(memoranda.storage, max_bytes=ROOMY)
    with pytest.raises(Invalid) as refused:
        await service.create(acme.owner, name, States(session={"v": value}), updated=1.0)
    assert refused.value.details["field"] == "state"
    assert (await memoranda.kept.sessions.page(acme.owner)).items == []


async def test_an_export_holds_each_body_once_and_all_of_it(
    memoranda: Memoranda, acme: Tenant
) -> None:
    kept = Keeping(memoranda, acme.owner, "word", acme.anna.id)
    await kept.everything()
    large = kept.checkpoint("2", size=3 * 1024 * 1024)
    await memoranda.graphs.checkpoints.keep(acme.owner, large, user_id=acme.anna.id)
    lines = await export(memoranda, acme)
    assert lines[0] == {"format": "memoranda-kept", "version": 1}
    kinds = [each["kind"] for each in lines[1:-1]]
    assert {each: kinds.count(each) for each in dict.fromkeys(kinds)} == {
        "item": 1,
        "thread": 1,
        "part": 7 + 3,
        "history": 1,
        "history_entry": 3,
        "session": 1,
        "session_event": 1,
        "session_state": 2,
        "branch": 1,
        "branch_message": 2,
    }
    body = b"".join(
        base64.b64decode(each["body"])
        for each in lines
        if each.get("name") == "values.word-channel.2"
    )
    assert body == large.values[0].value.body
