"""OpenAI's Responses: output items in, input items out."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from memoranda.conversations.models import Message
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
)
from memoranda.conversations.wire.capabilities import OPENAI_RESPONSES, Capabilities
from memoranda.conversations.wire.forms import (
    given_list,
    is_anothers,
    listed,
    no_item,
    typed,
)
from memoranda.conversations.wire.media import data_url, from_data_url
from memoranda.conversations.wire.origins import answer, metadata_of, said, storable
from memoranda.conversations.wire.plain import Given, plain, plain_parts, reads, without
from memoranda.conversations.wire.portable import ready
from memoranda.conversations.wire.turns import Turn

PROVIDER: Final = "openai_responses"
Item = dict[str, Any]

CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
"""Items that a tool of the host's has to answer, and where what it is given stands."""
ANSWERED_BY: Final = {
    "computer_call": "computer_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
}
"""Items of the provider's own that are refused without the item that answers them."""
OUTPUTS: Final = {f"{kind}_output" for kind in CALLS}
OTHER_HALF: Final = ANSWERED_BY | {answer: call for call, answer in ANSWERED_BY.items()}
TOOLS_SAY: Final = {*ANSWERED_BY.values(), "mcp_approval_response", "tool_search_output"}
"""What a host answers the provider's own items with."""
SPEAKERS: Final = ("user", "system", "developer", "assistant")
"""Whose the messages of an input are."""
PARTS: Final = {"input_text", "input_image", "input_file"}


@reads
def from_response(response: Given) -> list[Message]:
    """Keep one response as a message of the assistant's, its items in their order.

    Where it holds the output of a call as well, that is a tool's message between two of the assistant's.
    """
    body = plain(response)
    listed(body, PROVIDER)
    reason = (body.get("incomplete_details") or {}).get("reason") or body.get("status")
    about = metadata_of(PROVIDER, body, response_id=body.get("id"), finish_reason=reason)
    kept: list[Message] = []
    for item in typed(plain_parts(response, "output"), PROVIDER):
        if item.get("type") in OUTPUTS:
            kept.append(said("tool", [_result(item).plain()], PROVIDER))
        else:
            kept.append(answer(blocks_of(item), {"provider": PROVIDER}))
        _join(kept)
    if not kept or kept[-1].role == "tool":
        kept.append(answer([], {}))
    return [*kept[:-1], kept[-1].model_copy(update={"metadata": storable(about)})]


@reads
def from_input(items: str | Iterable[Given]) -> list[Message]:
    """Keep an input list; what the assistant said in a row is one message, and so are tools' answers."""
    if isinstance(items, str):
        return [Message(role="user", content=items)]
    kept: list[Message] = []
    for place, item in enumerate(given_list(items, "input")):
        role = item.get("role")
        whole = isinstance(item.get("type"), str) or (role in SPEAKERS and "content" in item)
        if not whole or is_anothers(item):
            no_item(place, "input", PROVIDER, "an item has a type, or a role and content")
        if role in {"user", "system", "developer"}:
            kept.append(said(role, _content(item.get("content")), PROVIDER))
        elif str(item.get("type", "")).endswith(("_output", "_response")):
            kept.append(said("tool", [_result(item).plain()], PROVIDER))
        else:
            kept.append(answer(blocks_of(item), {"provider": PROVIDER}))
        _join(kept)
    return kept


def to_input(messages: Sequence[Message], target: Capabilities = OPENAI_RESPONSES) -> list[Item]:
    """Build the `input` of the next request."""
    turns = ready(messages, target)
    custom = {
        call.id for turn in turns if turn.own for call in turn.calls if call.extra.get("custom")
    }
    items: list[tuple[Item, bool]] = []
    for turn in turns:
        match turn.role:
            case "assistant":
                items += _said(turn)
            case "tool":
                items += [(item, False) for item in _answers(turn, custom)]
            case _ if parts := _parts(turn):
                items.append(({"role": turn.role, "content": parts}, False))
    return _sendable(items)


def blocks_of(item: Item) -> list[Block]:
    """See an output item as blocks that build the very same item again; else it is opaque."""
    blocks = _seen(item)
    if blocks and [sent for sent, _ in _said(Turn("assistant", tuple(blocks), own=True))] == [item]:
        return blocks
    return [Opaque(provider=PROVIDER, data=item)]


def _seen(item: Item) -> list[Block]:
    kind = item.get("type", "message")
    if kind == "message":
        return _texts(item)
    if kind == "reasoning":
        parts = item.get("content") or item.get("summary") or []
        shown = "\n\n".join(str(part.get("text", "")) for part in parts)
        return [Thinking(thinking=shown, extra={"item": without(item, "type")})]
    if kind in CALLS and isinstance(item.get("call_id"), str):
        extra: dict[str, Any] = {"item": without(item, "type", "call_id", "name", CALLS[kind])}
        if kind == "custom_tool_call":
            extra["custom"] = True
        asked = str(item.get(CALLS[kind], ""))
        name = str(item.get("name", ""))
        return [ToolCall(id=item["call_id"], name=name, arguments=asked, extra=extra)]
    return []


def _texts(item: Item) -> list[Block]:
    content = item.get("content")
    if isinstance(content, str):
        return [Text(text=content, extra={"item": without(item, "role", "content")})]
    found: list[Block] = []
    for part in content or []:
        refused = part.get("type") == "refusal"
        extra: dict[str, Any] = (
            {"same_item": True} if found else {"item": without(item, "type", "role", "content")}
        )
        rest = without(part, "type", "text", "refusal")
        extra |= {"part": rest} | ({"refusal": True} if refused else {})
        found.append(Text(text=str(part.get("refusal" if refused else "text", "")), extra=extra))
    return found


def _said(turn: Turn) -> list[tuple[Item, bool]]:
    """Each item with whether it is whole: one that broke off is no item of the provider's."""
    items: list[tuple[Item, bool]] = []
    for block in _loosened(turn.blocks):
        match block:
            case Text(extra={"same_item": True}) if items and "content" in items[-1][0]:
                items[-1][0]["content"].append(_text_part(block))
            case Text():
                items.append((_message(block), not block.stopped))
            case Thinking(extra={"item": dict() as item}):
                items.append(({**without(item, "role"), "type": "reasoning"}, not block.stopped))
            case ToolCall():
                items.append((_call(block), not block.stopped))
            case Opaque() if str(block.data.get("type") or "") not in {"", *OUTPUTS, *CALLS}:
                items.append((block.data, True))
            case _:
                pass  # nothing that an assistant of this provider's says
    return items


def _loosened(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, where an item that broke off is no item any more: its id would ask for its reasoning."""
    kept: list[Block] = []
    for block in blocks:
        if not isinstance(block, Text | ToolCall) or not block.stopped:
            kept.append(block)
        elif isinstance(block, ToolCall):
            custom = {"custom": True} if block.extra.get("custom") else {}
            kept.append(block.model_copy(update={"extra": custom}))
        else:
            kept.append(_one_text(block, kept))
    return kept


def _one_text(block: Text, before: list[Block]) -> Text:
    """The text with those before it that are of the same item, which are taken out of `before`."""
    said = [block.text]
    while block.extra.get("same_item") and before and isinstance(before[-1], Text):
        block = before[-1]
        said.insert(0, block.text)
        before.pop()
    return Text(text="".join(said), stopped=True)


def _message(block: Text) -> Item:
    item = block.extra.get("item")
    if not isinstance(item, dict) or "part" not in block.extra:
        return {**(item or {}), "role": "assistant", "content": block.text}
    return {**item, "type": "message", "role": "assistant", "content": [_text_part(block)]}


def _text_part(block: Text) -> Item:
    rest = block.extra.get("part") or {}
    if block.extra.get("refusal"):
        return {**rest, "type": "refusal", "refusal": block.text}
    return {**rest, "type": "output_text", "text": block.text}


def _call(block: ToolCall) -> Item:
    kind = "custom_tool_call" if block.extra.get("custom") else "function_call"
    return {
        **without(block.extra.get("item") or {}, "role", "content"),
        "type": kind,
        "call_id": block.id,
        "name": block.name,
        CALLS[kind]: block.arguments,
    }


def _answers(turn: Turn, custom: set[str]) -> Iterable[Item]:
    for block in turn.blocks:
        if isinstance(block, ToolResult):
            kind = (
                "custom_tool_call_output"
                if block.tool_call_id in custom
                else "function_call_output"
            )
            content = block.content
            output = content if isinstance(content, str) else [_part(part) for part in content]
            yield {
                **without(block.extra, "role"),
                "type": kind,
                "call_id": block.tool_call_id,
                "output": output,
            }
        elif isinstance(block, Opaque) and block.data.get("type") in TOOLS_SAY:
            yield block.data


def _parts(turn: Turn) -> str | list[Item]:
    blocks = [b for b in turn.blocks if isinstance(b, Text | Image | Document | Opaque)]
    if len(blocks) == 1 and isinstance(blocks[0], Text) and not blocks[0].extra:
        return blocks[0].text
    return [_part(block) for block in blocks if not isinstance(block, Opaque) or _is_input(block)]


def _is_input(block: Opaque) -> bool:
    """Whether it is a part of a user's that has no form of its own, such as audio."""
    kind = str(block.data.get("type", ""))
    return kind.startswith("input_") and kind not in PARTS


def _part(block: Shown) -> Item:
    match block:
        case Text():
            return {**block.extra, "type": "input_text", "text": block.text}
        case Image():
            where = {"file_id": block.file_id} if block.file_id else {"image_url": data_url(block)}
            return {"detail": "auto", **block.extra, "type": "input_image", **where}
        case Document(file_id=str() as file_id):
            return {**block.extra, "type": "input_file", "file_id": file_id}
        case Document(url=str() as url):
            return {**block.extra, "type": "input_file", "file_url": url}
        case Document():
            named = {"filename": "document", **block.extra}
            return {**named, "type": "input_file", "file_data": data_url(block)}
        case _:
            return block.data


def _content(content: Any) -> str | list[dict[str, Any]]:
    return content if isinstance(content, str) else [_shown(part).plain() for part in content or []]


def _shown(part: Item) -> Shown:
    match part:
        case {"type": "input_text", "text": str() as text}:
            return Text(text=text, extra=without(part, "type", "text"))
        case {"type": "input_image", "image_url": str() as url}:
            return Image(**from_data_url(url), extra=without(part, "type", "image_url"))
        case {"type": "input_image", "file_id": str() as file_id}:
            return Image(file_id=file_id, extra=without(part, "type", "file_id"))
    return _file(part)


def _file(part: Item) -> Shown:
    match part:
        case {"type": "input_file", "file_data": str() as data}:
            return Document(**from_data_url(data), extra=without(part, "type", "file_data"))
        case {"type": "input_file", "file_url": str() as url}:
            return Document(url=url, extra=without(part, "type", "file_url"))
        case {"type": "input_file", "file_id": str() as file_id}:
            return Document(file_id=file_id, extra=without(part, "type", "file_id"))
    return Opaque(provider=PROVIDER, data=part)


def _result(item: Item) -> Block:
    if item.get("type") not in OUTPUTS:
        return Opaque(provider=PROVIDER, data=item)
    output = item.get("output")
    content = output if isinstance(output, str) else [_shown(part) for part in output or []]
    extra = without(item, "type", "call_id", "output")
    return ToolResult(tool_call_id=str(item.get("call_id", "")), content=content, extra=extra)


def _join(kept: list[Message]) -> None:
    """Make one message of the last two where both are the assistant's, or both are tools'."""
    if len(kept) > 1 and kept[-1].role == kept[-2].role and kept[-1].role in {"assistant", "tool"}:
        last, before = kept.pop(), kept.pop()
        if isinstance(last.content, list) and isinstance(before.content, list):
            joined = before.content + last.content
            kept.append(before.model_copy(update={"content": joined}))


def _sendable(items: list[tuple[Item, bool]]) -> list[Item]:
    """Leave out what would be refused: calls of the provider's own without their answer, and
    reasoning without the whole item that it led to.
    """
    paired = _in_pairs(items)
    sent: list[Item] = []
    leads = False  # whether what follows is the whole item that reasoning led to
    for item, whole in reversed(paired):
        if item.get("type") != "reasoning":
            leads = whole and _is_output(item)
        elif not leads:
            continue
        sent.append(item)
    return sent[::-1]


def _in_pairs(items: list[tuple[Item, bool]]) -> list[tuple[Item, bool]]:
    """The items less calls of the provider's own without their answer, and answers without their call."""
    there = {(str(item.get("type")), key) for item, _ in items for key in _ids(item)}
    return [
        (item, whole)
        for item, whole in items
        if (other := OTHER_HALF.get(str(item.get("type")))) is None
        or {(other, key) for key in _ids(item)} & there
    ]


def _ids(item: Item) -> list[str]:
    return [key for key in (item.get("call_id"), item.get("id")) if isinstance(key, str)]


def _is_output(item: Item) -> bool:
    outputs = str(item.get("type", "")).endswith("_output")
    return item.get("role", "assistant") == "assistant" and not outputs
