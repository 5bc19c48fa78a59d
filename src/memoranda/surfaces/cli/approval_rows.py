"""What a call that waits would do, in words: what would be forgotten, or changed into what."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from memoranda.surfaces.cli.tables import when

if TYPE_CHECKING:
    from memoranda.memories.models import Memory
    from memoranda.tools.models import Approval

WAS: Final = {"content": "text"}
"""What of a memory each field of a patch stands for, where it is called otherwise."""
NOTHING: Final = "nothing"


def lines(approval: "Approval") -> list[str]:
    """What a person reads of an approval; the first line says what it is about."""
    if approval.answer is not None:
        return [str(approval.answer.get("message", ""))]
    told = list(_would(approval))
    memory, asked = approval.memory, approval.arguments or {}
    expected = asked.get("expected_version")
    if memory is not None and expected not in {None, memory.version}:
        told.append("changed since this was asked: approving it would fail")
    return told


def _would(approval: "Approval") -> Iterator[str]:
    memory, asked = approval.memory, dict(approval.arguments or {})
    if memory is None:
        if approval.memory_id is not None:
            yield f"memory {approval.memory_id}, which says nothing any more"
        yield json.dumps(asked, ensure_ascii=False)
        return
    yield memory.text or ""
    if memory.space is not None:
        yield f"in the space {memory.space}"
    asked.pop("memory_id", None)
    asked.pop("expected_version", None)
    yield from _changes(memory, asked.pop("patch", {}))
    if asked:
        yield json.dumps(asked, ensure_ascii=False)


def _changes(memory: "Memory", patch: Mapping[str, Any]) -> Iterator[str]:
    for name, wanted in patch.items():
        if name == "content":
            yield f"would say: {wanted}"
        else:
            yield f"{name}: {_said(getattr(memory, WAS.get(name, name), None))} -> {_said(wanted)}"


def _said(value: object) -> str:
    if isinstance(value, datetime):
        return when(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or NOTHING
    return NOTHING if value in {None, ""} else str(value)
