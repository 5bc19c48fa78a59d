"""Scripts find what was said, with no worker beside them."""

from pathlib import Path

import pytest

from memoranda.conversations.models import Message
from memoranda.sync import Memoranda


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
