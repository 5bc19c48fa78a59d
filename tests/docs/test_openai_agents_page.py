"""The lines of the page on the OpenAI Agents SDK run as they stand there, with a model that needs no network."""

import re
from pathlib import Path

import pytest
from agents import set_tracing_disabled
from agents.models.multi_provider import MultiProvider

from memoranda.conversations.models import ConversationKey
from memoranda.sync import Memoranda
from tests.peers.scripted_agents import ScriptedModel

PAGE = Path(__file__).parents[2] / "docs" / "openai-agents.md"


def test_the_ten_lines_run_an_agent_that_remembers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    set_tracing_disabled(disabled=True)  # it would be sent to OpenAI
    lines = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[0]
    assert len([line for line in lines.splitlines() if line.strip()]) <= 11
    model = ScriptedModel(["Noted.", "Rome."] * 2)
    monkeypatch.setattr(MultiProvider, "get_model", lambda *_: model)  # it would call its provider
    for runs in (1, 2):
        exec(compile(lines, str(PAGE), "exec"), {})  # noqa: S102 - the page's own lines
        assert capsys.readouterr().out.strip() == "Rome."
        assert len(model.inputs[-1]) == 4 * runs - 1
    with Memoranda("notes.db") as memoranda:
        loaded = memoranda.conversations.load(ConversationKey(workflow_id="support-42"))
        assert len(loaded.messages) == 8
