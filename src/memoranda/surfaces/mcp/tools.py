"""Tools in the protocol's words: how an offer is described, and how a result is told."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from mcp.types import CallToolResult, TextContent, Tool, ToolAnnotations

from memoranda.surfaces.mcp.meta import REPLAYED

if TYPE_CHECKING:
    from memoranda.tools.models import ToolOffer, ToolResult

ONLY_ADDS: Final = frozenset({"remember"})
"""Of the tools that write, those that take nothing away."""

_TEXT: Final = {"type": "string"}
REFUSAL_SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "title": "Refusal",
    "description": "Why a call was not done.",
    "properties": {
        "code": _TEXT,
        "kind": _TEXT,
        "message": _TEXT,
        "retryable": {"type": "boolean"},
        "details": {"type": "object"},
    },
    "required": ["code", "kind", "message", "retryable", "details"],
    "additionalProperties": False,
}


def described(offer: "ToolOffer") -> Tool:
    """The tool as clients list it. Calling any of them twice does no more than calling it once."""
    reads = offer.effect.value == "reads"
    return Tool(
        name=offer.name,
        title=offer.name.replace("_", " ").capitalize(),
        description=offer.description,
        input_schema=dict(offer.input_schema),
        output_schema=_either(offer.answer_schema),
        annotations=ToolAnnotations(
            read_only_hint=reads,
            destructive_hint=not reads and offer.name not in ONLY_ADDS,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def told(result: "ToolResult") -> CallToolResult:
    """The answer, or the refusal as an error that a model can act on."""
    if result.refusal is not None:
        return refused(result.refusal.model_dump(mode="json"))
    answer = dict(result.answer or {})
    replayed = {REPLAYED: True} if result.replayed else None
    return CallToolResult(content=[_text(answer)], structured_content=answer, meta=replayed)


def refused(refusal: dict[str, Any]) -> CallToolResult:
    """A refusal, as a result."""
    return CallToolResult(content=[_text(refusal)], structured_content=refusal, is_error=True)


def _text(value: Mapping[str, Any]) -> TextContent:
    return TextContent(text=json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _either(answer_schema: Mapping[str, Any]) -> dict[str, Any]:
    """What `structuredContent` may be: some clients hold refusals to this schema too."""
    answer = dict(answer_schema)
    definitions = {"$defs": answer.pop("$defs")} if "$defs" in answer else {}
    return {"type": "object", "anyOf": [answer, dict(REFUSAL_SCHEMA)], **definitions}
