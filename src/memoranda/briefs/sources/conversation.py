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

    def __init__(
        self, conversations: Conversations, estimator: Estimator = estimate_tokens
    ) -> None:
        self._conversations = conversations
        self._estimate = estimator

    async def retrieve(self, request: ContextRequest, spec: ContextSourceSpec) -> list[ContextItem]:
        """The newest messages, whole, until the next would pass the budget or `spec.limit`."""
        limit = MAX_CONTEXT_ITEM_LIMIT if spec.limit is None else spec.limit
        if request.conversation_id is None or limit == 0:
            return []
        newest = await self._conversations.recent(request.subject, request.conversation_id, limit)
        items: list[ContextItem] = []
        left = spec.token_budget
        for message in newest:
            item = _item(message)
            left -= self._estimate(write_line(item).text)
            if left < 0:
                break
            items.append(item)
        return items


def _item(message: StoredMessage) -> ContextItem:
    when = message.created_at.strftime("%Y-%m-%d %H:%M")
    return ContextItem(
        source="conversation",
        kind="conversation",
        title=f"{message.role}, {when}",
        body=message.text,
        recorded_at=message.created_at,
        rank_in_section=message.position,
    )
