"""The ten lines of the page on Agno run as they stand there, with a model that needs no network."""

import re
from pathlib import Path

import pytest
from agno.exceptions import ModelProviderError
from agno.models.utils import get_model

from memoranda.runs.models import RunStatus
from memoranda.sync import Memoranda
from tests.integrations.scripted import Scripted

PAGE = Path(__file__).parents[2] / "docs" / "agno.md"


def test_the_ten_lines_run_an_agent_with_its_brief(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    monkeypatch.setenv("AGNO_TELEMETRY", "false")
    lines = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[0]
    assert len([line for line in lines.splitlines() if line.strip()]) <= 10
    with Memoranda("notes.db") as memoranda:
        memoranda.remember("Deliveries take ten working days.")
    model = Scripted(script=["In ten working days."])
    named: list[object] = []

    def scripted(name: object) -> Scripted:
        named.append(name)
        return model

    monkeypatch.setattr("agno.agent._init.get_model", scripted)  # it would call its provider
    exec(compile(lines, str(PAGE), "exec"), {})  # noqa: S102 - the page's own lines
    assert type(get_model(str(named[0]))).__name__ == "OpenAIResponses"
    assert capsys.readouterr().out.strip() == "completed In ten working days."
    assert "Deliveries take ten working days." in str(model.windows[0][0].content)
    with Memoranda("notes.db") as memoranda:
        [run] = memoranda.runs.list().items
        assert run.status is RunStatus.COMPLETED
    model.script = [ModelProviderError("The provider is down")]
    exec(compile(lines, str(PAGE), "exec"), {})  # noqa: S102 - the page's own lines
    assert "failed The provider is down" in capsys.readouterr().out
