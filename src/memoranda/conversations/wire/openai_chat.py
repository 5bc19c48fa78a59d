"""OpenAI's Chat Completions, and every endpoint that speaks it: messages in, messages out."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from memoranda.conversations.models import Message, Role
from memoranda.conversations.wire.blocks import (
    Block,
    Document,
    Image,
    Opaque,
    Shown,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    text_of,
)
from memoranda.conversations.wire.capabilities import OPENAI_CHAT, Capabilities
from memoranda.conversations.wire.forms import (
    given_list,
    is_anothers,
    listed,
    no_answer,
    no_item,
)
from memoranda.conversations.wire.media import data_url, from_data_url
from memoranda.conversations.wire.origins import answer, metadata_of, said
from memoranda.conversations.wire.plain import Given, plain, reads, without
from memoranda.conversations.wire.portable import ready
from memoranda.conversations.wire.turns import Turn

PROVIDER: Final = "openai_chat"
Item = dict[str, Any]

THOUGHTS: Final = ("reasoning_content", "reasoning")
"""Fields in which endpoints show a model's reasoning; OpenAI itself shows none."""
ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
SAYS: Final = {"content", "refusal", "tool_calls", "function_call", "audio", *THOUGHTS}
"""What an assistant's message has one of."""
OURS: Final = {"role", "tool_call_id", "tool_calls"}
"""Fields that no opaque state may set: they say who speaks, and what is called."""
HOSTS: Final = ("parsed", "parsed_arguments")
"""What the SDK adds for the program's own use."""
HEARD: Final = {"input_audio", "audio_url", "video_url"}
"""Parts of a user's that have no form of their own."""
SHOWN_AFTER: Final = Text(text="[What a tool's result shows:]")


@reads
def from_response(response: Given, *, choice: int = 0, provider: str = PROVIDER) -> list[Message]:
    """Keep one choice of a completion as a message of the assistant's; without any, nothing.

    `provider` names the endpoint where it is not OpenAI's own: what is its alone goes back only to where
    the capabilities say `state_of` the same name.
    """
    body = plain(response)
    choices = listed(body, PROVIDER)
    if not choices and body.get("error") is not None:
        no_answer(body, PROVIDER)
    if choice >= len(choices):
        return []
    picked = choices[choice]
    if not isinstance(picked.get("message"), dict):
        no_answer(picked, PROVIDER)
    about = metadata_of(
        provider, body, response_id=body.get("id"), finish_reason=picked.get("finish_reason")
    )
    return [answer(blocks_of(picked["message"], provider), about)]


@reads
def from_input(messages: Iterable[Given], *, provider: str = PROVIDER) -> list[Message]:
    """Keep the messages of a request, one for one. One of a role that is not known is left out."""
    items = given_list(messages, "messages")
    for place, item in enumerate(items):
        held = SAYS if item.get("role") == "assistant" else {"content"}
        if not isinstance(item.get("role"), str) or held.isdisjoint(item) or is_anothers(item):
            no_item(place, "messages", PROVIDER, "a message has a role and content of its parts")
    return [_kept(ROLES[item["role"]], item, provider) for item in items if item["role"] in ROLES]


def to_input(messages: Sequence[Message], target: Capabilities = OPENAI_CHAT) -> list[Item]:
    """Build the `messages` of the next request."""
    sent: list[Item] = []
    for role, turns in groupby(ready(messages, target), attrgetter("role")):
        match role:
            case "assistant":
                sent += (item for turn in turns for item in _said(turn, target))
            case "tool":
                sent += _answers([result for turn in turns for result in turn.results], target)
            case _:
                sent += (item for turn in turns for item in _asked(turn, target))
    return sent


def blocks_of(item: Item, provider: str = PROVIDER) -> list[Block]:
    """See an assistant's message as blocks that build the very same message again."""
    blocks: list[Block] = [
        Thinking(thinking=item[field], extra={"field": field})
        for field in THOUGHTS
        if isinstance(item.get(field), str)
    ]
    told = {block.extra["field"] for block in blocks}
    content, refusal = item.get("content"), item.get("refusal")
    if isinstance(content, str):
        blocks.append(Text(text=content))
        told.add("content")
    elif isinstance(content, list):
        blocks += [_text_part(part, provider) for part in content]
        told.add("content")
    if isinstance(refusal, str):
        blocks.append(Text(text=refusal, extra={"refusal": True}))
        told.add("refusal")
    blocks += [_call_of(call) for call in item.get("tool_calls") or []]
    rest = without(item, "role", "tool_calls", *HOSTS, *told)
    if rest:
        blocks.append(Opaque(provider=provider, data=rest))
    return blocks


def _text_part(part: Item, provider: str) -> Block:
    extra = {"part": without(part, "type", "text", "refusal")}
    match part:
        case {"type": "text", "text": str() as text}:
            return Text(text=text, extra=extra)
        case {"type": "refusal", "refusal": str() as text}:
            return Text(text=text, extra=extra | {"refusal": True})
    return Opaque(provider=provider, data={"parts": [part]})


def _call_of(call: Item) -> ToolCall:
    kind = str(call.get("type", "function"))
    asked = call.get(kind) or {}
    field = "input" if kind == "custom" else "arguments"
    extra: dict[str, Any] = {"call": without(call, "id", kind)}
    if rest := without(asked, "name", field, *HOSTS):
        extra["asked"] = rest
    if kind == "custom":
        extra["custom"] = True
    written = asked.get(field)
    return ToolCall(
        id=str(call.get("id") or ""),
        name=str(asked.get("name") or ""),
        arguments=written if isinstance(written, str) else "",
        extra=extra,
    )


def _said(turn: Turn, target: Capabilities) -> Iterable[Item]:
    item: Item = {"role": "assistant"}
    texts = [b for b in turn.blocks if isinstance(b, Text)]
    for block in turn.blocks:
        if isinstance(block, Opaque):
            item |= {key: value for key, value in block.data.items() if key not in OURS | {"parts"}}
    for block in turn.blocks:
        if isinstance(block, Thinking) and block.extra.get("field") in THOUGHTS:
            item[block.extra["field"]] = block.thinking
    refusals = [b for b in texts if b.extra.get("refusal") and "part" not in b.extra]
    spoken = [b for b in texts if b not in refusals]
    if refusals:
        item["refusal"] = "".join(block.text for block in refusals)
    if spoken:
        item["content"] = _content(spoken, target)
    if calls := [_call(call) for call in turn.calls]:
        item["tool_calls"] = calls
    if spoken or refusals or calls or item.get("audio") or item.get("function_call"):
        yield item


def _content(texts: list[Text], target: Capabilities) -> str | list[Item]:
    if len(texts) == 1 and "part" not in texts[0].extra:
        return texts[0].text
    if not target.text_parts:
        return "".join(block.text for block in texts)
    return [_said_part(block) for block in texts]


def _said_part(block: Text) -> Item:
    kind = "refusal" if block.extra.get("refusal") else "text"
    return {**(block.extra.get("part") or {}), "type": kind, kind: block.text}


def _call(block: ToolCall) -> Item:
    kind = "custom" if block.extra.get("custom") else "function"
    field = "input" if kind == "custom" else "arguments"
    asked = {**(block.extra.get("asked") or {}), "name": block.name, field: block.arguments}
    return {**(block.extra.get("call") or {}), "type": kind, "id": block.id, kind: asked}


def _answers(results: Sequence[ToolResult], target: Capabilities) -> Iterable[Item]:
    """One message per result. Images go right after them all, since no result may hold one."""
    shown: list[Shown] = []
    for block in results:
        content: str | list[Item]
        if isinstance(block.content, str):
            content = block.content
        elif all(isinstance(part, Text) for part in block.content) and target.text_parts:
            content = [_part(part) for part in block.content]
        else:
            content = text_of(block.content)
            shown += [part for part in block.content if isinstance(part, Image | Document)]
        yield {
            **_fields(block),
            "role": "tool",
            "tool_call_id": block.tool_call_id,
            "content": content,
        }
    if shown:
        yield {"role": "user", "content": [_part(part) for part in (SHOWN_AFTER, *shown)]}


def _fields(block: ToolResult) -> Item:
    return {key: value for key, value in block.extra.items() if key not in OURS}


def _asked(turn: Turn, target: Capabilities) -> Iterable[Item]:
    item: Item = {"role": turn.role}
    parts: list[Shown] = []
    for block in turn.blocks:
        if isinstance(block, Opaque) and "type" not in block.data:
            item |= {key: value for key, value in block.data.items() if key == "name"}
        elif isinstance(block, Text | Image | Document) or (
            isinstance(block, Opaque) and block.data["type"] in HEARD
        ):
            parts.append(block)
    texts = [part for part in parts if isinstance(part, Text)]
    if len(parts) == 1 and texts and "part" not in texts[0].extra:
        yield {**item, "content": texts[0].text}
    elif texts and len(parts) == len(texts) and not target.text_parts:
        yield {**item, "content": "\n\n".join(part.text for part in texts)}
    elif parts:
        yield {**item, "content": [_part(part) for part in parts]}


def _part(block: Shown) -> Item:
    rest: Item = block.extra.get("part") or {}
    more: Item = block.extra.get("within") or {}
    match block:
        case Text():
            return {**rest, "type": "text", "text": block.text}
        case Image():
            return {**rest, "type": "image_url", "image_url": {**more, "url": data_url(block)}}
        case Document(file_id=str() as file_id):
            return {**rest, "type": "file", "file": {**more, "file_id": file_id}}
        case Document():
            file = {"filename": "document", **more, "file_data": data_url(block)}
            return {**rest, "type": "file", "file": file}
        case _:
            return block.data


def _kept(role: Role, item: Item, provider: str) -> Message:
    content = item.get("content")
    if role == "assistant":
        return answer(blocks_of(item, provider), {"provider": provider})
    shown = (
        content if isinstance(content, str) else [_shown(part, provider) for part in content or []]
    )
    if role == "tool":
        extra = without(item, "role", "content", "tool_call_id")
        call_id = str(item.get("tool_call_id", ""))
        result = ToolResult(tool_call_id=call_id, content=shown, extra=extra)
        return said("tool", [result.plain()], provider)
    rest = without(item, "role", "content")
    if isinstance(shown, str) and not rest:
        return said(role, shown, provider)
    blocks: list[Block] = [Text(text=shown)] if isinstance(shown, str) else [*shown]
    if rest:
        blocks.append(Opaque(provider=provider, data=rest))
    return said(role, [block.plain() for block in blocks], provider)


def _shown(part: Item, provider: str) -> Shown:
    kind = str(part.get("type"))
    extra: Item = {"part": without(part, "type", kind)}
    match part:
        case {"type": "text", "text": str() as text}:
            return Text(text=text, extra=extra)
        case {"type": "image_url", "image_url": {"url": str() as url, **within}}:
            return Image(**from_data_url(url), extra=extra | {"within": within})
        case {"type": "file", "file": {"file_data": str() as data, **within}}:
            return Document(**from_data_url(data), extra=extra | {"within": within})
        case {"type": "file", "file": {"file_id": str() as file_id, **within}}:
            return Document(file_id=file_id, extra=extra | {"within": within})
    return Opaque(provider=provider, data=part)
