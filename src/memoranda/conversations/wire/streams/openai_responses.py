"""A stream of OpenAI's Responses, ended or broken off."""

from collections.abc import Iterable
from typing import Any, Final

from memoranda.conversations.models import Message
from memoranda.conversations.wire.blocks import Block, Text, Thinking, ToolCall
from memoranda.conversations.wire.forms import no_stream
from memoranda.conversations.wire.openai_responses import PROVIDER, blocks_of, from_response
from memoranda.conversations.wire.origins import answer, metadata_of
from memoranda.conversations.wire.plain import Given, plain, reads

Item = dict[str, Any]

ENDS: Final = {"response.completed", "response.incomplete"}
GROWS: Final = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_text.delta": "thinking",
    "response.reasoning_summary_text.delta": "thinking",
    "response.function_call_arguments.delta": "arguments",
    "response.custom_tool_call_input.delta": "arguments",
}


@reads
def from_stream(events: Iterable[Given]) -> list[Message]:
    """Keep the answer that the events tell of; without its end, what was whole, and what broke off marked so."""
    about: Item = {}
    whole: dict[int, Item] = {}
    begun: dict[int, Item] = {}
    grown: dict[int, dict[str, str]] = {}
    came: list[bool] = []
    for event in map(plain, events):
        kind, place = event.get("type"), int(event.get("output_index") or 0)
        came.append(str(kind).startswith("response."))
        if kind in ENDS:
            return from_response(event["response"])
        about = event.get("response") or about
        if kind == "response.output_item.added":
            begun[place] = event["item"]
        elif kind == "response.output_item.done":
            whole[place] = event["item"]
        elif kind in GROWS:
            so_far = grown.setdefault(place, {})
            so_far[GROWS[kind]] = so_far.get(GROWS[kind], "") + event.get("delta", "")
    if came and not any(came):
        no_stream(PROVIDER)
    blocks = [
        block
        for place in sorted(whole | begun)
        for block in (
            blocks_of(whole[place])
            if place in whole
            else _broken_off(begun[place], grown.get(place, {}))
        )
    ]
    kept = metadata_of(PROVIDER, about, response_id=about.get("id"), stopped=True)
    return [answer(blocks, kept)]


def _broken_off(item: Item, grown: dict[str, str]) -> list[Block]:
    kind = item.get("type")
    if kind in {"function_call", "custom_tool_call"} and item.get("name"):
        custom = {"custom": True} if kind == "custom_tool_call" else {}
        return [
            ToolCall(
                id=str(item.get("call_id", "")),
                name=item["name"],
                arguments=grown.get("arguments", ""),
                stopped=True,
                extra=custom,
            )
        ]
    if kind == "reasoning" and grown.get("thinking"):
        return [Thinking(thinking=grown["thinking"], stopped=True)]
    return [Text(text=grown["text"], stopped=True)] if grown.get("text") else []
