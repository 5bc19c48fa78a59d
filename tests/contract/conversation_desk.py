"""Short ways to say things in conversations and to see what is stored, for tests."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from memoranda.access.models import Principal
from memoranda.conversations.models import ConversationKey, Message, Role, StoredMessage
from memoranda.conversations.service import Conversations
from memoranda.storage import Storage
from memoranda.storage.tables import conversation_archive, conversation_messages
from tests.contract.memory_trail import read
from tests.contract.tenants import Tenant

KEY = ConversationKey(workflow_id="support")


def said(*texts: str, role: Role = "user") -> list[Message]:
    """Messages of one role with these texts."""
    return [Message(role=role, content=text) for text in texts]


async def begun(
    talks: Conversations, who: Principal, *texts: str, key: ConversationKey = KEY
) -> list[StoredMessage]:
    """Save these under the key, at the fence that it has now; what is stored then."""
    loaded = await talks.load(who, key)
    saved = await talks.save(who, key, said(*texts), fence=loaded.fence)
    return await stored(talks, who, saved.id)


async def stored(talks: Conversations, who: Principal, conversation_id: Any) -> list[StoredMessage]:
    """All messages as they are stored."""
    return await talks.messages(who, conversation_id, limit=1000)


async def texts(talks: Conversations, who: Principal, key: ConversationKey = KEY) -> list[Any]:
    """What a load of the key answers, the contents alone."""
    return [each.content for each in (await talks.load(who, key)).messages]


async def kept(storage: Storage, tenant: Tenant) -> tuple[int, int]:
    """How many messages the organization's lists and its archive hold."""
    lists = await read(storage, tenant, select(conversation_messages.c.id))
    return len(lists), len(await read(storage, tenant, select(conversation_archive.c.id)))


def contents(messages: Sequence[Message]) -> list[Any]:
    """The contents alone."""
    return [each.content for each in messages]
