"""Whether a provider would take a candidate as its next request. Pure."""

from collections.abc import Sequence
from typing import Final

from memoranda.conversations.models import Message
from memoranda.conversations.seeding import replayable
from memoranda.conversations.wire.capabilities import CAPABILITIES
from memoranda.conversations.wire.requests import build_request
from memoranda.conversations.wire.valid import check_request
from memoranda.words.errors import MemorandaError

STRICTEST: Final = "openai_compatible"
"""Who is asked where no message says which provider it came from: nothing is known about that one."""
SHOWN: Final = 3


def provider_of(messages: Sequence[Message]) -> str:
    """The provider of the latest answer that names one that is known."""
    for message in reversed(messages):
        named = message.metadata.get("provider")
        if isinstance(named, str) and named in CAPABILITIES:
            return named
    return STRICTEST


def refusal_of(messages: Sequence[Message], provider: str | None = None) -> str | None:
    """Why the provider would refuse these messages, prepared as a run's; None where it takes them."""
    target = provider or provider_of(messages)
    sent = replayable(list(messages))
    try:
        faults = check_request(target, build_request(target, sent))
    except MemorandaError as error:
        return error.message
    if not faults:
        return None
    return f"{target} would not take what is left: {'; '.join(faults[:SHOWN])}."
