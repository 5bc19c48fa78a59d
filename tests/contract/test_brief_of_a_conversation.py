"""What a brief tells of its conversation: the newest messages, and before them what stands for the rest."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from memoranda.app import Memoranda
from memoranda.conversations.compaction.service import Compactions
from memoranda.conversations.models import Conversation, Message
from memoranda.settings import Settings
from memoranda.words.subject import ContextSubject
from tests.contract.said_house import user

FILLER = "And then it went on for a good while. " * 20


@pytest.fixture
async def memoranda(database_url: str) -> AsyncIterator[Memoranda]:
    settings = Settings.load(embedder="none")
    async with Memoranda.open(database_url, settings=settings) as opened:
        yield opened


def policy(tokens: int, limit: int | None = None, **options: bool) -> dict[str, object]:
    source = {
        "name": "conversation",
        "token_budget": tokens,
        "limit": limit,
        "options": options,
    }
    return {"sources": [source], "total_token_budget": tokens + 100}


async def compacted(memoranda: Memoranda) -> Conversation:
    """A conversation of which a summary stands for the first turns."""
    who = memoranda.owner
    talk = await memoranda.conversations.create(who)
    turn = [
        user(f"The ferry leaves at noon. {FILLER}"),
        Message(role="assistant", content=f"So be there at eleven. {FILLER}"),
        user("And the last one?"),
        Message(role="assistant", content="At six."),
    ]
    await memoranda.conversations.append(who, talk.id, turn)
    done = await Compactions(memoranda.storage).compact(who, talk.id)
    assert done.status == "activated"
    return await memoranda.conversations.get(who, talk.id)


async def told(memoranda: Memoranda, talk: Conversation, tokens: int, **more: int) -> list[str]:
    """The lines of the brief."""
    brief = await memoranda.briefs.build(
        memoranda.owner, "When?", policy=policy(tokens, **more), conversation=talk.id
    )
    return [line for line in brief.text.splitlines() if line.startswith("- ")]


async def test_the_summary_of_a_compacted_conversation_stands_before_its_newest_messages(
    memoranda: Memoranda,
) -> None:
    lines = await told(memoranda, await compacted(memoranda), 2_000)
    assert len(lines) == 3
    assert "summary of what was said before" in lines[0]
    assert "The ferry leaves at noon" in lines[0]
    assert "And the last one?" in lines[1]
    assert "At six." in lines[2]


async def test_a_policy_may_leave_the_summary_out(memoranda: Memoranda) -> None:
    lines = await told(memoranda, await compacted(memoranda), 2_000, include_summary=False)
    assert len(lines) == 2
    assert "And the last one?" in lines[0]


async def test_many_new_messages_do_not_crowd_out_the_summary(memoranda: Memoranda) -> None:
    talk = await compacted(memoranda)
    new = [user(f"Something else, number{place}. {FILLER}") for place in range(40)]
    await memoranda.conversations.append(memoranda.owner, talk.id, new)
    lines = await told(memoranda, talk, 2_000)
    assert "summary of what was said before" in lines[0]
    assert "number39" in lines[-1]
    assert 2 < len(lines) < 42
    lines = await told(memoranda, talk, 2_000, limit=3)
    assert len(lines) == 3
    assert "summary of what was said before" in lines[0]


async def test_where_there_is_room_for_one_it_is_the_newest_message(memoranda: Memoranda) -> None:
    talk = await compacted(memoranda)
    (line,) = await told(memoranda, talk, 2_000, limit=1)
    assert "At six." in line
    lines = await told(memoranda, talk, 30)
    assert "At six." in lines[-1]
    assert "summary" not in lines[0]


async def test_a_brief_of_a_time_before_the_compaction_tells_what_was_said(
    memoranda: Memoranda,
) -> None:
    who = memoranda.owner
    talk = await memoranda.conversations.create(who)
    await memoranda.conversations.append(
        who, talk.id, [user(f"The ferry leaves at noon. {FILLER}"), user("And the last one?")]
    )
    before = datetime.now(UTC)
    await Compactions(memoranda.storage).compact(who, talk.id)
    assert who.organization_id is not None
    subject = ContextSubject(organization_id=who.organization_id)
    conversations = memoranda.conversations
    assert await conversations.summary(subject, talk.id, as_of=before) is None
    assert await conversations.summary(subject, talk.id) is not None
