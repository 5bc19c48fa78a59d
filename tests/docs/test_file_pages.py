"""What the pages on context files, instructions and the load meter show runs, each in a database of its own."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PRINTED = {
    "chat.md": "assistant An answer to 2 messages. (1 of 1)\n",
    "files.md": "2 0",
    "instructions.md": "<memoranda-tools>",
    "load-meter.md": "over",
}


@pytest.mark.parametrize("page", PRINTED)
def test_the_example_runs(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    [lines] = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
    exec(lines, {})  # noqa: S102 - the page's own lines
    assert PRINTED[page] in capsys.readouterr().out
