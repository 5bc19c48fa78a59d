"""Scripts have chats: each verb of the synchronous face does what its service does."""

import json
from pathlib import Path

import pytest

from memoranda.conversations.chats.feedback.models import Rating
from memoranda.conversations.chats.live.models import TextDelta
from memoranda.conversations.chats.models import AgentTurn
from memoranda.conversations.models import Message
from memoranda.sync import Memoranda
from memoranda.words.errors import Invalid


def test_a_script_plays_both_sides_of_a_chat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        chats, ada = memoranda.chats, memoranda.create_user("Ada").id
        chat = chats.create(user_id=ada, title="Orders")
        assert chats.list(user_id=ada).items == [chats.get(chat.id)] == [chat]
        chats.note(chat.id, "form", "Saved.")
        assert chats.take_note_back(chat.id, "form") is True
        chats.note(chat.id, "order", "Sent.")
        sent = chats.send(chat.id, "Where is order 7?")
        assert chats.runs(user_id=ada).items == [sent.run]
        run = chats.pick_up(sent.run.id, picked_up_by="me")
        assert chats.pick_up(sent.run.id, picked_up_by="me") == run
        prepared = chats.prepare(run.id)
        assert prepared.notes == ["[Sent.]"]
        chats.wait(run.id, "Somebody has to agree.")
        chats.resume(run.id)
        with pytest.raises(Invalid, match=r"events\.0: .* the kinds are 'text\.delta'"):
            chats.emit(run.id, [{"type": "text.dlta", "text": "x"}])
        with pytest.raises(Invalid, match=r"events\.0\.more: There is no such field"):
            chats.emit(run.id, [{"type": "text.delta", "text": "x", "more": 1}])
        chats.emit(run.id, [{"type": "text.delta", "text": "In "}])
        heard = chats.emit(run.id, [TextDelta(text="Ghent.")])
        assert chats.snapshot(run.id).sequence == heard.sequence
        assert chats.events(run.id, after=heard.sequence - 1).items[0].data["text"] == "Ghent."
        known = [*prepared.request(), Message(role="assistant", content="In Ghent.")]
        turn = AgentTurn(messages=known, fence=prepared.loaded.fence)
        done = chats.answer(run.id, "In Ghent.", [turn])
        assert done.answer is not None
        rated = chats.rate(chat.id, done.answer.id, Rating.UP)
        assert chats.ratings(chat.id) == [rated]
        assert chats.take_rating_back(chat.id, done.answer.id) is True
        assert [each.key for each in chats.notes(chat.id).items] == ["order"]
        edited = chats.edit(
            chat.id, sent.message.id, "And order 8?", expected_revision=done.chat.revision
        )
        assert chats.stop(edited.run.id).status == "stopped"
        thread = chats.thread(chat.id)
        again = chats.regenerate(chat.id, expected_revision=thread.chat.revision)
        chats.fail(again.run.id, "No model.")
        failed = chats.thread(chat.id).last_run
        assert failed == chats.run(again.run.id)
        assert failed.reason == "No model."
        revision = chats.get(chat.id).revision
        back = chats.switch(chat.id, sent.message.id, expected_revision=revision)
        assert [each.content for each in back.messages] == ["Where is order 7?", "In Ghent."]
        assert chats.clear(chat.id).active_leaf is None
        chats.delete(chat.id)
        assert chats.list().items == []


def test_a_script_writes_a_chat_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    with Memoranda(str(tmp_path / "notes.db")) as memoranda:
        chats, ada = memoranda.chats, memoranda.create_user("Ada").id
        chat = chats.create(user_id=ada, workflow_id="orders/7")
        assert chats.list(workflow_id="orders/7").items == [chat]
        chats.send(chat.id, "Where is it?")
        kinds = [json.loads(line).get("kind") for line in chats.export(chat.id)]
        assert kinds == [None, "chat", "message", "run", "end"]
