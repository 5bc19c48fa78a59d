"""The lines of the page on LangGraph run as they stand there, twice over one file."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "langgraph.md"


def test_the_ten_lines_run_a_graph_that_remembers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    lines = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[0]
    assert len([line for line in lines.splitlines() if line.strip()]) <= 11
    for messages in (2, 4):
        exec(compile(lines, str(PAGE), "exec"), {})  # noqa: S102 - the page's own lines
        assert capsys.readouterr().out.strip() == f"Ada takes milk in her tea. {messages}"
