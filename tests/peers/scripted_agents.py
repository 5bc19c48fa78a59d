"""A model for the OpenAI Agents SDK that says what a test wrote down, and remembers what it was given."""

import json
from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any

from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

Step = str | tuple[str, dict[str, Any]]
"""A text that is said, or a tool's name and what it is called with."""


class ScriptedModel(Model):
    """Says each step of its script in turn."""

    def __init__(self, script: list[Step]) -> None:
        self.script = script
        self.inputs: list[list[dict[str, Any]]] = []

    async def get_response(
        self, system_instructions: str | None, input: str | list[Any], *_: Any, **__: Any
    ) -> ModelResponse:
        self.inputs.append(
            [{"role": "user", "content": input}] if isinstance(input, str) else deepcopy(input)
        )
        number = len(self.inputs)
        step = self.script[number - 1]
        return ModelResponse(output=[_output(step, number)], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def _output(step: Step, number: int) -> Any:
    if isinstance(step, str):
        text = ResponseOutputText(text=step, type="output_text", annotations=[])
        return ResponseOutputMessage(
            id=f"msg_{number}",
            type="message",
            role="assistant",
            status="completed",
            content=[text],
        )
    name, arguments = step
    return ResponseFunctionToolCall(
        id=f"fc_{number}",
        call_id=f"call_{number}",
        type="function_call",
        name=name,
        arguments=json.dumps(arguments),
    )
