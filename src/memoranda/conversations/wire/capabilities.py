"""What each provider takes in a request, as data: code asks these, and never for a provider's name."""

import re
from functools import cached_property
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from memoranda.words.errors import Invalid

Wire = Literal["openai_responses", "openai_chat", "anthropic", "gemini"]
"""The form of a provider's requests."""


class Capabilities(BaseModel):
    """What may be in a request to one provider, or to one endpoint that speaks its form."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    wire: Wire
    state_of: str | None
    """The provider whose own state may be sent back; None where only the portable form may be."""
    foreign_thinking: Literal["drop", "text"] = "drop"
    """What becomes of another provider's visible reasoning."""
    arguments: Literal["raw", "json", "object"] = "raw"
    """Whether a call's arguments may be any text, have to be JSON, or are an object."""
    call_id: str = r"(?s).+"
    longest_call_id: int = 256
    unique_call_ids: bool = False
    """Whether an id may be in a request only once, and not only once in a turn."""
    tool_name: str = r"[A-Za-z0-9_-]+"
    longest_tool_name: int = 64
    images: bool = True
    image_urls: bool = True
    documents: tuple[str, ...] = ()
    """Media types that documents may have; one that ends with / stands for all below it."""
    document_urls: bool = False
    images_from_assistant: bool = False
    """Whether the assistant's own messages may hold images and documents."""
    images_from_system: bool = False
    """Whether a system's or developer's message may hold images and documents."""
    blank_text: bool = True
    """Whether a text of whitespace alone may be sent."""
    text_parts: bool = True
    """Whether what is text alone may be in several parts."""
    developer_role: bool = True
    late_system: bool = True
    """Whether a system message may come after the first user message."""
    user_first: bool = False
    """Whether the first message, after the system's, has to be the user's."""
    alternates: bool = False
    """Whether no two messages of one role may follow each other."""
    foreign_call_signature: str | None = None
    """What stands in for the signature that a call from elsewhere does not have."""

    @cached_property
    def call_id_pattern(self) -> re.Pattern[str]:
        return re.compile(self.call_id)

    @cached_property
    def tool_name_pattern(self) -> re.Pattern[str]:
        return re.compile(self.tool_name)

    def takes_document(self, media_type: str | None) -> bool:
        """Whether a document of this media type may be sent."""
        kind = media_type or "application/pdf"
        return any(
            kind.startswith(known) if known.endswith("/") else kind == known
            for known in self.documents
        )


OPENAI_RESPONSES: Final = Capabilities(
    wire="openai_responses",
    state_of="openai_responses",
    longest_call_id=64,
    documents=("application/", "text/"),
    document_urls=True,
    images_from_system=True,
)
OPENAI_CHAT: Final = Capabilities(
    wire="openai_chat",
    state_of="openai_chat",
    longest_call_id=40,
    documents=("application/pdf",),
)
ANTHROPIC: Final = Capabilities(
    wire="anthropic",
    state_of="anthropic",
    arguments="object",
    call_id=r"[A-Za-z0-9_-]+",
    unique_call_ids=True,
    tool_name=r"[A-Za-z0-9_-]+",
    longest_tool_name=128,
    documents=("application/pdf", "text/plain"),
    document_urls=True,
    blank_text=False,
    developer_role=False,
    late_system=False,
    user_first=True,
)
GEMINI: Final = Capabilities(
    wire="gemini",
    state_of="gemini",
    arguments="object",
    tool_name=r"[A-Za-z_][A-Za-z0-9_.:-]*",
    documents=("application/pdf", "text/"),
    document_urls=True,
    blank_text=False,
    developer_role=False,
    late_system=False,
    user_first=True,
    images_from_assistant=True,
    foreign_call_signature="skip_thought_signature_validator",
)
UNVERIFIED_CHAT: Final = Capabilities(
    wire="openai_chat",
    state_of=None,
    arguments="json",
    call_id=r"[A-Za-z0-9]{9}",
    longest_call_id=9,
    images=False,
    image_urls=False,
    documents=(),
    blank_text=False,
    text_parts=False,
    developer_role=False,
    late_system=False,
    user_first=True,
    alternates=True,
)
"""An endpoint that speaks Chat Completions and that nothing is known about: what the strictest takes."""

CAPABILITIES: Final[dict[str, Capabilities]] = {
    found.wire: found for found in (OPENAI_RESPONSES, OPENAI_CHAT, ANTHROPIC, GEMINI)
} | {"openai_compatible": UNVERIFIED_CHAT}


def capabilities_of(provider: str) -> Capabilities:
    """What the provider of this name takes. Raises `Invalid`, which names those that are known."""
    found = CAPABILITIES.get(provider)
    if found is None:
        known = ", ".join(sorted(CAPABILITIES))
        raise Invalid(f"The provider is not known: name one of {known}.", field="provider")
    return found
