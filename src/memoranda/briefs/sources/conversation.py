"""The newest messages of the request's conversation that fit the source's own budget."""

from memoranda.briefs.models import (
    MAX_CONTEXT_ITEM_LIMIT,
    ContextItem,
    ContextKind,
    ContextRequest,
    ContextSourceSpec,
)
from memoranda.briefs.options import ConversationOptions
from memoranda.briefs.page import write_line
from memoranda.conversations.models import StoredMessage
from memoranda.conversations.service import Conversations
from memoranda.words.tokens import Estimator, estimate_tokens


class ConversationSource:
    """What was said, newest kept first and rendered oldest first, so that nothing is left to drop."""

    name: ContextKind = "conversation"
    kind: ContextKind = "conversation"
    options_schema = ConversationOptions
    past = ""

    def __init__(
        self, conversations: Conversations, estimator: Estimator = estimate_tokens
    ) -> None:
        self._conversations = conversations
        self._estimate = estimator

    async def retrieve(self, request: ContextRequest, spec: ContextSourceSpec) -> list[ContextItem]:
        """The newest messages, whole, until the next would pass the budget or `spec.limit`.

        Where not even the newest fits, it alone, for the packer to drop and count.
        """
        # No line costs less than a few tokens, so a small budget never reads a long conversation.
        most = min(spec.token_budget // 4 + 1, MAX_CONTEXT_ITEM_LIMIT)
        limit = most if spec.limit is None else min(spec.limit, most)
        if request.conversation_id is None or limit == 0:
            return []
        newest = await self._conversations.recent(
            request.subject, request.conversation_id, limit, as_of=request.as_of
        )
        items: list[ContextItem] = []
        left = spec.token_budget
        for item in map(_item, filter(_is_said, newest)):
            left -= self._estimate(write_line(item).text)
            if left < 0:
                # A last message that never fits is offered, so that the brief says that it is missing.
                return items or [item]
            items.append(item)
        return items


def _is_said(message: StoredMessage) -> bool:
    """Whether the message is part of what was said: the agent has its own instructions already."""
    return message.role not in {"system", "developer"} and bool(_text_of(message).strip())


def _text_of(message: StoredMessage) -> str:
    """The message's words; blocks that hold none (calls, pictures, provider state) are left out."""
    if isinstance(message.content, str):
        return message.content
    words = (block.get("text") or block.get("content") for block in message.content)
    return "\n".join(word for word in words if isinstance(word, str))


def _item(message: StoredMessage) -> ContextItem:
    return ContextItem(
        source="conversation",
        kind="conversation",
        title=f"{message.role}, {message.ts:%Y-%m-%d %H:%M}",
        body=_text_of(message),
        recorded_at=message.ts,
        rank_in_section=message.position,
    )
