"""The ten lines of the pages on frameworks run as they stand there, with models that need no network."""

import json
import re
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import pytest
from pydantic_ai import models
from pydantic_ai.models.test import TestModel

from memoranda.integrations.pydantic_ai import MemorandaConversationStore
from memoranda.sync import Memoranda
from memoranda.tools.models import Decision

PAGES = Path(__file__).parents[2] / "docs"
MOST_LINES = 10

TestModel.__test__ = False  # type: ignore[attr-defined]  # it is no test, whatever pytest makes of its name


@pytest.fixture(autouse=True)
def a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMORANDA_EMBEDDER", "none")


def run_example(page: str) -> None:
    """Run the first example of a page."""
    path = PAGES / page
    lines = re.findall(r"```python\n(.*?)```", path.read_text("utf-8"), re.DOTALL)[0]
    assert len([line for line in lines.splitlines() if line.strip()]) <= MOST_LINES
    exec(compile(lines, str(path), "exec"), {})  # noqa: S102 - the page's own lines


def test_the_lines_on_pydantic_ai_go_on_with_a_conversation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named: list[object] = []

    def scripted(name: object, *_: object, **__: object) -> TestModel:
        named.append(name)
        return TestModel(custom_output_text="In ten days.")

    monkeypatch.setattr(models, "infer_model", scripted)  # it would call its provider
    for _ in range(2):
        run_example("pydantic-ai.md")
    assert set(named) == {"openai:gpt-5.2"}

    async def kept(opened: Any) -> Any:
        return await MemorandaConversationStore(opened).load("order-7")

    with Memoranda("notes.db") as memoranda:
        conversation = memoranda.lend(kept)
    assert len(conversation.messages) == 4
    assert conversation.messages[3].parts[0].content == "In ten days."


def test_the_lines_on_anthropics_memory_tool_remember(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    create = {"command": "create", "path": "/memories/ada.md", "file_text": "Ada takes oat milk."}
    turns: list[tuple[str, dict[str, Any]]] = [
        ("tool_use", {"type": "tool_use", "id": "t1", "name": "memory", "input": create}),
        ("end_turn", {"type": "text", "text": "Noted."}),
    ]
    sent: list[dict[str, Any]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(json.loads(request.content))
        stop, block = turns.pop(0)
        message = {"id": "m", "type": "message", "role": "assistant", "model": "scripted"}
        usage = {"input_tokens": 1, "output_tokens": 1}
        said = {**message, "content": [block], "stop_reason": stop, "usage": usage}
        return httpx2.Response(200, json=said)

    real = anthropic.Anthropic

    def scripted() -> anthropic.Anthropic:
        client = httpx2.Client(transport=httpx2.MockTransport(answer))
        return real(api_key="none", http_client=client)

    monkeypatch.setattr(anthropic, "Anthropic", scripted)
    with Memoranda("notes.db") as memoranda:
        memoranda.create_agent("concierge")
        memoranda.set_tool_policy("concierge", "remember", Decision.ALLOW)
    run_example("anthropic-memory-tool.md")
    assert capsys.readouterr().out.strip() == "Noted."
    assert sent[0]["model"] == "claude-sonnet-5-5"
    with Memoranda("notes.db") as memoranda:
        [memory] = memoranda.memories().items
    assert (memory.text, memory.title) == ("Ada takes oat milk.", "/memories/ada.md")
