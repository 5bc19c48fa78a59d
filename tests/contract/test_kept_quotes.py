"""An erasure tells of what quotes also where a framework keeps it as JSON within a text, or as the name of a field."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from memoranda.app import Memoranda
from memoranda.conversations.histories.models import History, HistoryEntry
from memoranda.conversations.histories.service import Histories
from memoranda.conversations.models import ConversationKey, Message
from memoranda.conversations.sessions.models import Seen, SessionEvent, SessionName, States
from memoranda.conversations.sessions.service import Sessions
from memoranda.graphs.checkpoints.models import Part
from memoranda.graphs.items.models import PutItem
from memoranda.memories.removal.models import QuotedInKept
from tests.contract.kept_house import NOON, ROOMY, Keeping, packed
from tests.contract.tenants import Tenant, new_tenant

TEXT = 'Zoë takes "oat" milk.\nYes, daily'
HIDES = {
    "as arguments": lambda text: {"call": json.dumps({"content": text})},
    "as arguments spelled out": lambda text: {"call": json.dumps({"c": text}, ensure_ascii=False)},
    "as arguments of arguments": lambda text: {"call": json.dumps({"a": json.dumps([text])})},
    "as a name": lambda text: {text: True},
    "as a name in arguments": lambda text: {"call": json.dumps({"by": {text: 1}})},
}
"""How a framework's JSON may hold a text, so that no string of it is the text."""
Hidden = Callable[[str], dict[str, object]]


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    async with Memoranda.open(database_url) as opened:
        yield opened


@pytest.fixture
async def acme(memoranda: Memoranda) -> Tenant:
    return await new_tenant(memoranda.storage)


async def keep(memoranda: Memoranda, acme: Tenant, name: str, value: dict[str, object]) -> None:
    """The value in every kind of thing that frameworks keep."""
    who, by = acme.owner, {"user_id": acme.anna.id}
    await memoranda.graphs.items.batch(who, [PutItem((name,), "key", value)], **by)
    written = json.dumps(value)
    for number, part in enumerate((Part("json", written.encode()), packed(written))):
        plain = Keeping(memoranda, who, f"{name}-{number}", acme.anna.id).checkpoint("1")
        await memoranda.graphs.checkpoints.keep(who, replace(plain, state=part), **by)
    record = History(
        name=name, scope=None, revision="1", record="{}", tips=(name,), updated_at=NOON
    )
    entry = HistoryEntry(name=name, parent=None, content=written)
    histories = Histories(memoranda.storage, max_bytes=ROOMY)
    await histories.write(who, record, [entry], expected_revision=None, **by)
    sessions = Sessions(memoranda.storage, max_bytes=ROOMY)
    for kind in ("state", "event"):
        session = SessionName(application=name, person=str(acme.anna.id), name=f"{name}-{kind}")
        states = States(session=value, person=value) if kind == "state" else States()
        await sessions.create(who, session, states, updated=1.0)
        said = written if kind == "event" else "{}"
        event = SessionEvent(name=kind, at=2.0, content=said)
        await sessions.append(who, session, event, States(), seen=Seen(0, 1.0))
    call = {"type": "tool_call", "id": "c", "name": "remember", "arguments": value}
    key = ConversationKey(workflow_id=name)
    await memoranda.conversations.branches.append(
        who, key, [Message(role="assistant", content=[call])], **by
    )


@pytest.mark.parametrize("hidden", HIDES.values(), ids=HIDES)
async def test_a_quote_is_found_wherever_it_is_kept(
    memoranda: Memoranda, acme: Tenant, hidden: Hidden
) -> None:
    await keep(memoranda, acme, "quotes", hidden(TEXT))
    await keep(memoranda, acme, "other", hidden(TEXT.replace("oat", "goat")))
    made = await memoranda.memories.remember(acme.owner, TEXT)
    done = await memoranda.removal.erase(acme.owner, made.id)
    found, kept = done.quoted_in_kept, memoranda.kept
    items = (await memoranda.graphs.namespaces.items(acme.owner, ("quotes",))).items
    histories = (await kept.histories.page(acme.owner)).items
    sessions = (await kept.sessions.page(acme.owner, application="quotes")).items
    assert [each.thread_id for each in found.threads] == ["quotes-0-thread", "quotes-1-thread"]
    assert found.items == [each.id for each in items]
    assert found.histories == [each.id for each in histories if each.name == "quotes"]
    assert sorted(found.sessions) == sorted(each.id for each in sessions)
    assert len(found.sessions) == 2
    assert [each.application for each in found.states] == ["quotes"]
    [talk] = (await memoranda.conversations.of_workflow(acme.owner, "quotes")).items
    assert done.quoted_in == [talk.id]


async def test_another_organization_is_told_of_nothing(memoranda: Memoranda, acme: Tenant) -> None:
    await keep(memoranda, acme, "quotes", HIDES["as arguments"](TEXT))
    other = await new_tenant(memoranda.storage, "Other")
    made = await memoranda.memories.remember(other.owner, TEXT)
    done = await memoranda.removal.erase(other.owner, made.id)
    assert (done.quoted_in, done.quoted_in_kept) == ([], QuotedInKept())
