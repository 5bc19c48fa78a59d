"""What names a message and a list of messages by what they say. Pure.

A message's digest is over its role, content and metadata, and neither over its time nor over
whether it is pinned. A chain is over all digests up to one, so that it and a length name a list.
"""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Final

from memoranda.conversations.content import written, written_metadata
from memoranda.conversations.models import Message

NO_CHAIN: Final = ""
"""The chain of an empty list."""


def digest_of(message: Message) -> str:
    """The digest of a message."""
    return digest(message.role, written(message.content), written_metadata(message.metadata))


def digest(role: str, content: str, metadata: str) -> str:
    """The digest of a message as it is written."""
    return measured(role, content, metadata)[0]


def measured(role: str, content: str, metadata: str) -> tuple[str, int]:
    """The digest of a message as it is written, and its bytes.

    Neither a role nor JSON holds a line break, so that no message is written as another.
    """
    text = f"{role}\n{content}\n{metadata}".encode()
    return sha256(text).hexdigest(), len(text) - 2


def chain_after(chain: str, digest: str) -> str:
    """The chain of a list that goes on with a message of that digest."""
    return sha256(f"{chain}{digest}".encode()).hexdigest()


def chains(digests: Iterable[str], chain: str = NO_CHAIN) -> Iterator[str]:
    """The chain after each of the messages, beginning from that one."""
    for each in digests:
        chain = chain_after(chain, each)
        yield chain
