"""Typed views of the blocks that a message's content is made of.

The store keeps plain objects; a view is how code looks at one. What a provider sent beyond a
block's own fields is under `extra`, and a block that no view fits is opaque: kept, never guessed at.
"""

from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from memoranda.conversations.models import Content


class _Block(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    extra: dict[str, Any] = Field(default_factory=dict)
    """Fields of the provider's own, for that provider alone."""

    def plain(self) -> dict[str, Any]:
        """The block as it is stored; what was not said is not there."""
        named = ((name, getattr(self, name)) for name in type(self).model_fields if name != "extra")
        shown = {name: value for name, value in named if value is not None}
        return {**shown, "extra": self.extra} if self.extra else shown


class Text(_Block):
    type: Literal["text"] = "text"
    text: str
    stopped: bool | None = None
    """True where the answer broke off in this text."""


class Thinking(_Block):
    type: Literal["thinking"] = "thinking"
    thinking: str
    signature: str | None = None
    stopped: bool | None = None


class RedactedThinking(_Block):
    type: Literal["redacted_thinking"] = "redacted_thinking"
    data: str


class ToolCall(_Block):
    """A call with its arguments as the model wrote them, be they JSON or not."""

    type: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    arguments: str
    stopped: bool | None = None


class _Media(_Block):
    media_type: str | None = None
    data: str | None = None
    """Base64."""
    url: str | None = None
    file_id: str | None = None

    @model_validator(mode="after")
    def _has_one_origin(self) -> "_Media":
        if sum(origin is not None for origin in (self.data, self.url, self.file_id)) != 1:
            raise ValueError("one of data, url and file_id says where it is")
        return self


class Image(_Media):
    type: Literal["image"] = "image"


class Document(_Media):
    type: Literal["document"] = "document"


class Opaque(_Block):
    """What only its provider can read: sent back to it as it is, and to nobody else."""

    type: Literal["opaque"] = "opaque"
    provider: str
    data: dict[str, Any]


Shown = Text | Image | Document | Opaque
"""What a tool's result may be made of."""


class ToolResult(_Block):
    type: Literal["tool_result"] = "tool_result"
    tool_call_id: str
    name: str | None = None
    content: str | list[Annotated[Shown, Field(discriminator="type")]]
    is_error: bool | None = None

    def plain(self) -> dict[str, Any]:
        shown = super().plain()
        if not isinstance(self.content, str):
            shown["content"] = [part.plain() for part in self.content]
        return shown


Block = Text | Thinking | RedactedThinking | ToolCall | ToolResult | Image | Document | Opaque

NOBODY: Final = ""
"""The provider of an opaque block that no provider is known for: it is sent to none."""

NAMES: Final = ("type", "id", "call_id", "tool_use_id", "role")
"""Fields by which state is known, and paired with other state."""
AnyBlock = TypeVar("AnyBlock", bound=_Block)

_VIEW: Final[TypeAdapter[Block]] = TypeAdapter(Annotated[Block, Field(discriminator="type")])


def view(block: dict[str, Any]) -> Block:
    """See a stored block by its type; one that fits no type is opaque, and nobody's."""
    try:
        seen = _VIEW.validate_python(block)
    except ValidationError:
        seen = _with_visible_parts(block) or Opaque(provider=NOBODY, data=block)
    if isinstance(seen, ToolResult) and not isinstance(seen.content, str):
        return seen.model_copy(update={"content": [_named_by_text(part) for part in seen.content]})
    return _named_by_text(seen)


def _named_by_text(block: AnyBlock) -> AnyBlock | Opaque:
    """The block; state whose kind or ids are no texts is nobody's, and is looked at no further."""
    if not isinstance(block, Opaque):
        return block
    named = (block.data.get(name) for name in NAMES)
    if all(name is None or isinstance(name, str) for name in named):
        return block
    return Opaque(provider=NOBODY, data={"type": block.type, "data": block.data})


def views(content: Content) -> list[Block]:
    """See a message's content, in its order; a text is one block, and an empty one is none."""
    if isinstance(content, str):
        return [Text(text=content)] if content else []
    return [view(block) for block in content]


def text_of(blocks: list[Shown]) -> str:
    """The texts of a result's parts, a line between them."""
    return "\n".join(block.text for block in blocks if isinstance(block, Text))


def _with_visible_parts(block: dict[str, Any]) -> Block | None:
    """See a result with a part that nobody knows: the part becomes opaque, the result stays one."""
    parts = block.get("content")
    if block.get("type") != "tool_result" or not isinstance(parts, list):
        return None
    seen = [view(part) if isinstance(part, dict) else None for part in parts]
    kept = [part.plain() for part in seen if isinstance(part, Text | Image | Document | Opaque)]
    try:
        return _VIEW.validate_python({**block, "content": kept})
    except ValidationError:
        return None
