"""What the page on conversations shows runs, and its table of blocks is that of the code."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from memoranda.conversations.endings import NOT_WHOLE
from memoranda.conversations.models import ConversationKey
from memoranda.conversations.wire.blocks import Block
from memoranda.sync import Memoranda

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "conversations.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_examples_run_and_keep_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")
    assert len(EXAMPLES) == 2
    for example in EXAMPLES:
        exec(example, {})  # noqa: S102 - the page's own lines
    printed = capsys.readouterr().out
    assert "1 user When will my order be there?\n2 assistant In ten working days.\n" in printed
    assert "saved 5" in printed
    with Memoranda("notes.db") as memoranda:
        loaded = memoranda.conversations.load(ConversationKey(workflow_id="delivery"))
    assert loaded.messages[-1].content == [
        {"type": "text", "text": "It is in Ghe", "stopped": True}
    ]
    assert NOT_WHOLE not in json.dumps([each.content for each in loaded.messages])


def test_the_table_of_blocks_names_each_with_its_fields() -> None:
    told: dict[str, set[str]] = {}
    for names, fields in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (.*) \|$", PAGE, re.MULTILINE):
        told |= {name: set(re.findall(r"`(\w+)`", fields)) for name in re.findall(r"\w+", names)}
    for block in get_args(Block):
        name = block.model_fields["type"].default
        missing = set(block.model_fields) - {"type", "extra"} - told[name]
        assert not missing, f"{name}: {missing}"
