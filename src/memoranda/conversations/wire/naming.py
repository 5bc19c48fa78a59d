"""Ids of calls and names of tools that a target takes, the same for a call and its result."""

import hashlib
import re
from collections.abc import Sequence
from typing import Final

from memoranda.conversations.wire.blocks import Block, ToolCall, ToolResult
from memoranda.conversations.wire.capabilities import Capabilities
from memoranda.conversations.wire.turns import Turn

_ODD: Final = re.compile(r"[^A-Za-z0-9_-]")
HASHED: Final = 8
"""Characters of a hash that tell apart what was cut to the same beginning."""


def renamed(turns: Sequence[Turn], target: Capabilities) -> list[Turn]:
    """Return settled turns in which every call's id is valid and its own, and every tool's name is valid.

    Ids and names that are valid already stay.
    """
    used: set[str] = set()
    given: dict[str, list[str]] = {}
    done: list[Turn] = []
    for turn in turns:
        if turn.role == "assistant" and turn.calls:
            given = {}
            used = used if target.unique_call_ids else set()
        done.append(
            turn.with_blocks([_renamed(block, target, used, given) for block in turn.blocks])
        )
    return done


def valid_name(name: str, target: Capabilities) -> str:
    """A tool's name as the target takes it."""
    if len(name) <= target.longest_tool_name and target.tool_name_pattern.fullmatch(name):
        return name
    plain = _ODD.sub("_", name)
    if not re.match(r"[A-Za-z_]", plain):
        plain = f"_{plain}"
    return plain[: target.longest_tool_name]


def valid_id(call_id: str, target: Capabilities, used: set[str]) -> str:
    """A call's id as the target takes it, one that is not used yet."""
    if call_id not in used and _fits(call_id, target):
        return call_id
    attempt = 0
    while True:
        digest = hashlib.sha256(f"{attempt}:{call_id}".encode(errors="replace")).hexdigest()
        begins = re.sub(r"[^A-Za-z0-9]", "", call_id)[: target.longest_call_id - HASHED]
        made = (begins + digest[: HASHED + 1])[: target.longest_call_id]
        if made not in used:
            return made
        attempt += 1


def _fits(call_id: str, target: Capabilities) -> bool:
    return len(call_id) <= target.longest_call_id and bool(
        target.call_id_pattern.fullmatch(call_id)
    )


def _renamed(
    block: Block, target: Capabilities, used: set[str], given: dict[str, list[str]]
) -> Block:
    if isinstance(block, ToolCall):
        made = valid_id(block.id, target, used)
        used.add(made)
        given.setdefault(block.id, []).append(made)
        return _changed(block, "id", made, target)
    if isinstance(block, ToolResult):
        waiting = given.get(block.tool_call_id)
        made = waiting.pop(0) if waiting else block.tool_call_id
        return _changed(block, "tool_call_id", made, target)
    return block


def _changed(block: ToolCall | ToolResult, id_field: str, made: str, target: Capabilities) -> Block:
    name = valid_name(block.name, target) if block.name is not None else None
    if getattr(block, id_field) == made and name == block.name:
        return block
    return block.model_copy(update={id_field: made, "name": name})
