"""What messages weigh: bytes for what is kept, tokens for what a model reads. Pure."""

from collections.abc import Iterable
from typing import Final

from memoranda.conversations.content import written
from memoranda.conversations.models import Message
from memoranda.words.tokens import Estimator

PER_MESSAGE: Final = 4
"""Tokens that providers count for a message beside what is in it."""


def bytes_of(message: Message) -> int:
    """The bytes of a message's content as it is stored."""
    return len(written(message.content).encode())


def total_bytes(messages: Iterable[Message]) -> int:
    """The bytes of all of them."""
    return sum(map(bytes_of, messages))


def tokens_of(message: Message, estimator: Estimator) -> int:
    """About the tokens that a model reads for a message: of a text what it says, of blocks their JSON."""
    said = message.content if isinstance(message.content, str) else written(message.content)
    return estimator(said) + PER_MESSAGE


def total_tokens(messages: Iterable[Message], estimator: Estimator) -> int:
    """About the tokens of all of them."""
    return sum(tokens_of(each, estimator) for each in messages)
