"""Messages as they are kept, with what is known of where they came from."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memoranda.conversations.models import Content, Message, Role
from memoranda.conversations.wire.blocks import Block
from memoranda.words.text import clean


def metadata_of(provider: str, body: Mapping[str, Any], **known: Any) -> dict[str, Any]:
    """What is kept of an answer beside its content; what the provider did not say is not there."""
    about = {"provider": provider, "model": body.get("model"), "usage": body.get("usage"), **known}
    return {name: value for name, value in about.items() if value is not None}


def answer(blocks: Sequence[Block], about: dict[str, Any]) -> Message:
    """A message of the assistant's; one that said nothing is kept too."""
    content = storable([block.plain() for block in blocks])
    return Message(role="assistant", content=content, metadata=storable(about))


def said(role: Role, content: Content, provider: str) -> Message:
    """A message that was part of a request. A bare text has nothing of the provider's about it."""
    about = {} if isinstance(content, str) else {"provider": provider}
    return Message(role=role, content=storable(content), metadata=about)


def storable(value: Any) -> Any:
    """The value without characters that no store can hold: an answer that was paid for is kept all the same."""
    written = json.dumps(value, ensure_ascii=False)
    if "\\u0000" not in written and written.isascii():
        return value
    return _cleaned(value)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _cleaned(part) for key, part in value.items()}
    return [_cleaned(part) for part in value] if isinstance(value, list) else value
