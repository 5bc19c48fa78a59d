"""Scripts find what was said, with no worker beside them, and hear of it."""

from pathlib import Path
from typing import Any

import pytest

from memoranda.conversations.models import ConversationKey, Message
from memoranda.sync import Memoranda
from memoranda.words.errors import Invalid


def test_a_script_finds_what_it_has_just_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        talk = memoranda.conversations.create()
        said = [Message(role="user", content="The ferry leaves at noon")]
        memoranda.conversations.append(talk.id, said)
        answer = memoranda.conversations.search("ferry", conversation_id=talk.id)
    assert [each.text for each in answer.results] == ["The ferry leaves at noon"]
    assert answer.waiting == 0


def test_a_script_hears_of_every_change_until_it_has_heard_enough(tmp_path: Path) -> None:
    heard: list[tuple[str, int]] = []

    def listen(change: Any) -> None:
        heard.append((change.action, change.conversation.length))

    def fail(_: Any) -> None:
        raise RuntimeError

    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        talks = memoranda.conversations
        talks.listen(fail)
        stop = talks.listen(listen)
        talk = talks.create()
        talks.append(talk.id, [Message(role="user", content="Hello")])
        stop()
        stop()
        talks.clear(talk.id)
        with pytest.raises(Invalid):
            talks.listen(_awaited)
    assert heard == [("created", 0), ("appended", 1)]


async def _awaited(_: Any) -> None:
    """Nobody would wait for it."""


def test_a_script_reads_on_where_a_list_ends_and_asks_which_generation_goes_on(
    tmp_path: Path,
) -> None:
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        talks = memoranda.conversations
        key = ConversationKey(workflow_id="support")
        said = [Message(role="user", content=f"line {number}") for number in range(5)]
        made = talks.append(key, said)
        page = talks.message_page(made.id, limit=3)
        assert ([each.position for each in page.items], page.next_after) == ([1, 2, 3], 3)
        rest = talks.message_page(made.id, limit=3, after=page.next_after or 0)
        assert ([each.position for each in rest.items], rest.next_after) == ([4, 5], None)
        assert [each.position for each in talks.messages(made.id, limit=2)] == [1, 2]
        due = talks.compact_if_due(made.id, window=10)
        assert (due.due, due.compaction) == ("window", None)
        assert talks.generation("support").generation == 1
        talks.reset("support")
        assert talks.generation("support").generation == 2
