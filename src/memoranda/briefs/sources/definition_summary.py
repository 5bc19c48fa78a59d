"""What the organization publishes: one item per agent, workflow or skill that the subject may see."""

from memoranda.briefs.models import ContextItem, ContextKind, ContextRequest, ContextSourceSpec
from memoranda.briefs.options import DefinitionSummaryOptions
from memoranda.state.definitions.models import REF_KIND, DefinitionKind, DefinitionSummary
from memoranda.state.definitions.summaries import DefinitionSummaries
from memoranda.words.ref import ResourceRef

DEFAULT_LIMIT = 20


class DefinitionSummarySource:
    """Published definitions by name: what each is and what it is for, never its instructions."""

    name: ContextKind = "definition_summary"
    kind: ContextKind = "definition_summary"
    options_schema = DefinitionSummaryOptions

    def __init__(self, summaries: DefinitionSummaries) -> None:
        self._summaries = summaries

    async def retrieve(self, request: ContextRequest, spec: ContextSourceSpec) -> list[ContextItem]:
        """At most `spec.limit` definitions (20 where it is None) of the `kinds` that are asked for; 0 reads nothing."""
        kinds = spec.options_as(DefinitionSummaryOptions).kinds
        found = await self._summaries.visible(
            request.subject,
            kinds=[kind for kind in DefinitionKind if kind.value in kinds],
            limit=DEFAULT_LIMIT if spec.limit is None else spec.limit,
        )
        return [_item(each) for each in found]


def _item(summary: DefinitionSummary) -> ContextItem:
    return ContextItem(
        source="definition_summary",
        kind="definition_summary",
        title=f"{summary.kind.capitalize()} {summary.name}",
        body=summary.summary,
        ref=ResourceRef(kind=REF_KIND, id=str(summary.id)),
    )
