"""The newest messages of the request's conversation that fit the source's own budget, and its summary."""

from collections.abc import Iterable, Iterator

from memoranda.briefs.models import (
    MAX_CONTEXT_ITEM_LIMIT,
    ContextItem,
    ContextKind,
    ContextRequest,
    ContextSourceSpec,
)
from memoranda.briefs.options import ConversationOptions
from memoranda.briefs.page import write_line
from memoranda.conversations.compaction.summary import summary_of
from memoranda.conversations.models import StoredMessage
from memoranda.conversations.said import UNSAID, is_summary, words_of
from memoranda.conversations.service import Conversations
from memoranda.words.tokens import Estimator, estimate_tokens


class ConversationSource:
    """What was said, newest kept first and rendered oldest first, so that nothing is left to drop.

    Of a compacted conversation, the summary stands before the messages: it has its place in up to half
    of the budget, or whatever the messages leave.
    """

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
        """The newest messages, whole, until the next would pass the budget or `spec.limit`; and the summary.

        Where not even the newest fits, it alone, for the packer to drop and count.
        """
        # No line costs less than a few tokens, so a small budget never reads a long conversation.
        most = min(spec.token_budget // 4 + 1, MAX_CONTEXT_ITEM_LIMIT)
        limit = most if spec.limit is None else min(spec.limit, most)
        if request.conversation_id is None or limit == 0:
            return []
        asked = request.subject, request.conversation_id
        newest = await self._conversations.recent(*asked, limit, as_of=request.as_of)
        stands_for = None
        if spec.options_as(ConversationOptions).include_summary:
            stands_for = await self._conversations.summary(*asked, as_of=request.as_of)
        summary = [] if stands_for is None else [_summary_item(stands_for)]
        cost = sum(map(self._cost, summary))
        reserved = cost if limit > 1 and cost <= spec.token_budget // 2 else 0
        said = map(_item, filter(_is_said, newest))
        items = list(self._fitting(said, spec.token_budget - reserved))[: limit - bool(reserved)]
        left = spec.token_budget - sum(map(self._cost, items))
        return items + summary if cost <= left and len(items) < limit else items

    def _fitting(self, said: Iterable[ContextItem], left: int) -> Iterator[ContextItem]:
        for place, item in enumerate(said):
            left -= self._cost(item)
            # A last message that never fits is offered, so that the brief says that it is missing.
            if left >= 0 or place == 0:
                yield item
            if left < 0:
                return

    def _cost(self, item: ContextItem) -> int:
        return self._estimate(write_line(item).text)


def _is_said(message: StoredMessage) -> bool:
    """Whether the message is part of what was said: the agent has its own instructions already."""
    is_told = message.role in UNSAID or is_summary(message)
    return not is_told and bool(words_of(message.content).strip())


def _item(message: StoredMessage) -> ContextItem:
    return ContextItem(
        source="conversation",
        kind="conversation",
        title=f"{message.role}, {message.ts:%Y-%m-%d %H:%M}",
        body=words_of(message.content),
        recorded_at=message.ts,
        rank_in_section=message.position,
    )


def _summary_item(message: StoredMessage) -> ContextItem:
    return ContextItem(
        source="conversation",
        kind="conversation",
        title=f"summary of what was said before, {message.ts:%Y-%m-%d %H:%M}",
        body=summary_of(message),
        recorded_at=message.ts,
        rank_in_section=message.position,
    )
