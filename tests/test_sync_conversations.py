"""A script has every verb of conversations, under the same names."""

from pathlib import Path

import pytest

from memoranda.conversations.errors import LateSave
from memoranda.conversations.models import ConversationKey, Message
from memoranda.conversations.usage.models import CallUsage
from memoranda.sync import Memoranda
from memoranda.words.errors import NotFound

KEY = ConversationKey(workflow_id="support")
TALK = [
    Message(role="user", content="Where is Ghent? " * 300),
    Message(role="assistant", content="In Flanders. " * 300),
    Message(role="user", content="And Bruges?"),
    Message(role="assistant", content="There too."),
]


@pytest.fixture(autouse=True)
def without_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")


def test_a_script_keeps_bounds_and_ends_conversations(tmp_path: Path) -> None:
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        talks = memoranda.conversations
        loaded = talks.load(KEY)
        saved = talks.save(KEY, TALK[:2], fence=loaded.fence)
        assert talks.append(KEY, TALK[2:]).length == 4
        talks.pin(saved.id, 2)
        assert talks.messages(saved.id)[1].pinned
        talks.unpin(saved.id, 2)
        assert talks.pressure(saved.id, window=1000).share > 1
        assert talks.compact_if_due(saved.id, window=900_000) is None
        made = talks.compact(saved.id)
        assert made.status == "activated"
        assert [each.position for each in talks.history(saved.id).items] == [1, 2]
        assert [each.id for each in talks.attempts(saved.id).items] == [made.id]
        talks.record_usage(saved.id, CallUsage(provider="p", model="m", input_tokens=5))
        for used in (talks.usage(saved.id), talks.usage_of_workflow("support")):
            assert used.input_tokens == 5
        assert talks.total_usage().calls == 1
        cleared = talks.clear(KEY)
        assert cleared is not None
        with pytest.raises(LateSave):
            talks.save(KEY, TALK, fence=loaded.fence)
        assert talks.record(KEY, TALK, fence=loaded.fence) is None
        assert talks.record(KEY, TALK, fence=cleared.fence) is not None
        assert talks.reset("support").generation == 2
        assert [each.id for each in talks.of_workflow("support").items] == [saved.id]
        assert talks.purge_workflow("support").conversations == 1
        other = talks.create()
        assert talks.purge(other.id).conversations == 1
        with pytest.raises(NotFound):
            talks.get(other.id)
        assert len(talks.fidelity()) == 8
