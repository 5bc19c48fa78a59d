"""A model of ADK's that says what a test wrote down, and keeps what it was sent."""

from collections.abc import AsyncIterator
from typing import Any

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import Field


class ScriptedLlm(BaseLlm):
    """Answers with the next line of its script: words, or a call as its name and arguments."""

    model: str = "scripted"
    script: list[Any] = Field(default_factory=list)
    windows: list[list[types.Content]] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        self.windows.append(list(llm_request.contents))
        line = self.script.pop(0)
        if isinstance(line, str):
            part = types.Part(text=line)
        else:
            name, given = line
            part = types.Part(function_call=types.FunctionCall(name=name, args=given))
        usage = types.GenerateContentResponseUsageMetadata(
            prompt_token_count=1, candidates_token_count=1, total_token_count=2
        )
        yield LlmResponse(content=types.Content(role="model", parts=[part]), usage_metadata=usage)


def asked(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])
