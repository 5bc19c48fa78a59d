"""The ten lines of the page on ADK run as they stand there, with a model that needs no network."""

import re
from pathlib import Path
from typing import Any

import pytest
from google.adk.models.registry import LLMRegistry

from memoranda.integrations.google_adk import MemorandaSessionService
from memoranda.sync import Memoranda
from tests.peers.google_adk.scripted_llm import ScriptedLlm

PAGE = Path(__file__).parents[3] / "docs" / "google-adk.md"


def test_the_ten_lines_keep_a_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    model = ScriptedLlm(script=["In ten days."], windows=[])
    named: list[str] = []

    def scripted(name: str) -> ScriptedLlm:
        named.append(name)
        return model

    monkeypatch.setattr(LLMRegistry, "new_llm", scripted)  # it would call its provider
    lines = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[0]
    assert len([line for line in lines.splitlines() if line.strip()]) <= 10
    exec(compile(lines, str(PAGE), "exec"), {})  # noqa: S102 - the page's own lines
    assert set(named) == {"gemini-3-flash"}
    assert "In ten days." in capsys.readouterr().out

    async def kept(opened: Any) -> Any:
        service = MemorandaSessionService(opened)
        return await service.get_session(app_name="desk", user_id="ada", session_id="order-7")

    with Memoranda("notes.db") as memoranda:
        session = memoranda.lend(kept)
    assert [event.author for event in session.events] == ["user", "clerk"]
