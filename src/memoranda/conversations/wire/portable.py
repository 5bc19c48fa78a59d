"""The form of messages that any provider takes, made from what another one said. For a request only.

State that only its provider can read is left out, ids and names are made valid, arguments become what
the target takes, and what it can't be shown is said in words. Nothing here asks for a provider's name.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from memoranda.conversations.models import Message
from memoranda.conversations.wire.blocks import (
    Block,
    Document,
    Image,
    Shown,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from memoranda.conversations.wire.capabilities import Capabilities
from memoranda.conversations.wire.media import NOT_SHOWN, shown_media
from memoranda.conversations.wire.naming import renamed
from memoranda.conversations.wire.settling import settle
from memoranda.conversations.wire.turns import Turn, turns_of

GOES_ON: Final = Text(text="[The conversation goes on from here.]")
"""The user's first words where the list begins with the assistant's, and all that is said where nothing else is."""

SHOWN: Final = Text(text="[What the assistant showed:]")

MALFORMED: Final = "INVALID_JSON"
"""The one key of an object that stands for arguments which are no JSON object."""


def ready(messages: Sequence[Message], target: Capabilities) -> list[Turn]:
    """Return the turns of the target's next request; each says something, and no call is open."""
    turns = renamed(settle(turns_of(messages, target)), target)
    fitted = [_fit(turn, target) for turn in turns]
    if not target.images_from_assistant:
        fitted = list(_with_images_after(fitted))
    spoken = _opened([turn for turn in fitted if turn.blocks], target)
    if not target.images_from_system:
        spoken = [_in_words(turn) if _leads(turn) else turn for turn in spoken]
    return _merged(spoken) if target.alternates else spoken


def object_of(arguments: str) -> dict[str, object]:
    """A call's arguments as an object; what is none becomes one that holds the text, and none is empty."""
    if not arguments.strip():
        return {}
    try:
        read = json.loads(arguments, parse_constant=_no_json)
    except (ValueError, RecursionError):
        return {MALFORMED: arguments}
    return read if isinstance(read, dict) else {MALFORMED: arguments}


def written(value: object) -> str:
    """A JSON value as the text that a call's arguments are kept as."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Half of a surrogate pair is no character, but its escape is a text like any other.
    return text if _whole(text) else json.dumps(value, separators=(",", ":"))


def _whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_json(constant: str) -> object:
    raise ValueError(constant)


def _fit(turn: Turn, target: Capabilities) -> Turn:
    role = "system" if turn.role == "developer" and not target.developer_role else turn.role
    fitted = [kept for block in turn.blocks for kept in _block(block, turn, target)]
    return replace(turn.with_blocks(fitted), role=role)


def _block(block: Block, turn: Turn, target: Capabilities) -> Iterable[Block]:
    match block:
        case Text():
            if target.blank_text or block.text.strip():
                yield block if turn.own else Text(text=block.text)
        case Thinking() if not turn.own:
            if target.foreign_thinking == "text" and block.thinking.strip():
                yield Text(text=block.thinking)
        case ToolCall():
            yield _call(block, turn, target)
        case ToolResult():
            yield _result(block, turn, target)
        case Image() | Document():
            yield shown_media(block, target, own=turn.own)
        case _ if turn.own:
            yield block


def _call(call: ToolCall, turn: Turn, target: Capabilities) -> ToolCall:
    """Keep the arguments as they are written wherever the target takes them so."""
    custom = not turn.own and bool(call.extra.get("custom"))
    arguments = written({"input": call.arguments}) if custom else call.arguments
    if target.arguments == "json":
        asked = object_of(arguments)
        if MALFORMED in asked or not arguments.strip():
            arguments = written(asked)
    return call.model_copy(update={"arguments": arguments, "extra": call.extra if turn.own else {}})


def _result(result: ToolResult, turn: Turn, target: Capabilities) -> ToolResult:
    extra = result.extra if turn.own else {}
    if isinstance(result.content, str):
        return result.model_copy(update={"extra": extra})
    parts: list[Shown] = []
    for part in result.content:
        if isinstance(part, Image | Document):
            parts.append(shown_media(part, target, own=turn.own))
        elif isinstance(part, Text):
            if target.blank_text or part.text.strip():
                parts.append(part if turn.own else Text(text=part.text))
        elif turn.own and part.provider == target.state_of:
            parts.append(part)
    return result.model_copy(update={"extra": extra, "content": parts or ""})


def _with_images_after(turns: Iterable[Turn]) -> Iterator[Turn]:
    """What the assistant showed, as the user's, after the turn and the results that belong to it."""
    shown: list[Block] = []
    for turn in turns:
        if shown and turn.role != "tool":
            yield Turn("user", (SHOWN, *shown))
            shown = []
        if turn.role == "assistant":
            shown += [block for block in turn.blocks if isinstance(block, Image | Document)]
            said = [block for block in turn.blocks if not isinstance(block, Image | Document)]
            yield turn.with_blocks(said)
        else:
            yield turn
    if shown:
        yield Turn("user", (SHOWN, *shown))


def _opened(turns: list[Turn], target: Capabilities) -> list[Turn]:
    """The system's turns as far as they lead; a later one, where the target takes none, is the user's.

    So nothing that a user or a tool said ever gains a system's say, and some of it may lose it.
    """
    leading = next((at for at, turn in enumerate(turns) if not _leads(turn)), len(turns))
    head, rest = turns[:leading], turns[leading:]
    if not target.late_system:
        rest = [replace(turn, role="user") if _leads(turn) else turn for turn in rest]
    if rest and target.user_first and rest[0].role != "user":
        rest = [Turn("user", (GOES_ON,)), *rest]
    return head + rest


def _in_words(turn: Turn) -> Turn:
    """A system's turn with the word that something is left out, where what is shown would stand."""
    said = (
        NOT_SHOWN[block.type] if isinstance(block, Image | Document) else block
        for block in turn.blocks
    )
    return turn.with_blocks(list(said))


def _leads(turn: Turn) -> bool:
    return turn.role in {"system", "developer"}


def _merged(turns: Sequence[Turn]) -> list[Turn]:
    """Neighbors of one role as one turn; tools' turns stay apart, each answers its call."""
    merged: list[Turn] = []
    for turn in turns:
        last = merged[-1] if merged else None
        if last is None or turn.role != last.role or turn.role == "tool" or last.calls:
            merged.append(turn)
        else:
            both = (*last.blocks, *turn.blocks)
            merged[-1] = replace(last, blocks=both, own=last.own and turn.own)
    return merged
