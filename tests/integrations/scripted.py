"""A model that says what a test wrote down for it, and keeps what it was sent."""

import json
from collections.abc import AsyncIterator, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse


@dataclass
class Scripted(Model):
    """Answers with the next line of its script: words, calls of tools, or an error."""

    id: str = "scripted"
    script: list[Any] = field(default_factory=list)
    windows: list[list[Message]] = field(default_factory=list)
    tools_seen: list[set[str]] = field(default_factory=list)

    def _next(self, messages: list[Message], tools: Any) -> ModelResponse:
        self.windows.append(deepcopy(messages))
        self.tools_seen.append({each["function"]["name"] for each in tools or []})
        line = self.script.pop(0)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, str):
            return ModelResponse(role="assistant", content=line)
        calls = [
            {
                "id": f"call-{len(self.windows)}-{place}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for place, (name, arguments) in enumerate(line)
        ]
        return ModelResponse(role="assistant", tool_calls=calls)

    def invoke(self, messages: list[Message], **given: Any) -> ModelResponse:
        return self._next(messages, given.get("tools"))

    async def ainvoke(self, messages: list[Message], **given: Any) -> ModelResponse:
        return self._next(messages, given.get("tools"))

    def invoke_stream(self, *_: Any, **__: Any) -> Iterator[ModelResponse]:
        raise NotImplementedError

    def ainvoke_stream(self, *_: Any, **__: Any) -> AsyncIterator[ModelResponse]:
        raise NotImplementedError

    def _parse_provider_response(self, response: Any, **_: Any) -> ModelResponse:
        raise NotImplementedError

    def _parse_provider_response_delta(self, response: Any) -> ModelResponse:
        raise NotImplementedError
