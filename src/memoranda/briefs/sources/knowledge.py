"""The chunks of ready sources that answer the query; neighbors in one source are one item."""

from memoranda.briefs.models import ContextItem, ContextKind, ContextRequest, ContextSourceSpec
from memoranda.briefs.options import KnowledgeOptions
from memoranda.briefs.page import write_line
from memoranda.knowledge.excerpts import Excerpt, excerpts
from memoranda.knowledge.models import SearchResult
from memoranda.knowledge.service import Knowledge
from memoranda.words.tokens import Estimator, estimate_tokens

DEFAULT_LIMIT = 8
# Joined neighbors make one item of several chunks, so more chunks are looked at than items made.
CHUNKS_PER_ITEM = 5
MOST_CHUNKS = 200
# What answers so much worse than the best is noise that costs tokens (docs/retrieval.md).
WEAKEST = 0.4


class KnowledgeSource:
    """Documents, searched by the words of the query and by its meaning."""

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
            limit=min(limit * CHUNKS_PER_ITEM, MOST_CHUNKS),
            include_organization=options.include_organization,
            include_platform=options.include_platform,
        )
        found = _worth_showing(found)
        fitting = excerpts(found, limit=limit, budget=spec.token_budget, cost=self._cost)
        # The next best are offered too: what the budget has no room for, the brief can explain.
        taken = {chunk.ref for excerpt in fitting for chunk in excerpt.chunks}
        more = [Excerpt((chunk,), chunk) for chunk in found if chunk.ref not in taken]
        return [_item(excerpt) for excerpt in (fitting + more)[:limit]]

    def _cost(self, excerpt: Excerpt) -> int:
        return self._estimate(write_line(_item(excerpt)).text)


def _worth_showing(found: list[SearchResult]) -> list[SearchResult]:
    """The results without the weak ones, and without a text that a better result holds already."""
    shown: dict[tuple[str | None, str], SearchResult] = {}
    for result in found:
        if result.score >= WEAKEST * found[0].score:
            shown.setdefault((result.speaker, result.text), result)
    return list(shown.values())


def _item(excerpt: Excerpt) -> ContextItem:
    # The other chunks of a join are not named by id in the body, so only the best can be cited.
    return ContextItem(
        source="knowledge",
        kind="knowledge",
        title=excerpt.title,
        body=excerpt.body,
        ref=excerpt.best.ref,
    )
