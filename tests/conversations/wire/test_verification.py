"""An endpoint is replayable where it was seen to take back what it sent, and only there."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import httpx
import pytest

from memoranda.conversations.models import Message
from memoranda.conversations.wire import openai_chat
from memoranda.conversations.wire.capabilities import UNVERIFIED_CHAT
from memoranda.conversations.wire.valid import check_request
from memoranda.conversations.wire.verification import (
    BROKEN,
    OTHER_ID,
    EndpointRefused,
    Verification,
    verify,
)

Body = dict[str, Any]


class Endpoint:
    """A server that speaks Chat Completions, and is as strict as it is told to be."""

    def __init__(self, **strict: bool) -> None:
        self.strict = strict
        self.asked: list[Body] = []

    def refuses(self, body: Body) -> str | None:
        written = json.dumps(body["messages"])
        reasons = {
            "calls_nothing": False,
            "refuses_reasoning": "reasoning_content" in written,
            "refuses_malformed": json.dumps(BROKEN) in written,
            "refuses_developers": '"role": "developer"' in written,
            "refuses_images": "image_url" in written,
            "refuses_ids": OTHER_ID in written,
        }
        found = [name for name, holds in reasons.items() if holds and self.strict.get(name)]
        return found[0] if found else None

    def answer(self, body: Body) -> Body:
        self.asked.append(body)
        results = [m["content"] for m in body["messages"] if m["role"] == "tool"]
        message: Body = {"role": "assistant", "content": "Fine.", "reasoning_content": "Hm."}
        if body.get("tool_choice") and not self.strict.get("calls_nothing"):
            call: Body = {"id": "9Char1234", "type": "function"}
            arguments: Any = {"page": 1} if self.strict.get("sends_objects") else '{"page": 1}'
            call["function"] = {"name": "read_number", "arguments": arguments}
            message = {**message, "content": None, "tool_calls": [call]}
        elif results and not self.strict.get("reads_nothing"):
            message["content"] = results[-1]
        return {"id": "x", "model": "m", "choices": [{"index": 0, "message": message}]}


@contextmanager
def serving(endpoint: Endpoint) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            refused = endpoint.refuses(body)
            answer = {"error": {"message": refused}} if refused else endpoint.answer(body)
            written = json.dumps(answer).encode()
            self.send_response(400 if refused else 200)
            self.send_header("content-length", str(len(written)))
            self.end_headers()
            self.wfile.write(written)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def verified(endpoint: Endpoint) -> Verification:
    with serving(endpoint) as url:
        async with httpx.AsyncClient() as client:

            async def ask(body: Body) -> Body:
                answer = await client.post(url, json=body)
                if answer.is_error:
                    raise EndpointRefused(answer.json()["error"]["message"])
                body_of_it: Body = answer.json()
                return body_of_it

            return await verify(ask, "m", endpoint="here")


async def test_an_endpoint_that_takes_back_its_own_is_replayable() -> None:
    endpoint = Endpoint()
    found = await verified(endpoint)
    assert found.replayable
    assert all(check.passed for check in found.checks)
    assert found.capabilities.state_of == "here"
    assert found.capabilities.arguments == "raw"
    assert found.capabilities.developer_role
    assert found.capabilities.images
    for body in endpoint.asked:  # and it was asked nothing that the protocol does not have
        assert check_request("openai_chat", body) == []


async def test_what_an_endpoint_sends_goes_back_to_it_once_it_is_verified() -> None:
    endpoint = Endpoint()
    found = await verified(endpoint)
    answer = openai_chat.from_response(endpoint.answer({"messages": []}), provider="here")
    question = Message(role="user", content="Go on.")
    sent = openai_chat.to_input([question, *answer], found.capabilities)
    assert sent[1]["reasoning_content"] == "Hm."
    assert "reasoning_content" not in openai_chat.to_input([question, *answer])[1]
    before = openai_chat.to_input([question, *answer], UNVERIFIED_CHAT)
    assert before[1] == {"role": "assistant", "content": "Fine."}


@pytest.mark.parametrize(
    "strict", ["calls_nothing", "refuses_reasoning", "reads_nothing", "sends_objects"]
)
async def test_an_endpoint_that_does_not_take_back_its_own_is_portable_alone(strict: str) -> None:
    found = await verified(Endpoint(**{strict: True}))
    assert not found.replayable
    assert found.capabilities == UNVERIFIED_CHAT
    assert not found.checks[-1].passed


@pytest.mark.parametrize(
    ("strict", "field", "value"),
    [
        ("refuses_malformed", "arguments", "json"),
        ("refuses_developers", "developer_role", False),
        ("refuses_images", "images", False),
        ("refuses_ids", "longest_call_id", 9),
    ],
)
async def test_what_an_endpoint_refuses_is_not_sent_to_it(
    strict: str, field: str, value: Any
) -> None:
    found = await verified(Endpoint(**{strict: True}))
    assert found.replayable
    assert getattr(found.capabilities, field) == value


async def test_a_failure_that_is_no_refusal_is_the_callers_to_see() -> None:
    async def ask(_: Body) -> Body:
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await verify(ask, "m")
