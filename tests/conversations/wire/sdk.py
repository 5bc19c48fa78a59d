"""The real SDKs, talking to nobody: what they make of an answer, and what they would send back."""

import json
from collections.abc import Callable
from typing import Any

import anthropic
import httpx
import httpx2
import openai
from google import genai
from google.genai import types

from memoranda.conversations.content import check_content, read, written
from memoranda.conversations.models import Message

Body = dict[str, Any]


class Nobody:
    """A provider that answers with what it is told to, and remembers what it was sent."""

    def __init__(self) -> None:
        self.answer: Body = {}
        self.stream = ""
        self.sent: Body = {}
        client = httpx2.Client(transport=httpx2.MockTransport(self._take_too))
        self.openai = openai.OpenAI(api_key="none", http_client=client, max_retries=0)
        self.anthropic = anthropic.Anthropic(api_key="none", http_client=client, max_retries=0)
        self.genai = genai.Client(
            api_key="none",
            http_options=types.HttpOptions(
                client_args={"transport": httpx.MockTransport(self._take)}
            ),
        )

    def _take(self, request: httpx.Request) -> httpx.Response:
        self.sent = json.loads(request.content)
        return httpx.Response(200, json=self.answer)

    def _take_too(self, request: httpx2.Request) -> httpx2.Response:
        self.sent = json.loads(request.content)
        if self.stream:
            events = {"content-type": "text/event-stream"}
            return httpx2.Response(200, text=self.stream, headers=events)
        return httpx2.Response(200, json=self.answer)

    def answers(self, answer: Body, ask: Callable[[], Any]) -> Any:
        """What the SDK makes of this answer."""
        self.answer = answer
        return ask()


def stored(messages: list[Message]) -> list[Message]:
    """The messages as they come out of the store: through JSON text, and nothing else."""
    kept = []
    for message in messages:
        check_content("content", message.content)
        metadata = json.loads(json.dumps(message.metadata))
        content = read(written(message.content))
        kept.append(Message(role=message.role, content=content, metadata=metadata))
    return kept
