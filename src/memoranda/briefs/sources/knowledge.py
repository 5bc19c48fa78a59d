"""The chunks of ready sources that answer the query; neighbors in one source are one item."""

from memoranda.briefs.models import ContextItem, ContextKind, ContextRequest, ContextSourceSpec
from memoranda.briefs.options import KnowledgeOptions
from memoranda.briefs.page import write_line
from memoranda.knowledge.excerpts import Excerpt, excerpts
from memoranda.knowledge.service import Knowledge
from memoranda.words.tokens import Estimator, estimate_tokens

DEFAULT_LIMIT = 8


class KnowledgeSource:
    """Documents, searched by the words of the query."""

    name: ContextKind = "knowledge"
    kind: ContextKind = "knowledge"
    options_schema = KnowledgeOptions

    def __init__(self, knowledge: Knowledge, estimator: Estimator = estimate_tokens) -> None:
        self._knowledge = knowledge
        self._estimate = estimator

    async def retrieve(self, request: ContextRequest, spec: ContextSourceSpec) -> list[ContextItem]:
        """At most `spec.limit` items (8 where it is None), by their best chunk; 0 reads nothing."""
        options = spec.options_as(KnowledgeOptions)
        limit = DEFAULT_LIMIT if spec.limit is None else spec.limit
        if limit == 0 or not request.query.strip():
            return []
        found = await self._knowledge.find(
            request.subject,
            request.query,
            limit=limit,
            include_organization=options.include_organization,
            include_platform=options.include_platform,
        )
        joined = excerpts(found, limit=limit, budget=spec.token_budget, cost=self._cost)
        return [_item(excerpt) for excerpt in joined]

    def _cost(self, excerpt: Excerpt) -> int:
        return self._estimate(write_line(_item(excerpt)).text)


def _item(excerpt: Excerpt) -> ContextItem:
    # The other chunks of a join are not named by id in the body, so only the best can be cited.
    return ContextItem(
        source="knowledge",
        kind="knowledge",
        title=excerpt.title,
        body=excerpt.body,
        ref=excerpt.best.ref,
    )
