"""A server on this machine that speaks the protocol of chat completions, and misbehaves on request."""

import json
from contextlib import AbstractContextManager
from typing import Any

from tests.scripted_server import Script
from tests.scripted_server import serving as scripted


def completion(content: Any, **more: Any) -> bytes:
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content},
        "finish_reason": "stop",
    }
    reply = {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [choice]}
    return json.dumps(reply | more).encode()


USED = {
    "prompt_tokens": 120,
    "completion_tokens": 30,
    "total_tokens": 150,
    "prompt_tokens_details": {"cached_tokens": 20},
}


def serving() -> AbstractContextManager[Script]:
    """Serve it for as long as the context lasts."""
    return scripted(lambda _: completion("They talked of ships.", usage=USED))
